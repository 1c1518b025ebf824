"""Acquisition formulas against mpmath and quadrature."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.acquisition import formulas as acq

TAILS = [-1e6, -1e4, -9999.0, -300.0, -51.0, -50.0, -49.9, -40.0, -5.0, -1.0, -0.999, 0.0, 3.0, 40.0]


def at(u: float, std: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    return np.array([u * std]), np.array([std])


def log_phi(u):
    return -(mpmath.mpf(u) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2


def exact_log_cdf(u):
    """log Phi(u) by the scaled integral: 1/2 erfc has to be asked for with as many digits as it loses."""
    u = mpmath.mpf(u)
    if u > -300:
        return mpmath.log(mpmath.erfc(-u / mpmath.sqrt(2)) / 2)
    integral = mpmath.quad(lambda t: mpmath.exp(-t - (t / u) ** 2 / 2), [0, 1, 10, 100])
    return log_phi(u) + mpmath.log(integral / -u)


def exact_log_h(u):
    """log(phi(u) + u Phi(u)) by the integral of t phi(u - t) over t > 0, scaled."""
    u = mpmath.mpf(u)
    if u > -30:
        return mpmath.log(mpmath.exp(log_phi(u)) + u * mpmath.erfc(-u / mpmath.sqrt(2)) / 2)
    integral = mpmath.quad(lambda t: t * mpmath.exp(-t - (t / u) ** 2 / 2), [0, 1, 10, 100])
    return log_phi(u) + mpmath.log(integral / u**2)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mpmath.workdps(50):
        yield


@pytest.mark.parametrize("u", TAILS)
def test_log_cdf_and_hazard_equal_high_precision(u):
    log_cdf, hazard = acq.log_cdf_and_hazard(np.array([u]))
    assert log_cdf[0] == pytest.approx(float(exact_log_cdf(u)), rel=1e-12)
    assert hazard[0] == pytest.approx(float(mpmath.exp(log_phi(u) - exact_log_cdf(u))), rel=1e-12)


@pytest.mark.parametrize("u", TAILS)
def test_log_expected_excess_equals_high_precision(u):
    expected = float(exact_log_h(u) + mpmath.log(0.3))
    assert acq.log_expected_excess(*at(u, 0.3), 0.0).value[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("u", TAILS)
def test_derivatives_equal_high_precision(u):
    std = 0.3
    log_cdf, log_h = exact_log_cdf(u), exact_log_h(u)
    score = acq.log_expected_excess(*at(u, std), 0.0)
    assert score.by_mean[0] == pytest.approx(float(mpmath.exp(log_cdf - log_h) / std), rel=1e-11)
    assert score.by_std[0] == pytest.approx(float(mpmath.exp(log_phi(u) - log_h) / std), rel=1e-11)


@pytest.mark.parametrize(("mean", "std", "level"), [(0.2, 1.3, 1.0), (-2.0, 0.4, -1.0), (3.0, 0.5, 1.0)])
def test_plain_forms_equal_quadrature(mean, std, level):
    def density(f):
        return mpmath.npdf(f, mean, std)

    probability = mpmath.quad(density, [level, mean + 4, mean + 12 * std + 4])
    excess = mpmath.quad(lambda f: (f - level) * density(f), [level, mean + 4, mean + 12 * std + 4])
    one = np.array([mean]), np.array([std])
    assert acq.probability_good(*one, level)[0] == pytest.approx(float(probability), rel=1e-12)
    assert np.exp(acq.log_expected_excess(*one, level).value[0]) == pytest.approx(float(excess), rel=1e-12)
    log_probability = acq.log_cdf_and_hazard(acq.standard_score(*one, level).value)[0]
    assert np.exp(log_probability[0]) == pytest.approx(float(probability), rel=1e-12)


@given(st.floats(-1e8, 1e8), st.floats(1e-6, 1e3), st.floats(-1e3, 1e3))
def test_every_score_is_finite_everywhere(mean, std, level):
    one = np.array([mean]), np.array([std])
    u = acq.standard_score(*one, level)
    for score in (u, acq.log_cdf_and_hazard(u.value), acq.log_expected_excess(*one, level)):
        assert np.isfinite(np.concatenate(score)).all()


def test_the_derivatives_of_standard_score_equal_differences():
    mean, std, h = np.array([0.7, -2.0]), np.array([0.4, 1.5]), 1e-6
    value, by_mean, by_std = acq.standard_score(mean, std, 0.3)
    assert value == pytest.approx((mean - 0.3) / std)
    rise = acq.standard_score(mean + h, std, 0.3).value - acq.standard_score(mean - h, std, 0.3).value
    assert by_mean == pytest.approx(rise / (2 * h), rel=1e-8)
    rise = acq.standard_score(mean, std + h, 0.3).value - acq.standard_score(mean, std - h, 0.3).value
    assert by_std == pytest.approx(rise / (2 * h), rel=1e-8)


@pytest.mark.parametrize("shift", [-60.0, -8.0, 0.0, 8.0, 60.0])
def test_mixed_standard_score_is_the_score_of_the_mixed_probability(shift):
    weights, u = [0.5, 0.3, 0.2], [shift, shift + 0.7, shift - 1.1]
    mixed, gradients = acq.mix_standard_scores(np.log(weights), np.array(u)[:, None])
    tail = -1 if shift > 0 else 1  # the small one of the two tails, as a number with all its digits
    small = sum(w * mpmath.exp(exact_log_cdf(tail * v)) for w, v in zip(weights, u, strict=True))
    assert exact_log_cdf(tail * mixed[0]) == pytest.approx(float(mpmath.log(small)), rel=1e-12)
    exact = [w * mpmath.exp(log_phi(v) - log_phi(float(mixed[0]))) for w, v in zip(weights, u, strict=True)]
    assert gradients[:, 0] == pytest.approx([float(value) for value in exact], rel=1e-9)


def test_mixed_logs_are_the_log_of_the_mixed_utility():
    values = np.array([[-800.0, -2.0], [-803.0, -1.0]])
    mixed, shares = acq.mix_logs(np.log([0.25, 0.75]), values)
    for j in range(2):
        terms = [w * mpmath.exp(v) for w, v in zip([0.25, 0.75], values[:, j], strict=True)]
        assert mixed[j] == pytest.approx(float(mpmath.log(sum(terms))), rel=1e-13)
        assert shares[:, j] == pytest.approx([float(term / sum(terms)) for term in terms], rel=1e-10)


@pytest.mark.parametrize("far", [1e5, 1e9, 1e12])
@pytest.mark.parametrize("sign", [-1, 1])
def test_mixed_scores_stay_finite_in_the_tails(far, sign):
    u = sign * np.array([[far, far, 3.0], [far * (1 + 1e-9), 2 * far, far]])
    mixed, gradients = acq.mix_standard_scores(np.log([0.4, 0.6]), u)
    assert np.isfinite(mixed).all()
    assert np.isfinite(gradients).all()
    assert ((gradients >= 0) & (gradients <= 1 + 1e-6)).all()
    assert ((mixed >= u.min(axis=0) * (1 + 1e-9 * -sign) - 1) & (mixed <= u.max(axis=0) * (1 + 1e-9 * sign) + 1)).all()
