"""The tests behind a certificate, against quadrature, enumeration and simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.integrate import dblquad, quad
from scipy.stats import chi, norm

from satisfice.certificate import (
    PRIOR,
    Bounded,
    KnownNoise,
    LearnedNoise,
    checked_range,
    level,
    look_skewed,
    lower_bound,
)
from satisfice.types import BadInput

VALUES = [
    np.array([0.3]),
    np.array([1.2, -0.4, 0.9]),
    np.array([-1.0, -2.5, 0.1, -0.3]),
    np.linspace(-0.2, 0.9, 12),
]
TESTS = [KnownNoise(0.7), LearnedNoise(), Bounded(-3.0, 3.0)]


def half_normal(d):
    return 2 * norm.pdf(d, scale=np.sqrt(PRIOR))


@pytest.mark.parametrize("values", VALUES)
def test_known_noise_is_the_likelihood_ratio_mixed_over_what_lies_above(values):
    target, sigma = 0.1, 0.7

    def ratio(d):
        return np.prod(norm.pdf(values, target + d * sigma, sigma) / norm.pdf(values, target, sigma)) * half_normal(d)

    expected = quad(ratio, 0, 40 * np.sqrt(PRIOR), epsabs=0, epsrel=1e-10, limit=400)[0]
    assert KnownNoise(sigma).log_evidence(values, target) == pytest.approx(np.log(expected), abs=1e-8)


@pytest.mark.parametrize("values", VALUES)
def test_learned_noise_is_the_same_with_the_scale_integrated_out(values):
    target = 0.1
    above = values - target
    x, m = above.sum() / np.sqrt((above**2).sum()), len(values)

    def ratio(u, d):  # given sigma = sqrt(V) / u
        return chi.pdf(u, m) * np.exp(d * x * u - 0.5 * m * d * d) * half_normal(d)

    expected = dblquad(ratio, 0, 12, 0, 30, epsabs=1e-12, epsrel=1e-9)[0]
    assert LearnedNoise().log_evidence(values, target) == pytest.approx(np.log(expected), abs=1e-6)


def test_learned_noise_needs_no_units():
    values = default_rng(0).normal(1.0, 2.0, 20)
    plain = LearnedNoise().log_evidence(values, 0.5)
    for scale in (1e-300, 1e-6, 1e6, 1e299):
        assert LearnedNoise().log_evidence(values * scale, 0.5 * scale) == pytest.approx(plain, rel=1e-9)
    assert LearnedNoise().log_evidence(values + 7, 7.5) == pytest.approx(plain, rel=1e-9)
    assert LearnedNoise().log_evidence(np.full(4, 0.5), 0.5) == pytest.approx(-0.5 * np.log1p(4 * PRIOR))


@pytest.mark.parametrize("success", [0.3, 0.6, 0.8])
def test_bets_on_pass_and_fail_gain_nothing_on_average_while_the_rate_is_not_above_the_target(success):
    """The expectation over all outcomes of 8 trials, by enumeration."""
    target = 0.8
    expected = sum(
        np.exp(Bounded(0, 1).log_evidence(np.array(outcome, dtype=float), target))
        * np.prod(np.where(outcome, success, 1 - success))
        for outcome in product([0, 1], repeat=8)
    )
    assert expected == pytest.approx(1.0) if success == target else expected < 1


@pytest.mark.parametrize("f", [-0.8, -0.2, 0.0])
@pytest.mark.parametrize("test", [KnownNoise(1.0), LearnedNoise()], ids=lambda test: type(test).__name__)
def test_a_second_value_gains_nothing_on_average_while_f_is_not_above_the_target(test, f):
    """E[E_2] <= E[E_1] <= 1, by the midpoint rule."""
    y = f + (np.arange(120) - 59.5) / 10
    weights = norm.pdf(y, f) / 10
    one = sum(w * np.exp(test.log_evidence(np.array([a]), 0.0)) for a, w in zip(y, weights, strict=True))
    two = sum(
        v * w * np.exp(test.log_evidence(np.array([a, b]), 0.0))
        for (a, v), (b, w) in product(zip(y, weights, strict=True), repeat=2)
    )
    assert two <= one + 1e-3
    assert one == pytest.approx(1.0, abs=5e-3) if f == 0 else one < 1


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_looking_after_every_value_certifies_a_point_at_the_target_rarely_enough(test):
    """2,000 runs of up to 200 looks each at a level of 5 %: the binomial bound for 5 % is 5 % + 3 standard errors."""
    rng = default_rng(5)
    runs, looks, share = (2000, 200, 0.05) if not isinstance(test, Bounded) else (500, 100, 0.05)
    noise = rng.normal(0.0, 0.7, (runs, looks))
    false = 0
    for values in np.clip(noise, -3, 3):
        at = np.unique(np.geomspace(1, looks, 40).astype(int))
        false += any(test.log_evidence(values[:m], 0.0) >= -np.log(share) for m in at)
    assert false / runs <= share + 3 * np.sqrt(share * (1 - share) / runs)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=20), st.floats(-2.9, 2.9), st.floats(0.001, 2))
def test_the_evidence_falls_when_the_target_rises(values, target, more):
    for test in TESTS:
        low, high = (test.log_evidence(np.array(values), t) for t in (target, min(target + more, 3.0)))
        assert high <= low + 1e-9


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_the_lower_bound_is_the_highest_target_that_is_certified(test):
    values = np.clip(default_rng(1).normal(1.0, 0.7, 40), -3, 3)
    bound = lower_bound(test, values, 0.05)
    assert bound < values.mean()
    assert test.log_evidence(values, bound - 1e-6) >= -np.log(0.05)
    assert test.log_evidence(values, bound + 1e-6) < -np.log(0.05)
    assert lower_bound(LearnedNoise(), values[:1], 0.05) == -np.inf


def test_a_bigger_gap_is_certified_sooner_and_about_as_soon_as_the_rate_says():
    rng = default_rng(2)
    for test in (KnownNoise(1.0), LearnedNoise()):
        for gap in (0.4, 0.8):
            counts = []
            for _ in range(60):
                values = rng.normal(gap, 1.0, 600)
                hits = (m for m in range(1, 600) if test.log_evidence(values[:m], 0.0) >= -np.log(0.025))
                counts.append(next(hits))
            assert np.median(counts) == pytest.approx(-np.log(0.025) / test.rate(gap, 1.0, 0.0), rel=0.45)


def test_the_shares_of_the_error_sum_to_it():
    assert sum(level(0.05, k) for k in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)
    assert level(0.05, 1) == 0.025


def test_skewed_repeats_are_seen_and_gaussian_ones_are_not():
    rng = default_rng(3)
    assert np.mean([look_skewed(rng.standard_normal(40)) for _ in range(400)]) < 0.03
    assert np.mean([look_skewed(-rng.exponential(1.0, 40)) for _ in range(100)]) > 0.8
    assert not look_skewed(np.array([1.0, 2.0]))
    assert not look_skewed(np.full(20, 3.0))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "a pair"),
        ((1, 0), "low < high"),
        ((0, np.inf), "low < high"),
        (("a", 1), "a pair"),
        ((0, 0.5), "target: 0.9"),
    ],
)
def test_a_range_that_cannot_be_one_is_refused(given, message):
    with pytest.raises(BadInput, match=message):
        checked_range(given, 0.9)


def test_a_range_is_optional():
    assert checked_range(None, 0.9) is None
    assert checked_range((0, 1), 0.9) == (0.0, 1.0)
    assert Bounded(0, 1).log_evidence(np.array([0.2]), 0.0) == np.inf
