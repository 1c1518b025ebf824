"""The theory's section of docs/reproduction.md: every figure, number and sentence from the records."""

from pathlib import Path
from typing import Any

from satisfice.paper.experiments import coverage, misspecified, scaling
from satisfice.paper.experiments.coverage import PAPER, Case, coverage_table
from satisfice.paper.experiments.curves import record_file
from satisfice.paper.experiments.misspecified import TRUTHS, WIDTHS, misspecified_table
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.scaling_text import CAPTIONS, scaling_findings, scaling_text
from satisfice.paper.experiments.text import paragraph, picture
from satisfice.paper.experiments.theory_figures import (
    FORM_NAMES,
    delta_figure,
    growth_figure,
    kernel_figure,
    misspecified_figure,
    truth_name,
)

THEORY = {  # what each id runs
    "theory-scaling": scaling.tasks,
    "theory-coverage": coverage.tasks,
    "theory-misspecified": misspecified.tasks,
}
RARE = 0.05  # the maximiser is kept where the upper end of the interval is not above this share


def summary(name: str, records: list[Record], figures: Path) -> tuple[dict[str, Any], Path | None]:
    """What `satisfice reproduce` prints for one of the ids, and its picture."""
    runs = sum(_runs(record) for record in records)
    if name == "theory-coverage":
        rows = coverage_table(records)["rows"]
        return {"runs": runs, "coverage": [{**row, "case": row["case"].key} for row in rows]}, None
    if name == "theory-misspecified":
        misspecified_figure(records, figures / f"{name}.png")
        table = misspecified_table(records)["lost"]
        lost = {f"{truth.key} {width}": rows for (truth, width), rows in table.items()}
        return {"runs": runs, "lost": lost, "conclusion": conclusion(records)}, figures / f"{name}.png"
    for part, draw in (("delta", delta_figure), ("growth", growth_figure), ("kernel", kernel_figure)):
        if any(record["experiment"] in CAPTIONS[part].experiments for record in records):
            draw(records, figures / f"theory-{part}.png")
    return {"runs": runs, "findings": scaling_findings(records)}, figures / "theory-delta.png"


def _runs(record: Record) -> int:
    if "largest" in record:
        return len(record["largest"][PAPER])
    return len(record["bad"]) if "bad" in record else int(record.get("runs", 0))


def section(out: Path, docs: Path) -> str:
    """The section; draws the pictures on the way. Empty where there are no records."""
    found = {name: list(Records(record_file(out, "paper", name))) for name in THEORY}
    pictures = docs / "images" / "reproduction"
    parts = []
    if found["theory-scaling"]:
        summary("theory-scaling", found["theory-scaling"], pictures)
        parts.append(scaling_text(found["theory-scaling"]))
    if found["theory-coverage"]:
        parts.append(coverage_text(found["theory-coverage"]))
    if found["theory-misspecified"]:
        summary("theory-misspecified", found["theory-misspecified"], pictures)
        parts.append(misspecified_text(found["theory-misspecified"]))
    return "\n".join(["## Theory\n", *parts]) if parts else ""


def coverage_text(records: list[Record]) -> str:
    """The part of the section on `theory-coverage`."""
    rows = coverage_table(records)["rows"]
    runs = sum(_runs(record) for record in records)
    lines = [
        "### Widths\n",
        paragraph(f"""
            `satisfice reproduce theory-coverage`: {runs} runs. {coverage.RUNS} functions of norm {coverage.B:g} on
            {coverage.PER_AXIS} points, T = {coverage.T}, delta = {coverage.FAILURE:g}, points chosen by ucb, by elimination
            and at random. *Held* is the number of functions with abs(f - mu_t) <= width sigma_t at all points and times,
            the fewest of the three ways to choose, with the exact 95 % interval for the probability. *Slack* is the factor
            by which the width could be multiplied and still hold for a share {1 - coverage.FAILURE:g} of the functions, the
            largest of the three. The ratios are to the paper's width at t = {coverage.RATIO_AT[-1]}. *fixed design* is for
            questions that do not depend on answers. [The paper, line by line](paper.md) has the formulas and where they
            come from.
        """),
        "| kernel, lambda, sigma | width | held | interval | slack | ratio: ucb | elimination | random |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in (case for case in coverage.CASES if any(row["case"] == case for row in rows)):
        for name in coverage.widths(case):
            plans = ("random",) if name == "fixed design" else coverage.PLANS
            mine = {
                row["plan"]: row for row in rows if (row["case"], row["width"]) == (case, name) and row["plan"] in plans
            }
            worst = min(mine.values(), key=lambda row: row["held"])
            ratios = [f"{mine[plan]['ratios'][-1]:.2f}" if plan in mine else "" for plan in coverage.PLANS]
            slack = max(row["slack"] for row in mine.values())
            held = f"{worst['held']} of {worst['runs']} | {worst['low']:.3f} to {worst['high']:.3f}"
            lines.append(f"| {_case_name(case)} | {name} | {held} | {slack:.2f} | {' | '.join(ratios)} |")
    return "\n".join([*lines, "", _coverage_finding(rows)])


def _case_name(case: Case) -> str:
    return f"{FORM_NAMES[case.form]}, {case.lam:g}, {case.sigma:g}"


def _coverage_finding(rows: list[dict[str, Any]]) -> str:
    promised = [row for row in rows if row["width"] != "fixed design" or row["plan"] == "random"]
    short = [row for row in promised if row["high"] < 1 - coverage.FAILURE]
    shown = [row for row in promised if row["low"] >= 1 - coverage.FAILURE]
    least = min(promised, key=lambda row: (row["held"] / row["runs"], row["width"]))
    narrow = [row["ratios"][-1] for row in promised if row["width"] == "log det, root"]
    return paragraph(f"""
            The lower end of the interval reaches {1 - coverage.FAILURE:g} in {len(shown)} of {len(promised)} cases, and the
            upper end stays below it in {len(short)}; the fewest functions are {least["held"]} of {least["runs"]}
            ({least["width"]}). The width by log det as a root of squares is {min(narrow):.2f} to {max(narrow):.2f} of the
            paper's after {coverage.T} rounds.
        """)


def kept_between(rows: list[dict[str, Any]]) -> tuple[float, float] | None:
    """The smallest and the largest ratio around 1 up to which the upper end of the interval is at most `RARE`."""
    kept = {row["ratio"]: row["interval"][1] <= RARE for row in rows}
    if not kept.get(1.0):
        return None
    ratios = sorted(kept)
    start = end = ratios.index(1.0)
    while start > 0 and kept[ratios[start - 1]]:
        start -= 1
    while end < len(ratios) - 1 and kept[ratios[end + 1]]:
        end += 1
    return ratios[start], ratios[end]


def conclusion(records: list[Record], width: str = "sqrt(log(2t)^3)") -> str:
    """How wrong the length-scale may be, in one sentence, for the paper's width on draws from a process."""
    table = misspecified_table(records)["lost"]
    mine = {truth: table[truth, width] for truth in TRUTHS if (truth, width) in table and truth.form == truth.assumed}
    spans = {truth: kept_between(rows) for truth, rows in mine.items()}
    if lost := [truth_name(truth) for truth, span in spans.items() if span is None]:
        return (
            f"With the paper's width {width} elimination loses the maximiser too often even where the length-scale is the true "
            f"one ({'; '.join(lost)})."
        )
    known = [span for span in spans.values() if span is not None]
    twice = [row for rows in mine.values() for row in rows if row["ratio"] == 2.0]
    rounds = [row["median_round"] for row in twice if row["median_round"] is not None]
    end = f"; half of these losses happen in the first {max(rounds):.0f} rounds" if rounds else ""
    shares = [row["share"] for row in twice]
    low, high = max(low for low, _ in known), min(high for _, high in known)
    return (
        f"With the paper's width {width} and the right form of kernel, elimination keeps the maximiser in at least "
        f"{1 - RARE:.0%} of the runs as long as the assumed length-scale is between {low:.3g} and {high:.3g} times the true one, "
        f"and loses it in {min(shares):.0%} to {max(shares):.0%} of the runs at twice the true one{end}."
    )


def misspecified_text(records: list[Record]) -> str:
    """The part of the section on `theory-misspecified`."""
    table = misspecified_table(records)["lost"]
    runs = sum(_runs(record) for record in records)
    shown = (0.25, 0.5, 1.0, 2.0**0.5, 2.0, 4.0)
    lines = [
        "### A wrong length-scale\n",
        paragraph(f"""
            `satisfice reproduce theory-misspecified`: {runs} runs, {misspecified.RUNS} a point, so that an interval is at
            most 0.1 from end to end. f is drawn from a Gaussian process (length-scale {TRUTHS[0].lengthscale:g}) or has
            norm {misspecified.NORM:g}; sigma = {misspecified.SIGMA:g}, lambda = sigma^2, {misspecified.T} rounds. The paper
            leaves open how a wrong kernel and elimination interact (section 3.2).
        """),
        picture(
            "theory-misspecified",
            "A wrong length-scale",
            "Share of runs in which elimination loses the maximiser, against the assumed over the true length-scale. Bars are "
            f"exact 95 % intervals; the dotted line is {RARE:g}.",
        ),
        f"**{conclusion(records)}**\n",
        paragraph(f"""
            Share of runs that lose the maximiser, by the ratio of the assumed to the true length-scale, and the ratios
            between which it is kept: the upper end of the interval is at most {RARE:g}. Ratios from
            {min(misspecified.RATIOS):g} to {max(misspecified.RATIOS):g} were tried.
        """),
        f"| f, and what is assumed | width | {' | '.join(f'{r:.3g}' for r in shown)} | kept between |",
        "|---" * (len(shown) + 3) + "|",
    ]
    for truth in TRUTHS:
        for width in WIDTHS[truth.source]:
            rows = table.get((truth, width), [])
            shares = {round(row["ratio"], 6): row["share"] for row in rows}
            cells = [f"{shares[round(r, 6)]:.3f}" if round(r, 6) in shares else "" for r in shown]
            span = kept_between(rows)
            kept = f"{span[0]:.3g} and {span[1]:.3g}" if span else "not even at 1"
            lines.append(f"| {truth_name(truth)} | {width} | {' | '.join(cells)} | {kept} |")
    return "\n".join([*lines, ""])
