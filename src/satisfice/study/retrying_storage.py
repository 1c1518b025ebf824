"""Optuna's storage in a database, made patient: a server may go away and come back, and no value is overwritten."""

import json
import os
import time
import weakref
from collections.abc import Callable, Container, Sequence
from datetime import datetime
from functools import wraps
from typing import Any, TypeVar

import sqlalchemy as sql
from numpy.random import default_rng
from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.storages import RDBStorage
from optuna.storages._rdb.models import TrialModel, TrialSystemAttributeModel
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.engine import URL, make_url

from satisfice.errors import SatisficeError
from satisfice.study.reading import read_trials

T = TypeVar("T")

PATIENCE = 60  # seconds that a call goes on trying when the database is away, or locked by others
LONGEST_PAUSE = 4.0  # seconds between two tries; less than a lease's period, so that an outage costs no lease


class StorageFailed(SatisficeError):
    """The database could not be read or written, even after some patience; nothing that was acknowledged is lost."""


class DurableStorage(RDBStorage):  # type: ignore[misc]
    """Optuna's storage in a database, with patience for a server that is away; a finished trial is never written again."""

    def __init__(self, url: str, engine_kwargs: dict[str, Any]) -> None:
        try:
            super().__init__(url, engine_kwargs)
        except BaseException:  # a damaged file, say
            if hasattr(self, "engine"):
                self.engine.dispose()
            raise
        weakref.finalize(self, _close, self.engine, os.getpid())

    def __setstate__(self, state: dict[Any, Any]) -> None:
        url = make_url(state["url"])
        patience = 0.0 if url.get_backend_name() == "sqlite" else PATIENCE
        patiently(lambda: RDBStorage.__setstate__(self, state), patience, url)
        weakref.finalize(self, _close, self.engine, os.getpid())

    @property
    def patience(self) -> float:
        """Seconds to go on trying; none for SQLite, which waits for locks by itself and whose other failures stay."""
        return 0.0 if self.engine.name == "sqlite" else PATIENCE

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        """Whether the state was changed; a trial that is finished already is refused, unless a lost call of ours finished it."""
        tries = 0

        def once() -> bool:
            nonlocal tries
            tries += 1
            try:
                _lock_first(self)
                return RDBStorage.set_trial_state_values(self, trial_id, state, values)
            except UpdateFinishedTrialError:
                stored = RDBStorage.get_trial(self, trial_id)
                if tries > 1 and stored.state == state and stored.values == (list(values) if values else None):
                    return True  # the connection was lost after the commit: it is our own value that is stored
                raise

        return patiently(once, self.patience, self.engine.url)

    def _get_trials(
        self,
        study_id: int,
        states: Container[TrialState] | None,
        included_trial_ids: set[int],
        trial_id_greater_than: int,
    ) -> list[FrozenTrial]:
        """The trials that Optuna's cache asks for."""

        def once() -> list[FrozenTrial]:
            with _create_scoped_session(self.scoped_session) as session:
                return read_trials(session, study_id, states, included_trial_ids, trial_id_greater_than)

        return patiently(once, self.patience, self.engine.url)


def begin_waiting(storage: RDBStorage, trial_id: int, key: str, value: dict[str, Any]) -> bool:
    """Let a waiting trial run and give it a system attribute in one step; False if somebody else was faster.

    Optuna's own call changes the state only: a worker that dies then leaves a running trial without the attribute. The value
    must be nobody else's: it tells whether a call whose answer was lost has been committed.
    """

    def once() -> bool:
        _lock_first(storage)
        with _create_scoped_session(storage.scoped_session) as session:
            trial = TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
            if trial.state == TrialState.WAITING:
                trial.state, trial.datetime_start = TrialState.RUNNING, datetime.now()
                storage._set_trial_attr_without_commit(session, TrialSystemAttributeModel, trial_id, key, value)
                return True
            stored = TrialSystemAttributeModel.find_by_trial_and_key(trial, key, session)
            return trial.state == TrialState.RUNNING and stored is not None and json.loads(stored.value_json) == value

    return patiently(once, getattr(storage, "patience", 0.0), storage.engine.url)


def _lock_first(storage: RDBStorage) -> None:
    """On SQLite, take the write lock before the state is read, so that two writers cannot both find a trial in one state."""
    if storage.engine.name == "sqlite":
        try:
            storage.scoped_session().execute(sql.text("BEGIN IMMEDIATE"))
        except sql.exc.SQLAlchemyError:
            storage.remove_session()
            raise


def _close(engine: sql.Engine, process: int) -> None:
    """Close the connections of a storage that is no longer used; a child's copy leaves those of its parent alone."""
    if os.getpid() == process:
        engine.dispose()


def _patient(method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method of a storage with its patience."""

    @wraps(method)
    def call(self: DurableStorage, *args: Any, **kwargs: Any) -> Any:
        return patiently(lambda: method(self, *args, **kwargs), self.patience, self.engine.url)

    return call


# A call whose answer was lost may have been committed, and is made again. That is harmless: attributes and parameters are
# written over by themselves, a study is found by its name, and a second new trial leaves one without an owner, whose
# lease runs out. The state of a trial is the exception, see above.
for _name in (
    *("create_new_study", "delete_study", "get_all_studies", "get_study_id_from_name", "get_study_name_from_id"),
    *("get_study_directions", "get_study_user_attrs", "get_study_system_attrs"),
    *("set_study_user_attr", "set_study_system_attr"),
    *("_create_new_trial", "get_trial", "get_trial_id_from_study_id_trial_number", "_get_best_trial_id"),
    *("_set_trial_param", "set_trial_intermediate_value", "set_trial_user_attr", "set_trial_system_attr"),
    *("get_trial_param", "get_trial_user_attrs", "get_trial_system_attrs", "record_heartbeat", "_get_stale_trial_ids"),
):
    setattr(DurableStorage, _name, _patient(getattr(RDBStorage, _name)))


def patiently(
    call: Callable[[], T],
    patience: float | Callable[[BaseException | None], float],
    url: URL,
    also: type[Exception] | tuple[()] = (),
) -> T:
    """What the call returns; while the database is away (or raises `also`) it is made again, with growing pauses.

    `patience` are the seconds to go on trying, where they depend on the problem a function of it.
    """
    begun = time.monotonic()
    pause = 0.05
    while True:
        try:
            return call()
        except (StorageInternalError, sql.exc.SQLAlchemyError) as problem:
            cause = problem.__cause__ if isinstance(problem, StorageInternalError) else problem
            if not (_is_away(cause) or isinstance(cause, also)):
                raise
            wait = pause * default_rng().uniform(0.5, 1.0)
            if time.monotonic() + wait >= begun + (patience(cause) if callable(patience) else patience):
                lines = str(getattr(cause, "orig", None) or cause).strip().splitlines() or [type(cause).__name__]
                hidden = "***"
                raise StorageFailed(f"{shown(url)}: {lines[0].replace(url.password or hidden, hidden)}") from problem
        time.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE)


def _is_away(cause: BaseException | None) -> bool:
    """Whether it was the connection that failed, rather than what was asked of it."""
    away = (sql.exc.OperationalError, sql.exc.InterfaceError, sql.exc.PendingRollbackError)
    return isinstance(cause, away) or (isinstance(cause, sql.exc.DBAPIError) and cause.connection_invalidated)


def shown(url: URL) -> str:
    """The URL for a message, without its password and its options, which may hold one."""
    return url.set(query={}).render_as_string(hide_password=True)
