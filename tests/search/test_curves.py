"""Extrapolated learning curves, against dense algebra and against curves whose end is known."""

import itertools
import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import multivariate_normal, norm

from satisfice.search.curves import (
    LEAST,
    NOISES,
    POWERS,
    SPANS,
    Curve,
    CurveModel,
    Forecast,
    Prior,
    extrapolate,
    shapes,
)

LAST = 50


def curve_of(rng, noise=(0.003, 0.02), last=LAST):
    """A random curve of one of the families."""
    t = np.arange(1.0, last + 1)
    if rng.random() < 0.5:
        b = rng.uniform(0.2, 1.5)
        psi = (t**-b - last**-b) / (1 - last**-b)
    else:
        rate = 1 / (rng.uniform(0.05, 0.6) * last)
        psi = (np.exp(-rate * t) - np.exp(-rate * last)) / (np.exp(-rate) - np.exp(-rate * last))
    final, rise = rng.normal(0.8, 0.08), rng.uniform(0.2, 0.6)
    return Curve(t, final - rise * psi + rng.uniform(*noise) * rng.standard_normal(last))


def first(curve, count):
    return Curve(curve.steps[:count], curve.values[:count])


def test_shapes_are_one_at_the_first_step_and_zero_at_the_last():
    found = shapes(np.array([1.0, 10.0, 50.0]), 50.0)
    assert found.shape == (len(POWERS) + len(SPANS), 3)
    assert found[:, 0] == pytest.approx(1.0)
    assert found[:, 2] == pytest.approx(0.0, abs=1e-12)
    assert ((found[:, 1] > 0) & (found[:, 1] < 1)).all()
    assert found[POWERS.index(1.0), 1] == pytest.approx((1 / 10 - 1 / 50) / (1 - 1 / 50))


def test_the_forecast_is_the_average_over_shapes_and_noises_by_dense_algebra():
    curve, scale = first(curve_of(default_rng(0)), 9), 0.7
    mean, C = np.array([0.9, 0.4]), np.array([[0.5, 0.1], [0.1, 0.3]])
    log_weights = np.log(default_rng(1).dirichlet(np.ones(len(POWERS + SPANS) * len(NOISES)))).reshape(-1, len(NOISES))
    forecast, weights = extrapolate(curve, LAST, scale, Prior(mean, C, log_weights))
    psi, y = shapes(curve.steps, LAST), curve.values / scale
    logs, means, stds = [], [], []
    for k, s in itertools.product(range(len(psi)), range(len(NOISES))):
        X = np.column_stack([np.ones(9), -psi[k]])
        V = X @ C @ X.T + NOISES[s] ** 2 * np.eye(9)
        logs.append(log_weights[k, s] + multivariate_normal(X @ mean, V).logpdf(y))
        gain = (C @ X.T @ np.linalg.inv(V))[0]
        means.append(mean[0] + gain @ (y - X @ mean))
        stds.append(math.sqrt(C[0, 0] - gain @ (X @ C)[:, 0] + NOISES[s] ** 2))
    expected = np.exp(np.array(logs) - max(logs))
    expected /= expected.sum()
    assert weights.ravel() == pytest.approx(expected, rel=1e-6, abs=1e-12)
    target = 0.85
    probability = expected @ norm.sf(target, scale * np.array(means), scale * np.array(stds))
    assert forecast.probability(target) == pytest.approx(probability, rel=1e-6)
    assert forecast.mean == pytest.approx(scale * expected @ means, rel=1e-6)


def test_a_forecast_has_the_moments_of_its_mixture():
    forecast = Forecast(np.array([0.25, 0.75]), np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    assert forecast.mean == 0.75
    assert forecast.std == pytest.approx(math.sqrt(0.25 * 1 + 0.75 * 0.25 + 0.25 * 0.75))


def outcomes(earlier, seeds, counts=(5, 10, 25)):
    """Forecasts of random curves after some of their values: the probabilities of the target, and whether it was reached."""
    probabilities, ends = [], []
    for seed in range(seeds):
        rng = default_rng([7, seed])
        model = CurveModel([curve_of(rng) for _ in range(earlier)], LAST)
        for _ in range(10):
            curve = curve_of(rng)
            for count in counts:
                probabilities.append(model.forecast(first(curve, count)).probability(0.85))
                ends.append(curve.values[-1] >= 0.85)
    return np.array(probabilities), np.array(ends)


@pytest.mark.slow
def test_the_probabilities_are_calibrated():
    probabilities, ends = outcomes(earlier=20, seeds=30)
    for low, high in ((0.0, 0.05), (0.05, 0.35), (0.35, 0.65), (0.65, 0.95), (0.95, 1.01)):
        chosen = (probabilities >= low) & (probabilities < high)
        # the three forecasts of a curve depend on each other: intervals for a third of them
        allowed = 3 * math.sqrt(0.25 / (chosen.sum() / 3)) if low > 0 and high < 1 else 0.08
        assert abs(ends[chosen].mean() - probabilities[chosen].mean()) < allowed


def stopped(model, curve, target, error=0.05):
    """After how many values a run is stopped; None if it is not."""
    counts = range(1, len(curve.values))
    return next((k for k in counts if model.is_hopeless(first(curve, k), target, error)), None)


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [4, 20])
def test_few_good_runs_are_stopped_and_most_hopeless_ones(earlier):
    good = wrongly = bad = rightly = 0
    for seed in range(20):
        rng = default_rng([11, seed])
        model = CurveModel([curve_of(rng) for _ in range(earlier)], LAST)
        for _ in range(15):
            curve = curve_of(rng)
            ends_well, when = curve.values[-1] >= 0.85, stopped(model, curve, 0.85)
            good, wrongly = good + ends_well, wrongly + (ends_well and when is not None)
            bad, rightly = bad + (not ends_well), rightly + (not ends_well and when is not None)
    assert good > 60
    assert wrongly <= 0.05 * good + 3 * math.sqrt(0.05 * 0.95 * good)
    assert rightly >= 0.6 * bad


def test_a_flat_bad_run_is_stopped_early_and_a_rising_one_is_not():
    rng = default_rng(3)
    model = CurveModel([curve_of(rng) for _ in range(8)], LAST)
    t = np.arange(1.0, LAST + 1)
    flat = Curve(t, 0.4 + 0.003 * rng.standard_normal(LAST))
    rising = Curve(t, 0.95 - 0.5 * (t**-0.7 - LAST**-0.7) / (1 - LAST**-0.7))
    assert LEAST <= stopped(model, flat, 0.9) <= 15
    assert stopped(model, rising, 0.9) is None


def test_few_values_and_complete_runs_are_never_stopped():
    model = CurveModel([], LAST)
    t = np.arange(1.0, LAST + 1)
    bad = Curve(t, np.zeros(LAST))
    assert not model.is_hopeless(first(bad, LEAST - 1), 100.0, 0.05)
    assert not model.is_hopeless(bad, 100.0, 0.05)


def test_units_do_not_matter():
    rng = default_rng(5)
    curves, run = [curve_of(rng) for _ in range(5)], first(curve_of(rng), 8)
    plain = CurveModel(curves, LAST).forecast(run).probability(0.85)
    scaled = CurveModel([Curve(t, 1e6 * y) for t, y in curves], LAST).forecast(Curve(run.steps, 1e6 * run.values))
    assert scaled.probability(0.85e6) == pytest.approx(plain, rel=1e-9)


def test_earlier_extrapolations_that_were_off_widen_the_forecast():
    rng = default_rng(6)
    jump = np.where(np.arange(LAST) < 30, 0.0, 1.0)  # no family has a late jump
    smooth = [curve_of(rng) for _ in range(10)]
    jumping = [Curve(each.steps, each.values + jump * rng.uniform(-1, 1)) for each in smooth]
    assert CurveModel(jumping, LAST).width(10) > CurveModel(smooth, LAST).width(10)
    assert CurveModel(smooth, LAST).width(10) == pytest.approx(1.0, abs=0.5)


def test_constant_curves_have_a_forecast():
    flat = [Curve(np.arange(1.0, 11), np.full(10, 3.0)) for _ in range(4)]
    forecast = CurveModel(flat, 10.0).forecast(first(flat[0], 5))
    assert np.isfinite([forecast.mean, forecast.std]).all()
    assert forecast.probability(2.0) > 0.5
