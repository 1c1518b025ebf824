"""The SVG of the plots: elements and frames."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from satisfice.report.scales import Linear, Scale
from satisfice.report.text import shown
from satisfice.types import Array

LEFT, RIGHT, TOP, BOTTOM = 58.0, 14.0, 14.0, 42.0  # margins of a frame


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an SVG element with everything escaped. `class_` is class, other underscores are hyphens.

    Parameters
    ----------
    name
        The name of the element.
    *children
        Elements and texts within it.
    **attributes
        Its attributes; those that are None are left out.

    Returns
    -------
    Markup
        The element.
    """
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


def diamond(px: float, py: float, reach: float) -> str:
    """Return the path of a diamond.

    Parameters
    ----------
    px, py
        Its centre.
    reach
        Half its width.

    Returns
    -------
    str
        The path.
    """
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
        """Return where a pair of values lies in the picture.

        Parameters
        ----------
        x, y
            The values.

        Returns
        -------
        tuple[float, float]
            Coordinates in the picture.
        """
        across = self.left + self.x.place(x) * (self.width - self.left - RIGHT)
        return across, self.height - BOTTOM - self.y.place(y) * (self.height - TOP - BOTTOM)

    def line(self, xs: Iterable[Any], ys: Iterable[Any]) -> str:
        """Return the points of a polyline."""
        return " ".join(f"{px:.1f},{py:.1f}" for px, py in (self.at(x, y) for x, y in zip(xs, ys, strict=True)))

    def dot(self, x: Any, y: float, text: str, kind: str, size: float) -> Markup:
        """Return the mark of a value, with a text under the pointer: an arrow at the edge where it lies off the plot.

        Parameters
        ----------
        x, y
            The values.
        text
            The text under the pointer.
        kind
            The class of the element.
        size
            The radius.

        Returns
        -------
        Markup
            The mark.
        """
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
        """Return the whole picture: the axes with their names, and the marks.

        Parameters
        ----------
        marks
            What is drawn inside the frame.
        title
            The accessible name.
        x_name, y_name
            The names of the axes.

        Returns
        -------
        Markup
            The picture.
        """
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
    """Return a picture that fills the width of its place.

    Parameters
    ----------
    width, height
        The size of its coordinates.
    title
        The accessible name.
    parts
        The elements.

    Returns
    -------
    Markup
        The picture.
    """
    return tag(
        "svg", *parts, xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:g} {height:g}", role="img",
        aria_label=shown(title),
    )  # fmt: skip
