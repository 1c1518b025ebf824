"""Evaluations until a target is reached on COCO's test functions (Hansen et al. 2021), which nobody here wrote: satisfice beside its peers.

    make bench-env
    .venv-bench/bin/python bench/coco.py --dimensions 2,5 --instances 1,2 --contestants auto,random,tpe,cmaes,cobyqa --minutes 40
    .venv-bench/bin/python bench/coco.py --suite bbob-mixint --dimensions 5 --instances 1
    .venv-bench/bin/python bench/coco.py --page      write the section of docs/evidence/benchmarks.md, and its pictures, from the records

The easy target of a function is the 1 % quantile of its values at uniform points, the hard one is a tenth as far from the optimum. The
budget is 150 evaluations, 100 in ten and more dimensions. One run of a contestant on a function, dimension and instance is a cell; a run
that does not reach a target counts as the budget. satisfice knows its target, so it runs once for each; the runs of the others go on until
the hard one. Instances from 6 on are refused: they are kept for a later check. Runs with a record are not repeated, and no run starts after
`--minutes` of this process's CPU time.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy

import argparse
import logging
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np
from numpy.random import default_rng
from rich.progress import Progress

from satisfice import Box, Search
from satisfice.domain.product import Product
from satisfice.paper.experiments.records import Record, Records, pack, resume
from satisfice.types import Array

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "coco.jsonl", ROOT / "docs" / "records" / "coco.jsonl.xz"
TARGETS = ("easy", "hard")
SUITES = ("bbob", "bbob-mixint")
DRAWS, QUANTILE, CLOSER = 4000, 0.01, 0.1
SEED, INSTANCES = 2026, 5
Function = Callable[[Array], float]


def best_parameter(problem: Any) -> Array:
    """Where the optimum is; COCO says so in a file of the working directory only."""
    here = Path.cwd()
    with TemporaryDirectory() as place:
        os.chdir(place)
        try:
            problem._best_parameter("print")
            (written,) = Path(place).iterdir()
            return np.loadtxt(written)
        finally:
            os.chdir(here)


class Done(Exception):
    """The budget is spent, or the last target is reached."""


class Cell:
    """One function of a suite, to be minimised, with its targets."""

    def __init__(self, suite: str, problem: Any) -> None:
        self.suite, self.problem = suite, problem
        self.low, self.high = np.array(problem.lower_bounds), np.array(problem.upper_bounds)
        self.dimension, self.integers = problem.dimension, int(problem.number_of_integer_variables)
        self.budget = 150 if self.dimension < 10 else 100
        self.name = f"{suite}/f{problem.id_function}/d{self.dimension}/i{problem.id_instance}"
        self.seed = [SEED, problem.id_function, self.dimension, problem.id_instance]
        points = self.uniform(DRAWS, default_rng([*self.seed, 1]))
        values = np.array([problem(x) for x in points])
        optimum = float(problem(best_parameter(problem)))
        easy = float(np.quantile(values, QUANTILE))
        self.targets = {"easy": easy, "hard": optimum + CLOSER * (easy - optimum)}

    def uniform(self, count: int, rng: np.random.Generator) -> Array:
        """Uniform points (count, d); the first parameters may be integers."""
        U = rng.random((count, self.dimension))
        X = self.low + (self.high - self.low) * U
        k = self.integers
        X[:, :k] = self.low[:k] + np.floor((self.high[:k] - self.low[:k] + 1) * U[:, :k])
        return np.minimum(X, self.high)


class Counted:
    """A function that counts its evaluations, notes when a target is first reached, and ends a run by raising `Done`."""

    def __init__(self, cell: Cell, targets: dict[str, float]) -> None:
        self.cell, self.targets = cell, targets
        self.count, self.reached = 0, dict[str, int]()
        self.seconds, self._since = 0.0, process_time()

    def __call__(self, x: Array) -> float:
        self.seconds += process_time() - self._since
        value = float(self.cell.problem(np.clip(np.asarray(x, dtype=float), self.cell.low, self.cell.high)))
        self.count += 1
        for name, target in self.targets.items():
            if value <= target:
                self.reached.setdefault(name, self.count)
        if len(self.reached) == len(self.targets) or self.count >= self.cell.budget:
            raise Done
        self._since = process_time()
        return value


def by_chance(function: Function, cell: Cell, target: float) -> None:
    """Uniform points."""
    for x in cell.uniform(cell.budget, default_rng([*cell.seed, 2])):
        function(x)


def satisfice(function: Function, cell: Cell, target: float) -> None:
    """`Search` with its defaults and noise=0."""
    from satisfice.domain.parameters import Integer, Real

    domain: Any = Box(list(zip(cell.low, cell.high, strict=True)))
    if cell.integers:
        ranges = list(zip(cell.low.tolist(), cell.high.tolist(), strict=True))
        whole = [Integer(int(low), int(high)) for low, high in ranges[: cell.integers]]
        domain = Product([*whole, *(Real(low, high) for low, high in ranges[cell.integers :])])
    search = Search(domain, target, direction="minimize", noise=0, confirm=False, seed=cell.problem.id_instance)
    while True:
        x = search.ask()
        search.tell(x, function(x))


def optuna_sampler(name: str, **options: Any) -> Callable[[Function, Cell, float], None]:
    """A sampler of Optuna with its defaults."""

    def run(function: Function, cell: Cell, target: float) -> None:
        import optuna
        from optuna.distributions import FloatDistribution, IntDistribution

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space: dict[str, Any] = {}
        for k, (low, high) in enumerate(zip(cell.low, cell.high, strict=True)):
            whole = k < cell.integers
            space[f"x{k}"] = IntDistribution(int(low), int(high)) if whole else FloatDistribution(low, high)
        sampler = getattr(optuna.samplers, name)(seed=cell.problem.id_instance, **options)
        study = optuna.create_study(direction="minimize", sampler=sampler)
        while True:
            trial = study.ask(space)
            study.tell(trial, function(np.array([trial.params[each] for each in space], dtype=float)))

    return run


def restarted(solve: Callable[[Function, Cell, Array], Any]) -> Callable[[Function, Cell, float], None]:
    """A method that needs a starting point: a uniform one, and another whenever the method ends."""

    def run(function: Function, cell: Cell, target: float) -> None:
        for start in cell.uniform(cell.budget, default_rng([*cell.seed, 3])):
            solve(function, cell, start)

    return run


def cobyqa(function: Function, cell: Cell, start: Array) -> None:
    """COBYQA of scipy."""
    from scipy.optimize import Bounds, minimize

    minimize(function, start, method="COBYQA", bounds=Bounds(cell.low, cell.high), options={"maxfev": cell.budget})


def bobyqa(function: Function, cell: Cell, start: Array) -> None:
    """Py-BOBYQA."""
    import pybobyqa  # type: ignore[import-not-found]

    pybobyqa.solve(function, start, bounds=(cell.low, cell.high), maxfun=cell.budget, do_logging=False)


def pycma(function: Function, cell: Cell, start: Array) -> None:
    """pycma with a step size of a fifth of the range, as COCO's own example has it."""
    import cma  # type: ignore[import-not-found]

    options = {"bounds": [cell.low, cell.high], "seed": cell.problem.id_instance, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(start, 0.2 * float(cell.high[-1] - cell.low[-1]), options)
    while not strategy.stop():
        points = strategy.ask()
        strategy.tell(points, [function(x) for x in points])


def ngopt(function: Function, cell: Cell, target: float) -> None:
    """NGOpt of nevergrad, which knows the budget."""
    import nevergrad  # type: ignore[import-not-found]

    space = nevergrad.p.Array(shape=(cell.dimension,)).set_bounds(cell.low, cell.high)
    space.random_state.seed(cell.problem.id_instance)
    optimizer = nevergrad.optimizers.NGOpt(space, budget=cell.budget)
    while True:
        candidate = optimizer.ask()
        optimizer.tell(candidate, function(candidate.value))


CONTESTANTS: dict[str, Callable[[Function, Cell, float], None]] = {
    "auto": satisfice,
    "tpe": optuna_sampler("TPESampler"),
    "gp": optuna_sampler("GPSampler", deterministic_objective=True),
    "cmaes": optuna_sampler("CmaEsSampler", warn_independent_sampling=False),
    "pycma": restarted(pycma),
    "ngopt": ngopt,
    "cobyqa": restarted(cobyqa),
    "bobyqa": restarted(bobyqa),
    "random": by_chance,
}
WHOLE = ("auto", "tpe", "gp", "cmaes", "random")  # those that take integers


def run(cell: Cell, contestant: str) -> Record:
    """The record of a contestant on a cell."""
    budget, each = cell.budget, [{name: target} for name, target in cell.targets.items()]
    record: Record = {"key": f"{cell.name}/{contestant}", "contestant": contestant, "targets": cell.targets}
    record |= {"suite": cell.suite, "function": cell.problem.id_function, "dimension": cell.dimension}
    record |= {"instance": cell.problem.id_instance, "budget": budget, "reached": {}, "seconds": 0.0, "evaluations": 0}
    for targets in each if contestant == "auto" else [cell.targets]:
        function = Counted(cell, targets)
        try:
            CONTESTANTS[contestant](function, cell, targets.get("hard", cell.targets["easy"]))
        except Done:
            pass
        except Exception as error:
            record["error"] = f"{type(error).__name__}: {error}"[:200]
        record["reached"] |= function.reached
        record["seconds"] = round(record["seconds"] + function.seconds, 3)
        record["evaluations"] += function.count
    return record


def run_all(suite: str, dimensions: str, instances: list[int], contestants: list[str], minutes: float) -> None:
    """Run what has no record yet, cell by cell, until the time is over."""
    import cocoex  # type: ignore[import-not-found]

    resume(KEPT, PATH)
    records = Records(PATH)
    done = records.keys()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    if "gp" in contestants:
        import torch

        torch.set_num_threads(1)
    with Progress() as progress:
        for instance in instances:
            found = cocoex.Suite(suite, "", f"dimensions:{dimensions} instance_indices:{instance}")
            for problem in progress.track(found, description=f"{suite}, instance {instance}"):
                key = f"{suite}/f{problem.id_function}/d{problem.dimension}/i{problem.id_instance}"
                todo = [name for name in contestants if f"{key}/{name}" not in done]
                if not todo or process_time() > 60 * minutes:
                    continue
                cell = Cell(suite, problem)
                for name in todo:
                    records.append(run(cell, name))
    if PATH.exists():
        pack(PATH, KEPT)


def main() -> None:
    """Run what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="bbob", choices=SUITES)
    parser.add_argument("--dimensions", default="2,5")
    parser.add_argument("--instances", default="1")
    parser.add_argument("--contestants", default=",".join(CONTESTANTS), help=f"of {','.join(CONTESTANTS)}")
    parser.add_argument("--minutes", type=float, default=40.0, help="CPU minutes after which no run starts")
    parser.add_argument("--page", action="store_true", help="only write the section and the pictures from the records")
    given = parser.parse_args()
    if given.page:
        from coco_page import write

        write(KEPT, ROOT / "docs")
        return
    contestants, instances = given.contestants.split(","), [int(k) for k in given.instances.split(",")]
    if unknown := set(contestants) - CONTESTANTS.keys():
        parser.error(f"--contestants must be names of {', '.join(CONTESTANTS)}; got {', '.join(unknown)}")
    if not all(1 <= k <= INSTANCES for k in instances):
        parser.error(f"--instances must be from 1 to {INSTANCES}, since the others are kept; got {given.instances}")
    if given.suite != "bbob":
        contestants = [name for name in contestants if name in WHOLE]
    run_all(given.suite, given.dimensions, instances, contestants, given.minutes)


if __name__ == "__main__":
    main()
