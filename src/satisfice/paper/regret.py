"""Standard, simple and lenient regret of a sequence of true values (paper, section 2 and 2.1).

An action is good when its value reaches the target f* - delta; a value exactly at the target is good. Where no
value is above `maximum`, 0 <= hinge <= gap <= standard holds exactly, rounding included.

Parameters
----------
values : array-like (..., T)
    The true values f(x_1), ..., f(x_T), in every function of this module.
maximum : float
    f* = f(x*).
delta : float
    The paper's Delta, what a good action may lose against the maximum.
"""

from numbers import Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from satisfice.errors import BadInput
from satisfice.types import Array


def _values(values: npt.ArrayLike) -> Array:
    try:
        checked = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):  # texts, or rows of different lengths
        checked = np.array(np.nan)
    if checked.ndim == 0 or not np.isfinite(checked).all():
        raise BadInput(
            "`values` must be an array (..., T) of finite numbers, the true f(x_t); leave out the steps that failed; "
            f"got {values!r:.80}."
        )
    return checked


def _target(maximum: float, delta: float) -> float:
    """The value f* - delta from which an action is good."""
    numbers = all(isinstance(each, Real) for each in (maximum, delta))
    if not (numbers and np.isfinite(maximum) and np.isfinite(delta) and delta >= 0):
        raise BadInput(
            "`maximum` must be f*, a finite number, and `delta` a finite number of at least 0; "
            f"got {maximum!r:.80} and {delta!r:.80}."
        )
    return float(maximum - delta)


def standard(values: npt.ArrayLike, maximum: float) -> Array:
    """r_t = f* - f(x_t) of every step (paper, eq. R_T)."""
    _target(maximum, 0.0)
    return maximum - _values(values)


def simple(values: npt.ArrayLike, maximum: float) -> Array:
    """r^(t) = f* - max of f(x_1), ..., f(x_t): the regret of the best point so far (paper, eq. simple)."""
    return np.minimum.accumulate(standard(values, maximum), axis=-1)


def indicator(values: npt.ArrayLike, maximum: float, delta: float) -> Array:
    """1{r_t > delta} of every step: 1 for a bad action, 0 for a good one."""
    return (_values(values) < _target(maximum, delta)).astype(np.float64)


def gap(values: npt.ArrayLike, maximum: float, delta: float) -> Array:
    """r_t 1{r_t > delta} of every step: the large-gap regret, the whole regret of the bad actions."""
    bad = indicator(values, maximum, delta) > 0
    return np.where(bad, standard(values, maximum), 0.0)


def hinge(values: npt.ArrayLike, maximum: float, delta: float) -> Array:
    """max(r_t - delta, 0) of every step: how far the bad actions are below the target."""
    return np.maximum(_target(maximum, delta) - _values(values), 0.0)


def cumulative(penalties: Array) -> Array:
    """The sums of a step's penalty over the steps 1, ..., t, for every t; shape (..., T)."""
    return np.cumsum(penalties, axis=-1)


class Curves(NamedTuple):
    """The regrets after t = 1, ..., T steps, each (..., T): cumulative, but for the simple one."""

    standard: Array
    simple: Array
    indicator: Array
    gap: Array
    hinge: Array


def curves(values: npt.ArrayLike, maximum: float, delta: float) -> Curves:
    """Every regret of one sequence of values, after each step."""
    return Curves(
        cumulative(standard(values, maximum)),
        simple(values, maximum),
        cumulative(indicator(values, maximum, delta)),
        cumulative(gap(values, maximum, delta)),
        cumulative(hinge(values, maximum, delta)),
    )
