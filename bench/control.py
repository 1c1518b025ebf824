"""Control tasks with linear policies: is a policy that was called good truly good, and what did it cost?

    .venv/bin/python bench/control.py run --records out/control.jsonl [--seeds 5]     (resumable; needs the extra `control`)
    .venv/bin/python bench/control.py write out/control.jsonl      writes docs/evidence/control.md

An evaluation is one episode of a Gymnasium task, so its return is noisy; each method has a budget of episodes:

- `find`, with every default
- `TPE`: Optuna's sampler, which stops at the first return that reaches the target
- `CMA-ES`: Optuna's sampler; a policy is worth the mean of five episodes, and it stops at the first mean that reaches the target

The policy that a method ends with is then run for 300 fresh episodes. It is good if their mean reaches the target.
"""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.stats import binomtest

from satisfice import find
from satisfice.extras import load_extra
from satisfice.paper.experiments.records import Record, Records, pack, unpack
from satisfice.types import Array

DOCS = Path(__file__).parent.parent / "docs"
BUDGET, FRESH, EACH = 200, 300, 5
METHODS = ("find", "TPE", "CMA-ES")


@dataclass(frozen=True)
class Task:
    """A Gymnasium task, with a linear policy of a number of weights from -1 to 1."""

    name: str
    weights: int
    target: float
    act: Callable[[Array, Array], Any]  # weights, observation -> action


def _cart_pole(w: Array, seen: Array) -> int:
    return int(seen @ w > 0)


def _acrobot(w: Array, seen: Array) -> int:
    scores = w.reshape(2, 6) @ seen
    return 1 if scores.max() < 0 else int(2 * scores.argmax())


def _mountain_car(w: Array, seen: Array) -> Array:
    return np.clip([w[0] + 2 * w[1] * (seen[0] + 0.5) + 50 * w[2] * seen[1]], -1.0, 1.0)


TASKS = {
    task.name: task
    for task in (
        Task("CartPole-v1", 4, 475.0, _cart_pole),
        Task("Acrobot-v1", 12, -100.0, _acrobot),
        Task("MountainCarContinuous-v0", 3, 90.0, _mountain_car),
    )
}


@cache
def _environment(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_extra("gymnasium", "control").make(name)


def episode(task: Task, w: Array, seed: int) -> float:
    """The return of one episode."""
    env = _environment(task.name)
    seen, _ = env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        seen, reward, ended, cut, _ = env.step(task.act(w, np.asarray(seen, dtype=np.float64)))
        total, over = total + float(reward), ended or cut
    return total


def run(task: Task, method: str, seed: int) -> Record:
    """One run, and the mean of the fresh episodes of what it ended with."""
    names = [f"w{k:02d}" for k in range(task.weights)]
    spent = 0

    def returns(params: dict[str, float]) -> float:
        nonlocal spent
        spent += 1
        return episode(task, np.array([params[name] for name in names]), 1_000_000 * (seed + 1) + spent)

    record = {"key": f"{task.name}/{method}/{seed}", "task": task.name, "method": method, "seed": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == "find":
            answer = find(
                returns, dict.fromkeys(names, (-1.0, 1.0)), task.target, budget=BUDGET, seed=seed, progress=False
            )
            verdict: str = answer.verdict
            params = answer.params
            record["says"] = str(answer.certificate)
        else:
            verdict, params = _by_optuna(returns, names, task.target, method, seed)
    found = (
        [episode(task, np.array([params[name] for name in names]), 10**9 + k) for k in range(FRESH)] if params else []
    )
    mean = float(np.mean(found)) if found else None
    error = float(np.std(found, ddof=1) / np.sqrt(FRESH)) if found else None
    return record | {"verdict": verdict, "spent": spent, "mean": mean, "error": error, "target": task.target}


def _by_optuna(
    returns: Callable[[dict[str, float]], float], names: list[str], target: float, method: str, seed: int
) -> tuple[str, dict[str, float] | None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers: dict[str, Any] = {"TPE": optuna.samplers.TPESampler, "CMA-ES": optuna.samplers.CmaEsSampler}
    study = optuna.create_study(direction="maximize", sampler=samplers[method](seed=seed))
    each = 1 if method == "TPE" else EACH
    for _ in range(BUDGET // each):
        trial = study.ask()
        params = {name: trial.suggest_float(name, -1.0, 1.0) for name in names}
        value = float(np.mean([returns(params) for _ in range(each)]))
        if value >= target:
            return "good", params
        study.tell(trial, value)
    return "open", None


def interval(hits: int, n: int) -> str:
    """A share with its 95 % interval (Clopper and Pearson)."""
    if n == 0:
        return "-"
    found = binomtest(hits, n).proportion_ci()
    return f"{hits} of {n} ({found.low:.0%} to {found.high:.0%})"


def table(rows: list[Record]) -> str:
    """A row for each task and method, and the sums."""
    lines = [
        f"| task (target) | method | runs | said good | truly good, by {FRESH} fresh episodes | their mean returns | episodes, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, task in [*TASKS.items(), ("all", None)]:
        for method in METHODS:
            mine = [r for r in rows if r["method"] == method and (task is None or r["task"] == name)]
            said = [r for r in mine if r["verdict"] == "good"]
            true = sum(r["mean"] >= r["target"] for r in said)
            means = " ".join(f"{r['mean']:.0f}" for r in sorted(said, key=lambda r: r["mean"])) if task else ""
            title = name if task is None else f"{name} ({task.target:g})"
            spent = f"{np.median([r['spent'] for r in mine]):.0f}" if mine and task else ""
            lines.append(
                f"| {title} | {method} | {len(mine)} | {len(said)} | {interval(true, len(said))} | {means} | {spent} |"
            )
    return "\n".join(lines)


def page(rows: list[Record]) -> str:
    """The page."""
    seeds = len({r["seed"] for r in rows})
    ended = [r for r in rows if r["method"] == "find" and r["verdict"] == "open"]
    true = sum(r["mean"] is not None and r["mean"] >= r["target"] for r in ended)
    opened = f"of the {len(ended)} runs of `find` that ended `open`, {true} named a policy that is truly good, without saying so"
    return f"""# Control tasks

A linear policy for a control task of [Gymnasium](https://gymnasium.farama.org) is good if its mean return reaches the target. One
evaluation is one episode, which starts at random, so its return is noisy; CartPole's is capped at 500. {seeds} runs for each method
and task, a budget of {BUDGET} episodes (`python bench/control.py`, which writes this page from its records).

- `find` has every default: it is not told that there is noise.
- `TPE` stops at the first return that reaches the target, as a user who trusts one value does.
- `CMA-ES` evaluates a policy in {EACH} episodes, and stops at the first mean that reaches the target.

{table(rows)}

The sample is small, and the intervals (Clopper and Pearson, 95 %) say how small. A run that did not say `good` within the budget makes no
claim: {opened}. `find` spends most of its episodes on repeats, which is what its claim costs, and more of them where returns fall far now
and then, as Acrobot's do. One return that reaches the target, or the mean of five, says little.
"""


def main() -> None:
    """Run what is missing, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    runs = kinds.add_parser("run")
    runs.add_argument("--records", type=Path, required=True)
    runs.add_argument("--seeds", type=int, default=5)
    written = kinds.add_parser("write")
    written.add_argument("records", type=Path)
    given = parser.parse_args()
    if given.kind == "write":
        pack(given.records, DOCS / "records/control.jsonl.xz")
        (DOCS / "evidence/control.md").write_text(page(unpack(DOCS / "records/control.jsonl.xz")), encoding="utf-8")
        return
    records = Records(given.records)
    done = records.keys()
    for seed in range(given.seeds):
        for task in TASKS.values():
            for method in METHODS:
                if f"{task.name}/{method}/{seed}" not in done:
                    record = run(task, method, seed)
                    records.append(record)
                    print(record["key"], record["verdict"], record["spent"], record["mean"], flush=True)


if __name__ == "__main__":
    main()
