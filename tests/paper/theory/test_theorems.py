"""Theorems 1 and 2 measured on functions of known norm, in settings where the bounds bite."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from satisfice.paper.experiments.theory import (
    DELTA,
    FAILURE,
    GRID,
    KERNELS,
    ROUNDS,
    RULES,
    B,
    bounds,
    function_of_known_norm,
    run_theory,
)


@dataclass(frozen=True)
class StayBad:
    """One point, always."""

    point: np.ndarray

    def propose(self, belief, rng):
        return self.point


@cache
def stay_bad(kernel):
    """The negative control: the worst point of function number 0, always."""
    worst = GRID.U[np.argmin(function_of_known_norm(kernel, 0)(GRID.U))]
    return run_theory(kernel, "control", 0, StayBad(worst))


def measure(kernel, rule, runs):
    bound, rounds = bounds(kernel, rule), ROUNDS[kernel]
    print(f"{kernel} {rule}: bounds / T: indicator {bound.indicator / rounds:.3f}, gap {bound.gap / rounds:.3f}")
    assert bound.settled
    assert bound.indicator < rounds / 2
    assert bound.gap < rounds / 2
    records = [run_theory(kernel, rule, seed) for seed in range(runs)]
    for record in records:
        assert record["range"] > DELTA
        assert record["hinge"] <= record["gap"] <= record["standard"]
    held = [r["indicator"] <= bound.indicator and r["hinge"] <= r["gap"] <= bound.gap for r in records]
    print(f"  within the bounds: {sum(held)} of {runs}; most bad actions: {max(r['indicator'] for r in records):.0f}")
    assert sum(held) >= (1 - FAILURE) * runs
    if rule == "elimination":
        assert sum(r["indicator"] == r["bad_at_half_time"] for r in records) >= (1 - FAILURE) * runs
    control = stay_bad(kernel)
    assert control["indicator"] > bound.indicator
    assert control["gap"] > bound.gap


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_functions_have_the_norm_that_the_theorems_ask_for(kernel):
    for seed in range(20):
        function = function_of_known_norm(kernel, seed)
        assert function.norm <= B * (1 + 1e-9)
        assert np.ptp(function(GRID.U)) > DELTA


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", RULES)
def test_the_theorems_hold_on_a_few_functions(kernel, rule):
    measure(kernel, rule, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", RULES)
def test_the_theorems_hold_on_a_hundred_functions(kernel, rule):
    measure(kernel, rule, 100)
