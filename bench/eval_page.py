"""docs/benchmarks.md and its pictures from the records of bench/evaluations.py."""

from collections import Counter
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import bootstrap
import matplotlib.pyplot as plt
import numpy as np
from bootstrap import interval
from eval_peers import BUDGET, CONTESTANTS, OURS, STARTING_POINTS
from eval_problems import PROBLEMS
from numpy.random import default_rng

from satisfice.experiments.records import Record
from satisfice.types import Array

RESAMPLES, RESAMPLES_SEED = 2000, 7
ENOUGH, ENOUGH_SLOW = 50, 20  # runs, of a contestant and of one that is slow; a figure with fewer says so
SLOW = ("gp-constraint", "botorch-ei", "botorch-pi", "ax", "smac", "bayes-opt")  # over 0.1 s a question
LEAST = 20  # evaluations of a run before it is cut off
FEW = 3  # runs; a peer with fewer has not shown what it can do
NAMES = {
    "auto": "satisfice `auto`", "paper": "satisfice `paper`", "tpe": "Optuna TPE", "gp": "Optuna GPSampler",
    "gp-constraint": "Optuna GPSampler, target as constraint", "cmaes": "Optuna CMA-ES", "botorch-ei": "BoTorch log EI",
    "botorch-pi": "BoTorch log PI over the target", "ax": "Ax",
    "smac": "SMAC3 black box", "bayes-opt": "bayesian-optimization", "random": "random",
}  # fmt: skip
COLOURS = {"auto": "#0072B2", "paper": "#56B4E9", "tpe": "#D55E00", "gp": "#E69F00", "gp-constraint": "#E69F00",
           "cmaes": "#8C564B", "botorch-ei": "#009E73", "botorch-pi": "#009E73", "ax": "#CC79A7",
           "smac": "#7F7F00", "bayes-opt": "#555555", "random": "#AAAAAA"}  # fmt: skip
DASHED = ("gp-constraint", "botorch-pi")
Runs = dict[str, dict[str, dict[int, int]]]  # problem -> contestant -> seed -> evaluations
Cuts = dict[tuple[str, str], int]  # (problem, contestant) -> the evaluations after which runs were cut off


def enough(contestant: str) -> int:
    """How many runs of a problem it should have."""
    return ENOUGH_SLOW if contestant in SLOW else ENOUGH


def by_problem(records: list[Record]) -> Runs:
    """The evaluations of each run, problems and contestants in their usual order, without those of fewer than `FEW` runs.

    A failure counts as the budget, and a run that was cut off as what it had by then.
    """
    runs: Runs = {}
    for problem in PROBLEMS:
        for contestant in CONTESTANTS:
            mine = [r for r in records if r["problem"] == problem and r["contestant"] == contestant]
            mine.sort(key=lambda r: r["seed"])  # resamples, and so intervals, go by the order
            if len(mine) >= FEW:
                counts = {r["seed"]: r["evaluations"] if r["good"] or "cut" in r else BUDGET for r in mine}
                runs.setdefault(problem, {})[contestant] = counts
    return runs


def cuts(records: list[Record]) -> Cuts:
    """Where runs were cut off, after how many evaluations: means are no more than lower bounds there."""
    found: Cuts = {}
    for r in records:
        if "cut" in r:
            pair = r["problem"], r["contestant"]
            found[pair] = min(r["evaluations"], found.get(pair, BUDGET))
    return found


def resampled_means(counts: dict[int, int]) -> Array:
    """The means (RESAMPLES,) of runs drawn with replacement."""
    values = np.array(list(counts.values()), dtype=float)
    chosen = default_rng(RESAMPLES_SEED).integers(len(values), size=(RESAMPLES, len(values)))
    return values[chosen].mean(axis=1)


def ratio(one: dict[int, int], other: dict[int, int]) -> tuple[float, Array]:
    """The ratio of the means over the runs that both have, and that of resampled pairs (RESAMPLES,); NaN for fewer than `FEW`."""
    seeds = sorted(one.keys() & other.keys())
    pairs = np.array([[one[s], other[s]] for s in seeds], dtype=float).reshape(-1, 2)
    if len(seeds) < FEW:
        return np.nan, np.full(RESAMPLES, np.nan)
    return bootstrap.ratio(pairs, default_rng(RESAMPLES_SEED), RESAMPLES)


def can_be_best(contestants: dict[str, dict[int, int]], one: str, peer: str) -> bool:
    """Whether `enough` runs may make `peer` the best one beside `one`, where those that it lacks take the least that they can.

    No run takes less than a question after the starting points, where none of these is good. The peers to beat are those with
    `ENOUGH_SLOW` runs; a `one` that lacks some leaves it open.
    """
    mine, theirs, seeds = contestants.get(one, {}), contestants.get(peer, {}), range(enough(peer))
    if not mine.keys() >= set(seeds):
        return True
    least = sum(theirs.get(s, min(mine[s], STARTING_POINTS + 1)) for s in seeds)
    most = sum(mine[s] for s in seeds) / least
    others = [c for name, c in contestants.items() if name not in (*OURS, peer) and len(c) >= ENOUGH_SLOW]
    return all(most > ratio(mine, counts)[0] for counts in others)


def best_peer(contestants: dict[str, dict[int, int]], one: str) -> str | None:
    """The peer that does best beside `one`, by the means over the runs that both have, of those that more runs may leave the best."""
    figures = {}
    for name, counts in contestants.items():
        if name not in OURS and (len(counts) >= ENOUGH_SLOW or can_be_best(contestants, one, name)):
            figures[name] = ratio(contestants.get(one, {}), counts)[0]
    known = [name for name, figure in figures.items() if np.isfinite(figure)]
    return max(known, key=lambda name: figures[name]) if known else None


def ratios(runs: Runs, one: str, other: str | None) -> dict[str, tuple[str, float, Array]]:
    """problem: (the other, ratio of one to the other, its resamples); other = None means the best peer of each problem."""
    found = {}
    for problem, contestants in runs.items():
        against = other or best_peer(contestants, one)
        if against in contestants and one in contestants:
            figure, samples = ratio(contestants[one], contestants[against])
            if np.isfinite(figure):
                found[problem] = (against, figure, samples)
    return found


def geometric(found: dict[str, tuple[str, float, Array]], names: list[str]) -> str:
    """The geometric mean of the ratios on these problems, with its interval (independent resamples of every problem)."""
    mine = [found[name] for name in names if name in found]
    if not mine:
        return "-"
    mixed = [default_rng([RESAMPLES_SEED, k]).permutation(samples) for k, (_, _, samples) in enumerate(mine)]
    low, high = interval(np.exp(np.log(mixed).mean(axis=0)))
    return f"{np.exp(np.mean([np.log(r) for _, r, _ in mine])):.2f} ({low:.2f} to {high:.2f}; {len(mine)})"


def means_table(runs: Runs, names: list[str], cut: Cuts) -> str:
    """A row a problem: mean evaluations with their intervals, the best bold; lower bounds, never bold, where runs were cut off.

    * stands for fewer than `ENOUGH` runs, ° for fewer than `ENOUGH_SLOW`.
    """
    shown = [c for c in CONTESTANTS if any(c in runs[name] for name in names)]
    lines = ["| problem | " + " | ".join(NAMES[c] for c in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    for name in names:
        means = {c: np.mean(list(counts.values())) for c, counts in runs[name].items()}
        least = min(mean for c, mean in means.items() if (name, c) not in cut)
        cells = []
        for c in shown:
            if c not in means:
                cells.append("-")
                continue
            low, high = interval(resampled_means(runs[name][c]))
            figure = f"{means[c]:.0f}"
            count = len(runs[name][c])
            mark = "°" if count < ENOUGH_SLOW else "*" if count < ENOUGH else ""
            best = f"**{figure}**" if means[c] == least else figure
            cells.append(f"≥ {figure}{mark}" if (name, c) in cut else f"{best}{mark} ({low:.0f} to {high:.0f})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ratio_table(runs: Runs, names: list[str]) -> str:
    """A row a problem: auto against its best peer and against paper."""
    peer, paper = ratios(runs, "auto", None), ratios(runs, "auto", "paper")
    lines = [
        "| problem | parameters | kind | best peer | `auto` / best peer | `auto` / `paper` |",
        "|---|---|---|---|---|---|",
    ]
    for name in names:
        cells = []
        for found in (peer, paper):
            if name in found:
                low, high = interval(found[name][2])
                cells.append(f"{found[name][1]:.2f} ({low:.2f} to {high:.2f})")
            else:
                cells.append("-")
        problem, against = PROBLEMS[name], NAMES[peer[name][0]] if name in peer else "-"
        lines.append(f"| {name} | {len(problem.space)} | {', '.join(problem.tags)} | {against} | {' | '.join(cells)} |")
    return "\n".join(lines)


def geometric_table(runs: Runs, tuned: list[str], held_out: list[str], cut: Cuts) -> str:
    """A row a peer: the geometric means of auto's ratio to it; upper bounds where runs of it were cut off."""
    lines = ["| `auto` / | all problems | tuned on | held out |", "|---|---|---|---|"]
    rows = {"the best peer of each problem": ratios(runs, "auto", None)}
    bounded = {contestant for _, contestant in cut}
    rows |= {
        NAMES[c] + (" (at most)" if c in bounded else ""): ratios(runs, "auto", c) for c in CONTESTANTS if c != "auto"
    }
    for title, found in rows.items():
        if found:
            cells = (geometric(found, names) for names in (tuned + held_out, tuned, held_out))
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def still_open(runs: Runs) -> str:
    """A sentence: the peers that may become the best of a problem with the runs that they lack."""
    found: dict[str, list[str]] = {}
    for problem, contestants in runs.items():
        for name, counts in contestants.items():
            if name not in OURS and len(counts) < enough(name) and can_be_best(contestants, "auto", name):
                found.setdefault(NAMES[name], []).append(problem)
    peers = "; ".join(f"{name} on {', '.join(problems)}" for name, problems in found.items())
    return f"Not settled yet, with fewer runs but whole ones (°): {peers}." if found else ""


def behind_random(runs: Runs, cut: Cuts) -> str:
    """A line a contestant: the problems where it needs more evaluations than chance, and those where that is beyond doubt.

    A problem where no more than a lower bound of chance is known counts where the contestant is below it.
    """
    lines = []
    for contestant in CONTESTANTS:
        found = ratios(runs, contestant, "random") if contestant != "random" else {}
        found = {name: r for name, r in found.items() if r[1] <= 1 or (name, "random") not in cut}
        behind = {name: samples for name, (_, figure, samples) in found.items() if figure > 1}
        sure = [name for name, samples in behind.items() if interval(samples)[0] > 1]
        if found:
            which = f": {', '.join(f'**{n}**' if n in sure else n for n in behind)}" if behind else ""
            lines.append(f"- {NAMES[contestant]}: on {len(behind)} of {len(found)} problems{which}")
    return "\n".join(lines)


def notes(records: list[Record], runs: Runs) -> str:
    """How many runs, what they cost, and what broke."""
    lines = ["| contestant | version | problems | runs a problem | CPU seconds a suggestion | CPU hours | broke down |", "|---|---|---|---|---|---|---|"]  # fmt: skip
    for c in CONTESTANTS:
        mine = [r for r in records if r["contestant"] == c]
        counts = [len(contestants[c]) for contestants in runs.values() if c in contestants]
        if counts:
            several = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
            usual = [r for r in mine if "hastened" not in r]
            seconds, steps = sum(r["seconds"] for r in usual), sum(max(r["evaluations"] - 3, 0) for r in usual)
            hours = sum(r["seconds"] for r in mine) / 3600
            versions = ", ".join(sorted({r["version"] for r in mine}))
            broken = Counter(r["error"] for r in mine if "error" in r)
            why = "; ".join(f"{count} × {error}" for error, count in broken.most_common(2)) or "never"
            lines.append(
                f"| {NAMES[c]} | {versions} | {len(counts)} | {several} | {seconds / max(steps, 1):.3f} | {hours:.2f} | {why} |"
            )
    return "\n".join(lines)


def curves(runs: Runs, names: list[str], cut: Cuts, path: Path) -> None:
    """One small panel a problem: the share of runs that are good after n evaluations, as far as no run was cut off."""
    columns = 4
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(12, 2.3 * rows + 0.8), sharex=True, sharey=True, squeeze=False)
    handles = {}
    for axis, name in zip(axes.flat, names, strict=False):
        for contestant, counts in runs[name].items():
            values = np.array(list(counts.values()))
            # a failure counts as the budget, and a run that was cut off as what it had: that step is left out
            steps = np.arange(1, cut.get((name, contestant), BUDGET))
            style = {"color": COLOURS[contestant], "ls": "--" if contestant in DASHED else "-"}
            shares = [(values <= n).mean() for n in steps]
            handles[contestant] = axis.plot(steps, shares, lw=2.2 if contestant == "auto" else 1.1, **style)[0]
        axis.set_title(name, fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    figure.supxlabel("evaluations", fontsize=9)
    figure.supylabel("share of runs that have a good value", fontsize=9)
    order = [c for c in CONTESTANTS if c in handles]
    labels = [NAMES[c].replace("`", "") for c in order]
    figure.legend([handles[c] for c in order], labels, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    figure.set_layout_engine("constrained")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def profile(runs: Runs, cut: Cuts, path: Path) -> None:
    """For each contestant the share of all problems where its mean, or what is known of it, is within a factor of the best mean."""
    figure, axis = plt.subplots(figsize=(8, 4), constrained_layout=True)
    means = {name: {c: np.mean(list(counts.values())) for c, counts in mine.items()} for name, mine in runs.items()}
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


def write(records: list[Record], docs: Path) -> None:
    """Draw the pictures and write the page."""
    runs, cut, pictures = by_problem(records), cuts(records), docs / "images" / "benchmarks"
    groups = {held: [name for name in runs if PROBLEMS[name].held_out == held] for held in (False, True)}
    pictures.mkdir(parents=True, exist_ok=True)
    profile(runs, cut, pictures / "profile.png")
    for held, names in groups.items():
        if names:
            curves(runs, names, cut, pictures / ("held-out.png" if held else "tuned-on.png"))
    (docs / "benchmarks.md").write_text(text(records, runs, groups[False], groups[True]), encoding="utf-8")


def text(records: list[Record], runs: Runs, tuned: list[str], held_out: list[str]) -> str:
    """The page."""
    shown, cut = {name for contestants in runs.values() for name in contestants}, cuts(records)
    command = (
        f"python bench/evaluations.py --contestants {','.join(c for c in CONTESTANTS if c in shown)} --runs {ENOUGH}"
    )
    left = [*(NAMES[c] for c in CONTESTANTS if c not in shown), *(p for p in PROBLEMS if p not in runs)]
    without = f" No records yet, and so not shown: {', '.join(left)}." if left else ""
    sections = [
        _HEAD.format(command=command, without=without, ENOUGH=ENOUGH),
        "## In one look\n",
        geometric_table(runs, tuned, held_out, cut),
        _RATIO_NOTE.format(open=still_open(runs)),
    ]
    sections += ["![performance profile](images/benchmarks/profile.png)\n"]
    for title, names, picture in (("tuned on", tuned, "tuned-on"), ("held out", held_out, "held-out")):
        if names:
            sections += [f"## The problems {title}\n", f"![success curves](images/benchmarks/{picture}.png)\n"]
            sections += [means_table(runs, names, cut), "", ratio_table(runs, names), ""]
    sections += [
        "## Behind random?\n",
        _RANDOM_NOTE,
        behind_random(runs, cut),
        "",
        "## The runs\n",
        notes(records, runs),
    ]
    return "\n".join([*sections, _TAIL])


_HEAD = """# Benchmarks

How many evaluations until the first value that reaches the target? Written by `bench/evaluations.py --page` from its records
(`docs/records/evaluations.jsonl.xz`), which `{command}` makes in the
environment of `make bench-env`; runs of slow peers, and of `xgboost`, were completed with `--settle` in the place of `--runs {ENOUGH}`.{without}

Run number k starts every contestant from the same three random settings, which count. The budget is 200 evaluations; a run that
has not reached the target by then counts as 200, which flatters whoever fails often. There is no noise. Every contestant has the
defaults that its users meet.
"""

_RATIO_NOTE = f"""
Ratios of mean evaluations: below 1, `auto` needs fewer. In brackets the 95 % bootstrap interval, and for a geometric mean the
number of problems behind it. Pairs of runs from the same starting points are resampled together. The best peer of a problem is
chosen after the fact, by the same runs, which favours the peers.

A peer has {ENOUGH} runs of a problem, and one that takes over 0.1 s for a question {ENOUGH_SLOW}. Where that is long (every slow peer, and every
peer on `xgboost`, whose values take a second and more) they go on side by side and are cut off when it is certain that the peer is
not the best one there, even if each of them ended at once (`--settle`); but not before {LEAST} evaluations. A run that was cut off counts as the
evaluations that it had by then, in the peer's favour: its mean is a lower bound (≥), and `auto` / peer an upper one ("at most").
The best peers and their figures are the same as with whole runs. {{open}}

"Tuned on" are the problems that defaults of satisfice may have been chosen by (the paper's are all among them); "held out" are
those that were not looked at.
"""

_RANDOM_NOTE = """Problems where the mean, or what is known of it, is above that of uniform random settings; bold where the 95 % interval
of the ratio is above 1. Where random settings were cut off, a problem counts if the contestant needs fewer even so.
"""

_TAIL = f"""
## How they were set up

- A figure with * has fewer than {ENOUGH} runs, one with ° fewer than {ENOUGH_SLOW}, and a ratio to such a peer as few pairs. Fewer than {FEW} are not shown.
- The CPU seconds are those of the library alone, one thread, without the function. Many runs of SMAC, bayesian-optimization, BoTorch
  and Ax were made without work that they do for nothing, with the same questions (`bench/hasten.py`); their seconds a suggestion
  are those of the other runs.
- satisfice is told `noise=0`, GPSampler `deterministic_objective=True`, SMAC `deterministic=True`.
- The target is told to satisfice, to BoTorch's log PI (`best_f`) and to GPSampler as `trial.set_constraint("target", target - value)`;
  the other contestants only maximise.
- The starting points are given as finished trials (Optuna, Ax, SMAC), told or registered data. They count towards the random
  trials that TPE (10), GPSampler (10) and Ax (5) begin with. SMAC goes through its own design of 8 Sobol points a parameter, at
  most 50, after them; CMA-ES starts from the centre of the box whatever the starting points are.
- BoTorch: SingleTaskGP with Normalize and Standardize, fitted anew for every question; 10 restarts from 256 samples; whole
  numbers are relaxed and rounded, choices are one-hot, log scales are searched by the logarithm.
- bayesian-optimization has no log scale: the exponent is searched, and a whole number on a log scale is rounded. Its own integer
  and choice parameters (one-hot inside) are used. CMA-ES draws choices, and a single parameter, at random.
- gp2d is searched by the two numbers of its grid's lines. Of the paper's problems, hartmann3 has a target of its own, since the
  paper's lie above the maximum, and ackley and dropwave are moved by a fixed shift: their optimum is at the centre of the box.
- A contestant that broke down in a run has not found anything in it: the run counts as 200.
"""
