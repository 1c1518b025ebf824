"""Write docs/reproduction.md, its pictures and the compressed records from the records of the experiments.

python -m satisfice.paper.experiments.document --out out --docs docs
"""

import argparse
from pathlib import Path

from satisfice.paper.experiments import theory_text
from satisfice.paper.experiments.agreement import agreement
from satisfice.paper.experiments.claims_text import all_verdicts, claims_csv, claims_text
from satisfice.paper.experiments.figure_text import coverage_text, figures_text, times_text
from satisfice.paper.experiments.optimiser import optimiser_text
from satisfice.paper.experiments.records import Records, pack, unpack
from satisfice.paper.experiments.spec import VARIANTS
from satisfice.paper.experiments.text import paragraph

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
    """The text; draws the pictures and writes the table of all parts of the claims on the way."""
    pictures = docs / "images" / "reproduction"
    verdicts = all_verdicts(out)
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "claims.csv").write_text(claims_csv(verdicts), encoding="utf-8")
    undisturbed = docs / "records" / UNDISTURBED
    parts = [
        _head(),
        claims_text(verdicts),
        optimiser_text(out, pictures),
        agreement(out),
        coverage_text(out),
        figures_text(out, pictures),
        theory_text.section(out, docs),
        times_text(unpack(undisturbed) if undisturbed.exists() else []),
    ]
    return "\n".join(part for part in parts if part)


def _head() -> str:
    said = """
        Written by `python -m satisfice.paper.experiments.document` from the records in `docs/records`. `satisfice reproduce ID`
        makes the records and the figure of one experiment, `--as paper` (what the text says, the default), `--as paper-local`
        (the same with our optimisers of acquisitions and of the likelihood), `--as published` (what the authors' published code
        did) or `--as auto` (our default model and rule). Each figure and each verdict says how many runs it rests on.
    """
    return "# The reproduction\n\n" + paragraph(said)


if __name__ == "__main__":
    main()
