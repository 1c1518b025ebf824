"""The bench of whole searches under noise: its functions are what it says, and its table counts what it should."""

import sys
from pathlib import Path

import pytest
from numpy.random import default_rng

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import certified


@pytest.mark.parametrize(("name", "good", "times"), [("six", 0.59, 2.6), ("four-2", 0.23, 2), ("four-4", 0.23, 4)])
def test_the_stated_share_is_good_and_the_noise_a_multiple_of_the_spread(name, good, times):
    case = certified.CASES[name]()
    values = case.f(default_rng(0).random((40_000, case.dimension)))
    assert (values >= case.target).mean() == pytest.approx(good, abs=0.01)
    assert case.sd == pytest.approx(times * values.std(), rel=0.02)


def test_nothing_is_good_at_the_edge():
    case = certified.CASES["edge"]()
    values = case.f(default_rng(0).random((10_000, 2)))
    assert (values < case.target).all()
    assert (values > -1e-8).mean() > 0.5


def test_open_runs_count_as_longer_than_all_others_and_false_ones_as_good():
    found = {"case": "six", "method": "tpe", "code": "-", "settings": 9, "candidates": 2}
    runs = [(True, 40, 10.0), (True, 60, None), (True, 50, 10.0), (False, 250, None), (False, 250, None)]
    records = [
        found | {"seed": k, "good": good, "evaluations": n, "limit": limit, "repeats": 20 if good else None}
        for k, (good, n, limit) in enumerate(runs)
    ]
    row = certified.table(records).splitlines()[-1]
    assert row.startswith("| six | tpe | 5 | 3 | 2 (9 to 99 %) | 60 (")
    assert "| 4.5 (" in row
