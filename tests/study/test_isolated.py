"""Evaluations in processes of their own: what hangs, crashes or eats memory fails, and the search goes on."""

import ctypes
import faulthandler
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import optuna
import pytest
from branin import SPACE, branin

from processes import is_alive, start, wait_until
from satisfice import BadInput, BadValue, TooManyFailures, answer_of, find
from satisfice.errors import EvaluationFailed, WrongType
from satisfice.study.proposal import CANCELLED, CUT
from satisfice.study.workers import loop
from satisfice.study.workers.isolated import Isolated

faulthandler.disable()  # pytest's would print where each child crashes


def hang():
    time.sleep(600)


def crash():
    ctypes.string_at(0)


def eat():
    eaten = []
    while True:
        eaten.append(bytearray(1 << 24))


def leave():
    os._exit(3)


def outside_of_memory():
    """As the kernel does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


FAULTS = [hang, crash, eat, leave, outside_of_memory, sys.exit]
REASONS = {
    hang: "took longer than 2 s",
    crash: "the process was ended by SIGSEGV, a crash in compiled code",
    eat: "MemoryError:",
    leave: "the process ended with exit code 3 and returned nothing",
    outside_of_memory: "the process was ended by SIGKILL, as when memory runs out",
    sys.exit: "SystemExit:",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_search_ends_good_all_the_same(fault):
    def objective(params):
        if params["x"] > 6:  # a third of the space
            fault()
        return branin(params)

    answer = find(
        objective, SPACE, 1.5, direction="minimize", noise=0, seed=1, each=2 if fault is hang else 60, memory=2e8
    )
    assert answer.verdict == "good"
    assert branin(answer.params) <= 1.5
    failed = [row for row in answer.table() if row["state"] == "failed"]
    assert answer.failures == len(failed) >= 1
    assert {row["error"] for row in failed} == {REASONS[fault]}


def test_several_at_once_ask_what_one_at_a_time_asks_in_this_process():
    alone = find(branin, SPACE, 0.6, direction="minimize", noise=0, seed=1, budget=12)
    apart = find(branin, SPACE, 0.6, direction="minimize", noise=0, seed=1, budget=12, each=math.inf)
    assert [row["x"] for row in apart.table()] == [row["x"] for row in alone.table()]
    assert [row["value"] for row in apart.table()] == [row["value"] for row in alone.table()]
    begun = time.monotonic()
    slow = find(lambda p: time.sleep(0.5) or 0.0, SPACE, 1.0, noise=0, budget=4, n_jobs=4, seed=1, each=30)
    assert slow.evaluations == 4
    assert time.monotonic() - begun < 4 * 0.5 + 20  # it ended at all


def test_each_evaluation_has_a_process_of_its_own_which_is_gone_afterwards(tmp_path):
    seen = tmp_path / "seen"

    def objective(params):
        child = subprocess.Popen(["sleep", "600"])  # noqa: S607
        with seen.open("a") as file:
            file.write(f"{os.getpid()} {child.pid}\n")
        return 0.0

    find(objective, SPACE, 1.0, noise=0, budget=3, seed=1, each=30)
    lines = [list(map(int, line.split())) for line in seen.read_text().splitlines()]
    assert len({child for child, _ in lines} | {os.getpid()}) == 4
    assert wait_until(lambda: not any(is_alive(process) for line in lines for process in line))


def test_what_is_returned_comes_back_as_it_would_without():
    with Isolated(lambda given: given["give"], math.inf) as same:
        for value in (1, -0.0, 1e-300, 0.1 + 0.2, True, "1.5"):
            assert repr(same({"give": value})) == repr(float(value))
        with pytest.raises(WrongType, match=r"returned None of type NoneType. A `return` may be missing"):
            same({"give": None})
        with pytest.raises(BadValue, match=r"returned nan of type float") as refusal:
            same({"give": math.nan})
        assert not isinstance(refusal.value, WrongType)
    with Isolated(lambda given: {"yield": np.float32(0.5), "cost": 3}, math.inf) as several:
        assert several({}) == {"yield": 0.5, "cost": 3}
    with Isolated(lambda given: {"yield": 1.5, "batch": "A7", "lost": None}, math.inf) as several:
        assert several({}) == {"yield": 1.5, "batch": "A7", "lost": None}


def test_what_is_raised_comes_with_its_traceback():
    def inner():
        raise KeyError("lost")

    def objective(given):
        inner()

    with (
        Isolated(objective, math.inf) as isolated,
        pytest.raises(EvaluationFailed, match=r"KeyError: 'lost'") as failure,
    ):
        isolated({})
    assert "in inner" in failure.value.trace
    assert "workers" not in failure.value.trace

    def pruned(given):
        raise optuna.TrialPruned

    with Isolated(pruned, math.inf) as isolated, pytest.raises(optuna.TrialPruned):
        isolated({})


@pytest.mark.parametrize("draw", [np.random.default_rng(0).random, random.Random(0).random, random.random])  # noqa: S311
def test_generators_of_random_numbers_do_not_start_anew_in_each_process(draw):
    """Otherwise repeats would agree to the last digit, and be taken to be noise-free."""
    values = []
    for _ in range(2):
        with Isolated(lambda given: draw(), math.inf) as isolated:
            values.append([isolated({}) for _ in range(8)])
    assert len(set(values[0])) == 8
    if draw is not random.random:
        assert values[0] == values[1]  # what follows from a seed still follows from it


def test_legacy_generators_neither():
    state = np.random.RandomState(0)
    with Isolated(lambda given: state.random_sample() + np.random.random(), math.inf) as isolated:  # noqa: NPY002
        assert len({isolated({}) for _ in range(8)}) == 8


def test_noise_stays_noise():
    rng = np.random.default_rng(0)
    answer = find(lambda p: 0.5 + 0.1 * rng.standard_normal(), {"x": (0.0, 1.0)}, 0.9, seed=1, budget=12, each=30)
    values = [row["value"] for row in answer.table()]
    assert len(set(values)) == len(values)
    assert not any("identical" in note for note in answer.notes)


def test_several_requirements():
    target = {"yield": ">= 88", "cost": "<= 4"}
    answer = find(
        lambda p: {"yield": 90 - abs(p["x"] - 3), "cost": p["x"], "by": "Ada"},
        {"x": (0.0, 10.0)},
        target,
        each=60,
        seed=1,
    )
    assert answer.verdict == "good"
    assert [each.requirement.name for each in answer.requirements] == ["yield", "cost"]


def test_parameters_may_depend_on_others():
    def space(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return {"kind": kind, "size": trial.suggest_int("size", 0, 8) if kind == "b" else 0}

    answer = find(lambda p: p["size"], space, 6, noise=0, seed=1, budget=40, each=30)
    assert answer.verdict == "good"
    with pytest.raises(WrongType, match="`space` must give texts, numbers"):
        find(lambda p: 1.0, lambda trial: {"x": object(), "y": trial.suggest_float("y", 0, 1)}, 6, noise=0, each=30)


def test_if_all_hang_the_error_says_so():
    with pytest.raises(TooManyFailures, match=r"5 of 5 evaluations failed; .* was: took longer than 0.05 s"):
        find(lambda p: hang(), SPACE, 1.0, noise=0, seed=1, each=0.05)


@pytest.mark.parametrize(
    "wrong",
    [{"each": 0}, {"each": -1.0}, {"each": "2"}, {"memory": 1e9}, {"each": 1, "memory": 0}, {"cancel_running": True}],
)
def test_bad_arguments_are_refused(wrong):
    with pytest.raises(BadInput, match=rf"`{list(wrong)[-1]}`"):
        find(branin, SPACE, 0.6, **wrong)


@pytest.mark.parametrize("storage", [None, "s.db"])
def test_what_runs_when_the_verdict_is_in_is_cancelled(tmp_path, storage):
    first = tmp_path / "first"

    def objective(params):
        try:
            first.touch(exist_ok=False)
        except FileExistsError:
            hang()
        time.sleep(1)
        return 1.0

    where = {} if storage is None else {"storage": tmp_path / storage, "name": "n"}
    answer = find(objective, SPACE, 0.9, noise=0, n_jobs=3, seed=1, each=300, cancel_running=True, **where)
    assert (answer.verdict, answer.evaluations, answer.failures) == ("good", 1, 0)
    cut = [trial for trial in answer.study.trials if CUT in trial.system_attrs]
    assert len(cut) == 2
    assert all(trial.system_attrs[CANCELLED] == loop.DECIDED for trial in cut)
    assert answer_of(answer.study).verdict == "good"


def test_those_of_other_processes_are_cancelled_too(tmp_path):
    other = start(
        """
        def objective(params):
            print("begun", flush=True)
            time.sleep(600)

        answer = find(objective, SPACE, 0.9, noise=0, storage=where, name="n", each=float("inf"))
        print(answer.verdict, answer.evaluations, flush=True)
        """,
        tmp_path / "s.db",
    )
    assert other.stdout.readline().strip() == "begun"
    space = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
    answer = find(
        lambda p: 1.0, space, 0.9, noise=0, storage=tmp_path / "s.db", name="n", each=300, cancel_running=True
    )
    assert answer.verdict == "good"
    out, err = other.communicate(timeout=60)
    assert out.strip() == "good 1"
    assert err == ""


def test_ctrl_c_ends_what_is_being_evaluated(tmp_path):
    search = start(
        """
        def objective(params):
            print(os.getpid(), flush=True)
            time.sleep(600)

        try:
            find(objective, SPACE, 0.9, noise=0, storage=where, name="n", each=600, n_jobs=int(sys.argv[2]))
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """,
        tmp_path / "s.db",
        2,
    )
    children = [int(search.stdout.readline()) for _ in range(2)]
    os.kill(search.pid, signal.SIGINT)
    out, _ = search.communicate(timeout=60)
    assert out.strip() == "stopped"
    assert wait_until(lambda: not any(map(is_alive, children)))


def test_a_search_that_is_killed_leaves_nothing_behind(tmp_path):
    search = start(
        """
        def objective(params):
            print(os.getpid(), os.getppid(), flush=True)
            time.sleep(600)

        find(objective, SPACE, 0.9, noise=0, each=600)
        """,
        tmp_path / "s.db",
    )
    left = list(map(int, search.stdout.readline().split()))
    os.kill(search.pid, signal.SIGKILL)
    search.communicate(timeout=60)
    assert wait_until(lambda: not any(map(is_alive, left)))


def test_threads_of_this_process_do_no_harm():
    """A lock that another thread holds all the time is not needed by the processes."""
    held, stop = threading.Lock(), threading.Event()

    def hold():
        while not stop.is_set():
            with held:
                time.sleep(0.001)

    threads = [threading.Thread(target=hold) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        answer = find(branin, SPACE, 0.6, direction="minimize", noise=0, seed=1, budget=8, n_jobs=2, each=60)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert answer.failures == 0
