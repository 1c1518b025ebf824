"""`find` as a user meets it, in one process."""

import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState

from satisfice import BadInput, SatisficeWarning, Search, find
from satisfice.gp.models import MODELS
from satisfice.study.find import TooManyFailures
from satisfice.study.mark import CANCELLED
from satisfice.study.settings import VERDICT, Settings
from satisfice.study.space import Space

SPACE = {"x": (-5.0, 10.0), "y": (0.0, 15.0)}
BLIND = replace(
    MODELS["auto"](), starting_points=10**6
)  # without a model there is no verdict but good: budgets are spent


def branin(params):
    a, b = params["x"], params["y"]
    return (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def least_branin(**more):
    """A search for the least value of Branin's function, noise-free."""
    return find(branin, **{"space": SPACE, "target": 0.6, "direction": "minimize", "noise": 0, "seed": 1, **more})


def settings_of(answer):
    """The parameters that were evaluated, in order."""
    return [trial.params for trial in answer.study.trials if CANCELLED not in trial.system_attrs]


def states_of(answer):
    return Counter(trial.state.name for trial in answer.study.trials)


@pytest.mark.parametrize("space", [SPACE, {"x": (-5.0, 10.0), "y": (0, 15)}, {"x": (1e-3, 10.0, "log"), "y": [2, 5]}])
def test_without_noise_it_asks_what_a_search_asks(space):
    answer = least_branin(space=space, budget=25)
    spaced = Space.of(space)
    search = Search(spaced.domain, 0.6, direction="minimize", noise=0, seed=1)
    asked = []
    while len(asked) < 25 and search.answer().verdict == "open":
        x = search.ask()
        asked.append(spaced.decode(x))
        search.tell(x, branin(asked[-1]))
    assert settings_of(answer) == asked
    expected = search.answer()
    assert answer.verdict == expected.verdict
    assert (answer.value, answer.evaluations) == (expected.value, expected.evaluations)


def test_the_answer_names_the_setting_and_has_a_table():
    answer = least_branin(budget=60)
    assert answer.verdict == "good"
    assert branin(answer.params) == answer.value <= 0.6
    assert "x = " in str(answer)
    rows = answer.table()
    assert [row["number"] for row in rows] == list(range(answer.evaluations))
    assert rows[-1]["state"] == "complete"
    assert set(rows[-1]) == {"number", "x", "y", "value", "state", "repeats", "hope", "error", "seconds"}
    assert answer.study.user_attrs[VERDICT] == "good"


def test_under_noise_the_same_setting_is_evaluated_again_until_it_is_certain():
    rng = np.random.default_rng(0)
    answer = find(
        lambda p: 1 - (p["rate"] - 0.5) ** 2 + 0.05 * rng.standard_normal(),
        {"rate": (0.0, 1.0)},
        0.8,
        seed=2,
        budget=80,
    )
    assert answer.verdict == "good"
    repeats = [row for row in answer.table() if row["repeats"] is not None]
    assert len(repeats) >= answer.certificate.repeats
    assert all(row["rate"] == answer.table()[row["repeats"]]["rate"] for row in repeats)


def test_the_budget_is_kept_exactly_by_threads():
    calls = []

    def objective(params):
        calls.append(params)
        time.sleep(0.01)
        return branin(params)

    answer = find(objective, SPACE, -100.0, direction="minimize", noise=0, n_jobs=4, budget=13, seed=1, model=BLIND)
    assert len(calls) == answer.evaluations == 13
    assert states_of(answer)["COMPLETE"] == 13
    assert len({(p["x"], p["y"]) for p in calls[:4]}) == 4  # those that ran at the same time


def test_a_resumed_search_goes_on_as_if_never_interrupted(tmp_path):
    whole = least_branin(budget=14, target=0.0)
    for budget in (5, 6, 14):
        parts = least_branin(budget=budget, target=0.0, storage=tmp_path / "s.db", name="n", seed=1)
    assert settings_of(parts) == settings_of(whole)
    assert parts.evaluations == 14


def test_without_a_seed_one_is_drawn_once(tmp_path):
    first = least_branin(budget=3, target=0.0, storage=tmp_path / "s.db", name="n", seed=None)
    seed = Settings.of(first.study).seed
    second = least_branin(budget=6, target=0.0, storage=tmp_path / "s.db", name="n", seed=None)
    assert Settings.of(second.study).seed == seed
    assert settings_of(second) == settings_of(least_branin(budget=6, target=0.0, seed=seed))
    assert Settings.of(least_branin(budget=1, seed=None).study).seed != seed


def test_another_target_is_taken_up_at_once(tmp_path):
    first = least_branin(target=5.0, storage=tmp_path / "s.db", name="n")
    assert first.verdict == "good"
    again = least_branin(target=6.0, storage=tmp_path / "s.db", name="n")
    assert (again.verdict, again.evaluations) == ("good", first.evaluations)
    harder = least_branin(target=0.6, storage=tmp_path / "s.db", name="n")
    assert harder.evaluations > first.evaluations
    assert Settings.of(harder.study).target == 0.6


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"space": {"x": (-5.0, 10.0), "y": (0.0, 16.0)}}, "y: .*high=16.0.*high=15.0"),
        ({"space": {"x": (-5.0, 10.0)}}, "y: None came"),
        ({"space": [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}]}, "x: "),
        ({"space": lambda trial: {"x": trial.suggest_float("x", 0, 1)}}, "a function came"),
        ({"direction": "maximize"}, "made to minimize"),
    ],
)
def test_another_space_or_direction_is_refused(tmp_path, other, message):
    least_branin(budget=2, storage=tmp_path / "s.db", name="n")
    with pytest.raises(BadInput, match=message):
        least_branin(budget=2, storage=tmp_path / "s.db", name="n", **other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": 0},
        {"budget": True},
        {"n_jobs": 0},
        {"timeout": -1},
        {"timeout": "1"},
        {"target": float("nan")},
        {"noise": -1},
        {"rule": "best"},
        {"space": {}},
        {"history": [{"x": 1.0, "value": 2.0}]},
        {"history": 3},
        {"history": "no/such/file.csv"},
        {"history": [{"x": 99.0, "y": 1.0, "value": 2.0}]},
        {"history": [{"x": 1.0, "y": 1.0, "value": "abc"}]},
    ],
)
def test_bad_arguments_are_refused(wrong):
    with pytest.raises(BadInput):
        least_branin(**wrong)
    with pytest.raises(BadInput, match="objective"):
        find(3, SPACE, 1.0)


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

    answer = find(objective, SPACE, 0.6, direction="minimize", noise=0, seed=1, budget=60)
    failed = [row for row in answer.table() if row["state"] == "failed"]
    assert answer.verdict == "good"
    assert answer.failures == len(failed) > 0
    assert all(row["error"].startswith(text) for row in failed)
    assert any(text in note for note in answer.notes)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1.5", b"1", 10**400, [1, 2], True])
def test_what_is_no_number_is_a_failed_evaluation(value):
    values = iter([1.0, value, 2.0])
    answer = find(lambda params: next(values), SPACE, 1e9, noise=0, budget=3, seed=1, model=BLIND)
    assert states_of(answer) == {"COMPLETE": 2, "FAIL": 1}
    assert "finite number was wanted" in answer.table()[1]["error"]


def test_a_value_outside_of_its_range_is_a_failed_evaluation():
    values = iter([0.5, 1.5, True])
    answer = find(lambda params: next(values), SPACE, 0.9, value_range=(0, 1), budget=3, seed=1, model=BLIND)
    assert (answer.evaluations, answer.failures) == (2, 1)
    assert "range" in answer.table()[1]["error"]


def test_an_objective_that_mostly_fails_ends_the_search_with_its_error(tmp_path):
    def broken(params):
        raise ValueError("no data")

    with pytest.raises(TooManyFailures, match=r"5 of 5.*ValueError: no data"):
        find(broken, SPACE, 1.0, budget=50, storage=tmp_path / "s.db", name="n", seed=1, noise=0)
    # the objective was repaired: the same call goes on
    answer = find(branin, SPACE, 1e9, budget=8, storage=tmp_path / "s.db", name="n", seed=1, noise=0, model=BLIND)
    assert (answer.evaluations, answer.failures) == (3, 5)


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
    study = optuna.load_study(study_name="n", storage=f"sqlite:///{tmp_path}/s.db")
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
        study = optuna.load_study(study_name="n", storage=f"sqlite:///{tmp_path}/s.db")
        assert not study.get_trials(states=(TrialState.RUNNING,))
    failed = study.get_trials(states=(TrialState.FAIL,))
    assert len(failed) <= 8
    assert all(CANCELLED in trial.system_attrs for trial in failed)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_callbacks_see_each_trial_and_may_stop_the_study():
    seen = []

    def callback(study, trial):
        seen.append((trial.number, trial.state, trial.value))
        if len(seen) == 4:
            study.stop()

    answer = least_branin(callbacks=[callback], target=0.0)
    assert [each[0] for each in seen] == [0, 1, 2, 3]
    assert seen[-1][1:] == (TrialState.COMPLETE, answer.study.trials[3].value)
    assert answer.evaluations == 4


def test_what_a_callback_raises_comes_out():
    def callback(study, trial):
        raise ZeroDivisionError

    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError):
            least_branin(callbacks=[callback], n_jobs=n_jobs)


def test_no_evaluation_begins_after_the_timeout():
    start = time.monotonic()
    answer = find(lambda p: time.sleep(0.1) or 0.0, SPACE, 1.0, noise=0, timeout=0.5, seed=1, model=BLIND)
    assert time.monotonic() - start < 5
    assert answer.verdict == "open"
    assert 1 <= answer.evaluations <= 6


def test_parameters_may_depend_on_others():
    def space(trial):
        if trial.suggest_categorical("kind", ["linear", "deep"]) == "linear":
            return {"kind": "linear", "slope": trial.suggest_float("slope", 0, 1)}
        return {"kind": "deep", "layers": trial.suggest_int("layers", 1, 8)}

    def objective(params):
        return params["slope"] * 0.5 if params["kind"] == "linear" else 1 - abs(params["layers"] - 6) / 10

    answer = find(objective, space, 0.95, noise=0, seed=1, budget=40)
    assert answer.verdict == "good"
    assert answer.params == {"kind": "deep", "layers": 6}
    with pytest.raises(BadInput, match="function as space"):
        find(objective, space, 0.95, history=[])


def test_a_table_of_candidates_is_searched_row_by_row():
    rows = [{"size": size, "kind": kind} for size in (1, 2, 4) for kind in ("a", "b")]
    asked = []

    def objective(params):
        asked.append(params)
        time.sleep(0.01)
        return -float(params["size"])

    for n_jobs in (1, 4):
        asked.clear()
        answer = find(objective, rows, 0.0, noise=0, seed=1, n_jobs=n_jobs, budget=50, rule="random")
        assert answer.verdict == "none"
        assert all(row in rows for row in asked)
        assert len(asked) <= len(rows)
        assert len({tuple(row.values()) for row in asked}) == len(asked)


HISTORY = [{"x": 3.1, "y": 2.3, "value": 0.5, "note": "old"}, {"x": 9.0, "y": 9.0, "value": float("nan"), "note": ""}]


def test_earlier_values_teach_and_without_noise_may_be_good_at_once():
    answer = least_branin(history=HISTORY)
    assert (answer.verdict, answer.value) == ("good", 0.5)
    assert (answer.evaluations, answer.failures) == (0, 0)
    assert answer.params == {"x": 3.1, "y": 2.3}
    assert [row["state"] for row in answer.table()] == ["history", "history"]


def test_earlier_values_certify_nothing_under_noise():
    rows = [{"x": 3.1, "y": 2.3, "value": 0.5 + 0.01 * k} for k in range(-10, 10)]
    answer = find(branin, SPACE, 1.0, direction="minimize", noise=1.0, budget=1, history=rows, seed=1)
    assert answer.verdict == "open"
    assert answer.evaluations == 1


@pytest.mark.parametrize("form", ["list", "csv", "frame"])
def test_earlier_values_are_added_once_and_not_counted(tmp_path, form):
    given = HISTORY
    if form == "csv":
        given = tmp_path / "old.csv"
        given.write_text("number,x,y,value\n0,3.1,2.3,0.5\n1,9,9,\n")
    if form == "frame":
        given = pytest.importorskip("pandas").DataFrame(HISTORY)
    for budget in (2, 4):
        answer = least_branin(history=given, target=0.0, budget=budget, storage=tmp_path / "s.db", name="n")
    states = Counter(row["state"] for row in answer.table())
    assert states == {"history": 2, "complete": 4}
    assert settings_of(answer)[:2] == [{"x": 3.1, "y": 2.3}, {"x": 9.0, "y": 9.0}]


def test_a_csv_file_may_hold_choices_and_whole_numbers(tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("depth,solver,flag,value\n3,adam,True,0.9\n4,,False,0.1\n")
    space = {"depth": (1, 8), "solver": ["adam", None], "flag": [True, False]}
    answer = find(lambda p: 0.0, space, 0.8, noise=0, history=path)
    assert answer.params == {"depth": 3, "solver": "adam", "flag": True}
    assert answer.table()[1]["solver"] is None


def test_queued_settings_are_evaluated_first(tmp_path):
    first = least_branin(budget=1, target=0.0, storage=tmp_path / "s.db", name="n")
    first.study.enqueue_trial({"x": 3.0, "y": 2.0})
    answer = least_branin(budget=3, target=0.0, storage=tmp_path / "s.db", name="n")
    assert settings_of(answer)[1] == {"x": 3.0, "y": 2.0}
    assert answer.evaluations == 3


def test_a_result_that_comes_too_late_is_not_stored(tmp_path):
    def objective(params):
        study = optuna.load_study(study_name="n", storage=f"sqlite:///{tmp_path}/s.db")
        for trial in study.get_trials(states=(TrialState.RUNNING,)):
            study._storage.set_trial_state_values(trial._trial_id, TrialState.FAIL)
        return 1.0

    with pytest.warns(SatisficeWarning, match="too late"):
        answer = find(
            objective, SPACE, 0.5, noise=0, budget=1, storage=tmp_path / "s.db", name="n", seed=1
        )  # fmt: skip
    assert (answer.verdict, answer.evaluations, answer.failures) == ("open", 0, 1)


def test_nothing_is_printed_and_nothing_logged(capfd):
    least_branin(budget=5)
    assert capfd.readouterr() == ("", "")
    least_branin(budget=5, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "5/5" in err
    assert "target 0.6" in err
