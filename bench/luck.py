"""Is the answer good, or was it luck? Branin minimised to a target of 2 under noise, with a budget of 500.

    .venv/bin/python bench/luck.py [--seeds 200 --jobs 2]

- `naive`: Optuna's TPE sampler, stopped at the first value that reaches the target
- `folk`: the same, but such a setting is evaluated ten times more, and the mean of these must reach the target
- `known`, `unknown`, `range`: `satisfice.find` with confidence 0.95, and with the noise stated, learned, or with `value_range`

Resumable: new runs are added to the kept records. They go to out/records/luck.jsonl and, packed, to docs/records. Writes docs/evidence/luck.md and
docs/images/luck.png.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import eval_functions
import numpy as np
import optuna
from numpy.random import Generator, default_rng

from satisfice import Search, find
from satisfice.paper.experiments.records import Records, pack, resume
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.paper.experiments.spec import by_xi
from satisfice.paper.problems import PROBLEMS

ROOT = Path(__file__).parent.parent
TARGET, BUDGET, CONFIDENCE = 2.0, 500, 0.95
SPACE = {"x": (-5.0, 10.0), "y": (0.0, 15.0)}
RANGE = (-2.0, 30.0)  # of the bounded objective: Branin clipped at 20, plus its noise
LOWEST = 0.397887


def branin(x: float, y: float) -> float:
    """The Branin function; its minimum is 0.397887."""
    return -float(eval_functions.branin(np.array([[x, y]]))[0])


def gaussian(sd: float) -> Callable[[Generator, float], float]:
    return lambda rng, f: sd * rng.standard_normal()


def student(rng: Generator, f: float) -> float:
    """Student's t with 3 degrees of freedom, scaled to a standard deviation of 2."""
    return float(2 / np.sqrt(3) * rng.standard_t(3))


def growing(rng: Generator, f: float) -> float:
    """Gaussian, with a standard deviation that grows with the value: 1 at 0, 3 at 20."""
    return float((1 + 0.1 * f) * rng.standard_normal())


def skewed(rng: Generator, f: float) -> float:
    """Exponential towards bad values, standard deviation 2, mean 0."""
    return float(np.clip(2 * (rng.exponential() - 1), -2.39, 10 - 0.02))


def disasters(rng: Generator, f: float) -> float:
    """Little noise, but one evaluation in twenty is worse by 8; mean 0."""
    return float(8 * (rng.random() < 0.05) - 0.4 + 0.3 * (2 * rng.random() - 1))


NOISES: dict[str, Callable[[Generator, float], float]] = {
    **{f"sd {sd:g}": gaussian(sd) for sd in (0, 0.5, 2, 5)},
    "Student t(3), sd 2": student,
    "growing with the value": growing,
    "skewed, sd 2": skewed,
    "rare disasters": disasters,
}
REACHABLE = ("eggholder", "alpine", "keane", "ackley", "dropwave", "dropwave-shifted", "hartmann3", "robot3", "robot4")
KNOWN = {"sd 0": 0.0, "sd 0.5": 0.5, "sd 2": 2.0, "sd 5": 5.0}
BOUNDED = ("skewed, sd 2", "rare disasters")


def conditions() -> list[tuple[str, str]]:
    """The pairs (noise, method) in the order of the table."""
    found = [(noise, method) for noise in KNOWN for method in ("naive", "folk", "known", "unknown")]
    found += [(noise, "unknown") for noise in NOISES if noise not in KNOWN]
    found += [(noise, "range") for noise in BOUNDED]
    return [*found, ("unreachable, sd 2", "unknown")]


def run(noise: str, method: str, seed: int) -> dict[str, Any]:
    """The record of one run: the verdict, the true value of the setting it named, and the evaluations it spent."""
    rng = default_rng([seed, 1])
    unreachable = noise.startswith("unreachable")
    disturb = NOISES["sd 2" if unreachable else noise]

    def truth(params: dict[str, float]) -> float:
        f = branin(params["x"], params["y"])
        return min(f, 20.0) if noise in BOUNDED else f

    def objective(params: dict[str, float]) -> float:
        f = truth(params)
        return f + disturb(rng, f)

    target = -1.5 if unreachable else TARGET
    record = {"key": f"{noise}/{method}/{seed}", "noise": noise, "method": method, "seed": seed}
    if method in ("naive", "folk"):
        return record | _by_tpe(objective, truth, method == "folk", seed)
    stated: float | Literal["learn"] = KNOWN[noise] if method == "known" else "learn"
    answer = find(
        objective,
        SPACE,
        target,
        budget=BUDGET,
        direction="minimize",
        noise=None if method == "range" or (method == "unknown" and noise == "sd 0") else stated,
        value_range=RANGE if method == "range" else None,
        confidence=CONFIDENCE,
        seed=seed,
        progress=False,
    )
    repeats = answer.certificate.repeats if answer.certificate is not None else 0
    f = truth(answer.params) if answer.params is not None else None
    spent = answer.evaluations + answer.failures
    return record | {"verdict": answer.verdict, "truth": f, "evaluations": spent, "repeats": repeats, "target": target}


def run_reachable(name: str, seed: int) -> dict[str, Any]:
    """One noise-free run on a problem of the paper that has good settings; signs are changed, so that it is minimised as above."""
    problem = PROBLEMS[name]
    target = 4.75 if name.startswith("robot") else by_xi(name, 0.01)
    search = Search(problem.domain, target, noise=0, seed=seed)
    while (answer := search.answer()).verdict == "open" and answer.evaluations < 200:
        x = search.ask()
        search.tell(x, problem.value(x))
    truth = -answer.value if answer.value is not None else None
    return {
        "key": f"{name}/exact/{seed}", "noise": name, "method": "exact", "seed": seed, "verdict": answer.verdict, "truth": truth,
        "evaluations": answer.evaluations, "repeats": 0, "target": -target,
    }  # fmt: skip


def _by_tpe(
    objective: Callable[[dict[str, float]], float], truth: Callable[[dict[str, float]], float], folk: bool, seed: int
) -> dict[str, Any]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=seed))
    spent = 0
    while spent < BUDGET:
        trial = study.ask()
        params = {name: trial.suggest_float(name, *bounds) for name, bounds in SPACE.items()}
        value = objective(params)
        spent += 1
        if value <= TARGET and folk:
            count = min(10, BUDGET - spent)
            spent += count
            value = float(np.mean([objective(params) for _ in range(count)])) if count else np.inf
        if value <= TARGET:
            return {
                "verdict": "good",
                "truth": truth(params),
                "evaluations": spent,
                "repeats": 10 * folk,
                "target": TARGET,
            }
        study.tell(trial, value)
    return {"verdict": "open", "truth": None, "evaluations": spent, "repeats": 0, "target": TARGET}


def main() -> None:
    """Run what is missing, then write the page and its figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", help="only noises whose name contains this")
    given = parser.parse_args()
    path, kept = ROOT / "out" / "records" / "luck.jsonl", ROOT / "docs" / "records" / "luck.jsonl.xz"
    chosen = [c for c in conditions() if given.only is None or given.only in c[0]]
    tasks = [Task(f"{n}/{m}/{s}", run, (n, m, s)) for n, m in chosen for s in range(given.seeds)]
    if given.only is None:
        tasks += [Task(f"{n}/exact/{s}", run_reachable, (n, s)) for n in REACHABLE for s in range(min(given.seeds, 40))]
    tasks.sort(key=lambda task: task.arguments[-1] // 50)  # if interrupted, some seeds of everything are done
    resume(kept, path)
    run_tasks(tasks, path, jobs=given.jobs, title="luck")
    pack(path, kept)
    from luck_page import write

    write(list(Records(path)))


if __name__ == "__main__":
    main()
