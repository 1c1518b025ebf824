"""Evaluations until the first value that reaches the target, without noise: satisfice beside its peers.

    make bench-env
    .venv-bench/bin/python bench/evaluations.py --contestants auto,paper,tpe --problems all --runs 50 --jobs 2
    .venv-bench/bin/python bench/evaluations.py --contestants ax,smac --settle   peers, only as far as they may be the best on a problem
    .venv-bench/bin/python bench/evaluations.py --page     write docs/evidence/benchmarks.md from the records
    .venv-bench/bin/python bench/evaluations.py --time     seconds for a suggestion by each contestant

Run k starts every contestant from the same three random settings, which count. The budget is 200 evaluations, and a run that does not
reach the target counts as 200. Records go to out/records/evaluations, a file for each contestant. A run with a record is not repeated, so
delete the file of a contestant that has changed; new records of a contestant replace all of its kept ones.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy

import argparse
import itertools
import json
import logging
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from eval_peers import BUDGET, CONTESTANTS, STARTING_POINTS, Contestant, Observations, version
from eval_problems import PROBLEMS, Problem
from faster_peers import HASTENED, hasten
from numpy.random import default_rng

from satisfice.paper.experiments.records import Record, Records, pack, unpack
from satisfice.paper.experiments.run import Task, run_tasks

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "out" / "records" / "evaluations"
KEPT = ROOT / "docs" / "records" / "evaluations.jsonl.xz"
SEED = 2021
Step = tuple[int, bool, float]  # evaluations so far, whether the last value is good, the contestant's CPU seconds


def starting_points(problem: Problem, seed: int) -> Observations:
    """Three uniform settings with their values, the same for every contestant."""
    return [(params, problem.value(params)) for params in problem.settings(STARTING_POINTS, default_rng([SEED, seed]))]


def course(problem: Problem, contestant: Contestant, seed: int) -> Generator[Step, None, None]:
    """After each evaluation: their number, whether the last value is good, and the contestant's own CPU seconds. Never ends."""
    told = starting_points(problem, seed)
    for count, (_, value) in enumerate(told, start=1):
        yield count, value >= problem.target, 0.0
    spent, start = 0.0, process_time()
    with closing(contestant(problem, seed, told)) as questions:
        params = next(questions)
        for count in itertools.count(len(told) + 1):
            spent += process_time() - start
            value = problem.value(params)
            yield count, value >= problem.target, spent
            start = process_time()
            params = questions.send(value)


def run(problem: Problem, contestant: Contestant, seed: int, budget: int = BUDGET) -> Step:
    """The evaluations until the first good value, whether there is one, and the contestant's own CPU seconds."""
    with quiet(), closing(course(problem, contestant, seed)) as steps:
        return next(step for step in steps if step[1] or step[0] == budget)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings and the logs of trials, and give torch one thread if it is installed."""
    if find_spec("torch"):
        import torch

        torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def record(problem: str, contestant: str, seed: int) -> Record:
    """The record of one run. A contestant that raises has found nothing, and its record says why."""
    hasten(contestant)
    try:
        return as_record(problem, contestant, seed, run(PROBLEMS[problem], CONTESTANTS[contestant], seed))
    except Exception as error:
        return broken(problem, contestant, seed, error)


def as_record(problem: str, contestant: str, seed: int, last: Step) -> Record:
    """The record of a run that ended with this step."""
    count, good, seconds = last
    return {
        "key": f"{problem}/{contestant}/{seed}",
        "problem": problem,
        "contestant": contestant,
        "seed": seed,
        "target": PROBLEMS[problem].target,
        "evaluations": count,
        "good": good,
        "seconds": round(seconds, 3),
        "version": version(contestant),
    } | ({"hastened": True} if contestant in HASTENED else {})


def broken(problem: str, contestant: str, seed: int, error: Exception) -> Record:
    """The record of a run in which the contestant raised an error."""
    why = f"{type(error).__name__}: {error}"[:300]
    return as_record(problem, contestant, seed, (BUDGET, False, 0.0)) | {"error": why}


def seconds_a_step(contestant: str, problem: Problem, n: int) -> float:
    """CPU seconds of a step (tell a value, ask) after n values, and after one step that is not counted.

    The mean of 15 steps, in which satisfice learns its hyperparameters as often as in a search, or of what fits into 5 seconds.
    The values are those of uniform settings that do not reach the target. SMAC first goes through its own initial design.
    """
    design = min(8 * len(problem.space), BUDGET // 4) if contestant == "smac" else 0
    rows = ((params, problem.value(params)) for params in problem.settings(10 * n, default_rng([SEED, n])))
    bad = [(params, value) for params, value in rows if value < problem.target]
    with quiet():
        questions = CONTESTANTS[contestant](problem, 0, bad[: max(n - design - 1, STARTING_POINTS)])
        params = next(questions)
        for _ in range(design):
            params = questions.send(min(problem.value(params), problem.target - 1e-6))
        times: list[float] = []
        while len(times) < 16 and (len(times) < 3 or sum(times[1:]) < 5):
            value = min(problem.value(params), problem.target - 1e-6)
            start = process_time()
            params = questions.send(value)
            times.append(process_time() - start)
        questions.close()
    return float(np.mean(times[1:]))


def load(folder: Path, packed: Path) -> list[Record]:
    """The new records, and the kept ones of contestants without new ones. Exits if a target has changed since."""
    new = [record for path in sorted(folder.glob("*.jsonl")) for record in Records(path)]
    renewed = {record["contestant"] for record in new}
    kept = [record for record in unpack(packed) if record["contestant"] not in renewed] if packed.exists() else []
    known = [r for r in [*kept, *new] if r["problem"] in PROBLEMS and r["contestant"] in CONTESTANTS]
    stale = {r["problem"] for r in known if r["target"] != PROBLEMS[r["problem"]].target}
    if stale:
        raise SystemExit(f"The records of {sorted(stale)} have another target; delete them from {folder} and {packed}.")
    return known


def restore(packed: Path, folder: Path) -> None:
    """Write the kept records of every contestant that has no file of records, so that its runs can continue."""
    kept = unpack(packed) if packed.exists() else []
    missing = [r for r in kept if not (folder / f"{r['contestant']}.jsonl").exists()]
    for contestant in sorted({r["contestant"] for r in missing}):
        _lines([r for r in missing if r["contestant"] == contestant], folder / f"{contestant}.jsonl")


def _lines(records: list[Record], path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r, sort_keys=True) + "\n" for r in records), encoding="utf-8")
    return path


def keep(folder: Path, packed: Path) -> list[Record]:
    """Pack the records of `load` into one file, and return them."""
    records = load(folder, packed)
    if not records:
        raise SystemExit(f"There are no records in {folder} or {packed}; run bench/evaluations.py first.")
    with TemporaryDirectory() as place:
        pack(_lines(records, Path(place) / packed.stem), packed)
    return records


def chosen_problems(text: str) -> list[str]:
    """The names that `--problems` stands for; "tuning" are those that defaults may be tuned on."""
    if text in ("all", "tuning", "held-out"):
        return [name for name, p in PROBLEMS.items() if text == "all" or p.held_out == (text == "held-out")]
    return text.split(",")


def main() -> None:
    """Run what is missing, write the page, or time a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contestants", default=",".join(CONTESTANTS), help=f"of {','.join(CONTESTANTS)}")
    parser.add_argument("--problems", default="all", help="all, tuning, held-out, or names")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--settle", action="store_true", help="run peers only as far as they may be the best")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write docs/evidence/benchmarks.md from the records")
    parser.add_argument("--time", action="store_true", help="only time a step, on rastrigin4")
    parser.add_argument("--restore", action="store_true", help="only unpack the kept records")
    given = parser.parse_args()
    contestants, problems = given.contestants.split(","), chosen_problems(given.problems)
    for option, names, known in (("contestants", contestants, CONTESTANTS), ("problems", problems, PROBLEMS)):
        if unknown := [name for name in names if name not in known]:
            parser.error(f"--{option} must be names of {', '.join(known)}; got {', '.join(unknown)}")
    if given.restore:
        restore(KEPT, RECORDS)
        return
    if given.page:
        from eval_page import write

        write(keep(RECORDS, KEPT), ROOT / "docs")
        return
    if given.time:
        print("| contestant | n = 30 | n = 100 |\n|---|---|---|")
        for contestant in contestants:
            figures = (seconds_a_step(contestant, PROBLEMS["rastrigin4"], n) for n in (30, 100))
            print(f"| {contestant} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)
        return
    if given.settle:
        from early_cutoff import settle_all

        restore(KEPT, RECORDS)  # the kept runs count
        settle_all(contestants, problems, RECORDS, KEPT, given.jobs)
        return
    for contestant in contestants:
        tasks = [Task(f"{p}/{contestant}/{s}", record, (p, contestant, s)) for p in problems for s in range(given.runs)]
        run_tasks(tasks, RECORDS / f"{contestant}.jsonl", jobs=given.jobs, title=contestant)


if __name__ == "__main__":
    main()
