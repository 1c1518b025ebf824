"""Trials that were pruned or broke a constraint, and settings that fail again and again: they teach, and certify nothing."""

from collections import Counter

import optuna
import pytest
from numpy.random import default_rng
from optuna.trial import TrialState

from satisfice import Box, GoodActionSampler, Search, find, stop_when_certain
from satisfice.report import page
from satisfice.search.failures import MOST
from satisfice.study.snapshot import snapshot


class Above(optuna.pruners.BasePruner):
    """Prunes what has reported a value above a limit."""

    def __init__(self, limit):
        self.limit = limit

    def prune(self, study, trial):
        return trial.last_step is not None and trial.intermediate_values[trial.last_step] > self.limit


def test_pruned_trials_teach_where_not_to_look():
    def objective(trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        value = (x - 0.2) ** 2 + (y - 0.7) ** 2
        trial.report(value, 0)
        if trial.should_prune():
            raise optuna.TrialPruned
        return value

    study = optuna.create_study(sampler=GoodActionSampler(0.001, noise=0, seed=1), pruner=Above(0.1))
    study.optimize(objective, n_trials=60, callbacks=[stop_when_certain()])
    states = [trial.state for trial in study.trials]
    assert study.best_value <= 0.001
    assert states.count(TrialState.PRUNED) >= 3
    settings = [tuple(trial.params.values()) for trial in study.trials]
    assert len(set(settings)) == len(settings)  # none is asked again, pruned or not
    shown = snapshot(study)
    assert [each.state for each in shown.evaluations].count("pruned") == states.count(TrialState.PRUNED)
    assert all(each.value is None for each in shown.evaluations if each.state == "pruned")
    assert shown.answer.evaluations == len(study.trials)
    assert f"evaluations that were pruned, and count: {states.count(TrialState.PRUNED)}" in shown.answer.notes


def test_a_setting_that_was_pruned_is_not_certified_by_the_repeats_that_went_better():
    rng = default_rng(1)

    def objective(trial):
        value = trial.suggest_categorical("c", ["flaky", "steady"]) == "steady" and 0.6 + 0.1 * rng.standard_normal()
        if value is False:  # its mean is 0.5, but what goes badly is stopped
            value = float(rng.random() < 0.5)
            if value == 0:
                raise optuna.TrialPruned
        return value

    study = optuna.create_study(direction="maximize", sampler=GoodActionSampler(0.55, noise="learn", seed=1))
    study.optimize(objective, n_trials=500, callbacks=[stop_when_certain()])  # of ten searches the longest takes 83
    answer = snapshot(study).answer
    assert (answer.verdict, answer.params) == ("good", {"c": "steady"})


def test_what_breaks_a_constraint_is_not_good_whatever_its_value():
    def objective(trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        trial.set_constraint("cost", y - 0.5)
        return x + y  # 1.5 at best, where y is at its limit

    study = optuna.create_study(direction="maximize", sampler=GoodActionSampler(1.4, noise=0, seed=1))
    study.optimize(objective, n_trials=60, callbacks=[stop_when_certain()])
    shown = snapshot(study)
    assert shown.answer.verdict == "good"
    assert shown.answer.params == study.best_params
    assert shown.answer.params["y"] <= 0.5
    broken = [each for each in shown.evaluations if each.params["y"] > 0.5]
    assert broken
    assert {(each.state, each.value) for each in broken} == {("infeasible", None)}
    assert all("the constraint 'cost' must be at most 0; it is 0." in each.error for each in broken)
    assert f"evaluations that broke a constraint, and count: {len(broken)}" in shown.answer.notes
    assert "gave no value" in page.html(shown)


def test_an_objective_of_find_may_prune():
    def objective(params):
        trial, value = params["trial"], params["x"]
        trial.report(value, 1)
        if value < 0.5:
            raise optuna.TrialPruned
        return value

    answer = find(objective, lambda trial: {"x": trial.suggest_float("x", 0, 1), "trial": trial}, 0.99, noise=0, seed=1)
    pruned = [trial for trial in answer.study.trials if trial.state == TrialState.PRUNED]
    assert answer.verdict == "good"
    assert pruned
    assert all(trial.value == trial.intermediate_values[1] for trial in pruned)  # as Optuna keeps it
    assert answer.failures == 0


@pytest.mark.parametrize("noise", [None, "learn"])
def test_a_setting_whose_repeats_fail_is_left(noise):
    search, rng, seen = Search(Box([(0, 1)]), 0.9, noise=noise, seed=1), default_rng(1), Counter()
    for _ in range(60):
        x = search.ask()
        if seen[x.tobytes()]:
            search.fail(x)
        else:
            search.tell(x, 1 - abs(x[0] - 0.4) + 0.01 * rng.standard_normal())
        seen[x.tobytes()] += 1
    assert max(seen.values()) <= 1 + MOST
    assert search.answer().verdict == "open"


def test_a_failure_now_and_then_does_not_keep_a_setting_from_its_certificate():
    search, rng, asked = Search(Box([(0, 1)]), 0.9, noise="learn", seed=1), default_rng(1), 0
    while search.answer().verdict == "open" and asked < 200:
        x, asked = search.ask(), asked + 1
        if asked % 3 == 0:
            search.fail(x)
        else:
            search.tell(x, 1 - abs(x[0] - 0.4) + 0.01 * rng.standard_normal())
    assert search.answer().verdict == "good"


def test_of_thousands_of_pruned_points_a_belief_learns_from_as_many_as_of_hundreds():
    def learned_from(failures):
        search, rng = Search(Box([(0, 1)] * 3), 1.0, noise=0, seed=1), default_rng(1)
        for x in rng.random((30, 3)):
            search.tell(x, -(x**2).sum())
        for x in rng.random((failures, 3)):
            search.fail(x, bad=True)
        search.ask()
        return len(search.surrogate.belief().assuming_bad(search.observations.failed).members[0][1].X)

    assert learned_from(5000) == learned_from(500) == 230
