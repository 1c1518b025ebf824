"""The SVG of the plots: scales, ticks, frames and elements."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from markupsafe import Markup, escape

from satisfice.types import LARGEST, Array

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
OUTLYING = 4.0  # values further away than so many ordinary ranges lie off the plot
FEWEST = 5  # values among which one can be an outlier
LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 14.0, 42.0  # margins of a frame


def shown(value: object, longest: int = 200) -> str:
    """Return a name, number or text in one line; characters that would reorder the text are made visible."""
    text = _short_power(f"{value:.6g}") if isinstance(value, float) else str(value)
    text = "".join("\ufffd" if _is_hidden(letter) else letter for letter in text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _short_power(text: str) -> str:
    """Write 1e-05 as 1e-5 and 1e+20 as 1e20."""
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs") and letter not in "\u200d\u200c"


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an SVG element with everything escaped. `class_` is class, other underscores are hyphens."""
    kind = escape(name)
    said = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _written(value))
        for key, value in attributes.items()
        if value is not None
    )
    inside = Markup("").join(child if isinstance(child, Markup) else escape(child) for child in children)
    return Markup("<{}{}>{}</{}>").format(kind, said, inside, kind)


def _written(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


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
    return _short_power(text).replace("-", "−")


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


def scale_of(distribution: Any) -> Scale:
    """Return the scale of a parameter."""
    if hasattr(distribution, "choices"):
        return Choices(tuple(distribution.choices))
    if distribution.log:
        return Log(float(distribution.low), float(distribution.high))
    return Linear(float(distribution.low), float(distribution.high), isinstance(distribution.low, int))


def scale_around(values: Iterable[float], always: Sequence[float] = ()) -> Linear:
    """Return a linear scale that shows the ordinary values and those in `always`.

    Ordinary values lie at most `OUTLYING` times the range between the 10 % and 90 % quantiles away from it, so that a few
    outliers cannot squash the rest.
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


def diamond(px: float, py: float, reach: float) -> str:
    """Return the path of a diamond."""
    return f"M{px:.1f} {py - reach:.1f}l{reach:.1f} {reach:.1f}l-{reach:.1f} {reach:.1f}l-{reach:.1f} -{reach:.1f}z"


@dataclass(frozen=True)
class Frame:
    """The rectangle of a plot in a picture of the given size."""

    x: Scale
    y: Scale
    width: float = 420.0
    height: float = 270.0
    left: float = LEFT

    def at(self, x: Any, y: Any) -> tuple[float, float]:
        """Return where a pair of values lies in the picture."""
        across = self.left + self.x.place(x) * (self.width - self.left - RIGHT)
        return across, self.height - BOTTOM - self.y.place(y) * (self.height - TOP - BOTTOM)

    def line(self, xs: Iterable[Any], ys: Iterable[Any]) -> str:
        """Return the points of a polyline."""
        return " ".join(f"{px:.1f},{py:.1f}" for px, py in (self.at(x, y) for x, y in zip(xs, ys, strict=True)))

    def dot(self, x: Any, y: float, text: str, kind: str, size: float) -> Markup:
        """Return the mark of a value, with a text under the pointer: an arrow at the edge where it lies off the plot."""
        px, py = self.at(x, y)
        title = tag("title", text)
        if isinstance(self.y, Linear) and not self.y.low <= y <= self.y.high:
            up = -1 if y > self.y.high else 1
            return tag("path", title, class_=f"arrow {kind}", d=f"M{px - 4:.1f} {py - 5 * up:.1f}h8l-4 {6 * up}z")
        if kind == "chosen":
            return tag("path", title, class_=kind, d=diamond(px, py, size + 1.8))
        return tag("circle", title, class_=kind, cx=px, cy=py, r=size)

    def band(self, xs: Sequence[Any], low: Array, high: Array) -> Markup:
        """Return the area between two curves."""
        return tag("polygon", class_="band", points=f"{self.line(xs, low)} {self.line(xs[::-1], high[::-1])}")

    def level(self, y: float, kind: str) -> Markup:
        """Return a horizontal line across the frame."""
        _, py = self.at(0, y)
        return tag("line", class_=kind, x1=self.left, x2=self.width - RIGHT, y1=py, y2=py)

    def picture(self, marks: Iterable[Markup], title: str, x_name: str, y_name: str = "value") -> Markup:
        """Return the whole picture: the axes with their names, and the marks."""
        right, bottom = self.width - RIGHT, self.height - BOTTOM
        grid = [tag("line", class_="axis", x1=self.left, x2=right, y1=bottom, y2=bottom)]
        for share, text in self.y.ticks(5):
            py = bottom - share * (bottom - TOP)
            grid.append(tag("line", class_="grid", x1=self.left, x2=right, y1=py, y2=py))
            grid.append(tag("text", text, class_="tick", x=self.left - 7, y=py + 4, text_anchor="end"))
        for share, text in self.x.ticks(max(3, int(self.width // 80))):
            px = self.left + share * (right - self.left)
            anchor = "end" if share > 0.97 else "start" if share < 0.03 and self.left < 20 else "middle"
            grid.append(tag("text", text, class_="tick", x=px, y=bottom + 16, text_anchor=anchor))
            grid.append(tag("line", class_="axis", x1=px, x2=px, y1=bottom, y2=bottom + 4))
        middle = (self.left + right) / 2
        grid.append(tag("text", shown(x_name, 40), class_="name", x=middle, y=self.height - 6, text_anchor="middle"))
        if y_name != "value":
            grid.append(tag("text", shown(y_name, 40), class_="name", x=2.0, y=10.0))
        return svg(self.width, self.height, title, [*grid, *marks])


def svg(width: float, height: float, title: str, parts: Iterable[Markup]) -> Markup:
    """Return a picture that fills the width of its place."""
    return tag(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        aria_label=shown(title),
    )  # fmt: skip
