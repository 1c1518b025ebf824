"""Theorems 1 and 2 measured: `ucb` and `elimination` on functions of known norm, in settings where the bounds bite."""

from functools import cache
from typing import Any

import numpy as np
from numpy.random import default_rng

from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.paper import regret
from satisfice.paper.experiments.records import Record
from satisfice.paper.theory.bounds import RegretBounds, elimination_bounds, ucb_bounds
from satisfice.paper.theory.confidence import RkhsWidth
from satisfice.paper.theory.functions import KnownNorm, widest
from satisfice.paper.theory.information import InformationGain, greedy_information_gain
from satisfice.rules import Rule
from satisfice.rules.elimination import Elimination
from satisfice.rules.ucb import UpperConfidence
from satisfice.search.search import Search

GRID = Box([(0.0, 1.0)]).grid(41)
B, LAM, SIGMA, DELTA, FAILURE = 1.0, 1.0, 0.02, 1.2, 0.1
KERNELS = {"se": Stationary("se", np.array([0.5])), "matern52": Stationary("matern52", np.array([0.5]))}
ROUNDS = {"se": 1200, "matern52": 1450}  # so many that every bound is below half of them
RULES = ("ucb", "elimination")


@cache
def gain(kernel: str) -> InformationGain:
    """The information gain over the rounds, with its certified upper end."""
    return greedy_information_gain(KERNELS[kernel], LAM, GRID.U, ROUNDS[kernel]).tightened()


def width(kernel: str) -> RkhsWidth:
    """The width of Lemma 1 (paper, eq. beta)."""
    return RkhsWidth(B, SIGMA, FAILURE, gain(kernel))


def bounds(kernel: str, rule: str) -> RegretBounds:
    """What Theorem 1 (`ucb`) or Theorem 2 (`elimination`) promises."""
    if rule == "ucb":
        return ucb_bounds(gain(kernel), width(kernel), DELTA, ROUNDS[kernel])
    return elimination_bounds(gain(kernel), width(kernel), DELTA, B)


def function_of_known_norm(kernel: str, seed: int) -> KnownNorm:
    """The function of norm B that is largest near one end and smallest near the other: it ranges over more than Delta."""
    rng = default_rng(seed)
    high, low = np.array([rng.uniform(0, 0.1)]), np.array([rng.uniform(0.9, 1)])
    return widest(KERNELS[kernel], B, *((high, low) if rng.random() < 0.5 else (low, high)))


def run_theory(kernel: str, name: str, seed: int, rule: Rule | None = None) -> Record:
    """The regrets of one run at the end, and the number of bad actions at half time."""
    rng = default_rng([seed, 1])
    values = function_of_known_norm(kernel, seed)(GRID.U)
    chosen = rule or (UpperConfidence(width(kernel)) if name == "ucb" else Elimination(width(kernel)))
    search = Search(GRID, 0.0, chosen, model=FixedModel(KERNELS[kernel], LAM), noise=SIGMA, confirm=False, seed=seed)
    path = []
    for _ in range(ROUNDS[kernel]):
        x = search.ask()
        path.append(values[GRID.nearest(GRID.to_unit(x))[0]])
        search.tell(x, path[-1] + SIGMA * rng.standard_normal())
    curves = regret.curves(np.array(path), values.max(), DELTA)
    return {
        "key": f"theory/{kernel}/{name}/{seed}",
        "kernel": kernel,
        "rule": name,
        "seed": seed,
        "range": float(np.ptp(values)),
        "bad_at_half_time": int(curves.indicator[ROUNDS[kernel] // 2]),
        **{
            regret_name: float(getattr(curves, regret_name)[-1])
            for regret_name in ("standard", "indicator", "gap", "hinge")
        },
    }


def theory_table(records: list[Record]) -> dict[str, Any]:
    """For each kernel and rule: the runs, how many kept within the bounds, the most bad actions, and the bounds over T."""
    table: dict[str, Any] = {"runs": len(records), "theorems": {}}
    for kernel in KERNELS:
        for rule in RULES:
            mine = [record for record in records if (record["kernel"], record["rule"]) == (kernel, rule)]
            if not mine:
                continue
            bound = bounds(kernel, rule)
            held = [r["indicator"] <= bound.indicator and r["hinge"] <= r["gap"] <= bound.gap for r in mine]
            table["theorems"][f"{kernel} {rule}"] = {
                "runs": len(mine),
                "within": sum(held),
                "stopped": sum(r["indicator"] == r["bad_at_half_time"] for r in mine),
                "most_bad_actions": int(max(r["indicator"] for r in mine)),
                "indicator_bound": bound.indicator,
                "largest_gap_regret": round(max(r["gap"] for r in mine), 2),
                "gap_bound": round(bound.gap, 1),
                "rounds": ROUNDS[kernel],
            }
    return table
