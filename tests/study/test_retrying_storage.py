"""A database may go away and come back, answers may be lost on the way, and every acknowledged value is still there once."""

import gc
import pickle
import threading
import time
from pathlib import Path

import optuna
import pytest
import sqlalchemy
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import BaseStorage, RDBStorage
from optuna.storages._rdb.storage import _VersionManager
from optuna.trial import TrialState

from satisfice.errors import BadInput, StorageFailed
from satisfice.study._optuna import RetryingStorage
from satisfice.study.workers import retry
from satisfice.study.workers.storage import open_storage, open_study


def test_a_storage_travels_to_another_process(where):
    open_study("one", where, direction="maximize").add_trial(optuna.create_trial(value=1.5))
    copy = pickle.loads(pickle.dumps(open_storage(where)))  # noqa: S301
    assert optuna.load_study(study_name="one", storage=copy).best_value == 1.5


def test_a_storage_arrives_in_another_process_while_the_server_restarts(postgres_server, postgres):
    packed = pickle.dumps(open_storage(postgres))
    postgres_server.crash()
    later = threading.Timer(1.0, postgres_server.start)
    later.start()
    assert pickle.loads(packed).get_all_studies() == []  # noqa: S301
    later.join()


def test_every_call_of_a_storage_has_patience():
    built_on = {"create_new_trial", "set_trial_param", "get_all_trials", "get_best_trial", "get_n_trials"}
    built_on |= {"check_trial_is_updatable", "remove_session", "get_trial_number_from_id", "get_trial_params"}
    calls = {name for name in vars(BaseStorage) if not name.startswith("_")} - built_on
    plain = {name for name in calls if getattr(RetryingStorage, name) is getattr(RDBStorage, name)}
    assert not plain


def test_of_two_that_finish_a_trial_at_once_only_one_is_heard(where):
    studies = [open_study("one", where, direction="maximize") for _ in range(2)]
    barrier = threading.Barrier(2)
    heard: list[tuple[int, float]] = []

    def finish(study: optuna.Study, trial_id: int, value: float) -> None:
        barrier.wait()
        try:
            assert study._storage.set_trial_state_values(trial_id, TrialState.COMPLETE, [value])
        except UpdateFinishedTrialError:
            return
        heard.append((trial_id, value))

    for _ in range(30):
        trial_id = studies[0].ask()._trial_id
        pair = [threading.Thread(target=finish, args=(each, trial_id, float(i))) for i, each in enumerate(studies)]
        for thread in pair:
            thread.start()
        for thread in pair:
            thread.join()
    assert sorted(heard) == [(trial._trial_id, trial.value) for trial in studies[0].trials]


def test_a_full_disk_is_a_named_error_at_once(tmp_path):
    study = open_study("one", tmp_path / "study.db", direction="maximize")
    trial = study.ask()
    engine = study._storage._backend.engine
    engine.dispose()  # and every new connection finds the file as large as it may become
    sqlalchemy.event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 1"))
    start = time.monotonic()
    with pytest.raises(StorageFailed, match=r"study.db: database or disk is full"):
        study._storage.set_trial_user_attr(trial._trial_id, "key", "x" * 20_000)
    assert time.monotonic() - start < 10


def test_nothing_acknowledged_is_lost_when_the_server_crashes(postgres_server, postgres):
    study = open_study("crash", postgres, direction="maximize")
    told: dict[int, float] = {}
    stop = threading.Event()
    problems: list[BaseException] = []

    def work() -> None:
        try:
            while not stop.is_set():
                trial = study.ask()
                value = trial.suggest_float("x", 0, 1)
                study.tell(trial, value)
                told[trial.number] = value
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(3):
        time.sleep(0.7)
        before = len(told)
        postgres_server.crash()
        time.sleep(0.3)
        postgres_server.start()
        until = time.monotonic() + 30
        while len(told) < before + 3 and time.monotonic() < until:
            time.sleep(0.05)
    stop.set()
    thread.join(60)
    assert not problems
    stored = {trial.number: trial for trial in open_study("crash", postgres, direction="maximize").trials}
    lost = [number for number, value in told.items() if stored[number].value != value]
    running = [number for number, trial in stored.items() if trial.state == TrialState.RUNNING]
    print(f"3 crashes, {len(told)} acknowledged, {len(lost)} lost, {len(running)} without an owner")
    assert len(told) >= 9
    assert not lost
    assert len(running) <= 3  # a call whose answer was lost may have made one


def test_a_value_whose_acknowledgement_was_lost_is_stored_once(postgres, proxy):
    study = open_study("lost", proxy.url(postgres), direction="maximize")
    trial = study.ask()
    proxy.armed = True
    assert study._storage.set_trial_state_values(trial._trial_id, TrialState.COMPLETE, [0.1])
    assert proxy.cut == 1
    assert [(each.state, each.value) for each in study.trials] == [(TrialState.COMPLETE, 0.1)]
    with pytest.raises(UpdateFinishedTrialError):
        study._storage.set_trial_state_values(trial._trial_id, TrialState.COMPLETE, [0.1])


def test_parameters_and_attributes_whose_acknowledgement_was_lost_are_stored_once(postgres, proxy):
    study = open_study("lost", proxy.url(postgres), direction="maximize")
    trial = study.ask()
    proxy.armed = True
    x = trial.suggest_float("x", 0, 1)
    proxy.armed = True
    trial.set_user_attr("key", "value")
    proxy.armed = True
    study.set_user_attr("key", "value")
    assert proxy.cut == 3
    study.tell(trial, x)
    assert (study.best_params, study.best_trial.user_attrs, study.user_attrs) == ({"x": x}, *[{"key": "value"}] * 2)


def test_a_server_that_stays_away_is_a_named_error(postgres_server, postgres, monkeypatch):
    study = open_study("away", postgres, direction="maximize")
    trial = study.ask()
    monkeypatch.setattr(retry, "PATIENCE", 1)
    postgres_server.crash()
    try:
        with pytest.raises(StorageFailed, match=r"postgresql\+psycopg.*://tester@/"):
            study.tell(trial, 1.0)
    finally:
        postgres_server.start()
    study.tell(trial, 1.0)
    assert study.best_value == 1.0


def test_an_opening_that_fails_leaves_no_connection_behind(tmp_path, monkeypatch):
    open_storage(tmp_path / "s.db")

    def refuse(self):
        raise RuntimeError("the tables of another version")

    monkeypatch.setattr(_VersionManager, "check_table_schema_compatibility", refuse)
    gc.collect()
    gc.disable()  # what is forgotten would be closed by chance
    try:
        with pytest.raises(BadInput, match="another version"):
            open_storage(tmp_path / "s.db")
        handles = Path("/proc/self/fd").iterdir()
        assert not any(handle.exists() and "s.db" in str(handle.readlink()) for handle in handles)
    finally:
        gc.enable()
