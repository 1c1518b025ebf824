"""A table of candidates: which of 60 alloys is hard enough? None has been measured yet.

    python examples/candidates.py

Only rows of the table can be chosen. A measurement of one alloy informs about the others: close numbers have similar values,
and each base metal has its own level.
"""

from typing import Any

from satisfice import find

TARGET = 58.0
ALLOYS = [
    {"base": base, "carbon": carbon / 100, "anneal": anneal}
    for base in ("plain", "chrome", "nickel")
    for carbon in (10, 30, 50, 70, 90)
    for anneal in (200, 300, 400, 500)
]


def hardness(alloy: dict[str, Any]) -> float:
    """The measured hardness: highest for chrome with a lot of carbon, annealed at 300 degrees."""
    level = {"plain": 38.0, "chrome": 47.0, "nickel": 41.0}[alloy["base"]]
    return float(level + 16 * alloy["carbon"] - ((alloy["anneal"] - 300) / 80) ** 2)


def main() -> None:
    """Search the table."""
    answer = find(hardness, ALLOYS, TARGET, noise=0, seed=1)
    print(answer)
    print(f"{answer.evaluations} of {len(ALLOYS)} alloys were measured")


if __name__ == "__main__":
    main()
