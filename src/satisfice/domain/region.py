"""`Region`: a product of parameters of which constraints leave a part. Every point that it gives lies inside."""

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng
from scipy.spatial.distance import cdist

from satisfice.domain.parameters import Categorical, Levels, LogInteger, Number
from satisfice.domain.polytope import Polytope
from satisfice.domain.product import Product
from satisfice.domain.sobol import shifted_net
from satisfice.domain.walks import walk
from satisfice.errors import BadInput
from satisfice.types import Array

Mask = npt.NDArray[np.bool_]
LISTED, LISTED_SLOWLY = 100_000, 20_000  # domains of so many points are listed; the second where a function decides
TRIES, TRIES_SLOWLY = 1 << 20, 1 << 18  # so many points are tried until the constraints are said to leave none
CHUNK = 4096
HITS = 64  # so many points inside are enough to start from
POOL = 1024  # points inside that are kept
COMMON, COMMON_SLOWLY = 1 / 2000, 1 / 200  # from this share on, uniform points are drawn until they lie inside
NET_SHARE, NET_SHARE_SLOWLY = 0.1, 0.3  # and from this one on, candidates are the points of a net that lie inside
MIXING = 8  # moves of a uniform draw for each coordinate, where the share is small
HALVINGS = 16


class Limits(Protocol):
    """What a region is cut by."""

    @property
    def slow(self) -> bool:
        """Whether a function of the user's decides."""

    @property
    def forgotten(self) -> str:
        """The functions of a stored study that are not known; empty if there are none."""

    @property
    def polytope(self) -> tuple[Polytope, list[int]] | None:
        """The linear constraints on real numbers, and the numbers of the parameters that they are about."""

    @property
    def polytope_is_all(self) -> bool:
        """Whether there are no other constraints."""

    @property
    def wholes(self) -> list[tuple[list[int], float]]:
        """For each mixture the numbers of its parameters, and their total above their low ends."""

    def holds(self, X: Array) -> Mask:
        """Which points (n, d) in the user's units satisfy all constraints."""

    def broken(self, x: Array) -> str | None:
        """What the point (d,) breaks, in words; None if it is allowed."""

    def inner_point(self) -> Array | None:
        """A point (d,) that satisfies the linear constraints; None if there is none."""


class Region(Product):
    """The part of a product that satisfies constraints.

    Uniform points are drawn from the product, or from the simplex of a mixture, until one lies inside. Where fewer than `COMMON`
    do, they come from random walks instead (hit-and-run: a random direction, a uniform point of the chord, which shrinks towards
    the walker while it lies outside). The walks start from points all over the region, and leave the uniform distribution as it
    is.

    Parameters
    ----------
    parameters, switches
        Those of the product.
    limits
        The constraints.

    Raises
    ------
    BadInput
        If no point satisfies the constraints, or none is found.
    """

    limits: Limits

    def __init__(
        self, parameters: Sequence[Number | Categorical | Levels], switches: Sequence[int], limits: Limits
    ) -> None:
        super().__init__(parameters, switches)
        object.__setattr__(self, "limits", limits)

    @cached_property
    def listed(self) -> Array | None:
        """All points of the unit cube that lie inside, where the product has few."""
        everything = Product(self.parameters)
        size = everything.size
        if size is None or size > (LISTED_SLOWLY if self.limits.slow else LISTED):
            return None
        points = everything.candidates(size, default_rng(0))
        points = points[self._inside(points)]
        if not len(points):
            raise BadInput(
                f"`constraints` must leave something to search: none of the {size} combinations of values satisfies them all."
            )
        return points

    @cached_property
    def size(self) -> int | None:
        """The number of points; None for a continuum, and where it is not known."""
        return None if self.listed is None else len(self.listed)

    def allows(self, X: Array) -> Mask:
        """Which points (n, d) in the user's units satisfy the constraints."""
        return self.limits.holds(X)

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> points inside, in the user's units: the nearest ones for those inside already."""
        return super().from_unit(self.snap(U))

    def snap(self, U: Array) -> Array:
        """Points inside (n, d) near the given ones: those inside stay as they are."""
        V = super().snap(self.project(U))
        outside = np.flatnonzero(~self._inside(V))
        if not len(outside):
            return V
        V = V.copy()
        inner = self._pool if self.listed is None else self.listed
        nearest = inner[cdist(V[outside], inner).argmin(axis=1)]
        V[outside] = nearest if self.listed is not None else self._between(nearest, V[outside])
        return V

    def _between(self, inner: Array, outer: Array) -> Array:
        """Points inside on the lines from points inside to points outside, as far out as halving finds them."""
        best, low, high = inner.copy(), np.zeros(len(inner)), np.ones(len(inner))
        for _ in range(HALVINGS):
            t = 0.5 * (low + high)
            tried = super().snap(self.project(inner + t[:, None] * (outer - inner)))
            ok = self._inside(tried)
            best[ok] = tried[ok]
            low, high = np.where(ok, t, low), np.where(ok, high, t)
        return best

    def project(self, U: Array) -> Array:
        """The nearest points (n, d) that satisfy the linear constraints on real numbers."""
        if self._columns is None or self._polytope is None:
            return U
        Z = U[:, self._columns]
        found = self._polytope.project(Z)
        if found is Z:
            return U
        V = U.copy()
        V[:, self._columns] = found
        return V

    def steer(self, U: Array, S: Array) -> Array:
        """Steps (n, d) from points inside that keep to the linear constraints on real numbers."""
        if self._columns is None or self._polytope is None:
            return S
        S = S.copy()
        S[:, self._columns] = self._polytope.steer(U[:, self._columns], S[:, self._columns])
        return S

    def holds(self, U: Array) -> Mask:
        """Which points (n, d) of the unit cube, those between the values of parameters included, stand for points inside."""
        return self._inside(super().snap(U))

    def _inside(self, U: Array) -> Mask:
        return self.limits.holds(super().from_unit(U))

    @cached_property
    def _polytope(self) -> Polytope | None:
        found = self.limits.polytope
        return None if found is None else found[0]

    @cached_property
    def _columns(self) -> list[int] | None:
        """The coordinates that the polytope is about."""
        found = self.limits.polytope
        return None if found is None else [self._starts[k] for k in found[1]]

    @cached_property
    def _places(self) -> dict[int, int]:
        """The column of each parameter in the cube of parameters, which `_spread` reads."""
        numbers = [k for k, start in enumerate(self._starts) if start in self._numbers]
        own = [self._starts.index(columns.start) for _, columns in self._own]
        return {k: place for place, k in enumerate([*numbers, *own])}

    def _simplex(self, W: Array) -> Array:
        """Points spread evenly over the cube of parameters -> likewise, with parts of a whole spread evenly over the simplex.

        Minus the logarithms of uniform numbers, divided by their sum, are uniform over the simplex.
        """
        W = W.copy()
        for parts, total in self.limits.wholes:
            columns = [self._places[k] for k in parts]
            shares = -np.log(np.clip(W[:, columns], 1e-300, 1 - 1e-12))
            widths = np.array([high - low for low, high in (self.parameters[k].bounds[0] for k in parts)])
            W[:, columns] = total * shares / shares.sum(axis=1)[:, None] / widths
        return W

    def _tried(self, W: Array) -> tuple[Array, Mask]:
        """Points evenly spread over the cube of parameters, made to fit the mixtures, and which of them lie inside."""
        W = self._simplex(W)
        ok = np.asarray((W <= 1).all(axis=1))
        ok[ok] = self._latent_inside(W[ok])
        return W, ok

    def _latent_inside(self, W: Array) -> Mask:
        ok = np.ones(len(W), dtype=bool)
        if self._polytope is not None:
            ok = self._polytope.inside(W[:, self._inner])
        if not self.limits.polytope_is_all:
            ok[ok] = self._inside(self._spread(W[ok]))
        return ok

    @cached_property
    def _inner(self) -> list[int]:
        found = self.limits.polytope
        return [] if found is None else [self._places[k] for k in found[1]]

    @cached_property
    def _found(self) -> tuple[Array, float]:
        """Points inside, in the cube of parameters, and the share of the tried points that they are."""
        rng, count = default_rng(0), len(self.parameters)
        most = TRIES_SLOWLY if self.limits.slow else TRIES
        tried, hits, found = 0, 0, list[Array]()
        while tried < most and hits < HITS:
            W, ok = self._tried(rng.random((CHUNK, count)))
            tried, hits = tried + CHUNK, hits + int(ok.sum())
            found.append(W[ok])
            if self._polytope is not None and not hits:
                break
        share = hits / tried
        if hits < HITS and self._polytope is not None:
            found.append(self._walked(self._polytope, most))
        points = np.vstack(found)
        if not len(points) and (x := self.limits.inner_point()) is not None:
            points = self._latent(self.scaled(x[None]))
            points = points[self._latent_inside(points)]
        if not len(points):
            raise BadInput(
                f"`constraints` must leave something to search: none of {most:,} settings satisfies them all. Where they leave "
                "very little, narrow the ranges to where it is."
            )
        starts = points[np.arange(POOL) % len(points)]
        if len(points) < POOL:
            starts = self._walk(starts, 4 * count, rng)
        return starts, share

    def _walked(self, polytope: Polytope, most: int) -> Array:
        """Points inside, from walks all over the polytope."""
        rng, count = default_rng(1), len(self.parameters)
        W = rng.random((CHUNK // 4, count))
        W[:, self._inner] = polytope.centre
        tried, kept = 0, list[Array]()
        while tried < most and sum(len(each) for each in kept) < HITS:
            W = self._walk(W, 2 * len(self._inner) if not tried else 2, rng, free=True)
            others = [k for k in range(count) if k not in self._inner]
            W[:, others] = rng.random((len(W), len(others)))
            tried += len(W)
            kept.append(W[self._latent_inside(W)])
        return np.vstack(kept)

    def _latent(self, U: Array) -> Array:
        """Points of the unit cube in the cube of parameters, in which every value of a parameter has an equal share."""
        W = np.empty((len(U), len(self.parameters)))
        for k, (start, each) in enumerate(zip(self._starts, self.parameters, strict=True)):
            u, size = U[:, start], each.size
            if isinstance(each, Categorical):
                u = (U[:, start : start + len(each.bounds)].argmax(axis=1) + 0.5) / len(each.bounds)
            elif isinstance(each, LogInteger):
                ((low, high),) = each.bounds
                first, last = np.log(each.low - 0.5), np.log(each.high + 0.5)
                u = (low + u * (high - low) - first) / (last - first)
            elif size is not None:
                u = (np.round(u * (size - 1)) + 0.5) / size
            W[:, self._places[k]] = u
        return W

    def _walk(self, W: Array, moves: int, rng: Generator, *, free: bool = False) -> Array:
        """Hit-and-run from points inside, in the cube of parameters; with `free` only the polytope is respected."""
        allowed = None if free or self.limits.polytope_is_all else lambda V: self._inside(self._spread(V))
        return walk(W, moves, rng, self._polytope, self._inner, allowed)

    @cached_property
    def _pool(self) -> Array:
        """Points inside, in the unit cube."""
        return self._spread(self._found[0])

    def prepare(self) -> None:
        """Find out whether there is anything inside; BadInput if there is not."""
        if self.listed is None:
            _ = self._found

    def candidates(self, n: int, rng: Generator) -> Array:
        """n points inside, spread over the region (all of them, each once, where it has at most n points)."""
        if self.listed is not None:
            return self.listed if len(self.listed) <= n else self.listed[rng.permutation(len(self.listed))[:n]]
        pool, share = self._found
        if share >= (NET_SHARE_SLOWLY if self.limits.slow else NET_SHARE):
            W, ok = self._tried(shifted_net(int(np.ceil(1.2 * n / share)) + 8, len(self.parameters), rng))
            if ok.any():
                return self._spread(W[ok][:n])
        if self.limits.slow and n <= len(pool):  # the functions have judged these
            return self._pool[rng.permutation(len(pool))[:n]]
        return self._spread(self._walk(pool[rng.integers(len(pool), size=n)], 2, rng))

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points inside, independent and uniform; from long random walks where only a small share of the product is inside."""
        if self.listed is not None:
            return self.listed[rng.integers(len(self.listed), size=n)]
        pool, share = self._found
        if share < (COMMON_SLOWLY if self.limits.slow else COMMON):
            starts = pool[rng.integers(len(pool), size=n)]
            return self._spread(self._walk(starts, MIXING * len(self.parameters), rng))
        found: list[Array] = []
        while sum(map(len, found)) < n:
            W, ok = self._tried(rng.random((min(int(1.2 * n / share) + 8, CHUNK), len(self.parameters))))
            found.append(W[ok])
        return self._spread(np.vstack(found)[:n])
