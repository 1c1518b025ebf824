"""Real workers that are killed, frozen and forked while they hold a lease."""

import signal
import time

from optuna.trial import TrialState

import nursery
from satisfice.study.workers.lease import reclaim
from satisfice.study.workers.storage import open_study

WORKER = """
import sys
from satisfice.errors import LeaseLost
from satisfice.study.workers.lease import Lease
from satisfice.study.workers.storage import open_study
study = open_study("leases", sys.argv[1], direction="maximize")
try:
    with Lease.begin(study, period=0.5) as lease:
        print(lease.trial_id, flush=True)
        sys.stdin.readline()
        lease.tell(1.0)
except LeaseLost as problem:
    sys.exit(str(problem))
"""


def worker(where):
    process = nursery.fork(WORKER, where)
    return process, int(process.stdout.readline())


def watch(study, seconds):
    """The trials that are lost within so many seconds."""
    seen, until = {}, time.monotonic() + seconds
    while time.monotonic() < until:
        lost = reclaim(study, seen)
        if lost:
            return lost
        time.sleep(0.1)
    return []


def test_the_trial_of_a_killed_worker_is_given_up_and_that_of_a_living_one_is_not(where):
    study = open_study("leases", where, direction="maximize")
    (dead, dead_id), (living, living_id) = worker(where), worker(where)
    assert watch(study, 2.5) == []
    dead.kill()
    dead.communicate()
    start = time.monotonic()
    assert watch(study, 20) == [dead_id]
    assert time.monotonic() - start >= 1.4
    assert watch(study, 2.5) == []
    _, error = living.communicate("\n", timeout=30)
    assert (living.returncode, error) == (0, "")
    states = {trial._trial_id: trial.state for trial in study.trials}
    assert states == {dead_id: TrialState.FAIL, living_id: TrialState.COMPLETE}


def test_a_frozen_worker_that_wakes_too_late_is_told_so(where):
    study = open_study("leases", where, direction="maximize")
    process, trial_id = worker(where)
    process.send_signal(signal.SIGSTOP)
    assert watch(study, 20) == [trial_id]
    process.send_signal(signal.SIGCONT)
    _, error = process.communicate("\n", timeout=30)
    assert process.returncode == 1
    assert "Trial 0 is FAIL already (worker lost)" in error
    (trial,) = study.trials
    assert (trial.state, trial.value) == (TrialState.FAIL, None)


FORKING = """
import os, sys, time
from satisfice.study.workers.lease import LEASE, Lease
from satisfice.study.workers.storage import open_study
def beats(where):
    study = open_study("leases", where, direction="maximize")
    with Lease.begin(study, period=0.1) as lease:
        time.sleep(0.8)
        lease.tell(study._storage.get_trial(lease.trial_id).system_attrs[LEASE]["beat"])
    return study
beats(sys.argv[1])
child = os.fork()
if child == 0:
    beats(sys.argv[1])
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_child_renews_its_own_leases(tmp_path):
    path = str(tmp_path / "study.db")
    process = nursery.fork(FORKING, path)
    assert (process.communicate(timeout=60), process.returncode) == (("", ""), 0)
    parent, child = open_study("leases", path, direction="maximize").trials
    assert parent.value > 2
    assert child.value > 2


KILLED = """
import os, random, sys, time
from multiprocessing import get_context
from satisfice.study.workers.lease import Lease
from satisfice.study.workers.storage import open_study
where, told, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
def work():
    study = open_study("leases", where, direction="maximize")
    note = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        value = random.random()
        with Lease.begin(study, period=0.5) as lease:
            lease.tell(value)
        os.write(note, f"{lease.trial_id} {value!r}\\n".encode())
for kill in range(kills):
    before = os.path.getsize(told)
    process = get_context("fork").Process(target=work)
    process.start()
    while kill % 2 == 0 and os.path.getsize(told) == before:  # every other one dies at work, the rest while opening too
        time.sleep(0.01)
    time.sleep(random.uniform(0.0, 0.4))
    process.kill()
    process.join()
"""


def test_kills_at_any_moment_lose_nothing_and_leave_nothing_running(where, tmp_path):
    told = tmp_path / "told"
    told.touch()
    process = nursery.fork(KILLED, where, told, 15)
    assert (process.communicate(timeout=120), process.returncode) == (("", ""), 0)
    study = open_study("leases", where, direction="maximize")
    values = {trial._trial_id: trial.value for trial in study.trials}
    acknowledged = dict(line.split() for line in told.read_text().splitlines())
    lost = [trial_id for trial_id, value in acknowledged.items() if values[int(trial_id)] != float(value)]
    running = [trial for trial in study.trials if trial.state == TrialState.RUNNING]
    print(f"15 kills, {len(acknowledged)} acknowledged, {len(lost)} lost, {len(running)} left running")
    assert len(acknowledged) >= 8
    assert not lost
    seen = {}
    for at in range(5):  # the clock of the observer is all that counts
        reclaim(study, seen, lambda at=at: float(at))
    assert not [trial for trial in study.trials if trial.state == TrialState.RUNNING]
