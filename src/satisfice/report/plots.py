"""The plots of a report, each an SVG picture that takes its colours from the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from satisfice.report.scales import Choices, Linear, Scale, scale_around
from satisfice.report.svg import BOTTOM, RIGHT, TOP, Frame, diamond, tag
from satisfice.report.text import shown
from satisfice.study.snapshot import Evaluation
from satisfice.types import Array


@dataclass(frozen=True)
class Goal:
    """The target, and on which side of it values are good."""

    target: float
    maximize: bool

    def kind(self, value: float) -> str:
        """Return the class of a value's dot."""
        return "dot good" if (value >= self.target if self.maximize else value <= self.target) else "dot"

    def marks(self, frame: Frame) -> list[Markup]:
        """Return the shade of the good side and the line of the target, which lie behind everything else."""
        _, py = frame.at(0, self.target)
        start, end = (TOP, py) if self.maximize else (py, frame.height - BOTTOM)
        width, height = frame.width - RIGHT - frame.left, max(end - start, 0.0)
        side = tag("rect", class_="goodside", x=frame.left, y=start, width=width, height=height)
        return [side, frame.level(self.target, "target")]


def history(
    evaluations: Sequence[Evaluation],
    goal: Goal,
    chosen: Mapping[str, Any] | None,
    estimate: float | None,
    width: float,
) -> Markup:
    """Draw the values in order of evaluation, the chosen setting on top, failures at the lower edge.

    Parameters
    ----------
    evaluations
        The evaluations to draw.
    goal
        The target.
    chosen
        The recommended setting.
    estimate
        The model's estimate of its value.
    width
        The width of the picture.

    Returns
    -------
    Markup
        The picture.
    """
    values = [each.value for each in evaluations if each.value is not None]
    y = scale_around(values, [goal.target])
    frame = Frame(_count(each.number for each in evaluations), y, width, 300.0)
    marks = goal.marks(frame)
    if estimate is not None and y.low <= estimate <= y.high:
        marks.append(tag("g", tag("title", f"best estimate {shown(estimate)}"), frame.level(estimate, "estimate")))
    size = 2.2 if len(evaluations) > 400 else 3.2
    for each in sorted(evaluations, key=lambda each: each.params == chosen):
        if each.value is None:
            px, py = frame.at(each.number, 0)[0] - 3, frame.height - BOTTOM - 9
            cross = f"M{px:.1f} {py:.1f}l6 6m0 -6l-6 6"
            marks.append(tag("path", tag("title", described(each)), class_="failed", d=cross))
        else:
            kind = goal.kind(each.value) + " old" * (each.state == "history")
            marks.append(
                frame.dot(each.number, each.value, described(each), "chosen" if each.params == chosen else kind, size)
            )
    return frame.picture(marks, "values over evaluations", "evaluation")


def _count(numbers: Any) -> Linear:
    """Return the scale of the numbers of evaluations."""
    ends = list(numbers)
    return Linear(min(ends) - 0.5, max(ends) + 0.5, whole=True)


def described(each: Evaluation) -> str:
    """Return an evaluation in one line."""
    seen = shown(each.error or each.state, 120) if each.value is None else shown(each.value)
    params = ", ".join(f"{shown(name, 30)} = {shown(value, 30)}" for name, value in list(each.params.items())[:8])
    return f"evaluation {each.number}: {seen} ({params})"


def hope(numbers: Sequence[int], hopes: Sequence[float], end: float) -> Markup:
    """Draw the model's probability that some setting is good; below `end` the search draws settings at random.

    Parameters
    ----------
    numbers, hopes
        The numbers of the evaluations and the hope at each.
    end
        The hope below which the search gives up.

    Returns
    -------
    Markup
        The picture.
    """
    frame = Frame(_count(numbers), Linear(0.0, 1.0))
    marks = [frame.level(end, "target"), tag("polyline", class_="curve", points=frame.line(numbers, hopes))]
    if len(numbers) <= 200:
        marks += [
            frame.dot(n, value, f"{n}: {value:.3g}", "dot good", 1.8) for n, value in zip(numbers, hopes, strict=True)
        ]
    return frame.picture(marks, "hope over evaluations", "evaluation")


def trace(values: Sequence[float], bounds: Sequence[float], goal: Goal) -> Markup:
    """Draw the fresh values of the chosen setting and the bound they certify after each; an infinite bound is none.

    Parameters
    ----------
    values
        The fresh values.
    bounds
        The bound after each of them.
    goal
        The target.

    Returns
    -------
    Markup
        The picture.
    """
    y = scale_around(values, [goal.target, *(bound for bound in bounds[-1:] if np.isfinite(bound))])
    finite = [(m, bound) for m, bound in enumerate(bounds, start=1) if y.low <= bound <= y.high]
    frame = Frame(_count([1, len(values)]), y)
    marks = goal.marks(frame)
    marks.append(tag("polyline", class_="curve", points=frame.line(*zip(*finite, strict=True)) if finite else ""))
    marks += [frame.dot(m, v, f"fresh value {m}: {shown(v)}", "chosen", 2.6) for m, v in enumerate(values, start=1)]
    marks += [frame.dot(m, bound, f"certified after {m}: {shown(bound)}", "dot good", 2.2) for m, bound in finite]
    return frame.picture(marks, "the certified bound after each fresh value", "fresh evaluations of the setting")


def trade_off(
    evaluations: Sequence[Evaluation], costs: Sequence[float], goal: Goal, chosen: Mapping[str, Any] | None, what: str
) -> Markup:
    """Draw the values over what the settings cost; good and cheap is the corner that a preference looks for.

    Parameters
    ----------
    evaluations
        The evaluations to draw, all with a value.
    costs
        What the setting of each costs.
    goal
        The target.
    chosen
        The recommended setting.
    what
        The name of the axis of costs.

    Returns
    -------
    Markup
        The picture.
    """
    values = [each.value for each in evaluations if each.value is not None]
    x = scale_around(costs)
    frame = Frame(x, scale_around(values, [goal.target]))
    marks = goal.marks(frame)
    drawn = sorted(zip(evaluations, costs, strict=True), key=lambda pair: pair[0].params == chosen)
    for each, cost in drawn:
        if each.value is not None and x.low <= cost <= x.high:
            text = f"{what} {shown(cost)}, {described(each)}"
            kind = "chosen" if each.params == chosen else goal.kind(each.value) + " old" * (each.state == "history")
            marks.append(frame.dot(cost, each.value, text, kind, 2.6))
    return frame.picture(marks, f"values over the {what} of the settings", what)


@dataclass(frozen=True)
class Slice:
    """The model along one parameter, the others as in the chosen setting."""

    name: str
    scale: Scale
    at: list[Any]  # values of the parameter
    mean: Array
    low: Array
    high: Array

    @property
    def change(self) -> float:
        """How much the estimate changes along the parameter."""
        return float(np.ptp(self.mean / 2))


def slice_picture(cut: Slice, y: Linear, goal: Goal, evaluations: Sequence[Evaluation], chosen: Any) -> Markup:
    """Draw the mean and band of f along a parameter, with the evaluations.

    Parameters
    ----------
    cut
        The model along the parameter.
    y
        The scale of the values.
    goal
        The target.
    evaluations
        The evaluations to draw.
    chosen
        The recommended value of the parameter.

    Returns
    -------
    Markup
        The picture.
    """
    frame = Frame(cut.scale, y, height=270.0)
    marks = goal.marks(frame)
    if isinstance(cut.scale, Choices):
        for value, mean, low, high in zip(cut.at, cut.mean, cut.low, cut.high, strict=True):
            px, py = frame.at(value, mean)
            marks.append(
                tag("line", class_="bar", x1=px, x2=px, y1=frame.at(value, low)[1], y2=frame.at(value, high)[1])
            )
            title = tag("title", shown(float(mean)))
            marks.append(tag("rect", title, class_="level", x=px - 12, y=py - 1.5, width=24, height=3))
    else:
        marks.append(frame.band(cut.at, cut.low, cut.high))
        marks.append(tag("polyline", class_="curve", points=frame.line(cut.at, cut.mean)))
    for each in evaluations:
        if each.value is not None and cut.name in each.params:
            text = f"{each.number}: {shown(each.value)}"
            marks.append(frame.dot(each.params[cut.name], each.value, text, goal.kind(each.value), 2.2))
    px, _ = frame.at(chosen, 0)
    title = tag("title", f"the setting: {shown(chosen)}")
    marks.append(tag("line", title, class_="here", x1=px, x2=px, y1=TOP, y2=frame.height - BOTTOM))
    return frame.picture(marks, f"the model along {cut.name}", cut.name)


def probability_map(
    names: tuple[str, str], scales: tuple[Scale, Scale], edges: tuple[Array, Array], chances: Array,
    evaluations: Sequence[Evaluation], chosen: Mapping[str, Any],
) -> Markup:  # fmt: skip
    """Draw the probability of being good over two parameters.

    Parameters
    ----------
    names, scales
        The parameters.
    edges
        The edges of the cells, as shares of the axes.
    chances
        The probabilities, a row for each cell of the second parameter.
    evaluations, chosen
        The evaluations and the setting that are marked.

    Returns
    -------
    Markup
        The picture.
    """
    frame = Frame(*scales, height=300.0, left=72.0)
    wide, high = frame.width - frame.left - RIGHT, frame.height - TOP - BOTTOM
    marks = []
    for row, (y0, y1) in zip(chances, zip(edges[1][:-1], edges[1][1:], strict=True), strict=True):
        for chance, (x0, x1) in zip(row, zip(edges[0][:-1], edges[0][1:], strict=True), strict=True):
            cell = {
                "x": frame.left + float(x0) * wide,
                "y": TOP + (1 - float(y1)) * high,
                "width": float(x1 - x0) * wide + 0.3,  # no gap shows between the cells
                "height": float(y1 - y0) * high + 0.3,
            }
            title = tag("title", f"{chance:.2g}")
            marks.append(tag("rect", title, class_="cell", fill_opacity=f"{chance:.2f}", **cell))
    for each in evaluations:
        if each.value is not None and all(name in each.params for name in names):
            px, py = frame.at(*(each.params[name] for name in names))
            title = tag("title", f"{each.number}: {shown(each.value)}")
            marks.append(tag("circle", title, class_="seen", cx=px, cy=py, r=2.2))
    place = diamond(*frame.at(*(chosen[name] for name in names)), 7.0)
    marks.append(tag("path", tag("title", "the setting"), class_="chosen ring", d=place))
    return frame.picture(marks, "probability of being good", names[0], names[1])
