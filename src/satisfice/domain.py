"""Where a search may look: a box or a finite set of points, seen as the unit cube.

X are points in the user's units, U the same points in the unit cube [0, 1]^d. Only this module and `mixed` convert.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.sobol import shifted_net
from satisfice.types import Array, BadInput


class Domain(Protocol):
    """What `Box`, `Mixed` and `Finite` have in common."""

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""

    @property
    def size(self) -> int | None:
        """The number of different points, or None where there is a continuum."""

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points (n, d) in the user's units -> points of the unit cube; a point outside is an error."""

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it lies in the domain or not."""

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> the nearest points of the domain in the user's units."""

    def snap(self, U: Array) -> Array:
        """The nearest points of the unit cube that the domain really has."""

    def candidates(self, n: int, rng: Generator) -> Array:
        """At most n points (m, d) of the unit cube, spread over the domain."""

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points (n, d) of the unit cube, independent and uniform over the domain."""


def checked_points(X: npt.ArrayLike, dimension: int, what: str) -> Array:
    """X as a float64 array (n, d) of finite numbers, or one clear error."""
    try:
        given = np.asarray(X)
        if given.dtype.kind not in "iuf":
            raise TypeError
        with np.errstate(over="ignore"):  # a longer float may become infinite here, which is refused below
            points = np.atleast_2d(given.astype(np.float64))
    except (TypeError, ValueError):
        raise BadInput(
            f"{what}: {X!r} came, numbers were wanted; pass a list or array of {dimension} numbers"
        ) from None
    if points.ndim != 2 or points.shape[1] != dimension or points.shape[0] == 0:
        raise BadInput(f"{what}: shape {given.shape} came, {dimension} coordinates a point were wanted")
    if not np.isfinite(points).all():
        raise BadInput(f"{what}: {X!r} came; every coordinate must be a finite number")
    return points


@dataclass(frozen=True)
class Box:
    """A box [low, high]^d in the user's units; `integers` lists the coordinates that hold whole numbers.

    >>> box = Box([(0.01, 0.3), (2, 15)], integers=[1])
    >>> box.from_unit(np.array([[0.5, 0.5]]))
    array([[0.155, 8.   ]])
    """

    bounds: Sequence[tuple[float, float]]
    integers: Sequence[int] = ()

    def __post_init__(self) -> None:
        try:
            given = np.asarray(self.bounds)
            bounds = given.astype(np.float64) if given.dtype.kind in "iuf" else np.empty(0)
        except (TypeError, ValueError):
            bounds = np.empty(0)
        if bounds.ndim != 2 or bounds.shape[1] != 2 or bounds.shape[0] == 0:
            raise BadInput(f"Box: {self.bounds!r} came; a list of (low, high) pairs was wanted, one a dimension")
        for index, (low, high) in enumerate(bounds):
            if not (low < high and math.isfinite(float(high) - float(low))):
                raise BadInput(
                    f"Box: bounds ({low:g}, {high:g}) of coordinate {index} came; finite numbers low < high were "
                    "wanted; leave out a coordinate that has one value only"
                )
        try:
            integers = sorted({operator.index(index) for index in self.integers})
        except TypeError:
            integers = [-1]
        if integers and not (0 <= integers[0] and integers[-1] < len(bounds)):
            last = len(bounds) - 1
            raise BadInput(f"Box: integers={self.integers!r} came; indices from 0 to {last} were wanted")
        for index in integers:
            if not (bounds[index] == np.round(bounds[index])).all():
                came = tuple(bounds[index].tolist())
                raise BadInput(f"Box: bounds {came} of integer coordinate {index} came; whole numbers were wanted")
        object.__setattr__(self, "bounds", tuple((float(low), float(high)) for low, high in bounds))
        object.__setattr__(self, "integers", tuple(integers))

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""
        return len(self.bounds)

    @cached_property
    def _low(self) -> Array:
        return np.array([low for low, _ in self.bounds])

    @cached_property
    def _high(self) -> Array:
        return np.array([high for _, high in self.bounds])

    @cached_property
    def _width(self) -> Array:
        return np.array([high - low for low, high in self.bounds])

    @cached_property
    def _whole(self) -> list[int]:
        return list(self.integers)

    @property
    def size(self) -> int | None:
        """The number of different points: finite when every coordinate is an integer."""
        if len(self.integers) < self.dimension:
            return None
        return math.prod(int(steps) + 1 for steps in self._width)

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points (n, d) in the user's units -> the unit cube; a point outside the box is an error."""
        points = checked_points(X, self.dimension, "a point of the box")
        with np.errstate(over="ignore"):  # infinitely far outside is outside
            U = self.scaled(points)
        outside = (U < -1e-9) | (U > 1 + 1e-9)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            low, high = self.bounds[column]
            raise BadInput(
                f"a point of the box: {points[row].tolist()} came, but coordinate {column} must lie in "
                f"[{low:g}, {high:g}]; widen the box or correct the point"
            )
        broken = points[:, self._whole] != np.round(points[:, self._whole])
        if broken.any():
            row, column = np.argwhere(broken)[0]
            raise BadInput(
                f"a point of the box: {points[row].tolist()} came, but coordinate {self._whole[column]} holds whole numbers; "
                "round it"
            )
        return np.clip(U, 0.0, 1.0)

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it lies in the box or not."""
        return (X - self._low) / self._width

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> the user's units, integer coordinates rounded."""
        steps = U * self._width
        steps[:, self._whole] = np.round(steps[:, self._whole])  # the same rounding as `snap`, ties included
        return np.clip(self._low + steps, self._low, self._high)

    def snap(self, U: Array) -> Array:
        """The unit-cube image of the point that the user would get: integer coordinates on their lattice."""
        if not self.integers:
            return U
        snapped = U.copy()
        steps = self._width[self._whole]
        snapped[:, self._whole] = np.round(U[:, self._whole] * steps) / steps
        return snapped

    def lattice(self, U: Array) -> Array:
        """Like `snap`, but every integer gets the same share of the cube, the two at the ends as well."""
        if not self.integers:
            return U
        spread = U.copy()
        steps = self._width[self._whole]
        spread[:, self._whole] = np.minimum(np.floor(U[:, self._whole] * (steps + 1)), steps) / steps
        return spread

    def candidates(self, n: int, rng: Generator) -> Array:
        """n points of a scrambled Sobol sequence (all of them, each once, where the box has at most n points)."""
        if self.size is not None and self.size <= n:
            axes = [np.arange(steps + 1) / steps for steps in self._width]
            return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        return self.lattice(shifted_net(n, self.dimension, rng))

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points of the unit cube, independent and uniform over the domain."""
        return self.lattice(rng.random((n, self.dimension)))

    def grid(self, n: int) -> "Finite":
        """The finite domain of n evenly spaced values in each coordinate (n^d points), ends included.

        An integer coordinate keeps its own values where it has fewer than n.
        """
        if not isinstance(n, Integral) or n < 2:
            raise BadInput(f"Box.grid: n = {n} came; at least 2 values a coordinate were wanted, as a whole number")
        axes = []
        for index, (low, high) in enumerate(self.bounds):
            axis = np.linspace(low, high, n)
            axes.append(np.unique(np.round(axis)) if index in self.integers else axis)
        mesh = np.meshgrid(*axes, indexing="ij")
        return Finite(np.stack([axis.ravel() for axis in mesh], axis=1))


@dataclass(frozen=True, eq=False)
class Finite:
    """A finite set of points (n, d) in the user's units, scaled to the unit cube by their smallest box."""

    points: npt.ArrayLike

    def __post_init__(self) -> None:
        try:
            given = np.asarray(self.points)
        except ValueError:
            raise BadInput("Finite: rows of different lengths came; one length was wanted") from None
        if given.ndim != 2 or given.size == 0:
            raise BadInput(f"Finite: shape {given.shape} came; an array (points, coordinates) was wanted")
        X = checked_points(given, given.shape[1], "Finite").copy()
        points, counts = np.unique(X, axis=0, return_counts=True)
        if len(points) < len(X):
            twice = points[counts.argmax()].tolist()
            raise BadInput(f"Finite: a point stands in the table twice, {twice}; pass each point once")
        with np.errstate(over="ignore"):
            if not np.isfinite(np.ptp(X, axis=0)).all():
                raise BadInput("Finite: the points lie further apart than the largest float; scale them down")
        X.flags.writeable = False
        object.__setattr__(self, "points", X)

    @cached_property
    def X(self) -> Array:
        """The points (n, d) in the user's units."""
        return np.asarray(self.points, dtype=np.float64)

    @cached_property
    def U(self) -> Array:
        """The points (n, d) in the unit cube; a coordinate with one value only sits at 1/2."""
        U = self.scaled(self.X)
        U.flags.writeable = False
        return U

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it is in the table or not."""
        low, width = self.X.min(axis=0), np.ptp(self.X, axis=0)
        return np.where(width > 0, (X - low) / np.where(width > 0, width, 1.0), 0.5 + X - low)

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""
        return self.X.shape[1]

    @property
    def size(self) -> int | None:
        """The number of points."""
        return len(self.X)

    def nearest(self, U: Array) -> npt.NDArray[np.intp]:
        """The index of the nearest point (of the unit cube) for each row of U."""
        return np.array([np.argmin(((self.U - u) ** 2).sum(axis=1)) for u in U], dtype=np.intp)

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points of the table -> the unit cube; a point that is not in the table is an error."""
        points = checked_points(X, self.dimension, "a point of the finite domain")
        with np.errstate(over="ignore"):  # infinitely far off is off
            U = self.scaled(points)
            index = self.nearest(U)
        off = np.abs(self.U[index] - U).max(axis=1) > 1e-9
        if off.any():
            row = int(np.argmax(off))
            raise BadInput(
                f"a point of the finite domain: {points[row].tolist()} came, which is not in the table; the nearest "
                f"one there is {self.X[index[row]].tolist()}: pass that"
            )
        return self.U[index]

    def from_unit(self, U: Array) -> Array:
        """The nearest points of the table, in the user's units."""
        return self.X[self.nearest(U)]

    def snap(self, U: Array) -> Array:
        """The nearest points of the table, in the unit cube."""
        return self.U[self.nearest(U)]

    def candidates(self, n: int, rng: Generator) -> Array:
        """Every point of the table, in a random order when there are more than n (then n of them)."""
        return self.U if len(self.U) <= n else self.U[rng.permutation(len(self.U))[:n]]

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points of the table, drawn independently."""
        return self.U[rng.integers(len(self.U), size=n)]
