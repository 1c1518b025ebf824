"""C: processes that are killed, servers that go away."""

import json
import os
import time

import pytest
from optuna.trial import TrialState
from workers import LEASE, lost_of, run, running_of, seconds_until_quiet, start, trials_of

pytestmark = pytest.mark.faults
KILLED = """
told, kills = sys.argv[2], int(sys.argv[3])
open(told, "a").close()
for kill in range(kills):
    before = os.path.getsize(told)
    process = context.Process(target=search, args=(told,))
    process.start()
    while kill % 2 == 0 and os.path.getsize(told) == before:  # every other one dies at work, the rest while opening too
        time.sleep(0.01)
    time.sleep(random.uniform(0.0, 0.4))
    process.kill()
    process.join()
    if "://" not in where:
        import sqlite3
        connection = sqlite3.connect(where)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
"""


@pytest.mark.parametrize(("kind", "kills"), [("sqlite", 200), ("postgres", 100)])
def test_kills_at_any_moment_lose_nothing(kind, kills, tmp_path, request, figures):
    where = str(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("postgres")
    told = tmp_path / "told"
    run(KILLED, where, told, kills, timeout=1800)
    trials = trials_of(where)
    acknowledged, lost = lost_of(told, trials)
    left, seconds = running_of(trials), seconds_until_quiet(where)
    figures |= {"storage": kind, "kills": kills, "acknowledged": acknowledged, "lost": lost, "left running": left}
    figures |= {"all given up after (s)": round(seconds, 1), "twice the lease (s)": 2 * LEASE}
    assert acknowledged >= kills / 2
    assert lost == 0
    assert running_of(trials_of(where)) == 0
    assert seconds <= 2 * LEASE + 1
    assert sorted(trial.number for trial in trials) == list(range(len(trials)))


STEP_BY_STEP = """
import ctypes, shutil, sqlite3
from satisfice.study.workers.lease import Lease
from satisfice.domain.space import Space
from satisfice.study.distributions import distributions_of
from satisfice.study.workers.storage import open_study
shim = ctypes.CDLL(None)
base, there = where + ".base", distributions_of(Space.of(SPACE))
open_study("n", base, direction="maximize")
def one(pipe, at):
    study = open_study("n", where, direction="maximize")
    shim.shim_arm(ctypes.c_long(at), 0)
    with Lease.begin(study) as lease:
        os.write(pipe, b"a")
        study._storage.set_trial_param(lease.trial_id, "x", 0.5, there["x"])
        lease.tell(1.0)
        shim.shim_disarm()
        os.write(pipe, b"t")
kills, at, ended = 0, 0, False
while not ended:
    at += 1
    for name in (where, where + "-journal"):
        if os.path.exists(name):
            os.unlink(name)
    shutil.copy(base, where)
    reading, writing = os.pipe()
    process = context.Process(target=one, args=(writing, at))
    process.start()
    process.join()
    os.close(writing)
    said = os.read(reading, 9).decode()
    os.close(reading)
    ended = process.exitcode == 0
    assert ended or process.exitcode == -signal.SIGKILL, process.exitcode
    kills += not ended
    connection = sqlite3.connect(where)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    trials = open_study("n", where, direction="maximize").get_trials()
    state = [(trial.state.name, len(trial.params), trial.value) for trial in trials]
    possible = {"": [[], [("RUNNING", 0, None)]], "at": [[("COMPLETE", 1, 1.0)]],
                "a": [[("RUNNING", 0, None)], [("RUNNING", 1, None)], [("COMPLETE", 1, 1.0)]]}
    assert state in possible[said], (at, said, state)
print(json.dumps(kills))
"""


def test_a_kill_at_each_single_write_leaves_the_state_before_or_after(shim, tmp_path, figures):
    environment = {**os.environ, "LD_PRELOAD": str(shim)}
    kills = json.loads(run(STEP_BY_STEP, tmp_path / "s.db", env=environment))
    figures |= {"writes, syncs and removals of one ask and tell": kills, "kills": kills, "states in between": 0}
    assert kills > 20


BALLISTIC = """
told, budget, scale = sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
def objective(params):
    time.sleep(0.25)
    return params["x"]
random.seed(1)
begun, kills, process = time.monotonic(), 0, None
while process is None or process.exitcode != 0:
    process = context.Process(target=search, args=(told, budget, objective))
    process.start()
    process.join(scale * random.uniform(1, 5) if scale else None)
    if process.exitcode is None:
        process.kill()
        process.join()
        kills += 1
print(json.dumps([kills, time.monotonic() - begun]))
"""


def test_a_run_of_100_trials_that_is_killed_every_few_seconds_ends_with_exactly_100(tmp_path, figures):
    _, calm = json.loads(run(BALLISTIC, tmp_path / "calm.db", tmp_path / "calm", 100, 0))
    scale = max(
        1.0, calm / 40
    )  # on a machine that is so busy that a trial takes seconds, the kills come as much slower
    where, told = str(tmp_path / "storm.db"), tmp_path / "storm"
    kills, stormy = json.loads(run(BALLISTIC, where, told, 100, scale, timeout=1800))
    trials = trials_of(where)
    finished = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    acknowledged, lost = lost_of(told, trials)
    figures |= {"kills": kills, "finished": len(finished), "acknowledged": acknowledged, "lost": lost}
    figures |= {"undisturbed (s)": round(calm, 1), "disturbed (s)": round(stormy, 1)}
    assert kills >= 5
    assert len(finished) == 100
    assert lost == running_of(trials) == 0
    assert sorted(trial.number for trial in trials) == list(range(len(trials)))
    assert stormy <= 2 * calm


UNTIL_CALM = """
calm = sys.argv[3]
def objective(params):
    time.sleep(0.0 if os.path.exists(calm) else 0.15)
    return params["x"]
search(sys.argv[2], 200 if len(sys.argv) < 5 else int(sys.argv[4]), objective)
"""


def test_a_server_that_crashes_drops_connections_and_goes_away_costs_nothing(
    postgres_server, postgres, tmp_path, figures
):
    import psycopg

    told, calm, server = tmp_path / "told", tmp_path / "calm", postgres_server
    told.touch()
    process = start(UNTIL_CALM, postgres, told, calm, 400)
    terminated = 0

    def progressed(more: int) -> None:
        """Wait until so many more values are acknowledged."""
        wanted, until = len(told.read_bytes().splitlines()) + more, time.monotonic() + 120
        while len(told.read_bytes().splitlines()) < wanted and time.monotonic() < until:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)

    for _ in range(10):
        progressed(3)
        server.crash()
        server.start()
    for _ in range(20):
        progressed(2)
        with psycopg.connect(f"host={server.directory} user=tester dbname=postgres", autocommit=True) as connection:
            killing = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname LIKE 't%'"
            terminated += connection.execute(killing).fetchone()[0] > 0
    progressed(1)
    server.stop()
    time.sleep(30)
    server.start()
    progressed(3)
    calm.touch()
    _, err = process.communicate(timeout=600)
    trials = trials_of(postgres)
    acknowledged, lost = lost_of(told, trials)
    seconds_until_quiet(postgres)
    figures |= {"crashes": 10, "times all connections were cut": terminated, "seconds away": 30, "trials": 400}
    figures |= {"acknowledged": acknowledged, "lost": lost, "restarts of the client": 0}
    assert process.returncode == 0
    assert "Traceback" not in err  # the engine below logs what went wrong before it was tried again
    assert terminated == 20
    assert acknowledged == 400
    assert lost == running_of(trials_of(postgres)) == 0
