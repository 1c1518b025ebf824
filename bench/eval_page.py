"""docs/benchmarks.md from the records of bench/evaluations.py."""

from collections import Counter
from pathlib import Path

import numpy as np
from bootstrap import interval
from eval_peers import CONTESTANTS, NAMES, OURS
from eval_pictures import curves, profile
from eval_problems import PROBLEMS
from eval_runs import (
    ENOUGH,
    ENOUGH_SLOW,
    FEW,
    LEAST,
    RESAMPLES_SEED,
    Cuts,
    Runs,
    by_problem,
    can_be_best,
    cuts,
    enough,
    ratios,
    resampled_means,
)
from numpy.random import default_rng

from satisfice.paper.experiments.records import Record
from satisfice.types import Array


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
        means = {c: float(np.mean(list(counts.values()))) for c, counts in runs[name].items()}
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

A peer has {ENOUGH} runs of a problem, and one that takes over 0.1 s for a question {ENOUGH_SLOW}. Where that is long (slow peers, and `xgboost`,
whose values take a second and more) they may go on side by side and be cut off when it is certain that the peer is
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
  and Ax were made without work that they do for nothing, with the same questions (`bench/faster_peers.py`); their seconds a suggestion
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
