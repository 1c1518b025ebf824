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
from satisfice.report import plots, slices
from satisfice.report.output import check_path, write_file
from satisfice.report.svg import scale_around, shown
from satisfice.report.text import cost, goal, headline, percent, sentences
from satisfice.study.proposal import ENDED
from satisfice.study.snapshot import Evaluation, StudySnapshot, parameter_names

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


def write(snapshot: StudySnapshot, path: str | os.PathLike[str]) -> Path:
    """Write the page to a file by `satisfice.report.output.write_file`, which never replaces a study, and return its path."""
    check_path(path)  # before the work
    return write_file(path, html(snapshot).encode(errors="replace"))


def html(snapshot: StudySnapshot) -> str:
    """The page as a text."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["shown"] = shown
    told = [each for each in snapshot.evaluations if each.state != "cancelled"]
    return environment.get_template("page.html").render(
        snapshot=snapshot,
        answer=snapshot.answer,
        headline=headline(snapshot),
        sentences=sentences(snapshot),
        goal=goal(snapshot.config),
        facts=_facts(snapshot),
        cost=cost(snapshot),
        pictures=pictures(snapshot),
        names=parameter_names(snapshot.space, told),
        rows=told[-ROWS:],
        total=len(told),
        stored=_config(snapshot),
    )


def _facts(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    """What is known of the setting, as (what, text)."""
    answer, said = snapshot.answer, []
    if answer.value is not None and answer.interval is not None:
        low, high = answer.interval
        said.append(("value", shown(answer.value)))
        if low < high:
            sure = percent(snapshot.config.confidence)
            said.append((f"with {sure} between", f"{shown(low)} and {shown(high)}, by the model"))
    if answer.probability is not None and not snapshot.search.deterministic:
        said.append(("good with probability", f"{percent(answer.probability)}, by the model"))
    return said


def _config(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    """What the study was asked to do, as (what, text)."""
    config = snapshot.config
    noise = {None: "not known in advance", "learn": "unknown, learned"}.get(config.noise)  # type: ignore[arg-type]
    stated = "none" if config.noise == 0 else f"standard deviation {shown(config.noise)}"
    said = [
        ("target", goal(snapshot.config)),
        ("confidence", percent(config.confidence)),
        ("noise", noise or stated),
        ("rule", shown(config.rule if isinstance(config.rule, str) else type(config.rule).__name__)),
        ("model", shown(config.model if isinstance(config.model, str) else type(config.model).__name__)),
        ("seed", shown(config.seed)),
    ]
    if config.value_range is not None:
        said.insert(3, ("range of values", f"{shown(config.value_range[0])} to {shown(config.value_range[1])}"))
    return said


def pictures(snapshot: StudySnapshot) -> list[Picture]:
    """All plots that there is something to draw in."""
    goal = plots.Goal(snapshot.config.target, snapshot.config.direction == "maximize")
    seen = [each for each in snapshot.evaluations if each.state in ("history", *ENDED)]
    valued = [each for each in seen if each.value is not None]
    chosen = snapshot.answer.params
    found: list[Picture] = []
    if seen:
        some, said = _some(seen, DRAWN, snapshot)
        drawn = [plots.history(some, goal, chosen, snapshot.answer.value, width) for width in (900.0, 420.0)]
        found.append(Picture("Values", "history", said, drawn[0], drawn[1]))
    hopes = [(each.number, each.hope) for each in snapshot.evaluations if each.hope is not None]
    if hopes:
        numbers, values = zip(*hopes[:: -(-len(hopes) // DRAWN)], strict=True)
        end = 1 - snapshot.config.confidence
        text = f"The model's probability that some setting is good. Below {percent(end)} the verdict is none."
        found.append(Picture("Hope", "hope", text, plots.hope(numbers, values, end)))
    fresh = [] if snapshot.search.deterministic else slices.fresh_values(snapshot)
    if fresh:
        text = "The fresh values of the setting, and what they certify after each of them: it is good once the line has crossed "
        bounds = slices.certified(snapshot, fresh[:DRAWN])
        found.append(Picture("Certificate", "trace", text + "the target.", plots.trace(fresh[:DRAWN], bounds, goal)))
    if valued and (around := slices.setting(snapshot)) is not None:
        found += _model_pictures(snapshot, around, goal, _some(valued, FEW, snapshot)[0])
    scales = dict(list(slices.scales(snapshot).items())[:MOST])
    if valued and scales:
        some, said = _some(valued, FEW, snapshot)
        found.append(Picture("All settings", "parallel", said, plots.parallel(some, scales, goal, chosen)))
    return found


def _model_pictures(
    snapshot: StudySnapshot, around: dict[str, Any], goal: plots.Goal, some: Sequence[Evaluation]
) -> list[Picture]:
    """The map over two parameters, and the slices along all."""
    cuts = slices.slices(snapshot, around, MOST)
    found = []
    if len(cuts) > 1:
        names = (cuts[0].name, cuts[1].name)
        try:
            edges, chances = slices.chances(snapshot, around, names)
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


def _some(evaluations: Sequence[Evaluation], most: int, snapshot: StudySnapshot) -> tuple[list[Evaluation], str]:
    """At most so many of the evaluations, and a sentence if some were left out: the best ones and an even part of the others."""
    if len(evaluations) <= most:
        return list(evaluations), ""
    sign = sign_of(snapshot.config.direction)
    ranked = sorted(evaluations, key=lambda each: -np.inf if each.value is None else sign * each.value, reverse=True)
    kept = {each.number for each in ranked[: most // 4]}
    kept |= {
        each.number for each in [each for each in evaluations if each.params == snapshot.answer.params][: most // 4]
    }
    rest = [each for each in evaluations if each.number not in kept]
    kept |= {rest[int(k)].number for k in np.linspace(0, len(rest) - 1, most - len(kept))}
    some = [each for each in evaluations if each.number in kept]
    return some, f"{len(some):,} of {len(evaluations):,} are drawn: the best, and an even part of the others."
