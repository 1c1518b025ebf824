"""The gates, against integrals over other parametrisations, enumeration and simulation."""

from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.special import logsumexp
from scipy.stats import nct, norm
from scipy.stats import t as student

from satisfice.certificates.eprocess import bar, lower_bound
from satisfice.certificates.gate import (
    BET_LOG_WEIGHTS,
    BETS,
    GAPS,
    LOG_WEIGHTS,
    Bets,
    CautiousGate,
    Course,
    GaussianGate,
    Passes,
    SeenGate,
    StudentGate,
    gate_for,
    student_evidence,
)

VALUES = [
    np.array([0.9]),
    np.array([1.2, -0.4, 0.9]),
    np.array([2.0, 2.5, 0.1, 3.3]),
    np.linspace(-0.2, 0.9, 12),
]
TESTS = [GaussianGate(0.7), StudentGate(), Bets(-4.0, 4.0)]
NAMES = [type(test).__name__ for test in TESTS]


def test_the_weights_are_laws():
    assert np.exp(LOG_WEIGHTS).sum() == pytest.approx(1.0)
    assert np.exp(BET_LOG_WEIGHTS).sum() == pytest.approx(1.0)
    assert (np.diff(GAPS) > 0).all()
    assert (BETS > 0).all()
    assert BETS[-1] == 1


@pytest.mark.parametrize("values", VALUES)
def test_the_gaussian_gate_is_a_mixture_of_likelihood_ratios(values):
    target, sigma = 0.1, 0.7
    ratios = [np.prod(norm.pdf(values, target + d * sigma, sigma) / norm.pdf(values, target, sigma)) for d in GAPS]
    expected = np.log(np.exp(LOG_WEIGHTS) @ ratios)
    assert GaussianGate(sigma).log_evidence(values, target) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("values", VALUES)
def test_the_student_gate_is_a_mixture_of_ratios_of_invariant_densities(values):
    """int prod N(y; target + d sigma, sigma) d sigma / sigma for each gap d, by the trapezoidal rule in log sigma."""
    target, log_sigma = 0.1, np.arange(-12.0, 60.0, 0.004)
    z = (values - target) / np.exp(log_sigma)[:, None]
    logs = [logsumexp((-0.5 * (z - d) ** 2 - log_sigma[:, None]).sum(axis=1)) for d in (0.0, *GAPS)]
    expected = logsumexp(LOG_WEIGHTS + logs[1:] - logs[0])
    x = (values - target).sum() / np.sqrt(((values - target) ** 2).sum())
    assert student_evidence([len(values)], [x])[0] == pytest.approx(expected, abs=1e-9)
    assert StudentGate().log_evidence(values, target) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_where_the_sum_is_negative_the_evidence_is_a_lower_bound(m):
    x = -np.array([0.01, 0.2, 0.9]) * np.sqrt(m)
    found = student_evidence(np.full(3, m), x)
    assert (found <= 0).all()
    assert (np.diff(found) < 0).all()
    for each, value in zip(x, found, strict=True):
        exact = logsumexp(
            [
                weight - m * d * d / 2 + float(mpmath.log(_chi(m, d * each)))
                for weight, d in zip(LOG_WEIGHTS, GAPS, strict=True)
            ]
        )
        assert value <= exact + 1e-9


def _chi(m, a):
    """E exp(a u), u ~ chi_m, for a < 0, by the Hermite function of negative order."""
    with mpmath.workdps(40):
        a = mpmath.mpf(float(a))
        return (
            mpmath.gamma(m)
            * mpmath.exp(a * a / 4)
            * mpmath.pcfu(mpmath.mpf(m) - mpmath.mpf(1) / 2, -a)
            / (mpmath.power(2, mpmath.mpf(m) / 2 - 1) * mpmath.gamma(mpmath.mpf(m) / 2))
        )


@pytest.mark.parametrize("f", [-0.8, -0.2, 0.0])
def test_a_second_value_gains_nothing_on_average_at_or_below_the_target(f):
    """1 >= E[E_1] >= E[E_2], with equality at the target, by the midpoint rule up to twice the largest gap."""
    y = (np.arange(130) - 39.5) / 5
    weights = norm.pdf(y, f) / 5
    one = float(np.exp(mixed(1, y)) @ weights)
    a, b = (each.ravel() for each in np.meshgrid(y, y))
    two = float(np.exp(mixed(2, a + b)) @ np.outer(weights, weights).ravel())
    if f == 0:
        assert [one, two] == [pytest.approx(1.0, abs=1e-6)] * 2
    else:
        assert two < one < 1


def mixed(m, total):
    """log E_m of many gates of known noise at once."""
    return logsumexp(LOG_WEIGHTS + GAPS * total[:, None] - 0.5 * m * GAPS**2, axis=1)


@pytest.mark.parametrize("f", [-1.0, -0.3, 0.0])
@pytest.mark.parametrize("m", [2, 3, 12])
def test_the_student_gate_gains_nothing_on_average_at_or_below_the_target(m, f):
    """At the target the direction of the values is uniform on the sphere; x / sqrt(m) is a Student statistic with m - 1 degrees.

    E[E_m] is the integral over its noncentral distribution, by quantiles of scipy's.
    """
    t = nct(m - 1, np.sqrt(m) * f) if f else student(m - 1)
    levels = (np.arange(400) + 0.5) / 400
    tails = np.concatenate([1e-6 * levels, levels, 1 - 1e-6 * levels])  # the evidence is largest in a tail
    weights = np.concatenate([np.full(400, 1e-6), np.full(400, 1.0), np.full(400, 1e-6)]) / 400
    weights[400:800] *= 1 - 2e-6
    at = t.ppf(tails)
    found = float(np.exp(student_evidence(np.full(1200, m), at * np.sqrt(m / (m - 1 + at**2)))) @ weights)
    assert found <= 1.01
    if f < 0:
        assert found < 1
    elif m <= 3:  # for more values much of the mean lies beyond the quantiles
        assert found > 0.9  # lowered only where the sum is negative


@pytest.mark.parametrize("success", [0.3, 0.6, 0.8])
def test_bets_on_passes_gain_nothing_on_average_at_or_below_the_target(success):
    """The expectation over all outcomes of 8 runs, by enumeration."""
    expected = sum(
        np.exp(Passes(0, 1).log_evidence(np.array(outcome, dtype=float), 0.8))
        * np.prod(np.where(outcome, success, 1 - success))
        for outcome in product([0, 1], repeat=8)
    )
    assert expected == pytest.approx(1.0) if success == 0.8 else expected < 1


def test_bets_within_a_range_gain_nothing_on_average():
    """Four values of a law on three points with the mean at the target, by enumeration; also mirrored."""
    points, weights = np.array([-2.0, 0.5, 3.0]), np.array([0.3, 0.5, 0.2])
    target = float(points @ weights)
    for test, sign in ((Bets(-2.0, 3.0), 1.0), (Bets(-2.0, 3.0).mirrored(), -1.0)):
        expected = sum(
            np.exp(test.log_evidence(sign * points[list(k)], sign * target)) * np.prod(weights[list(k)])
            for k in product(range(3), repeat=4)
        )
        assert expected == pytest.approx(1.0)


@pytest.mark.parametrize("test", TESTS, ids=NAMES)
def test_one_value_after_another_gives_the_same_as_all_at_once(test):
    values = np.clip(default_rng(3).normal(0.4, 1.0, 50), -4, 4)
    course = Course(test, 0.1)
    path = [course.add(value) for value in values]
    for m in (1, 2, 17, 50):
        assert path[m - 1] == pytest.approx(test.log_evidence(values[:m], 0.1) + test.credit, abs=1e-9)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=20), st.floats(-2.9, 2.9), st.floats(0.001, 2))
def test_the_evidence_falls_when_the_target_rises(values, target, more):
    for test in TESTS:
        low, high = (test.log_evidence(np.array(values), t) for t in (target, min(target + more, 3.0)))
        assert high <= low + 1e-6


@pytest.mark.parametrize("test", TESTS, ids=NAMES)
def test_the_lower_bound_is_the_highest_target_that_is_certified(test):
    values = np.clip(default_rng(1).normal(1.0, 0.7, 40), -4, 4)
    bound = lower_bound(test, values, 0.05)
    assert bound < values.mean()
    assert test.log_evidence(values, bound - 1e-6) >= bar(test, 0.05)
    assert test.log_evidence(values, bound + 1e-6) < bar(test, 0.05)


def test_one_value_off_the_end_proves_what_lies_there():
    """Whether the mean is 1 where no value can be more: one fail says no, and no number of passes says yes."""
    test = Passes(0.0, 1.0)
    assert test.log_evidence(np.ones(500), 1.0) < 0.01
    assert test.mirrored().log_evidence(-np.ones(500), -1.0) == 0.0
    assert test.mirrored().log_evidence(-np.array([1.0, 0.0]), -1.0) == np.inf
    course = Course(test.mirrored(), -1.0)
    assert [course.add(value) for value in (-1.0, -1.0, 0.0)] == [pytest.approx(0.0, abs=1e-12)] * 2 + [np.inf]


@pytest.mark.parametrize("scale", [1e-250, 1e-6, 1e6, 1e250])
def test_an_unknown_scale_does_not_matter(scale):
    values = default_rng(0).normal(1.0, 2.0, 20)
    plain, scaled = StudentGate().log_evidence(values, 0.5), Course(StudentGate(), 0.5 * scale)
    assert StudentGate().log_evidence(values * scale, 0.5 * scale) == pytest.approx(plain, rel=1e-9)
    last = [scaled.add(value) for value in values * scale][-1]
    assert last == pytest.approx(plain + StudentGate.credit, rel=1e-9)


@pytest.mark.parametrize("test", TESTS[:2], ids=NAMES[:2])
def test_the_largest_floats_are_evidence(test):
    far = np.full(9, 1.7e308)
    with np.errstate(over="raise", invalid="raise"):
        for sign in (1, -1):
            course = Course(test, -sign * 1.7e308)
            last = [course.add(sign * value) for value in far][-1]
            assert (0 < last < np.inf) if sign == 1 else (-np.inf < last < 0)


def test_without_values_there_is_no_evidence():
    for test in TESTS:
        assert test.log_evidence(np.zeros(0), 0.5) == pytest.approx(0.0, abs=1e-12)


def test_the_gate_suits_the_values():
    rng = default_rng(2)
    few, many = rng.normal(0.0, 1.0, 10), rng.normal(0.0, 1.0, 60)
    assert isinstance(gate_for(few, 0.0)[0], CautiousGate)
    assert isinstance(gate_for(many, 0.0)[0], CautiousGate)
    assert gate_for(many, 0.0)[0].bets.depth == pytest.approx(
        max(4 * many.std(ddof=1), 2 * (many.mean() - many.min()) * 60 / 59)
    )
    assert isinstance(gate_for((rng.random(30) < 0.8).astype(float), 0.5)[0], Passes)
    assert isinstance(gate_for(-rng.exponential(1.0, 60), -2.0)[0], SeenGate)
    assert gate_for(np.full(9, 0.3), 0.0)[0] is None
    cautious = gate_for(few + 1, 0.0)[0]
    student = StudentGate().log_evidence(few + 1, 0.0) + StudentGate.credit
    assert cautious.log_evidence(few + 1, 0.0) == min(student, cautious.bets.log_evidence(few + 1, 0.0))
