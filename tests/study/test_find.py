"""`find` as a user meets it, in one process."""

import time

import numpy as np
import pytest
from branin import SPACE, branin, least_branin, settings_of, states_of
from optuna.trial import TrialState

from processes import BLIND
from satisfice import BadInput, Search, find
from satisfice.domain.space import Space
from satisfice.study.config import VERDICT, StudyConfig


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
    seed = StudyConfig.of(first.study).seed
    second = least_branin(budget=6, target=0.0, storage=tmp_path / "s.db", name="n", seed=None)
    assert StudyConfig.of(second.study).seed == seed
    assert settings_of(second) == settings_of(least_branin(budget=6, target=0.0, seed=seed))
    assert StudyConfig.of(least_branin(budget=1, seed=None).study).seed != seed


def test_another_target_is_taken_up_at_once(tmp_path):
    first = least_branin(target=5.0, storage=tmp_path / "s.db", name="n")
    assert first.verdict == "good"
    again = least_branin(target=6.0, storage=tmp_path / "s.db", name="n")
    assert (again.verdict, again.evaluations) == ("good", first.evaluations)
    harder = least_branin(target=0.6, storage=tmp_path / "s.db", name="n")
    assert harder.evaluations > first.evaluations
    assert StudyConfig.of(harder.study).target == 0.6


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"space": {"x": (-5.0, 10.0), "y": (0.0, 16.0)}}, r"`space\[.y.\]` must be .*high=15.0, .*; got .*high=16.0"),
        ({"space": {"x": (-5.0, 10.0)}}, r"`space\[.y.\]` must be .*, as in the study .n.; got None"),
        ({"space": [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}]}, r"`space\[.x.\]` must be"),
        ({"space": lambda trial: {"x": trial.suggest_float("x", 0, 1)}}, "got a function"),
        ({"direction": "maximize"}, "`direction` must be 'minimize'"),
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
        {"callbacks": 3},
        {"callbacks": [print, 3]},
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


def test_a_wrong_table_leaves_no_study_behind(tmp_path):
    with pytest.raises(BadInput, match="history"):
        least_branin(history=[{"x": 1.0, "y": 1.0, "value": "abc"}], storage=tmp_path / "s.db", name="n")
    assert not (tmp_path / "s.db").exists()


def test_whole_numbers_may_be_numpys():
    answer = least_branin(budget=np.int64(2), seed=np.int64(1))
    assert answer.evaluations == 2
    assert settings_of(answer) == settings_of(least_branin(budget=2, seed=1))


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
    with pytest.raises(BadInput, match="got a function as `space`"):
        find(objective, space, 0.95, history=[])


def test_what_depends_on_others_is_never_proven_to_hold_nothing_good():
    def space(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return {"kind": kind, "size": trial.suggest_int("size", 0, 1) if kind == "b" else 0}

    answer = find(lambda p: -p["size"] - (p["kind"] == "b"), space, 1.0, noise=0, seed=1, budget=12)
    assert (answer.verdict, answer.proven, answer.hope) == ("open", False, None)
    assert "cannot be told" in answer.notes[-1]


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


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_used_up_space_is_decided_without_being_told_of_the_noise(n_jobs):
    answer = find(lambda p: -p["x"], {"x": (0, 5)}, target=1.0, seed=1, n_jobs=n_jobs)
    assert answer.verdict == "unlikely"  # no proof, since nobody said that there is no noise
    assert answer.evaluations == 11  # four repeats of ordinary settings, and of the best one
    assert "every setting was evaluated; 5 of 5 repeats" in str(answer)
    assert not any("before the budget" in note for note in answer.notes)


def test_where_nothing_is_left_to_ask_it_says_so():
    def objective(params):
        return 1 / params["x"] - 1

    answer = find(objective, {"x": (0, 5)}, target=1.0, noise=0, seed=1)
    assert (answer.verdict, answer.evaluations, answer.failures) == ("open", 5, 3)  # it may have failed by chance twice
    assert "ended before the budget was spent: all 6 points of the domain have been asked" in answer.notes[-1]


def test_no_whole_number_on_a_long_log_scale_is_evaluated_twice_without_noise():
    answer = find(lambda p: -abs(p["n"] - 3), {"n": (1, 10**6, "log")}, target=1, noise=0, budget=30, seed=1)
    asked = [params["n"] for params in settings_of(answer)]
    assert len(asked) == len(set(asked)) == answer.evaluations


def test_queued_settings_are_evaluated_first(tmp_path):
    first = least_branin(budget=1, target=0.0, storage=tmp_path / "s.db", name="n")
    first.study.enqueue_trial({"x": 3.0, "y": 2.0})
    answer = least_branin(budget=3, target=0.0, storage=tmp_path / "s.db", name="n")
    assert settings_of(answer)[1] == {"x": 3.0, "y": 2.0}
    assert answer.evaluations == 3


def test_nothing_is_printed_and_nothing_logged(capfd):
    least_branin(budget=5)
    assert capfd.readouterr() == ("", "")
    least_branin(budget=5, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "5/5" in err
    assert "target 0.6" in err


def test_idle_workers_do_not_wake_each_other():
    """Two of them on a space that is used up, beside one long evaluation: no more trials than each makes once or twice."""
    rows = [{"x": 1}, {"x": 2}, {"x": 3}]

    def slow(params):
        time.sleep(1.5 if params["x"] == 2 else 0.0)
        return float(params["x"])

    answer = find(slow, rows, target=10, noise=0, n_jobs=3, seed=1)
    assert (answer.verdict, answer.evaluations) == ("none", 3)
    assert len(answer.study.trials) <= 9
    assert all("x" in row for row in answer.table())  # of cancelled trials as well


def test_every_row_of_a_table_is_asked_however_close_it_lies_to_another():
    rows = [{"rate": 10.0**-k} for k in range(8)]
    answer = find(lambda p: -p["rate"], rows, target=1.0, noise=0, seed=1)
    assert (answer.verdict, answer.evaluations) == ("none", 8)
