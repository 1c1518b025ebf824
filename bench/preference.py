"""How near the answer's cost comes to that of the cheapest good setting, with 100 evaluations.

    OPENBLAS_NUM_THREADS=1 python bench/preference.py --runs 15 --json preference.json

Five problems of which the cheapest good setting is known, by brute force over a fine net and a local search from its best points. A run is
a success if its answer is certified and costs at most 10 % more. `first` is the cost of the first good setting in the same run, and `bad`
counts answers that are not good: without noise there must be none.
"""

import argparse
import json
import statistics
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import default_rng
from scipy.optimize import minimize

from satisfice import Mixture, Search, Space

Params = dict[str, Any]
NEAR_ENOUGH = 1.1


@dataclass(frozen=True)
class Task:
    """A problem with a preference."""

    space: dict[str, Any]
    value: Callable[[Params], float]
    target: float
    prefer: Any
    cost: Callable[[Params], float]
    constraints: list[Any] = field(default_factory=list)
    noise: float = 0.0


def doses(p: Params) -> float:
    """Two hills, of which the lower one is cheaper and just good."""
    a, b = p["a"], p["b"]
    return float(
        np.exp(-8 * ((a - 0.3) ** 2 + (b - 0.7) ** 2)) + 0.9 * np.exp(-20 * ((a - 0.8) ** 2 + (b - 0.25) ** 2))
    )


def hartmann(p: Params) -> float:
    """Hartmann-3, at most 3.86."""
    A = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
    P = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
    x = np.array([p["x"], p["y"], p["z"]])
    return float(np.array([1.0, 1.2, 3.0, 3.2]) @ np.exp(-(A * (x - P) ** 2).sum(axis=1)))


def recipe(p: Params) -> float:
    """Strength of a mix, at most about 1: resin and filler help each other, heat has an optimum."""
    resin, filler, heat = p["resin"], p["filler"], (p["heat"] - 20) / 70
    return 2.2 * resin * (1 - resin) + 3 * resin * filler - (heat - 0.4 - 0.3 * resin) ** 2


def accuracy(p: Params) -> float:
    """Of a made-up ensemble: more trees and depth help up to a point, one kind needs fewer."""
    trees, depth = np.log(p["trees"] / 10) / np.log(100), (p["depth"] - 1) / 11
    boosted = p["kind"] == "boosted"
    return float(
        0.95 - 0.25 * np.exp(-(5 if boosted else 3.5) * trees) - 0.3 * (depth - (0.35 if boosted else 0.7)) ** 2
    )


def seconds(p: Params) -> float:
    """What that ensemble costs."""
    return 1 + 0.01 * p["trees"] * (0.5 + 0.1 * p["depth"]) * (1.5 if p["kind"] == "boosted" else 1)


UNIT = (0.0, 1.0)
TASKS = {
    "doses": Task({"a": UNIT, "b": UNIT}, doses, 0.8, "a + 2 b", lambda p: p["a"] + 2 * p["b"]),
    "doses, noise": Task({"a": UNIT, "b": UNIT}, doses, 0.8, "a + 2 b", lambda p: p["a"] + 2 * p["b"], noise=0.03),
    "hartmann3": Task(
        dict.fromkeys("xyz", UNIT), hartmann, 3.0, "1 + x + y + z", lambda p: 1 + p["x"] + p["y"] + p["z"]
    ),
    "recipe": Task(
        {"resin": UNIT, "filler": (0.0, 0.5), "water": UNIT, "heat": (20.0, 90.0)},
        recipe,
        0.65,
        "9 resin + 2 filler + water / 2 + heat / 50",
        lambda p: 9 * p["resin"] + 2 * p["filler"] + p["water"] / 2 + p["heat"] / 50,
        constraints=[Mixture(["resin", "filler", "water"])],
    ),
    "ensemble": Task(
        {"trees": (10, 1000, "log"), "depth": (1, 12), "kind": ["boosted", "bagged"]}, accuracy, 0.9, seconds, seconds
    ),
}


def cheapest(task: Task) -> float:
    """The cost of the cheapest good setting."""
    space = Space.of(task.space, task.constraints)
    domain, rng = space.domain, default_rng(0)
    X = domain.from_unit(domain.uniform(200_000, rng))
    params = [space.decode(x) for x in X]
    good = [p for p in params if task.value(p) >= task.target]
    best = sorted(good, key=task.cost)[:8]
    found = [task.cost(p) for p in best]
    if all(isinstance(form, tuple) and isinstance(form[0], float) for form in task.space.values()):
        names = list(task.space)
        equal = [{"type": "eq", "fun": lambda v: v[0] + v[1] + v[2] - 1}] if task.constraints else []
        for p in best:
            limits = [
                {"type": "ineq", "fun": lambda v: task.value(dict(zip(names, v, strict=True))) - task.target},
                *equal,
            ]
            end = minimize(
                lambda v: task.cost(dict(zip(names, v, strict=True))),
                [p[name] for name in names],
                bounds=list(task.space.values()),
                constraints=limits,
                method="SLSQP",
            )
            if end.success and task.value(dict(zip(names, end.x, strict=True))) >= task.target - 1e-6:
                found.append(float(end.fun))
    return min(found)


def run(task: Task, seed: int, budget: int) -> dict[str, Any]:
    """One search."""
    rng = default_rng([seed, 7])
    search = Search(
        Space.of(task.space, task.constraints), task.target, noise=task.noise, prefer=task.prefer, seed=seed
    )
    while not (answer := search.answer()).done and answer.evaluations < budget:
        params = search.ask()
        search.tell(params, task.value(params) + task.noise * rng.standard_normal())
    found: dict[str, Any] = {"evaluations": answer.evaluations, "verdict": answer.verdict}
    if answer.preference is not None and answer.params is not None:
        found |= {"cost": task.cost(answer.params), "first": answer.preference.first, "done": answer.done}
        found["bad"] = task.value(answer.params) < task.target
    return found


def table(record: dict[str, Any]) -> str:
    """The record as a table of the page on preferences."""
    lines = [
        "| problem | cheapest good setting | first good one (median) | answer (median) | within 10 % | not good |",
        "|---|---|---|---|---|---|",
    ]
    for name, found in record.items():
        runs, lowest = found["runs"], found["cheapest"]
        firsts, costs = ([each.get(key, np.inf) for each in runs] for key in ("first", "cost"))
        near = sum(cost <= NEAR_ENOUGH * lowest for cost in costs)
        bad = sum(each.get("bad", False) for each in runs)
        lines.append(
            f"| {name} | {lowest:.4g} | {statistics.median(firsts):.4g} | {statistics.median(costs):.4g} | {near} of {len(runs)} | {bad} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write the raw figures to a file if asked."""
    parser = argparse.ArgumentParser(
        description="How near the answer's cost comes to that of the cheapest good setting."
    )
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    record = {}
    print(f"{'':<14}{'cheapest':>10}{'first':>8}{'cost':>8}{'within 10 %':>13}{'ended early':>13}{'bad':>5}")
    for name in options.tasks.split(",") if options.tasks != ",".join(TASKS) else TASKS:
        task = TASKS[name.replace("+", ", ")]
        lowest = cheapest(task)
        runs = [run(task, seed, options.budget) for seed in range(options.runs)]
        record[name] = {"cheapest": lowest, "runs": runs}
        costs = [each.get("cost", np.inf) for each in runs]
        firsts = [each.get("first", np.inf) for each in runs]
        near = sum(cost <= NEAR_ENOUGH * lowest for cost in costs)
        early, bad = sum(each.get("done", False) for each in runs), sum(each.get("bad", False) for each in runs)
        print(
            f"{name:<14}{lowest:>10.4g}{statistics.median(firsts):>8.4g}{statistics.median(costs):>8.4g}{near:>7} of {len(runs):<3}"
            f"{early:>13}{bad:>5}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
