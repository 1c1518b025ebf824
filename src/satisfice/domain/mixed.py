"""`Mixed`: a box in which some coordinates have levels of their own, and some stand together for one choice."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.domain.box import Box
from satisfice.domain.sobol import shifted_net
from satisfice.errors import BadInput
from satisfice.types import Array

HOT = math.sqrt(0.5)  # where a chosen coordinate sits in the unit cube: two choices are then at distance 1
NEAR = 1e-9  # a coordinate so close to a level, in the unit cube, is that level
LARGEST_LOG = 2**45  # the exponential of the logarithm, rounded, gives all whole numbers back up to here


@dataclass(frozen=True)
class Mixed:
    """A box whose coordinates j in `levels` take the listed values only, and where each group in `choices` is one-hot.

    One-hot: exactly one coordinate of the group is 1, the others are 0. `integers` lists coordinates of whole numbers, `logs`
    coordinates of logarithms of whole numbers. Points are spread evenly over levels, choices and whole numbers; over logarithms
    evenly on their scale, so that 1 to 10 gets as many as 10 to 100. `switches` is as in `Box`.

    >>> mixed = Mixed([(0.0, 1.0), (1, 64), (0, 1), (0, 1)], levels={1: [1, 8, 64]}, choices=[(2, 3)])
    >>> mixed.from_unit(np.array([[0.25, 0.2, 0.6, 0.1]]))
    array([[0.25, 8.  , 1.  , 0.  ]])
    """

    bounds: Sequence[tuple[float, float]]
    levels: Mapping[int, Sequence[float]] = field(default_factory=dict, hash=False)
    choices: Sequence[Sequence[int]] = ()
    integers: Sequence[int] = ()
    logs: Sequence[int] = ()
    switches: Sequence[int] = ()

    def __post_init__(self) -> None:
        box = Box(self.bounds, self.integers, self.switches)
        try:
            levels = {operator.index(j): tuple(map(float, values)) for j, values in dict(self.levels).items()}
            choices = tuple(tuple(map(operator.index, group)) for group in self.choices)
            logs = tuple(sorted(map(operator.index, self.logs)))
        except (TypeError, ValueError):
            raise BadInput(
                f"Mixed: levels={self.levels!r}, choices={self.choices!r}, logs={self.logs!r} came; logs=[coordinate, ...], "
                "levels={coordinate: values} and choices=[(coordinate, coordinate, ...), ...] were wanted"
            ) from None
        used = [*levels, *box.integers, *logs, *(j for group in choices for j in group)]
        if not all(0 <= j < box.dimension for j in used):
            raise BadInput(f"Mixed: coordinates {used} came; indices from 0 to {box.dimension - 1} were wanted")
        for j in used:
            if used.count(j) > 1:
                groups = [("integer", box.integers), ("logarithm", logs), ("levels", levels)]
                groups += [(f"choice {group}", group) for group in choices]
                roles = " and ".join(name for name, group in groups for each in group if each == j)
                raise BadInput(f"Mixed: coordinate {j} came as {roles}; a coordinate has one role only")
        for j, values in levels.items():
            low, high = box.bounds[j]
            inside = len(values) > 1 and all(low <= value <= high for value in values)
            if not (inside and len(np.unique(_share(values, low, high))) == len(values)):
                raise BadInput(
                    f"Mixed: levels of coordinate {j}: {_short(values)} came; two or more different numbers within its "
                    f"bounds [{low:g}, {high:g}] were wanted; leave out a coordinate that has one value only"
                )
        for group in choices:
            if len(group) < 2 or any(box.bounds[j] != (0.0, 1.0) for j in group):
                raise BadInput(f"Mixed: choice {group} came; two or more coordinates of bounds (0, 1) were wanted")
        for j in logs:
            ends = np.array(box.bounds[j])
            if not (0 <= ends[0] and ends[1] <= math.log(LARGEST_LOG) and (_whole_logs(ends) == ends).all()):
                raise BadInput(
                    f"Mixed: bounds {box.bounds[j]} of coordinate {j} came; the natural logarithms of whole numbers from 1 to "
                    f"{LARGEST_LOG:,} were wanted, as math.log gives them"
                )
        object.__setattr__(self, "bounds", box.bounds)
        object.__setattr__(self, "levels", {j: tuple(sorted(levels[j])) for j in sorted(levels)})
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "integers", box.integers)
        object.__setattr__(self, "logs", logs)
        object.__setattr__(self, "switches", box.switches)

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""
        return len(self.bounds)

    @property
    def size(self) -> int | None:
        """The number of different points, or None where there is a continuum."""
        return self._free.size

    @cached_property
    def _box(self) -> Box:
        """The box around the domain."""
        return Box(self.bounds, self.integers)

    @cached_property
    def _hot(self) -> list[int]:
        """The coordinates of all choices."""
        return [j for group in self.choices for j in group]

    @cached_property
    def _plain(self) -> list[int]:
        """The coordinates without levels, logarithms and choices."""
        return [j for j in range(self.dimension) if j not in {*self.levels, *self.logs, *self._hot}]

    @cached_property
    def _lattices(self) -> dict[int, tuple[Array, Array]]:
        """The levels of each coordinate that has them, in the user's units and in the unit cube."""
        return {j: (np.array(values), _share(values, *self.bounds[j])) for j, values in self.levels.items()}

    @cached_property
    def _ends(self) -> Array:
        """The smallest and the largest whole number (logs, 2) that the coordinates of logarithms stand for."""
        return np.rint(np.exp([self.bounds[j] for j in self.logs])).reshape(-1, 2)

    @cached_property
    def _free(self) -> Box:
        """The box of independent coordinates: the plain ones, then levels, whole numbers behind logs and choices, counted."""
        spans = [int(high - low) + 1 for low, high in self._ends]
        counts = [*map(len, self.levels.values()), *spans, *map(len, self.choices)]
        bounds = [self.bounds[j] for j in self._plain] + [(0.0, count - 1.0) for count in counts]
        whole = [i for i, j in enumerate(self._plain) if j in self.integers]
        return Box(bounds, [*whole, *range(len(self._plain), len(bounds))])

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points (n, d) in the user's units -> the unit cube; a point that is not of the domain is an error."""
        U = self._box.to_unit(X)
        U[:, self._hot] *= HOT
        snapped = self.snap(U)
        off = np.abs(snapped - U) > NEAR
        own = [*self.levels, *self._hot, *self.logs]
        off[:, self._plain] = False  # the box has seen to those
        if off.any():
            row, column = np.argwhere(off)[0]
            wanted = "stands for a choice: one 1, all others 0"
            if column not in self._hot:
                wanted = (
                    f"must be {'one of its levels' if column in self.levels else 'the logarithm of a whole number'}"
                )
            raise BadInput(
                f"a point of the domain: {np.atleast_2d(X)[row].tolist()} came, but coordinate {column} {wanted}"
            )
        U[:, own] = snapped[:, own]
        return U

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it lies in the domain or not."""
        U = self._box.scaled(X)
        U[..., self._hot] *= HOT
        return U

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> the nearest points of the domain in the user's units."""
        X = self._box.from_unit(U)
        for j, (values, units) in self._lattices.items():
            X[:, j] = values[_nearest(units, U[:, j])]
        for j in self.logs:
            X[:, j] = _whole_logs(X[:, j])
        for group in self.choices:
            X[:, group] = _one_hot(U[:, group].argmax(axis=1), len(group))
        return X

    def snap(self, U: Array) -> Array:
        """The nearest points that the domain has: the nearest level or whole number, the largest coordinate of a choice."""
        snapped = self._box.snap(U).copy()
        for j, (_, units) in self._lattices.items():
            snapped[:, j] = units[_nearest(units, U[:, j])]
        for group in self.choices:
            snapped[:, group] = HOT * _one_hot(U[:, group].argmax(axis=1), len(group))
        for j in self.logs:
            low, high = self.bounds[j]
            snapped[:, j] = (_whole_logs(np.clip(low + U[:, j] * (high - low), low, high)) - low) / (high - low)
        return snapped

    def _spread(self, W: Array) -> Array:
        """Points spread evenly over a cube -> points of the domain, spread evenly as the class says, in its unit cube.

        A whole number k behind a logarithm gets the share of log((k + 1/2) / (k - 1/2)), which is nearly that of 1 / k.
        """
        V = self._free.lattice(W)
        first = len(self._plain) + len(self.levels)
        for column, (low, high) in enumerate(self._ends, start=first):
            start, stop = math.log(low - 0.5), math.log(high + 0.5)
            numbers = np.rint(np.exp(start + W[:, column] * (stop - start)))
            V[:, column] = (np.clip(numbers, low, high) - low) / (high - low)
        return self._points(V)

    def _points(self, V: Array) -> Array:
        """Points of the box of independent coordinates -> points of the unit cube."""
        U = np.empty((len(V), self.dimension))
        U[:, self._plain] = V[:, : len(self._plain)]
        numbers = iter(self._free.from_unit(V)[:, len(self._plain) :].T.astype(np.intp))
        for (j, (_, units)), number in zip(self._lattices.items(), numbers, strict=False):
            U[:, j] = units[number]
        for j, (first, _), number in zip(self.logs, self._ends, numbers, strict=False):
            low, high = self.bounds[j]
            U[:, j] = (_logs(first + number) - low) / (high - low)
        for group, number in zip(self.choices, numbers, strict=True):
            U[:, group] = HOT * _one_hot(number, len(group))
        return U

    def candidates(self, n: int, rng: Generator) -> Array:
        """n points of a scrambled Sobol sequence (all of them, each once, where there are at most n)."""
        if self.size is not None and self.size <= n:
            return self._points(self._free.candidates(n, rng))
        return self._spread(shifted_net(n, self._free.dimension, rng))

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points of the unit cube, independent and spread as the class says."""
        return self._spread(rng.random((n, self._free.dimension)))


def _share(values: Iterable[float], low: float, high: float) -> Array:
    """The sorted values in the unit cube, by the same arithmetic as a box's."""
    return (np.sort(np.array(list(values), dtype=np.float64)) - low) / (high - low)


def _nearest(levels: Array, values: Array) -> npt.NDArray[np.intp]:
    """The number of the nearest level for each value; of two equally near the lower one. Levels are found exactly."""
    above = np.clip(np.searchsorted(levels, values), 1, len(levels) - 1)
    return np.where(values - levels[above - 1] <= levels[above] - values, above - 1, above)


def _whole_logs(values: Array) -> Array:
    """The logarithms of the whole numbers nearest to the exponentials."""
    return _logs(np.rint(np.exp(values)))


def _logs(numbers: Array) -> Array:
    """The logarithms to the last bit as `math.log` gives them, which a space writes its whole numbers by."""
    return np.array([math.log(number) for number in numbers.tolist()])


def _one_hot(numbers: npt.NDArray[np.intp], count: int) -> Array:
    """Rows (n, count) with a 1 at the given numbers."""
    return np.eye(count)[numbers]


def _short(values: Sequence[float]) -> str:
    """The values as a text of reasonable length."""
    text = ", ".join(f"{value:g}" for value in values[:5])
    return f"[{text}{', ...' if len(values) > 5 else ''}]"
