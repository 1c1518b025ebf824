"""The report: a study as one HTML file that needs nothing else and loads nothing."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import optuna
from markupsafe import Markup

from satisfice.checks import sign_of
from satisfice.errors import BadInput, NumericalFailure
from satisfice.report import plots, slices, text
from satisfice.report.files import check_path, write_file
from satisfice.report.parallel import parallel
from satisfice.report.scales import Linear, scale_around
from satisfice.study.proposal import ENDED
from satisfice.study.snapshot import Evaluation, StudyAnswer, StudySnapshot, parameter_names
from satisfice.study.snapshot import snapshot as snapshot_of

ROWS = 1_000  # of the table
DRAWN = 800  # evaluations in the history
FEW = 250  # evaluations in each of the other plots
MOST = 12  # parameters that are drawn
WIDTHS = (900.0, 420.0)  # of the pictures that are drawn twice, for a wide and for a narrow screen


@dataclass(frozen=True)
class Picture:
    """A plot with its heading, what it shows in words, and another plot for a narrow screen."""

    name: str
    kind: str
    text: str
    svg: Markup
    narrow: Markup | None = None


def write_report(
    study: optuna.Study | StudyAnswer, path: str | os.PathLike[str], *, target: float | None = None
) -> Path:
    """Write a study as one HTML page that needs nothing else.

    Parameters
    ----------
    study
        A study, or the answer of `find` or `answer_of`.
    path
        Where to write. A study is never replaced.
    target
        The value to reach; None for the target that is stored in the study.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    BadInput
        If the study has no finished trial or no target, or the file cannot be written.
    """
    found = study.study if isinstance(study, StudyAnswer) else study
    if found is None:
        raise BadInput("`study` must be a study, or an answer that has one; got an answer without a study.")
    return write(snapshot_of(found, target), path)


def write(snapshot: StudySnapshot, path: str | os.PathLike[str], resume: str | None = None) -> Path:
    """Write the report to a file.

    Parameters
    ----------
    snapshot
        The study.
    path
        Where to write. A study is never replaced; see `satisfice.report.files.write_file`.
    resume
        The command line that continues the study, shown unless a good setting has been found.

    Returns
    -------
    Path
        The path.
    """
    check_path(path)  # before the work
    return write_file(path, html(snapshot, resume).encode(errors="replace"))


def html(snapshot: StudySnapshot, resume: str | None = None) -> str:
    """Return the report as a text; the parameters are those of `write`."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["shown"] = text.shown
    evaluations = [each for each in snapshot.evaluations if each.state != "cancelled"]
    return environment.get_template("page.html").render(
        snapshot=snapshot, answer=snapshot.answer, resume=resume, text=text, goal=text.goal(snapshot.config),
        pictures=pictures(snapshot), names=parameter_names(snapshot.space, evaluations), rows=evaluations[-ROWS:],
        total=len(evaluations),
    )  # fmt: skip


def pictures(snapshot: StudySnapshot) -> list[Picture]:
    """Return all plots for which there is data.

    Parameters
    ----------
    snapshot
        The study.

    Returns
    -------
    list[Picture]
        The plots, in the order of the page.
    """
    goal = plots.Goal(snapshot.config.threshold, snapshot.config.direction == "maximize")
    seen = [each for each in snapshot.evaluations if each.state in ("history", *ENDED)]
    valued = [each for each in seen if each.value is not None]
    chosen, estimate, end = snapshot.answer.params, snapshot.answer.value, 1 - snapshot.config.confidence
    found: list[Picture] = []
    if seen:
        some, note = _some(seen, DRAWN, snapshot)
        found.append(
            Picture("Values", "history", note, *(plots.history(some, goal, chosen, estimate, w) for w in WIDTHS))
        )
    hopes = [(each.number, each.hope) for each in snapshot.evaluations if each.hope is not None]
    if hopes:
        numbers, values = zip(*hopes[:: -(-len(hopes) // DRAWN)], strict=True)
        note = (
            f"The model's probability that some setting is good. Below {text.percent(end)} the search draws settings at random, "
            "and may give up."
        )
        found.append(Picture("Hope", "hope", note, plots.hope(numbers, values, end)))
    fresh = [] if snapshot.search.deterministic else slices.fresh_values(snapshot)[:DRAWN]
    if fresh:
        note = (
            "The fresh values of the setting and the bound they certify. It is good once the bound crosses the target."
        )
        found.append(Picture("Certificate", "trace", note, plots.trace(fresh, slices.certified(snapshot, fresh), goal)))
    some, note = _some(valued, FEW, snapshot)
    if valued and (around := slices.setting(snapshot)) is not None:
        found += _model_pictures(snapshot, around, goal, some)
    scales = dict(list(slices.scales(snapshot).items())[:MOST])
    if valued and scales:
        drawn = [parallel(some, scales, goal, chosen, width) for width in WIDTHS]
        found.append(Picture("All settings", "parallel", note, *drawn))
    return found


def _model_pictures(
    snapshot: StudySnapshot, around: dict[str, Any], goal: plots.Goal, some: Sequence[Evaluation]
) -> list[Picture]:
    """Return the map over two parameters and the slices along all."""
    cuts = slices.slices(snapshot, around, MOST)
    found = []
    if len(cuts) > 1:
        names = (cuts[0].name, cuts[1].name)
        try:
            edges, chances = slices.chances(snapshot, around, names)
        except NumericalFailure:
            return []
        drawn = plots.probability_map(names, (cuts[0].scale, cuts[1].scale), edges, chances, some, around)
        note = "Over the two parameters along which the model changes most; the others are as in the setting."
        found.append(Picture("Probability of being good", "map", note, drawn))
    y = scale_around([each.value for each in some if each.value is not None], [goal.target])
    room = y.high - y.low  # for the bands
    levels = [
        level for cut in cuts for level in (*cut.low[::6], *cut.high[::6]) if y.low - room <= level <= y.high + room
    ]
    y = Linear(min([y.low, *levels]), max([y.high, *levels]))
    return found + [
        Picture(cut.name, "slice", "", plots.slice_picture(cut, y, goal, some, around[cut.name])) for cut in cuts
    ]


def _some(evaluations: Sequence[Evaluation], most: int, snapshot: StudySnapshot) -> tuple[list[Evaluation], str]:
    """Return at most so many evaluations, the best and an even part of the others, and a note if some were left out."""
    if len(evaluations) <= most:
        return list(evaluations), ""
    sign = sign_of(snapshot.config.direction)
    ranked = sorted(evaluations, key=lambda each: -np.inf if each.value is None else sign * each.value, reverse=True)
    chosen = [each for each in evaluations if each.params == snapshot.answer.params]
    kept = {each.number for each in (*ranked[: most // 4], *chosen[: most // 4])}
    rest = [each for each in evaluations if each.number not in kept]
    kept |= {rest[int(k)].number for k in np.linspace(0, len(rest) - 1, most - len(kept))}
    some = [each for each in evaluations if each.number in kept]
    return some, f"{len(some):,} of {len(evaluations):,} are drawn: the best, and an even part of the others."
