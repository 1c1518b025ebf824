"""Failures by chance are told from settings that always fail."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, Finite, Search
from satisfice.search.failures import MOST, TRIES, gain, overall_rate, poor, success_rate, tries


def test_the_rate_of_success_is_the_smoothed_share():
    rng = default_rng(0)
    at, good, bad = rng.random((4, 2)), rng.random((7, 2)), rng.random((3, 2))

    def k(x, z):
        return np.exp(-((x - z) ** 2).sum() / (2 * 2 * 0.1**2))

    overall = 8 / 12
    expected = [(overall + sum(k(x, z) for z in good)) / (1 + sum(k(x, z) for z in [*good, *bad])) for x in at]
    assert success_rate(at, good, bad) == pytest.approx(expected)
    assert overall_rate(7, 3) == pytest.approx(overall)


def test_a_region_that_always_fails_is_written_off_and_chance_is_not():
    rng = default_rng(1)
    U = rng.random((60, 2))
    region = U[:, 0] < 0.3
    assert poor(U[~region], U[region]).mean() > 0.9
    assert gain(U[~region], U[region]) > 5
    chance = rng.random(60) < 0.33
    assert poor(U[~chance], U[chance]).mean() < 0.1
    assert gain(U[~chance], U[chance]) < 0


def test_a_point_is_given_up_after_more_failures_where_failures_are_common():
    assert tries(50, 0) == TRIES
    assert tries(20, 20) == 6
    assert tries(0, 30) == MOST
    for succeeded, failed in ((20, 20), (20, 10)):
        assert (1 - overall_rate(succeeded, failed)) ** tries(succeeded, failed) <= 0.02


def test_the_latest_evaluations_count_in_their_proportion():
    """Failures came first, in one corner; the latest ones, all over, are by chance."""
    rng = default_rng(2)
    failed = np.vstack([0.05 * rng.random((500, 2)), rng.random((500, 2))])
    succeeded = rng.random((1000, 2))
    assert gain(succeeded, failed) == gain(succeeded[-500:], failed[-500:]) < 0
    assert poor(succeeded, failed)[500:].mean() < 0.1


def test_many_evaluations_of_many_dimensions_take_little_memory():
    rng = default_rng(3)
    succeeded, failed = rng.random((3000, 50)), rng.random((600, 50))
    tracemalloc.start()
    poor(succeeded, failed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def spent(rate, seed, noise):
    rng = default_rng([seed, 5])
    search = Search(Box([(-1, 1), (-1, 1)]), -0.05, noise=noise, seed=seed)
    for count in range(200):
        if search.answer().verdict == "good":
            return count
        x = search.ask()
        if rng.random() < rate:
            search.fail(x)
        else:
            search.tell(x, -float(((x - 0.3) ** 2).sum()))
    return 200


def test_failures_by_chance_cost_what_they_must():
    seeds = range(12)
    without = np.mean([spent(0.0, seed, 0) for seed in seeds])
    assert np.mean([spent(0.33, seed, 0) for seed in seeds]) <= 1.3 * without / 0.67 + 1


@pytest.mark.parametrize("fails", [{1}, {2}, {1, 2}])
def test_a_chance_failure_does_not_end_the_search_of_a_finite_domain(fails):
    search = Search(Finite([[0.0], [1.0]]), 4.0, noise=0)
    for count in range(1, 8):
        if search.answer().verdict != "open":
            break
        x = search.ask()
        if count in fails:
            search.fail(x)
        else:
            search.tell(x, 5.0 * x[0])
    assert search.answer().verdict == "good"


def test_settings_that_always_fail_are_not_asked_again_before_all_others():
    search, asked = Search(Box([(0, 69)], integers=[0]), 100.0, noise=0, seed=1, give_up=False), Counter()
    for _ in range(55):
        x = search.ask()
        if x[0] % 5 == 0:
            search.fail(x)
            asked[float(x[0])] += 1
        else:
            search.tell(x, float(np.sin(x[0])))
    assert max(asked.values()) <= 2
    assert asked.total() <= 22


def test_a_region_that_always_fails_is_left():
    search = Search(Box([(0, 1), (0, 1)]), 0.95, noise=0, seed=3)
    failed = 0
    for _ in range(60):
        if search.answer().verdict == "good":
            break
        x = search.ask()
        if x[0] > 0.7:  # the higher the better, but from there on nothing works
            search.fail(x)
            failed += 1
        else:
            search.tell(x, float(x[0]) - float((x[1] - 0.5) ** 2) + 0.3)
    assert search.answer().verdict == "good"
    assert failed <= 15
