"""Maximising a score over a domain: many starting points climb in one batch, with analytic gradients."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.acquisition.belief import Belief
from satisfice.errors import SpaceExhausted
from satisfice.types import Array, Domain

RESTARTS = 10  # the paper's number
POLISHED = 2  # of the restarts, climb on for another run of rounds
ROUNDS = 8
POLISH_ROUNDS = 12
TINY = 1e-300
ENOUGH = 1e-5  # a smaller relative rise, or a smaller step, ends a climb
FIRST_STEP, LONGEST_STEP = 0.05, 0.3  # in the unit cube
NOTHING_LEFT = (
    "there is nothing left to ask: lower the target, widen the domain, or allow noise to have points asked again"
)
RESOLUTION = 2.0**-20  # the top of a climb is rounded to this: its last digits differ between processors
SAME = 1e-6  # two points of a continuum closer than this in every coordinate of the unit cube count as one;
ROUNDING = 1e-12  # of points that can be counted only those that rounding has put apart: a table may have 1e-7 and 1e-6


class ScoreFunction(Protocol):
    """A function of points U (m, d) to be maximised; each row is scored by itself."""

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""


class Climbers(NamedTuple):
    """Points (r, d), their scores (r,), the derivatives of those (r, d), and what is known of the inverse Hessians."""

    points: Array
    values: Array
    gradients: Array
    H: Array  # (r, d, d), of minus the score
    fresh: npt.NDArray[np.bool_]  # (r,): whether that is still a guess

    @classmethod
    def at(cls, points: Array, score: ScoreFunction) -> "Climbers":
        """Those at the given points, with a first step that is short."""
        values, gradients = score.with_gradient(points)
        steepest = np.maximum(np.abs(gradients).max(axis=1), TINY)
        H = np.eye(points.shape[1]) * (FIRST_STEP / steepest)[:, None, None]
        return cls(points, values, gradients, H, np.ones(len(points), dtype=bool))

    def some(self, chosen: npt.NDArray[np.intp]) -> "Climbers":
        """Those with the given numbers."""
        points, values, gradients, H, fresh = self
        return Climbers(points[chosen], values[chosen], gradients[chosen], H[chosen], fresh[chosen])


class Candidates(NamedTuple):
    """Points (m, d) of the domain to be scored: the first `spread` lie all over it, the others near the best ones so far."""

    points: Array
    spread: int


def candidates(belief: Belief, rng: Generator, margin: float = 0.0) -> Candidates:
    """All points of a finite set; of a box some that keep a `margin` from its sides."""
    if belief.points is not None:
        return Candidates(belief.points, len(belief.points))
    spread, near = belief.candidates(rng)
    if margin:
        spread = belief.domain.snap(margin + (1 - 2 * margin) * spread)
        near = belief.domain.snap(np.clip(near, margin, 1 - margin))
    return Candidates(np.vstack([spread, near]), len(spread))


def maximise(score: ScoreFunction, belief: Belief, rng: Generator) -> Array:
    """The best point (d,) of the unit cube that is found and not to be avoided; never worse than the best candidate."""
    start = candidates(belief, rng)
    return best_from(start, score(start.points), score, belief, rng)


def best_from(
    start: Candidates, scores: Array, score: ScoreFunction, belief: Belief, rng: Generator, margin: float = 0.0
) -> Array:
    """The best point that is found from candidates whose scores are known.

    On a finite set it is one of them. On a box the best of them climb together and the best of those on to the top; the results
    are rounded to `RESOLUTION` and snapped, and the best of everything wins. A `margin` is kept from the sides of the box.
    """
    points, spread = start
    if belief.points is not None:
        return best_of(points, scores, belief, rng)
    half = RESTARTS // 2 if len(points) > spread else RESTARTS
    first = descending(scores[:spread])[:half]
    second = spread + descending(scores[spread:])[: RESTARTS - half]
    climbed = climb(score, Climbers.at(points[np.concatenate([first, second])], score), margin=margin)
    tops = descending(climbed.values)[:POLISHED]
    climbed.points[tops] = climb(score, climbed.some(tops), POLISH_ROUNDS, margin).points
    found = belief.domain.snap(np.round(climbed.points / RESOLUTION) * RESOLUTION)
    return best_of(np.vstack([found, points]), np.append(score(found), scores), belief, rng)


def descending(scores: Array) -> npt.NDArray[np.intp]:
    """The indices of the scores, highest first; equal ones in their order, on every processor."""
    return np.argsort(-scores, kind="stable")


def climb(score: ScoreFunction, start: Climbers, rounds: int = ROUNDS, margin: float = 0.0) -> Climbers:
    """Where they get to by at most `rounds` rounds of projected BFGS.

    A round scores all points in one batch. Each point has a step length of its own: it moves along its inverse Hessian times
    the gradient, in the coordinates that are not held at a bound; a step that does not rise enough is refused, and the next
    one is shorter. No step ends nearer to a bound than `margin`.
    """
    low, high = margin, 1 - margin
    U, f, g, H, fresh = start
    if not np.isfinite(g).all():
        return start
    length = np.ones(len(U))
    for _ in range(rounds):
        free = np.where(g > 0, U < high, U > low)
        p = _times(H, g * free) * free
        p *= (length * np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(p).max(axis=1), TINY)))[:, None]
        V = np.minimum(np.maximum(U + p, low), high)
        s = V - U
        value, gradient = score.with_gradient(V)
        rise = value - f
        up = rise >= 1e-4 * _dot(g, s)
        H, fresh = _updated(H, fresh, s, g - gradient, up)
        length = np.where(up, 1.0, 0.25 * length)
        U, f, g = np.where(up[:, None], V, U), np.where(up, value, f), np.where(up[:, None], gradient, g)
        if not np.where(up, rise > ENOUGH * (1 + np.abs(f)), np.abs(s).max(axis=1) > ENOUGH).any():
            break
    return Climbers(U, f, g, H, fresh)


def _dot(a: Array, b: Array) -> Array:
    """a[r]'b[r] for each r."""
    return np.asarray(np.einsum("rd,rd->r", a, b))


def _times(H: Array, v: Array) -> Array:
    """H[r] v[r] for each r."""
    return (H @ v[:, :, None])[:, :, 0]


def _updated(
    H: Array, fresh: npt.NDArray[np.bool_], s: Array, y: Array, up: npt.NDArray[np.bool_]
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The BFGS update of the inverse Hessians H (r, d, d) for steps s and falls of the gradient y, each (r, d).

    Points that did not go up, or saw no positive curvature, keep theirs; a fresh one first gets the scale (s'y) / (y'y).
    """
    with np.errstate(over="ignore"):  # a gradient of 1e155 or more shows no curvature
        sy, yy = _dot(s, y), _dot(y, y)
    curved = up & (sy > 1e-10 * np.sqrt(yy * _dot(s, s)) + TINY)
    first = curved & fresh
    if first.any():
        H = np.where(first[:, None, None], np.eye(s.shape[1]) * (sy / np.maximum(yy, TINY))[:, None, None], H)
        fresh = fresh & ~first
    inverse = np.where(curved, 1 / np.where(curved, sy, 1.0), 0.0)
    Hy = _times(H, y)
    cross = (inverse[:, None] * Hy)[:, :, None] * s[:, None, :]
    ratio = inverse * (1 + inverse * _dot(y, Hy))
    return H + (ratio[:, None] * s)[:, :, None] * s[:, None, :] - cross - cross.transpose(0, 2, 1), fresh


def best_of(points: Array, scores: Array, belief: Belief, rng: Generator) -> Array:
    """The point of the highest score that is not to be avoided; ties are broken at random."""
    order = np.lexsort([rng.random(len(points)), -np.nan_to_num(scores, nan=-np.inf)])
    free = first_free(points[order], belief.avoid, belief.domain)
    if free is not None:
        return points[order[free]]
    return points[order[0]] if belief.may_repeat else unasked(belief.domain, belief.avoid, rng)


def first_free(points: Array, avoid: Array, domain: Domain) -> int | None:
    """The place of the first point that is not to be avoided; None where there is none."""
    for some in np.split(np.arange(len(points)), range(16, len(points), 256)):  # nearly always one of the first few
        free = some[~taken(points[some], avoid, domain)]
        if len(free):
            return int(free[0])
    return None


def taken(points: Array, avoid: Array, domain: Domain) -> npt.NDArray[np.bool_]:
    """Whether each point (m, d) of the domain is one of the points to avoid (k, d); in a continuum, up to `SAME`."""
    if len(avoid) == 0:
        return np.zeros(len(points), dtype=bool)
    near = SAME if domain.size is None else ROUNDING
    return np.asarray(cdist(points, avoid, "chebyshev").min(axis=1) <= near)


def unasked(domain: Domain, avoid: Array, rng: Generator) -> Array:
    """A random point of the domain that is not to be avoided."""
    if domain.size is not None and domain.size <= 100_000:
        points = domain.candidates(domain.size, rng)
        free = points[~taken(points, avoid, domain)]
        if len(free) == 0:
            raise SpaceExhausted(f"all {domain.size} points of the domain have been asked; {NOTHING_LEFT}")
        return free[rng.integers(len(free))]
    for _ in range(100):
        points = domain.uniform(100, rng)
        free = points[~taken(points, avoid, domain)]
        if len(free):
            return free[0]
    raise SpaceExhausted(f"no point of the domain that has not been asked was found in 10,000 draws; {NOTHING_LEFT}")
