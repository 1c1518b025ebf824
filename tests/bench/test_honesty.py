"""The bench of honesty: its functions have the share of good settings that they state, and its sums count what is false."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import honesty


def record(problem="bowl 2-d 1 %", verdict="unlikely", stated=0.02, good=False, hopes=()):
    known = honesty.problems()[problem]
    return {
        "problem": problem, "dimension": known.dimension, "share": known.share, "verdict": verdict, "share_stated": stated,
        "good": good, "proven": False, "evaluations": 300, "hopes": [list(each) for each in hopes], "budget": 500,
    }  # fmt: skip


@pytest.mark.parametrize("name", honesty.problems())
def test_the_share_of_good_settings_is_what_is_stated(name):
    problem = honesty.problems()[name]
    for seed in (0, 1):
        f = problem.make(default_rng([seed, 17]))
        values = f(default_rng(seed).random((20_000, problem.dimension)))
        share, sd = (values >= problem.target).mean(), np.sqrt(max(problem.share, 1e-4) / 20_000)
        assert abs(share - problem.share) <= 5 * sd


def test_a_share_that_the_true_one_exceeds_is_false_and_so_is_a_bad_setting_called_good():
    assert honesty.false(record(stated=0.005))
    assert not honesty.false(record(stated=0.02))
    assert honesty.false(record(verdict="good"))
    assert not honesty.false(record(verdict="good", good=True))
    assert honesty.false(record(verdict="none"))
    assert not honesty.false(record(problem="unreachable 2-d", verdict="none"))


def test_the_sums_below_the_table():
    rows = [record(), record(stated=0.005), record(verdict="good", good=True), record(problem="unreachable 2-d")]
    text = honesty.table(rows)
    assert "`unlikely` whose share is true: 2 of 3 " in text
    assert "gave up (`none`, `unlikely`) where 1 % or more is good: 2 of 3 " in text
    assert "unreachable in 2 and 4 dimensions given up within 400: 1 of 1 " in text
    assert "| bowl 2-d 1 % | 1 % | 3 | 1 (0) | 0 (0) | 2 (1) | 0 | 300 | 1.2% |" in text


def test_reliability_counts_the_moments_of_each_bin():
    rows = [
        record(hopes=[(12, 0.5), (24, 0.01)]),
        record(problem="unreachable 2-d", hopes=[(12, 0.6)]),
        record(problem="peak 2-d 0.5 %", hopes=[(12, 0.01)]),
    ]
    usual, needles = honesty.reliability(rows).values()
    assert usual == [(0.01, 1, 1), (pytest.approx(0.55), 1, 2)]
    assert needles == [(0.01, 1, 1)]
