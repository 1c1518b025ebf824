"""How often several requirements are certified where one of them is missed, and what they cost.

    python bench/joint.py replicates           # 2,000 sequences of values of one setting, at the boundary of one of three requirements
    python bench/joint.py searches --runs 200  # whole searches in which one of three is short by 0.3 sd everywhere; resumable
    python bench/joint.py searches --fixed     # the same with a known kernel, which takes a third of the time
    python bench/joint.py power --runs 200     # evaluations that certify one setting: three requirements of equal gap against one

Whole searches go to out/records/joint.jsonl, one line for each; a second call adds what is missing.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before numpy

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import beta

from satisfice import Box, FixedModel, Requirement, Search
from satisfice.gp.kernels import Stationary

RECORDS = Path(__file__).parent.parent / "out" / "records" / "joint.jsonl"
NAMES = ("a", "b", "c")
LENGTH = 100  # values of each sequence
MOST = 40  # evaluations of each search
SHORT = 0.3  # standard deviations
KINDS = ("gaussian", "range")


def target(kind: str, count: int = 3) -> list[Requirement]:
    """Requirements of a mean of at least 0, with noise that is not stated, or with the range -1 to 1."""
    limits = (-1.0, 1.0) if kind == "range" else None
    return [
        Requirement(name, ">=", 0.0, noise=None if limits else "learn", value_range=limits) for name in NAMES[:count]
    ]


def values(kind: str, means: np.ndarray, rng: Generator) -> np.ndarray:
    """One evaluation: Gaussian values of standard deviation 1, or values of a skewed law on [-1, 1] with that mean."""
    if kind == "gaussian":
        return means + rng.normal(size=len(means))
    return 2 * rng.beta(1 + means, 1 - means) - 1


def told(count: int, kind: str, means: np.ndarray, seed: int, most: int) -> int | None:
    """How many values of one setting certify it; None if `most` do not."""
    rng, search = default_rng([seed, 1]), Search(Box([(0.0, 1.0)]), target(kind, count), seed=seed)
    for number in range(1, most + 1):
        search.tell([0.5], dict(zip(NAMES, values(kind, means, rng).tolist(), strict=False)))
        if search.observations.certificate is not None:
            return number
    return None


def replicates(runs: int) -> None:
    """Sequences of replicates at the boundary of one of three requirements."""
    for kind in KINDS:
        means = np.array([1.0, 0.0, 1.0]) if kind == "gaussian" else np.array([0.6, 0.0, 0.6])
        wrong = sum(told(3, kind, means, seed, LENGTH) is not None for seed in range(runs))
        print(f"{kind}: {wrong} of {runs} sequences of {LENGTH} values certified, {upper(wrong, runs)}")


def upper(wrong: int, runs: int) -> str:
    """The share, and the upper end of its one-sided 95 % interval."""
    end = 1.0 if wrong == runs else float(beta.ppf(0.95, wrong + 1, runs - wrong))
    return f"{100 * wrong / runs:.1f} % (below {100 * end:.1f} % with 95 % confidence)"


def search(kind: str, seed: int, model: str) -> dict[str, object]:
    """A whole search: one of three requirements is short by 0.3 standard deviations everywhere, the others vary and can be met."""
    rng = default_rng([seed, 2])
    missed, size = seed % 3, 1.0 if kind == "gaussian" else 0.577
    known = FixedModel(Stationary("matern52", np.array([0.4, 0.4])), lam=size**2)
    believed = known if model == "fixed" else "auto"
    found = Search(Box([(0.0, 1.0), (0.0, 1.0)]), target(kind), model=believed, seed=seed, give_up=False)
    verdict = "open"
    for _ in range(MOST):
        x = found.ask()
        means = np.array([0.8 - 2 * (x[0] - 0.5) ** 2, 0.8 - 2 * (x[1] - 0.3) ** 2, 0.7 - (x[0] - x[1]) ** 2]) * size
        means[missed] = -SHORT * size
        found.tell(x, dict(zip(NAMES, values(kind, means, rng).tolist(), strict=True)))
        verdict = found.answer().verdict
        if verdict != "open":
            break
    return {"kind": kind, "model": model, "seed": seed, "verdict": verdict, "evaluations": found.answer().evaluations}


def searches(runs: int, model: str = "auto") -> None:
    """Whole searches, and how often they were wrong."""
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    done = {(line["kind"], line["model"], line["seed"]) for line in lines}
    for seed in range(runs):
        for kind in KINDS:
            if (kind, model, seed) not in done:
                lines.append(search(kind, seed, model))
                with RECORDS.open("a") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    for kind in KINDS:
        verdicts = [
            line["verdict"] for line in lines if line["kind"] == kind and line["model"] == model and line["seed"] < runs
        ]
        wrong = verdicts.count("good")
        print(f"{kind}, {model}: {wrong} of {len(verdicts)} searches wrongly good, {upper(wrong, len(verdicts))}")


def power(runs: int) -> None:
    """The mean number of values of one setting that certify it, of three requirements of one gap and of one alone."""
    for gap in (0.5, 1.0, 2.0):
        cost = {}
        for count in (1, 3):
            found = [told(count, "gaussian", np.full(3, gap), seed, 400) for seed in range(runs)]
            cost[count] = float(np.mean([400 if each is None else each for each in found]))
        print(f"gap {gap:g} sd: one {cost[1]:.1f} values, three {cost[3]:.1f}, ratio {cost[3] / cost[1]:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("replicates", "searches", "power"))
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--fixed", action="store_true", help="search with a known kernel")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = given.runs or (2000 if given.what == "replicates" else 200)
    if given.what == "searches":
        searches(runs, "fixed" if given.fixed else "auto")
    else:
        {"replicates": replicates, "power": power}[given.what](runs)
