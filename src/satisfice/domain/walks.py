"""Hit-and-run: random walks over a part of a cube that leave the uniform distribution as it is."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.domain.polytope import Polytope
from satisfice.types import Array

SHRINKS = 40  # so often a chord shrinks, until the walker stays where it is


def walk(
    W: Array,
    moves: int,
    rng: Generator,
    polytope: Polytope | None,
    inner: list[int],
    allowed: Callable[[Array], npt.NDArray[np.bool_]] | None,
) -> Array:
    """Let walkers move within the unit cube.

    A move draws a direction, and a point of the chord in that direction. While the point is not allowed, the chord ends there and
    another one is drawn: a slice sampler, which needs no convexity. Every other move changes few coordinates.

    Parameters
    ----------
    W
        Where the walkers start (n, d), inside.
    moves
        How many moves each makes.
    rng
        The random numbers.
    polytope, inner
        Linear constraints on some coordinates, and which.
    allowed
        Which points (m, d) of the polytope are inside; None for all.

    Returns
    -------
    Array
        Where they end (n, d).
    """
    W, n, d = W.copy(), len(W), W.shape[1]
    for move in range(moves):
        D = rng.standard_normal((n, d))
        if move % 2 and d > 1:
            D *= rng.random((n, d)) < 1.5 / d
        if polytope is not None:
            D[:, inner] = polytope.along(D[:, inner])
        low, high = _chord(W, D)
        if polytope is not None:
            bottom, top = polytope.chord(W[:, inner], D[:, inner])
            low, high = np.maximum(low, bottom), np.minimum(high, top)
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        left = np.flatnonzero((D != 0).any(axis=1))
        for _ in range(SHRINKS):
            t = low[left] + (high - low)[left] * rng.random(len(left))
            V = np.clip(W[left] + t[:, None] * D[left], 0.0, 1.0)
            if polytope is not None:
                V[:, inner] = polytope.project(V[:, inner])
            ok = np.ones(len(V), dtype=bool) if allowed is None else allowed(V)
            W[left[ok]] = V[ok]
            below = t < 0
            low[left[below]], high[left[~below]] = t[below], t[~below]
            left = left[~ok]
            if not len(left):
                break
    return W


def _chord(W: Array, D: Array) -> tuple[Array, Array]:
    """The interval of t for which W + t D stays in the unit cube."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = -W / D, (1 - W) / D
    low = np.where(D != 0, np.minimum(a, b), -np.inf).max(axis=1)
    high = np.where(D != 0, np.maximum(a, b), np.inf).min(axis=1)
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
