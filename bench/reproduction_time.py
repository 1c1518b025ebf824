"""The time of the whole reproduction, extrapolated from some runs of every figure except XGBoost's.

    .venv/bin/python bench/reproduction_time.py [--jobs 2]

Takes about ten minutes; run nothing else meanwhile. The times go to docs/records, where `python -m satisfice.paper.experiments.document`
reads them.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from satisfice.paper.experiments.document import UNDISTURBED
from satisfice.paper.experiments.records import Record, Records, pack
from satisfice.paper.experiments.reproduce import IDS, reproduce

ROOT = Path(__file__).parent.parent
EXPERIMENTS = {"lenient": 2}  # of one trial; the others have 5
SHARES = {"lenient": 2 / 10, "theory": 1 / 25}  # of all runs; 5 / 250 for the others


def gather(out: Path) -> list[Record]:
    """A record for each figure: the time of its runs in `out`."""
    spent: dict[str, Record] = {}
    for path in sorted((out / "records" / "paper" / "times").glob("*.jsonl")):
        for times in Records(path):
            figure = times["title"].split(":")[0]
            mine = spent.setdefault(
                figure,
                {"key": figure, "variant": "paper", "share": SHARES.get(figure, 5 / 250), "runs": 0, "seconds": 0.0},
            )
            mine |= {"processes": times["processes"], "runs": mine["runs"] + times["runs"]}
            mine["seconds"] = round(mine["seconds"] + times["seconds"], 1)
    return list(spent.values())


def main() -> None:
    """Run the parts and keep their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        out = Path(place)
        for name in IDS:
            if name not in ("phi", "xgboost"):
                experiments = EXPERIMENTS.get(name, 5)
                reproduce(name, variant="paper", out=out, trials=1, experiments=experiments,
                          rules=None, only=None, jobs=given.jobs, cluster=None)  # fmt: skip
        keep(gather(out), out)


def keep(records: list[Record], place: Path) -> None:
    """Pack the records into docs."""
    written = Records(place / "undisturbed.jsonl")
    for record in records:
        written.append(record)
    pack(written.path, ROOT / "docs" / "records" / UNDISTURBED)


if __name__ == "__main__":
    main()
