"""Where a search may look: a box or a finite set of points, seen as the unit cube.

X are points in the user's units, U the same points in the unit cube [0, 1]^d. Only this module, `finite` and `mixed` convert.
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

from satisfice.domain.finite import Finite, checked_points
from satisfice.domain.sobol import shifted_net
from satisfice.errors import BadInput
from satisfice.types import Array


class Domain(Protocol):
    """What `Box`, `Mixed` and `Finite` have in common."""

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""

    @property
    def size(self) -> int | None:
        """The number of different points, or None where there is a continuum."""

    @property
    def switches(self) -> Sequence[int]:
        """The coordinates of which the low end means something of its own, as where 0 is "no limit"."""

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


def _indices(name: str, given: Sequence[int], dimension: int) -> tuple[int, ...]:
    """The coordinates that are listed, in order and each once, or one clear error."""
    try:
        indices = sorted({operator.index(index) for index in given})
    except TypeError:
        indices = [-1]
    if indices and not (0 <= indices[0] and indices[-1] < dimension):
        raise BadInput(f"Box: {name}={given!r} came; indices from 0 to {dimension - 1} were wanted")
    return tuple(indices)


@dataclass(frozen=True)
class Box:
    """A box [low, high]^d in the user's units; `integers` lists the coordinates that hold whole numbers.

    `switches` lists those of which the low end means something of its own, as where 0 is "no limit".

    >>> box = Box([(0.01, 0.3), (2, 15)], integers=[1])
    >>> box.from_unit(np.array([[0.5, 0.5]]))
    array([[0.155, 8.   ]])
    """

    bounds: Sequence[tuple[float, float]]
    integers: Sequence[int] = ()
    switches: Sequence[int] = ()

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
        integers = _indices("integers", self.integers, len(bounds))
        switches = _indices("switches", self.switches, len(bounds))
        for index in integers:
            if not (bounds[index] == np.round(bounds[index])).all():
                came = tuple(bounds[index].tolist())
                raise BadInput(f"Box: bounds {came} of integer coordinate {index} came; whole numbers were wanted")
        object.__setattr__(self, "bounds", tuple((float(low), float(high)) for low, high in bounds))
        object.__setattr__(self, "integers", integers)
        object.__setattr__(self, "switches", switches)

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

    def grid(self, n: int) -> Finite:
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
