"""Pruners beside our sampler see no repeats and stop none."""

import optuna
import pytest
from numpy.random import default_rng
from optuna.pruners import MedianPruner, NopPruner
from optuna.trial import TrialState

from satisfice import GoodActionSampler
from satisfice.study.proposal import Proposal
from satisfice.study.unrepeated import Unrepeated, is_repeat


def finished(study, value, x, repeats=None):
    """A complete trial that reported its value at step 1, as our sampler would have proposed it."""
    trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    Proposal([x], repeats, None).write(study, trial._trial_id)
    trial.report(value, 1)
    study.tell(trial, value)


def reported(study, value, repeats=None):
    trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    Proposal([0.5], repeats, None).write(study, trial._trial_id)
    trial.report(value, 1)
    return trial


def study_with_repeats(wrap):
    """Values 1 to 5 at five settings, and nine repeats of the best one: the median is 3, or 5 with the repeats."""
    study = optuna.create_study(direction="maximize", pruner=MedianPruner(n_startup_trials=5, n_min_trials=5))
    for value in range(1, 6):
        finished(study, float(value), value / 10)
    for _ in range(9):
        finished(study, 5.0, 0.5, repeats=4)
    if wrap:
        study.pruner = Unrepeated(study.pruner)
    return study


@pytest.mark.parametrize("wrap", [True, False])
def test_repeats_do_not_raise_the_median(wrap):
    study = study_with_repeats(wrap)
    assert reported(study, 4.0).should_prune() is not wrap
    assert reported(study, 2.0).should_prune()
    assert not reported(study, 5.0).should_prune()
    assert len(study.get_trials(states=(TrialState.COMPLETE,))) == 14  # the study itself hides nothing


def test_a_repeat_is_not_stopped():
    study = study_with_repeats(True)
    assert not reported(study, 0.0, repeats=4).should_prune()
    assert reported(study, 0.0).should_prune()


def test_what_prunes_nothing_stays():
    pruner = NopPruner()
    study = optuna.create_study(pruner=pruner, sampler=GoodActionSampler(0.1, noise=0, seed=1))
    study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
    assert study.pruner is pruner


def test_beside_the_sampler_pruned_settings_are_not_asked_again():
    rng = default_rng(1)

    def objective(trial):
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        true = (x - 0.2) ** 2 + (y - 0.7) ** 2
        for step in range(1, 4):
            trial.report(true + 0.05 * rng.standard_normal() + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return true + 0.05 * rng.standard_normal()

    sampler = GoodActionSampler(-0.02, noise="learn", seed=1)  # out of reach, so that it goes on looking
    study = optuna.create_study(sampler=sampler, pruner=MedianPruner(n_startup_trials=4))
    study.optimize(objective, n_trials=30)
    assert isinstance(study.pruner, Unrepeated)
    assert isinstance(study.pruner.pruner, MedianPruner)
    by_state = {
        state: [t for t in study.trials if t.state == state] for state in (TrialState.PRUNED, TrialState.COMPLETE)
    }
    pruned = [tuple(t.params.values()) for t in by_state[TrialState.PRUNED]]
    assert pruned
    assert not any(is_repeat(t) for t in by_state[TrialState.PRUNED])
    assert len({*pruned}) == len(pruned)
    assert not {*pruned} & {tuple(t.params.values()) for t in by_state[TrialState.COMPLETE]}
