"""Steps of training until the first good run: `TargetPruner` beside Optuna's pruners and none, on real learning curves.

    .venv/bin/python bench/pruning.py curves     train 120 random settings of each task to the end (minutes); resumable
    .venv/bin/python bench/pruning.py            replay them under each pruner, and write the table of docs/evidence/pruning.md

Five tasks: linear and neural classifiers on scikit-learn's digits by `partial_fit`, a neural regression on diabetes, and boosted trees on
breast cancer and diabetes by rounds; 40 steps each, with the score on a third of the data after each step. The target is the 95 %
quantile of the final scores. A replay takes the settings in a random order, the same for each pruner, and ends with the first
complete run that reaches the target, or with the last setting: what differs is the pruner alone. 40 replays of each task.
MedianPruner and HyperbandPruner have their defaults. ThresholdPruner stops below the median of the final scores after
half of the steps, which nobody knows beforehand; so its row flatters it.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before numpy

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from bootstrap import interval
from numpy.random import default_rng
from optuna.distributions import IntDistribution

from satisfice import TargetPruner
from satisfice.paper.experiments.records import Record, Records, pack, resume, unpack
from satisfice.types import Array

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "pruning.jsonl", ROOT / "docs" / "records" / "pruning.jsonl.xz"
PAGE = ROOT / "docs" / "evidence" / "pruning.md"
SETTINGS, STEPS, REPLAYS, QUANTILE, SEED = 120, 40, 40, 0.95, 2026
Scores = Iterator[float]


def _parts(name: str, rows: int) -> tuple[Array, Array, Array, Array]:
    """Standardised features and answers of a fixed subset, the last third apart."""
    from sklearn import datasets  # type: ignore[import-untyped]

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    chosen = default_rng(SEED).permutation(len(y))[:rows]
    X, y = X[chosen], y[chosen]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    cut = 2 * len(y) // 3
    return X[:cut], y[:cut], X[cut:], y[cut:]


def linear(rng: np.random.Generator) -> Scores:
    """A linear classifier of digits by stochastic gradient descent."""
    from sklearn.linear_model import SGDClassifier  # type: ignore[import-untyped]

    X, y, V, answers = _parts("digits", 1797)
    loss = str(rng.choice(["hinge", "log_loss", "modified_huber"]))
    rate, alpha = 10 ** rng.uniform(-6, 0), 10 ** rng.uniform(-6, 0)
    model = SGDClassifier(loss=loss, learning_rate="constant", eta0=rate, alpha=alpha, random_state=0)
    for _ in range(STEPS):
        model.partial_fit(X, y, classes=np.arange(10))
        yield float(model.score(V, answers))


def _network(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": (int(rng.choice([8, 32, 128])),),
        "learning_rate_init": 10 ** rng.uniform(-5, -0.5),
        "alpha": 10 ** rng.uniform(-6, 1),
        "batch_size": int(rng.choice([16, 64])),
        "random_state": 0,
    }


def network(rng: np.random.Generator) -> Scores:
    """A neural classifier of digits."""
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

    X, y, V, answers = _parts("digits", 900)
    model = MLPClassifier(**_network(rng))
    for _ in range(STEPS):
        model.partial_fit(X, y, classes=np.arange(10))
        yield float(model.score(V, answers))


def regression(rng: np.random.Generator) -> Scores:
    """A neural regression on diabetes."""
    from sklearn.neural_network import MLPRegressor

    X, y, V, answers = _parts("diabetes", 442)
    model = MLPRegressor(**_network(rng))
    for _ in range(STEPS):
        model.partial_fit(X, (y - y.mean()) / y.std())
        yield max(float(model.score(V, (answers - y.mean()) / y.std())), -2.0)


def _boosted(data: str, objective: str, metric: str, rng: np.random.Generator) -> Scores:
    import xgboost

    X, y, V, answers = _parts(data, 569)
    scale = 1.0 if objective.startswith("binary") else float(y.std())
    chosen = {"eta": 10 ** rng.uniform(-2.5, 0), "max_depth": int(rng.integers(1, 8)), "lambda": 10 ** rng.uniform(-3, 2),
              "subsample": rng.uniform(0.3, 1), "min_child_weight": 10 ** rng.uniform(-1, 1.5)}  # fmt: skip
    params = {"objective": objective, "eval_metric": metric, "seed": 0, "nthread": 1, **chosen}
    train, held_out = xgboost.DMatrix(X, y / scale), xgboost.DMatrix(V, answers / scale)
    found: dict[str, Any] = {}
    xgboost.train(params, train, STEPS, evals=[(held_out, "v")], evals_result=found, verbose_eval=False)
    yield from (-float(value) for value in found["v"][metric])


def cancer(rng: np.random.Generator) -> Scores:
    """Boosted trees on breast cancer: minus the log loss."""
    return _boosted("breast_cancer", "binary:logistic", "logloss", rng)


def diabetes(rng: np.random.Generator) -> Scores:
    """Boosted trees on diabetes: minus the root mean squared error, in standard deviations."""
    return _boosted("diabetes", "reg:squarederror", "rmse", rng)


TASKS: dict[str, Callable[[np.random.Generator], Scores]] = {
    "linear classifier, digits": linear,
    "neural classifier, digits": network,
    "neural regression, diabetes": regression,
    "boosted trees, breast cancer": cancer,
    "boosted trees, diabetes": diabetes,
}


def train_all() -> None:
    """Train what has no curve yet."""
    resume(KEPT, PATH)
    records = Records(PATH)
    done = records.keys()
    warnings.simplefilter("ignore")
    for number in range(SETTINGS):
        for position, (name, task) in enumerate(TASKS.items()):
            if f"{name}/{number}" not in done:
                curve = [round(score, 5) for score in task(default_rng([SEED, position, number]))]
                records.append({"key": f"{name}/{number}", "task": name, "curve": curve})
    pack(PATH, KEPT)


def pruners(curves: Array) -> dict[str, Callable[[float], optuna.pruners.BasePruner | None]]:
    """The pruners, made for a target."""
    middle = float(np.median(curves[:, -1]))
    return {
        "none": lambda target: None,
        "MedianPruner": lambda target: optuna.pruners.MedianPruner(),
        "HyperbandPruner": lambda target: optuna.pruners.HyperbandPruner(max_resource=STEPS),
        "ThresholdPruner": lambda target: optuna.pruners.ThresholdPruner(lower=middle, n_warmup_steps=STEPS // 2),
        "TargetPruner": lambda target: TargetPruner(target, steps=STEPS),
    }


def replay(curves: Array, target: float, pruner: optuna.pruners.BasePruner | None, seed: int) -> tuple[int, int, int]:
    """The steps until the first good run is complete; the good runs that were begun, and those of them that were stopped."""
    study = optuna.create_study(direction="maximize", pruner=pruner or optuna.pruners.NopPruner(), study_name=f"{seed}")
    steps = begun = stopped = 0
    for chosen in default_rng([SEED, seed]).permutation(len(curves)):
        trial = study.ask({"setting": IntDistribution(int(chosen), int(chosen))})
        curve, good, pruned = curves[chosen], curves[chosen, -1] >= target, False
        for step, value in enumerate(curve, start=1):
            trial.report(value, step)
            steps += 1
            if step < STEPS and trial.should_prune():
                pruned = True
                break
        begun, stopped = begun + good, stopped + (good and pruned)
        study.tell(trial, None if pruned else curve[-1], state=optuna.trial.TrialState.PRUNED if pruned else None)
        if good and not pruned:
            break
    return steps, begun, stopped


def measure(records: list[Record]) -> dict[str, dict[str, Array]]:
    """The results of `replay`, (replays, 3), for each task and pruner."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    found: dict[str, dict[str, Array]] = {}
    for name in TASKS:
        curves = np.array([record["curve"] for record in records if record["task"] == name])
        target = float(np.quantile(curves[:, -1], QUANTILE))
        for which, make in pruners(curves).items():
            results = [replay(curves, target, make(target), seed) for seed in range(REPLAYS)]
            found.setdefault(name, {})[which] = np.array(results)
            print(f"{name}: {which} {np.mean(results, axis=0)}", file=sys.stderr, flush=True)
    return found


def table(found: dict[str, dict[str, Array]]) -> str:
    """A row for each task, a column for each pruner: the steps, and the good runs that were stopped."""
    names = list(next(iter(found.values())))
    lines = ["| task | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for task, mine in found.items():
        cells = [
            f"{mine[name][:, 0].mean():.0f} ({mine[name][:, 2].sum() / mine[name][:, 1].sum():.0%})" for name in names
        ]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    none, rng = {task: mine["none"][:, 0] for task, mine in found.items()}, default_rng(0)
    chosen = rng.integers(REPLAYS, size=(1000, REPLAYS))
    cells = []
    for name in names:
        logs = [np.log(mine[name][:, 0].mean() / none[task].mean()) for task, mine in found.items()]
        draws = [np.log(mine[name][chosen, 0].mean(1) / none[task][chosen].mean(1)) for task, mine in found.items()]
        low, high = interval(np.exp(np.mean(draws, axis=0)))
        good = sum(mine[name][:, 1].sum() for mine in found.values())
        stopped = sum(mine[name][:, 2].sum() for mine in found.values()) / good
        cells.append(f"{np.exp(np.mean(logs)):.2f} ({low:.2f} to {high:.2f}); {stopped:.1%}" if name != "none" else "1")
    lines.append("| **beside no pruner** | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Train, or replay and write the table."""
    if sys.argv[1:] == ["curves"]:
        train_all()
        return
    text = PAGE.read_text(encoding="utf-8")
    start, end = "<!-- pruning -->", "<!-- end -->"
    before, rest = text.split(start)
    written = table(measure(unpack(KEPT)))
    PAGE.write_text(f"{before}{start}\n\n{written}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
    print(written)


if __name__ == "__main__":
    main()
