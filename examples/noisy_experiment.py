"""A noisy experiment: find a temperature and a time that yield 80 %, and rule out luck.

    python examples/noisy_experiment.py

Each measurement is off by about 2 points. A promising setting is measured again until fresh measurements certify it.
"""

from math import exp
from typing import Any

from numpy.random import default_rng

from satisfice import find

TARGET, NOISE = 80.0, 2.0
SPACE = {"temperature": (20.0, 120.0), "minutes": (5, 90)}


def true_yield(params: dict[str, Any]) -> float:
    """The true yield, which nobody can see: at most 88 %, at 75 degrees and 40 minutes."""
    return 88 * exp(-(((params["temperature"] - 75) / 30) ** 2) - ((params["minutes"] - 40) / 40) ** 2)


def main() -> None:
    """Search with noisy measurements, then look at the truth."""
    rng = default_rng(0)

    def measured(params: dict[str, Any]) -> float:
        return true_yield(params) + NOISE * float(rng.standard_normal())

    answer = find(measured, SPACE, TARGET, seed=1)
    print(answer)
    if answer.params is not None:
        print(f"\nreally {true_yield(answer.params):.1f}, and the highest single measurement was "
              f"{max(row['value'] for row in answer.table()):.1f}")  # fmt: skip


if __name__ == "__main__":
    main()
