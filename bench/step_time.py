"""Seconds for one step (tell a value, ask for the next point), beside BoTorch, Optuna and a LAPACK floor.

    make bench-env && .venv-bench/bin/python bench/step_time.py --json step_time.json
    .venv-bench/bin/python bench/step_time.py --n 25,100,400 --skip botorch,optuna

One process, one thread; on a busy machine use `--cpu`, which counts CPU seconds. A figure is the median over repeats with different data,
three times as many up to n = 200; beyond n = 400 a peer is measured once. The problem is Hartmann-6, and the target is the 99 % quantile of
its values. The observations are uniform random points below the target, since a search that has reached it is over.

paper, auto  `Search` with that model and the rule `pg` or `auto`: tell, ask. Hyperparameters are learned on a schedule, often up to
             n = 200, where a figure is the mean of the 15 steps up to n (of 7 up to n = 10). Beyond, they are learned rarely, and a figure is amortised
             over the interval from the first learning step at or after n:
             (learning step + (interval - 1) * ordinary step) / interval. The warm-up is not timed.
botorch      SingleTaskGP on standardised values, refitted; log PI maximised from 10 of 512 samples.
optuna       GPSampler on a study of n finished trials, after one warm-up step: ask, suggest, tell.
floor        one Cholesky factorisation and one triangular solve with 1,000 right-hand sides, by LAPACK.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy

import argparse
import json
import statistics
import warnings
from collections.abc import Callable
from functools import partial
from importlib import metadata, util
from itertools import count, product
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from eval_functions import hartmann6
from rich.console import Console
from rich.progress import Progress
from scipy.linalg import lapack

from satisfice import Box, Search
from satisfice.gp.models.mixture import OFTEN, every_third, has_grown
from satisfice.types import Array

Figures = dict[str, float]  # "seconds", and whatever explains them
Contender = Callable[[int, int], Figures]  # (n, seed) -> the figures of one measurement
Record = dict[str, dict[int, list[Figures]]]  # contender -> n -> an entry for each repeat

Hook = Callable[[], object]
clock = perf_counter  # `--cpu` replaces it
DIMENSION = 6
WINDOW = 15  # steps timed in a row; up to n = 200 the period of learning from random starts
ONCE_BEYOND = 400  # a peer is measured once beyond this n
PEERS = ("botorch", "optuna")
PACKAGES = ("satisfice", "numpy", "scipy", "torch", "botorch", "gpytorch", "optuna", "greenlet")
RATIOS = ("botorch/paper", "botorch/auto", "optuna/auto", "paper/floor", "auto/floor")
RULES = {"paper": "pg", "auto": "auto"}  # the rule for each of our models


TARGET = float(np.quantile(hartmann6(np.random.default_rng(0).random((100_000, DIMENSION))), 0.99))


def versions() -> dict[str, str]:
    """The versions of the installed packages that the figures depend on."""
    installed = {package.name: package.version for package in metadata.distributions()}
    return {name: installed[name] for name in PACKAGES if name in installed}


def history(n: int, seed: int) -> tuple[Array, Array]:
    """n uniform random points below the target, and their values."""
    U = np.random.default_rng([1, seed]).random((n + n // 10 + 100, DIMENSION))
    values = hartmann6(U)
    below = values < TARGET
    return U[below][:n], values[below][:n]


def _nothing() -> object:
    return None


def satisfice_step(model: str, n: int, seed: int, before: Hook = _nothing, after: Hook = _nothing) -> Figures:
    """The amortised step of a `Search`. Step k tells the k-th observation and asks for the next point.

    `before` and `after` are called around the timed steps.
    """
    learns_at = every_third if model == "paper" else has_grown
    window = min(WINDOW, n - 3)  # the first three questions need no model
    first = n - window + 1 if n <= OFTEN else next(k for k in count(n) if learns_at(k))
    X, values = history(first - 1 + window, seed)
    search = Search(Box([(0.0, 1.0)] * DIMENSION), target=TARGET, rule=RULES[model], model=model, noise=0, seed=seed)
    for x, value in zip(X[: first - 1], values[: first - 1], strict=True):
        search.tell(x, float(value))
    asked = search.ask()
    times: dict[bool, list[float]] = {True: [], False: []}
    before()
    for k in range(first, first + window):
        value = hartmann6(asked[None, :])[0]
        if value >= TARGET:  # a random point keeps the search open
            asked, value = X[k - 1], values[k - 1]
        start = clock()
        search.tell(asked, float(value))
        asked = search.ask()
        times[learns_at(k)].append(clock() - start)
        if search.fallback:
            raise RuntimeError(f"The model {model!r} failed at n = {k}, so the time means nothing.")
    after()
    learning, ordinary = (statistics.mean(times[kind] or [0.0]) for kind in (True, False))
    following = next(k for k in count(first + 1) if learns_at(k))
    interval = window / len(times[True]) if n <= OFTEN else following - first
    seconds = (learning + (interval - 1) * ordinary) / interval
    return {"seconds": seconds, "learning": learning, "ordinary": ordinary, "interval": interval}


def botorch_step(n: int, seed: int) -> Figures:
    """BoTorch's step: fit, then maximise log PI (telling a value costs nothing)."""
    import torch
    from botorch import acquisition, fit_gpytorch_mll, models, optim
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    X, values = history(n, seed)
    start = clock()
    mean, std = values.mean(), values.std(ddof=1)
    y = torch.as_tensor((values - mean) / std)[:, None]
    model = models.SingleTaskGP(torch.as_tensor(X), y, outcome_transform=None)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    score = acquisition.analytic.LogProbabilityOfImprovement(model, best_f=float((TARGET - mean) / std))
    cube = torch.tensor([[0.0] * DIMENSION, [1.0] * DIMENSION], dtype=torch.double)
    optim.optimize_acqf(score, bounds=cube, q=1, num_restarts=10, raw_samples=512)
    return {"seconds": clock() - start}


def optuna_step(n: int, seed: int) -> Figures:
    """GPSampler's step; the step before the first timed one fills its cache of kernel parameters."""
    import optuna
    import torch

    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(DIMENSION)}
    sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=0, deterministic_objective=True)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for x, value in zip(*history(n - 1, seed), strict=True):
        params = dict(zip(space, map(float, x), strict=True))
        study.add_trial(optuna.trial.create_trial(params=params, distributions=space, value=float(value)))
    times = []
    for _ in range(1 + (3 if n <= ONCE_BEYOND else 1)):
        start = clock()
        trial = study.ask(space)
        study.tell(trial, float(hartmann6(np.array([[trial.params[name] for name in space]]))[0]))
        times.append(clock() - start)
    return {"seconds": statistics.mean(times[1:])}


def floor_step(n: int, seed: int) -> Figures:
    """The least that a dense Gaussian process costs: a factorisation and a solve for 1,000 points."""
    rng = np.random.default_rng([2, seed])
    X, right = rng.random((n, DIMENSION)), rng.random((n, 1000))
    K = np.exp(-4.0 * ((X[:, None, :] - X) ** 2).sum(axis=2)) + 1e-4 * np.eye(n)
    times = []
    for _ in range(10):
        a, b = K.copy(order="F"), right.copy(order="F")
        start = clock()
        lapack.dtrtrs(lapack.dpotrf(a, lower=1, clean=0, overwrite_a=1)[0], b, lower=1, overwrite_b=1)
        times.append(clock() - start)
    return {"seconds": statistics.median(times)}


CONTENDERS: dict[str, Contender] = {name: partial(satisfice_step, name) for name in ("paper", "auto")}
CONTENDERS |= {"botorch": botorch_step, "optuna": optuna_step, "floor": floor_step}


def importable(names: list[str], console: Console) -> list[str]:
    """The contenders that can run. Each runs once untimed, for its imports."""
    for name in tuple(names):
        try:
            CONTENDERS[name](20, 0)
        except ModuleNotFoundError as error:
            names.remove(name)
            console.print(f"{name} is skipped: {error}")
    if "optuna" in names and util.find_spec("greenlet") is None:
        console.print("GPSampler is slower without greenlet; install it for a fair comparison")
    return names


def measure(todo: list[tuple[int, int, str]], console: Console) -> Record:
    """The figures of every job (n, seed, contender). The bar does not move during a job, to not disturb it."""
    record: Record = {name: {} for _, _, name in todo}
    with Progress(console=console, auto_refresh=False) as progress:
        for n, seed, name in progress.track(todo, description="measuring"):
            record[name].setdefault(n, []).append(CONTENDERS[name](n, seed))
    return record


def table(title: str, columns: dict[str, dict[int, float]], sizes: list[int]) -> str:
    """A plain table with a row for each n, and a dash where nothing was measured."""
    lines = [title, f"{'n':>6}" + "".join(f"{name:>15}" for name in columns)]
    for n in sizes:
        cells = (f"{column[n]:.4g}" if n in column else "-" for column in columns.values())
        lines.append(f"{n:>6}" + "".join(f"{cell:>15}" for cell in cells))
    return "\n".join(lines)


def report(medians: dict[str, dict[int, float]], sizes: list[int]) -> str:
    """Both tables, and the growth of a step with n."""
    ratios: dict[str, dict[int, float]] = {}
    for ratio in RATIOS:
        above, below = (medians.get(name, {}) for name in ratio.split("/"))
        ratios[ratio] = {n: above[n] / below[n] for n in sizes if n in above and n in below}
    grown = ["growth: the exponent over all n (the slope in log-log); the factor from n = 400 to n = 1600"]
    for name in (name for name in ("paper", "auto") if name in medians and len(sizes) > 1):
        slope = np.polyfit(np.log(sizes), np.log([medians[name][n] for n in sizes]), 1)[0]
        factor = medians[name].get(1600, np.nan) / medians[name].get(400, np.nan)
        grown.append(f"{name:>6}{slope:15.2f}{factor:15.2f}")
    return "\n\n".join([table("seconds", medians, sizes), table("ratios", ratios, sizes), "\n".join(grown)])


def main() -> None:
    """Measure, print, and write the raw figures to a file if asked."""
    global clock
    parser = argparse.ArgumentParser(description="Seconds for a step, beside peers and a LAPACK floor.")
    parser.add_argument("--n", default="10,25,50,100,200,400,800,1600", help="numbers of observations")
    parser.add_argument("--skip", default="", help=f"contenders to skip, of {','.join(CONTENDERS)}")
    parser.add_argument("--repeats", type=int, default=3, help="measurements for each figure beyond n = 200")
    parser.add_argument("--peer-max-n", type=int, default=1600, help="the largest n for botorch and optuna")
    parser.add_argument("--cpu", action="store_true", help="count CPU seconds, not seconds on the clock")
    parser.add_argument("--json", type=Path, help="write the raw figures to this file")
    options = parser.parse_args()
    sizes = sorted({int(n) for n in options.n.split(",")})
    skip = set(options.skip.split(",")) - {""}
    if not skip <= CONTENDERS.keys() or sizes[0] < 6:
        parser.error(
            f"--n must be numbers of at least 6 and --skip names of {','.join(CONTENDERS)}; got {options.n} and {options.skip}"
        )
    clock = process_time if options.cpu else perf_counter
    warnings.filterwarnings("ignore")  # the peers warn of experimental arguments and hard fits
    console = Console(stderr=True)
    contenders = importable([name for name in CONTENDERS if name not in skip], console)
    todo = [  # the contenders take turns, so that a slow minute of the machine affects all of them
        (n, seed, name)
        for n in sizes
        for seed, name in product(range(options.repeats * (3 if n <= OFTEN else 1)), contenders)
        if name not in PEERS or (n <= options.peer_max_n and (n <= ONCE_BEYOND or seed == 0))
    ]
    wall, cpu = perf_counter(), process_time()
    record = measure(todo, console)
    share = (process_time() - cpu) / (perf_counter() - wall)
    console.print(f"{clock.__name__}; the process had {share:.0%} of a processor")
    medians = {
        name: {n: statistics.median(figures["seconds"] for figures in repeats) for n, repeats in by_n.items()}
        for name, by_n in record.items()
    }
    print(report(medians, sizes))
    if options.json:
        content = {"clock": clock.__name__, "share": share, "medians": medians, "figures": record}
        content["versions"] = versions()
        options.json.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
