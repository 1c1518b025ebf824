"""Continue from a CSV file: ten experiments of last month train the model that chooses the next ones.

    python examples/resume_csv.py

The study is kept in a file too: the second call finds everything that the first one did, and has nothing left to do.
"""

import csv
import tempfile
from pathlib import Path
from typing import Any

from numpy.random import default_rng

from satisfice import find

SPACE = {"speed": (10.0, 100.0), "pressure": (1.0, 9.0), "nozzle": ["round", "flat"]}
TARGET = 9.9


def quality(params: dict[str, Any]) -> float:
    """The quality of a print, at most 10."""
    far = ((params["speed"] - 60) / 30) ** 2 + ((params["pressure"] - 4) / 3) ** 2
    return float(10 - far - 2 * (params["nozzle"] == "round"))


def write_last_month(path: Path) -> None:
    """Write the ten experiments; one of them failed, so its value is empty."""
    rng = default_rng(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["date", "speed", "pressure", "nozzle", "value"])
        for day in range(10):
            row = {
                "speed": rng.uniform(10, 100),
                "pressure": rng.uniform(1, 9),
                "nozzle": rng.choice(["round", "flat"]),
            }
            table.writerow([f"day {day}", *row.values(), "" if day == 4 else quality(row)])


def main() -> None:
    """Search with the file, twice."""
    with tempfile.TemporaryDirectory() as folder:
        path, storage = Path(folder) / "last_month.csv", Path(folder) / "study.db"
        write_last_month(path)
        first = find(quality, SPACE, TARGET, noise=0, history=path, storage=storage, name="prints", seed=1)
        print(first)
        again = find(quality, SPACE, TARGET, noise=0, history=path, storage=storage, name="prints")
        rows = [row["state"] for row in again.table()]
        print(f"\nthe study has {rows.count('history')} rows of the file and {rows.count('complete')} new evaluations")
        print(f"called again: {again.verdict}, {again.evaluations - first.evaluations} evaluations more")


if __name__ == "__main__":
    main()
