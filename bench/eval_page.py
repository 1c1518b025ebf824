"""Writes docs/evidence/benchmarks.md from the records of bench/evaluations.py."""

import re
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
    """The geometric mean of the ratios on these problems, with its interval (problems are resampled independently)."""
    mine = [found[name] for name in names if name in found]
    if not mine:
        return "-"
    mixed = [default_rng([RESAMPLES_SEED, k]).permutation(samples) for k, (_, _, samples) in enumerate(mine)]
    low, high = interval(np.exp(np.log(mixed).mean(axis=0)))
    return f"{np.exp(np.mean([np.log(r) for _, r, _ in mine])):.2f} ({low:.2f} to {high:.2f}; {len(mine)})"


def means_table(runs: Runs, names: list[str], cut: Cuts) -> str:
    """A row for each problem: mean evaluations with their intervals, the best in bold; lower bounds where runs were cut off.

    Bounds are never bold. * marks fewer than `ENOUGH` runs, ° fewer than `ENOUGH_SLOW`.
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
    """A row for each problem: auto against its best peer and against paper."""
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
    """A row for each peer: the geometric means of auto's ratio to it; upper bounds where its runs were cut off."""
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
    """A sentence on the peers whose missing runs may still make them the best on a problem."""
    found: dict[str, list[str]] = {}
    for problem, contestants in runs.items():
        for name, counts in contestants.items():
            if name not in OURS and len(counts) < enough(name) and can_be_best(contestants, "auto", name):
                found.setdefault(NAMES[name], []).append(problem)
    peers = "; ".join(f"{name} on {', '.join(problems)}" for name, problems in found.items())
    return f"Not settled yet, with fewer runs, none of them cut off (°): {peers}." if found else ""


def behind_random(runs: Runs, cut: Cuts) -> str:
    """A line for each contestant: the problems where it needs more evaluations than random search, significantly or not.

    Where only a lower bound is known for random search, a contestant below it is ahead.
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
    """A table of how many runs there are, what they cost, and which errors occurred."""
    lines = ["| contestant | version | problems | runs a problem | CPU seconds for a suggestion | CPU hours | errors |", "|---|---|---|---|---|---|---|"]  # fmt: skip
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
            why = "; ".join(f"{count} × {error}" for error, count in broken.most_common(2)) or "none"
            lines.append(
                f"| {NAMES[c]} | {versions} | {len(counts)} | {several} | {seconds / max(steps, 1):.3f} | {hours:.2f} | {why} |"
            )
    return "\n".join(lines)


def write(records: list[Record], docs: Path) -> None:
    """Draw the figures and write the page."""
    runs, cut, pictures = by_problem(records), cuts(records), docs / "images" / "benchmarks"
    groups = {held: [name for name in runs if PROBLEMS[name].held_out == held] for held in (False, True)}
    pictures.mkdir(parents=True, exist_ok=True)
    profile(runs, cut, pictures / "profile.png")
    for held, names in groups.items():
        if names:
            curves(runs, names, cut, pictures / ("held-out.png" if held else "tuned-on.png"))
    page = docs / "evidence" / "benchmarks.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(text(records, runs, groups[False], groups[True], coco_part(page)), encoding="utf-8")


def coco_part(page: Path) -> str:
    """What bench/coco.py --page has written into the page."""
    found = re.search(
        r"<!-- coco -->.*?<!-- end -->", page.read_text(encoding="utf-8") if page.exists() else "", re.DOTALL
    )
    return found[0] if found else "<!-- coco -->\n<!-- end -->"


def text(records: list[Record], runs: Runs, tuned: list[str], held_out: list[str], coco: str = "") -> str:
    """The page, with the part that bench/coco.py writes."""
    shown, cut = {name for contestants in runs.values() for name in contestants}, cuts(records)
    command = (
        f"python bench/evaluations.py --contestants {','.join(c for c in CONTESTANTS if c in shown)} --runs {ENOUGH}"
    )
    left = [*(NAMES[c] for c in CONTESTANTS if c not in shown), *(p for p in PROBLEMS if p not in runs)]
    without = f" Not shown, for lack of records: {', '.join(left)}." if left else ""
    sections = [
        _HEAD.format(command=command, without=without, ENOUGH=ENOUGH, coco=coco),
        "## Summary\n",
        geometric_table(runs, tuned, held_out, cut),
        _RATIO_NOTE.format(open=still_open(runs)),
    ]
    sections += ["![performance profile](../images/benchmarks/profile.png)\n"]
    for title, names, picture in (("tuned on", tuned, "tuned-on"), ("held out", held_out, "held-out")):
        if names:
            sections += [f"## The problems {title}\n", f"![success curves](../images/benchmarks/{picture}.png)\n"]
            sections += [means_table(runs, names, cut), "", ratio_table(runs, names), ""]
    sections += [
        "## Worse than random search?\n",
        _RANDOM_NOTE,
        behind_random(runs, cut),
        "",
        "## The runs\n",
        notes(records, runs),
    ]
    return "\n".join([*sections, _TAIL])


_HEAD = """# Benchmarks

How many evaluations does it take to reach the target? First on functions that others wrote, then on 33 problems of our own, which flatter
us: defaults were chosen on them.

## COCO: a neutral judge

COCO's test functions (Hansen et al. 2021) are the field's own benchmark of black-box optimisation. `bench/coco.py` runs them with
small budgets and two targets: *easy*, the 1 % quantile of the values at uniform points, and *hard*, a tenth as far from the optimum.
The budget is 150 evaluations, 100 in ten dimensions. satisfice is told the target and `noise=0`, the others have their defaults; methods
that need a starting point get uniform ones, and a new one whenever they end. No default of satisfice was tuned on instances 6 and
later, which nobody has looked at. The records are in `docs/records/coco.jsonl.xz`.

{coco}

## Our 33 problems

`bench/evaluations.py --page` writes this part from its records
(`docs/records/evaluations.jsonl.xz`). They come from `{command}` in the environment of
`make bench-env`; the runs of slow peers, and those on `xgboost`, were completed with `--settle` instead of `--runs {ENOUGH}`.{without}

Run k starts every contestant from the same three random settings, which count. The budget is 200 evaluations. A run that does not reach
the target counts as 200, which flatters contestants that fail often. There is no noise. Every contestant runs with its defaults.
"""

_RATIO_NOTE = f"""
Ratios of mean evaluations; below 1, `auto` needs fewer. In brackets: the 95 % bootstrap interval and, for a geometric mean, the number of
problems. Runs from the same starting points are resampled in pairs. The best peer of a problem is chosen afterwards, on the same runs,
which favours the peers.

A peer has {ENOUGH} runs on a problem, or {ENOUGH_SLOW} if a suggestion takes it more than 0.1 s. Where that takes long (slow peers, and `xgboost`,
whose evaluations take a second or more), `--settle` advances the runs side by side and cuts them off once the peer certainly cannot be the
best, even if every run ended at once, but not before {LEAST} evaluations. A run that was cut off counts as the evaluations it had, which favours
the peer: its mean is a lower bound (≥), and `auto` / peer an upper bound ("at most"). The best peers and their figures are the same as with
complete runs. {{open}}

"Tuned on" are the problems that satisfice's defaults may have been tuned on, among them all of the paper's. "Held out" are problems that
were not looked at.
"""

_RANDOM_NOTE = """Problems where the mean (or its lower bound) is above that of uniform random search; bold where the whole 95 % interval of
the ratio is above 1. Where random search was cut off, a problem counts only if the contestant needs at most its lower bound.
"""

_TAIL = f"""
## How the contestants were set up

- * marks a figure from fewer than {ENOUGH} runs and ° one from fewer than {ENOUGH_SLOW}; a ratio to such a peer has as few pairs. Fewer than {FEW} runs are
  not shown.
- CPU seconds are those of the library alone, on one thread, without the objective. Many runs of SMAC, bayesian-optimization, BoTorch and
  Ax were made with patches that skip redundant work and ask the same questions (`bench/faster_peers.py`); seconds for a suggestion are
  those of the other runs.
- satisfice is told `noise=0`, GPSampler `deterministic_objective=True`, SMAC `deterministic=True`.
- The target is told to satisfice, to BoTorch's log PI (`best_f`) and to GPSampler as `trial.set_constraint("target", target - value)`;
  the other contestants only maximise.
- The starting points are passed as finished trials (Optuna, Ax, SMAC) or as data (the others). They count towards the random trials that
  TPE (10), GPSampler (10) and Ax (5) begin with. After them SMAC evaluates its own design of 8 Sobol points for each parameter, at most
  50. CMA-ES starts from the centre of the box in any case.
- BoTorch: SingleTaskGP with Normalize and Standardize, refitted for every suggestion; 10 restarts from 256 samples; integers are relaxed
  and rounded, choices are one-hot, and parameters on a log scale are searched by their logarithm.
- bayesian-optimization has no log scale, so the exponent is searched, and integers on a log scale are rounded. Its own integer and choice
  parameters (one-hot internally) are used. CMA-ES draws choices, and a single parameter, at random.
- gp2d is searched by the two indices of its grid. Of the paper's problems, hartmann3 has another target, since the paper's lie above its
  maximum; ackley and dropwave are moved by a fixed shift, since their optimum is at the centre of the box.
- A run in which the contestant raised an error counts as 200.
"""
