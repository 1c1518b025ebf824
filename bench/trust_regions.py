"""Trust regions beyond 15 dimensions: the noise-free default, and variants that search a box around the incumbent.

    .venv-bench/bin/python bench/trust_regions.py [--runs 10 --jobs 2]

The box is that of TuRBO (Eriksson et al. 2019): sides start at 0.8, double after 3 improvements in a row, halve after d evaluations
without one, and return to 0.8 when they fall below 1/128. Resumable: new runs are added to the kept records. They go to
out/records/trust.jsonl and, packed, to docs/records. Prints the table; bench/write_tables.py writes it into the docs.
"""

import argparse
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from ablations import rows
from eval_functions import Rows, levy, moved, rastrigin, rosenbrock, styblinski
from eval_peers import satisfice
from eval_problems import Problem
from evaluations import run
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import POLISH_ROUNDS, POLISHED, RESTARTS, Climbers, best_of, climb
from satisfice.acquisition.scores import MixedScore, SumScore, probability_score
from satisfice.paper.experiments.records import Record, pack, resume
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.paper.problems.synthetic import ackley
from satisfice.rules import Rule
from satisfice.rules.aspiration import Aspiration
from satisfice.types import Array

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "trust.jsonl", ROOT / "docs" / "records" / "trust.jsonl.xz"
FIRST_SIDE, LONGEST_SIDE, SHORTEST_SIDE, RISES = 0.8, 1.6, 2.0**-7, 3


@dataclass(frozen=True)
class _Inside:
    """A score as a function of the position within a box."""

    score: MixedScore | SumScore
    low: Array
    width: Array

    def __call__(self, U: Array) -> Array:
        return self.score(self.low + self.width * U)

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        value, gradient = self.score.with_gradient(self.low + self.width * U)
        return value, gradient * self.width


def side(values: Array, dimension: int) -> float:
    """The length of the box's sides after these values, in the unit cube."""
    length, best, rises, failures = FIRST_SIDE, values[0], 0, 0
    for value in values[1:]:
        rises, failures = (rises + 1, 0) if value > best else (0, failures + 1)
        best = max(best, value)
        if rises == RISES:
            length, rises = min(2 * length, LONGEST_SIDE), 0
        elif failures == dimension:
            length, failures = length / 2, 0
        if length < SHORTEST_SIDE:
            length = FIRST_SIDE
    return length


@dataclass(frozen=True)
class Trusting(Aspiration):
    """The default rule within a box around the incumbent: always, or at odd steps only."""

    always: bool = True

    def propose(self, belief: Belief, rng: Generator) -> Array:  # type: ignore[override]
        """The default's proposal, with candidates and gradient ascent confined to the box."""
        turn = belief.step % 2
        if turn == 0 and not self.always:
            return super().propose(belief, rng)
        length = side(belief.members[0][1].y, belief.domain.dimension)
        low = np.maximum(belief.best[0] - length / 2, 0.0)
        width = np.minimum(belief.best[0] + length / 2, 1.0) - low
        spread, near = belief.candidates(rng)
        points = np.vstack([spread, np.clip((near - low) / width, 0.0, 1.0)])
        mean, std = belief.marginal(low + width * points)
        level = min(belief.target, max(float((mean + self.reach[turn] * std).max()), belief.incumbent))
        score = _Inside(probability_score(belief, level), low, width)
        scores, half = score(points), RESTARTS // 2
        best = [np.argsort(-scores[: len(spread)])[:half], len(spread) + np.argsort(-scores[len(spread) :])[:half]]
        climbed = climb(score, Climbers.at(points[np.concatenate(best)], score))
        polished = climb(score, climbed.some(np.argsort(-climbed.values)[:POLISHED]), POLISH_ROUNDS)
        found = np.vstack([polished.points, climbed.points, points])
        values = np.concatenate([polished.values, climbed.values, scores])
        return best_of(low + width * found, values, belief, rng)


VARIANTS: dict[str, tuple[str, Rule]] = {
    "default": ("the default without sweeps", Aspiration(sweeps=False)),
    "trust": ("always in a trust region", Trusting(sweeps=False)),
    "turns": ("at every second step", Trusting(sweeps=False, always=False)),
}

# name: (dimension, low, high, function, targets). The first target is the one of xi = 1/10,000, the second lies halfway from there to the
# maximum. None of these problems is in bench/evaluations.py.
_WIDE: dict[str, tuple[int, float, float, Rows, tuple[float, float]]] = {
    "ackley20": (20, -32.768, 32.768, moved(ackley, -32.768, 32.768, 20, 20), (-19.8548, -9.9274)),
    "levy16": (16, -10, 10, moved(levy, -10, 10, 16, 21, turned=True), (-44.0971, -22.0486)),
    "rosenbrock20": (20, -5, 10, rosenbrock, (-182745, -91372.5)),
    "rastrigin16": (16, -5.12, 5.12, moved(rastrigin, -5.12, 5.12, 16, 22), (-168.89, -84.445)),
    "styblinski20": (20, -5, 5, styblinski, (476.433, 629.877)),
}
PROBLEMS = {
    f"{name} {target:g}": Problem(name, {f"x{k}": (float(low), float(high)) for k in range(d)}, function, target, ())
    for name, (d, low, high, function, targets) in _WIDE.items()
    for target in targets
}


def run_variant(variant: str, problem: str, seed: int) -> Record:
    """The record of one run of a variant."""
    count, good, _ = run(PROBLEMS[problem], satisfice(VARIANTS[variant][1], "auto"), seed)
    key = f"{variant}/{problem}/{seed}"
    return {"key": key, "lever": variant, "problem": problem, "seed": seed, "evaluations": count, "good": bool(good)}


def table(records: list[Record]) -> str:
    """A row for each variant."""
    return rows(records, {variant: says for variant, (says, _) in VARIANTS.items()})


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    task = partial(Task, function=run_variant)
    tasks = [task(f"{v}/{p}/{s}", arguments=(v, p, s)) for s in range(given.runs) for p in PROBLEMS for v in VARIANTS]
    resume(KEPT, PATH)
    records = run_tasks(tasks, PATH, jobs=given.jobs, title="trust regions")
    pack(PATH, KEPT)
    print(table(list(records)))


if __name__ == "__main__":
    main()
