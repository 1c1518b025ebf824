"""Theorems 1 and 2 measured on functions of known norm, in settings where the bounds bite."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, Search, regret
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.rules.confidence import UpperConfidence
from satisfice.rules.elimination import Elimination
from satisfice.theory.bounds import elimination_bounds, ucb_bounds
from satisfice.theory.confidence import RkhsWidth
from satisfice.theory.functions import widest
from satisfice.theory.information import greedy_information_gain

GRID = Box([(0.0, 1.0)]).grid(41)
B, LAM, SIGMA, DELTA, FAILURE = 1.0, 1.0, 0.02, 1.2, 0.1
SETTINGS = {
    "se": (Stationary("se", np.array([0.5])), 1200),
    "matern52": (Stationary("matern52", np.array([0.5])), 1450),
}


@dataclass(frozen=True)
class StayBad:
    """The negative control: the worst point of function number 0, always."""

    kernel: Stationary

    def propose(self, belief, rng):
        return GRID.U[np.argmin(function_of_known_norm(self.kernel, 0)(GRID.U))]


def function_of_known_norm(kernel, seed):
    """The function of norm B that is largest near one end and smallest near the other: it ranges over more than Delta."""
    rng = default_rng(seed)
    high, low = np.array([rng.uniform(0, 0.1)]), np.array([rng.uniform(0.9, 1)])
    if rng.random() < 0.5:
        high, low = low, high
    return widest(kernel, B, high, low)


def curves(kernel, rule, rounds, seed):
    """The cumulative regrets of one run of the rule, each (rounds,)."""
    rng = default_rng([seed, 1])
    function = function_of_known_norm(kernel, seed)
    assert function.norm <= B * (1 + 1e-9)
    values = function(GRID.U)
    assert np.ptp(values) > DELTA
    search = Search(GRID, 0.0, rule, model=FixedModel(kernel, LAM), noise=SIGMA, seed=seed)
    path = []
    for _ in range(rounds):
        x = search.ask()
        path.append(values[round(40 * x[0])])
        search.tell(x, path[-1] + SIGMA * rng.standard_normal())
    return regret.curves(np.array(path), values.max(), DELTA)


def measure(kind, which, runs):
    kernel, rounds = SETTINGS[kind]
    gain = greedy_information_gain(kernel, LAM, GRID.U, rounds).tightened()
    width = RkhsWidth(B, SIGMA, FAILURE, gain)
    if which == "ucb":
        bounds = ucb_bounds(gain, width, DELTA, rounds)
        rule = UpperConfidence(width)
    else:
        bounds = elimination_bounds(gain, width, DELTA, B)
        rule = Elimination(width)
    assert bounds.settled
    print(
        f"{kind} {which}: indicator bound / T = {bounds.indicator / rounds:.3f}, gap bound / T = {bounds.gap / rounds:.3f}"
    )
    assert bounds.indicator < rounds / 2
    assert bounds.gap < rounds / 2
    kept, stopped, worst = 0, 0, 0.0
    for seed in range(runs):
        run = curves(kernel, rule, rounds, seed)
        hinge, gap, indicator = run.hinge[-1], run.gap[-1], run.indicator[-1]
        assert hinge <= gap <= run.standard[-1] + 1e-9
        kept += indicator <= bounds.indicator and hinge <= gap <= bounds.gap
        stopped += run.indicator[-1] == run.indicator[rounds // 2]
        worst = max(worst, indicator)
    print(f"  {kept} of {runs} runs within the bounds; at most {worst:.0f} bad actions, bound {bounds.indicator}")
    assert kept >= (1 - FAILURE) * runs
    if which == "elimination":
        assert stopped >= (1 - FAILURE) * runs
    control = curves(kernel, StayBad(kernel), rounds, 0)
    assert control.indicator[-1] > bounds.indicator
    assert control.gap[-1] > bounds.gap


@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("which", ["ucb", "elimination"])
def test_the_theorems_hold_on_a_few_functions(kind, which):
    measure(kind, which, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SETTINGS)
@pytest.mark.parametrize("which", ["ucb", "elimination"])
def test_the_theorems_hold_on_a_hundred_functions(kind, which):
    measure(kind, which, 100)
