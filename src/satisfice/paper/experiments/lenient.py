"""Lenient regret on a draw from the prior: `ucb` and `elimination` with a fixed and known kernel (paper, section 5.1)."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng

from satisfice.domain.finite import Finite
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.paper import regret
from satisfice.paper.experiments.records import Record
from satisfice.paper.problems import PROBLEMS
from satisfice.rules import Rule
from satisfice.rules.elimination import Elimination
from satisfice.rules.ucb import UpperConfidence
from satisfice.rules.widths import sqrt_log_cubed
from satisfice.search.search import Search

ROUNDS, LENGTHSCALE = 700, 0.1
RULES: dict[str, Rule] = {"ucb": UpperConfidence(sqrt_log_cubed), "elimination": Elimination(sqrt_log_cubed)}


def run_lenient(rule: str, seed: int, rounds: int = ROUNDS) -> Record:
    """The true values of the points that a rule asks on gp2d; the noise is the run's own."""
    problem = PROBLEMS["gp2d"]
    domain = problem.domain
    if not isinstance(domain, Finite):
        raise TypeError("gp2d is a finite problem")
    values, noise = problem.values(domain.X), default_rng([seed, 1])
    known = FixedModel(Stationary("se", np.array([LENGTHSCALE])), problem.noise**2)
    search = Search(domain, problem.target, RULES[rule], model=known, noise=problem.noise, confirm=False, seed=seed)
    path = []
    for _ in range(rounds):
        x = search.ask()
        path.append(float(values[domain.nearest(domain.to_unit(x))[0]]))
        search.tell(x, path[-1] + problem.noise * noise.standard_normal())
    return {
        "key": f"lenient/{rule}/{rounds}/{seed}",
        "rule": rule,
        "seed": seed,
        "rounds": rounds,
        "values": [float(f"{value:.6g}") for value in path],
    }


def run_published(rule: str, seed: int, rounds: int = ROUNDS) -> Record:
    """The same as the published code did it; the five runs of a figure share their two starting points."""
    from satisfice.paper.experiments.published_gp2d import published_gp2d, starting_points

    curves = published_gp2d(rule, starting_points(default_rng(seed // 5)), seed, rounds)
    regrets = np.diff(curves.standard, prepend=0.0)
    return {
        "key": f"lenient/{rule}/{rounds}/{seed}",
        "rule": rule,
        "seed": seed,
        "rounds": rounds,
        "values": [float(f"{value:.6g}") for value in PROBLEMS["gp2d-published"].maximum - regrets],
    }


def curves_of(records: list[Record], problem: str = "gp2d") -> dict[str, regret.Curves]:
    """The cumulative regrets of each rule, each (runs, rounds)."""
    maximum, target = PROBLEMS[problem].maximum, PROBLEMS[problem].target
    by_rule = {rule: [record["values"] for record in records if record["rule"] == rule] for rule in RULES}
    return {rule: regret.curves(np.array(runs), maximum, maximum - target) for rule, runs in by_rule.items() if runs}


def lenient_figure(records: list[Record], path: Path, problem: str = "gp2d") -> dict[str, Any]:
    """Figure 2: standard and lenient regrets of both rules, mean over the runs with bars; the authors' beside the published."""
    from satisfice.paper.experiments import authors
    from satisfice.paper.experiments.figures import finish, pyplot, save

    colours = {"standard": "#999999", "indicator": "#d55e00", "gap": "#0072b2", "hinge": "#009e73"}
    figure, axes = pyplot().subplots(figsize=(8.2, 4.2), layout="constrained")
    summary: dict[str, Any] = {"runs": len(records), "regret": {}}
    found = curves_of(records, problem)
    for shift, (rule, curves) in enumerate(found.items()):
        style = "-" if rule == "ucb" else "--"
        summary["regret"][rule] = {}
        for name, colour in colours.items():
            runs = getattr(curves, name)
            mean, t = runs.mean(axis=0), np.arange(1, runs.shape[1] + 1)
            axes.plot(t, mean, style, color=colour, label=f"{rule}, {name}", linewidth=1.4)
            places = slice(99 - 20 * shift, None, 100)
            look = {"fmt": "none", "ecolor": colour, "elinewidth": 0.9, "capsize": 2}
            axes.errorbar(t[places], mean[places], 0.5 * runs.std(axis=0)[places], **look)
            summary["regret"][rule][name] = [round(float(mean[t - 1]), 3) for t in range(100, len(mean) + 1, 100)]
        if problem == "gp2d-published":
            for name, theirs in zip(("standard", "indicator"), authors.LENIENT[rule], strict=True):
                marker = {"marker": "o" if rule == "ucb" else "s", "markerfacecolor": "none", "linestyle": "none"}
                axes.plot(authors.ROUNDS, theirs, color=colours[name], label=f"{rule}, {name}: authors", **marker)
    counts = sorted({len(curves.standard) for curves in found.values()})
    finish(axes, f"{problem}; {' to '.join(map(str, counts))} runs a rule", legend=False, ylim=None)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.set(xlabel="t", ylabel="cumulative regret")
    save(figure, path)
    return summary
