"""The tests behind a certificate, against quadrature, enumeration and simulation."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.integrate import dblquad, quad
from scipy.stats import norm, skew

from satisfice.certificates.eprocess import (
    PRIOR,
    Bounded,
    Certificate,
    KnownNoise,
    LearnedNoise,
    bar,
    checked_range,
    level,
    look_skewed,
    lower_bound,
)
from satisfice.errors import BadInput

VALUES = [
    np.array([0.3]),
    np.array([1.2, -0.4, 0.9]),
    np.array([-1.0, -2.5, 0.1, -0.3]),
    np.linspace(-0.2, 0.9, 12),
]
TESTS = [KnownNoise(0.7), LearnedNoise(), Bounded(-3.0, 3.0)]


def half_normal(d):
    return 2 * math.exp(-0.5 * d * d / PRIOR) / math.sqrt(2 * math.pi * PRIOR)


@pytest.mark.parametrize("values", VALUES)
def test_known_noise_is_the_likelihood_ratio_mixed_over_f_above_the_target(values):
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

    def chi(u):
        return u ** (m - 1) * math.exp(-0.5 * u * u) / (2 ** (0.5 * m - 1) * math.gamma(0.5 * m))

    def ratio(u, d):  # given sigma = sqrt(V) / u
        return chi(u) * math.exp(d * x * u - 0.5 * m * d * d) * half_normal(d)

    expected = dblquad(ratio, 0, 12, 0, 30, epsabs=1e-12, epsrel=1e-9)[0]
    assert LearnedNoise().log_evidence(values, target) == pytest.approx(np.log(expected), abs=1e-6)


def test_learned_noise_does_not_depend_on_units():
    values = default_rng(0).normal(1.0, 2.0, 20)
    plain = LearnedNoise().log_evidence(values, 0.5)
    for scale in (1e-300, 1e-6, 1e6, 1e299):
        assert LearnedNoise().log_evidence(values * scale, 0.5 * scale) == pytest.approx(plain, rel=1e-9)
    assert LearnedNoise().log_evidence(values + 7, 7.5) == pytest.approx(plain, rel=1e-9)
    assert LearnedNoise().log_evidence(np.full(4, 0.5), 0.5) == pytest.approx(-0.5 * np.log1p(4 * PRIOR))


@pytest.mark.parametrize("success", [0.3, 0.6, 0.8])
def test_bets_on_passes_gain_nothing_on_average_at_or_below_the_target(success):
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
def test_a_second_value_gains_nothing_on_average_at_or_below_the_target(test, f):
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
def test_optional_stopping_rarely_certifies_a_point_at_the_target(test):
    """2,000 runs of up to 200 looks each at a level of 5 %: the binomial bound for 5 % is 5 % + 3 standard errors."""
    rng = default_rng(5)
    runs, looks, share = (2000, 200, 0.05) if not isinstance(test, Bounded) else (500, 100, 0.05)
    noise = rng.normal(0.0, 0.7, (runs, looks))
    false = 0
    for values in np.clip(noise, -3, 3):
        at = np.unique(np.geomspace(1, looks, 40).astype(int))
        false += any(test.log_evidence(values[:m], 0.0) >= -np.log(share) for m in at)
    assert false / runs <= share + 3 * np.sqrt(share * (1 - share) / runs)


@pytest.mark.parametrize("level", [0.5, 0.05, 0.001])
def test_the_bar_is_right_for_a_truth_at_the_target(level):
    """P0(ever) = E[1 / E_T] under the mixture, from 6,000 points; gaps too small to cross count as exactly at the bar.

    Each term lies between 0 and the level times exp(credit), so the standard error is about 0.3 % of the level.
    """
    rng, n, many, wanted = default_rng(5), 300, 6_000, bar(KnownNoise(1.0), level)
    gaps = np.sqrt(PRIOR) * np.abs(rng.standard_normal(many))
    totals, found = np.zeros(many), np.full(many, wanted)
    live = np.flatnonzero(gaps > np.sqrt(4 * (wanted + 1) / n))
    for m in range(1, n + 1):
        totals[live] += gaps[live] + rng.standard_normal(len(live))
        evidence = of_sums(m, totals[live])
        done = evidence >= wanted
        found[live[done]] = evidence[done]
        live = live[~done]
    error = np.exp(-found)
    assert error.mean() <= level + 3 * error.std() / np.sqrt(many)
    assert error.mean() >= 0.9 * level  # the credit is used


@pytest.mark.parametrize(("f", "sigma"), [(0.0, 1.0), (-0.1, 1.0), (0.0, 0.8)])
def test_points_at_or_below_the_target_rarely_reach_the_lower_bar(f, sigma):
    """4,000 points looked at after each of 400 values at a level of 5 %, with the stated noise and with less."""
    totals = np.cumsum(default_rng(6).normal(f, sigma, (4000, 400)), axis=1)
    ever = (of_sums(np.arange(1, 401), totals) >= bar(KnownNoise(1.0), 0.05)).any(axis=1)
    assert ever.mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)


def of_sums(m, total):
    """log E_m of `KnownNoise(1.0)` for many points at once, from the sums of the distances from the target."""
    w = np.sqrt(PRIOR / (1 + m * PRIOR)) * total
    return np.log(2) - 0.5 * np.log1p(m * PRIOR) + 0.5 * w * w + norm.logcdf(w)


def test_many_points_at_once_have_the_same_evidence():
    values = default_rng(3).normal(0.2, 1.0, (5, 9))
    single = [KnownNoise(1.0).log_evidence(row, 0.0) for row in values]
    assert of_sums(9, values.sum(axis=1)) == pytest.approx(np.array(single), abs=1e-9)


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
    assert test.log_evidence(values, bound - 1e-6) >= bar(test, 0.05)
    assert test.log_evidence(values, bound + 1e-6) < bar(test, 0.05)
    assert lower_bound(LearnedNoise(), values[:1], 0.05) == -np.inf


def test_a_larger_gap_is_certified_sooner_as_the_rate_predicts():
    rng = default_rng(2)
    for test in (KnownNoise(1.0), LearnedNoise()):
        for gap in (0.4, 0.8):
            counts = []
            for _ in range(60):
                values = rng.normal(gap, 1.0, 600)
                hits = (m for m in range(1, 600) if test.log_evidence(values[:m], 0.0) >= -np.log(0.025))
                counts.append(next(hits))
            assert np.median(counts) == pytest.approx(-np.log(0.025) / test.rate(gap, 1.0, 0.0), rel=0.45)


def test_the_levels_sum_to_the_error():
    assert sum(level(0.05, k) for k in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)
    assert level(0.05, 1) == 0.025


def test_skewed_replicates_are_detected_and_gaussian_ones_are_not():
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
        ((0, 0.5), "`target` must lie within `value_range`, 0 to 0.5; got 0.9"),
    ],
)
def test_an_impossible_range_is_refused(given, message):
    with pytest.raises(BadInput, match=message):
        checked_range(given, 0.9)


def test_a_range_is_optional():
    assert checked_range(None, 0.9) is None
    assert checked_range((0, 1), 0.9) == (0.0, 1.0)
    assert Bounded(0, 1).log_evidence(np.array([0.2]), 0.0) == np.inf


def test_without_values_there_is_no_evidence():
    for test in TESTS:
        assert test.log_evidence(np.zeros(0), 0.5) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("test", [KnownNoise(1e-9), LearnedNoise()], ids=lambda test: type(test).__name__)
def test_the_largest_floats_are_evidence(test):
    far = np.full(9, 1.7e308)
    assert 0 < test.log_evidence(far, -1.7e308) < np.inf
    assert -np.inf < test.log_evidence(-far, 1.7e308) < 0


@pytest.mark.parametrize("far", [1e3, 1e6, 1e8, 1.1e9, 3.3e12, 1e30])
def test_many_standard_deviations_below_the_target_are_no_evidence(far):
    """Against 150 digits; two huge terms cancel, and what rounding leaves of them must not certify."""
    values = -far * np.array([1.0, 1.1, 1.3])
    with mpmath.workdps(150):
        w = mpmath.sqrt(mpmath.mpf(PRIOR) / (1 + 3 * mpmath.mpf(PRIOR))) * mpmath.mpf(float(values.sum()))
        tail = mpmath.log(mpmath.erfc(-w / mpmath.sqrt(2))) + w**2 / 2
        expected = float(tail - mpmath.log(1 + 3 * mpmath.mpf(PRIOR)) / 2)
    assert KnownNoise(1.0).log_evidence(values, 0.0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("m", [3, 100, 300, 1000])
@pytest.mark.parametrize("spread", [1e-3, 1.0])
def test_many_values_below_the_target_are_no_evidence_either(m, spread):
    """Against 60 digits; the Student distribution function underflows."""
    values = -1 + spread * default_rng(m).standard_normal(m)
    with mpmath.workdps(60):
        r, total, squares = mpmath.mpf(PRIOR), mpmath.fsum(values), mpmath.fsum(values, squared=True)
        a = r * total**2 / ((1 + m * r) * squares)
        student = mpmath.betainc(mpmath.mpf(m) / 2, mpmath.mpf(1) / 2, 0, 1 - a, regularized=True) / 2
        expected = float(mpmath.log(2 * student) - mpmath.log(1 + m * r) / 2 - m * mpmath.log(1 - a) / 2)
    assert LearnedNoise().log_evidence(values, 0.0) == pytest.approx(expected, rel=1e-9)


def test_rates_are_in_units_of_the_noise():
    assert KnownNoise(1.0).rate(0.5, 2.0, 9.0) == pytest.approx(1 / 32)
    assert LearnedNoise().rate(0.5, 2.0, 9.0) == pytest.approx(np.log(17 / 16) / 2)


def test_the_rate_of_bets_lies_between_its_bounds():
    def least(mean, bar):
        return mean * np.log(mean / bar) + (1 - mean) * np.log((1 - mean) / (1 - bar))

    bets = Bounded(-2.0, 6.0)  # target 2 is the middle, 4 three quarters
    assert bets.rate(2.0, 4.0, 2.0) == pytest.approx(least(0.75, 0.5))
    assert bets.rate(2.0, 1.0, 2.0) == pytest.approx(-np.log(0.5))
    assert bets.rate(1.0, 1.5, 2.0) == pytest.approx(np.log(1 + 1 / 1.5**2) / 2)
    assert bets.rate(1.0, 0.9, 1.0) == pytest.approx(np.log(1 + 1 / 0.81) / 2)
    assert bets.rate(4.0, 9.0, 2.0) == pytest.approx(-np.log(0.5), rel=1e-6)  # the end itself
    assert bets.rate(1e-3, 1.0, -2.0) == pytest.approx(least(1e-3 / 8, 1e-12), rel=1e-6)  # a target that all reach
    assert 0 <= bets.rate(0.0, 1.0, 6.0) < 1e-9


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_the_lower_bound_does_not_depend_on_units(scale):
    values = default_rng(1).normal(1.0, 0.7, 40)
    for test, scaled in ((KnownNoise(0.7), KnownNoise(0.7 * scale)), (LearnedNoise(), LearnedNoise())):
        expected = lower_bound(test, values, 0.05) * scale
        assert lower_bound(scaled, values * scale, 0.05) == pytest.approx(expected, rel=1e-9)


def test_the_lower_bound_of_equal_values_is_found_everywhere():
    still, sway = np.zeros(40), np.tile([-1.0, 1.0], 20)
    assert -0.5 < lower_bound(KnownNoise(0.7), still, 0.05) < 0
    assert -1e-200 < lower_bound(LearnedNoise(), still, 0.05) <= 0
    assert 4.999 < lower_bound(LearnedNoise(), still + 5.0, 0.05) < 5.0
    assert -0.6 < lower_bound(LearnedNoise(), sway, 0.05) < -0.3
    few = lower_bound(KnownNoise(1.0), np.zeros(2), 1e-9)  # many standard deviations away
    assert KnownNoise(1.0).log_evidence(np.zeros(2), few) == pytest.approx(bar(KnownNoise(1.0), 1e-9))


@pytest.mark.parametrize("m", [8, 30])
def test_values_are_skewed_beyond_a_number_of_standard_errors(m):
    line = 2.5 * np.sqrt(6 * (m - 2) / ((m + 1) * (m + 3)))
    even = np.linspace(-1.0, 1.0, m - 1)
    drawn = [np.append(even, far) for far in np.linspace(1.0, 9.0, 4000)]
    skewness = skew(drawn, axis=1)
    found = np.array([look_skewed(values) for values in drawn])
    assert found[skewness > 1.001 * line].all()
    assert not found[skewness < 0.999 * line].any()
    assert 0 < found.sum() < len(found)
    assert look_skewed(-drawn[-1])
    assert not look_skewed(np.zeros(0))


def test_a_certificate_states_its_assumption():
    assert str(Certificate("the objective is noise-free", 1.0, 0, 0.5, 0)) == "the objective is noise-free"
    one = Certificate("valid for Gaussian noise", 0.95, 7, 0.5, 1)
    assert str(one) == "confidence 0.95 by 7 fresh evaluations of it; valid for Gaussian noise"
    third = Certificate("valid for Gaussian noise", 0.95, 1, 0.5, 3, skewed=True)
    assert str(third) == (
        "confidence 0.95 by 1 fresh evaluations of it, the last of 3 candidates; valid for Gaussian noise; but they look skewed: "
        "state value_range for a guarantee without that"
    )


def test_the_bounds_of_the_range_belong_to_it():
    assert checked_range((0, 0.9), 0.9) == (0.0, 0.9)
    assert checked_range((0.9, 1), 0.9) == (0.9, 1.0)
    with pytest.raises(BadInput, match="low < high"):
        checked_range((0.9, 0.9), 0.9)


@pytest.mark.parametrize("values", [[1.7e308] * 8, [1.7e308, -1.7e308] * 4, [2.7e154, 0.0, 2.7e154, 2.7e154]])
def test_values_near_the_largest_float_do_not_overflow(values):
    with np.errstate(over="raise", invalid="raise"):
        assert all(
            lower_bound(test, np.array(values), 0.05) <= max(values) for test in (KnownNoise(0.1), LearnedNoise())
        )
        assert look_skewed(np.array(values)) == look_skewed(np.array(values) / 1e150)
