"""SciPy's L-BFGS-B from several starting points of the unit cube, all runs in lockstep.

`scipy.optimize.minimize` scores one point at a time, and a batch of ten costs hardly more than one point. So this module drives
the routine behind `minimize` itself, with the options that `minimize` gives it by default, and scores the points that the runs
ask for together. Each run takes the steps that `minimize` takes from the same start, up to the rounding of a batch.
"""

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
    """One run of the routine: its point, and the memory that the routine keeps between two calls."""

    def __init__(self, start: Array) -> None:
        d, m = len(start), MEMORY
        self.x = start.copy()
        self.value, self.gradient = np.array(0.0), np.zeros(d)
        self.evaluations = 0
        self._bounds = np.zeros(d), np.ones(d), np.full(d, 2, dtype=np.int32)  # 2: bounded on both sides
        self._reals = np.zeros(2 * m * d + 5 * d + 11 * m * m + 8 * m)
        self._whole, self._task, self._line = (np.zeros(size, dtype=np.int32) for size in (3 * d, 2, 2))
        self._kept = np.zeros(4, dtype=np.int32), np.zeros(44, dtype=np.int32), np.zeros(29)

    def goes_on(self) -> bool:
        """Whether the run wants the value and the gradient at its point; else it has ended there."""
        from scipy.optimize import _lbfgsb

        while self.evaluations <= EVALUATIONS:
            _lbfgsb.setulb(
                MEMORY, self.x, *self._bounds, self.value, self.gradient, RISE / np.finfo(float).eps, SLOPE,
                self._reals, self._whole, self._task, *self._kept, LINE_SEARCH, self._line,
            )  # fmt: skip
            if self._task[0] != HAS_MOVED:
                return bool(self._task[0] == ASKS)
        return False


def together(starts: Array, score: ScoreFunction) -> Array:
    """The ends (r, d) of the runs, the points that they ask for scored in batches."""
    runs = [_Run(start) for start in starts]
    going = runs
    while going := [run for run in going if run.goes_on()]:
        values, gradients = score.with_gradient(np.array([run.x for run in going]))
        for run, value, gradient in zip(going, -values, -gradients, strict=True):
            run.value, run.gradient, run.evaluations = np.array(value), gradient, run.evaluations + 1
    return np.array([run.x for run in runs])


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
