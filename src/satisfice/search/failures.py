"""Failures are a probability: an evaluation may fail by chance, or because of where it was.

A preempted machine says nothing of the setting, a solver that diverges does. The rate of success near a setting, smoothed over
the unit cube, tells the two apart: a setting is written off when evaluations there succeed much more rarely than elsewhere.
"""

from math import ceil, log

import numpy as np

from satisfice.types import Array

REACH = 0.1  # standard deviation of the smoothing, times sqrt(d), in the unit cube
PRIOR = 2.0  # evaluations that the rate of success over all of the domain counts for at each point
POOR = 0.5  # a point is written off where this share of the overall rate of success is not reached
TRIES, MOST = 3, 10  # failures in a row at a promising point, at least and at most, until it is given up
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


def poor(succeeded: Array, failed: Array) -> Array:
    """Which of the failed points (k,) lie where evaluations succeed much more rarely than elsewhere."""
    wanted = POOR * overall_rate(len(succeeded), len(failed))
    return np.asarray(success_rate(failed, succeeded, failed) < wanted)


def tries(succeeded: int, failed: int) -> int:
    """How many failures in a row at a promising point are too many to be chance, at the overall rate of failures."""
    rate = 1 - overall_rate(succeeded, failed)
    return min(max(TRIES, ceil(log(BY_CHANCE) / log(rate))), MOST)


def _nearness(at: Array, points: Array) -> Array:
    """k(x, z) for all pairs (m, n)."""
    square = ((at[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-square / (2 * max(at.shape[1], 1) * REACH**2)))
