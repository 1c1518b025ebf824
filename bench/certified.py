"""How many evaluations does a certificate take under noise, beside rivals that use the same test?

    .venv-bench/bin/python bench/certified.py [--seeds 24 --first 0 --code NAME --methods search,tpe,cma --cases branin-2,six]

The noise is Gaussian and nobody knows its standard deviation. Cases:

- `branin-0.5`, `branin-2`, `branin-5`: Branin minimised to a target of 2 with noise of this standard deviation, budget 500
- `six`: a function of 6 parameters, 59 % of the space good, noise of 2.6 times the function's own spread, budget 250
- `four-2`, `four-4`: a function of 4 parameters, 23 % good, noise of 2 and 4 times its spread, budget 250
- `edge`: a function of 2 parameters that lies below the target nearly everywhere, and never above: every `good` is false

Methods:

- `search`: `Search` with the noise learned
- `tpe`: Optuna's TPE explores with 20 evaluations and then every fourth one; the others repeat the setting of the highest mean, shrunk
  towards the mean of all, and the same e-process with the same shares of the error certifies it
- `cma`: CMA-ES; the best setting of each generation, if its value reaches the target, gets 20 fresh evaluations and a t test of 5 %

Resumable: records go to out/records/certified.jsonl and, packed, to docs/records. A record names the code
(`--code`) that made it. Writes a section of docs/evidence/luck.md.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import eval_functions
import numpy as np
import optuna
from bootstrap import interval
from luck_page import interval as share_interval
from numpy.random import default_rng
from scipy.stats import qmc
from scipy.stats import t as student

from satisfice import Box, Search
from satisfice.certificates.eprocess import LearnedNoise, level
from satisfice.paper.experiments.records import Record, Records, pack, resume, unpack
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.types import Array

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "certified.jsonl", ROOT / "docs" / "records" / "certified.jsonl.xz"
DELTA = 0.05
STARTUP, EVERY, SHRINK = 20, 4, 6.0  # of `tpe`: the best of a few that were tried
CHECK = 20


def branin(u: Array) -> Array:
    """Branin's function, negated, on the unit square."""
    return eval_functions.branin(np.array([-5.0, 0.0]) + 15.0 * u)


def six(u: Array) -> Array:
    """A tilted bowl with two interactions, in which the last parameters matter little."""
    weights, centre = np.array([3.0, 2.0, 1.2, 0.6, 0.3, 0.1]), np.array([0.3, 0.7, 0.5, 0.2, 0.8, 0.5])
    return -(weights * (u - centre) ** 2).sum(axis=1) + 0.5 * np.sin(3 * u[:, 0] * u[:, 1]) + 0.4 * u[:, 2] * u[:, 3]


def four(u: Array) -> Array:
    """Two ridges that cross, and a slope."""
    first = np.exp(-8 * (u[:, 0] + u[:, 1] - 1.2) ** 2)
    second = 0.8 * np.exp(-10 * (u[:, 2] - 0.5 * u[:, 0] - 0.2) ** 2)
    return first + second + 0.5 * u[:, 3]


def edge(u: Array) -> Array:
    """Just below zero on three quarters of the square, and below that towards one corner."""
    return -1e-9 - np.maximum(u.sum(axis=1) - 1.3, 0.0)


@dataclass(frozen=True)
class Case:
    """A function on the unit cube, to be maximised, with its target and noise."""

    f: Callable[[Array], Array]
    dimension: int
    target: float
    sd: float
    budget: int


@cache
def with_share(f: Callable[[Array], Array], dimension: int, good: float, times: float) -> Case:
    """A target that this share of the space reaches, noise of this multiple of the spread of f, and a budget of 250."""
    values = f(qmc.Sobol(dimension, seed=0).random(2**15))
    return Case(f, dimension, float(np.quantile(values, 1 - good)), times * float(values.std()), 250)


CASES: dict[str, Callable[[], Case]] = {
    **{f"branin-{sd:g}": partial(Case, branin, 2, -2.0, sd, 500) for sd in (0.5, 2.0, 5.0)},
    "six": partial(with_share, six, 6, 0.59, 2.6),
    **{f"four-{x}": partial(with_share, four, 4, 0.23, x) for x in (2, 4)},
    "edge": partial(Case, edge, 2, 0.0, 1.0, 250),
}


def by_search(case: Case, seed: int) -> Record:
    """`Search` until it says good or the budget is spent."""
    rng = default_rng([seed, 1])
    search = Search(Box([(0.0, 1.0)] * case.dimension), case.target, noise="learn", seed=seed, give_up=False)
    while (answer := search.answer()).verdict == "open" and answer.evaluations < case.budget:
        x = search.ask()
        search.tell(x, float(case.f(x[None])[0]) + case.sd * rng.standard_normal())
    good = answer.verdict == "good" and answer.point is not None and answer.certificate is not None
    return {
        "good": good,
        "evaluations": answer.evaluations,
        "gap": float(case.f(np.array(answer.point)[None])[0]) - case.target if good else None,
        "repeats": answer.certificate.repeats if answer.certificate is not None else None,
        "candidates": search.observations.tested,
        "settings": len(search.observations.replicates.first),
    }


def _suggested(study: optuna.Study, dimension: int) -> tuple[Any, Array]:
    trial = study.ask()
    return trial, np.array([trial.suggest_float(f"x{j}", 0.0, 1.0) for j in range(dimension)])


def by_tpe(case: Case, seed: int) -> Record:
    """TPE explores, and the e-process runs on the setting of the highest shrunken mean."""
    rng, test = default_rng([seed, 1]), LearnedNoise()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    points: list[Array] = []
    values: list[list[float]] = []
    tested: set[int] = set()
    for n in range(case.budget):
        k = _best(values)
        if n < STARTUP or n % EVERY == 0 or k is None:
            trial, u = _suggested(study, case.dimension)
            points.append(u)
            values.append([_value(case, u, rng)])
            study.tell(trial, values[-1][0])
            continue
        tested.add(k)
        values[k].append(_value(case, points[k], rng))
        if test.log_evidence(np.array(values[k][1:]), case.target) >= -np.log(level(DELTA, len(tested))):
            return _found(case, points[k], n + 1, len(values[k]) - 1, len(tested), len(values))
    return _open(case, len(tested), len(values))


def _best(values: list[list[float]]) -> int | None:
    """The setting of the highest mean, shrunk as the variances within and between settings say; with few repeats as `SHRINK` says."""
    if not values:
        return None
    first = np.array([each[0] for each in values])
    freedom = sum(len(each) - 1 for each in values)
    within = sum(float(np.var(each)) * len(each) for each in values) / max(freedom, 1)
    between = max(float(first.var()) - within, 0.05 * within) if freedom >= 5 else float(first.var()) / (1 + SHRINK)
    times = within / between if freedom >= 5 and between > 0 else SHRINK
    shrunk = [first.mean() + sum(y - first.mean() for y in each) / (len(each) + times) for each in values]
    return int(np.argmax(shrunk))


def by_cma(case: Case, seed: int) -> Record:
    """CMA-ES, and a t test of 20 fresh values of the best setting of a generation."""
    rng = default_rng([seed, 1])
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.CmaEsSampler(seed=seed))
    size, spent, tried, settings = 4 + int(3 * np.log(case.dimension)), 0, 0, 0
    while spent < case.budget:
        generation = []
        for _ in range(min(size, case.budget - spent)):
            trial, u = _suggested(study, case.dimension)
            value = _value(case, u, rng)
            study.tell(trial, value)
            generation.append((value, u))
        spent, settings = spent + len(generation), settings + len(generation)
        value, u = max(generation, key=lambda each: each[0])
        if value < case.target or case.budget - spent < CHECK:
            continue
        y = np.array([_value(case, u, rng) for _ in range(CHECK)])
        spent, tried = spent + CHECK, tried + 1
        if y.mean() - student.ppf(1 - DELTA, CHECK - 1) * y.std(ddof=1) / np.sqrt(CHECK) >= case.target:
            return _found(case, u, spent, CHECK, tried, settings)
    return _open(case, tried, settings)


def _value(case: Case, u: Array, rng: np.random.Generator) -> float:
    return float(case.f(u[None])[0]) + case.sd * float(rng.standard_normal())


def _found(case: Case, u: Array, spent: int, repeats: int, candidates: int, settings: int) -> Record:
    gap = float(case.f(u[None])[0]) - case.target
    return {
        "good": True,
        "evaluations": spent,
        "gap": gap,
        "repeats": repeats,
        "candidates": candidates,
        "settings": settings,
    }


def _open(case: Case, candidates: int, settings: int) -> Record:
    return {
        "good": False,
        "evaluations": case.budget,
        "gap": None,
        "repeats": None,
        "candidates": candidates,
        "settings": settings,
    }


METHODS = {"search": by_search, "tpe": by_tpe, "cma": by_cma}


def run(name: str, method: str, code: str, seed: int) -> Record:
    """The record of one run."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    case = CASES[name]()
    found = METHODS[method](case, seed)
    gap = found["gap"]
    limit = 2 * case.sd**2 * np.log(1 / DELTA) / gap**2 if gap is not None and gap >= 0 else None
    return {
        "key": f"{name}/{method}/{code}/{seed}",
        "case": name,
        "method": method,
        "code": code,
        "seed": seed,
        "limit": limit,
        **found,
    }


def table(records: list[Record]) -> str:
    """A row for each case, method and code; open runs count with an infinite number of evaluations in the median."""
    lines = [
        "| case | method | runs | good | of these true | evaluations, median | settings | candidates | repeats / limit | evaluations / limit |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for record in sorted(records, key=lambda r: (list(CASES).index(r["case"]), r["method"], r["code"], r["seed"])):
        groups.setdefault((record["case"], record["method"], record["code"]), []).append(record)
    for (case, method, code), group in groups.items():
        good = [r for r in group if r["good"]]
        true = [r for r in good if r["limit"] is not None]
        low, high = (round(100 * end) for end in share_interval(len(true), len(good))) if good else (0, 100)
        spent = np.array([r["evaluations"] if r["good"] else np.inf for r in group])
        cells = [
            case,
            method if method != "search" else f"search, {code}",
            str(len(group)),
            f"{len(good)}",
            f"{len(true)} ({low} to {high} %)",
            _median(spent),
            f"{np.median([r['settings'] for r in group]):.0f}",
            f"{np.median([r['candidates'] for r in group]):.0f}",
            _median(np.array([r["repeats"] / r["limit"] for r in true]), 1),
            _median(np.array([r["evaluations"] / r["limit"] for r in true]), 1),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _median(values: Array, digits: int = 0) -> str:
    """The median with its 95 % bootstrap interval; "-" beyond all values."""
    if not len(values):
        return "-"
    values = np.where(np.isfinite(values), values, 1e9)
    ends = interval(np.median(default_rng(0).choice(values, (1000, len(values))), axis=1))
    parts = [f"{x:.{digits}f}" if x < 1e8 else "open" for x in (float(np.median(values)), *ends)]
    return f"{parts[0]} ({parts[1]} to {parts[2]})"


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--code", default="now")
    parser.add_argument("--methods", default="search,tpe,cma")
    parser.add_argument("--cases", default=",".join(CASES))
    given = parser.parse_args()
    tasks = []
    for method in given.methods.split(","):
        code = given.code if method == "search" else "-"
        tasks += [
            Task(f"{case}/{method}/{code}/{seed}", run, (case, method, code, seed))
            for case in given.cases.split(",")
            for seed in range(given.first, given.first + given.seeds)
        ]
    tasks.sort(key=lambda task: task.arguments[-1])  # if interrupted, some seeds of everything are done
    resume(KEPT, PATH)
    run_tasks(tasks, PATH, jobs=given.jobs, title="certified")
    pack(PATH, KEPT)
    print(table(list(Records(PATH))))
    from luck_page import write

    write(unpack(ROOT / "docs" / "records" / "luck.jsonl.xz"))


if __name__ == "__main__":
    main()
