"""The problems of bench/evaluations.py, to be maximised without noise: the paper's and others.

A problem is a function of rows (n, k), one column for each parameter in the user's units. A choice is given by its index in the list.
Problems marked `held_out` are for evaluation only: no default of the library is tuned on them.

    .venv-bench/bin/python bench/eval_problems.py     recomputes the targets stored in TARGETS and prints them (takes minutes)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from eval_functions import (
    Rows,
    branin,
    embedded,
    forrester,
    griewank,
    hartmann6,
    levy,
    michalewicz,
    moved,
    network,
    rastrigin,
    recipe,
    rosenbrock,
    schwefel,
    steps,
    styblinski,
    tail,
    waves,
    zakharov,
)
from eval_tasks import TASKS, setting
from numpy.random import Generator, default_rng

from satisfice.paper.problems import PROBLEMS as PAPER
from satisfice.paper.problems import synthetic
from satisfice.types import Array

DRAWS, DRAWS_SEED = 200_000, 2022  # uniform rows; a target by share is a quantile of their values
SEARCH = 400  # the same for tuning tasks, where an evaluation takes a fraction of a second
Range = Any  # (low, high), integers if both are ints; (low, high, "log"); or a list of choices


@dataclass(frozen=True)
class Problem:
    """A function of named parameters, and the target to reach."""

    name: str
    space: Mapping[str, Range]
    function: Rows  # (n, k) -> (n,)
    target: float
    tags: tuple[str, ...]
    held_out: bool = False

    def value(self, params: Mapping[str, Any]) -> float:
        """The value of one setting."""
        row = [
            form.index(params[name]) if isinstance(form, list) else params[name] for name, form in self.space.items()
        ]
        return float(self.function(np.array([row], dtype=float))[0])

    def uniform(self, count: int, rng: Generator) -> Array:
        """Uniform rows (count, k), log-uniform on log scales."""
        return np.column_stack([_column(form, count, rng) for form in self.space.values()])

    def settings(self, count: int, rng: Generator) -> list[dict[str, Any]]:
        """Uniform settings, with Python's own numbers and choices."""
        return [setting(self.space, row) for row in self.uniform(count, rng)]


def _column(form: Range, count: int, rng: Generator) -> Array:
    if isinstance(form, list):
        return rng.integers(len(form), size=count).astype(float)
    low, high = form[0], form[1]
    whole = isinstance(low, int)
    if len(form) == 3 and whole:  # each integer has the share of the log range that rounds to it
        return np.clip(np.rint(np.exp(rng.uniform(np.log(low - 0.5), np.log(high + 0.5), count))), low, high)
    if len(form) == 3:
        return np.clip(np.exp(rng.uniform(np.log(low), np.log(high), count)), low, high)
    return rng.integers(low, high + 1, count).astype(float) if whole else rng.uniform(low, high, count)


def _box(low: float, high: float, dimension: int) -> dict[str, Range]:
    return {f"x{k}": (float(low), float(high)) for k in range(dimension)}


def _paper_space(name: str) -> dict[str, Range]:
    """The paper's box as a space; that of xgboost has integers."""
    domain: Any = PAPER[name].domain
    return {
        f"x{k}": (int(low), int(high)) if k in domain.integers else (float(low), float(high))
        for k, (low, high) in enumerate(domain.bounds)
    }


def _on_grid(X: Array) -> Array:
    """gp2d as a function of the grid's indices, 0 to 49."""
    return PAPER["gp2d"].function(X / 49)


_NETWORK: dict[str, Range] = {"rate": (1e-5, 1.0, "log"), "layers": (1, 8), "width": (8, 1024, "log"),
                             "solver": ["adam", "sgd", "rms"], "norm": ["none", "batch", "layer"]}  # fmt: skip
_RECIPE: dict[str, Range] = {"solvent": ["a", "b", "c", "d", "e"], "base": ["p", "q", "r", "s"], "first": (0.0, 1.0),
                            "second": (0.0, 1.0), "time": (1.0, 200.0, "log"), "passes": (1, 12)}  # fmt: skip
_TAIL: dict[str, Range] = {"a": (1e-6, 1e2, "log"), "b": (1e-3, 1e4, "log"), "c": (1e-8, 1.0, "log")}

# A share xi of random settings is good (see below; 1/100 in the tuning tasks). Where xi is None, the target is chosen near the maximum.
TARGETS = {
    "ackley": -18.6774,
    "dropwave": 0.74264,
    "hartmann3": 3.84,
    "branin": -0.445545,
    "hartmann6": 3.2,
    "rastrigin4": -17.3575,
    "rosenbrock4": -288.559,
    "levy5": -2.65677,
    "styblinski8": 225.715,
    "forrester": 0.0060206,
    "steps4": -1.0,
    "network": 0.940081,
    "michalewicz5": 2.69993,
    "griewank5": -12.9332,
    "schwefel4": -513.788,
    "embedded20": 1.12254,
    "zakharov10": -93.6666,
    "tail3": -1.88546,
    "waves3": 2.7,
    "recipe": 90.0104,
    "svc-digits": 0.968003,
    "boosting-diabetes": 0.476513,
    "ridge-diabetes": -2927.68,
    "mlp-wine": -0.028147,
    "forest-cancer": -0.119489,
}

# name: (space, function, xi or None, tags, held out)
_OTHERS: dict[str, tuple[Mapping[str, Range], Rows, float | None, tuple[str, ...], bool]] = {
    "ackley": (_box(-32.768, 32.768, 6), moved(synthetic.ackley, -32.768, 32.768, 6, 1), 1e-2, ("paper", "rugged"), False),
    "dropwave": (_box(-5.12, 5.12, 2), moved(synthetic.dropwave, -5.12, 5.12, 2, 2), 1e-2, ("paper", "rugged"), False),
    "hartmann3": (_box(0, 1, 3), synthetic.hartmann3, None, ("paper", "smooth", "near maximum"), False),
    "branin": ({"x": (-5.0, 10.0), "y": (0.0, 15.0)}, branin, 1e-3, ("smooth",), False),
    "hartmann6": (_box(0, 1, 6), hartmann6, None, ("smooth", "near maximum"), False),
    "rastrigin4": (_box(-5.12, 5.12, 4), moved(rastrigin, -5.12, 5.12, 4, 3), 1e-3, ("rugged", "separable"), False),
    "rosenbrock4": (_box(-5, 10, 4), rosenbrock, 1e-3, ("smooth", "large values"), False),
    "levy5": (_box(-10, 10, 5), moved(levy, -10, 10, 5, 4, turned=True), 1e-3, ("rugged", "rotated"), False),
    "styblinski8": (_box(-5, 5, 8), styblinski, 1e-3, ("smooth", "separable"), False),
    "forrester": (_box(0, 1, 1), forrester, None, ("smooth", "small values", "near maximum"), False),
    "steps4": (_box(0, 10, 4), steps, 1e-3, ("plateaus", "separable"), False),
    "network": (_NETWORK, network, 1e-3, ("mixed",), False),
    "michalewicz5": (_box(0, np.pi, 5), michalewicz, 1e-3, ("rugged", "separable"), True),
    "griewank5": (_box(-600, 600, 5), moved(griewank, -600, 600, 5, 5, turned=True), 1e-3, ("rugged", "rotated"), True),
    "schwefel4": (_box(-500, 500, 4), schwefel, 1e-3, ("rugged", "separable"), True),
    "embedded20": (_box(0, 1, 20), embedded, 1e-3, ("smooth", "many dimensions"), True),
    "zakharov10": (_box(-5, 10, 10), zakharov, 1e-3, ("smooth", "heavy tail", "large values"), False),
    "tail3": (_TAIL, tail, 1e-3, ("log scales", "heavy tail"), True),
    "waves3": (_box(0, 1, 3), waves, None, ("smooth", "near maximum"), True),
    "recipe": (_RECIPE, recipe, 1e-3, ("mixed",), True),
}  # fmt: skip


def _problems() -> tuple[Problem, ...]:
    grid = Problem("gp2d", {"i": (0, 49), "j": (0, 49)}, _on_grid, PAPER["gp2d"].target, ("paper", "smooth"))
    found = [grid]
    for name in ("eggholder", "alpine", "keane", "dropwave-shifted", "robot3", "robot4", "xgboost"):
        tag = "simulation" if name.startswith("robot") else "tuning task" if name == "xgboost" else "rugged"
        found.append(Problem(name, _paper_space(name), PAPER[name].function, PAPER[name].target, ("paper", tag)))
    for name, (space, function, _, tags, held_out) in _OTHERS.items():
        found.append(Problem(name, space, function, TARGETS[name], tags, held_out))
    for name, task in TASKS.items():
        tags = ("tuning task", *(["mixed"] if any(isinstance(f, list) for f in task.space.values()) else []))
        found.append(Problem(name, task.space, task.values, TARGETS[name], tags, task.held_out))
    return tuple(found)


PROBLEMS: dict[str, Problem] = {problem.name: problem for problem in _problems()}


def target_by_share(problem: Problem, xi: float, draws: int = DRAWS) -> float:
    """The (1 - xi) quantile of the values of a fixed set of uniform rows, rounded down to six digits."""
    value = float(np.quantile(problem.function(problem.uniform(draws, default_rng(DRAWS_SEED))), 1 - xi))
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - 5)
    return float(f"{np.floor(value / unit) * unit:.6g}")


def targets(names: Iterable[str]) -> dict[str, float]:
    """The targets by share, recomputed; targets chosen near the maximum are left out."""
    found = {}
    for name in names:
        xi, draws = (0.01, SEARCH) if name in TASKS else (_OTHERS[name][2], DRAWS)
        if xi is not None:
            found[name] = target_by_share(PROBLEMS[name], xi, draws)
    return found


if __name__ == "__main__":
    for name, value in targets(TARGETS).items():
        print(f"{name}: {value!r}, stored {TARGETS[name]!r}")
