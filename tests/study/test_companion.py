"""The companion process of a worker: it shows that the worker lives while that cannot do so itself, and only then."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from satisfice.study.proposal import ERROR, WORKER_LOST
from satisfice.study.workers.companion import Companion, place_of
from satisfice.study.workers.lease import LEASE, Lease, reclaim
from satisfice.study.workers.storage import open_storage, open_study

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="companions need /proc")

WORKER = """
import ctypes, os, sys, time
from satisfice.errors import LeaseLost
from satisfice.study.workers.lease import Lease
from satisfice.study.workers.storage import open_study
def hold_the_gil(seconds):
    ctypes.PyDLL(None).usleep(int(1e6 * seconds))  # unlike CDLL, PyDLL does not release it
study = open_study("leases", sys.argv[1], direction="maximize")
try:
    with Lease.begin(study, period=0.5) as lease:
        print(lease.trial_id, flush=True)
        DO
        lease.tell(1.0)
except LeaseLost as problem:
    sys.exit(str(problem))
"""


def start(where, does):
    """A worker that does this while it holds a lease, and the id of its trial."""
    words = [sys.executable, "-W", "error", "-c", WORKER.replace("DO", does), where]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(words, text=True, **pipes)
    return process, int(process.stdout.readline())


def ended(process):
    """Its exit code and what it said."""
    _, err = process.communicate("\n", timeout=60)
    return process.returncode, err


def children_of(process):
    """The ids of its child processes, by whichever thread they were started."""
    return [int(child) for task in Path(f"/proc/{process.pid}/task").iterdir() for child in
            (task / "children").read_text().split()]  # fmt: skip


def companion_of(process, but=None):
    """The process id of the companion of a worker, another than that one."""
    found: list[int] = []

    def look():
        words = {child: Path(f"/proc/{child}/cmdline") for child in children_of(process) if child != but}
        found[:] = [child for child, path in words.items() if b"beats.py" in path.read_bytes()]
        return len(found) == 1

    assert await_(look)
    return found[0]


def is_there(process_id):
    with suppress(OSError):
        return " Z " not in Path(f"/proc/{process_id}/stat").read_text()
    return False


def beat_of(study, trial_id):
    return study._storage.get_trial(trial_id).system_attrs[LEASE]


def watch(study, seconds):
    """The trials that are lost within so many seconds."""
    seen, until = {}, time.monotonic() + seconds
    while time.monotonic() < until:
        lost = reclaim(study, seen)
        if lost:
            return lost
        time.sleep(0.1)
    return []


def await_(condition, seconds=20.0):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


def test_an_objective_that_holds_the_gil_for_six_periods_keeps_its_trial(where):
    study = open_study("leases", where, direction="maximize")
    process, _ = start(where, "hold_the_gil(3.0)")
    assert watch(study, 4.0) == []
    assert ended(process) == (0, "")
    assert [(trial.state, trial.value) for trial in study.trials] == [(TrialState.COMPLETE, 1.0)]


def test_a_companion_that_is_killed_is_replaced(tmp_path):
    where = str(tmp_path / "study.db")
    study = open_study("leases", where, direction="maximize")
    process, _ = start(where, "sys.stdin.readline(); hold_the_gil(3.0)")
    first = companion_of(process)
    os.kill(first, signal.SIGKILL)
    assert companion_of(process, but=first) != first
    process.stdin.write("\n")
    process.stdin.flush()
    assert watch(study, 4.0) == []
    assert ended(process) == (0, "")


def test_the_thread_stands_in_for_a_companion_that_hangs(tmp_path):
    where = str(tmp_path / "study.db")
    study = open_study("leases", where, direction="maximize")
    process, trial_id = start(where, "sys.stdin.readline()")
    companion = companion_of(process)
    os.kill(companion, signal.SIGSTOP)
    assert watch(study, 4.0) == []
    os.kill(companion, signal.SIGCONT)
    assert ended(process) == (0, "")
    assert study._storage.get_trial(trial_id).state == TrialState.COMPLETE


def test_signals_for_the_worker_do_not_end_the_companion(tmp_path):
    where = str(tmp_path / "study.db")
    open_study("leases", where, direction="maximize")
    process, _ = start(where, "sys.stdin.readline()")
    companion = companion_of(process)
    assert os.getsid(companion) == companion  # so Ctrl-C in a terminal does not reach it
    time.sleep(0.5)  # it has begun
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(companion, number)
    time.sleep(0.5)
    assert companion_of(process) == companion
    assert ended(process) == (0, "")


@pytest.mark.parametrize("end", ["at the end", "by a kill", "by os._exit", "with a child that lives on"])
def test_a_companion_ends_with_its_worker_and_takes_no_trial_with_it(tmp_path, end):
    where = str(tmp_path / "study.db")
    study = open_study("leases", where, direction="maximize")
    does = {"by os._exit": "sys.stdin.readline(); os._exit(0)"}.get(end, "sys.stdin.readline()")
    if end == "with a child that lives on":
        does = "child = os.fork()\n        if child == 0: time.sleep(60)\n        sys.stdin.readline()"
    process, trial_id = start(where, does)
    companion, children = companion_of(process), children_of(process)
    if end in ("by a kill", "with a child that lives on"):
        process.kill()
        process.wait()
    else:
        assert ended(process) == (0, "")
    try:
        assert await_(lambda: not is_there(companion))
        assert end == "at the end" or watch(study, 10.0) == [trial_id]
    finally:
        for child in set(children) - {companion}:
            os.kill(child, signal.SIGKILL)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def test_an_address_with_its_password_is_nowhere_to_be_read(postgres):
    where = postgres.replace("tester@", "tester:Rumpelstilzchen@")
    study = open_study("leases", where, direction="maximize")
    process, trial_id = start(where, "sys.stdin.readline()")
    first = beat_of(study, trial_id)
    assert await_(lambda: re.search(r" \d+$", beat_of(study, trial_id)["owner"]))  # as the companion signs
    shown = [Path(f"/proc/{companion_of(process)}/{name}").read_bytes() for name in ("cmdline", "environ")]
    assert beat_of(study, trial_id) != first
    assert not any(b"Rumpel" in each for each in shown)
    assert ended(process) == (0, "")


def test_a_trial_that_others_have_ended_is_not_written_again(where):
    study = open_study("leases", where, direction="maximize")
    process, trial_id = start(where, "sys.stdin.readline()")
    study._storage.set_trial_system_attr(trial_id, ERROR, WORKER_LOST)
    study._storage.set_trial_state_values(trial_id, TrialState.FAIL)
    before = beat_of(study, trial_id)
    time.sleep(2.0)
    assert beat_of(open_study("leases", where, direction="maximize"), trial_id) == before
    code, err = ended(process)
    assert code == 1
    assert "Trial 0 is FAIL already" in err


def test_a_file_that_is_locked_for_long_costs_no_living_worker(tmp_path):
    where = str(tmp_path / "study.db")
    study = open_study("leases", where, direction="maximize")
    leases = [Lease.begin(study, period=0.5).__enter__() for _ in range(2)]
    lost: list[list[int]] = []
    observer = threading.Thread(target=lambda: lost.append(watch(study, 6.0)))
    connection = sqlite3.connect(where, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")  # others may read, but not write
    observer.start()
    time.sleep(3.0)
    connection.execute("COMMIT")
    connection.close()
    observer.join()
    assert lost == [[]]
    for lease in leases:
        lease.tell(1.0)
        lease.__exit__(None, None, None)


def test_a_file_that_is_locked_holds_up_no_other(tmp_path):
    studies = [open_study("leases", tmp_path / f"{name}.db", direction="maximize") for name in "ab"]
    with Lease.begin(studies[0], period=0.2) as one, Lease.begin(studies[1], period=0.2) as other:
        connection = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(1.0)  # now whoever renews the first is waiting for the lock
        before = beat_of(studies[1], other.trial_id)["beat"]
        assert await_(lambda: beat_of(studies[1], other.trial_id)["beat"] > before + 2)
        connection.execute("COMMIT")
        connection.close()
        for lease in (one, other):
            lease.tell(1.0)


def test_storages_of_others_are_renewed_by_the_thread(tmp_path):
    storages = [
        RDBStorage(f"sqlite:///{tmp_path}/plain.db"),
        JournalStorage(JournalFileBackend(str(tmp_path / "study.log"))),
        open_storage("sqlite:///:memory:"),
    ]
    studies = [optuna.create_study(storage=storage) for storage in storages]
    assert [place_of(each) for each in studies] == [None] * 3
    study = studies[0]
    with Lease.begin(study, period=0.1) as lease:
        assert await_(lambda: beat_of(study, lease.trial_id)["beat"] > 3)
        lease.tell(1.0)
    storages[0].engine.dispose()


def test_leases_leave_no_files_and_threads_behind(tmp_path):
    study = open_study("leases", tmp_path / "study.db", direction="maximize")

    def held():
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    def make(count):
        for _ in range(count):
            with Lease.begin(study) as lease:
                lease.tell(1.0)
        return held()

    assert make(5) == make(30)


def test_a_companion_is_told_from_one_that_is_not_there():
    companion = Companion()
    assert companion.alive
    companion.stop()
    assert not companion.alive
    with pytest.raises(OSError, match="does not listen"):
        companion.drop(1)
