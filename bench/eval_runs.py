"""What the records of bench/evaluations.py say: evaluations by problem, ratios of means, and the best peer of a problem."""

import bootstrap
import numpy as np
from eval_peers import BUDGET, CONTESTANTS, OURS, STARTING_POINTS
from eval_problems import PROBLEMS
from numpy.random import default_rng

from satisfice.paper.experiments.records import Record
from satisfice.types import Array

RESAMPLES, RESAMPLES_SEED = 2000, 7
ENOUGH, ENOUGH_SLOW = 50, 20  # runs, of a contestant and of one that is slow; a figure with fewer says so
SLOW = ("gp-constraint", "botorch-ei", "botorch-pi", "ax", "smac", "bayes-opt")  # over 0.1 s a question
LEAST = 20  # evaluations of a run before it is cut off
FEW = 3  # runs; a peer with fewer has not shown what it can do
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
