"""SciPy's L-BFGS-B from several starting points of the unit cube, all runs in lockstep.

`scipy.optimize.minimize` scores one point at a time, and a batch of ten costs hardly more than one point. So this module drives
the routine behind `minimize` itself, with the options that `minimize` gives it by default, and scores the points that the runs
ask for together. Each run takes the steps that `minimize` takes from the same start, up to the rounding of a batch.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from satisfice.acquisition.optimise import ScoreFunction
from satisfice.types import Array

MEMORY, LINE_SEARCH, EVALUATIONS = 10, 20, 15_000  # SciPy's defaults: maxcor, maxls, maxfun
RISE, SLOPE = 2.2204460492503131e-09, 1e-5  # SciPy's defaults: ftol, gtol
ASKS, HAS_MOVED = 3, 1  # what the routine reports: it wants a value and its gradient; an iteration is done


class Ends(NamedTuple):
    """Where the runs ended: points (r, d) of the unit cube, and their scores (r,)."""

    points: Array
    scores: Array


def climb_from(starts: Array, score: ScoreFunction) -> Ends:
    """Maximise the score over the unit cube by L-BFGS-B from each of the starts.

    Parameters
    ----------
    starts : array (r, d)
        Points of the unit cube.
    score : ScoreFunction
        What to maximise; its gradient is used.

    Returns
    -------
    Ends
        Where each run ended, in the order of the starts.
    """
    points = together(starts, score) if routine_is_known() else one_by_one(starts, score)
    return Ends(points, np.nan_to_num(score(points), nan=-np.inf))


def one_by_one(starts: Array, score: ScoreFunction) -> Array:
    """The ends (r, d) of the runs, by `scipy.optimize.minimize` from one start after the other."""
    from scipy.optimize import minimize

    def negative(u: Array) -> tuple[float, Array]:
        values, gradients = score.with_gradient(u[None])
        return -float(values[0]), -gradients[0]

    bounds = [(0.0, 1.0)] * starts.shape[1]
    return np.array([minimize(negative, u, jac=True, method="L-BFGS-B", bounds=bounds).x for u in starts])


class _Run:
    """One run of the routine: what it reads and writes between two calls.

    `x`, `value` and `gradient` are views (d,), () and (d,) of arrays that all runs share. The routine moves `x`; whoever
    scores it fills in the other two.
    """

    def __init__(self, x: Array, value: Array, gradient: Array) -> None:
        d, m = len(x), MEMORY
        bounds = np.zeros(d), np.ones(d), np.full(d, 2, dtype=np.int32)  # 2: bounded on both sides
        whole, self._task, line = (np.zeros(size, dtype=np.int32) for size in (3 * d, 2, 2))
        self._arguments = (
            m, x, *bounds, value, gradient, RISE / np.finfo(float).eps, SLOPE,
            np.zeros(2 * m * d + 5 * d + 11 * m * m + 8 * m), whole, self._task,
            np.zeros(4, dtype=np.int32), np.zeros(44, dtype=np.int32), np.zeros(29), LINE_SEARCH, line,
        )  # fmt: skip

    def goes_on(self, routine: Callable[..., None]) -> bool:
        """Whether the run wants the value and the gradient at its point; else it has ended there."""
        while True:
            routine(*self._arguments)
            if self._task[0] != HAS_MOVED:
                return bool(self._task[0] == ASKS)


def together(starts: Array, score: ScoreFunction) -> Array:
    """The ends (r, d) of the runs, the points that they ask for scored in batches."""
    from scipy.optimize._lbfgsb import setulb

    points, values, gradients = starts.copy(), np.zeros(len(starts)), np.zeros(starts.shape)
    runs = [_Run(points[k], values[k : k + 1].reshape(()), gradients[k]) for k in range(len(starts))]
    going = list(range(len(starts)))
    for _ in range(EVALUATIONS + 1):
        going = [k for k in going if runs[k].goes_on(setulb)]
        if not going:
            break
        found, slopes = score.with_gradient(points[going])
        values[going], gradients[going] = -found, -slopes
    return points


class _Hill:
    """-(u - 0.3)^2."""

    def __call__(self, U: Array) -> Array:
        return -((U[:, 0] - 0.3) ** 2)

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        return self(U), -2 * (U - 0.3)


@cache
def routine_is_known() -> bool:
    """Whether this SciPy has the routine in the form that `_Run` drives; it is no part of SciPy's public interface."""
    try:
        found = together(np.array([[0.9]]), _Hill())
    except Exception:  # an unknown SciPy may fail in any way
        return False
    return bool(abs(found[0, 0] - 0.3) < 1e-6)
