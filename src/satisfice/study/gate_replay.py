"""`GateReplay`: the runs of a stored gate, told to a `Gate` in the order in which they began."""

import threading
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import FrozenTrial, TrialState

from satisfice.errors import BadInput
from satisfice.search.gate_answer import CertifyAnswer
from satisfice.search.gate_config import GateConfig
from satisfice.study.proposal import CANCELLED, ERROR, WORKER_LOST, error_of

GATE = "satisfice:gate"  # the user attribute of a study: the config of its gate as JSON
VALUES = "satisfice:values"  # the user attribute of a trial: the values by name, or those of a pair
FAILED = "satisfice:failed"  # the user attribute of a trial that counts as a fail since it gave no value: why


def store(config: GateConfig, study: optuna.Study) -> None:
    """Store the config in the study, unless it is there already."""
    text = config.to_json()
    if study.user_attrs.get(GATE) != text:
        study.set_user_attr(GATE, text)


def stored(study: optuna.Study) -> GateConfig | None:
    """The config that is stored in the study, None if there is none."""
    text = study.user_attrs.get(GATE)
    return None if text is None else GateConfig.from_json(text)


class GateReplay:
    """A gate that follows a study. A run counts once all runs that began before it have ended.

    The slow runs may be the bad ones: values that were taken as they come in would be a selection.
    """

    def __init__(self, config: GateConfig) -> None:
        self.config = config
        self._gate = config.gate()
        self._told = 0  # so many trials, from the first one on, have been told
        self._made: list[int] = []  # the numbers of those that were runs,
        self._errors: list[tuple[int, str]] = []  # and of those without a value, with the reasons
        self._others: list[FrozenTrial] = []  # the trials from the first one that still runs on
        self._lost = 0
        self._study: optuna.Study | None = None
        self.queued = False

    def catch_up(self, study: optuna.Study) -> None:
        """Tell the gate of the trials that have ended since the last time."""
        self._study = study
        self._others = study.get_trials(deepcopy=False)[self._told :]
        while self._others and self._others[0].state.is_finished():
            self._tell(self._others.pop(0))
            self._told += 1
        self.queued = any(trial.state == TrialState.WAITING for trial in self._others)

    def _tell(self, trial: FrozenTrial) -> None:
        if _is_cancelled(trial):
            self._lost += trial.system_attrs.get(ERROR) == WORKER_LOST
            return
        self._made.append(trial.number)
        if trial.state != TrialState.COMPLETE:
            self._errors.append((trial.number, error_of(trial)))
        if _failure(trial) is not None:
            self._gate.fail(_failure(trial) or "")
        else:
            names = self.config.specification.names
            values = trial.user_attrs.get(VALUES, {}) if len(names) > 1 else {names[0]: trial.value}
            if all(name in values for name in names):
                self._gate.tell(values)
            else:
                self._gate.fail("a value is missing")

    @property
    def ended(self) -> str | None:
        """Why no further run would help, None if one may."""
        return self._gate.ended

    def answer(self, *, brief: bool = True) -> CertifyAnswer:
        """What is known now; see `Gate.answer`."""
        notes = [f"runs whose worker was lost, and that do not count: {self._lost}"] if self._lost else []
        return self._gate.answer(study=self._study, notes=tuple(notes), brief=brief)

    @property
    def endings(self) -> int:
        """How many runs have ended."""
        return len(self._made) + len(self._ended())

    def _ended(self) -> list[FrozenTrial]:
        """The trials of runs that have ended after one that still runs."""
        return [each for each in self._others if each.state.is_finished() and not _is_cancelled(each)]

    @property
    def running(self) -> list[FrozenTrial]:
        """The trials that are running."""
        return [each for each in self._others if each.state == TrialState.RUNNING]

    def spent(self, before: int | None = None) -> int:
        """The number of runs that were made or are being made; with `before`, of trials before that one."""
        others = [*self._ended(), *self.running]
        if before is None:
            return len(self._made) + len(others)
        return bisect_left(self._made, before) + sum(each.number < before for each in others)

    def errors(self, since: int = 0) -> tuple[int, list[str]]:
        """The number of runs that ended since trial number `since`, and the errors of those without a value."""
        ended = [each for each in self._ended() if each.number >= since]
        errors = [error for number, error in self._errors if number >= since]
        errors += [error_of(each) for each in ended if each.state != TrialState.COMPLETE]
        return len(self._made) - bisect_left(self._made, since) + len(ended), errors


def _is_cancelled(trial: FrozenTrial) -> bool:
    return CANCELLED in trial.system_attrs or trial.system_attrs.get(ERROR) == WORKER_LOST


def _failure(trial: FrozenTrial) -> str | None:
    """Why a run gave no value, None if it gave one."""
    if trial.state != TrialState.COMPLETE:
        return error_of(trial)
    reason = trial.user_attrs.get(FAILED)
    return None if reason is None else str(reason)


class GateSampler(BaseSampler):  # type: ignore[misc]
    """Proposes nothing: a gate has one setting. It keeps the replay of the study."""

    def __init__(self, config: GateConfig) -> None:
        self.config = config
        self._lock = threading.RLock()
        self._replay = GateReplay(config)

    @contextmanager
    def replaying(self, study: optuna.Study, *, read: bool = True) -> Iterator[GateReplay]:
        """Give the replay of the study to one thread at a time, up to date unless `read` is False."""
        with self._lock:
            if read:
                self._replay.catch_up(study)
            yield self._replay

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return no parameters."""
        return {}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return no parameters."""
        return {}

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Refuse: the setting is given."""
        raise BadInput("A gate has one setting, and no parameters to suggest.")


def gate_answer_of(study: optuna.Study) -> CertifyAnswer | None:
    """Judge the runs of a stored gate; None if the study is none.

    Parameters
    ----------
    study
        A study that `certify` made.

    Returns
    -------
    CertifyAnswer or None
    """
    config = stored(study)
    if config is None:
        return None
    replay = GateReplay(config)
    replay.catch_up(study)
    return replay.answer(brief=False)
