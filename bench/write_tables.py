"""Write the measured tables of README.md, docs/guide.md, docs/paper.md and docs/default.md between their markers, from the records.

    .venv/bin/python bench/write_tables.py

`bench/results/step_time.json` comes from `bench/step_time.py --cpu --json`, `reopen.json` beside it from `bench/reopen.py --json`, `docs/records/paper/theory.jsonl.xz` from
`satisfice reproduce theory` and `python -m satisfice.paper.experiments.document`, and the other files of `docs/records` from their benches.
"""

import json
import re
from pathlib import Path

import ablations
import batches
import price_of_learning
import reopen
import trust_regions

from satisfice.paper.experiments.records import unpack
from satisfice.paper.experiments.theory import theory_table

ROOT = Path(__file__).parent.parent


def step_time() -> str:
    """Milliseconds for a suggestion, and the speed-up over the peers."""
    medians = json.loads((ROOT / "bench/results/step_time.json").read_text())["medians"]
    lines = [
        "| values so far | `paper` | `auto` (default) | BoTorch | Optuna GPSampler | BoTorch / `paper` | BoTorch / `auto` | GPSampler / `auto` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for n in medians["paper"]:
        ours, auto, botorch, optuna = (medians[name][n] for name in ("paper", "auto", "botorch", "optuna"))
        times = " | ".join(f"{1e3 * seconds:,.1f} ms" for seconds in (ours, auto, botorch, optuna))
        lines.append(f"| {n} | {times} | {botorch / ours:.0f} | {botorch / auto:.0f} | {optuna / auto:.1f} |")
    return "\n".join(lines)


def theorems() -> str:
    """The theorems' bounds beside measurements."""
    rows = theory_table(unpack(ROOT / "docs/records/paper/theory.jsonl.xz"))["theorems"]
    lines = [
        "| kernel, rule | T | bad actions: bound (/ T) | most measured | gap regret: bound (/ T) | largest measured | runs within | stopped at T/2 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        T = row["rounds"]
        lines.append(
            f"| {name} | {T} | {row['indicator_bound']} ({row['indicator_bound'] / T:.2f}) | {row['most_bad_actions']} | "
            f"{row['gap_bound']:.0f} ({row['gap_bound'] / T:.2f}) | {row['largest_gap_regret']} | "
            f"{row['within']} of {row['runs']} | {row['stopped']} |"
        )
    return "\n".join(lines)


def write(path: Path, marker: str, table: str) -> None:
    """Replace the text between <!-- marker --> and <!-- end -->."""
    text = path.read_text(encoding="utf-8")
    block = f"<!-- {marker} -->\n\n{table}\n\n<!-- end -->"
    found = re.compile(rf"<!-- {marker} -->.*?<!-- end -->", flags=re.DOTALL)
    if not found.search(text):
        raise SystemExit(f"{path} must contain <!-- {marker} --> ... <!-- end -->.")
    path.write_text(found.sub(lambda _: block, text), encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "README.md", "step time", step_time())
    write(ROOT / "docs" / "paper.md", "theorems", theorems())
    rows = json.loads((ROOT / "bench/results/reopen.json").read_text())
    write(ROOT / "docs" / "guide.md", "reopening", reopen.table(rows))
    for bench in (ablations, trust_regions, batches, price_of_learning):
        write(ROOT / "docs" / "default.md", bench.PATH.stem, bench.table(unpack(bench.KEPT)))
