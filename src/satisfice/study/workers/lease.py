"""Leases: a running trial shows that its worker lives, and living workers cancel the trials of dead ones.

In Optuna, a trial that was asked for shows no sign of life. So a worker writes a counter, the beat, into its trial every
period; a trial whose beat stands still is lost. Every process measures with its own monotonic clock, never with the time of day.
"""

import math
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from satisfice.checks import as_objective
from satisfice.errors import LeaseLost, StorageFailed
from satisfice.study import _optuna
from satisfice.study.corrections import BY_HAND
from satisfice.study.proposal import CANCELLED, ERROR, TRACE, WORKER_LOST, write_text
from satisfice.study.workers import heart
from satisfice.study.workers.traces import reason_of

LEASE = "satisfice:lease"  # the system attribute of a trial: {"owner": ..., "beat": ..., "period": ...}
DOUBTED = "satisfice:doubted"  # the system attribute of a trial whose worker may be dead: at which beat
PERIOD = 10.0  # seconds between two beats
MISSED = 3  # so many periods without a beat, and the worker is dead
LONGEST_REASON = 500  # characters; an attribute may be short in a database


class Lease:
    """A claim on a running trial, renewed in the background as long as the `with` block lasts; the block leaves no trial running.

    An exception in the block, of whatever kind, fails the trial and propagates.

    Examples
    --------
    with Lease.begin(study) as lease:
        lease.tell(objective(...))
    """

    def __init__(self, study: optuna.Study, trial_id: int, period: float = PERIOD) -> None:
        self.study = study
        self.trial_id = trial_id
        self.period = period
        self._owner = str(uuid.uuid4())
        self._beat = 0  # the last one that was written
        self._needed = _needs_leases(study)
        self._finished = False
        self._turn = threading.Lock()  # between the beats and the end: a finished trial is not written again

    @classmethod
    def begin(cls, study: optuna.Study, period: float = PERIOD) -> Self:
        """Begin a trial together with its lease: a worker that dies leaves no trial without one."""
        lease = cls(study, -1, period)
        attributes = {LEASE: lease._next()} if lease._needed else {}
        trial = create_trial(state=TrialState.RUNNING, system_attrs=attributes)
        lease.trial_id = _optuna.create_running(study, trial)
        return lease

    @classmethod
    def pop(cls, study: optuna.Study, period: float = PERIOD) -> Self | None:
        """Take a trial from the queue, None if none waits; in a database, it is taken and leased in one step."""
        for trial in _optuna.trials_of(study, TrialState.WAITING):
            lease = cls(study, _optuna.id_of(trial), period)
            with suppress(UpdateFinishedTrialError):  # another worker was faster
                if _optuna.begin_waiting(study, lease.trial_id, LEASE, lease._next() if lease._needed else None):
                    return lease
        return None

    def __enter__(self) -> Self:
        if self._needed:
            if self._beat == 0:
                self.renew()
            heart.HEART.take(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._needed:
            heart.HEART.drop(self)
        if not self._finished and not isinstance(problem, StorageFailed):  # no use in writing then: the lease runs out
            with suppress(LeaseLost, StorageFailed):
                self.fail("no value was told" if problem is None else reason_of(problem))

    def renew(self) -> bool:
        """Write the next beat; False if the trial is finished."""
        with self._turn, suppress(LeaseLost):
            if not self._finished:
                self._write(LEASE, self._next())
                return True
        return False

    def shared(self, number: int) -> dict[str, Any]:
        """What a companion needs to renew the lease under that number; its beats differ from all others."""
        lease = {"owner": f"{self._owner} {number}", "beat": self._beat, "period": self.period}
        return {"trial": self.trial_id, **lease}

    def tell(self, value: object) -> None:
        """Finish the trial with its value, which is stored when this returns; `BadValue` for what is not a finite number."""
        self.tell_all([as_objective(value)], {})

    def tell_all(self, values: list[float], others: Mapping[str, Any]) -> None:
        """Finish the trial with the values of its objectives and, as user attributes, further ones."""
        for name, each in others.items():
            try:
                _optuna.set_user_attribute(self.study, self.trial_id, name, each)
            except UpdateFinishedTrialError:
                raise self._lost() from None
        self._finish(TrialState.COMPLETE, values)

    def fail(self, reason: str, trace: str = "") -> None:
        """Finish the trial without a value, and store why, and where if that is known."""
        with self.refused_if_finished():
            write_text(self.study, self.trial_id, TRACE, trace)
        self._write(ERROR, reason[:LONGEST_REASON])
        self._finish(TrialState.FAIL, None)

    def check(self) -> None:
        """Raise LeaseLost if the trial was finished by others; if the database is away, nothing is known."""
        with suppress(StorageFailed):
            if not self._finished and _optuna.trial_of(self.study, self.trial_id).state.is_finished():
                raise self._lost()

    def hand_over(self, by: str, key: str = "") -> None:
        """Leave the trial to a person: from now on nobody renews its lease, and nobody takes that for a death."""
        with self._turn:
            self._write(BY_HAND, {"by": by, "key": key} if key else {"by": by})
            self._finished = True

    def prune(self) -> None:
        """Finish the trial as pruned, with the last value that it reported if it did, as Optuna does."""
        trial = _optuna.trial_of(self.study, self.trial_id)
        last = trial.intermediate_values.get(trial.last_step, math.nan)
        self._finish(TrialState.PRUNED, [last] if math.isfinite(last) else None)

    def _finish(self, state: TrialState, values: list[float] | None) -> None:
        with self._turn:
            trial = _optuna.trial_of(self.study, self.trial_id)
            if trial.state.is_finished():
                raise self._lost()
            try:
                self.study.sampler.after_trial(self.study, trial, state, values)
            finally:
                try:
                    _optuna.set_state(self.study, self.trial_id, state, values)
                except UpdateFinishedTrialError:
                    raise self._lost() from None
                self._finished = True

    def _write(self, key: str, value: Any) -> None:
        with self.refused_if_finished():
            _optuna.set_attribute(self.study, self.trial_id, key, value)

    @contextmanager
    def refused_if_finished(self) -> Iterator[None]:
        """Within this context, LeaseLost is raised if somebody else has finished the trial."""
        try:
            yield
        except UpdateFinishedTrialError:
            raise self._lost() from None

    def _next(self) -> dict[str, Any]:
        self._beat += 1
        return {"owner": self._owner, "beat": self._beat, "period": self.period}

    def _lost(self) -> LeaseLost:
        trial = _optuna.trial_of(self.study, self.trial_id)
        known = (trial.system_attrs.get(key) for key in (CANCELLED, ERROR))
        why = next((each for each in known if each), "it has its value")
        return LeaseLost(f"Trial {trial.number} is {trial.state.name} already ({why}); the new result was not stored.")


def lease_of(trial: FrozenTrial) -> dict[str, Any] | None:
    """The lease of a running trial; None if it has none, since it belongs to others or was handed over to a person."""
    lease = trial.system_attrs.get(LEASE)
    return lease if isinstance(lease, dict) and BY_HAND not in trial.system_attrs else None


class Look(NamedTuple):
    """What one process last saw of a running trial: its lease, when, and for how long the beat had stood still."""

    lease: Mapping[str, Any]
    at: float
    silent: float
    doubted: float | None = None  # since when the trial says that its worker may be dead


def reclaim(study: optuna.Study, seen: dict[int, Look], now: Callable[[], float] = time.monotonic) -> list[int]:
    """Fail the trials of dead workers, and return their ids; `seen` keeps what one call saw for the next.

    Call it about once a period. A look counts for one period at most, however long ago the last one was: a frozen observer or
    a database that was away must not take the living for dead. Nor must one that was locked: a period before the end a note
    is written into the trial, and when that has come through, so can a beat. Trials without a lease belong to others and are
    left alone.
    """
    if not _needs_leases(study):
        return []
    time_now, lost = now(), []
    running = {_optuna.id_of(trial): trial for trial in _optuna.trials_of(study, TrialState.RUNNING)}
    for gone in seen.keys() - running.keys():
        del seen[gone]
    for trial_id, trial in running.items():
        lease = lease_of(trial)
        if lease is None:
            continue
        period = lease.get("period", PERIOD)
        last = seen.get(trial_id)
        if last is None or last.lease != lease:
            seen[trial_id] = Look(lease, time_now, 0.0)
            continue
        silent, doubted = last.silent + min(time_now - last.at, period), last.doubted
        with suppress(UpdateFinishedTrialError):  # its worker was faster, or another observer
            if doubted is None and silent >= (MISSED - 1) * period:
                _optuna.set_attribute(study, trial_id, DOUBTED, lease.get("beat"))
                doubted = now()
            elif doubted is not None and silent >= MISSED * period and time_now - doubted >= period / 2:
                _optuna.set_attribute(study, trial_id, ERROR, WORKER_LOST)
                _optuna.set_state(study, trial_id, TrialState.FAIL)
                lost.append(trial_id)
        seen[trial_id] = Look(lease, time_now, silent, doubted)
    return lost


def _needs_leases(study: optuna.Study) -> bool:
    """Whether other processes can see the study at all."""
    return not isinstance(_optuna.backend_of(study), InMemoryStorage)
