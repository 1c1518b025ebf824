"""Failures are a probability: an evaluation may fail by chance, or because of where it was.

A preempted machine says nothing of the setting, a solver that diverges does. The rate of success near a setting, smoothed over
the unit cube, tells the two apart: a setting is written off when evaluations there succeed much more rarely than elsewhere.
"""

from math import ceil, log

import numpy as np
from scipy.spatial.distance import cdist

from satisfice.types import Array

REACH = 0.1  # standard deviation of the smoothing, times sqrt(d), in the unit cube
PRIOR = 1.0  # evaluations that the rate of success over all of the domain counts for at each point
POOR = 0.2  # a point is written off, also where failures are chance, below this share of the overall rate of success
CHANCE = -0.02  # a gain below speaks for chance; one failure far from everything else says nothing, and is written off
LATEST = 1000  # so many evaluations are looked at
TRIES, MOST = 3, 6  # failures in a row at a promising point, at least and at most, until it is given up
BY_CHANCE = 0.02  # so rarely may a promising point be given up for failures by chance


def success_rate(at: Array, succeeded: Array, failed: Array) -> Array:
    """P(ok | x), smoothed: (a p + sum of k(x, x_i) over the successes) / (a + sum of k(x, x_i) over all evaluations).

    k(x, z) = exp(-|x - z|^2 / (2 d REACH^2)), p = (successes + 1) / (evaluations + 2) and a = `PRIOR`.

    Parameters
    ----------
    at : array of shape (m, d)
        Points of the unit cube.
    succeeded, failed : arrays of shape (n, d) and (k, d)
        The points of the evaluations that gave a value and of those that gave none, with repetitions.

    Returns
    -------
    array of shape (m,)
    """
    overall = overall_rate(len(succeeded), len(failed))
    good, bad = _nearness(at, succeeded).sum(axis=1), _nearness(at, failed).sum(axis=1)
    return np.asarray((PRIOR * overall + good) / (PRIOR + good + bad))


def overall_rate(succeeded: int, failed: int) -> float:
    """(successes + 1) / (evaluations + 2)."""
    return (succeeded + 1) / (succeeded + failed + 2)


def gain(succeeded: Array, failed: Array) -> float:
    """How much better the smoothed rate predicts each outcome from all others than one rate for all does, in log likelihood.

    Failures of a region gain: they are near each other. Failures by chance do not.
    """
    succeeded, failed = _latest(succeeded, failed)
    points = np.vstack([succeeded, failed])
    ok = np.append(np.ones(len(succeeded)), np.zeros(len(failed)))
    near = _nearness(points, points)
    np.fill_diagonal(near, 0.0)
    overall = (ok.sum() - ok + 1) / (len(ok) + 1)
    smooth = (PRIOR * overall + near @ ok) / (PRIOR + near.sum(axis=1))
    return float(np.log(np.where(ok == 1, smooth / overall, (1 - smooth) / (1 - overall))).sum())


def poor(succeeded: Array, failed: Array) -> Array:
    """Which of the failed points (k,) to write off.

    Unless their positions speak for chance, all of them at which the smoothed rate is below the overall one; otherwise those at
    which it is below `POOR` of that.
    """
    good, bad = _latest(succeeded, failed)
    wanted = (1.0 if gain(good, bad) > CHANCE else POOR) * overall_rate(len(good), len(bad))
    return np.asarray(success_rate(failed, good, bad) < wanted)


def tries(succeeded: int, failed: int) -> int:
    """How many failures in a row at a promising point are too many to be chance, at the overall rate of failures."""
    rate = 1 - overall_rate(succeeded, failed)
    return min(max(TRIES, ceil(log(BY_CHANCE) / log(rate))), MOST)


def _nearness(at: Array, points: Array) -> Array:
    """k(x, z) for all pairs (m, n)."""
    square = cdist(at, points, "sqeuclidean")
    return np.asarray(np.exp(-square / (2 * max(at.shape[1], 1) * REACH**2)))


def _latest(succeeded: Array, failed: Array) -> tuple[Array, Array]:
    """The latest of both, `LATEST` together at most, in the proportion in which there are."""
    total = len(succeeded) + len(failed)
    if total <= LATEST:
        return succeeded, failed
    kept = round(LATEST * len(failed) / total)
    return succeeded[len(succeeded) - (LATEST - kept) :], failed[len(failed) - kept :]
