"""Whether the widths hold, and how wide they are beside the paper's, over functions of known norm.

A width holds for a function when |f - mu_t| <= width sigma_t at all points of the domain and in all rounds.
"""

from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import beta

from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.paper.experiments.bandit import (
    Eliminate,
    GridRule,
    HalfWidth,
    Ucb,
    Uniform,
    by_information,
    by_round,
    rounds,
)
from satisfice.paper.experiments.records import Record
from satisfice.paper.experiments.run import Task
from satisfice.paper.theory.confidence import FixedDesignWidth, LogDetWidth, RkhsWidth
from satisfice.paper.theory.functions import draw_known_norm
from satisfice.paper.theory.information import InformationGain, greedy_information_gain
from satisfice.types import Array

B, FAILURE = 1.0, 0.1
RUNS = 200  # where a width holds for all of them, it holds with probability 0.98 or more (95 % interval)
T, PER_AXIS = 500, 61
RATIO_AT = (10, 100, 500)
CENTRES = (1, 2, 5, 10, 20)  # kernels in the sum that makes a function
PAPER = "paper: gamma_t"
PLANS = ("ucb", "elimination", "random")


@dataclass(frozen=True)
class Case:
    """A kernel on a grid, the noise that is assumed and the true one."""

    form: str
    lengthscale: float
    lam: float
    sigma: float

    @property
    def key(self) -> str:
        """What tells it from every other case."""
        return f"{self.form}/{self.lengthscale:g}/{self.lam:g}/{self.sigma:g}"

    @property
    def kernel(self) -> Stationary:
        """The kernel."""
        return Stationary(self.form, np.array([self.lengthscale]))


POINTS = Box([(0.0, 1.0)]).grid(PER_AXIS).U
CASES = (
    Case("se", 0.2, 1.0, 0.1),  # lambda = 1, as in the other experiments on the theory
    Case("se", 0.2, 0.01, 0.1),  # lambda = sigma^2, as in Bayes' rule
    Case("matern32", 0.2, 0.01, 0.1),
    Case("matern32", 0.2, 0.25, 0.5),
    Case("se", 0.2, 4.0, 0.5),  # lambda > sigma^2
)


@cache
def gain(case: Case) -> InformationGain:
    """The information gain, with its certified upper end."""
    return greedy_information_gain(case.kernel, case.lam, POINTS, T).tightened()


def widths(case: Case) -> dict[str, HalfWidth]:
    """The widths by name, the paper's first. The last one is for questions that do not depend on answers."""
    known = (B, case.sigma, FAILURE)
    return {
        PAPER: by_round(RkhsWidth(*known, gain(case))),
        "gamma_t, root": by_round(RkhsWidth(*known, gain(case), "root")),
        "log det": by_information(LogDetWidth(*known), case.lam),
        "log det, root": by_information(LogDetWidth(*known, "root"), case.lam),
        "fixed design": by_round(FixedDesignWidth(*known, case.lam, len(POINTS))),
    }


def _plan(name: str, case: Case, rng: Generator) -> GridRule:
    paper = widths(case)[PAPER]
    if name == "random":
        return Uniform(rng)
    return Ucb(paper) if name == "ucb" else Eliminate(paper)


def draw_values(case: Case, runs: int, rng: Generator) -> Array:
    """The values of so many functions of norm B on the grid (runs, |D|)."""
    return np.array([draw_known_norm(case.kernel, B, 1, rng, CENTRES[i % len(CENTRES)])(POINTS) for i in range(runs)])


def run_case(case: Case, plan: str, runs: int = RUNS, factor: float = 1.0) -> Record:
    """For each function and width the largest |f - mu_t| / (width sigma_t) over points and rounds; it holds up to 1.

    The functions are multiplied by `factor`: 2 makes them break the promise of norm B.
    """
    values = factor * draw_values(case, runs, default_rng(0))
    named, rng = widths(case), default_rng(1)
    largest = {name: np.zeros(runs) for name in named}
    ratios: dict[str, list[float]] = {name: [] for name in named}
    played = rounds(_plan(plan, case, rng), case.kernel(POINTS, POINTS), case.lam, values, case.sigma, default_rng(2))
    for state, _ in islice(played, T):
        error = (np.abs(values - state.mean) / state.std).max(axis=1)
        now = {name: np.broadcast_to(np.ravel(width(state)), (runs,)) for name, width in named.items()}
        for name, width in now.items():
            largest[name] = np.maximum(largest[name], error / width)
            if state.t in RATIO_AT:
                ratios[name].append(float(f"{np.mean(width / now[PAPER]):.4g}"))
    return {
        "key": f"coverage/{plan}/{case.key}",
        "plan": plan,
        **asdict(case),
        "largest": {name: [float(f"{value:.4g}") for value in worst] for name, worst in largest.items()},
        "ratios": ratios,
    }


def tasks() -> list[Task]:
    """Every case with every way to choose the points."""
    return [Task(f"coverage/{plan}/{case.key}", run_case, (case, plan)) for case in CASES for plan in PLANS]


def interval(successes: int, runs: int, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval for a probability (Clopper and Pearson)."""
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, successes, runs - successes + 1)) if successes else 0.0
    high = float(beta.ppf(1 - tail, successes + 1, runs - successes)) if successes < runs else 1.0
    return low, high


def coverage_table(records: list[Record]) -> dict[str, Any]:
    """For each case, plan and width: for how many functions it held, the interval, the slack and the ratios to the paper's.

    The slack is the factor by which the width could be multiplied and still hold for a share 1 - delta of the functions.
    """
    rows = []
    for record in records:
        for name, worst in record["largest"].items():
            held = sum(value <= 1 for value in worst)
            low, high = interval(held, len(worst))
            rows.append({
                "case": Case(record["form"], record["lengthscale"], record["lam"], record["sigma"]),
                "plan": record["plan"], "width": name, "runs": len(worst), "held": held, "low": low, "high": high,
                "slack": float(np.quantile(worst, 1 - FAILURE)), "ratios": record["ratios"][name],
            })  # fmt: skip
    return {"runs": sum(len(record["largest"][PAPER]) for record in records), "rows": rows}
