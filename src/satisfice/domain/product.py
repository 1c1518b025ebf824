"""`Product`: the domain that some parameters make together, and its maps to and from the unit cube."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import prod

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.domain.finite import checked_points
from satisfice.domain.parameters import Block, Categorical, Levels, Linear, Number
from satisfice.domain.sobol import shifted_net
from satisfice.errors import BadInput
from satisfice.types import Array

NEAR = 1e-9  # a coordinate so close to a value, in the unit cube, is that value


@dataclass(frozen=True)
class Product:
    """All combinations of the values of some parameters.

    Points are spread evenly over the range of each number and over the choices of each categorical; over whole numbers on a log
    scale evenly on that scale.

    Parameters
    ----------
    parameters : sequence of parameters
        Each takes one coordinate, a categorical one for each choice.
    switches : sequence of int
        The coordinates of which the low end means something of its own, as where 0 is "no limit".

    Examples
    --------
    >>> from satisfice.domain.parameters import Integer, Real
    >>> product = Product([Real(0.0, 1.0), Integer(1, 8), Categorical(["adam", "sgd"])])
    >>> product.from_unit(np.array([[0.25, 0.2, 0.6, 0.1]]))
    array([[0.25, 2.  , 1.  , 0.  ]])
    """

    parameters: Sequence[Number | Categorical | Levels]
    switches: Sequence[int] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self.parameters))
        object.__setattr__(self, "switches", tuple(self.switches))

    @cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The ends (low, high) of each coordinate."""
        return tuple(chain.from_iterable(each.bounds for each in self.parameters))

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""
        return len(self.bounds)

    @cached_property
    def size(self) -> int | None:
        """The number of different points, or None where there is a continuum."""
        sizes = [each.size for each in self.parameters]
        return None if None in sizes else prod(size or 0 for size in sizes)

    @property
    def integers(self) -> tuple[int, ...]:
        """The coordinates of whole numbers."""
        return tuple(j for j, each in self._numbers.items() if each.whole)

    @cached_property
    def _starts(self) -> list[int]:
        """The first coordinate of each parameter."""
        widths = [len(each.bounds) for each in self.parameters]
        return [sum(widths[:k]) for k in range(len(widths))]

    @cached_property
    def _numbers(self) -> dict[int, Number]:
        """The numbers that fill their ranges evenly, by their coordinates."""
        placed = zip(self._starts, self.parameters, strict=True)
        return {j: each for j, each in placed if isinstance(each, Number) and not isinstance(each, Block)}

    @cached_property
    def _own(self) -> list[tuple[Block, slice]]:
        """The parameters with places of their own, in the order in which they take the coordinates of a net."""
        placed = zip(self._starts, self.parameters, strict=True)
        found = [(each, slice(j, j + len(each.bounds))) for j, each in placed if isinstance(each, Block)]
        return sorted(found, key=lambda placed: placed[0].order)

    @cached_property
    def _linear(self) -> tuple[Linear, list[int] | slice]:
        """All other coordinates together."""
        low, high = np.array([self.bounds[j] for j in self._numbers]).reshape(-1, 2).T
        whole = [k for k, each in enumerate(self._numbers.values()) if each.whole]
        return Linear(low, high, whole), list(self._numbers) if self._own else slice(None)

    @cached_property
    def _blocks(self) -> list[tuple[Linear | Block, list[int] | slice]]:
        """What maps the coordinates, some at a time."""
        return [self._linear, *self._own] if self._numbers else [*self._own]

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points (n, d) in the user's units -> the unit cube; a point outside the domain is an error."""
        points = checked_points(X, self.dimension, "A point of the domain")
        with np.errstate(over="ignore"):  # infinitely far outside is outside
            U = self.scaled(points)
        outside = (U < -NEAR) | (U > 1 + NEAR)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            low, high = self.bounds[column]
            self._refuse(
                points[row], column, f"must lie in [{low:g}, {high:g}]", "Widen the domain or correct the point."
            )
        whole = list(self.integers)
        broken = points[:, whole] != np.round(points[:, whole])
        if broken.any():
            row, place = np.argwhere(broken)[0]
            self._refuse(points[row], whole[place], "must be a whole number", "Round it.")
        U = np.clip(U, 0.0, 1.0)
        for block, columns in self._own:
            snapped = block.snap(U[:, columns])
            off = np.abs(snapped - U[:, columns]) > NEAR
            if off.any():
                row, place = np.argwhere(off)[0]
                self._refuse(points[row], columns.start + place, block.must)
            U[:, columns] = snapped
        return U

    def _refuse(self, point: Array, column: int, must: str, hint: str = "") -> None:
        raise BadInput(f"Coordinate {column} of a point of the domain {must}; got {point.tolist()}. {hint}".rstrip())

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it lies in the domain or not."""
        U = np.empty_like(X)
        for block, columns in self._blocks:
            U[..., columns] = block.scaled(X[..., columns])
        return U

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> the nearest points of the domain in the user's units."""
        X = np.empty(U.shape)
        for block, columns in self._blocks:
            X[:, columns] = block.from_unit(U[:, columns])
        return X

    def snap(self, U: Array) -> Array:
        """The nearest points of the unit cube that the domain has."""
        linear, columns = self._linear
        if not self._own and linear.continuous:
            return U
        snapped = np.empty(U.shape)
        for block, columns in self._blocks:
            snapped[:, columns] = block.snap(U[:, columns])
        return snapped

    def _spread(self, W: Array) -> Array:
        """Points spread evenly over a cube of as many dimensions as there are parameters -> points of the domain's unit cube."""
        first, (linear, numbers) = len(self._numbers), self._linear
        U = np.empty((len(W), self.dimension))
        U[:, numbers] = linear.spread(W[:, :first])
        for k, (block, columns) in enumerate(self._own):
            U[:, columns] = block.spread(W[:, first + k : first + k + 1])
        return U

    def candidates(self, n: int, rng: Generator) -> Array:
        """n points of a scrambled Sobol sequence (all of them, each once, where the domain has at most n points)."""
        if self.size is None or self.size > n:
            return self._spread(shifted_net(n, len(self.parameters), rng))
        linear, _ = self._linear
        places = [(j, linear.places(k)) for k, j in enumerate(self._numbers)]
        listed: list[tuple[int | slice, Array]] = [*places, *((columns, block.places) for block, columns in self._own)]
        grid = np.meshgrid(*(np.arange(len(points)) for _, points in listed), indexing="ij")
        U = np.empty((self.size, self.dimension))
        for (columns, points), chosen in zip(listed, grid, strict=True):
            U[:, columns] = points[chosen.ravel()]
        return U

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points of the unit cube, independent and spread as the class says."""
        return self._spread(rng.random((n, len(self.parameters))))
