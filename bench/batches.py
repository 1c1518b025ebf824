"""Batches: rounds until the first good value when q settings are evaluated in parallel, satisfice beside Optuna.

    .venv-bench/bin/python bench/batches.py [--runs 10 --jobs 2 --contestants auto,tpe]

A round asks q times, each time with the earlier points of the round pending, then tells all q values. Every run starts from the three
random settings of bench/evaluations.py, also q at a time. A run that does not reach the target counts as the rounds of 200 evaluations.
Resumable: new runs are added to the kept records. They go to out/records/batches.jsonl and, packed, to docs/records. Prints the table;
bench/write_tables.py writes it into the docs.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ablations import NAMES
from eval_peers import BUDGET, Observations, Params
from eval_problems import PROBLEMS, Problem
from evaluations import quiet, starting_points

from satisfice import Search
from satisfice.domain.space import Space
from satisfice.paper.experiments.records import Record, pack, resume
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.study.distributions import distributions_of

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "batches.jsonl", ROOT / "docs" / "records" / "batches.jsonl.xz"
SIZES = (1, 4, 16)
Batches = Callable[[Problem, int, Observations], tuple[Callable[[int], list[Params]], Callable[[list[float]], None]]]


def satisfice(problem: Problem, seed: int, told: Observations) -> Any:
    """`Search`, with the points of the round pending."""
    space = Space.of(problem.space)
    search = Search(space.domain, problem.target, noise=0, seed=seed)
    for params, value in told:
        search.tell(space.encode(params), value)
    asked: list[Any] = []

    def ask(q: int) -> list[Params]:
        asked.clear()
        for _ in range(q):
            asked.append(search.ask(pending=asked))
        return [space.decode(x) for x in asked]

    def tell(values: list[float]) -> None:
        for x, value in zip(asked, values, strict=True):
            search.tell(x, value)

    return ask, tell


def optuna(sampler: Callable[[Any, int], Any]) -> Batches:
    """A sampler of Optuna: q times `ask`, then q times `tell`."""

    def batches(problem: Problem, seed: int, told: Observations) -> Any:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        space: Any = distributions_of(Space.of(problem.space))
        study = optuna.create_study(direction="maximize", sampler=sampler(optuna.samplers, seed))
        for params, value in told:
            study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=value))
        asked: list[Any] = []

        def ask(q: int) -> list[Params]:
            asked[:] = [study.ask(space) for _ in range(q)]
            return [trial.params for trial in asked]

        def tell(values: list[float]) -> None:
            for trial, value in zip(asked, values, strict=True):
                study.tell(trial, value)

        return ask, tell

    return batches


CONTESTANTS: dict[str, Batches] = {
    "auto": satisfice,
    "tpe": optuna(lambda samplers, seed: samplers.TPESampler(seed=seed, constant_liar=True)),
    "gp": optuna(lambda samplers, seed: samplers.GPSampler(seed=seed, deterministic_objective=True)),
}


def run_batches(contestant: str, q: int, problem: str, seed: int) -> Record:
    """The record of one run: the rounds until the first good value."""
    chosen = PROBLEMS[problem]
    told = starting_points(chosen, seed)
    first = next((k for k, (_, value) in enumerate(told) if value >= chosen.target), None)
    good, spent = first is not None, len(told)
    rounds = (spent - 1 if first is None else first) // q + 1
    if not good:
        with quiet():
            ask, tell = CONTESTANTS[contestant](chosen, seed, told)
            while not good and spent < BUDGET:
                values = [chosen.value(params) for params in ask(min(q, BUDGET - spent))]
                tell(values)
                rounds, spent, good = rounds + 1, spent + len(values), max(values) >= chosen.target
    key = f"{contestant}/{q}/{problem}/{seed}"
    return {"key": key, "contestant": contestant, "q": q, "problem": problem, "rounds": rounds, "good": good}


def table(records: list[Record]) -> str:
    """A row for each contestant: the geometric mean over problems of its mean rounds, and the ratio to q = 1."""
    lines = ["| | " + " | ".join(f"q = {q}" for q in SIZES) + " |", "|---" * (len(SIZES) + 1) + "|"]
    for contestant in CONTESTANTS:
        cells = []
        first = None
        for q in SIZES:
            mine = [r for r in records if r["contestant"] == contestant and r["q"] == q]
            if not mine:
                cells.append("-")
                continue
            means = [np.mean([r["rounds"] for r in mine if r["problem"] == p]) for p in {r["problem"] for r in mine}]
            level = float(np.exp(np.mean(np.log(means))))
            first = first or level
            cells.append(f"{level:.1f} ({level / first:.2f})")
        lines.append(f"| {contestant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--contestants", default=",".join(CONTESTANTS))
    given = parser.parse_args()
    chosen = given.contestants.split(",")
    every = [(c, q, p, s) for c in chosen for s in range(given.runs) for q in SIZES for p in NAMES]
    tasks = [Task("/".join(map(str, each)), run_batches, each) for each in every]
    resume(KEPT, PATH)
    records = run_tasks(tasks, PATH, jobs=given.jobs, title="batches")
    pack(PATH, KEPT)
    print(table(list(records)))


if __name__ == "__main__":
    main()
