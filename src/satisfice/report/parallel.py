"""The parallel plot: all settings and their values."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from satisfice.report.plots import Goal, described
from satisfice.report.scales import Scale, scale_around
from satisfice.report.svg import svg, tag
from satisfice.report.text import shown
from satisfice.study.snapshot import Evaluation

UPRIGHT = 7  # axes that fit side by side


def parallel(
    evaluations: Sequence[Evaluation],
    scales: Mapping[str, Scale],
    goal: Goal,
    chosen: Mapping[str, Any] | None,
    width: float,
    name: str = "value",
) -> Markup:
    """Draw one line for each evaluation across the axes of all parameters and the value.

    The axes stand side by side. Where they would not fit, they lie one below the other.

    Parameters
    ----------
    evaluations
        The evaluations to draw.
    scales
        The scales of the parameters by name.
    goal
        The target.
    chosen
        The recommended setting.
    width
        The width of the picture.
    name
        What the value is called.

    Returns
    -------
    Markup
        The picture.
    """
    values = [each.value for each in evaluations if each.value is not None]
    axes: list[tuple[str, Scale]] = [*scales.items(), (name, scale_around(values, [goal.target]))]
    lying = width < 600 or len(axes) > UPRIGHT
    height = 62.0 * len(axes) if lying else 300.0

    def at(axis: int, share: float) -> tuple[float, float]:
        if lying:
            return 24 + share * (width - 48), 30 + 62.0 * axis
        return 50 + axis * (width - 120) / (len(axes) - 1), 280 - 250 * share

    def line(axis: int, shares: tuple[float, float], kind: str, across: float = 0.0) -> Markup:
        (x1, y1), (x2, y2) = (at(axis, share) for share in shares)
        dx, dy = (0.0, across) if lying else (across, 0.0)
        return tag("line", class_=kind, x1=x1 - dx, x2=x2 + dx, y1=y1 - dy, y2=y2 + dy)

    parts = []
    ranked = [each for each in evaluations if each.value is not None and all(name in each.params for name in scales)]
    ranked.sort(key=lambda each: (each.params == chosen, each.value if goal.maximize else -(each.value or 0.0)))
    for each in ranked:
        cells = [*(each.params[name] for name in scales), each.value]
        places = [at(k, scale.place(cell)) for k, ((_, scale), cell) in enumerate(zip(axes, cells, strict=True))]
        kind = "way mine" if each.params == chosen else goal.kind(each.value or 0.0).replace("dot", "way")
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
        parts.append(tag("polyline", tag("title", described(each)), class_=kind, points=points))
    for axis, (name, scale) in enumerate(axes):
        parts.append(line(axis, (0.0, 1.0), "axis"))
        x, y, anchor = (2.0, at(axis, 0)[1] - 9, None) if lying else (at(axis, 0)[0], 16.0, "middle")
        parts.append(tag("text", shown(name, 40 if lying else 16), class_="name halo", x=x, y=y, text_anchor=anchor))
        for share, text in scale.ticks(4 if width < 600 else 5):
            px, py = at(axis, share)
            x, y, anchor = (px, py + 17, "middle") if lying else (px + 5, py + 4, None)
            parts.append(tag("text", text, class_="tick halo", x=x, y=y, text_anchor=anchor))
    end = axes[-1][1].place(goal.target)
    parts.append(line(len(axes) - 1, (end, end), "target", across=9.0))
    return svg(width, height, "all settings and their values", parts)
