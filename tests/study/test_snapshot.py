"""`view` as the report and the command line use it."""

import json
import re

import optuna
import pytest

from satisfice import BadInput, GoodActionSampler, find
from satisfice.cli.output import write_csv
from satisfice.domain.space import Space
from satisfice.study.config import SETTINGS, StudyConfig
from satisfice.study.distributions import distributions_of
from satisfice.study.proposal import ASKED, CANCELLED
from satisfice.study.snapshot import StudyAnswer, snapshot
from satisfice.study.workers.storage import open_storage

optuna.logging.set_verbosity(optuna.logging.WARNING)
SPACE = {"x": (0.0, 1.0), "kind": ["a", "b"]}


def objective(params):
    if params["kind"] == "b" and params["x"] > 0.8:
        raise ValueError("too hot")
    return -((params["x"] - 0.4) ** 2) - (params["kind"] == "b")


def test_a_view_of_a_stored_study_shows_what_find_answered(tmp_path):
    where = tmp_path / "s.db"
    earlier = [{"x": 0.9, "kind": "b", "value": None}, {"x": 0.1, "kind": "a", "value": -0.09}]
    answer = find(objective, SPACE, -0.001, storage=where, name="n", seed=3, history=earlier, budget=40)
    shown = snapshot(optuna.load_study(study_name="n", storage=open_storage(where)))
    assert shown.name == "n"
    assert isinstance(shown.answer, StudyAnswer)
    assert str(shown.answer) == str(answer)
    assert (shown.config.target, shown.config.seed, shown.config.budget) == (-0.001, 3, 40)
    assert shown.space == Space.of(SPACE)
    assert [each.state for each in shown.evaluations[:2]] == ["history", "history"]
    own = shown.evaluations[2:]
    assert [each.number for each in own] == list(range(2, 2 + len(own)))
    assert [each.value for each in own if each.state == "complete"] == [
        objective(each.params) for each in own if each.state == "complete"
    ]
    assert all(each.error == "ValueError: too hot" for each in own if each.state == "failed")
    assert all(each.seconds >= 0 for each in own)
    assert own[-1].repeats is not None  # the noise was not known, so the best one was tried again
    assert own[own[-1].repeats - 2].params == own[-1].params
    assert shown.search.probability_good(shown.answer.point[None])[0] > 0.5
    assert answer.table() == shown.answer.table()


def test_a_cancellation_that_comes_too_late_takes_no_value_away():
    study = find(objective, SPACE, 1.0, budget=3, noise=0, seed=1).study
    trial = study.ask(distributions_of(Space.of(SPACE)))
    study._storage.set_trial_system_attr(trial._trial_id, CANCELLED, "a test")
    study.tell(trial, -0.5)
    shown = snapshot(study)
    assert (shown.answer.evaluations, shown.evaluations[-1].value) == (4, -0.5)


def test_running_and_cancelled_trials_are_shown_as_such():
    study = find(objective, SPACE, 1.0, budget=3, noise=0, seed=1).study
    study.ask(distributions_of(Space.of(SPACE)))
    given_up = study.ask()
    given_up.set_user_attr("why", "a test")
    study._storage.set_trial_system_attr(given_up._trial_id, CANCELLED, "a test")
    study.tell(given_up, state=optuna.trial.TrialState.PRUNED)
    states = [each.state for each in snapshot(study).evaluations]
    assert states == ["complete", "complete", "complete", "running", "cancelled"]


def test_any_study_can_be_viewed_with_a_target():
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=8)
    with pytest.raises(BadInput, match=r".target. must be given for the study .*, which satisfice did not make"):
        snapshot(study)
    shown = snapshot(study, target=0.5)
    assert shown.answer.evaluations == 8
    assert shown.config.direction == "maximize"
    assert all(each.state == "complete" and each.hope is None for each in shown.evaluations)
    assert SETTINGS not in study.user_attrs


def test_a_parameter_with_the_name_of_a_column_has_a_column_of_its_own(tmp_path):
    study = optuna.create_study(direction="maximize", sampler=GoodActionSampler(2.0, noise=0, seed=2))
    study.optimize(lambda trial: trial.suggest_float("value", 0, 1) + trial.suggest_float("state", 0, 1), n_trials=5)
    shown = snapshot(study)
    row = shown.answer.table()[4]
    assert (row["params_value"], row["params_state"]) == tuple(study.trials[4].params.values())
    assert (row["value"], row["state"]) == (study.trials[4].value, "complete")
    write_csv(study, tmp_path / "all.csv")
    header = (tmp_path / "all.csv").read_text().splitlines()[0].split(",")
    assert header == ["number", "params_value", "params_state", "value", "state", "repeats", "hope", "error", "seconds"]
    assert header == list(row)


def test_a_study_of_the_sampler_can_be_viewed_and_another_target_tried():
    study = optuna.create_study(direction="minimize", sampler=GoodActionSampler(0.01, noise=0, seed=2))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=8)
    assert snapshot(study).config == StudyConfig(0.01, "minimize", 0, seed=2)
    assert snapshot(study, target=1.0).answer.verdict == "good"


def test_a_study_without_a_finished_trial_has_no_view_unless_its_space_is_known():
    with pytest.raises(BadInput, match="Let it run first"):
        snapshot(optuna.create_study(), target=1.0)
    study = optuna.create_study(direction="maximize")
    StudyConfig(1.0, space=Space.of(SPACE)).store(study)
    assert snapshot(study).answer.verdict == "open"
    assert snapshot(study).evaluations == ()


def test_studies_of_several_objectives_are_refused():
    with pytest.raises(BadInput, match="2 objectives"):
        snapshot(optuna.create_study(directions=["minimize", "minimize"]), target=1.0)


@pytest.mark.parametrize(
    "settings",
    [
        StudyConfig(1.5),
        StudyConfig(-2.0, "minimize", 0.1, 0.99, (-3.0, 1.0), "ucb", "paper", 7, 50, Space.of(SPACE)),
        StudyConfig(0.1, noise="learn", space=Space.of([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}])),
    ],
)
def test_settings_come_back_from_their_json(settings):
    assert StudyConfig.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"target": 1}', '{"space": 3, "value_range": 1}'])
def test_damaged_settings_are_refused(text):
    with pytest.raises(BadInput):
        StudyConfig.from_json(text)


def test_trials_outside_of_the_space_are_left_out_with_a_note():
    study = find(objective, SPACE, 1.0, budget=3, noise=0, seed=1).study
    study.enqueue_trial({"x": 0.5})
    trial = study.ask()
    trial.suggest_float("x", 0, 1)
    study.tell(trial, 5.0)
    shown = snapshot(study)
    assert shown.answer.value < 0
    assert any(re.match("trials left out, .*: 1$", note) for note in shown.answer.notes)


def test_a_mark_that_lies_outside_of_the_space_is_passed_over():
    study = optuna.create_study(direction="maximize")
    space = Space.of({"x": (0.0, 1.0)})
    StudyConfig(2.0, space=space).store(study)
    mark = json.dumps({"x": [5.0], "repeats": None, "hope": None})
    for state, value in ((optuna.trial.TrialState.FAIL, None), (optuna.trial.TrialState.COMPLETE, 1.5)):
        study.add_trial(
            optuna.create_trial(state=state, value=value, params={"x": 1.0}, distributions=distributions_of(space),
                                system_attrs={ASKED: mark})
        )  # fmt: skip
    shown = snapshot(study)
    assert [each.state for each in shown.evaluations] == ["failed", "complete"]
    assert shown.answer.point.tolist() == [1.0]
