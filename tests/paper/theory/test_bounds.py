"""Regret bounds: the lemma on sampled variances, Theorems 1 to 3, and their rates."""

from dataclasses import replace
from itertools import combinations_with_replacement
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.errors import BadInput
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Stationary
from satisfice.paper.theory.bounds import (
    MaternRates,
    SERates,
    c_1,
    c_2,
    elimination_bounds,
    hard_rounds,
    lower_bounds,
    sharp_c_1,
    sharp_c_2,
    ucb_bounds,
)
from satisfice.paper.theory.confidence import ConstantWidth, RkhsWidth
from satisfice.paper.theory.hard_class import CountMatern, CountSE
from satisfice.paper.theory.information import greedy_information_gain, information_gain
from satisfice.rules.widths import sqrt_log_cubed

SE = Stationary("se", np.array([0.3]))
MATERN = Stationary("matern32", np.array([0.3]))
KERNELS = [SE, MATERN, Stationary("matern12", np.array([0.2]), 0.8)]
GRID = np.linspace(0, 1, 101)[:, None]


def sampled_variances(kernel, lam, points, sequence):
    """sigma_{t-1}^2(x_t) along a sequence of indices of points."""
    posterior = GridPosterior.on(points, kernel, lam, np.empty((0, points.shape[1])), np.empty(0))
    variances = []
    for index in sequence:
        variances.append(posterior.marginal(posterior.points).std[index] ** 2)
        posterior = posterior.extend(points[index], 0.0)
    return np.array(variances)


def test_constants():
    assert c_1(1.0) == sharp_c_1(1.0) == pytest.approx(8 / log(2))
    assert c_2(0.01) == pytest.approx(200 / log(101))
    assert sharp_c_1(0.01) == pytest.approx(8 / log(101))
    assert c_2(4.0) == sharp_c_2(4.0) == pytest.approx(2 / log(1.25))


def test_the_printed_constant_is_too_small_for_lam_above_one():
    lam = 2.0
    gamma_1 = information_gain(SE, lam, GRID[:1])
    assert 1.0 > 2 / lam / log(1 + 1 / lam) * gamma_1  # sigma_0^2(x_1) = 1
    assert pytest.approx(c_2(lam) * gamma_1) == 1.0


@given(st.integers(0, 2**32 - 1), st.sampled_from(KERNELS), st.sampled_from([0.01, 0.3, 2.0]))
def test_sampled_variances_of_any_subset_of_rounds_sum_to_at_most_c2_gamma(seed, kernel, lam):
    rng = np.random.default_rng(seed)
    points = rng.random((10, 2))
    variances = sampled_variances(kernel, lam, points, rng.integers(10, size=25))
    gain = greedy_information_gain(kernel, lam, points, 25).tightened()
    for N in range(1, 26):
        subset = rng.choice(25, size=N, replace=False)
        bound = sharp_c_2(lam) * gain.upper[N] * (1 + 1e-9)
        assert variances[subset].sum() <= bound <= c_2(lam) * gain.upper[N] * (1 + 1e-8)
        assert np.sort(variances)[-N:].sum() <= bound  # the worst subset


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("lam", [0.01, 1.0, 3.0])
def test_the_lemma_holds_with_the_exact_gamma_and_no_smaller_constant_will_do(kernel, lam):
    rng = np.random.default_rng(11)
    points = rng.random((4, 1))
    gamma = [
        max(information_gain(kernel, lam, points[list(w)]) for w in combinations_with_replacement(range(4), N))
        for N in range(1, 7)
    ]
    tightest = 0.0
    for _ in range(60):
        variances = np.sort(sampled_variances(kernel, lam, points, rng.integers(4, size=6)))[::-1]
        ratios = variances.cumsum() / (sharp_c_2(lam) * np.array(gamma))
        tightest = max(tightest, ratios.max())
    assert tightest <= 1 + 1e-9
    if kernel.variance == 1:
        assert tightest == pytest.approx(1.0)  # a single first value reaches the bound


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("delta", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("constant", [c_1, sharp_c_1])
def test_bounds_are_the_theorems_searched_one_n_at_a_time(kernel, delta, constant):
    lam, B, T, H, C = 0.5, 1.5, 70, 300, constant(0.5)
    gain = greedy_information_gain(kernel, lam, GRID, H).tightened()
    width = RkhsWidth(B, 0.05, 0.1, gain)
    first = max((N for N in range(1, H + 1) if N <= C * gain.upper[N] * width(T) ** 2 / delta**2), default=0)
    ucb = ucb_bounds(gain, width, delta, T, constant)
    assert (ucb.indicator, ucb.horizon, ucb.settled) == (first, T, first < H)
    assert ucb.gap == ucb.hinge == pytest.approx(C * gain.upper[first] * width(T) ** 2 / delta)
    second = max((N for N in range(1, H + 1) if N <= 4 * C * gain.upper[N] * width(N) ** 2 / delta**2), default=0)
    elimination = elimination_bounds(gain, width, delta, B, constant)
    assert (elimination.indicator, elimination.settled) == (second, second < H)
    assert elimination.horizon == (inf if second < H else H)
    expected = 2 * B + 8 * C * gain.upper[second] * width(second) ** 2 / delta
    assert elimination.gap == elimination.hinge == pytest.approx(expected)


@pytest.mark.parametrize("delta", [1.0, 2.0])
@pytest.mark.parametrize("constant", [c_1, sharp_c_1])
def test_bounds_from_a_gain_in_blocks_hold_and_are_little_larger(delta, constant):
    exact, blocks = (greedy_information_gain(SE, 0.5, GRID, 4000, block=block).tightened() for block in (0.0, 0.02))
    reached = replace(exact, upper=exact.lower)  # no bound on gamma, so that what it gives is a lower bound on N_max

    def bounds(gain):
        width = RkhsWidth(1.0, 0.1, 0.1, gain)
        return ucb_bounds(gain, width, delta, 1000, constant), elimination_bounds(gain, width, delta, 1.0, constant)

    for low, one, other in zip(bounds(reached), bounds(exact), bounds(blocks), strict=True):
        assert one.settled
        assert other.settled
        assert low.indicator <= other.indicator <= 1.05 * one.indicator
        assert low.gap <= other.gap <= 1.1 * one.gap


def test_a_larger_n_counts_even_after_a_smaller_one_failed():
    gain = greedy_information_gain(SE, 1.0, GRID, 300)

    def jump(t):
        return 0.01 if t < 100 else 1.0

    bounds = elimination_bounds(gain, jump, 1.5, 1.0)
    assert 100 < bounds.indicator < 300
    assert bounds.settled


def test_a_gain_that_ends_too_early_is_flagged_and_a_longer_one_settles_it():
    width = ConstantWidth(1.0)
    short, long = (greedy_information_gain(SE, 1.0, GRID, H) for H in (30, 600))
    assert not ucb_bounds(short, width, 1.0, 30).settled
    assert ucb_bounds(short, width, 1.0, 30).indicator == 30
    assert ucb_bounds(long, width, 1.0, 30).settled
    assert ucb_bounds(long, width, 1.0, 30).indicator > 30
    unsettled = elimination_bounds(short, width, 2.0, 1.0)
    assert (unsettled.settled, unsettled.horizon, unsettled.indicator) == (False, 30, 30)
    assert elimination_bounds(long, width, 2.0, 1.0).settled


def test_no_action_is_bad_where_delta_is_large():
    gain = greedy_information_gain(SE, 1.0, GRID, 5)
    for bounds in (
        ucb_bounds(gain, ConstantWidth(1.0), 10.0, 5),
        elimination_bounds(gain, ConstantWidth(1.0), 10.0, 1.0),
    ):
        assert (bounds.indicator, bounds.gap, bounds.settled) == (0, 0.0, True)


@pytest.mark.parametrize("T", [0, 6])
def test_a_horizon_outside_of_the_gain_is_refused(T):
    with pytest.raises(BadInput, match="compute the gain for T rounds"):
        ucb_bounds(greedy_information_gain(SE, 1.0, GRID, 5), sqrt_log_cubed, 1.0, T)


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan])
def test_a_delta_that_is_not_positive_is_refused(delta):
    gain = greedy_information_gain(SE, 1.0, GRID, 5)
    with pytest.raises(BadInput, match="positive"):
        ucb_bounds(gain, sqrt_log_cubed, delta, 5)
    with pytest.raises(BadInput, match="positive"):
        elimination_bounds(gain, sqrt_log_cubed, delta, 1.0)


@pytest.mark.parametrize(
    ("end", "T", "n_max", "n_max_elimination"),
    [("lower", 500, 54, 393), ("certified", 400, 54, 393), ("certified", 800, 56, 393), ("upper", 800, 115, 761)],
)
def test_an_example_where_the_bounds_bite(end, T, n_max, n_max_elimination):
    gain = greedy_information_gain(Stationary("se", np.array([0.5])), 1.0, GRID, 1600)
    gain = replace(gain, upper=getattr(gain, end))
    width = RkhsWidth(B=1.0, sigma=0.02, failure=0.1, gain=gain)
    ucb, elimination = ucb_bounds(gain, width, 1.0, T), elimination_bounds(gain, width, 1.0, 1.0)
    assert (ucb.indicator, elimination.indicator) == (n_max, n_max_elimination)
    assert ucb.settled
    assert elimination.settled


def test_matern_rates_solve_the_inequalities_of_the_theorems():
    for d, nu in ((1, 1.5), (2, 2.5), (4, 2.5)):
        rates, delta, T = MaternRates(d, nu), 0.03, 1e5
        N = rates.elimination(delta).indicator
        assert rates.gain(N) ** 2 / delta**2 == pytest.approx(N)  # N = gamma_N beta_N / delta^2
        N = rates.ucb(T, delta).indicator
        assert rates.gain(N) * rates.gain(T) / delta**2 == pytest.approx(N)  # N = gamma_N beta_T / delta^2


def test_rates_by_hand():
    assert SERates(2).gain(np.e**3) == pytest.approx(9)
    assert SERates(1).ucb(np.e**4, np.exp(-2)).indicator == pytest.approx(8 * np.exp(4))
    assert SERates(3).ucb(np.e**4, np.exp(-2)).gap == pytest.approx(8**3 * np.exp(2))
    assert SERates(2).elimination(np.exp(-2)).indicator == pytest.approx(16 * np.exp(4))
    assert SERates(2).elimination(np.exp(-2)).hinge == pytest.approx(16 * np.exp(2))
    assert MaternRates(1, 2.5).elimination(0.1).indicator == pytest.approx(10 ** (2 * 1.5))
    assert MaternRates(1, 2.5).ucb(32.0, 0.1).gap == pytest.approx(2 * 10**1.4)
    se = SERates(2).lower(1e9, 0.1, 1.0, 0.5, 0.05)
    assert se.indicator == pytest.approx(25 * log(10) * log(20))
    assert se.hinge == pytest.approx(2.5 * log(10) * log(20))
    assert MaternRates(1, 0.5).lower(1e9, 0.1, 1.0, 0.5, 0.05).indicator == pytest.approx(25 * 100 * log(20))
    assert SERates(2).lower(40, 0.1, 1.0, 0.5, 0.05).indicator == 40
    assert SERates(2).lower(40, 0.1, 1.0, 0.5, 0.05).gap == pytest.approx(4)


def test_rates_refuse_what_the_theorems_exclude():
    with pytest.raises(BadInput, match="d < 2 nu"):
        MaternRates(3, 1.5).elimination(0.1)
    with pytest.raises(BadInput, match="d < 2 nu"):
        MaternRates(3, 1.5).ucb(100, 0.1)
    with pytest.raises(BadInput, match="between 0 and 1 "):
        SERates(1).elimination(1.0)
    with pytest.raises(BadInput, match=r"between 0 and 0.5"):
        SERates(1).lower(100, 0.6, 1.0, 0.1, 0.1)
    with pytest.raises(BadInput, match=r"between 0 and 0.3"):
        SERates(1).lower(100, 0.4, 0.3, 0.1, 0.1)
    with pytest.raises(BadInput, match="1/3"):
        lower_bounds(CountSE(1.0, 0.1, 1), 100, 0.1, 0.1, 0.4)


RATES = [SERates(1), SERates(3), MaternRates(1, 1.5), MaternRates(2, 2.5)]


@given(st.sampled_from(RATES), st.floats(1e-4, 0.45), st.floats(1.01, 2.0))
def test_every_rate_falls_as_delta_grows(rates, delta, factor):
    larger = min(delta * factor, 0.49)
    assert rates.ucb(1e4, delta).indicator > rates.ucb(1e4, larger).indicator
    assert rates.elimination(delta).gap > rates.elimination(larger).gap
    lower = [rates.lower(inf, x, 1.0, 0.1, 0.05) for x in (delta, larger)]
    assert lower[0].indicator > lower[1].indicator
    assert lower[0].gap > lower[1].gap


def test_hard_rounds_is_its_formula_and_never_more_than_t():
    assert hard_rounds(1e6, 10, 0.1, 0.2, 0.05) == pytest.approx(10 * 0.04 / 0.04 * log(1 / 0.12))
    assert hard_rounds(1e6, 10, 0.1, 0.2, 0.05, c_0=2.0) == pytest.approx(5 * log(1 / 0.12))
    assert hard_rounds(7, 10, 0.1, 0.2, 0.05) == 7


def test_lower_bounds_use_the_class_for_delta_and_for_twice_delta():
    seen = []

    def count(eps):
        seen.append(eps)
        return 1 / eps

    bounds = lower_bounds(count, 1e9, 0.05, 0.3, 0.1)
    assert seen == [0.05, 0.1]
    assert bounds.indicator == pytest.approx(20 * 0.09 / (4 * 0.0025) * log(1 / 0.24) / 2)
    assert bounds.hinge == pytest.approx(10 * 0.09 / (4 * 0.01) * log(1 / 0.24) / 2 * 0.05)
    assert lower_bounds(count, 6, 0.05, 0.3, 0.1).indicator == 3
    assert lower_bounds(lambda eps: 2, 1e9, 0.05, 0.3, 0.1).indicator == 0  # two functions prove nothing


@pytest.mark.parametrize(
    ("rates", "count", "deltas", "tolerance"),
    [
        (MaternRates(2, 1.5), CountMatern(1.0, 1.5, 2), (1e-4, 1e-5), 1e-4),
        (SERates(2), CountSE(1.0, 0.01, 2), (1e-60, 1e-120), 0.1),
    ],
)
def test_lower_bounds_follow_the_rates_of_theorem_3(rates, count, deltas, tolerance):
    ratios = [
        lower_bounds(count, inf, x, 0.1, 0.05).indicator / rates.lower(inf, x, 1.0, 0.1, 0.05).indicator for x in deltas
    ]
    assert ratios[1] == pytest.approx(ratios[0], rel=tolerance)
    hinges = [lower_bounds(count, inf, x, 0.1, 0.05).gap / rates.lower(inf, x, 1.0, 0.1, 0.05).gap for x in deltas]
    assert hinges[1] == pytest.approx(hinges[0], rel=tolerance)


@given(st.floats(1e-3, 0.4), st.floats(1.0, 1.2), st.sampled_from([CountSE(1.0, 0.1, 2), CountMatern(1.0, 1.5, 1)]))
def test_lower_bounds_fall_as_delta_grows_and_rise_with_noise_and_rounds(delta, factor, count):
    bounds = lower_bounds(count, 1e5, delta, 0.3, 0.1)
    assert bounds.indicator >= lower_bounds(count, 1e5, delta * factor, 0.3, 0.1).indicator
    assert bounds.indicator <= lower_bounds(count, 1e5, delta, 0.3 * factor, 0.1).indicator
    assert bounds.gap <= lower_bounds(count, 1e5 * factor, delta, 0.3, 0.1).gap
    assert bounds.gap <= bounds.indicator * delta
