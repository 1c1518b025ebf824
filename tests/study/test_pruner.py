"""`TargetPruner` in Optuna studies and in `find`."""

from copy import deepcopy

import numpy as np
import optuna
import pytest
from numpy.random import default_rng
from optuna.trial import TrialState

from satisfice import BadInput, GoodActionSampler, TargetPruner, answer_of, find, stop_when_certain
from satisfice.study.proposal import Proposal

STEPS = 30


def value_at(x, step, noise=0.0):
    """A curve that ends at 1 - (x - 0.3)^2."""
    return 1 - (x - 0.3) ** 2 - 0.6 * (step**-0.8 - STEPS**-0.8) + noise


def train(trial, sign=1.0, first=1):
    x = trial.suggest_float("x", -2, 2)
    for step in range(1, STEPS + 1):
        trial.report(sign * value_at(x, step), step - 1 + first)
        if trial.should_prune():
            raise optuna.TrialPruned
    return sign * value_at(x, STEPS)


def steps_of(study):
    return sum(len(trial.intermediate_values) for trial in study.trials)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("first", [0, 1])
def test_hopeless_runs_are_stopped_with_any_sampler_and_direction(sign, first):
    study = optuna.create_study(
        direction="maximize" if sign > 0 else "minimize",
        sampler=optuna.samplers.RandomSampler(seed=1),
        pruner=TargetPruner(sign * 0.95, steps=STEPS - 1 + first),
    )
    study.optimize(lambda trial: train(trial, sign, first), n_trials=40)
    good = [trial for trial in study.trials if value_at(trial.params["x"], STEPS) >= 0.95]
    assert all(trial.state == TrialState.COMPLETE for trial in good)
    stopped = [trial for trial in study.trials if trial.state == TrialState.PRUNED]
    assert len(stopped) >= 20
    assert steps_of(study) < 0.6 * 40 * STEPS


def test_the_last_step_is_learned_from_complete_runs():
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1), pruner=TargetPruner(0.95)
    )
    study.optimize(train, n_trials=20)
    states = [trial.state for trial in study.trials]
    assert states[:3] == [TrialState.COMPLETE] * 3  # those to learn from
    assert TrialState.PRUNED in states


def test_a_stopped_run_is_never_certified():
    """Every run is stopped, though their last reports reach the target of the verdict."""
    sampler = GoodActionSampler(0.2, noise=0, seed=1)
    study = optuna.create_study(
        direction="maximize", sampler=sampler, pruner=TargetPruner(50.0, steps=STEPS, startup=0)
    )
    study.optimize(train, n_trials=8, callbacks=[stop_when_certain()])
    assert {trial.state for trial in study.trials} == {TrialState.PRUNED}
    assert max(max(trial.intermediate_values.values()) for trial in study.trials) >= 0.2
    answer = answer_of(study)
    assert answer.verdict == "open"
    assert answer.certificate is None


def test_a_sampler_of_good_actions_tells_the_target_and_its_repeats_are_not_stopped():
    rng = default_rng(0)

    def noisy(trial):
        x, shift = trial.suggest_float("x", -2, 2), 0.1 * rng.standard_normal()
        for step in range(1, STEPS + 1):
            trial.report(value_at(x, step, shift), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value_at(x, STEPS, shift)

    sampler = GoodActionSampler(0.9, noise="learn", seed=1)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=TargetPruner())
    study.optimize(noisy, n_trials=60, callbacks=[stop_when_certain()])
    proposals = [(trial, Proposal.of(trial)) for trial in study.trials]
    repeats = [trial for trial, proposal in proposals if proposal is not None and proposal.repeats is not None]
    assert len(repeats) >= 3
    assert all(trial.state == TrialState.COMPLETE for trial in repeats)
    assert any(trial.state == TrialState.PRUNED for trial in study.trials)


def test_find_gives_the_objective_a_report():
    seen = []

    def objective(params, report):
        for step in range(1, STEPS + 1):
            seen.append(step)
            report(step, value_at(params["x"], step))
        return value_at(params["x"], STEPS)

    plain = find(lambda params: value_at(params["x"], STEPS), {"x": (-2.0, 2.0)}, 0.9999, noise=0, seed=3)
    for report in (True, TargetPruner(steps=STEPS, startup=0), optuna.pruners.NopPruner()):
        seen.clear()
        answer = find(objective, {"x": (-2.0, 2.0)}, 0.9999, noise=0, seed=3, report=report)
        assert answer.verdict == "good"
        assert answer.value >= 0.9999
    assert len(seen) == STEPS * plain.evaluations  # of a pruner that never stops


def test_find_with_a_function_of_a_trial_takes_a_report():
    def objective(params, report):
        for step in range(1, STEPS + 1):
            report(step, -5.0 if params["x"] > 0.7 else value_at(params["x"], step))
        return value_at(params["x"], STEPS)

    def space(trial):
        return {"x": trial.suggest_float("x", -2, 2)}

    answer = find(objective, space, 0.99, noise=0, seed=1, report=TargetPruner(steps=STEPS))
    assert answer.verdict == "good"
    assert {trial.state for trial in answer.study.trials} <= {TrialState.COMPLETE, TrialState.PRUNED}


def test_values_that_are_not_finite_are_left_out():
    study = optuna.create_study(direction="maximize", pruner=TargetPruner(0.95, steps=STEPS, startup=0))
    trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    for step in range(1, 20):
        trial.report(float("nan"), step)
        assert not trial.should_prune()
    for step in range(20, 29):
        trial.report(-1e3 - 1e-9 * step, step)
    assert isinstance(trial.should_prune(), bool)


def test_a_pruner_can_be_copied_in_use():
    pruner = TargetPruner(0.95, steps=STEPS)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1), pruner=pruner)
    study.optimize(train, n_trials=8)
    copy = deepcopy(pruner)
    assert (copy.target, copy.steps, copy.confidence) == (0.95, STEPS, 0.95)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"target": "high"}, "`target` must be a finite number"),
        ({"steps": 0}, "`steps` must be a whole number, 1 or more"),
        ({"confidence": 1.0}, "`confidence` must be a number between 0 and 1"),
        ({"startup": -1}, "`startup` must be a whole number, 0 or more"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(BadInput, match=message):
        TargetPruner(**arguments)


def test_a_pruner_without_any_target_says_so():
    study = optuna.create_study(pruner=TargetPruner())
    with pytest.raises(BadInput, match="TargetPruner needs a `target`"):
        study.optimize(train, n_trials=1)


def test_find_refuses_reports_that_cannot_come():
    with pytest.raises(BadInput, match="`report` must be True, False or an Optuna pruner"):
        find(lambda p, report: 0.0, {"x": (0.0, 1.0)}, 1.0, report="yes")
    with pytest.raises(BadInput, match="`report` needs an objective that runs in this process"):
        find(lambda p, report: 0.0, {"x": (0.0, 1.0)}, 1.0, report=True, each=10.0)
    with pytest.raises(BadInput, match="`report` needs a target that is one number"):
        find(lambda p, report: {"a": 0.0}, {"x": (0.0, 1.0)}, {"a": ">= 1"}, report=True)


def test_runs_that_ended_elsewhere_are_no_curves_to_learn_from():
    """A run that stopped itself early has no final value at the last step."""
    study = optuna.create_study(direction="maximize", pruner=TargetPruner(0.95))
    for last in (5, 10, 30):
        study.add_trial(
            optuna.trial.create_trial(value=0.5, intermediate_values={k: 0.5 * k / last for k in range(1, last + 1)})
        )
    trial = study.ask()
    for step in range(1, 12):
        trial.report(-50.0 + 0.01 * np.sin(step), step)
    assert not trial.should_prune()  # one complete curve is fewer than `startup`
