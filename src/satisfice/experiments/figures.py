"""Figures that a paper could print, from records only: one colour for a rule everywhere, safe for the colour-blind."""

from pathlib import Path
from typing import Any

import numpy as np

from satisfice.experiments.curves import load, simple_regret, success_by_trial
from satisfice.experiments.spec import FLOOR, GOOD_RULES, OPTIMISERS, Panel
from satisfice.extras import load_extra
from satisfice.problems import PROBLEMS
from satisfice.types import Array

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
    "random": ("#000000", "None"),
}
VARIANT_NAMES = {
    "paper": "as the text says",
    "paper-local": "as the text says, but with our optimiser of acquisitions",
    "published": "as the published code did",
    "auto": "our default",
}


def pyplot() -> Any:
    """matplotlib without a screen."""
    load_extra(*MATPLOTLIB).use("Agg")
    return load_extra("matplotlib.pyplot", "experiments")


def _line(axes: Any, rule: str, curve: Array, spread: Array | None, label: str | None = None) -> None:
    """A curve with sparse markers, and error bars at the same places."""
    colour, marker = STYLES[rule]
    steps = np.arange(1, len(curve) + 1)
    shift = 3 * list(STYLES).index(rule) % 20
    places = slice(shift, None, 20)
    style = ":" if rule == FLOOR else "-"
    axes.plot(
        steps, curve, style, color=colour, marker=marker, markevery=places, markersize=4.5, linewidth=1.3,
        label=label or rule,
    )  # fmt: skip
    if spread is not None:
        axes.errorbar(
            steps[places], curve[places], spread[places], fmt="none", ecolor=colour, elinewidth=0.8, capsize=1.5
        )


def success_figure(panels: list[Panel], out: Path, variant: str, path: Path) -> dict[str, Any]:
    """Two plots a panel side by side, optimisers and good-action rules, `random` in both; bars of half a standard deviation.

    Returns what `--json` prints.
    """
    plt = pyplot()
    figure, rows = plt.subplots(
        len(panels), 2, figsize=(8.2, 2.9 * len(panels)), sharex=True, sharey=True, squeeze=False, layout="constrained"
    )
    summary: dict[str, Any] = {"runs": 0, "success": {}}
    several = len({panel.problem for panel in panels}) < len(panels)
    for row, panel in zip(rows, panels, strict=True):
        found = load(out, variant, panel)
        name = f"{panel.problem} ({panel.label})" if several else panel.problem
        summary["success"][name] = {}
        for rule, records in found.items():
            fractions = success_by_trial(records, panel)
            mean = fractions.mean(axis=0)
            both = row if rule == FLOOR else row[:1] if rule in OPTIMISERS else row[1:]
            for axes in both:
                _line(axes, rule, mean, 0.5 * fractions.std(axis=0))
            summary["runs"] += len(records)
            summary["success"][name][rule] = [round(float(mean[t - 1]), 4) for t in range(20, panel.budget + 1, 20)]
        counts = sorted({len(records) for records in found.values()})
        for axes in row:
            axes.set_title(
                f"{panel.problem}, {panel.label}; runs a rule: {', '.join(map(str, counts)) or 'none'}", fontsize=9
            )
            axes.set_ylim(-0.03, 1.03)
            axes.grid(alpha=0.25)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize=8, frameon=False, ncols=2)
        row[0].set_ylabel("success fraction")
    for axes in rows[-1]:
        axes.set_xlabel("evaluations")
    figure.suptitle(VARIANT_NAMES[variant], fontsize=10)
    save(figure, path)
    return summary


def together_figure(panels: list[Panel], out: Path, path: Path) -> bool:
    """pg as the text says and as the published code did, and our default, side by side; False where there is one only."""
    styles = {
        "paper": ("#d55e00", "-"),
        "paper-local": ("#d55e00", ":"),
        "published": ("#999999", "--"),
        "auto": ("#0072b2", "-"),
    }
    rules = {"paper": "pg", "paper-local": "pg", "published": "pg", "auto": "auto"}
    found = [(panel, {v: load(out, v, panel).get(rule, []) for v, rule in rules.items()}) for panel in panels]
    found = [(panel, records) for panel, records in found if sum(map(bool, records.values())) > 1]
    if not found:
        return False
    plt = pyplot()
    figure, row = plt.subplots(
        1, len(found), figsize=(4.1 * len(found), 3.0), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (panel, variants) in zip(row[0], found, strict=True):
        for variant, records in variants.items():
            if records:
                mean = success_by_trial(records, panel).mean(axis=0)
                colour, line = styles[variant]
                name = VARIANT_NAMES[variant] if variant == "auto" else f"pg {VARIANT_NAMES[variant]}"
                label = f"{name} ({len(records)} runs)"
                axes.plot(np.arange(1, panel.budget + 1), mean, line, color=colour, linewidth=1.5, label=label)
        axes.set(title=f"{panel.problem}, {panel.label}", xlabel="evaluations", ylim=(-0.03, 1.03))
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.25)
        axes.legend(fontsize=7.5, frameon=False, loc="lower right")
    row[0][0].set_ylabel("success fraction")
    save(figure, path)
    return True


def regret_figure(panels: list[Panel], out: Path, variant: str, path: Path) -> dict[str, Any]:
    """Simple regret where no action is good, mean and median (dashed): a column for each target and one for the optimisers."""
    plt = pyplot()
    problems = list(dict.fromkeys(panel.problem for panel in panels))
    figure, rows = plt.subplots(
        len(problems), 3, figsize=(11.5, 3.0 * len(problems)), squeeze=False, layout="constrained", sharey="row"
    )
    summary: dict[str, Any] = {"runs": 0, "regret": {}}
    for row, problem in zip(rows, problems, strict=True):
        mine = [panel for panel in panels if panel.problem == problem]
        columns = [(panel, ("auto", *GOOD_RULES, FLOOR), panel.label) for panel in mine] + [
            (mine[0], (*OPTIMISERS, FLOOR), "optimisers")
        ]
        for axes, (panel, rules, title) in zip(row, columns, strict=True):
            found = {rule: records for rule, records in load(out, variant, panel).items() if rule in rules}
            for rule, records in found.items():
                curves = np.array([simple_regret(record, panel, PROBLEMS[problem].maximum) for record in records])
                _line(axes, rule, curves.mean(axis=0), None)
                axes.plot(
                    np.arange(1, panel.budget + 1),
                    np.median(curves, axis=0),
                    "--",
                    color=STYLES[rule][0],
                    linewidth=0.9,
                )
                summary["runs"] += len(records)
                summary["regret"].setdefault(f"{problem} ({title})", {})[rule] = {
                    "mean": [round(float(v), 5) for v in curves.mean(axis=0)[19::20]],
                    "median": [round(float(v), 5) for v in np.median(curves, axis=0)[19::20]],
                }
            axes.set(yscale="log", xlabel="evaluations", title=f"{problem}, {title}")
            axes.title.set_fontsize(9)
            axes.grid(alpha=0.25)
            if found:
                axes.legend(fontsize=8, frameon=False, ncols=2)
        row[0].set_ylabel("simple regret (dashed: median)")
    figure.suptitle(VARIANT_NAMES[variant], fontsize=10)
    save(figure, path)
    return summary


def phi_figure(path: Path, delta: float = 0.4) -> dict[str, Any]:
    """Figure 1: the three penalties Phi and the standard regret."""
    from satisfice import regret

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
    """Write the picture and forget the figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    pyplot().close(figure)
