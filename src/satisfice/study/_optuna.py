"""The one file that touches what Optuna keeps private.

Optuna gives no public access to a study's storage, to the id of a trial or to the flag that stops a study. Its tables are
read and written here where its own calls are too slow or leave a gap. Everything else in this package goes through these
functions, so a new version of Optuna is met here.
"""

import json
import os
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from datetime import UTC, datetime
from functools import lru_cache, wraps
from typing import Any

import optuna
import sqlalchemy as sql
from optuna.distributions import BaseDistribution, json_to_distribution
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage, RDBStorage
from optuna.storages._rdb import models
from optuna.storages._rdb.storage import _create_scoped_session
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from satisfice.study.workers import retry
from satisfice.study.workers.retry import patiently

IDS_AT_ONCE = 500  # in one IN (...): databases limit its length
Trial = models.TrialModel


def backend_of(study: optuna.Study) -> BaseStorage:
    """The storage that holds the study, without the cache that Optuna puts in front of it."""
    return getattr(study._storage, "_backend", study._storage)


def same_study(one: optuna.Study, other: optuna.Study) -> bool:
    """Whether two handles are those of one study in one storage."""
    return one._storage is other._storage and one._study_id == other._study_id


def id_of(trial: FrozenTrial) -> int:
    """The id of a trial, which is unique in its storage; its number is unique in its study."""
    return int(trial._trial_id)


def trial_of(study: optuna.Study, trial_id: int) -> FrozenTrial:
    """The trial with that id as it is stored now."""
    return study._storage.get_trial(trial_id)


def trials_of(study: optuna.Study, state: TrialState) -> list[FrozenTrial]:
    """The trials in that state, not to be changed."""
    return list(study._storage.get_all_trials(study._study_id, deepcopy=False, states=(state,)))


class _Fewer(optuna.Study):  # type: ignore[misc]
    """A view of a study that leaves some trials out."""

    hidden: Callable[[FrozenTrial], bool]

    def _get_trials(self, *given: Any, **options: Any) -> list[FrozenTrial]:
        return [trial for trial in super()._get_trials(*given, **options) if not self.hidden(trial)]


def study_without(study: optuna.Study, hidden: Callable[[FrozenTrial], bool]) -> optuna.Study:
    """A view of the study, for whoever reads its trials, without those that are to be hidden."""
    view = copy(study)
    view.__class__ = _Fewer
    view.hidden = hidden
    return view


def create_running(study: optuna.Study, template: FrozenTrial) -> int:
    """Create a trial as the template has it; its id."""
    return int(study._storage.create_new_trial(study._study_id, template_trial=template))


def set_attribute(study: optuna.Study, trial_id: int, key: str, value: Any) -> None:
    """Write a system attribute of a trial; UpdateFinishedTrialError if the trial has finished."""
    study._storage.set_trial_system_attr(trial_id, key, value)


def set_state(study: optuna.Study, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
    """Whether the state was changed; UpdateFinishedTrialError if the trial has finished."""
    return bool(study._storage.set_trial_state_values(trial_id, state, values))


def set_user_attribute(study: optuna.Study, trial_id: int, key: str, value: Any) -> None:
    """Write a user attribute of a trial; UpdateFinishedTrialError if the trial has finished."""
    study._storage.set_trial_user_attr(trial_id, key, value)


def name_objectives(study: optuna.Study, names: list[str]) -> None:
    """Give the objectives names, which Optuna's dashboard shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.set_metric_names(names)


def suggest(trial: optuna.Trial, distributions: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """Give the trial its parameters; these by their names."""
    return {name: trial._suggest(name, distribution) for name, distribution in distributions.items()}


def contains(distribution: BaseDistribution, value: Any) -> bool:
    """Whether a parameter of that distribution may have the value."""
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (ValueError, TypeError):
        return False


def was_stopped(study: optuna.Study) -> bool:
    """Whether `study.stop()` was called."""
    return bool(study._stop_flag)


@contextmanager
def stoppable(study: optuna.Study) -> Iterator[None]:
    """Within this context, callbacks in this thread may call `study.stop()`."""
    study._thread_local.in_optimize_loop = True
    try:
        yield
    finally:
        study._thread_local.in_optimize_loop = False


def start(study: optuna.Study) -> None:
    """Forget that the study was stopped before."""
    study._stop_flag = False


class RetryingStorage(RDBStorage):  # type: ignore[misc]
    """Optuna's storage in a database, which tries again while the server is away; a finished trial is never written again."""

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
        patience = 0.0 if url.get_backend_name() == "sqlite" else retry.PATIENCE
        patiently(lambda: RDBStorage.__setstate__(self, state), patience, url)
        weakref.finalize(self, _close, self.engine, os.getpid())

    @property
    def patience(self) -> float:
        """Seconds to go on trying; none for SQLite, which waits for locks by itself and whose other failures stay."""
        return 0.0 if self.engine.name == "sqlite" else retry.PATIENCE

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
        included_trial_ids: Iterable[int],
        trial_id_greater_than: int,
    ) -> list[FrozenTrial]:
        """Read the trials that have one of the included ids or a greater id, ordered by id, as Optuna's cache asks for them."""
        earlier = sorted(trial_id for trial_id in included_trial_ids if trial_id <= trial_id_greater_than)
        batches = (earlier[start : start + IDS_AT_ONCE] for start in range(0, len(earlier), IDS_AT_ONCE))
        conditions = [*(Trial.trial_id.in_(ids) for ids in batches), Trial.trial_id > trial_id_greater_than]

        def once() -> list[FrozenTrial]:
            with _create_scoped_session(self.scoped_session) as session:
                models.StudyModel.find_or_raise_by_id(study_id, session)  # a study that does not exist is an error
                return [
                    each for condition in conditions for each in _read(session, Trial.study_id == study_id, condition)
                ]

        found = patiently(once, self.patience, self.engine.url)
        return sorted((each for each in found if states is None or each.state in states), key=id_of)


def begin_waiting(study: optuna.Study, trial_id: int, key: str, value: dict[str, Any] | None) -> bool:
    """Let a waiting trial run and give it a system attribute in one step; False if somebody else was faster.

    Optuna's own call changes the state only: a worker that dies then leaves a running trial without the attribute. The value
    must be nobody else's: it tells whether a call whose answer was lost has been committed. Other storages take two
    steps, in memory without the attribute.
    """
    storage = backend_of(study)
    if not isinstance(storage, RDBStorage):
        taken = set_state(study, trial_id, TrialState.RUNNING)
        if taken and value is not None:
            set_attribute(study, trial_id, key, value)
        return taken

    def once() -> bool:
        _lock_first(storage)
        with _create_scoped_session(storage.scoped_session) as session:
            trial = models.TrialModel.find_or_raise_by_id(trial_id, session, for_update=True)
            if trial.state == TrialState.WAITING:
                trial.state, trial.datetime_start = TrialState.RUNNING, datetime.now()
                storage._set_trial_attr_without_commit(session, models.TrialSystemAttributeModel, trial_id, key, value)
                return True
            stored = models.TrialSystemAttributeModel.find_by_trial_and_key(trial, key, session)
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
    def call(self: RetryingStorage, *args: Any, **kwargs: Any) -> Any:
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
    setattr(RetryingStorage, _name, _patient(getattr(RDBStorage, _name)))


def _read(session: Session, *conditions: Any) -> Iterator[FrozenTrial]:
    """Read the trials that meet the conditions with plain SELECTs: a tenth of the time and memory of Optuna's ORM objects."""
    chosen = sql.select(Trial.trial_id).where(*conditions)

    def details(*columns: Any, order_by: Any = None) -> dict[int, list[Any]]:
        """The rows of a table that belong to the chosen trials, by trial."""
        rows: dict[int, list[Any]] = defaultdict(list)
        statement = sql.select(columns[0].class_.trial_id, *columns).where(columns[0].class_.trial_id.in_(chosen))
        for trial_id, *row in session.execute(statement.order_by(order_by)):
            rows[trial_id].append(row)
        return rows

    trials = session.execute(
        sql.select(Trial.trial_id, Trial.number, Trial.state, Trial._datetime_start_utc, Trial._datetime_complete_utc)
        .where(*conditions)
        .order_by(Trial.trial_id)
    ).all()
    if not trials:
        return
    Param, Value, Step = models.TrialParamModel, models.TrialValueModel, models.TrialIntermediateValueModel
    params = details(Param.param_name, Param.param_value, Param.distribution_json, order_by=Param.param_id)
    values = details(Value.value, Value.value_type, order_by=Value.objective)
    steps = details(Step.step, Step.intermediate_value, Step.intermediate_value_type)
    user, system = (
        details(each.key, each.value_json)
        for each in (models.TrialUserAttributeModel, models.TrialSystemAttributeModel)
    )
    for trial_id, number, state, start, complete in trials:
        own = [(name, _distribution(text), value) for name, value, text in params[trial_id]]
        yield FrozenTrial(
            number=number,
            state=state,
            value=None,
            values=[Value.stored_repr_to_value(*row) for row in values[trial_id]] or None,
            datetime_start=_local(start),
            datetime_complete=_local(complete),
            params={name: distribution.to_external_repr(value) for name, distribution, value in own},
            distributions={name: distribution for name, distribution, _ in own},
            user_attrs={key: json.loads(text) for key, text in user[trial_id]},
            system_attrs={key: json.loads(text) for key, text in system[trial_id]},
            intermediate_values={step: Step.stored_repr_to_intermediate_value(*row) for step, *row in steps[trial_id]},
            trial_id=trial_id,
        )


def _local(stored: datetime | None) -> datetime | None:
    """The naive local time of a naive UTC time."""
    return None if stored is None else stored.replace(tzinfo=UTC).astimezone().replace(tzinfo=None)


_distribution: Callable[[str], BaseDistribution] = lru_cache(maxsize=1024)(json_to_distribution)
