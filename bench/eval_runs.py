"""Statistics of the records of bench/evaluations.py: evaluations by problem, ratios of means, and the best peer of a problem."""

import bootstrap
import numpy as np
from eval_peers import BUDGET, CONTESTANTS, OURS, STARTING_POINTS
from eval_problems import PROBLEMS
from numpy.random import default_rng

from satisfice.paper.experiments.records import Record
from satisfice.types import Array

RESAMPLES, RESAMPLES_SEED = 2000, 7
ENOUGH, ENOUGH_SLOW = 50, 20  # runs of a contestant, and of a slow one; figures from fewer are marked
SLOW = ("gp-constraint", "botorch-ei", "botorch-pi", "ax", "smac", "bayes-opt")  # over 0.1 s for a suggestion
LEAST = 20  # evaluations before a run may be cut off
FEW = 3  # runs; a peer with fewer is not shown
Runs = dict[str, dict[str, dict[int, int]]]  # problem -> contestant -> seed -> evaluations
Cuts = dict[tuple[str, str], int]  # (problem, contestant) -> the evaluations after which runs were cut off


def enough(contestant: str) -> int:
    """How many runs of a problem a contestant should have."""
    return ENOUGH_SLOW if contestant in SLOW else ENOUGH


def by_problem(records: list[Record]) -> Runs:
    """The evaluations of each run, with problems and contestants in their usual order; pairs with fewer than `FEW` runs are left out.

    A failure counts as the budget, and a run that was cut off as the evaluations it had.
    """
    runs: Runs = {}
    for problem in PROBLEMS:
        for contestant in CONTESTANTS:
            mine = [r for r in records if r["problem"] == problem and r["contestant"] == contestant]
            mine.sort(key=lambda r: r["seed"])  # resamples, and so intervals, depend on the order
            if len(mine) >= FEW:
                counts = {r["seed"]: r["evaluations"] if r["good"] or "cut" in r else BUDGET for r in mine}
                runs.setdefault(problem, {})[contestant] = counts
    return runs


def cuts(records: list[Record]) -> Cuts:
    """Where runs were cut off, and after how many evaluations. Means are only lower bounds there."""
    found: Cuts = {}
    for r in records:
        if "cut" in r:
            pair = r["problem"], r["contestant"]
            found[pair] = min(r["evaluations"], found.get(pair, BUDGET))
    return found


def resampled_means(counts: dict[int, int]) -> Array:
    """The means (RESAMPLES,) of bootstrap samples of the runs."""
    values = np.array(list(counts.values()), dtype=float)
    chosen = default_rng(RESAMPLES_SEED).integers(len(values), size=(RESAMPLES, len(values)))
    return values[chosen].mean(axis=1)


def ratio(one: dict[int, int], other: dict[int, int]) -> tuple[float, Array]:
    """The ratio of means over the runs of both, and that of resampled pairs (RESAMPLES,); NaN if there are fewer than `FEW`."""
    seeds = sorted(one.keys() & other.keys())
    pairs = np.array([[one[s], other[s]] for s in seeds], dtype=float).reshape(-1, 2)
    if len(seeds) < FEW:
        return np.nan, np.full(RESAMPLES, np.nan)
    return bootstrap.ratio(pairs, default_rng(RESAMPLES_SEED), RESAMPLES)


def can_be_best(contestants: dict[str, dict[int, int]], one: str, peer: str) -> bool:
    """Whether `peer` may still be the best peer beside `one`, if its missing runs are as short as they can be.

    If no starting point is good, a run takes at least one evaluation more than those. The peers to beat are those with at least
    `ENOUGH_SLOW` runs. If `one` lacks runs, the answer is yes.
    """
    mine, theirs, seeds = contestants.get(one, {}), contestants.get(peer, {}), range(enough(peer))
    if not mine.keys() >= set(seeds):
        return True
    least = sum(theirs.get(s, min(mine[s], STARTING_POINTS + 1)) for s in seeds)
    most = sum(mine[s] for s in seeds) / least
    others = [c for name, c in contestants.items() if name not in (*OURS, peer) and len(c) >= ENOUGH_SLOW]
    return all(most > ratio(mine, counts)[0] for counts in others)


def best_peer(contestants: dict[str, dict[int, int]], one: str) -> str | None:
    """The best peer beside `one`, by means over the runs of both, among those with enough runs or that may still be the best."""
    figures = {}
    for name, counts in contestants.items():
        if name not in OURS and (len(counts) >= ENOUGH_SLOW or can_be_best(contestants, one, name)):
            figures[name] = ratio(contestants.get(one, {}), counts)[0]
    known = [name for name, figure in figures.items() if np.isfinite(figure)]
    return max(known, key=lambda name: figures[name]) if known else None


def ratios(runs: Runs, one: str, other: str | None) -> dict[str, tuple[str, float, Array]]:
    """problem: (the other, the ratio of one to the other, its resamples); `other=None` takes the best peer of each problem."""
    found = {}
    for problem, contestants in runs.items():
        against = other or best_peer(contestants, one)
        if against in contestants and one in contestants:
            figure, samples = ratio(contestants[one], contestants[against])
            if np.isfinite(figure):
                found[problem] = (against, figure, samples)
    return found
