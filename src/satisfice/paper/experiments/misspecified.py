"""How wrong the length-scale may be before elimination loses x* (the paper's open question, section 3.2).

f is drawn from a Gaussian process on a grid, or is a function of known norm, and elimination assumes a length-scale that is a
multiple of the true one.
"""

from dataclasses import asdict, dataclass, fields
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.paper.experiments.bandit import Eliminate, HalfWidth, by_information, by_round, rounds
from satisfice.paper.experiments.coverage import interval
from satisfice.paper.experiments.records import Record
from satisfice.paper.experiments.run import Task
from satisfice.paper.theory.confidence import LogDetWidth
from satisfice.paper.theory.functions import draw_known_norm
from satisfice.rules.widths import BayesianWidth, sqrt_log, sqrt_log_cubed
from satisfice.types import Array

RUNS = 400  # an interval of at most 0.1 from end to end, and one of 0 to 0.009 where x* is never lost
BATCH = 50  # runs at once: the covariances of all must fit into memory
T, SIGMA, DELTA, FAILURE = 200, 0.02, 0.6, 0.1  # sigma and Delta as in the paper's section 5.1
RATIOS = tuple(2.0 ** (k / 2) for k in range(-6, 7))
FINE = tuple(2.0 ** (k / 4) for k in (1, 3))  # between 1 and 2, where it is decided
NORM = 1.0
WIDTHS = {
    "process": ("sqrt(log(2t)^3)", "Bayesian", "sqrt(log t)"),
    "norm": ("log det, root",),
}  # by where f comes from


@dataclass(frozen=True)
class Truth:
    """Where f comes from, its kernel, and the form of the kernel that is assumed with a multiple of the length-scale."""

    source: str  # "process" (a draw) or "norm" (a function of norm `NORM`)
    form: str
    assumed: str
    lengthscale: float
    d: int
    per_axis: int

    @property
    def key(self) -> str:
        """What tells it from every other truth."""
        return f"{self.source}/{self.form}/{self.assumed}/{self.lengthscale:g}/{self.d}/{self.per_axis}"

    @property
    def points(self) -> Array:
        """The domain (|D|, d)."""
        return Box([(0.0, 1.0)] * self.d).grid(self.per_axis).U

    def prior(self, form: str, ratio: float) -> Array:
        """The kernel of that form and that multiple of the length-scale on the domain."""
        return Stationary(form, np.array([self.lengthscale * ratio]))(self.points, self.points)


TRUTHS = (
    Truth("process", "se", "se", 0.2, 1, 61),
    Truth("process", "matern52", "matern52", 0.2, 1, 61),
    Truth("process", "se", "se", 0.2, 2, 15),
    Truth("process", "matern52", "se", 0.2, 1, 61),
    Truth("norm", "se", "se", 0.2, 1, 61),
    Truth("norm", "se", "se", 0.2, 2, 15),
)


def width_of(name: str, truth: Truth) -> HalfWidth:
    """A width by its name."""
    if name == "log det, root":
        return by_information(LogDetWidth(NORM, SIGMA, FAILURE, "root"), SIGMA**2)
    if name == "Bayesian":
        return by_round(BayesianWidth(truth.per_axis**truth.d, FAILURE))
    return by_round(sqrt_log if name == "sqrt(log t)" else sqrt_log_cubed)


def draw_values(truth: Truth, runs: int, rng: Generator) -> Array:
    """The values of so many functions on the domain (runs, |D|)."""
    if truth.source == "norm":
        kernel = Stationary(truth.form, np.array([truth.lengthscale]))
        return np.array([draw_known_norm(kernel, NORM, truth.d, rng)(truth.points) for _ in range(runs)])
    covariance = truth.prior(truth.form, 1.0)
    root = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(covariance)))
    return rng.standard_normal((runs, len(covariance))) @ root.T


def run_truth(truth: Truth, ratio: float, width: str, runs: int = RUNS) -> Record:
    """The round in which each run lost x* (0: never), whether it lost every good point, and how many points were left."""
    draws, prior = draw_values(truth, runs, default_rng(0)), truth.prior(truth.assumed, ratio)
    lost, good_lost, left = [], 0, 0
    for batch, start in enumerate(range(0, runs, BATCH)):
        values = draws[start : start + BATCH]
        rule, best, when = (
            Eliminate(width_of(width, truth)),
            values.argmax(axis=1),
            np.zeros(len(values), int),
        )
        every = np.arange(len(values))
        for state, _ in islice(rounds(rule, prior, SIGMA**2, values, SIGMA, default_rng([1, batch])), T + 1):
            alive = rule.alive if rule.alive is not None else np.ones(values.shape, dtype=bool)
            when[(when == 0) & ~alive[every, best]] = state.t - 1
        lost += when.tolist()
        good = values >= values.max(axis=1, keepdims=True) - DELTA
        good_lost += int((~(alive & good).any(axis=1)).sum())
        left += int(alive.sum())
    return {
        "key": f"misspecified/{truth.key}/{ratio:.4g}/{width}",
        **asdict(truth),
        "ratio": ratio,
        "width": width,
        "runs": runs,
        "lost": sum(t > 0 for t in lost),
        "lost_by": [t for t in sorted(lost) if t > 0],
        "good_lost": good_lost,
        "left": left / runs,
    }


def tasks() -> list[Task]:
    """Every ratio, width and truth."""
    return [
        Task(f"misspecified/{truth.key}/{ratio:.4g}/{width}", run_truth, (truth, ratio, width))
        for truth in TRUTHS
        for width in WIDTHS[truth.source]
        for ratio in sorted({*RATIOS, *FINE})
    ]


def misspecified_table(records: list[Record]) -> dict[str, Any]:
    """For each truth and width the shares of runs that lost x*, by ratio, with 95 % intervals."""
    table: dict[str, Any] = {"runs": sum(record["runs"] for record in records), "lost": {}}
    for truth in TRUTHS:
        for width in WIDTHS[truth.source]:
            mine = sorted(
                (r for r in records if (_truth(r), r["width"]) == (truth, width)), key=lambda record: record["ratio"]
            )
            if mine:
                table["lost"][truth, width] = [
                    {
                        "ratio": r["ratio"],
                        "share": r["lost"] / r["runs"],
                        "interval": interval(r["lost"], r["runs"]),
                        "good_lost": r["good_lost"] / r["runs"],
                        "median_round": float(np.median(r["lost_by"])) if r["lost_by"] else None,
                    }
                    for r in mine
                ]
    return table


def _truth(record: Record) -> Truth:
    return Truth(**{field.name: record[field.name] for field in fields(Truth)})
