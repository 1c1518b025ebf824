"""A noisy objective and a target."""

import optuna
import optunahub
from numpy.random import default_rng

package = optunahub.load_module("samplers/satisfice")
rng = default_rng(0)


def objective(trial: optuna.Trial) -> float:
    """A paraboloid with noise."""
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_int("y", -5, 5)
    return (x - 1) ** 2 + (y + 2) ** 2 + 0.3 * rng.standard_normal()


if __name__ == "__main__":
    study = optuna.create_study(sampler=package.GoodActionSampler(target=1.0, seed=0))
    study.optimize(objective, n_trials=100, callbacks=[package.stop_when_certain()])
    print(package.answer_of(study))
