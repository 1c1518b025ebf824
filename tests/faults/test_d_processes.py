"""D: many processes on one study, and clocks that are wrong."""

import json
import os
import signal
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from optuna.trial import TrialState
from workers import LEASE, run, running_of, start, trials_of

from satisfice.study.snapshot import snapshot
from satisfice.study.workers.lease import LEASE as LEASE_KEY
from satisfice.study.workers.storage import open_study

pytestmark = pytest.mark.faults


def place(kind: str, request: pytest.FixtureRequest, tmp_path: Path, name: str = "s.db") -> str:
    """A place where no study is yet."""
    return str(tmp_path / name) if kind == "sqlite" else request.getfixturevalue("postgres_server").new_database()


AT_ONCE = """
from satisfice.study.workers.lease import Lease
from satisfice.study.workers.storage import open_study
processes, trials = int(sys.argv[2]), int(sys.argv[3])
barrier, spent = context.Barrier(processes), context.Queue()
def work():
    barrier.wait()
    study = open_study("n", where, direction="maximize")
    seconds = []
    for _ in range(trials):
        begun = time.monotonic()
        with Lease.begin(study, period=10.0) as lease:
            lease.tell(random.random())
        seconds.append(time.monotonic() - begun)
    spent.put(seconds)
begun = time.monotonic()
started = [context.Process(target=work) for _ in range(processes)]
for each in started:
    each.start()
seconds = sorted(second for _ in started for second in spent.get(timeout=550))
for each in started:
    each.join()
print(json.dumps([[each.exitcode for each in started], time.monotonic() - begun, seconds]))
"""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sixteen_processes_open_a_new_study_at_once_twenty_times(kind, tmp_path, request, figures):
    opened = 0
    for repeat in range(20):
        where = place(kind, request, tmp_path, f"{repeat}.db")
        codes, _, _ = json.loads(run(AT_ONCE, where, 16, 0))
        opened += codes.count(0)
        assert len(open_study("n", where, direction="maximize").get_trials()) == 0
    figures |= {"storage": kind, "processes at once": 16, "repeats": 20, "opened": f"{opened}/320"}
    assert opened == 320


def test_sixteen_processes_on_one_file_lose_no_trial(tmp_path, request, figures):
    at_once("sqlite", 16, 50, tmp_path, request, figures)


@pytest.mark.parametrize(("clients", "trials"), [(50, 10), (100, 5)])
def test_many_clients_of_one_server_lose_no_trial(clients, trials, tmp_path, request, figures):
    at_once("postgres", clients, trials, tmp_path, request, figures)


def at_once(kind, processes, trials, tmp_path, request, figures):
    """So many processes make so many trials each, and all of them are there in the end."""
    where = place(kind, request, tmp_path)
    codes, seconds, each = json.loads(run(AT_ONCE, where, processes, trials))
    stored = trials_of(where)
    complete = sum(trial.state == TrialState.COMPLETE for trial in stored)
    figures |= {"storage": kind, "processes": processes, "trials": f"{complete}/{processes * trials}"}
    figures |= {
        "seconds": round(seconds, 1),
        "95 % of ask and tell took less than (s)": round(each[len(each) * 95 // 100], 2),
    }
    assert codes == [0] * processes
    assert complete == processes * trials
    assert sorted(trial.number for trial in stored) == list(range(processes * trials))


TWO_AT_ONCE = """
rounds = int(sys.argv[2])
barrier, spent = context.Barrier(2), context.Queue()
cells = [{"cell": k} for k in range(8)]
def work():
    taken = []
    for k in range(rounds):
        mine = []
        barrier.wait()
        find(lambda params: mine.append(params["cell"]) or 0.0, cells, 2.0, noise=0, budget=8, storage=where,
             name=f"r{k}", model=BLIND, progress=False)
        taken.append(mine)
    spent.put(taken)
pair = [context.Process(target=work) for _ in range(2)]
for each in pair:
    each.start()
found = [spent.get(timeout=900) for _ in pair]
for each in pair:
    each.join()
print(json.dumps(found))
"""


def test_two_that_ask_at_the_same_moment_never_get_the_same_cell(tmp_path, figures):
    """A space of eight cells is emptied by both in about four rounds, so 125 spaces are 500 rounds."""
    one, two = json.loads(run(TWO_AT_ONCE, tmp_path / "s.db", 125, timeout=1200))
    twice = sum(len(set(a) & set(b)) for a, b in zip(one, two, strict=True))
    missed = sum(sorted(a + b) != list(range(8)) for a, b in zip(one, two, strict=True))
    figures |= {
        "processes": 2,
        "rounds": 500,
        "cells evaluated": sum(map(len, one + two)),
        "cells given to both": twice,
    }
    figures["shares"] = [sum(map(len, one)), sum(map(len, two))]
    assert twice == missed == 0


FROZEN = """
def objective(params):
    print("begun", flush=True)
    while not os.path.exists(sys.argv[3]):
        time.sleep(0.05)
    return params["x"]
import warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    search(sys.argv[2], 4, objective, seed=1)
print(json.dumps([str(each.message) for each in said]))
"""


def test_a_frozen_worker_that_wakes_too_late_changes_nothing(where, tmp_path, figures):
    go, told = tmp_path / "go", tmp_path / "told"
    process = start(FROZEN, where, told, go)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGSTOP)
    run("search(sys.argv[2], 4, seed=1)", where, told)
    before = [(trial.number, trial.state, trial.value) for trial in trials_of(where)]
    go.touch()
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    after = trials_of(where)
    assert (process.returncode, err) == (0, "")
    assert "ended too late" in out
    assert [(trial.number, trial.state, trial.value) for trial in after] == before
    figures |= {
        "storage": "postgres" if "://" in where else "sqlite",
        "frozen": 1,
        "evaluations made in its place": 1,
        "changed": 0,
    }
    assert Counter(trial.state for trial in after) == {TrialState.FAIL: 1, TrialState.COMPLETE: 4}


LIVING = """
def objective(params):
    open(sys.argv[3], "a").write("x")
    time.sleep(float(sys.argv[4]))
    return params["x"]
import warnings
warnings.simplefilter("ignore", ResourceWarning)
search(sys.argv[2], int(sys.argv[5]), objective, seed=1)
"""
# seconds: an hour and ten minutes off, the end of 32-bit time (2038) and the end of summer time, in a few seconds from now
CLOCKS = {
    "-1 h": -3600,
    "+1 h": 3600,
    "+10 min": 600,
    "2038": "2038-01-19 03:14:05",
    "summer time ends": "2027-10-31 00:59:58",
}


@pytest.mark.parametrize("clock", CLOCKS)
def test_clocks_that_are_wrong_kill_nobody_and_spare_no_dead(clock, shim, tmp_path, figures):
    at = CLOCKS[clock]
    if isinstance(at, str):
        at = int(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() - time.time())
    wrong = {**os.environ, "LD_PRELOAD": str(shim), "SHIM_CLOCK": str(at), "TZ": "Europe/Berlin"}
    where, told, begun = str(tmp_path / "s.db"), tmp_path / "told", tmp_path / "begun"
    begun.touch()
    open_study("n", where, direction="maximize")
    dead = start(LIVING, where, told, begun, 1000, 12, env=wrong)
    while not begun.stat().st_size:
        time.sleep(0.05)
    dead.kill()
    dead.communicate()
    both = [start(LIVING, where, told, begun, 5 * LEASE, 6, env=env) for env in (wrong, None)]
    ends = [each.communicate(timeout=300) for each in both]
    assert [each.returncode for each in both] == [0, 0], ends
    trials = trials_of(where)
    complete = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    given_up = [trial for trial in trials if trial.state == TrialState.FAIL]
    shown = snapshot(open_study("n", where, direction="maximize")).evaluations
    figures |= {"clock": clock, "living": len(complete), "living taken for dead": len(given_up) - 1, "dead given up": 1}
    figures["negative durations"] = sum((each.seconds or 0.0) < 0 for each in shown)
    assert len(complete) == 6
    assert len(given_up) == 1
    assert LEASE_KEY in given_up[0].system_attrs
    assert running_of(trials) == 0
    assert figures["negative durations"] == 0
    assert [each.number for each in shown] == sorted(each.number for each in shown)
