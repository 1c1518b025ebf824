"""The report: a study as one HTML file that needs nothing else and loads nothing."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import optuna
from markupsafe import Markup

from satisfice.errors import BadInput, NumericalFailure
from satisfice.report import plots, slices, text
from satisfice.report.files import check_path, write_file
from satisfice.report.gate import write_gate
from satisfice.report.parallel import parallel
from satisfice.report.plots import Slice
from satisfice.report.scales import Linear, scale_around
from satisfice.search.gate_answer import CertifyAnswer
from satisfice.search.joint_observations import JointObservations
from satisfice.search.observations import Observations
from satisfice.search.specification import Specification, Target
from satisfice.study.gate_replay import gate_answer_of
from satisfice.study.proposal import ENDED
from satisfice.study.snapshot import Evaluation, StudyAnswer, StudySnapshot, parameter_names, value_names
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
    goal: str | None = None


def write_report(
    study: optuna.Study | StudyAnswer | CertifyAnswer,
    path: str | os.PathLike[str],
    *,
    target: float | Target | None = None,
) -> Path:
    """Write a study as one HTML page that needs nothing else.

    Parameters
    ----------
    study
        A study, or the answer of `find`, `answer_of` or `certify`.
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
    gate = study if isinstance(study, CertifyAnswer) else None
    if isinstance(study, optuna.Study):
        gate = gate_answer_of(study)
    if gate is not None:
        return write_gate(gate, path)
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
        values=value_names(evaluations),
        total=len(evaluations),
    )  # fmt: skip


@dataclass(frozen=True)
class _View:
    """One value of the evaluations: the only one, or that of a requirement."""

    name: str  # "" for the only one
    label: str
    goal: plots.Goal  # of the values as they were told
    modelled: plots.Goal  # of what the model predicts
    estimate: float | None
    seen: Observations

    def of(self, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
        """Return the evaluations with this value."""
        if not self.name:
            return list(evaluations)
        told = [each for each in evaluations if each.values.get(self.name) is not None or not each.told]
        return [replace(each, value=each.values.get(self.name)) for each in told]


MET = "requirements met"


@dataclass(frozen=True)
class _Met(_View):
    """How many requirements an evaluation meets."""

    specification: Specification

    def of(self, evaluations: Sequence[Evaluation]) -> list[Evaluation]:
        """Return the evaluations with that number as their value."""
        return [replace(each, value=float(sum(self._met(each)))) for each in evaluations]

    def _met(self, each: Evaluation) -> list[bool]:
        values = [(one, each.values.get(one.name)) for one in self.specification]
        return [
            value is not None and (value >= one.threshold if one.sense == ">=" else value <= one.threshold)
            for one, value in values
        ]


def _views(snapshot: StudySnapshot) -> list[_View]:
    """Return a view for each requirement, one if the target is a number."""
    search, specification = snapshot.search, snapshot.search.specification
    seen = search.observations
    if specification is None:
        goal = plots.Goal(snapshot.config.threshold, snapshot.config.direction == "maximize")
        return [_View("", text.goal(snapshot.config), goal, goal, snapshot.answer.value, seen)]  # type: ignore[arg-type]
    parts = seen.parts if isinstance(seen, JointObservations) else (seen,)
    estimates = {each.requirement.name: each.value for each in snapshot.answer.requirements}
    found = []
    for requirement, part in zip(specification, parts, strict=True):
        told = plots.Goal(requirement.threshold, requirement.sense == ">=")
        modelled = plots.Goal(requirement.target, requirement.direction == "maximize")
        estimate = estimates.get(requirement.name) if told == modelled else None
        found.append(_View(requirement.name, str(requirement), told, modelled, estimate, part))
    return found


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
    views, several = _views(snapshot), len(snapshot.answer.requirements) > 1
    seen = [each for each in snapshot.evaluations if each.state in ("history", *ENDED)]
    valued = [each for each in seen if each.told]
    chosen, end = snapshot.answer.params, 1 - snapshot.config.confidence
    found: list[Picture] = []
    for view in views if seen else ():
        some, note = _some(view.of(seen), DRAWN, snapshot, view.goal)
        drawn = [plots.history(some, view.goal, chosen, view.estimate, w) for w in WIDTHS]
        found.append(Picture(view.name or "Values", "history", note, drawn[0], drawn[1], view.label))
    hopes = [(each.number, each.hope) for each in snapshot.evaluations if each.hope is not None]
    if hopes:
        numbers, values = zip(*hopes[:: -(-len(hopes) // DRAWN)], strict=True)
        note = (
            f"The model's probability that some setting is good. Below {text.percent(end)} the search draws settings at random, "
            "and may give up."
        )
        found.append(Picture("Hope", "hope", note, plots.hope(numbers, values, end)))
    for view in views:
        if fresh := [] if view.seen.deterministic else slices.fresh_values(snapshot, view.seen)[:DRAWN]:
            note = "The fresh values of the setting and the bound they certify. It is good once the bound crosses the target."
            trace = plots.trace(fresh, slices.certified(snapshot, fresh, view.seen), view.modelled)
            name = f"Certificate of {view.name}" if several else "Certificate"
            found.append(Picture(name, "trace", note, trace, goal=view.label))
    overall = _overall(snapshot, views)
    some, note = _some(overall.of(valued), FEW, snapshot, overall.goal)
    if valued and (preference := snapshot.search.preference) is not None:
        placed = [each for each in some if set(each.params) == set(snapshot.space.parameters)]
        with suppress(BadInput):  # a trial of the user's own may lie outside the space
            costs = preference.costs(np.array([snapshot.space.encode(each.params) for each in placed])).tolist()
            shape = plots.trade_off(placed, costs, overall.goal, chosen, preference.kind)
            about = f"Each evaluation by the {preference.kind} of its setting; good values lie in the shade."
            found.append(Picture("Value and preference", "tradeoff", about, shape))
    if valued and (around := slices.setting(snapshot)) is not None:
        found += _model_pictures(snapshot, around, views, some)
    scales = dict(list(slices.scales(snapshot).items())[:MOST])
    if valued and scales:
        drawn = [parallel(some, scales, overall.goal, chosen, width, overall.name or "value") for width in WIDTHS]
        found.append(Picture("All settings", "parallel", note, drawn[0], drawn[1], overall.label))
    return found


def _overall(snapshot: StudySnapshot, views: Sequence[_View]) -> _View:
    """Return the view of all settings: the only value, or how many requirements an evaluation meets."""
    specification = snapshot.search.specification
    if specification is None or len(views) == 1:
        return views[0]
    goal = plots.Goal(float(len(specification)), True)
    return _Met(MET, "all requirements", goal, goal, None, views[0].seen, specification)


def _model_pictures(
    snapshot: StudySnapshot, around: dict[str, Any], views: Sequence[_View], some: Sequence[Evaluation]
) -> list[Picture]:
    """Return the map over two parameters and the slices along all, a row of them for each requirement."""
    rows = slices.slices(snapshot, around, MOST)
    found = []
    cuts = max(rows.values(), key=len, default=[])
    if len(cuts) > 1:
        names = (cuts[0].name, cuts[1].name)
        try:
            edges, chances = slices.chances(snapshot, around, names)
        except NumericalFailure:
            return []
        drawn = plots.probability_map(names, (cuts[0].scale, cuts[1].scale), edges, chances, some, around)
        note = "Over the two parameters along which the model changes most; the others are as in the setting."
        if len(views) > 1:
            note = (
                "The probability that all requirements are met, over two parameters; the others are as in the setting."
            )
        found.append(Picture("Probability of being good", "map", note, drawn))
    for view in views:
        found += _slice_pictures(view, rows.get(view.name, []), around, view.of(some), len(views) > 1)
    return found


def _slice_pictures(
    view: _View, cuts: Sequence[Slice], around: Mapping[str, Any], some: Sequence[Evaluation], several: bool
) -> list[Picture]:
    """Return the slices of one requirement, on one scale."""
    counted = [each for each in some if each.value is not None] if view.goal == view.modelled else []
    y = scale_around([each.value for each in counted if each.value is not None], [view.modelled.target])
    room = y.high - y.low  # for the bands
    levels = [
        level for cut in cuts for level in (*cut.low[::6], *cut.high[::6]) if y.low - room <= level <= y.high + room
    ]
    y = Linear(min([y.low, *levels]), max([y.high, *levels]))
    return [
        Picture(
            f"{view.name} along {cut.name}" if several else cut.name,
            "slice",
            "",
            plots.slice_picture(cut, y, view.modelled, counted, around[cut.name]),
        )
        for cut in cuts
    ]


def _some(
    evaluations: Sequence[Evaluation], most: int, snapshot: StudySnapshot, goal: plots.Goal
) -> tuple[list[Evaluation], str]:
    """Return at most so many evaluations, the best and an even part of the others, and a note if some were left out."""
    if len(evaluations) <= most:
        return list(evaluations), ""
    sign = 1.0 if goal.maximize else -1.0
    ranked = sorted(evaluations, key=lambda each: -np.inf if each.value is None else sign * each.value, reverse=True)
    chosen = [each for each in evaluations if each.params == snapshot.answer.params]
    kept = {each.number for each in (*ranked[: most // 4], *chosen[: most // 4])}
    rest = [each for each in evaluations if each.number not in kept]
    kept |= {rest[int(k)].number for k in np.linspace(0, len(rest) - 1, most - len(kept))}
    some = [each for each in evaluations if each.number in kept]
    return some, f"{len(some):,} of {len(evaluations):,} are drawn: the best, and an even part of the others."
