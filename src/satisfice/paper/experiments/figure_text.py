"""The figures of the page with their captions and tables, in the paper's order."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from satisfice.paper.experiments import authors, lenient
from satisfice.paper.experiments.blocks import Archive, Measure, Measured, evaluations
from satisfice.paper.experiments.curves import load, record_file, simple_regret, success_by_trial
from satisfice.paper.experiments.figures import phi_figure, regret_figure, run_counts, success_figure, together_figure
from satisfice.paper.experiments.inference import standard_error
from satisfice.paper.experiments.paper import FIGURES, default_rules, demanding, panels
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.regret_parts import final_regret
from satisfice.paper.experiments.spec import FLOOR, VARIANTS, Panel, Variant, cells
from satisfice.paper.experiments.text import paragraph, picture, table
from satisfice.paper.problems import PROBLEMS

TRIALS, EXPERIMENTS = 25, 10
FEWER_TRIALS = {"xgboost": 5}  # an evaluation takes a second
BARS = "Bars are half a standard deviation over the trials, as in the paper"
FLOOR_LINE = "dotted is random search, the floor"


def planned(name: str, variant: Variant) -> set[str]:
    """The keys of the runs that a figure asks for."""
    work = cells(
        panels(name, variant),
        demanding(name, variant),
        variant=variant,
        rules=default_rules(variant),
        trials=FEWER_TRIALS.get(name, TRIALS),
        experiments=EXPERIMENTS,
    )
    return {cell.key for cell in work}


def made(out: Path, name: str, variant: Variant) -> int:
    """How many runs there are for a figure; one that serves several of its panels counts once."""
    runs = [load(out, variant, panel) for panel in panels(name, variant)]
    return len({record["key"] for each in runs for records in each.values() for record in records})


def coverage_text(out: Path) -> str:
    """How many runs each figure rests on, and how wide the intervals are that they give."""
    rows = []
    for name, figure in FIGURES.items():
        wanted = FEWER_TRIALS.get(name, TRIALS) * EXPERIMENTS
        sizes = [_size(Archive(out, variant), name, wanted) for variant in VARIANTS]
        rows.append([f"{figure.number}, `{name}`", *sizes])
    protocol = TRIALS * EXPERIMENTS
    said = paragraph(f"""
        The paper's protocol is {TRIALS} trials of {EXPERIMENTS} experiments, {protocol} runs a rule (xgboost:
        {FEWER_TRIALS["xgboost"] * EXPERIMENTS}). Where that was out of reach, sizes were chosen by the intervals that the
        verdicts need. At 20 runs half the 95 % interval of the difference between two rules is about a tenth of the budget,
        enough for the differences that the paper's figures show to the eye. From there sizes grow in steps of 50, 80, 100 and
        {protocol}, first where a claim is undecided and a run is cheap. So some were raised after a look at the p-values: read a
        verdict that hangs on a p just below its limit with that in mind. In `published` the runs of a trial share their starting
        points and a trial counts once; its newer runs are therefore the first experiment of each trial. `auto`
        runs our default and random search only.
    """)
    caption = paragraph("""
        Runs a rule, fewest and most, without random search. In brackets: half the 95 % interval of the difference between two
        rules in evaluations, the median over all pairs of rules and panels; for the simple regret, as a share of the larger mean.
    """)
    return "\n".join(["## Runs\n", said, caption, table(["figure", *(f"`{variant}`" for variant in VARIANTS)], rows)])


def _size(archive: Archive, name: str, wanted: int) -> str:
    """The runs a rule of a figure, those that are wanted, and the interval that they give."""
    measure = final_regret if name == "none-good" else evaluations
    found = [archive.measured(panel, measure) for panel in archive.panels(name)]
    if archive.variant == "auto":
        found = [{rule: runs for rule, runs in rules.items() if rule != FLOOR} for rules in found]
    counts = [len(runs) for rules in found for rule, runs in rules.items() if rule != FLOOR]
    if not counts:
        return "none"
    least, most = min(counts), max(counts)
    size = f"{least} of {wanted}" if least == most else f"{least} to {most} of {wanted}"
    half = [
        h for rules in found for a, b in combinations(rules.values(), 2) if (h := _half_width(archive, a, b, measure))
    ]
    if not half:
        return size
    return f"{size} (± {np.median(half):.0%})" if name == "none-good" else f"{size} (± {np.median(half):.2g})"


def _half_width(archive: Archive, a: Measured, b: Measured, measure: Measure) -> float:
    """Half the 95 % interval of the difference of the means, a share of the larger where they are regrets; 0: not known."""
    both = archive.matched(a, b)
    if len(both) < 2:
        return 0.0
    half = 1.96 * standard_error(both[:, 0] - both[:, 1])
    return half / float(both.mean(axis=0).max()) if measure is final_regret else half


def figures_text(out: Path, pictures: Path) -> str:
    """Every figure; draws the pictures on the way."""
    phi_figure(pictures / "phi.png")
    parts = ["## Figures\n", "### Figure 1: the penalties Phi and the standard regret\n"]
    parts.append(
        picture("phi", "Figure 1", "The three penalties Phi and the standard regret. `satisfice reproduce phi`")
    )
    parts.append(_lenient_text(out, pictures))
    parts += [_section(out, pictures, name) for name in FIGURES]
    return "\n".join(part for part in parts if part)


def _lenient_text(out: Path, pictures: Path) -> str:
    parts = []
    for variant, problem in (("paper", "gp2d"), ("published", "gp2d-published")):
        if records := list(Records(record_file(out, variant, problem))):
            lenient.lenient_figure(records, pictures / f"lenient-{variant}.png", problem)
            theirs = "; hollow markers are the authors' own figures" if variant == "published" else ""
            counts = run_counts([[r for r in records if r["rule"] == rule] for rule in lenient.RULES])
            caption = (
                f"Cumulative regrets of ucb and elimination, mean of {counts} runs a rule; bars are half a standard deviation "
                f"over the runs{theirs}. {_command('lenient', variant)}"
            )
            parts.append(picture(f"lenient-{variant}", f"Figure 2, {variant}", caption))
    return "\n".join(["### Figure 2: lenient regret of ucb and elimination\n", *parts]) if parts else ""


def _command(name: str, variant: str) -> str:
    return f"`satisfice reproduce {name}{'' if variant == 'paper' else f' --as {variant}'}`"


def _section(out: Path, pictures: Path, name: str) -> str:
    """One figure of all variants that have runs, and a table for each of its panels."""
    figure = FIGURES[name]
    draw = regret_figure if name == "none-good" else success_figure
    parts = []
    for variant in VARIANTS if name == "none-good" else VARIANTS[:-1]:  # `together` has our default
        chosen = [panel for panel in panels(name, variant) if load(out, variant, panel)]
        if chosen:
            draw(chosen, out, variant, pictures / f"{name}-{variant}.png")
            parts.append(
                picture(f"{name}-{variant}", f"Figure {figure.number}, {variant}", _caption(out, name, variant, chosen))
            )
    if not parts:
        return ""
    every = list(dict.fromkeys(panel for variant in VARIANTS for panel in panels(name, variant)))
    if name != "none-good" and together_figure(every, out, pictures / f"{name}-together.png"):
        caption = (
            "Success of pg in each variant beside our default, means over the trials; dotted black is random search."
        )
        parts.append(picture(f"{name}-together", "pg and our default", caption))
    tables = [_panel_table(out, panel, name == "none-good") for panel in every]
    return "\n".join([f"### Figure {figure.number}: {figure.shows}\n", *parts, *filter(None, tables)])


def _caption(out: Path, name: str, variant: Variant, chosen: list[Panel]) -> str:
    """What the lines and the bars are, and how many runs they rest on."""
    if name == "none-good":
        what = "Simple regret of the best point so far, mean over the runs (dashed: median), on a log scale"
    elif any(panel.noise for panel in chosen):
        what = "Share of the runs whose best estimate is a good action, mean over the trials"
    else:
        what = "Share of the runs that have found a good action, mean over the trials"
    runs = {panel: load(out, variant, panel) for panel in chosen}
    floor = f"; {FLOOR_LINE}" if any("random" in each for each in runs.values()) else "; random search has no runs yet"
    single = all(len({r["trial"] for r in records}) == 1 for each in runs.values() for records in each.values())
    bars = "One trial only, so there are no bars" if single else f"{BARS}{_trial_sizes(runs.values())}"
    known = variant == "published" and any((panel.problem, panel.label) in authors.SUCCESS for panel in chosen)
    theirs = "; hollow markers are the authors' own figures" if known else ""
    done, wanted = made(out, name, variant), len(planned(name, variant))
    return (
        f"{what}{floor}. {bars}{theirs}. {_command(name, variant)}: {done} of {wanted} runs{_time(out, variant, name)}."
    )


def _trial_sizes(runs: Iterable[dict[str, list[Record]]]) -> str:
    """How many experiments the trials have, where not all have those of the protocol."""
    counts = {n for rules in runs for records in rules.values() for n in Counter(r["trial"] for r in records).values()}
    if counts == {EXPERIMENTS}:
        return ""
    least, most = min(counts), max(counts)
    return f" (here trials of {count(most, 'run', 'runs') if least == most else f'{least} to {most} runs'})"


def _panel_table(out: Path, panel: Panel, regret: bool) -> str:
    """The rules as rows, the variants as columns."""
    archives = [Archive(out, variant) for variant in VARIANTS]
    found = {archive: load(out, archive.variant, panel) for archive in archives}
    shown = [archive for archive in archives if found[archive]]
    rules = list(dict.fromkeys(rule for archive in shown for rule in found[archive]))
    if not rules:
        return ""
    cell = _regret_cell if regret else _success_cell
    rows = [[rule, *(cell(archive, panel, found[archive].get(rule, [])) for archive in shown)] for rule in rules]
    numbers = f"simple regret after {panel.budget}: mean, median (runs)"
    if not regret:
        numbers = "evaluations ± standard error, success at the end (runs)"
    said = f"{'Noisy ' if panel.noise else ''}{panel.problem}, {panel.label}; {numbers}:\n"
    return "\n".join([said, table(["rule", *(f"`{archive.variant}`" for archive in shown)], rows)])


def _success_cell(archive: Archive, panel: Panel, records: list[Record]) -> str:
    if not records:
        return ""
    values = archive.means(archive.measured(panel)[records[0]["rule"]])
    end = success_by_trial(records, panel)[:, -1].mean()
    error = f" ± {standard_error(values):.2g}" if len(values) > 1 else ""
    return f"{values.mean():.3g}{error}, {end:.2f} ({len(records)})"


def _regret_cell(archive: Archive, panel: Panel, records: list[Record]) -> str:
    if not records:
        return ""
    ends = [simple_regret(record, panel, PROBLEMS[panel.problem].maximum)[-1] for record in records]
    return f"{np.mean(ends):.3g}, {np.median(ends):.3g} ({len(records)})"


def _time(out: Path, variant: Variant, name: str) -> str:
    """How long the runs that were made for this figure took; those of another figure are counted there."""
    files = (out / "records" / variant / "times").glob("*.jsonl")
    spent = [record for path in files for record in Records(path) if record["title"].split(":")[0] == name]
    if not spent:
        return ""
    runs, seconds = sum(record["runs"] for record in spent), sum(record["seconds"] for record in spent)
    used = {record.get("processes", 0) for record in spent}  # older records do not say, nor do those from a cluster
    by = f" by {count(max(used), 'process', 'processes')}" if len(used) == 1 and all(used) else ""
    return f", {runs} of them made for it in {count(round(seconds / 60), 'minute', 'minutes')}{by}"


def count(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"


def times_text(kept: list[dict[str, Any]]) -> str:
    """How long the whole protocol takes, from parts of it that ran undisturbed."""
    if not kept:
        return ""
    hours = {part["key"]: part["seconds"] / part["share"] / 3600 for part in kept}
    cores = ", ".join(sorted({count(part["processes"], "core", "cores") for part in kept}))
    measured = sorted({part.get("variant", "paper-local") for part in kept})  # old records do not say
    variants = " and ".join(f"`{variant}`" for variant in measured)
    said = paragraph(f"""
        On {cores} all figures but 4c take {sum(hours.values()):.1f} hours as {variants} with the paper's 25 trials of 10. That
        was measured by `python bench/reproduction_time.py` on {sum(part["runs"] for part in kept)} of the runs, a fiftieth for
        most figures, with nothing else running. The times below the figures are those in which the kept records were made,
        together with other work.
    """)
    rows = [[f"`{figure}`", f"{hours[figure]:.2f}"] for figure in sorted(hours, key=lambda name: -hours[name])]
    return "\n".join(["## Time\n", said, table(["figure", "hours"], rows)])
