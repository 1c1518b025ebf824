"""Figures that a paper could print, from records only: one colour for a rule everywhere, safe for the colour-blind."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from satisfice.extras import load_extra
from satisfice.paper.experiments import authors
from satisfice.paper.experiments.curves import by_trial, load, simple_regret, success_by_trial
from satisfice.paper.experiments.spec import FLOOR, GOOD_RULES, OPTIMISERS, Panel
from satisfice.paper.problems import PROBLEMS
from satisfice.types import Array

COLOURS_KEPT = 128  # in a picture
MATPLOTLIB = ("matplotlib", "experiments")  # the package and its extra
# the eight colours of Okabe and Ito, with a marker of its own for each rule
STYLES = {
    "pg": ("#d55e00", "o"),
    "eg": ("#0072b2", "s"),
    "gs": ("#009e73", "^"),
    "pi": ("#000000", "v"),
    "ei": ("#e69f00", "D"),
    "mes": ("#cc79a7", "P"),
    "ucb": ("#56b4e9", "X"),
    "ts": ("#999999", "<"),
    "sts": ("#8b5a2b", "*"),
    "elimination": ("#d55e00", "o"),
    "auto": ("#0072b2", "o"),
    FLOOR: ("#000000", "None"),
}
OTHERS = (("#332288", ">"), ("#117733", "h"), ("#882255", "p"), ("#44aa99", "d"), ("#ddcc77", "8"))  # for other rules
VARIANT_NAMES = {
    "paper": "as the text says",
    "paper-local": "as the text says, but with our optimisers",
    "published": "as the published code did",
    "auto": "our default",
}
BARS = 20  # evaluations between two bars
DPI = 120
AUTHORS_LOOK = {"marker": "o", "markersize": 6, "markerfacecolor": "none", "linewidth": 0.7, "alpha": 0.8}


def pyplot() -> Any:
    """matplotlib without a screen."""
    load_extra(*MATPLOTLIB).use("Agg")
    return load_extra("matplotlib.pyplot", "experiments")


def style_of(rule: str, among: Sequence[str] = ()) -> tuple[str, str]:
    """The colour and the marker of a rule; one that is not the paper's has those of its place among the others."""
    unknown = [each for each in among if each not in STYLES]
    return STYLES[rule] if rule in STYLES else OTHERS[unknown.index(rule) % len(OTHERS) if rule in unknown else 0]


def draw_line(
    axes: Any, rule: str, curve: Array, spread: Array | None = None, *, style: tuple[str, str] | None = None
) -> None:
    """A curve over the evaluations with sparse markers, and bars at the same places; the floor is dotted and has none."""
    colour, marker = style or style_of(rule)
    steps = np.arange(1, len(curve) + 1)
    every = min(BARS, max(1, len(curve) // 5))
    shift = 3 * list(STYLES).index(rule) % every if rule in STYLES else 1
    places = slice(shift, None, every)
    axes.plot(
        steps,
        curve,
        ":" if rule == FLOOR else "-",
        color=colour,
        marker=marker,
        markevery=places,
        markersize=4.5,
        linewidth=1.6 if rule == FLOOR else 1.3,
        label=rule,
    )
    if spread is not None and rule != FLOOR:
        axes.errorbar(
            steps[places], curve[places], spread[places], fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5
        )


def finish(
    axes: Any, title: str = "", *, legend: bool = True, ylim: tuple[float, float] | None = (-0.03, 1.03)
) -> None:
    """The title, the grid and the legend that every plot has."""
    axes.set_title(title, fontsize=9)
    axes.grid(alpha=0.25)
    if ylim is not None:
        axes.set_ylim(*ylim)
    if legend and axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, frameon=False, ncols=2)


def _columns(rules: set[str]) -> list[tuple[str, ...]]:
    """The rules of the plots side by side: optimisers, and rules for good actions; without a plot of the floor alone."""
    sides = [tuple(r for r in rules if r in OPTIMISERS), tuple(r for r in rules if r not in (*OPTIMISERS, FLOOR))]
    return [(*side, FLOOR) for side in sides if side] or [(FLOOR,)]


def success_figure(panels: list[Panel], out: Path, variant: str, path: Path) -> dict[str, Any]:
    """A row for each panel that has runs: success of the optimisers and of the rules for good actions, the floor in both.

    Returns what `--json` prints.
    """
    found = {panel: load(out, variant, panel) for panel in panels}
    found = {panel: runs for panel, runs in found.items() if runs}
    columns = _columns({rule for runs in found.values() for rule in runs})
    plt = pyplot()
    figure, rows = plt.subplots(
        max(1, len(found)),
        len(columns),
        figsize=(4.1 * len(columns), 2.9 * max(1, len(found)) + 0.2),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    summary: dict[str, Any] = {"runs": 0, "success": {}}
    several = len({panel.problem for panel in panels}) < len(panels)
    for row, (panel, runs) in zip(rows, found.items(), strict=False):
        name = f"{panel.problem} ({panel.label})" if several else panel.problem
        theirs = authors.SUCCESS.get((panel.problem, panel.label, panel.noise), {}) if variant == "published" else {}
        summary["success"][name] = {}
        for rule, records in runs.items():
            fractions = success_by_trial(records, panel)
            mean = fractions.mean(axis=0)
            for axes, rules in zip(row, columns, strict=True):
                if rule in rules:
                    draw_line(axes, rule, mean, bars(fractions, len(records)))
                    _draw_authors(axes, rule, theirs)
            summary["runs"] += len(records)
            summary["success"][name][rule] = [round(float(mean[t - 1]), 4) for t in range(20, panel.budget + 1, 20)]
        for axes in row:
            if theirs:
                axes.plot([], [], "--", color="#555555", label="the authors'", **AUTHORS_LOOK)
            finish(axes, f"{panel.problem}, {panel.label}; {run_counts(runs.values())} runs a rule")
        row[0].set_ylabel("success fraction")
    for axes in rows[-1]:
        axes.set_xlabel("evaluations")
    figure.suptitle(VARIANT_NAMES[variant], fontsize=10)
    save(figure, path)
    return summary


def bars(trials: Array, runs: int) -> Array:
    """Half a standard deviation over the trials (trials, budget), as in the paper; a standard error if each has one run."""
    return np.asarray(trials.std(axis=0) * (1 / np.sqrt(runs) if runs == len(trials) else 0.5))


def _draw_authors(axes: Any, rule: str, theirs: Mapping[str, tuple[float, ...]]) -> None:
    """The authors' own curve as hollow markers on a thin dashed line."""
    if rule in theirs:
        colour, marker = STYLES[rule]
        places = authors.EVERY * np.arange(1, len(theirs[rule]) + 1)
        axes.plot(places, theirs[rule], "--", color=colour, **AUTHORS_LOOK | {"marker": marker})


def run_counts(runs: Any) -> str:
    """How many runs the rules have: 250, or 40 to 250."""
    counts = sorted({len(each) for each in runs})
    return "no" if not counts else str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def together_figure(panels: list[Panel], out: Path, path: Path) -> bool:
    """pg in every variant beside our default and the floor; False where one variant has runs only."""
    styles = {
        "paper": ("#d55e00", "-"),
        "paper-local": ("#d55e00", ":"),
        "published": ("#999999", "--"),
        "auto": ("#0072b2", "-"),
    }
    rules = {"paper": "pg", "paper-local": "pg", "published": "pg", "auto": "auto"}
    every = [(panel, {variant: load(out, variant, panel) for variant in rules}) for panel in panels]
    found = [(panel, runs) for panel, runs in every if sum(rules[v] in each for v, each in runs.items()) > 1]
    if not found:
        return False
    plt = pyplot()
    across = min(3, len(found))
    down = -(-len(found) // across)
    figure, rows = plt.subplots(
        down, across, figsize=(4.1 * across, 3.0 * down), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (panel, variants) in zip(rows.flat, found, strict=False):
        steps = np.arange(1, panel.budget + 1)
        for variant, runs in variants.items():
            if records := runs.get(rules[variant], []):
                mean = success_by_trial(records, panel).mean(axis=0)
                colour, line = styles[variant]
                name = "our default" if variant == "auto" else f"pg, {variant}"
                axes.plot(steps, mean, line, color=colour, linewidth=1.5, label=f"{name} ({len(records)} runs)")
        if floor := max((runs.get(FLOOR, []) for runs in variants.values()), key=len):
            mean = success_by_trial(floor, panel).mean(axis=0)
            axes.plot(steps, mean, ":", color="black", linewidth=1.2, label=f"{FLOOR} ({len(floor)} runs)")
        finish(axes, f"{panel.problem}, {panel.label}", legend=False)
        axes.legend(fontsize=7.5, frameon=False)
        axes.set_xlabel("evaluations")
    for axes in rows.flat[len(found) :]:
        axes.remove()
    for row in rows:
        row[0].set_ylabel("success fraction")
    save(figure, path)
    return True


def regret_figure(panels: list[Panel], out: Path, variant: str, path: Path) -> dict[str, Any]:
    """Simple regret where no action is good: a row for each problem, a column for each target and one for the optimisers.

    Mean with bars, and median (dashed).
    """
    plots: dict[str, list[tuple[Panel, str, dict[str, Any]]]] = {}
    for panel in panels:
        runs = load(out, variant, panel)
        sides: dict[str, tuple[str, ...]] = {panel.label: ("auto", *GOOD_RULES)}
        if panel.problem not in plots:
            sides["optimisers"] = OPTIMISERS  # they do not read the target
        for title, rules in sides.items():
            if any(rule in rules for rule in runs) or (set(runs) == {FLOOR} and title == panel.label):
                drawn = {rule: records for rule, records in runs.items() if rule in (*rules, FLOOR)}
                plots.setdefault(panel.problem, []).append((panel, title, drawn))
    ordered = [sorted(each, key=lambda plot: plot[1] == "optimisers") for each in plots.values()]
    across, down = max(map(len, ordered), default=1), max(1, len(ordered))
    figure, rows = pyplot().subplots(
        down, across, figsize=(3.9 * across, 3.1 * down), squeeze=False, layout="constrained", sharey="row"
    )
    summary: dict[str, Any] = {"runs": 0, "regret": {}}
    counted: set[str] = set()
    for row, mine in zip(rows, ordered, strict=False):
        for axes, (panel, title, drawn) in zip(row, mine, strict=False):
            numbers = summary["regret"].setdefault(f"{panel.problem} ({title})", {})
            for rule, records in drawn.items():
                curves = [simple_regret(record, panel, PROBLEMS[panel.problem].maximum) for record in records]
                trials, median = by_trial(records, curves), np.median(curves, axis=0)
                mean = np.mean(curves, axis=0)
                draw_line(axes, rule, mean, np.minimum(bars(trials, len(records)), 0.95 * mean))
                if rule != FLOOR:
                    axes.plot(
                        np.arange(1, panel.budget + 1), median, "--", color=STYLES[rule][0], linewidth=0.9, alpha=0.8
                    )
                numbers[rule] = {
                    "mean": [round(float(v), 5) for v in mean[19::20]],
                    "median": [round(float(v), 5) for v in median[19::20]],
                }
                keys = {record["key"] for record in records}
                summary["runs"] += len(keys - counted)
                counted |= keys
            finish(axes, f"{panel.problem}, {title}; {run_counts(drawn.values())} runs a rule", ylim=None)
            axes.set(yscale="log", xlabel="evaluations")
        for axes in row[len(mine) :]:
            axes.remove()
        row[0].set_ylabel("simple regret")
    figure.suptitle(VARIANT_NAMES[variant], fontsize=10)
    save(figure, path)
    return summary


def phi_figure(path: Path, delta: float = 0.4) -> dict[str, Any]:
    """Figure 1: the three penalties Phi and the standard regret."""
    from satisfice.paper import regret

    plt = pyplot()
    r = np.linspace(0, 1, 501)
    figure, axes = plt.subplots(figsize=(4.4, 3.2), layout="constrained")
    axes.plot(r, r, color="#999999", linestyle=":", label="standard")
    bad = r > delta
    for name, colour in (("indicator", "#d55e00"), ("gap", "#0072b2"), ("hinge", "#009e73")):
        values = getattr(regret, name)(1 - r, 1.0, delta)
        axes.plot(np.where(bad, r, np.nan), values, color=colour, label={"gap": "large gap"}.get(name, name))
        axes.plot(r[~bad], values[~bad], color=colour, linewidth=1.0)
    axes.axvline(delta, color="black", linewidth=0.6, linestyle="--")
    axes.set(xlabel="r", ylabel="Phi(r)", xticks=[0, delta, 1], xticklabels=["0", "Delta", "1"])
    axes.legend(frameon=False, fontsize=8)
    save(figure, path)
    return {"runs": 0}


def save(figure: Any, path: Path) -> None:
    """Write the picture in few colours, which halves the file, and forget the figure."""
    image = load_extra("PIL.Image", "experiments")  # matplotlib brings it
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    with image.open(path) as full:
        few = full.convert("RGB").quantize(COLOURS_KEPT)
    few.save(path, optimize=True)
    pyplot().close(figure)
