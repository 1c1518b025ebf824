"""Earlier evaluations, given as a table."""

from collections import Counter

import numpy as np
import pytest
from branin import SPACE, branin, least_branin, settings_of

from satisfice import find

HISTORY = [{"x": 3.1, "y": 2.3, "value": 0.5, "note": "old"}, {"x": 9.0, "y": 9.0, "value": float("nan"), "note": ""}]


def test_earlier_values_teach_and_a_good_one_is_evaluated_first():
    answer = least_branin(history=HISTORY)
    assert answer.verdict == "good"
    assert answer.value == branin({"x": 3.1, "y": 2.3})
    assert (answer.evaluations, answer.failures) == (1, 0)
    assert answer.params == {"x": 3.1, "y": 2.3}
    assert [row["state"] for row in answer.table()] == ["history", "history", "complete"]
    assert any("contradict: 1; one is 0.5, and its setting gave" in note for note in answer.notes)


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


def test_a_table_that_has_grown_or_comes_in_another_order_adds_its_new_rows_only(tmp_path):
    rows = [{"x": float(k), "y": 1.0, "value": 50.0 + k} for k in range(3)]
    for given, history in ((rows, 3), ([{"x": 7.0, "y": 1.0, "value": 60.0}, *rows[::-1]], 4), ([rows[0], *rows], 5)):
        answer = least_branin(history=given, target=0.0, budget=1, storage=tmp_path / "s.db", name="n")
        assert Counter(row["state"] for row in answer.table())["history"] == history


def test_a_row_that_stands_in_a_table_twice_does_not_mean_that_there_is_no_noise():
    rows = 2 * [{"x": 3.1, "y": 2.3, "value": 0.123456789}]
    rng = np.random.default_rng(0)
    answer = find(
        lambda p: 5.0 + rng.standard_normal(), SPACE, 0.6, direction="minimize", seed=1, budget=3, history=rows
    )
    assert (answer.verdict, answer.evaluations) == ("open", 3)


def test_a_rounded_row_does_not_mean_that_there_is_noise():
    history = [{"x": 0.1, "value": -0.13}]
    answer = find(lambda p: -np.pi * (p["x"] - 0.3) ** 2, {"x": (0.0, 1.0)}, -0.14, seed=1, history=history)
    assert answer.verdict == "good"
    assert str(answer.certificate).endswith("may have stayed hidden")
    assert answer.evaluations <= 6


def test_pandas_nan_stands_for_a_choice_of_none():
    frame = pytest.importorskip("pandas").DataFrame([{"kind": "a", "value": 1.0}, {"kind": None, "value": 2.0}])
    answer = find(lambda p: 0.0, {"kind": ["a", "b", None]}, 9.0, noise=0, budget=1, seed=1, history=frame)
    assert answer.params == {"kind": None}
    table = frame[["kind"]]
    assert find(lambda p: float(p["kind"] is None), table, 1.0, noise=0, seed=1).params == {"kind": None}
