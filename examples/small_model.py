"""A model that must be accurate, small and fast, and of those that are, one with few and shallow trees.

    python examples/small_model.py

All three depend on the random split, so they are noisy, and the time on the machine as well. The report is written to
out/small_model.html.
"""

import pickle
import time
from pathlib import Path
from typing import Any

from numpy.random import default_rng
from sklearn.datasets import load_digits  # type: ignore[import-untyped]
from sklearn.ensemble import RandomForestClassifier  # type: ignore[import-untyped]
from sklearn.model_selection import train_test_split  # type: ignore[import-untyped]

from satisfice import find, write_report
from satisfice.study.snapshot import StudyAnswer

SPACE = {"trees": (5, 120, "log"), "depth": (2, 14), "features": (0.05, 0.8)}
TARGET = {"accuracy": ">= 0.9", "kilobytes": "<= 900", "milliseconds": "<= 60"}
REPORT = Path("out/small_model.html")
X, Y = load_digits(return_X_y=True)


def search() -> StudyAnswer:
    """Search for few and shallow trees that are good enough."""
    rng = default_rng(0)

    def trained(p: dict[str, Any]) -> dict[str, float]:
        seed = int(rng.integers(2**31))
        x, x_test, y, y_test = train_test_split(X, Y, test_size=0.3, random_state=seed)
        model = RandomForestClassifier(
            p["trees"], max_depth=p["depth"], max_features=p["features"], random_state=seed
        ).fit(x, y)
        begun = time.process_time()
        accuracy = model.score(x_test, y_test)
        seconds = time.process_time() - begun
        return {"accuracy": accuracy, "kilobytes": len(pickle.dumps(model)) / 1e3, "milliseconds": 1e3 * seconds}

    return find(trained, SPACE, TARGET, prefer=lambda p: p["trees"] * p["depth"], budget=60, seed=1)


def main() -> None:
    """Search, and write the report."""
    answer = search()
    print(answer)
    if answer.params is not None:
        REPORT.parent.mkdir(exist_ok=True)
        write_report(answer, REPORT)
        print(f"\nThe report is {REPORT}")


if __name__ == "__main__":
    main()
