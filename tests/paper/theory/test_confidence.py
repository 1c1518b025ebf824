"""Widths: their formulas, and whether their bounds hold as often as they say."""

import numpy as np
import pytest

from satisfice.errors import BadInput
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Stationary
from satisfice.paper.theory.confidence import (
    ConfidenceBounds,
    ConstantWidth,
    RkhsWidth,
    confidence_bounds,
)
from satisfice.paper.theory.functions import draw_known_norm
from satisfice.paper.theory.information import greedy_information_gain
from satisfice.rules.widths import BayesianWidth, DoubledWidth, sqrt_log, sqrt_log_cubed

GRID = np.linspace(0, 1, 40)[:, None]
SE = Stationary("se", np.array([0.2]))
MATERN = Stationary("matern32", np.array([0.3]))
GAIN = greedy_information_gain(SE, 0.25, GRID, 10)


def test_widths_are_their_formulas():
    assert sqrt_log(1) == 0
    assert sqrt_log(20) ** 2 == pytest.approx(np.log(20))
    assert sqrt_log_cubed(7) ** 2 == pytest.approx(np.log(14) ** 3)
    assert BayesianWidth(50, 0.1)(3) ** 2 == pytest.approx(2 * np.log(50 * 9 * np.pi**2 / 0.6))
    assert ConstantWidth(2.5)(9) == 2.5
    width = RkhsWidth(B=2.0, sigma=0.3, failure=0.05, gain=GAIN)
    assert width(1) == pytest.approx(2 + 0.3 / 0.5 * np.sqrt(2 * np.log(20)))
    assert width(11) == pytest.approx(2 + 0.3 / 0.5 * np.sqrt(2 * (GAIN.upper[10] + np.log(20))))
    assert (np.diff([width(t) for t in range(1, 12)]) > 0).all()


def test_a_width_beyond_the_gain_says_how_long_the_gain_must_be():
    with pytest.raises(BadInput, match=r"ends at 10 rounds; got 12\. Compute the gain for T = 11"):
        RkhsWidth(B=2.0, sigma=0.3, failure=0.05, gain=GAIN)(12)


@pytest.mark.parametrize(
    "width", [sqrt_log, sqrt_log_cubed, ConstantWidth(1.0), BayesianWidth(5, 0.1), RkhsWidth(1.0, 0.1, 0.1, GAIN)]
)
def test_rounds_are_counted_from_one(width):
    with pytest.raises(BadInput, match="counted from 1"):
        width(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ConstantWidth(-1.0),
        lambda: BayesianWidth(0, 0.1),
        lambda: BayesianWidth(5, 0.0),
        lambda: RkhsWidth(1.0, 0.1, 1.0, GAIN),
        lambda: RkhsWidth(-1.0, 0.1, 0.1, GAIN),
        lambda: RkhsWidth(1.0, np.nan, 0.1, GAIN),
    ],
)
def test_settings_that_give_no_width_are_refused(make):
    with pytest.raises(BadInput, match=r"must be|wanted"):
        make()


def test_bounds_lie_a_width_of_deviations_around_the_mean():
    bounds = confidence_bounds(np.array([1.0, -2.0]), np.array([0.5, 0.25]), 4.0)
    np.testing.assert_array_equal(bounds.lower, [-1.0, -3.0])
    np.testing.assert_array_equal(bounds.upper, [3.0, -1.0])
    assert bounds.contain(np.array([3.0, -3.0]))
    assert not bounds.contain(np.array([3.1, -2.0]))
    assert not bounds.contain(np.array([3.0, -3.1]))


def test_intersected_bounds_are_the_best_of_all_rounds():
    rng = np.random.default_rng(0)
    rounds = [ConfidenceBounds(*np.sort(rng.standard_normal((2, 6)), axis=0)) for _ in range(8)]
    folded = rounds[0]
    for bounds in rounds[1:]:
        folded = folded.intersected(bounds)
    np.testing.assert_array_equal(folded.lower, np.max([bounds.lower for bounds in rounds], axis=0))
    np.testing.assert_array_equal(folded.upper, np.min([bounds.upper for bounds in rounds], axis=0))


def test_doubled_width_is_halved_after_the_given_round():
    width = DoubledWidth(sqrt_log, rounds=4)
    assert [width(t) for t in (3, 4, 5)] == [2 * sqrt_log(3), 2 * sqrt_log(4), sqrt_log(5)]


def holds_always(values, kernel, lam, sigma, width, T, rng):
    """Whether the bounds of every round 1, ..., T contain the values of f on the whole grid.

    Asked are points at random or, every second time, the most uncertain one.
    """
    posterior = GridPosterior.on(GRID, kernel, lam, np.empty((0, 1)), np.empty(0))
    for t in range(1, T + 1):
        mean, std = posterior.marginal(posterior.points)
        if not confidence_bounds(mean, std, width(t)).contain(values):
            return False
        index = int(np.argmax(std)) if rng.random() < 0.5 else int(rng.integers(len(GRID)))
        posterior = posterior.extend(GRID[index], values[index] + sigma * rng.standard_normal())
    return True


@pytest.mark.parametrize(
    ("kernel", "lam", "sigma", "B_said", "sigma_said"),
    [(SE, 0.04, 0.2, 1.0, 0.0), (SE, 1.0, 0.02, 0.5, 0.02), (MATERN, 1.0, 0.1, 0.5, 0.1)],
)
def test_rkhs_bounds_hold_in_nearly_all_runs_and_break_for_understated_noise_or_norm(
    kernel, lam, sigma, B_said, sigma_said
):
    gain = greedy_information_gain(kernel, lam, GRID, 60).tightened()
    width, too_small = RkhsWidth(1.0, sigma, 0.1, gain), RkhsWidth(B_said, sigma_said, 0.1, gain)
    held, broken = 0, 0
    for seed in range(200):
        rng = np.random.default_rng([7, seed])
        f = draw_known_norm(kernel, 1.0, 1, rng, centres=5)(GRID)
        held += holds_always(f, kernel, lam, sigma, width, 60, rng)
        broken += not holds_always(f, kernel, lam, sigma, too_small, 60, rng)
    assert held >= 180
    assert broken > 100


def test_bayesian_bounds_hold_in_nearly_all_draws_and_break_at_a_third_of_the_width():
    sigma, draw = 0.2, np.linalg.cholesky(SE(GRID, GRID) + 1e-10 * np.eye(len(GRID)))
    width = BayesianWidth(len(GRID), 0.1)
    held, broken = 0, 0
    for seed in range(200):
        rng = np.random.default_rng([8, seed])
        f = draw @ rng.standard_normal(len(GRID))
        held += holds_always(f, SE, sigma**2, sigma, width, 30, rng)
        broken += not holds_always(f, SE, sigma**2, sigma, lambda t: width(t) / 3, 30, rng)
    assert held >= 180
    assert broken > 100


def test_doubled_bounds_intersected_over_time_shrink_and_hold():
    gain = greedy_information_gain(SE, 0.04, GRID, 60)
    width = DoubledWidth(RkhsWidth(1.0, 0.2, 0.1, gain), rounds=30)
    rng = np.random.default_rng(5)
    values = draw_known_norm(SE, 1.0, 1, rng)(GRID)
    posterior = GridPosterior.on(GRID, SE, 0.04, np.empty((0, 1)), np.empty(0))
    kept = confidence_bounds(*posterior.marginal(posterior.points), width(1))
    spans = []
    for t in range(2, 61):
        index = int(np.argmax(kept.upper))
        posterior = posterior.extend(GRID[index], values[index] + 0.2 * rng.standard_normal())
        kept = kept.intersected(confidence_bounds(*posterior.marginal(posterior.points), width(t)))
        spans.append(kept.upper - kept.lower)
    assert kept.contain(values)
    assert (np.diff(spans, axis=0) <= 0).all()
    assert spans[29].mean() < 0.8 * spans[28].mean()  # round 31 is the first with the plain width
