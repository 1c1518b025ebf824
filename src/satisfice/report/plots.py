"""The plots of a report, each one an SVG picture that takes its colours from the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from satisfice.report.svg import BOTTOM, RIGHT, TOP, Choices, Frame, Linear, Scale, scale_around, shown, svg, tag
from satisfice.study.snapshot import Evaluation
from satisfice.types import Array


@dataclass(frozen=True)
class Goal:
    """The target, and on which side of it values are good."""

    target: float
    maximize: bool

    def met(self, value: float) -> bool:
        """Whether a value is on the good side."""
        return value >= self.target if self.maximize else value <= self.target

    def marks(self, frame: Frame) -> list[Markup]:
        """The good side shaded, and the line of the target: they lie behind everything else."""
        _, py = frame.at(0, self.target)
        start, end = (TOP, py) if self.maximize else (py, frame.height - BOTTOM)
        width, height = frame.width - RIGHT - frame.left, max(end - start, 0.0)
        side = tag("rect", class_="goodside", x=frame.left, y=start, width=width, height=height)
        return [side, frame.level(self.target, "target")]

    def label(self, frame: Frame) -> Markup:
        """The name of the target's line, in front of everything else."""
        _, py = frame.at(0, self.target)
        above = py - 6 if py > TOP + 20 else py + 15
        x = frame.width - RIGHT - 4
        return tag("text", f"target {shown(self.target)}", class_="target-name", x=x, y=above, text_anchor="end")


def history(
    evaluations: Sequence[Evaluation],
    goal: Goal,
    chosen: Mapping[str, Any] | None,
    estimate: float | None,
    width: float,
) -> Markup:
    """The values in the order of their evaluations; repeats of the chosen setting are marked, failures lie at the edge."""
    numbers = [each.number for each in evaluations]
    values = [each.value for each in evaluations if each.value is not None]
    always = [goal.target] if estimate is None else [goal.target, estimate]
    x = Linear(min(numbers) - 0.5, max(numbers) + 0.5, whole=True)
    frame = Frame(x, scale_around(values, always), width, 300.0)
    marks = goal.marks(frame)
    if estimate is not None:
        marks.append(tag("g", tag("title", f"best estimate {shown(estimate)}"), frame.level(estimate, "estimate")))
    small = 2.2 if len(evaluations) > 400 else 3.2
    for each in sorted(evaluations, key=lambda each: each.params == chosen):  # the chosen ones on top
        marks.append(_dot(frame, each, goal, each.params == chosen, small))
    marks.append(goal.label(frame))
    return frame.picture(marks, "values over evaluations", "evaluation")


def _dot(frame: Frame, each: Evaluation, goal: Goal, is_chosen: bool, size: float) -> Markup:
    """One evaluation in the history."""
    title = tag("title", described(each))
    if each.value is None:
        px, py = frame.at(each.number, 0)
        py = frame.height - BOTTOM - 6
        cross = f"M{px - 3:.1f} {py - 3:.1f}l6 6m0 -6l-6 6"
        return tag("path", title, class_="failed", d=cross)
    px, py = frame.at(each.number, each.value)
    off = isinstance(frame.y, Linear) and not frame.y.low <= each.value <= frame.y.high
    if off:  # an arrow at the edge
        up = -1 if each.value > frame.y.high else 1  # type: ignore[attr-defined]
        arrow = f"M{px - 4:.1f} {py - 5 * up:.1f}h8l-4 {6 * up}z"
        return tag("path", title, class_="arrow", d=arrow)
    if is_chosen:
        reach = size + 1.8
        diamond = (
            f"M{px:.1f} {py - reach:.1f}l{reach:.1f} {reach:.1f}l-{reach:.1f} {reach:.1f}l-{reach:.1f} -{reach:.1f}z"
        )
        return tag("path", title, class_="chosen", d=diamond)
    kind = "dot good" if goal.met(each.value) else "dot"
    return tag("circle", title, class_=f"{kind} old" if each.state == "history" else kind, cx=px, cy=py, r=size)


def described(each: Evaluation) -> str:
    """An evaluation in one line."""
    seen = shown(each.error or each.state, 120) if each.value is None else shown(each.value)
    params = ", ".join(f"{shown(name, 30)} = {shown(value, 30)}" for name, value in list(each.params.items())[:8])
    return f"evaluation {each.number}: {seen} ({params})"


def hope(numbers: Sequence[int], hopes: Sequence[float], end: float) -> Markup:
    """The model's probability that some setting is good, over the evaluations; below `end` the verdict is none."""
    x = Linear(min(numbers) - 0.5, max(numbers) + 0.5, whole=True)
    frame = Frame(x, Linear(0.0, 1.0))
    marks = [frame.level(end, "target"), tag("polyline", class_="curve", points=frame.line(numbers, hopes))]
    for number, value in zip(numbers, hopes, strict=True) if len(numbers) <= 200 else ():
        px, py = frame.at(number, value)
        marks.append(tag("circle", tag("title", f"{number}: {value:.3g}"), class_="dot good", cx=px, cy=py, r=1.8))
    return frame.picture(marks, "hope over evaluations", "evaluation")


def trace(values: Sequence[float], bounds: Sequence[float], goal: Goal) -> Markup:
    """The fresh values of the chosen setting, and what they certify after each of them; an infinite bound is none."""
    last = [bound for bound in bounds[-1:] if np.isfinite(bound)]
    y = scale_around(values, [goal.target, *last])
    finite = [(m, bound) for m, bound in enumerate(bounds, start=1) if y.low <= bound <= y.high]
    frame = Frame(Linear(0.5, len(values) + 0.5, whole=True), y)
    marks = goal.marks(frame)
    marks.append(tag("polyline", class_="curve", points=frame.line(*zip(*finite, strict=True)) if finite else ""))
    for m, value in enumerate(values, start=1):
        px, py = frame.at(m, value)
        marks.append(
            tag("circle", tag("title", f"fresh value {m}: {shown(value)}"), class_="chosen", cx=px, cy=py, r=2.6)
        )
    for m, bound in finite:
        px, py = frame.at(m, bound)
        marks.append(
            tag("circle", tag("title", f"certified after {m}: {shown(bound)}"), class_="dot good", cx=px, cy=py, r=2.2)
        )
    marks.append(goal.label(frame))
    return frame.picture(marks, "the certificate's bound after each fresh value", "fresh evaluations of the setting")


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
    """Mean and band of f along a parameter, with the evaluations."""
    frame = Frame(cut.scale, y, height=270.0)
    marks = goal.marks(frame)
    for each in evaluations:
        if each.value is not None and cut.name in each.params and y.low <= each.value <= y.high:
            px, py = frame.at(each.params[cut.name], each.value)
            title = tag("title", f"{each.number}: {shown(each.value)}")
            marks.append(
                tag("circle", title, class_="dot good" if goal.met(each.value) else "dot", cx=px, cy=py, r=2.2)
            )
    if isinstance(cut.scale, Choices):
        for value, mean, low, high in zip(cut.at, cut.mean, cut.low, cut.high, strict=True):
            px, py = frame.at(value, mean)
            ends = frame.at(value, low)[1], frame.at(value, high)[1]
            marks.append(tag("line", class_="bar", x1=px, x2=px, y1=ends[0], y2=ends[1]))
            marks.append(
                tag("rect", tag("title", shown(float(mean))), class_="level", x=px - 12, y=py - 1.5, width=24, height=3)
            )
    else:
        marks.append(frame.band(cut.at, cut.low, cut.high))
        marks.append(tag("polyline", class_="curve", points=frame.line(cut.at, cut.mean)))
    px, _ = frame.at(chosen, 0)
    title = tag("title", f"the setting: {shown(chosen)}")
    marks.append(tag("line", title, class_="here", x1=px, x2=px, y1=TOP, y2=frame.height - BOTTOM))
    marks.append(goal.label(frame))
    return frame.picture(marks, f"the model along {cut.name}", cut.name)


def probability_map(
    names: tuple[str, str], scales: tuple[Scale, Scale], edges: tuple[Array, Array], chances: Array,
    evaluations: Sequence[Evaluation], chosen: Mapping[str, Any],
) -> Markup:  # fmt: skip
    """The probability of being good over two parameters; `edges` are shares of the axes, `chances` has a row for each y."""
    frame = Frame(*scales, height=300.0, left=72.0)
    wide, high = frame.width - frame.left - RIGHT, frame.height - TOP - BOTTOM
    marks = []
    for row, (y0, y1) in enumerate(zip(edges[1][:-1], edges[1][1:], strict=True)):
        for column, (x0, x1) in enumerate(zip(edges[0][:-1], edges[0][1:], strict=True)):
            chance = float(chances[row, column])
            cell = {
                "x": frame.left + float(x0) * wide,
                "y": TOP + (1 - float(y1)) * high,
                "width": float(x1 - x0) * wide + 0.3,  # so that no line shows between the cells
                "height": float(y1 - y0) * high + 0.3,
            }
            marks.append(
                tag("rect", tag("title", f"{chance:.2g}"), class_="cell", fill_opacity=f"{chance:.2f}", **cell)
            )
    for each in evaluations:
        if each.value is not None and all(name in each.params for name in names):
            px, py = frame.at(each.params[names[0]], each.params[names[1]])
            marks.append(
                tag("circle", tag("title", f"{each.number}: {shown(each.value)}"), class_="seen", cx=px, cy=py, r=2.2)
            )
    px, py = frame.at(chosen[names[0]], chosen[names[1]])
    marks.append(
        tag("path", tag("title", "the setting"), class_="chosen ring", d=f"M{px:.1f} {py - 7:.1f}l7 7l-7 7l-7 -7z")
    )
    return frame.picture(marks, "probability of being good", names[0], names[1])


def parallel(
    evaluations: Sequence[Evaluation], scales: Mapping[str, Scale], goal: Goal, chosen: Mapping[str, Any] | None
) -> Markup:
    """One line an evaluation across the axes of all parameters and the value."""
    values = [each.value for each in evaluations if each.value is not None]
    axes: list[tuple[str, Scale]] = [*scales.items(), ("value", scale_around(values, [goal.target]))]
    width, height, top, bottom = max(900.0, 120.0 * len(axes)), 300.0, 30.0, 280.0
    gap = (width - 120) / (len(axes) - 1)

    def at(column: int, share: float) -> str:
        return f"{50 + column * gap:.1f},{bottom - share * (bottom - top):.1f}"

    parts = []
    ranked = [each for each in evaluations if each.value is not None and all(name in each.params for name in scales)]
    ranked.sort(key=lambda each: (each.params == chosen, each.value if goal.maximize else -(each.value or 0.0)))
    for each in ranked:
        cells = [*(each.params[name] for name in scales), each.value]
        points = " ".join(
            at(column, scale.place(cell)) for column, ((_, scale), cell) in enumerate(zip(axes, cells, strict=True))
        )
        kind = "mine" if each.params == chosen else "good" if goal.met(each.value or 0.0) else ""
        parts.append(tag("polyline", tag("title", described(each)), class_=f"way {kind}".strip(), points=points))
    for column, (name, scale) in enumerate(axes):
        px = 50 + column * gap
        parts.append(tag("line", class_="axis", x1=px, x2=px, y1=top, y2=bottom))
        parts.append(tag("text", shown(name, 16), class_="name", x=px, y=16.0, text_anchor="middle"))
        for share, text in scale.ticks(5):
            py = bottom - share * (bottom - top)
            parts.append(tag("text", text, class_="tick halo", x=px + 5, y=py + 4))
    level = bottom - axes[-1][1].place(goal.target) * (bottom - top)
    end = 50 + (len(axes) - 1) * gap
    parts.append(tag("line", class_="target", x1=end - 9, x2=end + 9, y1=level, y2=level))
    return svg(width, height, "all settings and their values", parts)
