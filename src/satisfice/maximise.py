"""Maximising a score over a domain: many starting points in one L-BFGS-B call, with analytic gradients."""

from typing import Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from satisfice.belief import Belief
from satisfice.domain import Domain
from satisfice.types import Array, SpaceExhausted

RESTARTS = 10  # the paper's number
POLISHED = 2  # of the restarts, each alone to the end
SAME = 1e-6  # two points closer than this in every coordinate of the unit cube count as one


class Score(Protocol):
    """A function of points U (m, d) to be maximised; each row is scored by itself."""

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""


def maximise(score: Score, belief: Belief, rng: Generator) -> Array:
    """The best point (d,) of the unit cube that is found and not to be avoided; never worse than the best candidate.

    On a finite set every point is scored. On a box: the best candidates climb together, the best of those alone, the results
    are snapped, and the best of everything wins.
    """
    if belief.points is not None:
        return best_of(belief.points, score(belief.points), belief, rng)
    spread, near = belief.candidates(rng)
    candidates = np.vstack([spread, near])
    scores = score(candidates)
    half = RESTARTS // 2 if len(near) else RESTARTS
    first = np.argsort(-scores[: len(spread)])[:half]
    second = len(spread) + np.argsort(-scores[len(spread) :])[: RESTARTS - half]
    starts = np.concatenate([first, second])
    climbed = climb(score, candidates[starts])
    tops = climbed[np.argsort(-score(climbed))[:POLISHED]]
    polished = [climb(score, top[None], iterations=50)[0] for top in tops]
    found = belief.domain.snap(np.vstack([polished, climbed]))
    return best_of(np.vstack([found, candidates]), np.append(score(found), scores), belief, rng)


def climb(score: Score, starts: Array, iterations: int = 25) -> Array:
    """Local maxima (r, d) reached from the starts (r, d) by one L-BFGS-B call on the sum of their scores.

    The blocks share step length and stopping, so each is divided by the norm of its gradient at the start.
    """
    r, d = starts.shape
    _, gradient = score.with_gradient(starts)
    norms = np.sqrt((gradient**2).sum(axis=1))
    if not np.isfinite(norms).all() or norms.max() == 0:
        return starts
    share = 1 / np.maximum(norms, 1e-3 * np.median(norms) + 1e-3 * norms.max() / r)

    def negative(flat: Array) -> tuple[float, Array]:
        values, gradients = score.with_gradient(flat.reshape(r, d))
        return -float(share @ values), -(share[:, None] * gradients).ravel()

    found = minimize(
        negative,
        starts.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * (r * d),
        options={"maxiter": iterations, "ftol": 1e-9, "gtol": 1e-6, "maxcor": 10},
    )
    return np.clip(found.x, 0.0, 1.0).reshape(r, d)


def best_of(points: Array, scores: Array, belief: Belief, rng: Generator) -> Array:
    """The point of the highest score that is not to be avoided; ties are broken at random."""
    free = ~taken(points, belief.avoid)
    if not free.any():
        if not belief.repeats:
            return unasked(belief.domain, belief.avoid, rng)
        free[:] = True
    scores = np.where(free & ~np.isnan(scores), scores, -np.inf)
    ties = np.flatnonzero(scores == scores.max())
    ties = ties[free[ties]]
    return points[ties[0] if len(ties) == 1 else rng.choice(ties)]


def taken(points: Array, avoid: Array) -> npt.NDArray[np.bool_]:
    """Whether each point (m, d) is one of the points to avoid (k, d), up to `SAME`."""
    if len(avoid) == 0:
        return np.zeros(len(points), dtype=bool)
    return np.asarray(cdist(points, avoid, "chebyshev").min(axis=1) <= SAME)


def unasked(domain: Domain, avoid: Array, rng: Generator) -> Array:
    """A random point of the domain that is not to be avoided."""
    if domain.size is not None and domain.size <= 100_000:
        points = domain.candidates(domain.size, rng)
        free = points[~taken(points, avoid)]
        if len(free) == 0:
            raise SpaceExhausted(
                f"all {domain.size} points of the domain have been asked; there is nothing left to ask"
            )
        return free[rng.integers(len(free))]
    for _ in range(100):
        points = domain.uniform(100, rng)
        free = points[~taken(points, avoid)]
        if len(free):
            return free[0]
    raise SpaceExhausted("no point of the domain that has not been asked was found in 10,000 draws")
