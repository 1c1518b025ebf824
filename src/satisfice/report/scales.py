"""Scales: where a value lies along an axis, and the ticks."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from satisfice.domain.parameters import Categorical, Parameter
from satisfice.report.text import short_power, shown
from satisfice.types import LARGEST

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
OUTLYING = 4.0  # values further away than so many ordinary ranges lie off the plot
FEWEST = 5  # values among which one can be an outlier


class Scale(Protocol):
    """Where a value lies along an axis, from 0 to 1, and the ticks of the axis."""

    def place(self, value: Any) -> float:
        """Return the share of the axis; values off the axis lie at its ends."""

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return places and their texts, about `most` at most."""


@dataclass(frozen=True)
class Linear:
    """Numbers as they are."""

    low: float
    high: float
    whole: bool = False

    def place(self, value: Any) -> float:
        """Return (value - low) / (high - low), computed with halves so that huge numbers do not overflow."""
        width = self.high / 2 - self.low / 2
        return 0.5 if width == 0 else min(max((value / 2 - self.low / 2) / width, 0.0), 1.0)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return multiples of 1, 2 or 5 times a power of ten."""
        half = self.high / 2 - self.low / 2
        if not 1e-300 < half < 1e305:
            return [(self.place(end), shown(end)) for end in (self.low, self.high)]
        power = 10.0 ** math.floor(math.log10(2 * half / most))
        step = next(m * power for m in (1, 2, 5, 10, 20) if m * power * most >= 2 * half)
        step = max(step, 1.0) if self.whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        if last - first > 2 * most or abs(last) > 1e12:  # the numbers are too close together for their size
            return [(self.place(end), shown(end)) for end in (self.low, self.high)]
        digits = max(1, math.ceil(math.log10(max(abs(first), abs(last), 1)) + 1e-9) + 1)
        return [(self.place(k * step), _tick(k * step, digits)) for k in range(first, last + 1)]


def _tick(value: float, digits: int) -> str:
    """Return a round number in a few characters."""
    text = f"{value:.{digits}g}" if not 1e-4 < abs(value) < 1e6 else f"{value:.12g}"
    text = text if len(text) <= 9 else f"{value:.{digits}g}"
    return short_power(text).replace("-", "−")


@dataclass(frozen=True)
class Log:
    """Positive numbers by their logarithms."""

    low: float
    high: float

    def place(self, value: Any) -> float:
        """Return log(value / low) / log(high / low)."""
        if value <= 0:
            return 0.0
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return min(max(share, 0.0), 1.0)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return powers of ten, or multiples of them where there are fewer than two."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        if last - first < 1:
            powers = range(first - 1, last + 2)
            values = [m * 10.0**k for k in powers for m in (1, 2, 5) if self.low <= m * 10.0**k <= self.high]
            values = values if len(values) > 1 else [self.low, self.high]
            return [(self.place(value), shown(value)) for value in values]
        every = math.ceil((last - first + 1) / most)
        return [(self.place(10.0**k), _power(k)) for k in range(first, last + 1, every)]


def _power(k: int) -> str:
    return shown(10.0**k) if -4 < k < 5 else "10" + str(k).translate(RAISED)


@dataclass(frozen=True)
class Choices:
    """Choices without an order, side by side."""

    values: tuple[Any, ...]

    def place(self, value: Any) -> float:
        """Return the middle of the choice's share of the axis."""
        return (self.values.index(value) + 0.5) / len(self.values) if value in self.values else 0.0

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return every choice, or every second, third, ... where there are many."""
        every = math.ceil(len(self.values) / most)
        longest = max(4, 44 // min(len(self.values), most))
        return [(self.place(value), shown(value, longest)) for value in self.values[::every]]


def scale_of(parameter: Parameter) -> Scale:
    """Return the scale of a parameter.

    Parameters
    ----------
    parameter
        The parameter.

    Returns
    -------
    Scale
        The scale.
    """
    if isinstance(parameter, Categorical):
        return Choices(tuple(parameter.choices))
    if parameter.log:
        return Log(float(parameter.low), float(parameter.high))
    return Linear(float(parameter.low), float(parameter.high), isinstance(parameter.low, int))


def scale_around(values: Iterable[float], always: Sequence[float] = ()) -> Linear:
    """Return a linear scale that shows the ordinary values and those in `always`.

    Ordinary values lie at most `OUTLYING` times the range between the 10 % and 90 % quantiles away from it, so that a few
    outliers cannot squash the rest.

    Parameters
    ----------
    values
        The values to show.
    always
        Values that must lie on the scale.

    Returns
    -------
    Linear
        The scale.
    """
    seen = np.array([value for value in values if math.isfinite(value)])
    seen = seen if len(seen) else np.array(always or (0.0,))
    quarters, fixed = seen / 4, [value / 4 for value in always]  # quarters do not overflow
    low, high = float(np.quantile(quarters, 0.1, method="higher")), float(np.quantile(quarters, 0.9, method="lower"))
    low, high = min([low, high, *fixed]), max([low, high, *fixed])
    with np.errstate(over="ignore"):
        room = OUTLYING * (high - low) if high > low and len(seen) >= FEWEST else math.inf
        near = seen[(quarters >= low - room) & (quarters <= high + room)]
    low, high = float(min([*near, *always])), float(max([*near, *always]))
    margin = 0.12 * (high / 2 - low / 2) or 0.05 * abs(high) or 1.0
    return Linear(max(low - margin, -LARGEST), min(high + margin, LARGEST))
