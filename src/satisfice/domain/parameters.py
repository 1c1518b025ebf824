"""The parameters of a search: real, integer, categorical, on a linear or a log scale, with or without steps.

Each class says everything about one kind of parameter: which values it takes, by which coordinates a value is written, and where
these coordinates lie in the unit cube. `Space` names parameters; `Product` makes a domain of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from satisfice.errors import BadInput
from satisfice.types import LARGEST, Array

HOT = math.sqrt(0.5)  # where a chosen coordinate sits in the unit cube: two choices are then at distance 1
FINEST = 10**7  # a step that is a smaller part of the largest value drowns in the rounding of floats
LARGEST_WHOLE = 2**53  # a float holds all whole numbers up to here
LARGEST_LOG = 2**45  # the exponential of the logarithm, rounded, gives all whole numbers back up to here


def native(value: Any) -> Any:
    """Return a numpy scalar as Python's own type; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def is_number(value: Any) -> bool:
    """Whether the value is an int or a float, and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: float) -> bool:
    """Whether a number fits into a finite float."""
    return abs(value) <= LARGEST  # an int may be too long for math.isfinite


def is_choice(value: Any) -> bool:
    """Whether the value may be a choice: a text, a number, a boolean or None, but not nan."""
    return value is None or (isinstance(value, str | int | float) and value == value)


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`; `step` is the distance of its values, None where they are a continuum.

    It has one coordinate, `coordinate(value)`, which fills its range evenly unless the class says otherwise.
    """

    low: float
    high: float
    step: float | None = None
    log: ClassVar[bool] = False
    largest: ClassVar[float] = LARGEST

    def coordinate(self, value: float) -> float:
        """The coordinate of a value."""
        raise NotImplementedError

    def at(self, z: float) -> float:
        """The value at a coordinate strictly between those of the ends."""
        raise NotImplementedError

    @property
    def constant(self) -> bool:
        """Whether it has one value only."""
        return self.low == self.high

    @cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The ends of the coordinate."""
        return ((self.coordinate(self.low), self.coordinate(self.high)),)

    @property
    def whole(self) -> bool:
        """Whether the coordinate is a whole number."""
        return self.step is not None

    @property
    def size(self) -> int | None:
        """The number of values, None for a continuum."""
        return None if self.step is None else round((self.high - self.low) / self.step) + 1

    def check(self, name: str) -> None:
        """Raise BadInput if it cannot be searched."""

        def refused(wanted: str) -> BadInput:
            return BadInput(f"`space[{name!r}]` must have {wanted}; got {self!r:.120}.")

        if not all(is_finite(end) and abs(end) <= self.largest for end in (self.low, self.high)):
            limit = "" if self.largest == LARGEST else f" up to {self.largest:,}"
            raise refused(f"finite numbers{limit} as its ends")
        if self.low > self.high or (self.log and self.low <= 0):
            raise refused(f"ends {'0 < ' if self.log else ''}low <= high")
        if isinstance(self.step, float) and max(abs(self.low), abs(self.high)) / self.step > FINEST:
            raise refused("a coarser step, or none")
        ((first, last),) = self.bounds
        if not (self.constant or 0 < last - first < math.inf):
            raise refused("ends that lie neither too close together nor too far apart")

    def encode(self, name: str, value: Any) -> list[float]:
        """The coordinate of a value in a list; BadInput if the parameter has no such value."""
        if not (is_number(value) and self.low <= value <= self.high):
            raise BadInput(
                f"`params[{name!r}]` must be a number from {self.low!r} to {self.high!r}; got {value!r:.80}."
            )
        steps = 0.0 if self.step is None else (value - self.low) / self.step
        if abs(steps - round(steps)) > 1e-8:
            raise BadInput(
                f"`params[{name!r}]` must be {self.low!r} plus a whole number of steps of {self.step!r}; got {value!r}."
            )
        return [self.coordinate(value)]

    def decode(self, z: Sequence[float]) -> float:
        """The value at a coordinate, never outside the range: the ends come back exactly."""
        ((first, last),) = self.bounds
        if z[0] <= first:
            return self.low
        return self.high if z[0] >= last else min(max(self.at(z[0]), self.low), self.high)

    def column(self, Z: Array) -> list[Any]:
        """The values at coordinates (n, 1), as `decode` gives them."""
        return [self.decode(z) for z in Z.tolist()]

    def stored(self) -> dict[str, Any]:
        """The parameter as JSON has it, in the layout of Optuna's distributions."""
        attributes = {"step": self.step, "low": self.low, "high": self.high, "log": self.log}
        return {"name": "FloatDistribution", "attributes": attributes}


class Real(Number):
    """A real number on a linear scale; with a step its coordinate counts the steps from the low end."""

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))

    def coordinate(self, value: float) -> float:
        """The value itself, or the number of steps."""
        return float(value if self.step is None else round((value - self.low) / self.step))

    def at(self, z: float) -> float:
        """The value at a coordinate."""
        if self.step is None:
            return z
        return float(Decimal(str(self.low)) + round(z) * Decimal(str(self.step)))  # 0.3: 3 * 0.1 is another float

    def column(self, Z: Array) -> list[Any]:
        """The values at coordinates (n, 1), as `decode` gives them."""
        if self.step is None and not self.log:
            return list(np.clip(Z[:, 0], self.low, self.high).tolist())
        return super().column(Z)


class LogReal(Real):
    """A real number on a log scale; its coordinate is its logarithm."""

    log = True

    def coordinate(self, value: float) -> float:
        """The logarithm."""
        return math.log(value)

    def at(self, z: float) -> float:
        """The exponential."""
        return math.exp(z)


@dataclass(frozen=True)
class Integer(Number):
    """A whole number; its coordinate is itself, or with a step greater than 1 the number of steps from the low end."""

    low: int
    high: int
    step: int = 1
    largest: ClassVar[float] = LARGEST_WHOLE

    def coordinate(self, value: float) -> float:
        """The value itself, or the number of steps."""
        return float(round(value) if self.step == 1 else round((value - self.low) / self.step))

    def at(self, z: float) -> float:
        """The value at a coordinate."""
        return round(z) if self.step == 1 else self.low + round(z) * self.step

    def stored(self) -> dict[str, Any]:
        """The parameter as JSON has it, in the layout of Optuna's distributions."""
        attributes = {"log": self.log, "step": self.step, "low": self.low, "high": self.high}
        return {"name": "IntDistribution", "attributes": attributes}


class Block:
    """Coordinates with places of their own in the unit cube, which `scaled` and `from_unit` describe."""

    order: ClassVar[int]  # in which the kinds of blocks take their coordinates of a net of points
    must: ClassVar[str]  # what has to hold for a coordinate, for an error

    def scaled(self, X: Array) -> Array:
        """Coordinates (n, k) -> the unit cube."""
        raise NotImplementedError

    def from_unit(self, U: Array) -> Array:
        """Points (n, k) of the unit cube -> the nearest coordinates that a value has."""
        raise NotImplementedError

    def snap(self, U: Array) -> Array:
        """Points (n, k) of the unit cube -> the nearest ones that stand for a value."""
        return self.scaled(self.from_unit(U))

    def spread(self, W: Array) -> Array:
        """Points (n, 1), spread evenly from 0 to 1 -> points (n, k) that stand for values, each with an equal share."""
        points = self.places
        return points[np.minimum(np.floor(W[:, 0] * len(points)), len(points) - 1).astype(np.intp)]

    @property
    def places(self) -> Array:
        """The points (size, k) of the unit cube that stand for the values."""
        raise NotImplementedError


class LogInteger(Integer, Block):
    """A whole number on a log scale; its coordinate is its logarithm, to the last bit as `math.log` gives it.

    Points are spread evenly over the logarithms, so that 1 to 10 gets as many as 10 to 100.
    """

    log = True
    order, must = 1, "must be the logarithm of a whole number"
    largest: ClassVar[float] = LARGEST_LOG

    def coordinate(self, value: float) -> float:
        """The logarithm of the whole number nearest to the value."""
        return math.log(round(value))

    def at(self, z: float) -> float:
        """The whole number nearest to the exponential."""
        return round(math.exp(z))

    def scaled(self, X: Array) -> Array:
        """Logarithms (n, 1) -> the unit interval."""
        ((low, high),) = self.bounds
        return (X - low) / (high - low)

    def from_unit(self, U: Array) -> Array:
        """Points (n, 1) of the unit interval -> the nearest logarithms of whole numbers."""
        ((low, high),) = self.bounds
        return _logs(np.rint(np.exp(np.clip(low + U * (high - low), low, high))))

    def spread(self, W: Array) -> Array:
        """The number k gets the share of log((k + 1/2) / (k - 1/2)), which is nearly that of 1 / k."""
        start, stop = math.log(self.low - 0.5), math.log(self.high + 0.5)
        return self.scaled(_logs(np.clip(np.rint(np.exp(start + W * (stop - start))), self.low, self.high)))

    @property
    def places(self) -> Array:
        """The points (size, 1) of the unit interval that stand for the numbers."""
        return self.scaled(_logs(np.arange(self.low, self.high + 1.0)[:, None]))


@dataclass(frozen=True)
class Categorical(Block):
    """One of some choices; its coordinates are one-hot: 1 for the choice, 0 for all others."""

    choices: Sequence[Any]
    order, must = 2, "stands for a choice: one coordinate must be 1, all others 0"

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(self.choices))

    @property
    def constant(self) -> bool:
        """Whether there is one choice only."""
        return len(self.choices) == 1

    @property
    def size(self) -> int:
        """The number of choices."""
        return len(self.choices)

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The ends of the coordinates."""
        return ((0.0, 1.0),) * len(self.choices)

    def check(self, name: str) -> None:
        """Raise BadInput unless there is a choice, and all are different texts, numbers, booleans or None."""
        if len(self.choices) == 0:
            raise BadInput(f"`space[{name!r}]` must have at least one choice; got an empty list.")
        for value in self.choices:
            if not is_choice(value):
                raise BadInput(
                    f"`space[{name!r}]`: a choice must be a text, a number, True, False or None; got {value!r:.80}. Name other "
                    "things by a text and look them up in the objective."
                )
        if len(set(self.choices)) < len(self.choices):
            raise BadInput(
                f"`space[{name!r}]` must have different choices (1, 1.0 and True are equal); got {list(self.choices)!r:.80}."
            )

    def encode(self, name: str, value: Any) -> list[float]:
        """The coordinates of a choice; BadInput if there is no such choice."""
        if not (is_choice(value) and value in self.choices):
            raise BadInput(f"`params[{name!r}]` must be one of {list(self.choices)!r:.200}; got {value!r:.80}.")
        return [float(value == choice) for choice in self.choices]

    def decode(self, z: Sequence[float]) -> Any:
        """The choice whose coordinate is the largest."""
        return self.choices[int(np.argmax(z))]

    def column(self, Z: Array) -> list[Any]:
        """The choices at one-hot rows (n, k), as `decode` gives them."""
        return [self.choices[k] for k in Z.argmax(axis=1).tolist()]

    def scaled(self, X: Array) -> Array:
        """One-hot rows (n, k) -> the unit cube."""
        return X * HOT

    def from_unit(self, U: Array) -> Array:
        """Points (n, k) of the unit cube -> the one-hot rows of their largest coordinates."""
        return np.eye(len(self.choices))[U.argmax(axis=1)]

    @property
    def places(self) -> Array:
        """The points (k, k) of the unit cube that stand for the choices."""
        return HOT * np.eye(len(self.choices))

    def stored(self) -> dict[str, Any]:
        """The parameter as JSON has it, in the layout of Optuna's distributions."""
        return {"name": "CategoricalDistribution", "attributes": {"choices": list(self.choices)}}


Parameter = Real | Integer | Categorical  # what a `Space` can have


@dataclass(frozen=True)
class Levels(Block):
    """One of some numbers, in their order; the coordinate is the number."""

    values: Sequence[float]
    order, must = 0, "must be one of its levels"
    levels: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(sorted(map(float, self.values))))
        object.__setattr__(self, "levels", np.array(self.values)[:, None])
        with np.errstate(all="ignore"):
            differ = len(self.values) > 1 and bool((np.diff(self.places, axis=0) > 0).all())
        if not differ:
            raise BadInput(f"Levels must be two or more different finite numbers; got {self.values!r:.80}.")

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.values)

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """The ends of the coordinate."""
        return ((self.values[0], self.values[-1]),)

    def scaled(self, X: Array) -> Array:
        """Numbers (n, 1) -> the unit interval."""
        return (X - self.values[0]) / (self.values[-1] - self.values[0])

    def from_unit(self, U: Array) -> Array:
        """Points (n, 1) of the unit interval -> the nearest levels; of two equally near the lower one."""
        places, u = self.places[:, 0], U[:, 0]
        above = np.clip(np.searchsorted(places, u), 1, len(places) - 1)
        return self.levels[np.where(u - places[above - 1] <= places[above] - u, above - 1, above)]

    @property
    def places(self) -> Array:
        """The points (size, 1) of the unit interval that stand for the levels."""
        return self.scaled(self.levels)


class Linear:
    """The coordinates of several numbers that fill their ranges evenly, as rows; `whole` lists those of whole numbers."""

    def __init__(self, low: Array, high: Array, whole: list[int]) -> None:
        self._low, self._high, self._whole = low, high, whole
        self._width = high - low
        self.continuous = not whole

    def scaled(self, X: Array) -> Array:
        """Coordinates (n, k) -> the unit cube, whether they lie in their ranges or not."""
        return (X - self._low) / self._width

    def from_unit(self, U: Array) -> Array:
        """Points (n, k) of the unit cube -> coordinates, whole ones rounded."""
        steps = U * self._width
        steps[:, self._whole] = np.round(steps[:, self._whole])  # the same rounding as `snap`, ties included
        return np.clip(self._low + steps, self._low, self._high)

    def snap(self, U: Array) -> Array:
        """Points (n, k) of the unit cube, the whole coordinates on their lattice."""
        snapped, steps = U.copy(), self._width[self._whole]
        snapped[:, self._whole] = np.round(U[:, self._whole] * steps) / steps
        return snapped

    def spread(self, W: Array) -> Array:
        """Like `snap`, but every whole number gets the same share of the cube, the two at the ends as well."""
        U, steps = W.copy(), self._width[self._whole]
        U[:, self._whole] = np.minimum(np.floor(W[:, self._whole] * (steps + 1)), steps) / steps
        return U

    def places(self, column: int) -> Array:
        """The points (size,) of the unit interval that stand for the whole numbers of one coordinate."""
        return np.asarray(np.arange(self._width[column] + 1) / self._width[column])


def _logs(numbers: Array) -> Array:
    """The logarithms to the last bit as `math.log` gives them, which a space writes its whole numbers by."""
    return np.array([math.log(number) for number in numbers.ravel().tolist()]).reshape(numbers.shape)
