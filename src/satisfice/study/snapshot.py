"""`StudySnapshot`: what a study holds, ready to be shown."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState

from satisfice.domain.space import COLUMNS, Space
from satisfice.errors import BadInput
from satisfice.search.answer import Answer
from satisfice.search.config import SearchConfig
from satisfice.search.search import Search
from satisfice.search.specification import SENSES, Requirement, Target
from satisfice.study.config import StudyConfig
from satisfice.study.corrections import BY_HAND, CORRECTS, corrected
from satisfice.study.proposal import ENDED, HISTORY, TRACE, Proposal, State, error_of, read_text, was_cancelled
from satisfice.study.replay import StudyReplay
from satisfice.study.values import Result, check_objectives, result_of


@dataclass(frozen=True)
class Evaluation:
    """One trial of a study.

    Its state is `waiting` if a person was asked for it and has not told the result, `history` if it is a row of an earlier table,
    `cancelled` if it was given up before it had a value, and `failed`, `pruned` or `infeasible` (it broke a constraint) if it has
    no value that counts, so that the search avoids its neighbourhood.
    """

    number: int
    params: dict[str, Any]
    value: float | None
    state: State
    repeats: int | None  # the number of the evaluation whose setting was evaluated again
    hope: float | None  # the model's probability that some setting is good, when this one was proposed
    error: str | None
    seconds: float | None
    values: dict[str, Any] = field(default_factory=dict)  # those of requirements and others, by their names

    @property
    def told(self) -> bool:
        """Whether it has a value."""
        return self.value is not None or any(each is not None for each in self.values.values())


@dataclass(frozen=True, repr=False)
class StudyAnswer(Answer):
    """An answer together with the study that it judges."""

    study: optuna.Study | None = field(default=None, repr=False, compare=False)

    def table(self) -> list[dict[str, Any]]:
        """List the evaluations.

        Returns
        -------
        list of dict
            A row for each: number, the parameters by their names, value, state, repeats, hope, error, seconds. Where the target
            has requirements, a column for each of them, and for each further value, takes the place of `value`.
        """
        if self.study is None:
            return []
        _, seen = listing(self.study)
        names = dict.fromkeys(name for each in seen for name in each.params)
        return [row_of(each, names, value_names(seen)) for each in seen]

    @property
    def first_failure(self) -> str | None:
        """The first evaluation that failed: its trial, its parameters and the traceback, or why it failed; None if none did."""
        failed = [] if self.study is None else [each for each in corrected(self.study) if _has_failed(each)]
        if not failed:
            return None
        setting = ", ".join(f"{name} = {value}" for name, value in failed[0].params.items())
        trace = read_text(failed[0], TRACE) or error_of(failed[0])
        return f"trial {failed[0].number}, {setting}:\n{trace}"


def _has_failed(trial: FrozenTrial) -> bool:
    return trial.state == TrialState.FAIL and not was_cancelled(trial) and HISTORY not in trial.system_attrs


@dataclass(frozen=True)
class StudySnapshot:
    """A study at one moment."""

    name: str
    config: StudyConfig
    space: Space
    evaluations: tuple[Evaluation, ...]
    answer: StudyAnswer
    search: Search


@dataclass(frozen=True)
class Begun:
    """A study of which no trial has ended yet: what is known of it. `config` is None in its first moments."""

    config: StudyConfig | None
    space: Space | None
    evaluations: tuple[Evaluation, ...]
    answer: Answer


def begun(study: optuna.Study) -> Begun | None:
    """Look at a study of which no trial has ended yet; None afterwards."""
    if any(trial.state.is_finished() for trial in corrected(study)):
        return None
    config = StudyConfig.of(study)
    listed = evaluations(study, StudyReplay(config or StudyConfig(0.0)))  # all of them are running
    return Begun(config, None if config is None else config.space, listed, Answer("open"))


def snapshot(study: optuna.Study, target: float | Target | None = None) -> StudySnapshot:
    """Look at a study, by the config stored in it; at any study, if a target is given."""
    return snapshot_of(study, follow(study, target))


def snapshot_of(study: optuna.Study, replay: StudyReplay) -> StudySnapshot:
    """Look at a study through a replay that is up to date."""
    if replay.space is None or replay.search is None:
        raise BadInput(
            f"The study {study.study_name!r} has no finished trial with a parameter that can be searched. Let it run first."
        )
    listed = evaluations(study, replay)
    answer = study_answer(study, replay)
    return StudySnapshot(study.study_name, replay.config, replay.space, listed, answer, replay.search)


def follow(study: optuna.Study, target: float | Target | None = None) -> StudyReplay:
    """Replay the whole study."""
    config = StudyConfig.of(study)
    if target is not None:
        config = with_target(study, config, target)
    if config is None:
        raise BadInput(
            f"`target` must be given for the study {study.study_name!r}, which satisfice did not make: from Python, pass "
            "`target` to `answer_of`."
        )
    check_objectives(study, config)
    replay = StudyReplay(config)
    replay.catch_up(study)
    return replay


def with_target(study: optuna.Study, config: StudyConfig | None, target: float | Target) -> StudyConfig:
    """The config of a study with another target: a number, or requirements, which have noises of their own."""
    if isinstance(target, int | float):
        if config is None or config.specification is not None:
            check_objectives(study, SearchConfig(target))
            return StudyConfig(target, study.direction.name.lower(), space=None if config is None else config.space)
        return replace(config, target=target)
    if config is None:
        return StudyConfig(target)
    return replace(config, target=target, direction="maximize", noise=None, value_range=None)


def study_answer(study: optuna.Study, replay: StudyReplay) -> StudyAnswer:
    """The answer of a replay together with the study."""
    return StudyAnswer(**replay.answer().__dict__, study=study)


def answer_of(study: optuna.Study, target: float | Target | None = None) -> StudyAnswer:
    """Judge a study by all trials that have finished.

    Parameters
    ----------
    study
        A study made by any sampler.
    target
        The value to reach, or a requirement for each objective, in their order; None for the target that is stored in the study.

    Returns
    -------
    StudyAnswer
        The best setting, the verdict, and how sure it is.

    Raises
    ------
    BadInput
        If the target does not fit the objectives of the study, or none is known.

    Examples
    --------
    >>> study = optuna.create_study(direction="maximize")
    >>> study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=20)
    >>> answer_of(study, target=2.0).verdict
    'open'
    """
    return study_answer(study, follow(study, target))


def listing(study: optuna.Study) -> tuple[Space | None, tuple[Evaluation, ...]]:
    """The space, if it is known, and the evaluations of any study of one objective."""
    target: float | Target = 0.0  # it makes no difference here
    if len(study.directions) > 1:
        names = study.metric_names or [f"value_{number}" for number in range(len(study.directions))]
        senses = [SENSES[">=" if each.name == "MAXIMIZE" else "<="] for each in study.directions]
        target = [Requirement(name, sense, 0.0) for name, sense in zip(names, senses, strict=True)]
    replay = follow(study, None if StudyConfig.of(study) else target)
    return replay.space, evaluations(study, replay)


def evaluations(study: optuna.Study, replay: StudyReplay) -> tuple[Evaluation, ...]:
    """All trials of the study that have been started, in the order of their numbers."""
    shown = (
        each for each in corrected(study) if each.state != TrialState.WAITING and CORRECTS not in each.system_attrs
    )
    return tuple(_evaluation(trial, replay) for trial in shown)


def _evaluation(trial: FrozenTrial, replay: StudyReplay) -> Evaluation:
    state = replay.states.get(trial.number, "waiting" if BY_HAND in trial.system_attrs else "running")
    mark = Proposal.of(trial)
    lasted = trial.duration if state in ENDED else None
    result = result_of(replay.config, trial.values) if state in ("complete", "history") else None
    return Evaluation(
        number=trial.number,
        params=dict(trial.params),
        value=_single(result, replay.config),
        state=state,
        repeats=None if mark is None else mark.repeats,
        hope=None if mark is None else mark.hope,
        error=error_of(trial) if state in ("failed", "infeasible") else None,
        seconds=None if lasted is None else max(lasted.total_seconds(), 0.0),  # a clock may have been set back
        values=_values(trial, replay.config, result),
    )


def _single(result: Result | None, config: StudyConfig) -> float | None:
    """The value of an evaluation, where it has one only."""
    if isinstance(result, dict):
        return (
            next(iter(result.values())) if config.specification is not None and len(config.specification) == 1 else None
        )
    return result


def _values(trial: FrozenTrial, config: StudyConfig, result: Result | None) -> dict[str, Any]:
    """The values of the requirements, None where there are none, and the others that came with them; nothing for a number."""
    if config.specification is None:
        return {}
    found: dict[str, Any] = dict.fromkeys(config.specification.names)
    others = {key: each for key, each in trial.user_attrs.items() if not key.startswith("satisfice:")}
    taken = {*COLUMNS, *trial.params, *found}
    more = {f"values_{key}" if key in taken else key: each for key, each in others.items()}
    return {**found, **(result if isinstance(result, dict) else {}), **more}


def parameter_names(space: Space | None, evaluations: Iterable[Evaluation]) -> list[str]:
    """The names of all parameters: those of the space in their order, then what else the evaluations have."""
    names = [] if space is None else list(space.parameters)
    return names + sorted({name for each in evaluations for name in each.params} - set(names))


def column_of(name: str) -> str:
    """The column of a parameter in a table; a study that Optuna made may have one with the name of another column."""
    return f"params_{name}" if name in COLUMNS else name


def value_names(evaluations: Iterable[Evaluation]) -> list[str]:
    """The columns of the values: "value", or the names of the requirements and of what came with them."""
    return list(dict.fromkeys(name for each in evaluations for name in each.values)) or ["value"]


def row_of(each: Evaluation, names: Iterable[str], values: Iterable[str] = ("value",)) -> dict[str, Any]:
    """An evaluation as a row of a table: its number, the parameters (None where it has no such), then the other columns."""
    params = {column_of(name): each.params.get(name) for name in names}
    told = {name: each.values.get(name) if each.values else each.value for name in values}
    return {"number": each.number, **params, **told, **{name: getattr(each, name) for name in COLUMNS[2:]}}
