"""A target that no setting reaches: the search ends with `unlikely` instead of spending the whole budget.

    python examples/out_of_reach.py

A spring can store at most 1 in these units, and the target is 1.3. The hope that some setting reaches it falls as evaluations
come in; when it is below 1 - confidence, the search draws settings at random, says how rare good ones are at most, and gives up.
With a target of 0.99 the same search succeeds.
"""

from math import sin
from typing import Any

from satisfice import find

SPACE = {"angle": (0.0, 3.0), "tension": (0.0, 1.0)}


def stored(params: dict[str, Any]) -> float:
    """The stored energy: at most 1, at an angle of pi / 2 and a tension of 0.6."""
    return float(sin(params["angle"]) - (params["tension"] - 0.6) ** 2)


def main() -> None:
    """Search for a target out of reach, then for one within reach."""
    too_much = find(stored, SPACE, target=1.3, noise=0, seed=1, budget=500)
    print(too_much)
    hopes = [row["hope"] for row in too_much.table() if row["hope"] is not None]
    print("hope on the way:", ", ".join(f"{hope:.2f}" for hope in hopes[:: max(len(hopes) // 6, 1)]), "\n")
    print(find(stored, SPACE, target=0.99, noise=0, seed=1))


if __name__ == "__main__":
    main()
