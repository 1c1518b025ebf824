"""Is the number of repeats that an answer states about right? Searches under noise that ended with a certificate.

    .venv/bin/python bench/repeats.py [--seeds 10]     (seeded; two minutes)

Of each moment at which the answer named the setting that was certified in the end: the number of repeats that it stated, divided
by those that were still to come.
"""

import argparse
import warnings

import numpy as np
from numpy.random import default_rng

from satisfice import Box, Search

BOWLS = {"2-d": (2, 0.1, -0.1), "3-d": (3, 0.2, -0.3), "6-d": (6, 0.1, -0.3)}  # dimension, noise, target


def ratios(d: int, sd: float, target: float, seed: int) -> tuple[list[float], int]:
    """Stated / true number of repeats at each such moment, and the number of moments at which another setting was named."""
    rng = default_rng([seed, 18])
    centre = rng.uniform(0.2, 0.8, d)
    search = Search(Box([(0.0, 1.0)] * d), target, seed=seed)
    said: list[tuple[int, bytes]] = []
    asked: list[bytes] = []
    while (answer := search.answer()).verdict == "open" and answer.evaluations < 120:
        x = search.ask()
        known = None if answer.repeats is None else answer.point
        said.append((0, b"") if known is None else (answer.repeats or 0, known.tobytes()))
        asked.append(x.tobytes())
        search.tell(x, -float(((x - centre) ** 2).sum()) + sd * rng.standard_normal())
    if answer.verdict != "good" or answer.point is None:
        return [], 0
    own = answer.point.tobytes()
    left = [sum(x == own for x in asked[k:]) for k in range(len(asked))]
    mine = [n / left[k] for k, (n, at) in enumerate(said) if at == own and left[k]]
    return mine, sum(at not in (own, b"") for _, at in said)


def main() -> None:
    """Print the quantiles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| bowl | moments | stated / true: 10 % | 25 % | median | 75 % | 90 % | of another setting |\n"
        + "|---|"
        + "---|" * 7
    )
    for name, problem in BOWLS.items():
        found = [ratios(*problem, seed) for seed in range(given.seeds)]
        stated = [ratio for mine, _ in found for ratio in mine]
        cells = [f"{q:.2f}" for q in np.quantile(stated, [0.1, 0.25, 0.5, 0.75, 0.9])]
        print(f"| {name} | {len(stated)} | {' | '.join(cells)} | {sum(others for _, others in found)} |", flush=True)


if __name__ == "__main__":
    main()
