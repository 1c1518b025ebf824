"""Preferences in studies: kept with them, passed on the command line, drawn in the report."""

import json

import pytest

from satisfice import BadInput, answer_of, find, open_search, write_report
from satisfice.cli import main

SQUARE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def hill(p):
    return 1 - 4 * ((p["a"] - 0.6) ** 2 + (p["b"] - 0.5) ** 2)


def by_a(p):
    return p["a"]


def test_find_goes_on_for_a_cheaper_setting_and_the_study_knows_it(tmp_path):
    arguments = {"noise": 0, "storage": tmp_path / "s.db", "name": "s", "seed": 1, "prefer": "a + b"}
    answer = find(hill, SQUARE, 0.9, budget=12, **arguments)
    assert answer.verdict == "good"
    assert answer.evaluations == 12
    assert hill(answer.params) >= 0.9
    values = [(row["a"] + row["b"], row["value"]) for row in answer.table()]
    assert answer.preference.cost == pytest.approx(min(cost for cost, value in values if value >= 0.9))
    again = answer_of(answer.study)
    assert (again.params, again.preference.cost) == (answer.params, answer.preference.cost)
    report = write_report(answer, tmp_path / "r.html").read_text()
    assert "Value and preference" in report
    assert "small a + b" in report
    more = find(hill, SQUARE, 0.9, budget=15, **arguments)
    assert more.evaluations == 15
    assert more.preference.cost <= answer.preference.cost


def test_a_function_is_passed_again(tmp_path):
    where = tmp_path / "s.db"
    lab = open_search("lab", where, SQUARE, 0.6, prefer=by_a, noise=0, seed=1)
    for _ in range(8):
        (params,) = lab.ask()
        lab.tell(params, hill(params))
    answer = lab.answer()
    assert answer.preference.cost == answer.params["a"]
    reopened = open_search("lab", where)
    assert reopened.answer().verdict == "good"
    with pytest.raises(BadInput, match=r"`prefer` must be given again: .* its name, by_a"):
        reopened.ask()
    again = open_search("lab", where, SQUARE, 0.6, prefer=by_a, noise=0)
    assert again.answer().params == answer.params
    assert again.ask()
    with pytest.raises(BadInput, match="`prefer` must come with a `space`"):
        open_search("lab", where, prefer=by_a)


def test_a_preference_needs_ranges():
    with pytest.raises(BadInput, match="`prefer` needs a space with the ranges"):
        find(lambda p: 0.0, lambda trial: {"a": trial.suggest_float("a", 0, 1)}, 1.0, prefer="a")


def test_the_command_line_takes_a_preference(tmp_path, capsys):
    program = tmp_path / "p.py"
    program.write_text("import sys\na, b = map(float, sys.argv[1:])\nprint(1 - 4 * ((a - .6) ** 2 + (b - .5) ** 2))\n")
    common = ["find", "--target", "0.9", "--noise", "0", "--storage", str(tmp_path / "s.db"), "--quiet", "--seed", "1", "--json",
              "--budget", "9", "--param", "a=0.0:1.0", "--param", "b=0.0:1.0"]  # fmt: skip
    run = ["--", "python", str(program), "{a}", "{b}"]
    assert main([*common, "--prefer", "a + b", *run]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["preference"]["cost"] == pytest.approx(said["params"]["a"] + said["params"]["b"])
    assert main([*common, "--name", "near", "--prefer", "a=0.6,b=0.9", *run]) == 0
    assert json.loads(capsys.readouterr().out)["preference"]["kind"] == "distance"
    for wrong in ("a + c", "a=", "a=0.5"):
        assert main([*common, "--name", "wrong", "--prefer", wrong, *run]) == 2
        assert "prefer" in capsys.readouterr().err
