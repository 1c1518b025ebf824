"""For how many steps a search asks the same questions on different processors.

    .venv/bin/python bench/cpu_agreement.py [--seeds 4 --only Haswell,SkylakeX --unrounded]

Every search runs once for each processor of bench/cpus.py, in a process of its own, and is compared with the run on OpenBLAS's Haswell
kernels: how many questions agree to the last bit, and at which step the two searches part. The objectives use Python's own arithmetic,
which does not depend on numpy. Prints a table. With --unrounded, the searches run without the rounding that makes them agree.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before numpy

import argparse
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from cpus import Processor, chosen, environment
from numpy.random import default_rng

from satisfice import Box, Finite, Search
from satisfice.acquisition import optimise as climbs
from satisfice.domain.parameters import Categorical, Integer, Real
from satisfice.domain.product import Product
from satisfice.gp import evidence
from satisfice.types import Domain

QUESTIONS = 30
Point = Sequence[float]
Run = tuple[str, int]  # the name of a problem, and a seed
Runs = dict[Run, list[list[float]]]


@dataclass(frozen=True)
class Problem:
    """A function to maximise over a domain, its noise, and the options of the search."""

    domain: Domain
    function: Callable[[Point], float]
    target: float
    noise: float = 0.0
    told: dict[str, Any] = field(default_factory=lambda: {"noise": 0})


def forrester(x: Point) -> float:
    return -((6 * x[0] - 2) ** 2) * math.sin(12 * x[0] - 4)


def branin(x: Point) -> float:
    a = x[1] - 5.1 * x[0] ** 2 / (4 * math.pi**2) + 5 * x[0] / math.pi - 6
    return -(a * a + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10)


def rosenbrock(x: Point) -> float:
    return -sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in pairwise(x))


def levy(x: Point) -> float:
    w = [1 + (each - 1) / 4 for each in x]
    inner = sum((a - 1) ** 2 * (1 + 10 * math.sin(math.pi * a + 1) ** 2) for a in w[:-1])
    return -(math.sin(math.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2))


def waves(x: Point) -> float:
    return sum(math.sin(3 * each + k) - (each - 0.3) ** 2 for k, each in enumerate(x))


def recipe(x: Point) -> float:
    """A rate, an integer and one of three choices."""
    return -((x[0] - 0.3) ** 2) - 0.02 * (x[1] - 7) ** 2 + 0.3 * x[3] - 0.2 * x[4]


UNIT, TWO = (0.0, 1.0), [(-5.0, 10.0), (0.0, 15.0)]
RECIPE = Product([Real(0.0, 1.0), Integer(1, 20), Categorical(range(3))])
TABLE = Finite([[-5 + 15 * (37 * k % 211) / 211, 15 * k / 211] for k in range(211)])
LEARN: dict[str, Any] = {"noise": "learn"}
PROBLEMS = {
    "forrester, 1 parameter": Problem(Box([UNIT]), forrester, 6.0),
    "branin, 2": Problem(Box(TWO), branin, -0.45),
    "waves, 3": Problem(Box([UNIT] * 3), waves, 2.6),
    "rosenbrock, 4": Problem(Box([(-2.0, 2.0)] * 4), rosenbrock, -5.0),
    "levy, 5": Problem(Box([(-10.0, 10.0)] * 5), levy, -1.0),
    "waves, 6": Problem(Box([UNIT] * 6), waves, 3.0),
    "rosenbrock, 4 integers": Problem(Box([(-20, 20)] * 4, integers=range(4)), lambda x: rosenbrock([a / 10 for a in x]), -5.0),
    "recipe with a choice": Problem(RECIPE, recipe, 0.29),
    "branin, a table of 211": Problem(TABLE, branin, -1.0),
    "branin, noise to learn": Problem(Box(TWO), branin, -2.0, 1.0, LEARN),
    "waves, 3, noise stated": Problem(Box([UNIT] * 3), waves, 2.3, 0.1, {"noise": 0.1}),
    "recipe, noise unknown": Problem(RECIPE, recipe, 0.2, 0.05, {}),
}  # fmt: skip


def questions(problem: Problem, seed: int) -> list[list[float]]:
    """The first questions of a search, whether or not it has reached its target."""
    search = Search(problem.domain, problem.target, seed=seed, **problem.told)
    asked = []
    for error in problem.noise * default_rng([seed, 99]).standard_normal(QUESTIONS):
        x = search.ask()
        asked.append(x.tolist())
        search.tell(x, problem.function(asked[-1]) + float(error))
    return asked


def as_processor(processor: Processor, names: Sequence[str], seeds: int, unrounded: bool = False) -> Runs:
    """The questions of every search on these problems, computed as this processor computes them."""
    command = [sys.executable, __file__, "--asking", json.dumps([list(names), seeds]), *["--unrounded"] * unrounded]
    done = subprocess.run(command, env=environment(processor), stdout=subprocess.PIPE, check=True)  # noqa: S603
    return {(name, seed): asked for name, seed, asked in json.loads(done.stdout)}


def shared(runs: Runs, others: Runs, near: float = 0.0) -> dict[Run, list[bool]]:
    """For each search, which questions agree up to a distance in the unit cube."""
    found = {}
    for (name, seed), asked in runs.items():
        scaled = [PROBLEMS[name].domain.scaled(np.array(points)) for points in (asked, others[name, seed])]
        found[name, seed] = list(np.abs(scaled[0] - scaled[1]).max(axis=1) <= near)
    return found


def share(agreeing: dict[Run, list[bool]]) -> float:
    """The share of all questions that agree."""
    return float(np.mean(list(agreeing.values())))


def cell(agreeing: dict[Run, list[bool]], name: str) -> str:
    """For one problem: how many questions agree, and at which step each search parts."""
    searches = [same for (each, _), same in agreeing.items() if each == name]
    parts = [str(same.index(False) + 1) if False in same else "-" for same in searches]
    return f"{sum(map(sum, searches))} of {sum(map(len, searches))} ({', '.join(parts)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=4, help="searches on each problem")
    parser.add_argument("--only", help="names of processors, separated by commas; the first is the reference")
    parser.add_argument("--unrounded", action="store_true", help="without the rounding that makes searches agree")
    parser.add_argument("--asking", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.unrounded:
        climbs.RESOLUTION, evidence.GRAIN = 2.0**-60, 2.0**-45
    if options.asking:
        names, seeds = json.loads(options.asking)
        warnings.simplefilter("ignore")
        json.dump(
            [[name, seed, questions(PROBLEMS[name], seed)] for name in names for seed in range(seeds)], sys.stdout
        )
        return
    runs = {}
    for processor in chosen(options.only):
        if processor.missing:
            print(f"{processor.name} is skipped: {processor.missing}")
        else:
            runs[processor.name] = as_processor(processor, list(PROBLEMS), options.seeds, options.unrounded)
    base, *others = runs
    print(
        f"| {len(PROBLEMS) * options.seeds} searches of {QUESTIONS} questions, beside {base} | {' | '.join(others)} |"
    )
    print("|---" * len(runs) + "|")
    agreeing = [shared(runs[base], runs[other]) for other in others]
    for name in PROBLEMS:
        print(f"| {name} | {' | '.join(cell(each, name) for each in agreeing)} |")
    print(f"| all, to the last bit | {' | '.join(f'{share(each):.1%}' for each in agreeing)} |")
    near = [share(shared(runs[base], runs[other], climbs.SAME)) for other in others]
    print(f"| all, to {climbs.SAME:g} of the range | {' | '.join(f'{each:.1%}' for each in near)} |")


if __name__ == "__main__":
    main()
