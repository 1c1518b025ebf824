"""The figures of the experiments on the theory: measurements with markers, bounds dashed, both axes logarithmic."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from satisfice.gp.kernels import CORRELATIONS
from satisfice.paper.experiments.figures import pyplot, save
from satisfice.paper.experiments.misspecified import TRUTHS, WIDTHS, Truth, misspecified_table
from satisfice.paper.experiments.records import Record

STYLES = {
    "ucb": ("#0072b2", "o"),
    "ucb-intersected": ("#56b4e9", "s"),
    "ucb-doubled": ("#009e73", "^"),
    "elimination": ("#d55e00", "D"),
    "etc": ("#cc79a7", "v"),
    "ucb, log det": ("#0072b2", "x"),
    "elimination, log det": ("#d55e00", "+"),
}
BOUNDED = {"ucb": "Theorem 1", "elimination": "Theorem 2"}
GREY = "#777777"
FORM_NAMES = {"se": "SE", "matern12": "Matérn-1/2", "matern32": "Matérn-3/2", "matern52": "Matérn-5/2"}


def mean_interval(values: Iterable[float]) -> tuple[float, float]:
    """The mean, and half the length of its 95 % interval by Student's t."""
    found = np.array(list(values), dtype=np.float64)
    half = float(student.ppf(0.975, len(found) - 1)) * found.std(ddof=1) / np.sqrt(len(found))
    return float(found.mean()), float(half)


def some(records: list[Record], **wanted: Any) -> list[Record]:
    """The records that have these entries."""
    return [record for record in records if all(record.get(name) == value for name, value in wanted.items())]


def _measured(axes: Any, records: list[Record], x: Callable[[Record], float], regret: str, **line: Any) -> None:
    """Means with 95 % intervals against x, in the order of x."""
    rows = sorted((x(record), *mean_interval(record[regret])) for record in records)
    if rows:
        places, means, halves = (np.array(column) for column in zip(*rows, strict=True))
        low = np.minimum(halves, 0.9 * means)  # the axis is logarithmic
        axes.errorbar(places, means, [low, halves], markersize=4.5, linewidth=1.2, capsize=2, elinewidth=0.8, **line)


def _bounds(
    axes: Any, records: list[Record], x: Callable[[Record], float], entry: int, names: tuple[str, ...] = ("paper sum",)
) -> None:
    """The bounds of Theorems 1 and 2 against x; entry 0 is the number of bad actions, 1 the gap regret."""
    dashes = {"paper sum": "--", "sharp sum": ":"}
    for rule, theorem in BOUNDED.items():
        for name in names:
            rows = sorted((x(record), record["bounds"][name][rule][entry]) for record in records)
            if rows:
                label = theorem if name == "paper sum" else f"{theorem}, sharp C_1"
                axes.plot(*zip(*rows, strict=True), dashes[name], color=STYLES[rule][0], linewidth=1.1, label=label)


def _finish(axes: Any, title: str, xlabel: str, ylabel: str) -> None:
    axes.set(yscale="log", xlabel=xlabel, ylabel=ylabel)
    axes.set_title(title, fontsize=9)
    axes.grid(alpha=0.25, which="both", linewidth=0.5)


def _legend_below(figure: Any, panels: Iterable[Any], columns: int) -> None:
    """One legend under the figure for the lines of some panels."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        figure.legend(found.values(), found, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


def _tick(axes: Any, places: list[float], labels: list[str]) -> None:
    axes.set_xticks(places, labels)
    axes.minorticks_off()


def delta_figure(records: list[Record], path: Path) -> None:
    """Bad actions and gap regret against 1/Delta: all rules beside the bounds, and adversaries beside random functions."""
    figure, (left, middle, right) = pyplot().subplots(1, 3, figsize=(13.0, 4.3), layout="constrained")
    mine = some(records, experiment="delta")
    bounds = some(mine, rule="bounds")

    def x(record: Record) -> float:
        return 1 / float(record["delta"])

    for axes, family, regret, entry in ((left, "bump", "bad", 0), (middle, "steep", "gap", 1)):
        for rule in ("ucb", "ucb-intersected", "ucb-doubled", "elimination", "etc"):
            colour, marker = STYLES[rule]
            found = some(mine, family=family, rule=rule)
            _measured(axes, found, x, regret, color=colour, marker=marker, label=rule)
        _bounds(axes, bounds, x, entry)
        rows = sorted((x(record), record["lower"][entry]) for record in bounds)
        if rows:
            axes.plot(*zip(*rows, strict=True), ":", color=GREY, linewidth=1.1, label="Theorem 3, constants 1")
    for family, line in (("bump", "-"), ("random", "--"), ("steep", ":")):
        for rule in BOUNDED:
            colour, marker = STYLES[rule]
            found = some(mine, family=family, rule=rule)
            _measured(right, found, x, "bad", color=colour, marker=marker, linestyle=line, label=f"{rule}, {family}")
    places = sorted({x(record) for record in bounds})
    for axes, title, label in (
        (left, "hidden bumps (appendix B)", "bad actions"),
        (middle, "steepest functions", "gap regret"),
        (right, "three kinds of functions", "bad actions"),
    ):
        axes.set_xscale("log")
        _finish(axes, title, "1 / Delta", label)
        _tick(axes, places, [f"{place:.3g}" for place in places])
    if right.get_legend_handles_labels()[0]:
        right.legend(frameon=False, fontsize=7)
    _legend_below(figure, (left, middle), 8)
    save(figure, path)


def growth_figure(records: list[Record], path: Path) -> None:
    """Bad actions against T for two kernels; elimination is drawn on as a constant once it has no bad action left."""
    mine = some(records, experiment="horizon")
    forms = [form for form in FORM_NAMES if some(mine, form=form)]
    figure, row = pyplot().subplots(1, len(forms), figsize=(5.4 * len(forms), 4.3), squeeze=False, layout="constrained")
    for axes, form in zip(row[0], forms, strict=True):
        (bound,) = some(mine, form=form, rule="bounds")
        for rule, (colour, marker) in STYLES.items():
            for record in some(mine, form=form, rule=rule):
                curve = sorted(record["curve"])
                if rule in ("elimination", "etc") and record["rounds"] > curve[-1][0]:
                    curve.append([record["rounds"], *record["bad"]])
                if rule == "elimination" and record["rounds"] < bound["T"]:
                    curve.append([bound["T"], *record["bad"]])
                rounds = np.array([point[0] for point in curve])
                summaries = np.array([mean_interval(point[1:]) for point in curve])
                means, halves = np.maximum(summaries[:, 0], 0.1), summaries[:, 1]
                axes.plot(rounds, means, color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=rule)
                axes.fill_between(
                    rounds, np.maximum(means - halves, 0.1), means + halves, color=colour, alpha=0.2, linewidth=0
                )
        rounds, limits = (np.array(column) for column in zip(*bound["curve"], strict=True))
        axes.plot(rounds, limits, "--", color=STYLES["ucb"][0], linewidth=1.1, label="Theorem 1")
        limit = bound["bounds"]["paper sum"]["elimination"][0]
        axes.axhline(limit, linestyle="--", color=STYLES["elimination"][0], linewidth=1.1, label="Theorem 2")
        axes.plot(rounds, rounds, ":", color=GREY, linewidth=1.1, label="every action bad")
        axes.set_xscale("log")
        axes.set_ylim(1, 4 * max(limit, bound["T"]))
        _finish(axes, f"{FORM_NAMES[form]}, Delta = {bound['delta']:g}", "T", "bad actions")
    _legend_below(figure, row[0], 4)
    save(figure, path)


def kernel_figure(records: list[Record], path: Path) -> None:
    """Bad actions against the dimension, the smoothness and lambda."""
    figure, row = pyplot().subplots(1, 3, figsize=(13.0, 4.0), layout="constrained")
    forms = sorted(CORRELATIONS, key=lambda form: CORRELATIONS[form].nu)
    panels: tuple[tuple[str, str, Callable[[Record], float]], ...] = (
        ("dimension", "d", lambda record: float(record["d"])),
        ("smoothness", "nu", lambda record: float(forms.index(record["form"]))),
        ("lambda", "lambda", lambda record: float(record["lam"])),
    )
    for axes, (experiment, label, x) in zip(row, panels, strict=True):
        mine = some(records, experiment=experiment)
        for rule in BOUNDED:
            colour, marker = STYLES[rule]
            _measured(axes, some(mine, rule=rule), x, "bad", color=colour, marker=marker, label=rule)
        bounds = some(mine, rule="bounds")
        _bounds(axes, bounds, x, 0, ("paper sum", "sharp sum") if experiment == "lambda" else ("paper sum",))
        if experiment == "lambda":
            axes.set_xscale("log")
        if bounds:
            _finish(axes, f"Delta = {bounds[0]['delta']:g}", label, "bad actions")
        if experiment == "smoothness":
            names = ["SE" if np.isinf(CORRELATIONS[form].nu) else f"{CORRELATIONS[form].nu:g}" for form in forms]
            _tick(axes, [float(place) for place in range(len(forms))], names)
        if experiment == "dimension":
            _tick(axes, [1.0, 2.0, 3.0], ["1", "2", "3"])
    _legend_below(figure, row, 6)
    save(figure, path)


WIDTH_STYLES = {
    "sqrt(log(2t)^3)": ("#d55e00", "D"),
    "Bayesian": ("#0072b2", "o"),
    "sqrt(log t)": ("#999999", "s"),
    "log det, root": ("#009e73", "^"),
}


def truth_name(truth: Truth) -> str:
    """What f is and what is assumed, in a few words."""
    assumed = "" if truth.form == truth.assumed else f", {FORM_NAMES[truth.assumed]} assumed"
    source = "draws" if truth.source == "process" else "functions of norm 1"
    return f"{FORM_NAMES[truth.form]} {source}, d = {truth.d}{assumed}"


def misspecified_figure(records: list[Record], path: Path) -> None:
    """The share of runs in which elimination loses the maximiser, against the assumed over the true length-scale."""
    table = misspecified_table(records)["lost"]
    shown = [truth for truth in TRUTHS if any(found == truth for found, _ in table)]
    columns = min(len(shown), 3)
    figure, grid = pyplot().subplots(
        -(-len(shown) // 3), columns, figsize=(3.6 * columns, 3.1 * -(-len(shown) // 3)), sharex=True, sharey=True,
        squeeze=False, layout="constrained",
    )  # fmt: skip
    for axes in grid.flat[len(shown) :]:
        axes.remove()
    for axes, truth in zip(grid.flat, shown, strict=False):
        for width in WIDTHS[truth.source]:
            rows = table.get((truth, width), [])
            if rows:
                x, share = (np.array([point[name] for point in rows]) for name in ("ratio", "share"))
                low, high = np.array([point["interval"] for point in rows]).T
                colour, marker = WIDTH_STYLES[width]
                axes.errorbar(
                    x, share, [share - low, high - share], color=colour, marker=marker, markersize=4, linewidth=1.2,
                    capsize=2, elinewidth=0.8, label=width,
                )  # fmt: skip
        axes.axvline(1, color=GREY, linewidth=0.7)
        axes.axhline(0.05, color=GREY, linewidth=0.7, linestyle=":")
        axes.set_xscale("log", base=2)
        axes.set(xlabel="assumed / true length-scale", ylabel="share that loses the maximiser", ylim=(-0.03, 1.03))
        axes.label_outer()
        axes.xaxis.set_tick_params(labelbottom=True)
        axes.set_title(truth_name(truth), fontsize=8.5)
        _tick(axes, [2.0**k for k in range(-3, 4)], ["1/8", "1/4", "1/2", "1", "2", "4", "8"])
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=7, loc="upper left")
    save(figure, path)
