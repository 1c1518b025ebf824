"""Constraints in studies: kept with them, or passed again; the command line takes them."""

import optuna
import pytest

from satisfice import BadInput, Mixture, answer_of, find, open_search
from satisfice.cli import main
from satisfice.sklearn import SatisficeSearchCV
from satisfice.study.config import StudyConfig

PARTS = {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}
LIMITS = [Mixture(["a", "b", "c"]), "a + b <= 0.8"]


def recipe(p):
    assert sum(p.values()) == pytest.approx(1)
    assert p["a"] + p["b"] <= 0.8
    return -((p["a"] - 0.2) ** 2) - (p["b"] - 0.4) ** 2


def below(p):
    return p["a"] + p["b"] <= 0.8


def test_find_keeps_constraints_with_the_study(tmp_path):
    where = tmp_path / "s.db"
    arguments = {"noise": 0, "storage": where, "name": "s", "seed": 1}
    first = find(recipe, PARTS, -1e-9, constraints=LIMITS, budget=5, **arguments)
    assert first.verdict == "open"
    again = find(recipe, dict(reversed(PARTS.items())), -1e-3, constraints=LIMITS, budget=40, **arguments)
    assert again.verdict == "good"
    assert answer_of(again.study).params == again.params
    stored = StudyConfig.of(again.study).space
    assert [str(each) for each in stored.constraints] == ["'a + b <= 0.8'", "Mixture(['a', 'b', 'c'], total=1)"]
    for other in (None, LIMITS[:1], [*LIMITS, below]):
        with pytest.raises(BadInput, match="`constraints` must be those of the study 's'"):
            find(recipe, PARTS, -1e-3, constraints=other, **arguments)
    assert len(again.study.trials) == first.evaluations + again.evaluations - first.evaluations  # nothing was asked


def test_a_function_is_passed_again(tmp_path):
    where = tmp_path / "s.db"
    lab = open_search("lab", where, PARTS, -1e-9, constraints=below, noise=0, seed=1)
    for params in lab.ask(4):
        assert below(params)
        lab.tell(params, recipe_without_whole(params))
    reopened = open_search("lab", where)  # good enough to look at
    assert reopened.answer().evaluations == 4
    with pytest.raises(BadInput, match=r"`constraints` must be given again: .*its name, below \(constraints\[0\]\)"):
        reopened.ask()
    assert not reopened.waiting()
    with_it = open_search("lab", where, PARTS, -1e-9, constraints=[below], noise=0)
    assert below(with_it.ask()[0])
    with pytest.raises(BadInput, match="must satisfy the constraints of the study; it breaks the function"):
        with_it.tell({"a": 0.9, "b": 0.9, "c": 0.0}, 1.0)
    assert [row["state"] for row in with_it.table()] == [*["complete"] * 4, "cancelled", "waiting"]


def recipe_without_whole(p):
    return -((p["a"] - 0.2) ** 2) - (p["b"] - 0.4) ** 2


def test_earlier_data_outside_trains_and_is_never_named(tmp_path):
    rows = [{"a": 0.2 * k, "b": 0.9, "c": 0.5, "value": 5.0 - 0.01 * k} for k in range(5)]
    answer = find(
        recipe_without_whole, PARTS, -0.02, constraints=["a + b <= 0.8"], history=rows, noise=0, seed=0, budget=25
    )
    assert answer.params is None or answer.params["a"] + answer.params["b"] <= 0.8
    assert all(row["a"] + row["b"] <= 0.8 for row in answer.table() if row["state"] != "history")
    assert any("earlier evaluations taken into account: 5" in note for note in answer.notes)


def test_a_trial_of_the_users_own_outside_certifies_nothing():
    study = optuna.create_study(direction="maximize")
    answer = find(lambda p: p["a"] + p["b"], PARTS, 1.5, constraints=["a + b <= 0.8"], noise=0, seed=0, budget=3)
    distributions = answer.study.trials[0].distributions
    answer.study.add_trial(
        optuna.trial.create_trial(value=1.8, params={"a": 0.9, "b": 0.9, "c": 0.1}, distributions=distributions)
    )
    study = answer.study
    after = answer_of(study)
    assert after.verdict == "open"
    assert after.params["a"] + after.params["b"] <= 0.8


def test_constraints_need_ranges():
    with pytest.raises(BadInput, match="`constraints` needs a space with the ranges"):
        find(lambda p: 0.0, lambda trial: {"a": trial.suggest_float("a", 0, 1)}, 1.0, constraints=["a <= 1"])
    with pytest.raises(BadInput, match="`constraints` must come with a `space`"):
        open_search("x", optuna.storages.InMemoryStorage(), constraints=["a <= 1"])


def test_the_command_line_takes_constraints(tmp_path, capsys):
    program = tmp_path / "p.py"
    program.write_text(
        "import sys\na, b, c = map(float, sys.argv[1:])\nassert abs(a + b + c - 1) < 1e-9 and a + b <= 0.8\n"
        "print(-(a - .2) ** 2 - (b - .4) ** 2)\n"
    )
    params = [word for name in "abc" for word in ("--param", f"{name}=0.0:1.0")]
    limits = ["--mixture", "a,b,c=1", "--constraint", "a + b <= 0.8"]
    common = ["--target", "-0.01", "--noise", "0", "--storage", str(tmp_path / "s.db"), *params]
    run = ["--quiet", "--seed", "1", "--", "python", str(program), "{a}", "{b}", "{c}"]
    assert main(["find", *common, *limits, *run]) == 0
    assert "good" in capsys.readouterr().out
    assert main(["find", *common, *run]) == 2
    assert "must be those of the study" in capsys.readouterr().err
    assert main(["find", *common, "--mixture", "a,b", *run]) == 2
    assert "write two or more parameters and their total" in capsys.readouterr().err
    assert main(["new", *common, "--name", "lab", *limits]) == 0
    assert main(["ask", "--storage", str(tmp_path / "s.db"), "--name", "lab", "-n", "2"]) == 0


def test_scikit_learn_takes_constraints():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import ElasticNet

    space = {"alpha": (1e-4, 1.0, "log"), "l1_ratio": (0.0, 1.0)}
    search = SatisficeSearchCV(
        ElasticNet(), space, 2.0, constraints=["l1_ratio <= 0.5 - 0.4 alpha"], budget=6, noise=0, random_state=0
    )
    X, y = load_iris(return_X_y=True)
    search.fit(X, y)
    assert all(p["l1_ratio"] <= 0.5 - 0.4 * p["alpha"] for p in search.cv_results_["params"])
