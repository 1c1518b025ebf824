"""The choice of the test by the values that came: which shape is seen, and that what is chosen holds."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom, skew

from satisfice.certificates.eprocess import Bounded, LearnedNoise, lower_bound
from satisfice.certificates.shape import FEW, Gaussian, RangeSeen, Rate, choose, pooled

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import value_shapes

POOL = value_shapes.POOLS["10 to 30 settings of 2 to 5"]


def test_one_setting_shows_the_moments_that_scipy_computes():
    y = default_rng(0).gamma(2.0, size=40)
    found = pooled(np.zeros(40), y)
    n = len(y)
    assert found.sd == pytest.approx(y.std(ddof=1))
    third = skew(y, bias=False) * y.std(ddof=1) ** 3  # the unbiased third cumulant
    assert found.skewness == pytest.approx(third / found.sd**3 / np.sqrt(6 * n / ((n - 1) * (n - 2))))
    others = (y.sum() - y) / (n - 1)
    assert found.shortfall == pytest.approx((others - y).max())
    assert (found.values, found.settings, found.freedom, found.tied) == (40, 1, 39, 0)


def test_levels_and_units_of_the_settings_make_no_difference():
    rng = default_rng(1)
    settings = rng.integers(0, 12, 60)
    y = rng.exponential(size=60)
    one, other = pooled(settings, y), pooled(settings, 1e150 * (y + 5.0 * settings))
    assert other.skewness == pytest.approx(one.skewness, rel=1e-6)
    assert other.shortfall == pytest.approx(1e150 * one.shortfall, rel=1e-6)
    assert other.sd == pytest.approx(1e150 * one.sd, rel=1e-6)


def test_gaussian_residuals_have_a_skewness_of_standard_deviation_one():
    rng = default_rng(2)
    settings = np.repeat(np.arange(15), rng.integers(2, 6, 15))
    drawn = [pooled(settings, rng.standard_normal(len(settings)) + settings) for _ in range(2000)]
    assert np.std([each.skewness for each in drawn]) == pytest.approx(1, abs=0.12)
    assert np.mean([each.unusual for each in drawn]) < 0.04


def test_settings_with_one_value_show_nothing():
    found = pooled(np.arange(5), np.arange(5.0))
    assert (found.values, found.freedom, found.sd) == (0, 0, 0)


def test_pairs_that_are_equal_are_counted_within_settings_only():
    assert pooled([0, 0, 0, 1, 1, 2], [1.0, 1.0, 2.0, 1.0, 3.0, 1.0]).tied == pytest.approx(1 / 4)


@pytest.mark.parametrize("law", [(0.7, 1.0, -2.0), (0.9, 0.5, -4.5), (0.2, 2.0, -0.5)])
def test_bets_within_the_depth_do_not_gain_at_or_below_the_target(law):
    """All sequences of two values, of mean 0 or below, the lower one no more than the depth short of it."""
    p, up, down = law
    for below in (0.0, 0.4, 2.0, 30.0):
        depth = max(p * up + (1 - p) * down - down, 0.1)
        outcomes = [(up - below, p), (down - below, 1 - p)]
        mean = sum(value * chance for value, chance in outcomes)
        target = mean + below
        bets = RangeSeen(depth)
        for m in (1, 5):
            expected = sum(
                np.prod([chance for _, chance in path])
                * np.exp(bets.log_evidence(np.array([v for v, _ in path]), target))
                for path in product(outcomes, repeat=m)
            )
            assert expected <= 1 + 1e-9


def test_bets_within_the_depth_are_those_of_a_stated_range():
    y = default_rng(3).uniform(-1, 3, 20)
    assert RangeSeen(2.0).log_evidence(y, 1.0) == pytest.approx(Bounded(-1.0, 3.0).log_evidence(y, 1.0))
    assert lower_bound(RangeSeen(2.0), y + 2, 0.05) > -np.inf
    assert RangeSeen(2.0).log_evidence(np.array([-50.0]), 1.0) < 0


def test_the_rate_of_bets_is_about_what_they_earn():
    rng = default_rng(4)
    for gap, sigma, depth in ((0.5, 1.0, 5.0), (3.0, 1.0, 5.0), (1.0, 3.0, 8.0)):
        bets = RangeSeen(depth)
        earned = np.mean([bets.log_evidence(gap + sigma * rng.standard_normal(400), 0.0) for _ in range(20)]) / 400
        assert 0.6 * earned < bets.rate(gap, sigma, 0.0) < 1.6 * earned


def test_passes_and_fails_are_a_rate_and_need_no_range():
    found = choose([0, 0, 1], [1.0, 0.0, 1.0], 0.9)
    assert (found.shape, found.test) == ("rate", Rate(0.0, 1.0))
    assert choose([0], [0.0], 0.9).test == Rate(0.0, 1.0)
    assert choose([0, 1], [-1.0, 0.0], -0.1).test == Rate(-1.0, 0.0)  # a rate of fails, to be minimised
    assert choose([0, 0], [1.0, 1.0], 1.0).test is None
    assert choose([0, 0, 1], [1.0, 0.0, 0.5], 0.9).shape != "rate"


def test_values_that_never_differ_give_no_test():
    found = choose([0, 0, 1, 1], [3.0, 3.0, 5.0, 5.0], 4.0)
    assert (found.shape, found.test) == ("unknown", None)


def test_a_pile_at_the_best_value_is_a_bound():
    rng = default_rng(5)
    settings = np.repeat(np.arange(10), 3)
    found = choose(settings, np.minimum(rng.exponential(800, 30), 500.0), 475.0)
    assert found.shape == "pile"
    assert isinstance(found.test, RangeSeen)
    assert found.test.depth > 400


def test_coarse_values_and_tails_are_seen():
    rng = default_rng(6)
    settings = np.repeat(np.arange(20), 4)
    assert choose(settings, np.round(settings + 0.6 * rng.standard_normal(80)), 3.0).shape == "coarse"
    assert choose(settings, settings - rng.exponential(size=80), 3.0).shape == "skewed"
    assert choose(settings, settings + rng.exponential(size=80), 3.0).shape in ("gaussian", "skewed")  # harmless
    assert choose(settings[:6], rng.standard_normal(6), 3.0).shape == "few"


def test_gaussian_values_get_the_gaussian_test_and_its_words_are_numbers_of_what_was_seen():
    settings = np.repeat(np.arange(12), 4)
    y = default_rng(8).standard_normal(48)
    found = choose(settings, y, 1.0)
    assert found.shape == "gaussian"
    assert isinstance(found.test, Gaussian)
    assert found.test.log_evidence(y[:9], -1.0) == LearnedNoise().log_evidence(y[:9], -1.0)
    words = found.test.guarantee
    assert "48 repeated values at 12 settings" in words
    share = float(words.split("fewer than ")[1].split(" %")[0]) / 100
    assert binom.pmf(0, 48, share) == pytest.approx(0.05, rel=0.05)  # what is rarer would not have shown


def test_few_values_must_pass_both_tests():
    y = np.array([0.1, 0.9, 0.5, 0.7])
    found = choose(np.zeros(4), y, 0.2)
    assert found.shape == "few"
    assert found.test.log_evidence(y, 0.2) <= LearnedNoise().log_evidence(y, 0.2)
    assert pooled(np.zeros(4), y).freedom < FEW


@pytest.mark.parametrize(
    "name",
    ["pass or fail, p = 0.95", "capped exponential, scale 8000", "negative lognormal", "disasters of 5 %, 30 sd"],
)
def test_what_is_chosen_holds_at_the_boundary(name):
    draw, mean = value_shapes.SHAPES[name]
    runs = 60
    found = [value_shapes.certified_after(draw, mean + 1e-9, default_rng([7, seed]), POOL, 120) for seed in range(runs)]
    false = sum(chosen is not None for chosen, _, _ in found)
    assert false <= binom.ppf(0.999, runs, 0.05)
    assert false < sum(gaussian is not None for _, gaussian, _ in found) - 5


def test_gaussian_noise_needs_few_values_more():
    found = [
        value_shapes.certified_after(value_shapes.SHAPES["Gaussian"][0], -1.0, default_rng([8, seed]), POOL, 400)
        for seed in range(60)
    ]
    ratio = np.mean([chosen for chosen, _, _ in found]) / np.mean([gaussian for _, gaussian, _ in found])
    assert ratio < 1.2  # 1.05 over many
