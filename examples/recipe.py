"""A recipe: three liquids that make up a whole, and a temperature, for a yield of 80 % and an impurity of at most 2 %.

    python examples/recipe.py

Both measurements are noisy, and hot acid raises the yield and the impurity alike. The report is written to out/recipe.html.
"""

from math import exp
from pathlib import Path
from typing import Any

from numpy.random import default_rng

from satisfice import Mixture, Requirement, find, write_report
from satisfice.study.snapshot import StudyAnswer

SPACE = {"water": (0.2, 0.9), "ethanol": (0.0, 0.6), "acid": (0.0, 0.4), "temperature": (20.0, 100.0)}
TARGET = [Requirement("yield", ">=", 80, noise=1.5), Requirement("impurity", "<=", 2.0)]
REPORT = Path("out/recipe.html")


def truth(p: dict[str, Any]) -> dict[str, float]:
    """The true values, which nobody can see."""
    heat = (p["temperature"] - 70) / 40
    made = 90 * exp(-(((p["acid"] - 0.2) / 0.2) ** 2) - ((p["ethanol"] - 0.3) / 0.35) ** 2 - heat**2)
    return {"yield": made, "impurity": 0.6 + 9 * p["acid"] * (1 + heat) ** 2 / 2}


def search() -> StudyAnswer:
    """Search with noisy measurements."""
    rng = default_rng(0)

    def measured(p: dict[str, Any]) -> dict[str, float]:
        true = truth(p)
        return {
            "yield": true["yield"] + 1.5 * float(rng.standard_normal()),
            "impurity": true["impurity"] + 0.1 * float(rng.standard_normal()),
        }

    parts = Mixture(["water", "ethanol", "acid"])
    return find(measured, SPACE, TARGET, constraints=[parts], budget=150, seed=1)


def main() -> None:
    """Search, write the report and look at the truth."""
    answer = search()
    print(answer)
    if answer.params is not None:
        REPORT.parent.mkdir(exist_ok=True)
        write_report(answer, REPORT)
        true = truth(answer.params)
        whole = sum(answer.params[name] for name in ("water", "ethanol", "acid"))
        print(
            f"\nreally a yield of {true['yield']:.1f} and an impurity of {true['impurity']:.2f}; the parts sum to {whole:.6g}"
        )
        print(f"The report is {REPORT}")


if __name__ == "__main__":
    main()
