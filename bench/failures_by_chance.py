"""What do failures cost? Searches whose evaluations fail by chance, or in half of the space.

    .venv/bin/python bench/failures_by_chance.py run --records out/failures.jsonl [--seeds 15]     (resumable)
    .venv/bin/python bench/failures_by_chance.py table out/failures.jsonl

- `written off`: what the library does (`search/failures.py`): a failed point that the smoothed rate of success tells from chance
  counts as bad, and any other failure is forgotten
- `factor`: the smoothed rate of success P(ok | x) is multiplied into the score of the rule instead, and only a point that failed
  too often counts as bad

A search without failures needs n evaluations; of one whose evaluations fail with rate r by chance nobody can expect fewer than
n / (1 - r).
"""

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng
from scipy.spatial.distance import cdist

from satisfice import Box, Search
from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import log_probability, mix_logs
from satisfice.acquisition.scores import MixedScore, SumScore, aspired_score
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.spec import by_xi
from satisfice.paper.problems import PROBLEMS
from satisfice.rules import aspiration
from satisfice.search.failures import PRIOR, REACH, overall_rate
from satisfice.search.observations import Observations
from satisfice.types import Array, Domain

MOST = 150
RATES = (0.0, 0.1, 0.33, 0.5)
METHODS = ("written off", "factor")
CHANCE = ("ackley", "hartmann3", "keane", "bowl 6-d")
REGIONS = ("cliff 2-d", "cliff 4-d", "elsewhere 3-d")
Fails = Callable[[Array], bool]


@dataclass(frozen=True)
class LogSuccess:
    """log P(ok | x) of `search.failures.success_rate`, with its gradient."""

    good: Array
    bad: Array

    def __call__(self, U: Array) -> Array:
        """The logs (m,)."""
        return self.with_gradient(U)[0]

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The logs (m,) and their derivatives (m, d)."""
        scale = U.shape[1] * REACH**2
        overall = overall_rate(len(self.good), len(self.bad))
        parts = []
        for points in (self.good, self.bad):
            k = np.exp(-cdist(U, points, "sqeuclidean") / (2 * scale))
            parts.append((k.sum(axis=1), -(k.sum(axis=1)[:, None] * U - k @ points) / scale))
        (good, good_slope), (bad, bad_slope) = parts
        top, bottom = PRIOR * overall + good, PRIOR + good + bad
        slope = good_slope / top[:, None] - (good_slope + bad_slope) / bottom[:, None]
        return np.log(top / bottom), slope


def with_factor(search: Search) -> Callable[[Belief, Array, float], tuple[SumScore, Array]]:
    """The score of the default rule, times P(ok | x)."""

    def scored(belief: Belief, points: Array, reach: float) -> tuple[SumScore, Array]:
        plain: Any = aspired_score(belief, points, reach)[0]
        level = plain.formula.keywords["level"]
        log = MixedScore(belief, partial(log_probability, level=level), mix_logs)
        seen = search.observations
        both = SumScore((log, LogSuccess(seen.U, seen.failed)))  # type: ignore[arg-type]
        return both, both(points)

    return scored


def _only_dropped(seen: Observations) -> Array:
    dropped = [key in seen.replicates.dropped for key in seen._failed_keys]
    return seen.failed[np.array(dropped, dtype=bool)] if len(seen.failed) else seen.failed


def problem(name: str, seed: int) -> tuple[Domain, Callable[[Array], float], float, Fails | None]:
    """The domain, the function, the target and where evaluations always fail."""
    rng = default_rng([seed, 3])
    if name in PROBLEMS:
        found = PROBLEMS[name]
        return found.domain, found.value, by_xi(name, 0.01), None
    d = int(name.split()[1][0])
    box = Box([(0.0, 1.0)] * d)
    centre = rng.uniform(0.25, 0.75, d)
    if name.startswith("bowl"):
        return box, lambda x: -float(((x - centre) ** 2).sum()), -0.05, None
    if name.startswith("cliff"):  # the higher the better, but beyond the middle nothing works
        return box, lambda x: float(x[0]) - float(((x[1:] - centre[1:]) ** 2).sum()), 0.45, lambda x: bool(x[0] > 0.5)
    centre[0] = 0.25
    return box, lambda x: -float(((x - centre) ** 2).sum()), -0.01, lambda x: bool(x[0] > 0.5)


def run(name: str, rate: float, method: str, seed: int) -> Record:
    """One search without noise, until a value reaches the target."""
    domain, f, target, fails = problem(name, seed)
    rng = default_rng([seed, 5])
    search = Search(domain, target, noise=0, seed=seed)
    rule: Any = aspiration
    seen: Any = Observations
    written_off, score = seen.written_off, rule.aspired_score
    if method == "factor":
        seen.written_off = property(_only_dropped)
    if method != "written off":
        rule.aspired_score = with_factor(search)
    spent = failed = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            while search.answer().verdict == "open" and spent < MOST:
                x = search.ask()
                spent += 1
                if rng.random() < rate or (fails is not None and fails(x)):
                    failed += 1
                    search.fail(x)
                else:
                    search.tell(x, f(x))
    finally:
        seen.written_off, rule.aspired_score = written_off, score
    key = f"{name}/{rate}/{method}/{seed}"
    return {"key": key, "problem": name, "rate": rate, "method": method, "seed": seed, "spent": spent, "failed": failed}


def table(rows: list[Record]) -> str:
    """Mean evaluations, and for chance the ratio to n / (1 - rate), with its standard error over seeds."""

    def spent(name: str, rate: float, method: str) -> Array:
        return np.array([r["spent"] for r in rows if (r["problem"], r["rate"], r["method"]) == (name, rate, method)])

    lines = ["| failures | " + " | ".join(METHODS) + " |", "|---|" + "---|" * len(METHODS)]
    for rate in RATES[1:]:
        cells = []
        for method in METHODS:
            ratios, errors = [], []
            for name in CHANCE:
                now, without = spent(name, rate, method), spent(name, 0.0, METHODS[0])
                if not len(now) or not len(without):
                    continue
                ratio = now.mean() / (without.mean() / (1 - rate))
                relative = [x.std(ddof=1) / np.sqrt(len(x)) / x.mean() for x in (now, without) if len(x) > 1]
                ratios.append(ratio)
                errors.append(ratio * np.hypot(*relative) if len(relative) == 2 else np.nan)
            mean, error = np.mean(ratios), np.sqrt(np.sum(np.square(errors))) / len(errors)
            cells.append(f"{mean:.2f} ± {error:.2f} (largest {max(ratios):.2f})")
        lines.append(f"| {rate:.0%} by chance, times n / (1 - rate) | {' | '.join(cells)} |")
    for name in REGIONS:
        cells = []
        for method in METHODS:
            now = spent(name, 0.0, method)
            failed = [r["failed"] for r in rows if (r["problem"], r["method"]) == (name, method)]
            error = now.std(ddof=1) / np.sqrt(len(now)) if len(now) > 1 else np.nan
            cells.append(f"{now.mean():.1f} ± {error:.1f}, {np.mean(failed):.1f} of them failed")
        lines.append(f"| half of the space, {name}: evaluations | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    runs = kinds.add_parser("run")
    runs.add_argument("--records", type=Path, required=True)
    runs.add_argument("--seeds", type=int, default=15)
    shown = kinds.add_parser("table")
    shown.add_argument("records", type=Path)
    given = parser.parse_args()
    if given.kind == "table":
        print(table([json.loads(line) for line in given.records.read_text().splitlines()]))
        return
    records = Records(given.records)
    done = records.keys()
    conditions = [(name, rate) for name in CHANCE for rate in RATES] + [(name, 0.0) for name in REGIONS]
    for seed in range(given.seeds):
        for name, rate in conditions:
            for method in METHODS:
                if f"{name}/{rate}/{method}/{seed}" not in done and not (
                    rate == 0 and name in CHANCE and method == "factor"
                ):
                    records.append(run(name, rate, method, seed))


if __name__ == "__main__":
    main()
