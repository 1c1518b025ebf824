"""Many processes on one study, on a file and on a real server."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from optuna.trial import TrialState, create_trial

from processes import start
from satisfice.domain.space import Space
from satisfice.study.config import VERDICT, StudyConfig
from satisfice.study.distributions import distributions_of
from satisfice.study.proposal import CANCELLED, ERROR, WORKER_LOST, Proposal
from satisfice.study.snapshot import snapshot
from satisfice.study.workers.lease import LEASE, PERIOD, Lease, Look, reclaim
from satisfice.study.workers.storage import open_study

ROOT = Path(__file__).parents[2]


def ended(processes, seconds=300):
    """What the processes printed, as JSON; all must have ended well."""
    outputs = [process.communicate(timeout=seconds) for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), outputs
    assert all(err == "" for _, err in outputs)
    return [json.loads(out) for out, _ in outputs]


def trials_of(where):
    return open_study("n", where, direction="maximize").trials


@pytest.mark.parametrize(
    ("processes", "budget"), [(3, 30), pytest.param(8, 200, marks=pytest.mark.slow)], ids=["3x10", "8x25"]
)
def test_processes_spend_the_budget_exactly(where, processes, budget):
    script = """
        calls = []
        def objective(params):
            calls.append(params)
            return params["x"]
        answer = find(objective, SPACE, 2.0, noise=0, budget=BUDGET, storage=where, name="n", model=BLIND)
        print(json.dumps([len(calls), answer.verdict]))
    """
    begun = time.monotonic()
    answers = ended([start(script.replace("BUDGET", str(budget)), where) for _ in range(processes)])
    print(
        f"{processes} processes, {budget} evaluations: {time.monotonic() - begun:.1f} s, shares {[calls for calls, _ in answers]}"
    )
    assert sum(calls for calls, _ in answers) == budget
    assert {verdict for _, verdict in answers} == {"open"}
    trials = trials_of(where)
    assert [trial.number for trial in trials] == list(range(len(trials)))
    states = Counter(trial.state for trial in trials)
    assert states[TrialState.COMPLETE] == budget
    assert states[TrialState.COMPLETE] + states[TrialState.PRUNED] == len(trials)
    assert all(CANCELLED in trial.system_attrs for trial in trials if trial.state == TrialState.PRUNED)
    settings = {(trial.params["x"], trial.params["y"]) for trial in trials if trial.state == TrialState.COMPLETE}
    assert len(settings) == budget  # no two workers tried the same


def test_the_first_success_stops_all_workers(where):
    script = """
        calls = 0
        def objective(params):
            global calls
            calls += 1
            time.sleep(0.05)
            return 1 - (params["x"] - 0.3) ** 2 - (params["y"] - 0.6) ** 2
        answer = find(objective, SPACE, 0.99, noise=0, budget=200, storage=where, name="n")
        print(json.dumps([calls, answer.verdict, answer.value]))
    """
    answers = ended([start(script, where) for _ in range(4)])
    assert {verdict for _, verdict, _ in answers} == {"good"}
    trials = trials_of(where)
    done = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    first = min((trial for trial in done if trial.value >= 0.99), key=lambda trial: trial.datetime_complete)
    late = [trial for trial in done if trial.datetime_start > first.datetime_complete]
    print(f"success at trial {first.number}; {len(done)} evaluations, {len(late)} begun later")
    assert len(done) < 100
    assert not [trial for trial in trials if trial.state == TrialState.RUNNING]
    assert len(late) <= 4  # no more than what was being prepared when the success came in
    assert open_study("n", where, direction="maximize").user_attrs[VERDICT] == "good"


def test_optunas_own_loop_stops_in_all_processes_too(tmp_path):
    script = """
        import optuna
        from satisfice import GoodActionSampler, stop_when_certain
        from satisfice.study.workers.storage import open_study
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = open_study("n", where, direction="maximize", sampler=GoodActionSampler(0.99, noise=0))
        def objective(trial):
            time.sleep(0.05)
            return 1 - (trial.suggest_float("x", 0, 1) - 0.3) ** 2 - (trial.suggest_float("y", 0, 1) - 0.6) ** 2
        study.optimize(objective, n_trials=50, callbacks=[stop_when_certain()])
        print("[]")
    """
    where = str(tmp_path / "s.db")
    ended([start(script, where) for _ in range(3)])
    assert open_study("n", where, direction="maximize").user_attrs[VERDICT] == "good"  # when all have looked
    trials = trials_of(where)
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert len({(trial.params["x"], trial.params["y"]) for trial in trials}) == len(trials) < 100


def test_processes_confirm_a_setting_under_noise(tmp_path):
    script = """
        import numpy as np
        rng = np.random.default_rng(os.getpid())
        def objective(params):
            time.sleep(0.05)
            return 1 - (params["x"] - 0.3) ** 2 + 0.1 * rng.standard_normal()
        answer = find(objective, SPACE, 0.85, noise="learn", budget=200, storage=where, name="n")
        print(json.dumps([answer.verdict, answer.certificate and answer.certificate.repeats]))
    """
    where = str(tmp_path / "s.db")
    answers = ended([start(script, where) for _ in range(3)])
    assert {verdict for verdict, _ in answers} == {"good"}
    trials = {trial.number: trial for trial in trials_of(where)}
    marks = {number: Proposal.of(trial) for number, trial in trials.items()}
    for number, mark in marks.items():
        if mark is not None and mark.repeats is not None:
            assert trials[number].params == trials[mark.repeats].params
    assert snapshot(open_study("n", where, direction="maximize")).answer.verdict == "good"


def test_the_trial_of_a_killed_worker_is_made_again_within_the_budget(where):
    slow = """
        def objective(params):
            print("begun", flush=True)
            time.sleep(1000)
        find(objective, SPACE, 2.0, noise=0, budget=4, storage=where, name="n", model=BLIND, seed=1)
    """
    slow = "workers.PERIOD = 0.2\n" + textwrap.dedent(slow)
    quick = slow.replace('print("begun", flush=True)', "return params['x']") + "print('[]')\n"
    victim = start(slow, where)
    assert victim.stdout.readline() == "begun\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    ended([start(quick, where)])
    trials = trials_of(where)
    assert [trial.state for trial in trials] == [TrialState.FAIL] + [TrialState.COMPLETE] * 4
    shown = snapshot(open_study("n", where, direction="maximize"))
    assert [each.state for each in shown.evaluations] == ["cancelled"] + ["complete"] * 4


def test_a_worker_killed_as_it_takes_a_queued_trial_leaves_it_to_be_given_up(where):
    script = """
        import sqlalchemy
        from sqlalchemy.orm import Session
        from satisfice.study.workers.storage import open_storage
        engine = open_storage(where).engine
        def die_when_it_runs(session):
            with engine.connect() as connection:
                if connection.exec_driver_sql("SELECT count(*) FROM trials WHERE state = 'RUNNING'").scalar():
                    os._exit(9)
        sqlalchemy.event.listen(Session, "after_commit", die_when_it_runs)
        find(lambda params: params["x"], SPACE, 2.0, noise=0, budget=1, storage=where, name="n", model=BLIND)
    """
    study = open_study("n", where, direction="maximize")
    study.enqueue_trial({"x": 0.25, "y": 0.5})
    victim = start(script, where)
    _, err = victim.communicate(timeout=60)
    assert (victim.returncode, err) == (9, "")
    assert [trial.state for trial in study.trials] == [TrialState.RUNNING]
    seen: dict[int, Look] = {}
    lost = [reclaim(study, seen, lambda at=at: PERIOD * at) for at in range(5)]
    assert lost == [[], [], [], [study.trials[0]._trial_id], []]
    assert study.trials[0].datetime_start is not None


def test_a_queued_trial_is_taken_by_one_of_many(where):
    studies = [open_study("n", where, direction="maximize") for _ in range(4)]
    for k in range(10):
        studies[0].enqueue_trial({"x": k / 10})
    taken: list[int] = []

    def take(study):
        while (lease := Lease.pop(study)) is not None:
            taken.append(lease.trial_id)

    threads = [threading.Thread(target=take, args=(study,)) for study in studies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == [trial._trial_id for trial in studies[0].trials]
    assert all(trial.system_attrs[LEASE]["beat"] == 1 for trial in studies[0].trials)


def test_a_setting_that_loses_its_worker_three_times_is_a_failure():
    study = open_study(None, None, direction="maximize")
    space = Space.of({"x": (0.0, 1.0)})
    StudyConfig(2.0, space=space).store(study)
    lost = [(0.5, WORKER_LOST), (0.6, WORKER_LOST), (0.5, WORKER_LOST), (0.5, WORKER_LOST)]
    for x, error in (*lost, (0.7, "ValueError")):
        study.add_trial(
            create_trial(
                state=TrialState.FAIL,
                params={"x": x},
                distributions=distributions_of(space),
                system_attrs={ERROR: error},
            )
        )
    shown = snapshot(study)
    assert [each.state for each in shown.evaluations] == ["cancelled"] * 3 + ["failed"] * 2
    assert shown.answer.failures == 2


def test_ctrl_c_ends_one_worker_and_leaves_the_others_alone(tmp_path):
    script = """
        def objective(params):
            print("begun", file=sys.stderr, flush=True)
            time.sleep(1.0)
            return params["x"]
        find(objective, SPACE, 2.0, noise=0, budget=6, storage=where, name="n", model=BLIND, n_jobs=2)
        print("[]")
    """
    where = str(tmp_path / "s.db")
    processes = [start(script, where) for _ in range(2)]
    assert processes[0].stderr.readline() == "begun\n"
    processes[0].send_signal(signal.SIGINT)
    _, err = processes[0].communicate(timeout=60)
    assert processes[0].returncode in (130, -signal.SIGINT)
    assert "KeyboardInterrupt" in err
    processes[1].communicate(timeout=60)
    assert processes[1].returncode == 0
    states = Counter(trial.state for trial in trials_of(where))
    assert (states[TrialState.RUNNING], states[TrialState.COMPLETE]) == (0, 6)
    assert 1 <= states[TrialState.FAIL] <= 2


def test_eight_cells_are_never_given_to_two_workers(tmp_path):
    script = """
        cells = [{"cell": k} for k in range(8)]
        calls = []
        def objective(params):
            calls.append(params["cell"])
            time.sleep(0.2)
            return 0.0
        find(objective, cells, 2.0, noise=0, budget=50, storage=where, name="n", model=BLIND)
        print(json.dumps(calls))
    """
    calls = ended([start(script, str(tmp_path / "s.db")) for _ in range(4)])
    assert sorted(cell for each in calls for cell in each) == list(range(8))


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["sqlite", "postgres"])
def test_the_example_finds_a_good_setting_with_eight_workers(storage, tmp_path, request):
    where = str(tmp_path / "s.db") if storage == "sqlite" else request.getfixturevalue("postgres")
    command = [sys.executable, str(ROOT / "examples" / "workers.py"), "--storage", where, "--workers", "8"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert "8 workers in 8 processes: " + ", ".join(["good"] * 8) in done.stdout
    assert "the target is met" in done.stdout
