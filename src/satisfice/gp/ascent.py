"""BFGS for many maximisations at once: inverse Hessians (r, d, d), with one update for all."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from satisfice.types import Array

Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
TINY = 1e-300
SLOPE = 1e-4  # a projected gradient below this ends an ascent
LONGEST = 1.0  # the largest change of a coordinate in one step: hyperparameters are logs
SHORTEST = 1e-7  # a shorter step ends an ascent


def dot(a: Array, b: Array) -> Array:
    """a[r]'b[r] for each r."""
    return np.asarray(np.einsum("rd,rd->r", a, b))


def times(H: Array, v: Array) -> Array:
    """H[r] v[r] for each r."""
    return np.asarray((H @ v[:, :, None])[:, :, 0])


def updated(H: Array, fresh: Mask, s: Array, y: Array, up: Mask) -> tuple[Array, Mask]:
    """Update the inverse Hessians H (r, d, d) by BFGS, given steps s and decreases of the gradient y, each (r, d).

    Points that did not rise, or saw no positive curvature, keep theirs; an initial guess is first scaled to (s'y) / (y'y).

    Parameters
    ----------
    H
        Estimates of the inverse Hessians (r, d, d) of minus the function.
    fresh
        Whether each is still an initial guess (r,).
    s, y
        The steps, and by how much the gradients have decreased (r, d).
    up
        Which points rose (r,).

    Returns
    -------
    H, fresh
        The same after the steps.
    """
    with np.errstate(over="ignore"):  # a gradient of 1e155 or more shows no curvature
        sy, yy = dot(s, y), dot(y, y)
    curved = up & (sy > 1e-10 * np.sqrt(yy * dot(s, s)) + TINY)
    first = curved & fresh
    if first.any():
        H = np.where(first[:, None, None], np.eye(s.shape[1]) * (sy / np.maximum(yy, TINY))[:, None, None], H)
        fresh = fresh & ~first
    inverse = np.where(curved, 1 / np.where(curved, sy, 1.0), 0.0)
    Hy = times(H, y)
    cross = (inverse[:, None] * Hy)[:, :, None] * s[:, None, :]
    ratio = inverse * (1 + inverse * dot(y, Hy))
    return H + (ratio[:, None] * s)[:, :, None] * s[:, None, :] - cross - cross.transpose(0, 2, 1), fresh


Objective = Callable[[Indices, Array], tuple[Array, Array]]


class Ascents(NamedTuple):
    """Rows that still rise.

    `which` they are; `x`, `f` and `g` are points, values and gradients, with the bounds `low` and `high`. `pull` is the gradient
    in the coordinates that are not held at a bound, `left` the steps that a row may still take, `length` scales its next one, and
    `H` are the inverse Hessians.
    """

    which: Indices
    x: Array
    f: Array
    g: Array
    low: Array
    high: Array
    pull: Array
    left: Indices
    length: Array
    H: Array

    def take(self, rows: Indices) -> "Ascents":
        """Some of the rows."""
        return Ascents._make(part[rows] for part in self)


def ascend(
    objective: Objective, start: Array, low: Array, high: Array, scale: Array, rounds: Indices, tolerance: float
) -> tuple[Array, Array]:
    """Maximise rows of functions within bounds, by projected BFGS with a step length for each.

    A round evaluates every row that still rises, in one batch. A row moves along its inverse Hessian times the gradient, in the
    coordinates that are not held at a bound. A step that rises by less than 1e-4 of what the gradient promises is rejected, and
    the next one is shorter, by quadratic interpolation; where the function is not concave, the next one is longer.

    A row ends when a step has risen, and the next one promises to rise, by less than `tolerance`, relative to the value (or to 1
    if that is smaller); when the projected gradient is below `SLOPE`; or after its number of rounds. The inverse Hessian starts
    from the `scale` of the coordinates, and no step is longer than `LONGEST`. If it were scaled to the first step, which is
    usually down the wall of a ravine, a row would end before it has seen the ravine's floor.

    Parameters
    ----------
    objective
        The indices of some rows (b,), in increasing order, and a point for each (b, d) -> values (b,) and gradients (b, d). A
        value may be -inf.
    start, low, high
        Where to start, and the bounds, each (r, d).
    scale
        How far the coordinates may usually move (r, d).
    rounds
        The largest number of accepted steps of each row (r,).
    tolerance
        The relative rise that ends a row.

    Returns
    -------
    points, values
        The tops (r, d) and their values (r,), -inf for a row whose start has no value.
    """
    points = np.clip(start, low, high)
    best, g = objective(np.arange(len(points)), points)
    H = np.eye(points.shape[1]) * (scale * scale)[:, None, :]
    pull, length = _pull(points, g, low, high), np.ones(len(points))
    now = Ascents(np.arange(len(points)), points, best, g, low, high, pull, rounds, length, H)
    going = np.isfinite(best) & (rounds > 0)
    best = best.copy()
    while True:
        going &= np.abs(now.pull).max(axis=1, initial=0.0) > SLOPE
        if not going.all():
            points[now.which], best[now.which] = now.x, now.f
            now = now.take(np.flatnonzero(going))
            if not len(now.which):
                return points, best
        now, going = _round(objective, now, tolerance)


def _pull(x: Array, g: Array, low: Array, high: Array) -> Array:
    return g * np.where(g > 0, x < high, x > low)


def _round(objective: Objective, now: Ascents, tolerance: float) -> tuple[Ascents, Mask]:
    """The rows after one step, and which of them go on."""
    which, x, f, g, low, high, pull, left, length, H = now
    p = np.where(pull != 0, times(H, pull), 0.0) * length[:, None]
    p *= np.minimum(1.0, LONGEST / np.maximum(np.abs(p).max(axis=1), TINY))[:, None]
    V = np.minimum(np.maximum(x + p, low), high)
    s = V - x
    value, slope = objective(which, V)
    promised, rise = np.maximum(dot(g, s), 0.0), value - f
    up = rise >= 1e-4 * promised
    rose = up[:, None]
    y = np.where(rose, g - slope, 0.0)
    straight = dot(s, y) <= 0
    H, _ = updated(H, np.zeros(len(H), dtype=bool), s, y, up)
    x, f, g, left = np.where(rose, V, x), np.where(up, value, f), np.where(rose, slope, g), left - up
    pull = _pull(x, g, low, high)
    hoped = 0.5 * dot(pull, times(H, pull))
    enough = tolerance * np.maximum(np.abs(f), 1.0)
    ended = np.where(up, (rise <= enough) & (hoped <= enough), np.abs(s).max(axis=1) < SHORTEST)
    shrink = np.clip(0.5 * promised / np.maximum(promised - rise, TINY), 0.1, 0.5)
    length = np.where(up, np.where(straight, 2 * length, 1.0), length * shrink)
    return Ascents(which, x, f, g, low, high, pull, left, length, H), ~ended & (left > 0)
