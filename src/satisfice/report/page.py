"""The report: a study as one HTML file that needs nothing else and loads nothing."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from satisfice.checks import sign_of
from satisfice.errors import NumericalFailure
from satisfice.report import model, plots, words
from satisfice.report.axes import scale_around, shown
from satisfice.report.output import check_path, write_file
from satisfice.study.mark import ENDED
from satisfice.study.view import Evaluation, View, parameter_names

ROWS = 1_000  # of the table
DRAWN = 800  # evaluations in the history
FEW = 250  # evaluations in each of the other plots
MOST = 12  # parameters that are drawn


@dataclass(frozen=True)
class Picture:
    """A plot with its heading, what it shows in words, and what to know when reading it."""

    name: str
    kind: str
    text: str
    svg: Markup
    narrow: Markup | None = None  # another one for a narrow screen


def write(view: View, path: str | os.PathLike[str]) -> Path:
    """Write the page to a file by `satisfice.report.output.write_file`, which never replaces a study, and return its path."""
    check_path(path)  # before the work
    return write_file(path, html(view).encode(errors="replace"))


def html(view: View) -> str:
    """The page as a text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["shown"] = shown
    told = [each for each in view.evaluations if each.state != "cancelled"]
    return environment.get_template("page.html").render(
        view=view,
        answer=view.answer,
        headline=words.headline(view),
        sentences=words.sentences(view),
        goal=words.goal(view.settings),
        facts=_facts(view),
        cost=words.cost(view),
        pictures=pictures(view),
        names=parameter_names(view.space, told),
        rows=told[-ROWS:],
        total=len(told),
        stored=_settings(view),
    )


def _facts(view: View) -> list[tuple[str, str]]:
    """What is known of the setting, as (what, text)."""
    answer, said = view.answer, []
    if answer.value is not None and answer.interval is not None:
        low, high = answer.interval
        said.append(("value", shown(answer.value)))
        if low < high:
            sure = words.percent(view.settings.confidence)
            said.append((f"with {sure} between", f"{shown(low)} and {shown(high)}, by the model"))
    if answer.probability is not None and not view.search.deterministic:
        said.append(("good with probability", f"{words.percent(answer.probability)}, by the model"))
    return said


def _settings(view: View) -> list[tuple[str, str]]:
    """What the study was asked to do, as (what, text)."""
    settings = view.settings
    noise = {None: "not known in advance", "learn": "unknown, learned"}.get(settings.noise)  # type: ignore[arg-type]
    stated = "none" if settings.noise == 0 else f"standard deviation {shown(settings.noise)}"
    said = [
        ("target", words.goal(view.settings)),
        ("confidence", words.percent(settings.confidence)),
        ("noise", noise or stated),
        ("rule", shown(settings.rule if isinstance(settings.rule, str) else type(settings.rule).__name__)),
        ("model", shown(settings.model if isinstance(settings.model, str) else type(settings.model).__name__)),
        ("seed", shown(settings.seed)),
    ]
    if settings.value_range is not None:
        said.insert(3, ("range of values", f"{shown(settings.value_range[0])} to {shown(settings.value_range[1])}"))
    return said


def pictures(view: View) -> list[Picture]:
    """All plots that there is something to draw in."""
    goal = plots.Goal(view.settings.target, view.settings.direction == "maximize")
    seen = [each for each in view.evaluations if each.state in ("history", *ENDED)]
    valued = [each for each in seen if each.value is not None]
    chosen = view.answer.params
    found: list[Picture] = []
    if seen:
        some, said = _some(seen, DRAWN, view)
        drawn = [plots.history(some, goal, chosen, view.answer.value, width) for width in (900.0, 420.0)]
        found.append(Picture("Values", "history", said, drawn[0], drawn[1]))
    hopes = [(each.number, each.hope) for each in view.evaluations if each.hope is not None]
    if hopes:
        numbers, values = zip(*hopes[:: -(-len(hopes) // DRAWN)], strict=True)
        end = 1 - view.settings.confidence
        text = f"The model's probability that some setting is good. Below {words.percent(end)} the verdict is none."
        found.append(Picture("Hope", "hope", text, plots.hope(numbers, values, end)))
    fresh = [] if view.search.deterministic else model.fresh_values(view)
    if fresh:
        text = "The fresh values of the setting, and what they certify after each of them: it is good once the line has crossed "
        bounds = model.certified(view, fresh[:DRAWN])
        found.append(Picture("Certificate", "trace", text + "the target.", plots.trace(fresh[:DRAWN], bounds, goal)))
    if valued and (around := model.setting(view)) is not None:
        found += _model_pictures(view, around, goal, _some(valued, FEW, view)[0])
    scales = dict(list(model.scales(view).items())[:MOST])
    if valued and scales:
        some, said = _some(valued, FEW, view)
        found.append(Picture("All settings", "parallel", said, plots.parallel(some, scales, goal, chosen)))
    return found


def _model_pictures(view: View, around: dict[str, Any], goal: plots.Goal, some: Sequence[Evaluation]) -> list[Picture]:
    """The map over two parameters, and the slices along all."""
    cuts = model.slices(view, around, MOST)
    found = []
    if len(cuts) > 1:
        names = (cuts[0].name, cuts[1].name)
        try:
            edges, chances = model.chances(view, around, names)
        except NumericalFailure:
            return []
        drawn = plots.probability_map(names, (cuts[0].scale, cuts[1].scale), edges, chances, some, around)
        text = "Over the two parameters along which the model changes most; the others are as in the setting."
        found.append(Picture("Probability of being good", "map", text, drawn))
    levels = [level for cut in cuts for level in (*cut.low[::6], *cut.high[::6])]
    values = [each.value for each in some if each.value is not None]
    y = scale_around([*levels, *values], [goal.target, *(float(np.max(cut.mean)) for cut in cuts)])
    for cut in cuts:
        drawn = plots.slice_picture(cut, y, goal, some, around[cut.name])
        found.append(Picture(cut.name, "slice", "", drawn))
    return found


def _some(evaluations: Sequence[Evaluation], most: int, view: View) -> tuple[list[Evaluation], str]:
    """At most so many of the evaluations, and a sentence if some were left out: the best ones and an even part of the others."""
    if len(evaluations) <= most:
        return list(evaluations), ""
    sign = sign_of(view.settings.direction)
    ranked = sorted(evaluations, key=lambda each: -np.inf if each.value is None else sign * each.value, reverse=True)
    kept = {each.number for each in ranked[: most // 4]}
    kept |= {each.number for each in [each for each in evaluations if each.params == view.answer.params][: most // 4]}
    rest = [each for each in evaluations if each.number not in kept]
    kept |= {rest[int(k)].number for k in np.linspace(0, len(rest) - 1, most - len(kept))}
    some = [each for each in evaluations if each.number in kept]
    return some, f"{len(some):,} of {len(evaluations):,} are drawn: the best, and an even part of the others."
