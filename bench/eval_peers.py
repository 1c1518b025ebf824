"""The contestants of bench/evaluations.py: satisfice, its peers and random search, each with its default settings.

A contestant is a coroutine. It takes the problem, the seed and the starting points with their values, then yields a setting and is sent
its value, without end. It is told the target and that there is no noise, if it can be.
"""

import tempfile
from collections.abc import Callable, Generator
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from eval_problems import Problem
from numpy.random import default_rng

from satisfice import Search
from satisfice.domain.space import Space
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.study.distributions import distributions_of

BUDGET, STARTING_POINTS = 200, 3
Params = dict[str, Any]
Observations = list[tuple[Params, float]]
Questions = Generator[Params, float, None]
Contestant = Callable[[Problem, int, Observations], Questions]


def by_chance(problem: Problem, seed: int, told: Observations) -> Questions:
    """Uniform settings."""
    rng = default_rng([seed, 1])
    while True:
        yield problem.settings(1, rng)[0]


def satisfice(rule: str | Rule, model: str | Model) -> Contestant:
    """`Search` with this rule and this model."""

    def questions(problem: Problem, seed: int, told: Observations) -> Questions:
        space = Space.of(problem.space)
        search = Search(space.domain, problem.target, rule, model=model, noise=0, seed=seed)
        for params, value in told:
            search.tell(space.encode(params), value)
        while True:
            x = search.ask()
            search.tell(x, (yield space.decode(x)))

    return questions


def optuna(sampler: Callable[[Any, int], Any], *, constraint: bool = False) -> Contestant:
    """A sampler of Optuna. With the constraint, a trial is feasible if value >= target."""

    def questions(problem: Problem, seed: int, told: Observations) -> Questions:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space: Any = distributions_of(Space.of(problem.space))
        study = optuna.create_study(direction="maximize", sampler=sampler(optuna.samplers, seed))
        for params, value in told:
            limits = {"target": problem.target - value} if constraint else None
            study.add_trial(
                optuna.trial.create_trial(params=params, distributions=space, value=value, constraints=limits)
            )
        while True:
            trial = study.ask(space)
            value = yield trial.params
            if constraint:
                trial.set_constraint("target", problem.target - value)
            study.tell(trial, value)

    return questions


def botorch(acquisition: str) -> Contestant:
    """SingleTaskGP, refitted for every suggestion, with log EI over the best value or log PI over the target.

    Integers are relaxed and rounded, choices are one-hot.
    """

    def questions(problem: Problem, seed: int, told: Observations) -> Questions:
        import torch
        from botorch import fit_gpytorch_mll
        from botorch.acquisition import analytic
        from botorch.exceptions.errors import ModelFittingError
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Normalize, Standardize
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch.manual_seed(seed)
        space = Space.of(problem.space)
        domain: Any = space.domain
        d = domain.dimension
        bounds = torch.tensor(np.array(domain.bounds).T, dtype=torch.double)
        X, y = [space.encode(params) for params, _ in told], [value for _, value in told]
        while True:
            points, values = torch.tensor(np.array(X)), torch.tensor(y, dtype=torch.double)[:, None]
            scales = {"input_transform": Normalize(d, bounds=bounds), "outcome_transform": Standardize(1)}
            model = SingleTaskGP(points, values, **scales)
            with suppress(ModelFittingError):  # then it uses its initial hyperparameters
                fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            best = problem.target if acquisition == "LogProbabilityOfImprovement" else max(y)
            score = getattr(analytic, acquisition)(model, best_f=best)
            found, _ = optimize_acqf(score, bounds=bounds, q=1, num_restarts=10, raw_samples=256)
            params = space.decode(found[0].numpy())
            y.append((yield params))
            X.append(space.encode(params))

    return questions


def ax(problem: Problem, seed: int, told: Observations) -> Questions:
    """Ax's client with its defaults."""
    from ax import Client  # type: ignore[import-not-found]
    from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig  # type: ignore[import-not-found]

    def parameter(name: str, form: Any) -> Any:
        if isinstance(form, list):
            return ChoiceParameterConfig(name=name, values=form, parameter_type="str", is_ordered=False)
        kind = "int" if isinstance(form[0], int) else "float"
        scaling = "log" if len(form) == 3 else "linear"
        return RangeParameterConfig(name=name, bounds=form[:2], parameter_type=kind, scaling=scaling)

    client = Client(random_seed=seed)
    client.configure_experiment(parameters=[parameter(*entry) for entry in problem.space.items()])
    client.configure_optimization("value")
    for params, value in told:
        client.complete_trial(client.attach_trial(params), raw_data={"value": value})
    while True:
        ((index, params),) = client.get_next_trials(max_trials=1).items()
        client.complete_trial(index, raw_data={"value": (yield params)})


def smac(problem: Problem, seed: int, told: Observations) -> Questions:
    """SMAC's black-box facade: 8 Sobol points for each parameter, at most 50, then a Gaussian process with EI."""
    from ConfigSpace import (  # type: ignore[import-not-found]
        Categorical,
        Configuration,
        ConfigurationSpace,
        Float,
        Integer,
    )
    from smac import BlackBoxFacade, Scenario  # type: ignore[import-not-found]
    from smac.runhistory import TrialInfo, TrialValue  # type: ignore[import-not-found]

    def parameter(name: str, form: Any) -> Any:
        if isinstance(form, list):
            return Categorical(name, form)
        return (Integer if isinstance(form[0], int) else Float)(name, form[:2], log=len(form) == 3)

    space = ConfigurationSpace(seed=seed)
    space.add([parameter(*entry) for entry in problem.space.items()])
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=BUDGET, seed=seed, output_directory=Path(folder))
        facade = BlackBoxFacade(scenario, lambda config, seed=0: 0.0, logging_level=False)
        for params, value in told:
            facade.tell(TrialInfo(Configuration(space, params), seed=0), TrialValue(cost=-value), save=False)
        while True:
            trial = facade.ask()
            params = {name: _own(trial.config[name]) for name in problem.space}
            facade.tell(trial, TrialValue(cost=-(yield params)), save=False)


def bayes_opt(problem: Problem, seed: int, told: Observations) -> Questions:
    """The package bayesian-optimization. It has no log scale, so the exponent is searched."""
    from bayes_opt import BayesianOptimization  # type: ignore[import-not-found]

    logs = {name for name, form in problem.space.items() if not isinstance(form, list) and len(form) == 3}

    def bounds(name: str, form: Any) -> Any:
        if name in logs:
            return float(np.log10(form[0])), float(np.log10(form[1]))
        return (*form, int) if not isinstance(form, list) and isinstance(form[0], int) else form

    def inwards(params: Params) -> Params:
        return {name: float(np.log10(cell)) if name in logs else cell for name, cell in params.items()}

    def outwards(asked: Params) -> Params:
        params = {}
        for name, form in problem.space.items():
            cell = _own(asked[name])
            if name in logs:
                cell = round(10**cell) if isinstance(form[0], int) else 10**cell
                cell = min(max(cell, form[0]), form[1])
            params[name] = cell
        return params

    ranges = {name: bounds(name, form) for name, form in problem.space.items()}
    optimizer = BayesianOptimization(None, ranges, random_state=seed, verbose=0, allow_duplicate_points=True)
    for params, value in told:
        optimizer.register(inwards(params), value)
    while True:
        asked = optimizer.suggest()
        optimizer.register(asked, (yield outwards(asked)))


def _own(cell: Any) -> Any:
    """A numpy scalar as a Python object."""
    return cell.item() if isinstance(cell, np.generic) else cell


CONTESTANTS: dict[str, Contestant] = {
    "auto": satisfice("auto", "auto"),
    "paper": satisfice("pg", "paper"),
    "tpe": optuna(lambda samplers, seed: samplers.TPESampler(seed=seed)),
    "gp": optuna(lambda samplers, seed: samplers.GPSampler(seed=seed, deterministic_objective=True)),
    "gp-constraint": optuna(
        lambda samplers, seed: samplers.GPSampler(seed=seed, deterministic_objective=True), constraint=True
    ),
    "cmaes": optuna(lambda samplers, seed: samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False)),
    "botorch-ei": botorch("LogExpectedImprovement"),
    "botorch-pi": botorch("LogProbabilityOfImprovement"),
    "ax": ax,
    "smac": smac,
    "bayes-opt": bayes_opt,
    "random": by_chance,
}
OURS = ("auto", "paper")
NAMES = {
    "auto": "satisfice `auto`", "paper": "satisfice `paper`", "tpe": "Optuna TPE", "gp": "Optuna GPSampler",
    "gp-constraint": "Optuna GPSampler, target as constraint", "cmaes": "Optuna CMA-ES", "botorch-ei": "BoTorch log EI",
    "botorch-pi": "BoTorch log PI over the target", "ax": "Ax",
    "smac": "SMAC3 black box", "bayes-opt": "bayesian-optimization", "random": "random",
}  # fmt: skip
PACKAGES = {"tpe": "optuna", "gp": "optuna", "gp-constraint": "optuna", "cmaes": "optuna", "botorch-ei": "botorch",
            "botorch-pi": "botorch", "ax": "ax-platform", "smac": "smac",
            "bayes-opt": "bayesian-optimization"}  # fmt: skip


def version(contestant: str) -> str:
    """The contestant's package with its version."""
    package = PACKAGES.get(contestant, "satisfice")
    return f"{package} {metadata.version(package)}"
