"""Write docs/reproduction.md, its pictures and the compressed records from the records of the experiments.

python -m satisfice.experiments.document --out out --docs docs
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from satisfice.experiments import lenient, theory_text
from satisfice.experiments.agreement import agreement
from satisfice.experiments.claims import CLAIMS, WHY
from satisfice.experiments.curves import load, record_file
from satisfice.experiments.figures import phi_figure, regret_figure, success_figure, together_figure
from satisfice.experiments.paper import FIGURES, panels
from satisfice.experiments.records import Records, pack, unpack
from satisfice.experiments.spec import VARIANTS, Variant

UNDISTURBED = "undisturbed.jsonl.xz"  # the times that bench/reproduction_time.py has measured


def main() -> None:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out"), help="where the records are")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where the document goes")
    parser.add_argument("--restore", action="store_true", help="only write the kept records that are missing in --out")
    given = parser.parse_args()
    kept = given.docs / "records"
    if given.restore:
        restore(kept, given.out / "records")
        return
    for variant in VARIANTS:
        for path in sorted((given.out / "records" / variant).rglob("*.jsonl")):
            pack(path, kept / path.relative_to(given.out / "records").with_suffix(".jsonl.xz"))
    (given.docs / "reproduction.md").write_text(document(given.out, given.docs), encoding="utf-8")


def restore(kept: Path, records: Path) -> None:
    """Write every kept record that a file of records does not have yet."""
    for path in sorted(path for variant in VARIANTS for path in (kept / variant).rglob("*.jsonl.xz")):
        mine = Records(records / path.relative_to(kept).with_suffix(""))
        done = mine.keys()
        mine.append(*(record for record in unpack(path) if record["key"] not in done))


def document(out: Path, docs: Path) -> str:
    """The text; draws the pictures on the way."""
    parts = [_head(), _claims(out), agreement(out), _all_times(docs / "records" / UNDISTURBED), "## Figures\n"]
    pictures = docs / "images" / "reproduction"
    phi_figure(pictures / "phi.png")
    parts.append(_section("phi", "1", "the penalties Phi and the standard regret", [("", "phi.png", {"runs": 0})]))
    drawn = []
    for variant, problem in (("paper", "gp2d"), ("published", "gp2d-published")):
        records = list(Records(record_file(out, variant, problem)))
        if records:
            picture = f"lenient-{variant}.png"
            drawn.append((variant, picture, lenient.lenient_figure(records, pictures / picture, problem)))
    if drawn:
        parts.append(_section("lenient", "2", "lenient regret of ucb and elimination", drawn))
    for name, figure in FIGURES.items():
        shown = []
        for variant in VARIANTS:
            drawable = panels(name, variant)
            chosen = [panel for panel in drawable if load(out, variant, panel)]
            if name == "none-good":  # a row has a column for each target
                chosen = [panel for panel in drawable if panel.problem in {p.problem for p in chosen}]
            if chosen:
                draw = regret_figure if name == "none-good" else success_figure
                summary = draw(chosen, out, variant, pictures / f"{name}-{variant}.png")
                summary["time"] = _time(out, variant, name)
                shown.append((variant, f"{name}-{variant}.png", summary))
        if shown:
            parts.append(_section(name, figure.number, figure.shows, shown))
        if name != "none-good" and together_figure(list(panels(name)), out, pictures / f"{name}-together.png"):
            parts.append(f"![pg and our default](images/reproduction/{name}-together.png)\n")
    parts.append(theory_text.section(out, docs))
    return "\n".join(parts)


def _head() -> str:
    return """# The reproduction

Written by `python -m satisfice.experiments.document` from the records in `docs/records`. `satisfice reproduce ID` makes the
records and the figure of one experiment, `--as paper` (what the text says, the default), `--as paper-local` (the same, but with
our optimiser of acquisitions, which also starts next to the best points), `--as published` (what the authors' published code
did) or `--as auto` (our default model and rule). The protocol of the paper is 25 trials of 10 experiments, 250 runs a rule; a
figure made with fewer says so.
"""


def _claims(out: Path) -> str:
    lines = ["## Claims\n", "| | the paper says | test | as the text says |", "|---|---|---|---|"]
    details = []
    for claim in CLAIMS:
        outcome = claim.check(out, "paper")
        lines.append(f"| {claim.number} | {claim.says} | {claim.test} | **{outcome.verdict}** |")
        details += [f"\nClaim {claim.number}:\n", *(f"- {figure}" for figure in outcome.figures or ("no records yet",))]
        if claim.number in WHY and outcome.figures and outcome.verdict != "holds":
            details.append(f"\n{WHY[claim.number]}")
    return "\n".join([*lines, *details, ""])


def _all_times(kept: Path) -> str:
    """How long the whole protocol takes, from parts of it that ran undisturbed."""
    if not kept.exists():
        return ""
    parts = unpack(kept)
    hours = {part["key"]: part["seconds"] / part["share"] / 3600 for part in parts}
    cores = ", ".join(sorted({_count(part["processes"], "core", "cores") for part in parts}))
    runs = sum(part["runs"] for part in parts)
    lines = [
        "## Time\n",
        f"On {cores} all figures but 4c take {sum(hours.values()):.1f} hours with the paper's 25 trials of 10. That was measured",
        f"by `python bench/reproduction_time.py` on {runs} of the runs, a fiftieth for most figures, with nothing else running.",
        "The times beside the figures below are those in which the kept records were made, together with other work.\n",
        "| figure | hours |",
        "|---|---|",
        *(f"| `{figure}` | {hours[figure]:.2f} |" for figure in sorted(hours, key=lambda name: -hours[name])),
    ]
    return "\n".join([*lines, ""])


def _section(name: str, number: str, shows: str, shown: Sequence[tuple[str, str, dict[str, Any]]]) -> str:
    lines = [f"### Figure {number}: {shows}\n"]
    for variant, picture, summary in shown:
        how = f" --as {variant}" if variant not in ("", "paper") else ""
        lines.append(f"`satisfice reproduce {name}{how}`: {summary['runs']} runs{summary.get('time', '')}.\n")
        lines.append(f"![{shows}](images/reproduction/{picture})\n")
        for problem, rules in summary.get("success", {}).items():
            if rules:
                lines += _table(problem, rules)
    return "\n".join(lines)


def _time(out: Path, variant: Variant, name: str) -> str:
    """How long the runs that were made for this figure took; those of another figure are counted there."""
    files = (out / "records" / variant / "times").glob("*.jsonl")
    spent = [record for path in files for record in Records(path) if record["title"].split(":")[0] == name]
    if not spent:
        return ""
    runs, seconds = sum(record["runs"] for record in spent), sum(record["seconds"] for record in spent)
    used = {record.get("processes", 0) for record in spent}  # older records do not say, nor do those from a cluster
    by = f" by {_count(max(used), 'process', 'processes')}" if len(used) == 1 and all(used) else ""
    return f"; {runs} of them were made for it, in {_count(round(seconds / 60), 'minute', 'minutes')}{by}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _table(problem: str, rules: dict[str, list[float]]) -> list[str]:
    steps = " | ".join(str(20 * (k + 1)) for k in range(len(next(iter(rules.values())))))
    lines = [f"Success fraction on {problem} after so many evaluations:\n", f"| rule | {steps} |"]
    lines.append("|---" * (len(next(iter(rules.values()))) + 1) + "|")
    lines += [f"| {rule} | " + " | ".join(f"{value:.2f}" for value in values) + " |" for rule, values in rules.items()]
    return [*lines, ""]


if __name__ == "__main__":
    main()
