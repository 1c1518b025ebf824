"""The figures of docs/evidence/benchmarks.md: success curves and the performance profile."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from eval_peers import BUDGET, CONTESTANTS, NAMES
from eval_runs import Cuts, Runs

COLOURS = {"auto": "#0072B2", "paper": "#56B4E9", "tpe": "#D55E00", "gp": "#E69F00", "gp-constraint": "#E69F00",
           "cmaes": "#8C564B", "botorch-ei": "#009E73", "botorch-pi": "#009E73", "ax": "#CC79A7",
           "smac": "#7F7F00", "bayes-opt": "#555555", "random": "#AAAAAA"}  # fmt: skip
DASHED = ("gp-constraint", "botorch-pi")


def curves(runs: Runs, names: list[str], cut: Cuts, path: Path) -> None:
    """A panel for each problem: the share of runs with a good value after n evaluations, up to where runs were cut off."""
    columns = 4
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(12, 2.3 * rows + 0.8), sharex=True, sharey=True, squeeze=False)
    handles = {}
    for axis, name in zip(axes.flat, names, strict=False):
        for contestant, counts in runs[name].items():
            values = np.array(list(counts.values()))
            # a failure counts as the budget, and a run that was cut off as what it had: that step is not drawn
            steps = np.arange(1, cut.get((name, contestant), BUDGET))
            style = {"color": COLOURS[contestant], "ls": "--" if contestant in DASHED else "-"}
            shares = [(values <= n).mean() for n in steps]
            handles[contestant] = axis.plot(steps, shares, lw=2.2 if contestant == "auto" else 1.1, **style)[0]
        axis.set_title(name, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    figure.supxlabel("evaluations", fontsize=9)
    figure.supylabel("share of runs with a good value", fontsize=9)
    order = [c for c in CONTESTANTS if c in handles]
    labels = [NAMES[c].replace("`", "") for c in order]
    figure.legend([handles[c] for c in order], labels, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.set_layout_engine("constrained")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def profile(runs: Runs, cut: Cuts, path: Path) -> None:
    """For each contestant, the share of problems on which its mean (or its lower bound) is within a factor of the best mean."""
    figure, axis = plt.subplots(figsize=(8, 4), constrained_layout=True)
    means = {
        name: {c: float(np.mean(list(counts.values()))) for c, counts in mine.items()} for name, mine in runs.items()
    }
    factors = np.geomspace(1, 10, 200)
    for c in CONTESTANTS:
        worse = np.array([mine[c] / min(mine.values()) for mine in means.values() if c in mine])
        if len(worse):
            label = NAMES[c].replace("`", "") + (f" ({len(worse)} problems)" if len(worse) < len(means) else "")
            label += " (at most)" if any(contestant == c for _, contestant in cut) else ""
            style = {"color": COLOURS[c], "ls": "--" if c in DASHED else "-", "lw": 2.4 if c == "auto" else 1.2}
            axis.plot(factors, [(worse <= f + 1e-12).mean() for f in factors], label=label, **style)
    axis.set(xscale="log", xlabel="factor of the best contestant's mean evaluations", ylabel="share of problems", ylim=(0, 1.02))  # fmt: skip
    axis.set_xticks([1, 2, 3, 5, 10], ["1", "2", "3", "5", "10"])
    axis.minorticks_off()
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=110)
    plt.close(figure)
