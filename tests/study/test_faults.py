"""`find` with objectives that fail, and with Ctrl-C."""

import os
import signal
import threading
import time
from collections import Counter

import numpy as np
import optuna
import pytest
from branin import SPACE, branin, least_branin, settings_of, states_of
from optuna.trial import TrialState

from processes import BLIND
from satisfice import SatisficeWarning, answer_of, find
from satisfice.errors import TooManyFailures, WrongType
from satisfice.study.proposal import CANCELLED
from satisfice.study.workers.storage import open_storage
from satisfice.study.workers.traces import trace_of


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (ValueError("too hot"), "ValueError: too hot"),
        (RecursionError(), "RecursionError"),
        (Unspeakable(), "Unspeakable"),
    ],
)
def test_what_the_objective_raises_is_a_failed_evaluation(problem, text):
    def objective(params):
        if params["x"] > 4:
            raise problem
        return branin(params)

    answer = find(objective, SPACE, 0.6, direction="minimize", noise=0, seed=2, budget=60)
    failed = [row for row in answer.table() if row["state"] == "failed"]
    assert answer.verdict == "good"
    assert answer.failures == len(failed) > 0
    assert all(row["error"].startswith(text) for row in failed)
    assert any(text in note for note in answer.notes)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1,5", b"", 10**400, [1, 2]])
def test_what_is_no_number_is_a_failed_evaluation(value):
    values = iter([1.0, value, 2.0])
    answer = find(lambda params: next(values), SPACE, 1e9, noise=0, budget=3, seed=1, model=BLIND)
    assert states_of(answer) == {"COMPLETE": 2, "FAIL": 1}
    assert "must return a finite number" in answer.table()[1]["error"]


def test_a_wrong_type_ends_the_search_at_the_first_evaluation_and_later_fails(tmp_path):
    values = iter([None, 1.0, None, 2.0])
    where = {"storage": tmp_path / "s.db", "name": "n", "noise": 0, "budget": 4, "seed": 1, "model": BLIND}
    with pytest.raises(WrongType, match=r"it returned None of type NoneType\. A `return` may be missing"):
        find(lambda params: next(values), SPACE, 1e9, **where)
    answer = find(lambda params: next(values), SPACE, 1e9, **where)
    assert [row["value"] for row in answer.table()] == [None, 1.0, None, 2.0]
    with pytest.raises(TooManyFailures, match="it returned nan"):  # a number, so it may fail five times
        find(lambda params: float("nan"), SPACE, 1e9)


@pytest.mark.parametrize("each", [None, 60])
def test_the_first_failure_is_kept_in_full(tmp_path, each, capsys):
    def load(params):
        raise FileNotFoundError("no such table")

    def objective(params):
        return load(params) if params["x"] > 6 else branin(params)

    answer = find(objective, SPACE, 1e9, budget=12, noise=0, seed=1, model=BLIND, each=each, storage=tmp_path / "s.db")
    first = next(row for row in answer.table() if row["state"] == "failed")
    told = answer.first_failure
    assert told.startswith(f"trial {first['number']}, x = ")
    assert told.endswith("FileNotFoundError: no such table")
    assert "in load" in told
    assert 'raise FileNotFoundError("no such table")' in told
    assert "/study/workers/" not in told  # our own frames say nothing
    assert told.partition("\n")[2] in capsys.readouterr().err
    assert answer_of(answer.study).first_failure == told
    assert find(branin, SPACE, 1e9, budget=2, noise=0, seed=1).first_failure is None


def test_a_long_traceback_loses_its_middle():
    def deep(n):
        return other(n - 1) if n else None.lost

    def other(n):
        return deep(n - 1) if n else None.lost

    with pytest.raises(TooManyFailures) as ended:
        find(lambda params: deep(200), SPACE, 1e9)
    told = trace_of(ended.value.__cause__)
    assert len(told) < 9000
    assert told.endswith("has no attribute 'lost'")


def test_a_value_outside_of_its_range_is_a_failed_evaluation():
    values = iter([0.5, 1.5, True])
    answer = find(lambda params: next(values), SPACE, 0.9, value_range=(0, 1), budget=3, seed=1, model=BLIND)
    assert (answer.evaluations, answer.failures) == (2, 1)
    assert "range" in answer.table()[1]["error"]


def test_an_objective_that_mostly_fails_ends_the_search_with_its_error(tmp_path):
    def broken(params):
        raise ValueError("no data")

    said = r"^5 of 5 evaluations failed; the most frequent error \(5 times\) was: ValueError: no data\. Correct"
    with pytest.raises(TooManyFailures, match=said):
        find(broken, SPACE, 1.0, budget=50, storage=tmp_path / "s.db", name="n", seed=1, noise=0)
    # the objective was repaired: the same call goes on
    answer = find(branin, SPACE, 1e9, budget=8, storage=tmp_path / "s.db", name="n", seed=1, noise=0, model=BLIND)
    assert (answer.evaluations, answer.failures) == (3, 5)


@pytest.mark.parametrize(
    ("texts", "which"),
    [
        ("abcde", r"the first error was: ValueError: a\."),
        ("abcbe", r"the most frequent error \(2 times\) was: ValueError: b\."),
    ],
)
def test_the_error_that_is_named_is_the_most_frequent_one_if_there_is_one(texts, which):
    left = iter(texts)

    def broken(params):
        raise ValueError(next(left))

    with pytest.raises(TooManyFailures, match=f"^5 of 5 evaluations failed; {which} Correct"):
        find(broken, SPACE, 1.0, budget=50, seed=1, noise=0)


def test_an_objective_that_fails_sometimes_does_not():
    calls = []

    def objective(params):
        calls.append(params)
        return 1 / (len(calls) % 5 > 1)

    answer = find(objective, SPACE, 2.0, noise=0, seed=1, budget=20, model=BLIND)
    assert (answer.evaluations, answer.failures) == (12, 8)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_interruption_goes_through_and_leaves_nothing_running(tmp_path, kind, n_jobs):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 6:
            raise kind
        time.sleep(0.02)
        return branin(params)

    more = {"storage": tmp_path / "s.db", "name": "n", "n_jobs": n_jobs, "target": -1.0, "model": BLIND}
    with pytest.raises(kind):
        find(objective, SPACE, direction="minimize", noise=0, seed=1, **more)
    study = optuna.load_study(study_name="n", storage=open_storage(tmp_path / "s.db"))
    states = Counter(trial.state for trial in study.trials)
    assert states[TrialState.RUNNING] == 0
    assert 1 <= states[TrialState.FAIL] <= n_jobs
    again = least_branin(budget=8, **more)
    assert again.evaluations + again.failures == 8


def test_after_an_interruption_the_same_setting_is_asked_again(tmp_path):
    def objective(params):
        if params == whole[4]:
            raise KeyboardInterrupt
        return branin(params)

    whole = settings_of(least_branin(budget=8, target=0.0))
    with pytest.raises(KeyboardInterrupt):
        find(objective, SPACE, 0.0, direction="minimize", noise=0, seed=1, storage=tmp_path / "s.db", name="n")
    assert settings_of(least_branin(budget=8, target=0.0, storage=tmp_path / "s.db", name="n")) == whole


def test_ctrl_c_at_any_moment_leaves_nothing_running(tmp_path):
    rng = np.random.default_rng(0)
    where = {"storage": tmp_path / "s.db", "name": "n", "target": -1.0, "model": BLIND, "budget": 1000}
    for _ in range(8):
        timer = threading.Timer(0.2 + 0.5 * rng.random(), os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            least_branin(**where)
        timer.join()
        study = optuna.load_study(study_name="n", storage=open_storage(tmp_path / "s.db"))
        assert not study.get_trials(states=(TrialState.RUNNING,))
    failed = study.get_trials(states=(TrialState.FAIL,))
    assert len(failed) <= 8
    assert all(CANCELLED in trial.system_attrs for trial in failed)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_result_that_comes_too_late_is_not_stored(tmp_path):
    def objective(params):
        study = optuna.load_study(study_name="n", storage=open_storage(tmp_path / "s.db"))
        for trial in study.get_trials(states=(TrialState.RUNNING,)):
            study._storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
        return 1.0

    with pytest.warns(SatisficeWarning, match="too late"):
        answer = find(
            objective, SPACE, 0.5, noise=0, budget=1, storage=tmp_path / "s.db", name="n", seed=1
        )  # fmt: skip
    assert (answer.verdict, answer.evaluations, answer.failures) == ("open", 0, 1)
