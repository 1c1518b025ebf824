"""Studies with several requirements: `find`, the sampler, experiments by hand, tables, and what is stored."""

import json
import math

import numpy as np
import optuna
import pytest

from satisfice import (
    BadInput,
    GoodActionSampler,
    Requirement,
    TooManyFailures,
    answer_of,
    find,
    open_search,
    stop_when_certain,
)
from satisfice.errors import WrongType
from satisfice.study.config import SETTINGS, StudyConfig
from satisfice.study.sheet import sheet, tell_sheet
from satisfice.study.snapshot import snapshot
from satisfice.study.values import collected
from satisfice.study.workers.storage import open_storage

SPACE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
TARGET = (Requirement("yield", ">=", 84, noise=0), Requirement("impurity", "<=", 1.8, noise=0))
DEFERRED = (*TARGET, Requirement("life", ">=", 8, noise=0, deferred=True))


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def recipe(p):
    return {
        "yield": 90 - 80 * ((p["a"] - 0.6) ** 2 + (p["b"] - 0.3) ** 2),
        "impurity": 1 + 6 * (p["a"] - 0.4) ** 2 + 3 * abs(p["b"] - 0.5),
    }


def found(objective=recipe, target=TARGET, **options):
    return find(objective, SPACE, target, **{"seed": 1, "progress": False, "budget": 40} | options)


def test_find_stores_one_objective_for_each_requirement_and_the_other_values(tmp_path):
    def objective(p):
        return {**recipe(p), "colour": "pale", "count": np.int64(3), "curve": [1, 2]}

    path = tmp_path / "kept.db"
    answer = found(objective, storage=path, name="recipe")
    assert answer.verdict == "good"
    study = optuna.load_study(study_name="recipe", storage=open_storage(path))
    assert [each.name for each in study.directions] == ["MAXIMIZE", "MINIMIZE"]
    assert study.metric_names == ["yield", "impurity"]
    for trial in study.trials:
        assert trial.values == pytest.approx(list(recipe(trial.params).values()))
        assert trial.user_attrs == {"colour": "pale", "count": 3, "curve": "[1, 2]"}
    assert str(answer_of(study)) == str(answer)
    row = answer.table()[0]
    assert list(row) == ["number", "a", "b", "yield", "impurity", "colour", "count", "curve", "state", "repeats", "hope",
                         "error", "seconds"]  # fmt: skip
    again = found(objective, storage=path, name="recipe")
    assert (again.verdict, again.evaluations) == ("good", answer.evaluations)


def test_one_requirement_asks_what_the_number_asks_and_is_stored_like_it():
    plain = find(lambda p: recipe(p)["yield"], SPACE, 84, seed=1, progress=False, noise=0)
    one = found(target=TARGET[:1])
    assert [trial.params for trial in plain.study.trials] == [trial.params for trial in one.study.trials]
    assert (plain.value, plain.verdict) == (one.value, one.verdict)
    assert [trial.value for trial in plain.study.trials] == [trial.value for trial in one.study.trials]


def test_a_deferred_value_is_computed_only_where_the_others_pass():
    asked = []

    def objective(p):
        def life():
            asked.append(p)
            return 14 - 10 * p["a"]

        return {**recipe(p), "life": life}

    answer = found(objective, DEFERRED)
    assert answer.verdict == "good"
    passing = [t.params for t in answer.study.trials if t.values[0] >= 84 and t.values[1] <= 1.8]
    assert asked == passing
    assert 0 < len(asked) < len(answer.study.trials)
    missing = [trial.values[2] for trial in answer.study.trials if trial.params not in passing]
    assert set(missing) == {-math.inf}
    assert {row["life"] is None for row in answer.table()} == {True, False}
    assert answer_of(answer.study).verdict == "good"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ({"yield": 81.0}, "The value 'impurity' is required, and was not returned; got 'yield'"),
        (
            {"yield": 81.0, "impurity": "low"},
            "The value 'impurity': The objective must return a finite number; it returned 'low'",
        ),
        ({"yield": 90.0, "impurity": 1.0}, "The value 'life' is needed, since the other requirements pass"),
    ],
)
def test_a_wrong_value_is_a_failed_evaluation_that_says_why(returned, message):
    with pytest.raises(TooManyFailures, match=message):
        found(lambda p: returned, DEFERRED)


def test_a_number_in_place_of_a_dict_ends_the_search_at_once():
    with pytest.raises(
        WrongType, match=r"must return a dict of the required values, \{'yield': ..., 'impurity': ...\}"
    ):
        found(lambda p: 81.0)


def test_a_deferred_requirement_needs_its_objective_in_this_process():
    with pytest.raises(BadInput, match="`each` cannot be used with a deferred requirement"):
        found(target=DEFERRED, each=5)


def test_constraints_hold_for_several_requirements():
    answer = found(constraints=["a + b <= 1"])
    assert answer.verdict == "good"
    assert all(trial.params["a"] + trial.params["b"] <= 1 for trial in answer.study.trials)


def test_what_was_collected_is_called_for_only_once():
    specification = StudyConfig(DEFERRED).specification
    calls = []
    returned = {"yield": True, "impurity": 1, "life": lambda: calls.append(1) or 9.5, "note": None}
    values, others = collected(returned, specification, lambda values: ("life",))
    assert values == {"yield": 1.0, "impurity": 1.0, "life": 9.5}
    assert others == {"note": None}
    assert calls == [1]
    values, _ = collected(returned, specification, lambda values: ())
    assert "life" not in values


def test_names_must_not_collide():
    with pytest.raises(BadInput, match="must not have the name of a parameter; got 'a'"):
        found(target={"a": ">= 1", "b2": ">= 1"})
    with pytest.raises(BadInput, match="must not have the name of another column of a table; got 'state'"):
        found(target={"state": ">= 1", "b2": ">= 1"})


def test_the_config_is_stored_as_json_and_read_back():
    config = StudyConfig(DEFERRED, budget=3)
    text = config.to_json()
    assert json.loads(text)["target"][2]["deferred"] is True
    assert StudyConfig.from_json(text).specification == config.specification


def objective(trial):
    return tuple(recipe({name: trial.suggest_float(name, 0, 1) for name in SPACE}).values())


class TestSampler:
    def test_a_study_of_several_objectives_stops_at_a_certified_setting(self):
        sampler = GoodActionSampler(targets=TARGET, seed=1)
        study = optuna.create_study(directions=["maximize", "minimize"], sampler=sampler)
        study.optimize(objective, n_trials=40, callbacks=[stop_when_certain()])
        assert len(study.trials) < 40
        assert study.trials[-1].values[0] >= 84
        assert study.trials[-1].values[1] <= 1.8
        assert answer_of(study).verdict == "good"
        assert study.best_trials  # the Pareto front

    def test_stop_when_certain_judges_any_sampler(self):
        study = optuna.create_study(directions=["maximize", "minimize"], sampler=optuna.samplers.RandomSampler(seed=1))
        study.optimize(objective, n_trials=60, callbacks=[stop_when_certain(targets=["y >= 80", "i <= 2.5"])])
        assert answer_of(study, ["y >= 80", "i <= 2.5"]).requirements[0].value >= 80

    @pytest.mark.parametrize(
        ("sampler", "message"),
        [
            ({"target": 0.9}, "A study must have one objective; .* has 2 objectives. For several, `target` must have"),
            (
                {"targets": ["y >= 80"]},
                r"an objective for each requirement, in their order: y \(maximize\); it has max",
            ),
            ({"targets": ["y <= 80", "i <= 2"]}, r"y \(minimize\), i \(minimize\); it has maximize, minimize"),
        ],
    )
    def test_requirements_that_do_not_fit_the_objectives_are_refused(self, sampler, message):
        study = optuna.create_study(directions=["maximize", "minimize"], sampler=GoodActionSampler(**sampler))
        optuna.logging.set_verbosity(optuna.logging.CRITICAL)
        with pytest.raises(BadInput, match=message):
            study.optimize(objective, n_trials=1)

    @pytest.mark.parametrize("given", [{}, {"target": 1.0, "targets": ["y >= 80"]}])
    def test_exactly_one_target_is_needed(self, given):
        with pytest.raises(BadInput, match="`target` must be given, the value to reach, or else `targets`"):
            GoodActionSampler(**given)


class TestHistory:
    ROWS = ({"a": 0.1, "b": 0.2, "yield": 70, "impurity": 3.0}, {"a": 0.6, "b": 0.4, "yield": 89, "impurity": 1.5})

    def test_a_table_has_a_column_for_each_requirement(self):
        answer = found(history=self.ROWS)
        assert answer.table()[1]["yield"] == 89
        assert answer.verdict == "good"
        assert answer.evaluations >= 1  # the row certifies nothing itself

    def test_a_row_without_a_value_failed_and_a_missing_column_is_an_error(self):
        answer = found(history=[*self.ROWS, {"a": 0.9, "b": 0.9, "yield": 20, "impurity": None}])
        assert answer.table()[2]["yield"] is None
        with pytest.raises(BadInput, match="and one for each requirement; row 0 has no 'impurity'"):
            found(history=[{"a": 0.1, "b": 0.2, "yield": 70}])


class TestByHand:
    @pytest.fixture
    def lab(self):
        return open_search("lab", optuna.storages.InMemoryStorage(), SPACE, DEFERRED, seed=1)

    def test_results_are_told_by_name_and_corrected(self, lab):
        asked = lab.ask(2)
        assert lab.tell(asked[0], {"yield": 70, "impurity": 3, "colour": "red"}) == "told"
        assert lab.tell(asked[0], {"yield": 70, "impurity": 3}) == "known"
        with pytest.raises(BadInput, match=r"result already: 70\.0, 3\.0, not measured; got 71\.0, 3\.0, not measured"):
            lab.tell(asked[0], {"yield": 71, "impurity": 3})
        assert lab.tell(asked[0], {"yield": 71, "impurity": 3}, correct=True) == "corrected"
        row = lab.table()[0]
        assert (row["yield"], row["life"], row["colour"]) == (71, None, "red")
        assert lab.log()[0]["was"] == "70.0, 3.0, not measured"

    def test_a_deferred_value_is_asked_for_where_the_others_pass(self, lab):
        first, second = lab.ask(2)
        with pytest.raises(BadInput, match="The value 'life' is needed here"):
            lab.tell(first, {"yield": 85, "impurity": 1.0})
        assert lab.tell(first, {"yield": 85, "impurity": 1.0, "life": 9}) == "told"
        assert lab.tell(second, {"yield": 60, "impurity": 1.0}) == "told"
        assert lab.answer().verdict == "good"

    def test_a_sheet_has_a_column_for_each_requirement(self, lab):
        text = sheet(lab, lab.ask(1))
        header, row = text.splitlines()
        assert header == "number,a,b,yield,impurity,life,error"
        base = row.removesuffix(",,,,")

        def told(cells):
            return tell_sheet(lab, f"{header}\n{base},{cells}\n".encode())

        for cells, message in {
            "85,,,": "row 2, column 'impurity': it is empty, and other values of the row are not. Nothing was told",
            "85,low,,": "row 2, column 'impurity': it must be a number, 'failed', or empty",
            "85,1.0,,": "row 2, column 'life': The value 'life' is needed here",
            "85,1.0,9,oops": "row 2, column 'error': it must be empty where there is a value",
        }.items():
            with pytest.raises(BadInput, match=message):
                told(cells)
        assert str(told(",,,")) == "0 told, 1 without a result yet"
        assert str(told("85,1.0,9,")) == "1 told"
        assert lab.answer().requirements[2].value == 9

    def test_it_opens_again_with_its_requirements(self):
        storage = optuna.storages.InMemoryStorage()
        open_search("lab", storage, SPACE, DEFERRED, seed=1)
        again = open_search("lab", storage)
        assert again.config.specification == StudyConfig(DEFERRED).specification
        other = open_search("lab", storage, target={"yield": ">= 70", "impurity": "<= 3", "life": ">= 1"})
        assert str(other.config.specification) == "yield >= 70 and impurity <= 3 and life >= 1"


def test_another_number_of_requirements_is_refused_for_a_stored_study(tmp_path):
    found(storage=tmp_path / "kept.db", name="one", budget=3)
    with pytest.raises(BadInput, match="A study must have 3 objectives; 'one' has 2 objectives"):
        found(target=DEFERRED, storage=tmp_path / "kept.db", name="one", budget=3)
    with pytest.raises(BadInput, match="A study must have one objective; 'one' has 2 objectives"):
        found(target=3.0, storage=tmp_path / "kept.db", name="one", budget=3)


def test_a_snapshot_knows_every_requirement():
    seen = snapshot(found().study)
    assert seen.config.specification is not None
    assert seen.evaluations[0].value is None
    assert list(seen.evaluations[0].values) == ["yield", "impurity"]
    assert seen.evaluations[0].told
    assert SETTINGS in seen.answer.study.user_attrs


@pytest.mark.slow
def test_several_threads_find_a_setting():
    def noisy(p, rng=np.random.default_rng(0)):  # noqa: B008
        return {name: value + 0.05 * rng.normal() for name, value in recipe(p).items()}

    target = (Requirement("yield", ">=", 84), Requirement("impurity", "<=", 1.8))
    answer = found(noisy, target, n_jobs=3, budget=120)
    assert answer.verdict == "good"
    assert str(answer_of(answer.study)) == str(answer)
