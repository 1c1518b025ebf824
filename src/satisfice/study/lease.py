"""Leases: a running trial shows that its worker lives, and the trials of dead workers are given up by the living ones.

Optuna gives a trial that was asked for no sign of life. So a worker writes a counter, the beat, into its trial every period; a
trial whose beat stands still is lost. Every process measures with its own monotonic clock: the time of day plays no part.
"""

import math
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState, create_trial

from satisfice.study.durable import StorageFailed
from satisfice.study.values import as_objective
from satisfice.types import SatisficeError

LEASE = "satisfice:lease"  # the system attribute of a trial: {"owner": ..., "beat": ..., "period": ...}
ERROR = "satisfice:error"  # the system attribute of a failed trial: why
WORKER_LOST = "worker lost"
PERIOD = 10.0  # seconds between two beats
MISSED = 3  # so many periods without a beat, and the worker is dead
LONGEST_REASON = 500  # characters; an attribute may be short in a database


class LeaseLost(SatisficeError):
    """The trial was finished already: by another worker that thought this one dead, or by an earlier call. It stays as it was."""


class Lease:
    """A claim on a running trial, renewed in the background as long as the `with` block lasts; the block leaves no trial running.

    with Lease.begin(study) as lease:
        lease.tell(objective(...))

    An exception in the block, of whatever kind, fails the trial and goes on its way.
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
        """The lease of a new running trial, written together with it: a worker that dies leaves no trial without one."""
        lease = cls(study, -1, period)
        attributes = {LEASE: lease._next()} if lease._needed else {}
        trial = create_trial(state=TrialState.RUNNING, system_attrs=attributes)
        lease.trial_id = study._storage.create_new_trial(study._study_id, template_trial=trial)
        return lease

    def __enter__(self) -> Self:
        if self._needed:
            if self._beat == 0:
                self.renew()
            _HEART.take(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._needed:
            _HEART.drop(self)
        if not self._finished and not isinstance(problem, StorageFailed):  # no use in writing then: the lease runs out
            with suppress(LeaseLost, StorageFailed):
                self.fail("no value was told" if problem is None else reason_of(problem))

    def renew(self) -> None:
        """Write the next beat, unless the trial was finished here."""
        with self._turn:
            if not self._finished:
                self._write(LEASE, self._next())

    def tell(self, value: object) -> None:
        """Finish the trial with its value, which is stored when this returns; `BadValue` for what is not a finite number."""
        self._finish(TrialState.COMPLETE, [as_objective(value)])

    def fail(self, reason: str) -> None:
        """Finish the trial without a value, and store why."""
        self._write(ERROR, reason[:LONGEST_REASON])
        self._finish(TrialState.FAIL, None)

    def prune(self) -> None:
        """Finish the trial as pruned, with the last value that it reported if it did, as Optuna does."""
        trial = self.study._storage.get_trial(self.trial_id)
        last = trial.intermediate_values.get(trial.last_step, math.nan)
        self._finish(TrialState.PRUNED, [last] if math.isfinite(last) else None)

    def _finish(self, state: TrialState, values: list[float] | None) -> None:
        storage = self.study._storage
        with self._turn:
            trial = storage.get_trial(self.trial_id)
            if trial.state.is_finished():
                raise self._lost()
            try:
                self.study.sampler.after_trial(self.study, trial, state, values)
            finally:
                try:
                    storage.set_trial_state_values(self.trial_id, state, values)
                except UpdateFinishedTrialError:
                    raise self._lost() from None
                self._finished = True

    def _write(self, key: str, value: Any) -> None:
        try:
            self.study._storage.set_trial_system_attr(self.trial_id, key, value)
        except UpdateFinishedTrialError:
            raise self._lost() from None

    def _next(self) -> dict[str, Any]:
        self._beat += 1
        return {"owner": self._owner, "beat": self._beat, "period": self.period}

    def _lost(self) -> LeaseLost:
        trial = self.study._storage.get_trial(self.trial_id)
        why = trial.system_attrs.get(ERROR, "it has its value")
        return LeaseLost(f"trial {trial.number} is {trial.state.name} already ({why}); what came now was not stored")


class Look(NamedTuple):
    """What one process last saw of a running trial: its lease, when, and for how long the beat had stood still."""

    lease: Mapping[str, Any]
    at: float
    silent: float


def reclaim(study: optuna.Study, seen: dict[int, Look], now: Callable[[], float] = time.monotonic) -> list[int]:
    """The ids of the trials that were found dead and failed just now; `seen` keeps what one call saw for the next.

    Call it about once a period. A look counts for one period at most, however long ago the last one was: a frozen observer or
    a database that was away must not take the living for dead. Trials without a lease belong to others and are left alone.
    """
    if not _needs_leases(study):
        return []
    storage, time_now = study._storage, now()
    running = storage.get_all_trials(study._study_id, deepcopy=False, states=(TrialState.RUNNING,))
    for gone in seen.keys() - {trial._trial_id for trial in running}:
        del seen[gone]
    lost = []
    for trial in running:
        lease = trial.system_attrs.get(LEASE)
        if not isinstance(lease, dict):
            continue
        period = lease.get("period", PERIOD)
        last = seen.get(trial._trial_id)
        if last is None or last.lease != lease:
            seen[trial._trial_id] = Look(lease, time_now, 0.0)
            continue
        silent = last.silent + min(time_now - last.at, period)
        seen[trial._trial_id] = Look(lease, time_now, silent)
        if silent >= MISSED * period:
            with suppress(UpdateFinishedTrialError):  # its worker was faster, or another observer
                storage.set_trial_system_attr(trial._trial_id, ERROR, WORKER_LOST)
                storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
                lost.append(trial._trial_id)
    return lost


def reason_of(problem: BaseException) -> str:
    """What went wrong, in one line, even if the exception cannot say it."""
    try:
        return f"{type(problem).__name__}: {problem}".strip()
    except Exception:
        return type(problem).__name__


def _needs_leases(study: optuna.Study) -> bool:
    """Whether other processes can see the study at all."""
    return not isinstance(study._storage, InMemoryStorage)


class _Heart:
    """One thread that renews all the leases of this process."""

    def __init__(self) -> None:
        self._due: dict[Lease, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def take(self, lease: Lease) -> None:
        with self._changed:
            self._due[lease] = time.monotonic() + lease.period
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="satisfice-leases", daemon=True)
                self._thread.start()
            self._changed.notify()

    def drop(self, lease: Lease) -> None:
        with self._changed:
            self._due.pop(lease, None)

    def _run(self) -> None:
        while True:
            with self._changed:
                now = time.monotonic()
                ready = [lease for lease, due in self._due.items() if due <= now]
                if not ready:
                    self._changed.wait(min(self._due.values()) - now if self._due else None)
                    continue
                for lease in ready:
                    self._due[lease] = now + lease.period
            for lease in ready:
                try:
                    lease.renew()
                except LeaseLost:
                    self.drop(lease)  # its worker will learn of it when it tells
                except Exception:  # noqa: S110  the database is away; the next beat may reach it
                    pass


def _new_heart() -> None:
    global _HEART
    _HEART = _Heart()


_HEART = _Heart()
os.register_at_fork(after_in_child=_new_heart)  # threads do not survive a fork
