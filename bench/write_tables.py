"""Write the measured tables of README.md and docs between their markers, from the records.

    .venv/bin/python bench/write_tables.py

`bench/results/step_time.json` comes from `bench/step_time.py --cpu --json`, `reopen.json` from `bench/reopen.py --json` and `gates.json`
from `bench/gates.py`. Of the records in
`docs/records`, `paper/theory.jsonl.xz` comes from `satisfice reproduce theory` and `python -m satisfice.paper.experiments.document`, and the
others from their benches.
"""

import json
import re
from pathlib import Path

import ablations
import batches
import gates
import preference
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


def write(marker: str, table: str) -> None:
    """Replace the text between <!-- marker --> and <!-- end -->, in the page that has the marker."""
    found = re.compile(rf"<!-- {marker} -->.*?<!-- end -->", flags=re.DOTALL)
    block = f"<!-- {marker} -->\n\n{table}\n\n<!-- end -->"
    pages = {page: page.read_text(encoding="utf-8") for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))}
    marked = [page for page, text in pages.items() if found.search(text)]
    if len(marked) != 1:
        raise SystemExit(f"One page must contain <!-- {marker} --> ... <!-- end -->; {len(marked)} do.")
    marked[0].write_text(found.sub(lambda _: block, pages[marked[0]]), encoding="utf-8")


if __name__ == "__main__":
    write("step time", step_time())
    write("theorems", theorems())
    write("reopening", reopen.table(json.loads((ROOT / "bench/results/reopen.json").read_text())))
    for bench in (ablations, trust_regions, batches, price_of_learning):
        write(bench.PATH.stem, bench.table(unpack(bench.KEPT)))
    write("preference", preference.table(json.loads((ROOT / "bench/results/preference.json").read_text())))
    for name, table in gates.tables(json.loads(gates.RESULTS.read_text())).items():
        write(f"gates: {name}", table)
