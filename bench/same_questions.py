"""Does a change of the code change what a search asks?

    .venv/bin/python bench/same_questions.py record before.json     # before the change
    .venv/bin/python bench/same_questions.py compare before.json    # after it, on the same machine

Runs more than 100 short searches: every rule, every kind of domain and of noise, `find`, the Optuna sampler, tables, resumed studies and
the study file of version 0.1.0. It keeps every question to the last bit and the verdict. `compare` names the searches that differ and
exits with 1 if there are any. The recording belongs to one machine and one set of package versions, so it is not kept in the repository.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before numpy

import argparse
import json
import math
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import optuna

from satisfice import Box, Finite, GoodActionSampler, Search, find, stop_when_certain
from satisfice.domain.parameters import Categorical, Levels, Real
from satisfice.domain.product import Product
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.rules import RULES

STUDY = Path(__file__).parent.parent / "tests/data/study-0.1.0.db"
QUESTIONS = 16
Trace = dict[str, Any]
Case = Callable[[], Trace]

BOX = Box([(-5, 10), (0, 15)])
GRID = Finite(np.stack(np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 1, 9)), -1).reshape(-1, 2))
DOMAINS: dict[str, Any] = {
    "box": BOX,
    "integers": Box([(-5, 10), (0, 15)], [1]),
    "line": Box([(0, 1)]),
    "six": Box([(0, 1)] * 6),
    "grid": GRID,
    "mixed": Product([Real(0.0, 1.0), Levels([1, 8, 64]), Categorical(range(3))]),
}
NOISES: dict[str, dict[str, Any]] = {
    "exact": {"noise": 0},
    "unsaid": {},
    "known": {"noise": 0.2},
    "learned": {"noise": "learn"},
    "range": {"value_range": (-1.5, 1.5)},
}


def bowl(x: np.ndarray, domain: Any) -> float:
    """A smooth function with values from -1 to 1 on any domain, in Python's own arithmetic."""
    low, high = (
        (np.min(domain.points, 0), np.max(domain.points, 0))
        if isinstance(domain, Finite)
        else np.transpose(domain.bounds)
    )
    u = [(float(a) - float(b)) / (float(c) - float(b)) for a, b, c in zip(x, low, high, strict=True)]
    return math.cos(5 * (u[0] - 0.3)) - 2 * sum((each - 0.6) ** 2 for each in u[1:]) / len(u)


def searched(domain: Any, target: float, noisy: float = 0.0, questions: int = QUESTIONS, **options: Any) -> Trace:
    """The questions and the verdict of one search."""
    search = Search(domain, target, seed=3, **options)
    luck = np.random.default_rng(7)
    asked = []
    for step in range(questions):
        x = search.ask()
        asked.append([float(each).hex() for each in x])
        if step == 6:
            search.fail(x)
        else:
            search.tell(x, min(max(bowl(x, domain) + noisy * float(luck.standard_normal()), -1.5), 1.5))
    return {"asked": asked, "verdict": search.answer().verdict}


def of_find(space: Any, **options: Any) -> Trace:
    """The settings that `find` evaluates, and its verdict."""
    asked = []

    def objective(params: dict[str, Any]) -> float:
        asked.append({name: value.hex() if isinstance(value, float) else value for name, value in params.items()})
        x = params.get("x", 0.4)
        depth = params.get("depth", 3)
        return math.cos(5 * (math.log10(x) / 3 + 0.7)) - (depth - 4) ** 2 / 50 - 0.2 * (params.get("solver") == "sgd")

    answer = find(objective, space, progress=False, seed=5, **options)
    return {"asked": asked, "verdict": answer.verdict}


def sampled(**options: Any) -> Trace:
    """The settings that our sampler suggests to an Optuna study, in two sessions."""
    study = optuna.create_study(direction="minimize", sampler=GoodActionSampler(0.05, seed=2, **options))

    def objective(trial: optuna.Trial) -> float:
        x, kind = trial.suggest_float("x", -3, 3), trial.suggest_categorical("kind", ["a", "b"])
        depth = trial.suggest_int("depth", 1, 5) if kind == "a" else 3
        return (x - 1) ** 2 + (kind == "b") + abs(depth - 2) / 4

    study.optimize(objective, n_trials=7)
    study.sampler = GoodActionSampler(0.05, seed=2, **options)
    study.optimize(objective, n_trials=8, callbacks=[stop_when_certain()])
    asked = [{name: v.hex() if isinstance(v, float) else v for name, v in t.params.items()} for t in study.trials]
    return {"asked": asked}


def resumed(budgets: tuple[int, ...]) -> Trace:
    """A stored study, continued by further calls of `find`."""
    with tempfile.TemporaryDirectory() as directory:
        parts = [
            of_find({"x": (1e-3, 1.0, "log"), "depth": (2, 9)}, target=2.0, noise=0, storage=f"{directory}/a.db", name="a", budget=budget)
            for budget in budgets
        ]  # fmt: skip
    return {"asked": [each for part in parts for each in part["asked"]], "verdict": parts[-1]["verdict"]}


def released() -> Trace:
    """The study of version 0.1.0, opened and continued for five trials."""
    with tempfile.TemporaryDirectory() as directory:
        copy = shutil.copy(STUDY, directory)
        storage = f"sqlite:///{copy}"
        asked = {}
        for summary in optuna.get_all_study_summaries(storage):
            study = optuna.load_study(study_name=summary.study_name, storage=storage)
            done = len(study.trials)
            study.sampler = GoodActionSampler(1e6 if summary.direction.name == "MAXIMIZE" else -1e6, seed=1)
            space = study.trials[0].distributions
            for _ in range(5):
                trial = study.ask(space)
                study.tell(trial, float(trial.number % 3))
            asked[summary.study_name] = [str(sorted(t.params.items())) for t in study.trials[done:]]
    return {"asked": asked}


def cases() -> Iterator[tuple[str, Case]]:
    """Every search by its name."""
    fixed = FixedModel(Stationary("se", np.array([0.2, 0.2])), 1e-4)
    for rule in RULES:
        for noise in ("exact", "learned"):
            noisy = 0.0 if noise == "exact" else 0.2
            yield (
                f"rule {rule} {noise}",
                partial(searched, BOX, 1.3, noisy, rule=rule, model="paper", **NOISES[noise]),
            )
        yield f"rule {rule} grid", partial(searched, GRID, 0.8, 0.1, rule=rule, model=fixed, noise=0.1)
    for name, domain in DOMAINS.items():
        for noise, options in NOISES.items():
            noisy = 0.0 if noise in ("exact", "unsaid") else 0.2
            yield f"default {name} {noise}", partial(searched, domain, 0.9, noisy, 24, **options)
    yield "long", partial(searched, BOX, 1.3, questions=60, noise=0)
    yield "minimise", partial(searched, BOX, -2.0, noise=0, direction="minimize")
    space = {"x": (1e-3, 1.0, "log"), "depth": (2, 9), "solver": ["adam", "sgd", "lbfgs"]}
    table = [{"x": float(10 ** (-k / 7)), "depth": 2 + k % 7, "solver": "adam"} for k in range(21)]
    for noise, options in NOISES.items():
        yield f"find {noise}", partial(of_find, space, target=0.99, budget=20, **options)
        yield f"find table {noise}", partial(of_find, table, target=0.995, budget=20, **options)
    old = [
        {"x": 0.1, "depth": 5, "solver": "sgd", "value": 0.4},
        {"x": 0.2, "depth": 4, "solver": "adam", "value": 0.9},
    ]
    yield "find history", partial(of_find, space, target=0.99, budget=12, history=old)
    yield "resumed", partial(resumed, (8, 14, 20))
    yield "sampler", sampled
    yield "sampler exact", partial(sampled, noise=0)
    yield "sampler rule", partial(sampled, rule="pg", model="paper", noise=0)
    yield "released", released


def traces() -> dict[str, Trace]:
    """What every search asks with this code. A search that is refused is kept with the class of its error."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    found = {}
    for name, case in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = case()
            except Exception as problem:
                found[name] = {"error": type(problem).__name__}
        if len(found) % 20 == 0:
            print(f"{len(found)} searches", file=sys.stderr)
    return json.loads(json.dumps(found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    now = traces()
    if given.action == "record":
        given.file.write_text(json.dumps(now))
        print(f"{len(now)} searches recorded, {sum('error' in each for each in now.values())} of them refused")
        return 0
    before = json.loads(given.file.read_text())
    different = [name for name in before if before[name] != now.get(name)]
    print(f"{len(before) - len(different)} of {len(before)} searches are the same", *different, sep="\n  ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
