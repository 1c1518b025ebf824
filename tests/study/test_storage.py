"""Studies are opened by many at once, and what is no study is refused and left alone."""

import ctypes
import logging
import os
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import optuna
import pytest
from numpy.random import default_rng
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState
from sqlalchemy import URL, make_url

import nursery
from satisfice.errors import BadInput, SatisficeError, StorageFailed
from satisfice.study._optuna import RetryingStorage
from satisfice.study.workers.retry import PATIENCE
from satisfice.study.workers.storage import OPENING, _patience, open_storage, open_study


def test_nothing_named_is_kept_in_memory():
    assert isinstance(open_storage(None), InMemoryStorage)


def test_a_storage_is_returned_as_it_is():
    storage = InMemoryStorage()
    assert open_storage(storage) is storage


@pytest.mark.parametrize("name", ["study.db", "a b?c#d%e{x}'\".db", "a b#d%e{x}'\".db", "ü.log", "-x"])
def test_a_path_is_that_file_and_no_other(tmp_path, name):
    if "?" in name and make_url(URL.create("sqlite", database=name).render_as_string()).database != name:
        with pytest.raises(
            BadInput, match=r"a path that can be written as a URL"
        ):  # before SQLAlchemy 2.1 a "?" ends the path
            open_storage(tmp_path / name)
        return
    open_study("one", tmp_path / name, direction="maximize").add_trial(optuna.create_trial(value=1.5))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert open_study("one", str(tmp_path / name), direction="maximize").best_value == 1.5


def test_a_file_may_be_given_as_a_url(tmp_path):
    open_study("one", f"sqlite:///{tmp_path}/study.db", direction="maximize").add_trial(optuna.create_trial(value=1.5))
    assert open_study("one", tmp_path / "study.db", direction="maximize").best_value == 1.5
    assert isinstance(open_storage("sqlite:///:memory:"), RetryingStorage)


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = open_study("one", "study.db", direction="maximize")
    monkeypatch.chdir("/")
    study.add_trial(optuna.create_trial(value=1.5))
    assert open_study("one", tmp_path / "study.db", direction="maximize").best_value == 1.5


def test_sqlite_waits_a_minute_for_a_lock_and_writes_in_full(tmp_path):
    storage = open_storage(tmp_path / "study.db")  # kept: with it goes its pool of connections
    with storage.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 60_000
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


def test_a_killed_maker_leaves_nothing_in_the_way(tmp_path):
    (tmp_path / "study.db.new").write_bytes(b"half")
    open_storage(tmp_path / "study.db")
    assert [path.name for path in tmp_path.iterdir()] == ["study.db"]


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database " * 1000)


def empty(path: Path) -> None:
    path.touch()


def short(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")


def foreign(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customers (name)")
    connection.close()


def read_only(path: Path) -> None:
    open_storage(path)
    path.chmod(0o400)


def without_privileges(work: Callable[[], object]) -> object:
    """What the work returns or raises in a thread without the privileges of root, who may write every file otherwise."""

    def give_up_and_work() -> object:
        version_and_thread, none = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        assert ctypes.CDLL(None).capset(version_and_thread, none) == 0
        return work()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(give_up_and_work).result()


REFUSED = [
    (garbage, "damaged or no database"),
    (short, "damaged or no database"),
    (empty, r"is empty\. Delete it"),
    (foreign, "holds something else"),
    (read_only, "a file that can be written; .* cannot"),
    (Path.mkdir, "is no file"),
    (os.mkfifo, "is no file"),
    (lambda path: path.symlink_to("/dev/zero"), "is no file"),
    (lambda path: path.symlink_to("nowhere"), "cannot be used: No such file"),
]


def state_of(path):
    """The file and what it holds; not the time of the last access, which reading it changes."""
    is_now = path.lstat()
    return (
        is_now.st_mode,
        is_now.st_ino,
        is_now.st_size,
        is_now.st_mtime_ns,
        path.read_bytes() if path.is_file() else None,
    )


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_no_study_file_is_refused_and_left_alone(tmp_path, make, message):
    path = tmp_path / "study.db"
    make(path)
    before = state_of(path)
    start = time.monotonic()
    with pytest.raises(BadInput, match=message):
        without_privileges(lambda: open_storage(path))
    assert time.monotonic() - start < 5
    assert before == state_of(path) or path.is_char_device()
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_gives_a_named_error_or_its_study(tmp_path):
    path = tmp_path / "study.db"
    study = open_study("one", path, direction="maximize")
    for value in range(10):
        study.add_trial(
            optuna.create_trial(
                value=value, params={"x": 0.5}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}
            )
        )
    study._storage._backend.engine.dispose()
    whole = path.read_bytes()
    used = [index for index, byte in enumerate(whole) if byte]
    rng = default_rng(1)
    refused = 0
    for index, bit in zip(rng.choice(used, 100), 1 << rng.integers(8, size=100), strict=True):
        path.write_bytes(whole[:index] + bytes([whole[index] ^ int(bit)]) + whole[index + 1 :])
        try:
            assert len(open_study("one", path, direction="maximize").trials) <= 10
        except SatisficeError:
            refused += 1
    for length in range(1, len(whole), len(whole) // 20):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match=r"damaged|empty"):
            open_storage(path)
        assert path.read_bytes() == whole[:length]
    assert refused > 20  # a flip within a name or a number cannot be seen


BAD_PLACES = [
    (3, "a path, a URL such as .*, an Optuna storage or None"),
    ("", "a path or a URL"),
    ("a\0b", "a path or a URL"),
    ("/no/such/place/study.db", r"there is no /no/such/place\. Make it first"),
    ("nosuch://user:secret@host/name", "needs a driver for nosuch"),
    ("postgresql://user:secret:x@host:port/name", "a URL such as"),
    ("postgresql+nosuch://user:secret@host/name", r"needs a driver .*pip install '.\[postgres\]'"),
]


@pytest.mark.parametrize(("place", "message"), BAD_PLACES, ids=[repr(place) for place, _ in BAD_PLACES])
def test_an_impossible_place_is_refused_without_its_password(place, message):
    with pytest.raises(BadInput, match=message) as refusal:
        open_storage(place)
    assert "secret" not in str(refusal.value)


def test_a_server_that_is_not_there_is_a_named_error_without_the_password(monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.setattr("satisfice.study.workers.storage.OPENING", 1)
    start = time.monotonic()
    with pytest.raises(StorageFailed, match=r"user:\*\*\*@127.0.0.1:1/name: .*refused") as failure:
        open_storage("postgresql://user:secret@127.0.0.1:1/name?options=secret")
    assert 0.3 < time.monotonic() - start < 5
    assert "secret" not in str(failure.value)


def test_a_database_that_does_not_exist_is_a_named_error_soon(postgres, monkeypatch):
    monkeypatch.setattr("satisfice.study.workers.storage.OPENING", 1)
    start = time.monotonic()
    with pytest.raises(StorageFailed, match=r'database "nosuch" does not exist'):
        open_storage(postgres.replace(postgres.split("/")[3].split("?")[0], "nosuch"))
    assert time.monotonic() - start < 5


AT = 'connection failed: connection to server at "password.org", port 5432 failed: '
SAID = [  # by psycopg and psycopg2, and for how long each is waited for where the server has not answered before, and has
    (AT + "Connection refused\n\tIs the server running on that host?", OPENING, PATIENCE),
    (AT + "timeout expired", OPENING, PATIENCE),
    ('could not translate host name "db.example" to address: Name or service not known', OPENING, PATIENCE),
    ("failed to resolve host 'db.example': [Errno -2] Name or service not known", OPENING, PATIENCE),
    (AT + 'FATAL:  password authentication failed for user "me"', OPENING, OPENING),
    (AT + "fe_sendauth: no password supplied", OPENING, OPENING),
    (AT + 'FATAL:  database "studies" does not exist', OPENING, OPENING),
    (AT + 'FATAL:  role "me" does not exist', OPENING, OPENING),
    (AT + 'FATAL:  role "me" is not permitted to log in', OPENING, OPENING),
    (AT + 'FATAL:  no pg_hba.conf entry for host "::1", user "me"', OPENING, OPENING),
    (AT + "received invalid response to SSL negotiation: H", OPENING, OPENING),
    ("permission denied for schema public", OPENING, OPENING),
    (AT + "FATAL:  the database system is starting up", PATIENCE, PATIENCE),
    (AT + "FATAL:  the database system is in recovery mode", PATIENCE, PATIENCE),
    (AT + "FATAL:  the database system is shutting down", PATIENCE, PATIENCE),
    (AT + "FATAL:  sorry, too many clients already", PATIENCE, PATIENCE),
    ("terminating connection due to administrator command", PATIENCE, PATIENCE),
    ("server closed the connection unexpectedly", PATIENCE, PATIENCE),
    ('duplicate key value violates unique constraint "pg_type_typname_nsp_index"', PATIENCE, PATIENCE),
]


@pytest.mark.parametrize(("said", "first", "later"), SAID, ids=[said[-40:] for said, _, _ in SAID])
def test_a_server_that_is_away_is_waited_for_and_a_wrong_address_is_not(said, first, later):
    unknown, known = (make_url(f"postgresql+psycopg://{uuid.uuid4()}.example/db") for _ in range(2))
    assert _patience(unknown, RuntimeError(said)) == first
    _patience(known, RuntimeError("server closed the connection unexpectedly"))
    assert _patience(known, RuntimeError(said)) == later


def test_the_socket_of_a_local_server_may_appear_later(tmp_path):
    gone = RuntimeError(f'connection to server on socket "{tmp_path}/.s.PGSQL.5432" failed: No such file or directory')
    assert _patience(make_url(f"postgresql+psycopg:///db?host={tmp_path}"), gone) == PATIENCE
    assert _patience(make_url("postgresql+psycopg:///db?host=/no/such/place"), gone) == OPENING


OPENING_ONE = """
import sys
from satisfice.study.workers import storage
storage.OPENING = 2  # which is over before the server is back
print("here", flush=True)
sys.stdin.readline()
study = storage.open_study("one", sys.argv[1], direction="maximize")
study.tell(study.ask(), 1.0)
"""


@pytest.mark.parametrize("way", ["cut", "crash"])
def test_workers_that_open_a_study_outlast_a_server_that_cuts_them_off(way, postgres_server, postgres):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = [sys.executable, "-W", "error", "-c", OPENING_ONE, postgres]
    workers = [subprocess.Popen(words, text=True, **pipes) for _ in range(3)]
    for worker in workers:
        assert worker.stdout.readline() == "here\n"
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    rng, until = default_rng(1), time.monotonic() + 5
    while time.monotonic() < until:
        if way == "cut":
            postgres_server.cut(postgres)
            time.sleep(rng.uniform(0.02, 0.15))
        else:
            postgres_server.crash()
            time.sleep(rng.uniform(0.0, 3.0))
            postgres_server.start()
    ends = [worker.communicate(timeout=90) for worker in workers]
    assert [(worker.returncode, err) for worker, (_, err) in zip(workers, ends, strict=True)] == [(0, "")] * 3
    trials = open_study("one", postgres, direction="maximize").trials
    assert sum(trial.value == 1.0 for trial in trials) == 3


def test_a_name_finds_its_study_again_and_none_is_a_new_one(where):
    sampler = optuna.samplers.RandomSampler()
    study = open_study("näme; DROP TABLE studies", where, direction="minimize", sampler=sampler)
    assert study.sampler is sampler
    study.tell(study.ask(), 2.0)
    assert open_study("näme; DROP TABLE studies", where, direction="minimize").best_value == 2.0
    fresh = [open_study(None, where, direction="maximize") for _ in range(2)]
    assert len({each.study_name for each in fresh}) == 2
    assert not fresh[0].trials


def test_another_direction_or_several_objectives_are_refused(where):
    storage = open_storage(where)
    open_study("down", storage, direction="minimize")
    with pytest.raises(
        BadInput, match=r"`direction` must be 'minimize', as in the study 'down'; got 'maximize'\. Use another name"
    ):
        open_study("down", storage, direction="maximize")
    optuna.create_study(study_name="two", storage=storage, directions=["minimize", "maximize"])
    with pytest.raises(BadInput, match="'two' has 2 objectives"):
        open_study("two", storage, direction="minimize")
    with pytest.raises(BadInput, match="`direction` must be 'maximize' or 'minimize'; got 'up'"):
        open_study("three", storage, direction="up")


@pytest.mark.parametrize("name", ["", "x" * 513, "a\0b", "\ud800", 3, b"x"])
def test_an_impossible_name_is_refused(name):
    with pytest.raises(BadInput, match=r"`name` must be a text of 1 to 512 characters; got"):
        open_study(name, None, direction="maximize")


def test_opening_is_silent_and_the_log_of_others_is_not(tmp_path, caplog):
    optuna.logging.enable_propagation()
    try:
        with caplog.at_level(logging.INFO, logger="optuna"):
            open_study("one", tmp_path / "study.db", direction="maximize")
            open_study("one", tmp_path / "study.db", direction="maximize")
            open_study(None, None, direction="maximize")
            assert not caplog.records
            optuna.create_study(study_name="loud")
            assert "loud" in caplog.text
    finally:
        optuna.logging.disable_propagation()


AT_ONCE = """
import sys
from multiprocessing import get_context
from satisfice.study.workers.storage import open_study
where, processes, trials = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
context = get_context("fork")
barrier = context.Barrier(processes)
def work():
    barrier.wait()
    study = open_study("many", where, direction="maximize")
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, trial.suggest_float("x", 0, 1))
started = [context.Process(target=work) for _ in range(processes)]
for each in started:
    each.start()
for each in started:
    each.join()
print([each.exitcode for each in started])
"""


def test_many_processes_open_a_new_study_at_once(where):
    process = nursery.fork(AT_ONCE, where, 6, 5)
    assert process.communicate(timeout=120) == (f"{[0] * 6}\n", "")
    trials = open_study("many", where, direction="maximize").trials
    assert [trial.number for trial in trials] == list(range(30))
    assert all(trial.state == TrialState.COMPLETE for trial in trials)
