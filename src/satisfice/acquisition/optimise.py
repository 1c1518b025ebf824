"""Maximise a score over a domain: several starting points climb in one batch, with analytic gradients."""

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.acquisition.joint import AnyBelief
from satisfice.domain.region import Region
from satisfice.errors import SpaceExhausted
from satisfice.gp.ascent import TINY, dot, times, updated
from satisfice.types import Array, Domain

RESTARTS = 10  # the paper's number
POLISHED = 2  # the number of restarts that climb on for another run of rounds
ROUNDS = 8
POLISH_ROUNDS = 12
ENOUGH = 1e-5  # a smaller relative rise, or a smaller step, ends a climb
FIRST_STEP, LONGEST_STEP = 0.05, 0.3  # in the unit cube
NOTHING_LEFT = (
    "there is nothing left to ask: lower the target, widen the domain, or allow noise to have points asked again"
)
RESOLUTION = 2.0**-20  # results are rounded to multiples of this: their last digits differ between processors
SAME = 1e-6  # points of a continuum closer than this in every coordinate of the unit cube count as one
ROUNDING = 1e-12  # the same for points of a countable domain, where only rounding separates equal ones


class ScoreFunction(Protocol):
    """A function of points U (m, d) to be maximised; each row is scored independently."""

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""


class Climbers(NamedTuple):
    """Points (r, d), their scores (r,), the gradients (r, d), and estimates of the inverse Hessians."""

    points: Array
    values: Array
    gradients: Array
    H: Array  # (r, d, d), of minus the score
    fresh: npt.NDArray[np.bool_]  # (r,): whether H is still the initial guess

    @classmethod
    def at(cls, points: Array, score: ScoreFunction) -> "Climbers":
        """Climbers at the given points, whose first step will be short."""
        values, gradients = score.with_gradient(points)
        steepest = np.maximum(np.abs(gradients).max(axis=1), TINY)
        H = np.eye(points.shape[1]) * (FIRST_STEP / steepest)[:, None, None]
        return cls(points, values, gradients, H, np.ones(len(points), dtype=bool))

    def some(self, chosen: npt.NDArray[np.intp]) -> "Climbers":
        """The climbers with the given indices."""
        points, values, gradients, H, fresh = self
        return Climbers(points[chosen], values[chosen], gradients[chosen], H[chosen], fresh[chosen])


class Candidates(NamedTuple):
    """Points (m, d) to be scored: the first `spread` lie all over the domain, the others near the best points so far."""

    points: Array
    spread: int


def candidates(belief: AnyBelief, rng: Generator, margin: float = 0.0) -> Candidates:
    """All points of a finite set; a sample of a box, at least `margin` away from its sides.

    Parameters
    ----------
    belief
        The domain, and the best points so far.
    rng
        The random numbers of the sample.
    margin
        The distance to keep from the sides of a box.

    Returns
    -------
    Candidates
        The points.
    """
    if belief.points is not None:
        return Candidates(belief.points, len(belief.points))
    spread, near = belief.candidates(rng)
    if margin:
        spread = belief.domain.snap(margin + (1 - 2 * margin) * spread)
        near = belief.domain.snap(np.clip(near, margin, 1 - margin))
    return Candidates(np.vstack([spread, near]), len(spread))


def maximise(score: ScoreFunction, belief: AnyBelief, rng: Generator) -> Array:
    """The best point (d,) of the unit cube found that need not be avoided; never worse than the best candidate.

    Parameters
    ----------
    score
        What to maximise.
    belief
        The domain, and the points to avoid.
    rng
        Draws candidates and breaks ties.

    Returns
    -------
    Array
        The point (d,).
    """
    start = candidates(belief, rng)
    return best_from(start, score(start.points), score, belief, rng)


def best_from(
    start: Candidates, scores: Array, score: ScoreFunction, belief: AnyBelief, rng: Generator, margin: float = 0.0
) -> Array:
    """The best point found from candidates whose scores are known.

    On a finite set it is one of them. On a box the best candidates climb together, and the best of those climb on; the results
    are rounded to `RESOLUTION` and snapped, and the best point of all wins.

    Parameters
    ----------
    start, scores
        The candidates and their scores (m,).
    score
        What to maximise.
    belief
        The domain, and the points to avoid.
    rng
        Breaks ties.
    margin
        The distance to keep from the sides of a box.

    Returns
    -------
    Array
        The point (d,).
    """
    points, spread = start
    if belief.points is not None:
        return best_of(points, scores, belief, rng)
    half = RESTARTS // 2 if len(points) > spread else RESTARTS
    first = descending(scores[:spread])[:half]
    second = spread + descending(scores[spread:])[: RESTARTS - half]
    region = belief.domain if isinstance(belief.domain, Region) else None
    climbed = climb(score, Climbers.at(points[np.concatenate([first, second])], score), margin=margin, region=region)
    tops = descending(climbed.values)[:POLISHED]
    climbed.points[tops] = climb(score, climbed.some(tops), POLISH_ROUNDS, margin, region).points
    found = belief.domain.snap(np.round(climbed.points / RESOLUTION) * RESOLUTION)
    return best_of(np.vstack([found, points]), np.append(score(found), scores), belief, rng)


def descending(scores: Array) -> npt.NDArray[np.intp]:
    """The indices of the scores, highest first; equal ones keep their order on every processor."""
    return np.argsort(-scores, kind="stable")


def climb(
    score: ScoreFunction,
    start: Climbers,
    rounds: int = ROUNDS,
    margin: float = 0.0,
    region: Region | None = None,
) -> Climbers:
    """Move climbers by at most `rounds` rounds of projected BFGS.

    A round scores all points in one batch. Each point moves along its inverse Hessian times the gradient, in the coordinates that
    are not held at a bound, with a step length of its own; a step that does not rise enough is rejected, and the next one is
    shorter. No step ends closer to a bound than `margin`. In a region, steps keep to the linear constraints, and are rejected if
    they leave the region nevertheless.

    Parameters
    ----------
    score
        What to maximise.
    start
        The climbers.
    rounds
        The largest number of rounds.
    margin
        The distance to keep from the sides of the cube.
    region
        What the points must not leave; None for the whole cube.

    Returns
    -------
    Climbers
        The same climbers, higher up.
    """
    low, high = margin, 1 - margin
    U, f, g, H, fresh = start
    if not np.isfinite(g).all():
        return start
    length = np.ones(len(U))
    for _ in range(rounds):
        free = np.where(g > 0, U < high, U > low)
        p = times(H, g * free) * free
        p *= (length * np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(p).max(axis=1), TINY)))[:, None]
        V = np.minimum(np.maximum(U + p, low), high)
        if region is not None:
            V = _steered(region, U, V, g, length)
        s = V - U
        value, gradient = score.with_gradient(V)
        rise = value - f
        up = rise >= 1e-4 * dot(g, s)
        if region is not None:
            up &= (rise >= 0) & region.holds(V)
        H, fresh = updated(H, fresh, s, g - gradient, up)
        length = np.where(up, 1.0, 0.25 * length)
        U, f, g = np.where(up[:, None], V, U), np.where(up, value, f), np.where(up[:, None], gradient, g)
        if not np.where(up, rise > ENOUGH * (1 + np.abs(f)), np.abs(s).max(axis=1) > ENOUGH).any():
            break
    return Climbers(U, f, g, H, fresh)


def _steered(region: Region, U: Array, V: Array, g: Array, length: Array) -> Array:
    """The ends of the steps from U to V that stay inside; where these would descend, of steps along the gradient."""
    s = region.steer(U, V - U)
    down = dot(g, s) <= 0
    if down.any():
        steepest = g[down] / np.maximum(np.abs(g[down]).max(axis=1), TINY)[:, None]
        wanted = np.clip(U[down] + FIRST_STEP * length[down, None] * steepest, 0.0, 1.0) - U[down]
        s = s.copy()
        s[down] = region.steer(U[down], wanted)
    return np.clip(U + s, 0.0, 1.0)


def best_of(points: Array, scores: Array, belief: AnyBelief, rng: Generator) -> Array:
    """The point of the highest score that need not be avoided; ties are broken at random.

    Parameters
    ----------
    points, scores
        The points (m, d) and their scores (m,).
    belief
        The domain, and the points to avoid.
    rng
        Breaks ties.

    Returns
    -------
    Array
        The point (d,); if all must be avoided, a random other one, or under noise the best one.
    """
    order = np.lexsort([rng.random(len(points)), -np.nan_to_num(scores, nan=-np.inf)])
    free = first_free(points[order], belief.avoid, belief.domain)
    if free is not None:
        return points[order[free]]
    return points[order[0]] if belief.may_repeat else unasked(belief.domain, belief.avoid, rng)


def first_free(points: Array, avoid: Array, domain: Domain) -> int | None:
    """The index of the first point that need not be avoided; None if there is none."""
    for some in np.split(np.arange(len(points)), range(16, len(points), 256)):  # nearly always one of the first few
        free = some[~taken(points[some], avoid, domain)]
        if len(free):
            return int(free[0])
    return None


def taken(points: Array, avoid: Array, domain: Domain) -> npt.NDArray[np.bool_]:
    """Whether each point (m, d) of the domain is one of the points to avoid (k, d), up to `SAME` in a continuum.

    Parameters
    ----------
    points
        Points (m, d) of the domain.
    avoid
        The points to avoid (k, d).
    domain
        The domain.

    Returns
    -------
    Array
        A mask (m,).
    """
    if len(avoid) == 0:
        return np.zeros(len(points), dtype=bool)
    near = SAME if domain.size is None else ROUNDING
    return np.asarray(cdist(points, avoid, "chebyshev").min(axis=1) <= near)


def unasked(domain: Domain, avoid: Array, rng: Generator) -> Array:
    """A random point of the domain that need not be avoided.

    Parameters
    ----------
    domain
        Where to draw.
    avoid
        The points to avoid (k, d).
    rng
        The random numbers.

    Returns
    -------
    Array
        The point (d,).

    Raises
    ------
    SpaceExhausted
        If none is left, or none is found.
    """
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
