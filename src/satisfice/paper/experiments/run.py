"""Running tasks: on all cores with joblib, or on a Dask cluster; resumable, with a progress bar."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from numpy.random import default_rng

from satisfice.blas import one_blas_thread
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.errors import BadInput
from satisfice.extras import load_extra
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel, Model
from satisfice.gp.priors import NOISE_FREE
from satisfice.paper.experiments.progress import progress
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.spec import FLOOR, Cell
from satisfice.paper.experiments.trace import trace
from satisfice.paper.problems import PROBLEMS
from satisfice.rules import Rule
from satisfice.search.search import Search
from satisfice.types import Array

JOBLIB, DISTRIBUTED = ("joblib", "experiments"), ("distributed", "cluster")  # packages and their extras
STARTING_POINTS = 3
SEED = 2021


def run_cell(cell: Cell) -> Record:
    """The record of one run; it depends on the cell alone."""
    problem, search = PROBLEMS[cell.problem], _search(cell)
    return {
        "key": cell.key,
        **cell.as_dict(),
        **trace(
            search,
            lambda x: problem.value(_rounded_to(problem.domain, search.domain, x)),
            starting_points(cell),
            budget=cell.budget,
            stop=cell.stop,
            noise=cell.noise,
            rng=default_rng([SEED, cell.trial, cell.experiment, 1]),
        ),
    }


def _rounded_to(domain: Box | Finite, searched: Box | Finite, x: Array) -> Array:
    """The point that is evaluated for x: where the search took whole numbers for continuous ones, they are rounded."""
    return x if searched is domain else domain.from_unit(searched.to_unit(x))[0]


def _search(cell: Cell) -> Any:
    """The search that a cell asks for; a rule that does not read the target is given 0."""
    domain, target = domain_of(cell), cell.target if cell.target is not None else 0.0
    seed = 1000 * cell.trial + cell.experiment
    if cell.variant == "published":
        from satisfice.paper.experiments.published import PublishedSearch

        if not isinstance(domain, Box):
            raise BadInput(f"The published code searches boxes only; got {cell.problem}. Run it --as paper.")
        return PublishedSearch(domain, target, cell.rule, noise=cell.noise, seed=seed)
    rule: str | Rule = cell.rule
    model: str | Model = "auto" if cell.variant == "auto" else "paper"
    if cell.variant == "paper":
        from satisfice.paper.experiments.as_written import rule_as_written
        from satisfice.paper.experiments.likelihood import written_model

        model = written_model()
        if isinstance(domain, Box):
            rule = rule_as_written(cell.rule)
    if cell.rule == FLOOR and not cell.noise:  # nobody asks the model, so it need not learn
        model = FixedModel(Stationary("se", np.array([0.2])), NOISE_FREE)
    return Search(domain, target, rule, model=model, noise=cell.noise, confirm=False, seed=seed)


def domain_of(cell: Cell) -> Box | Finite:
    """Where a cell searches: as the text says whole numbers are continuous, and only the evaluation rounds them."""
    domain = PROBLEMS[cell.problem].domain
    return Box(domain.bounds) if cell.variant == "paper" and isinstance(domain, Box) and domain.integers else domain


def starting_points(cell: Cell) -> Array:
    """Three uniform points, the same for every rule; fresh for each experiment (published: for each trial)."""
    fresh = [] if cell.variant == "published" else [cell.experiment]
    domain = domain_of(cell)
    return domain.from_unit(domain.uniform(STARTING_POINTS, default_rng([SEED, cell.trial, *fresh])))


@dataclass(frozen=True)
class Task:
    """Something to be run: a function of the module level and its arguments, and the key of the record that it makes."""

    key: str
    function: Callable[..., Record]
    arguments: tuple[Any, ...]


def tasks_of(cells: list[Cell]) -> list[Task]:
    """The cells as tasks."""
    return [Task(cell.key, run_cell, (cell,)) for cell in cells]


def run_tasks(tasks: list[Task], path: Path, *, jobs: int = -1, cluster: str | None = None, title: str = "") -> Records:
    """Run the tasks that have no record in the file yet, and append a record for each as it ends; -1 jobs are all cores."""
    records = Records(path)
    done = records.keys()
    todo = [task for task in tasks if task.key not in done]
    start = monotonic()
    for record in results(todo, jobs=jobs, cluster=cluster, title=title, total=len(tasks)):
        records.append(record)
    if todo:
        spent = {
            "key": f"{title}/{len(done)}",
            "title": title,
            "runs": len(todo),
            "seconds": round(monotonic() - start, 1),
            "processes": None if cluster else _processes(jobs),
        }
        Records(path.parent / "times" / path.name).append(spent)
    return records


def results(
    tasks: list[Task], *, jobs: int = -1, cluster: str | None = None, title: str = "", total: int | None = None
) -> Iterator[Record]:
    """The records of the tasks as they end, while a bar shows how many of `total` there are."""
    total = len(tasks) if total is None else total
    with progress(title, total, total - len(tasks)) as advance:
        for record in _on_cluster(tasks, cluster) if cluster else _on_cores(tasks, jobs):
            yield record
            advance()


def _processes(jobs: int) -> int:
    return int(load_extra(*JOBLIB).effective_n_jobs(jobs))


def _on_cores(tasks: list[Task], jobs: int) -> Iterator[Record]:
    joblib = load_extra(*JOBLIB)
    calls = (joblib.delayed(_alone)(task) for task in tasks)
    yield from joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(calls)


def _on_cluster(tasks: list[Task], address: str) -> Iterator[Record]:
    distributed = load_extra(*DISTRIBUTED)
    with distributed.Client(address) as client:
        futures = client.map(_alone, tasks, pure=False)
        for _, record in distributed.as_completed(futures, with_results=True):
            yield record


def _alone(task: Task) -> Record:
    with one_blas_thread():
        return task.function(*task.arguments)
