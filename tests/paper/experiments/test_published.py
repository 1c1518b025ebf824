"""The published variant: its model, its plain formulas, its climbs, and the experiment on lenient regret."""

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.posterior import Posterior
from satisfice.paper.experiments import published, published_gp2d
from satisfice.paper.experiments.published import PUBLISHED_RULES, Known, PublishedSearch

BOX = Box([(-4, 4), (-4, 4)])
POINTS = [(-3.0, 1.0), (0.5, -2.0), (2.0, 2.5), (-1.0, -1.0)]
VALUES = [0.1, 0.4, -0.2, 0.7]


def told(rule="pg", seed=0, noise=0.05, target=1.0, points=POINTS, values=VALUES):
    search = PublishedSearch(BOX, target, rule, noise=noise, seed=seed)
    for x, value in zip(points, values, strict=True):
        search.tell(x, value)
    return search


def dense(X, y, U):
    """Mean and variance of a new value by an explicit inverse."""

    def k(A, B):
        return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / 0.04)

    inverse = np.linalg.inv(k(X, X) + 1e-8 * np.eye(len(X)))
    K = k(U, X)
    return K @ inverse @ y, 1 + 1e-8 - np.einsum("ij,jk,ik->i", K, inverse, K)


def test_the_model_is_the_fixed_kernel_with_lambda_in_the_predicted_variance():
    rng = np.random.default_rng(1)
    X, y, U = rng.random((12, 2)), rng.standard_normal(12), rng.random((5, 2))
    mean, std = published.marginal(Posterior.given(published.KERNEL, published.LAM, X, y), U)
    expected = dense(X, y, U)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-6)
    np.testing.assert_allclose(std**2, expected[1], rtol=1e-5)


def test_values_are_standardised_again_once_repeats_were_dropped():
    search = told(points=[*POINTS, POINTS[3]], values=[*VALUES, 5.0])
    posterior = search.known().posterior
    once = (np.array([*VALUES, 5.0]) - np.mean([*VALUES, 5.0])) / np.std([*VALUES, 5.0])
    np.testing.assert_allclose(posterior.y, (once[:4] - once[:4].mean()) / once[:4].std())
    np.testing.assert_array_equal(posterior.X, BOX.to_unit(POINTS))


def test_target_and_best_value_are_standardised_once():
    values = [*VALUES, 5.0]
    known = told(points=[*POINTS, POINTS[3]], values=values, target=2.0).known()
    assert known.target == pytest.approx((2.0 - np.mean(values)) / np.std(values))
    assert known.best == pytest.approx((5.0 - np.mean(values)) / np.std(values))
    assert known.width == pytest.approx(np.sqrt(np.log(5)))  # the sixth evaluation


def test_draws_have_the_covariance_of_the_prior():
    U = np.array([[0.2, 0.2], [0.3, 0.25], [0.9, 0.1], [0.2, 0.2 + 1e-9]])
    draws = published.prior_draws(U, 20_000, np.random.default_rng(2))
    expected = np.exp(-((U[:, None] - U) ** 2).sum(axis=2) / 0.04)
    np.testing.assert_allclose(np.cov(draws), expected, atol=0.03)


def test_ts_takes_the_best_of_a_draw_that_data_do_not_narrow():
    """At a grid of data the posterior is certain, so a true posterior draw would ask near the best point every time."""
    axis = np.linspace(0, 1, 8)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    posterior = Posterior.given(published.KERNEL, published.LAM, X, np.eye(64)[20] * 0.1)
    known = Known(BOX, posterior, 1.0, 0.1, 64)
    asked = [PUBLISHED_RULES["ts"](known, np.random.default_rng(seed)) for seed in range(20)]
    assert np.std(asked, axis=0).min() > 0.15


@pytest.mark.parametrize("z", [-6.0, -1.0, 0.0, 2.5])
def test_excess_equals_quadrature(z):
    mean, std = np.array([0.3 + 0.7 * z]), np.array([0.7])
    expected = 0.7 * stats.norm.expect(lambda e: np.maximum(e + z, 0), lb=-z, ub=10)
    assert published.excess(mean, std, 0.3)[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_plain_forms_are_floored_and_underflow_to_zero():
    zero, one = np.zeros(1), np.ones(1)
    assert published.z_score(zero, zero, 1.0)[0] == pytest.approx(-1e8)
    assert published.excess(zero, zero, 1.0)[0] == 0.0
    assert published.excess(zero, one, 60.0)[0] == 0.0  # its logarithm would be -1808
    assert published.entropy_fall(np.full(1, 1e3), one, np.array([0.0]))[0] == pytest.approx(-np.log(1e-8))


def test_gumbel_maxima_have_the_quartiles_of_the_maximum():
    rng = np.random.default_rng(3)
    mean, std = rng.standard_normal(30), rng.random(30) + 0.2
    maxima = published.gumbel_maxima(mean, std, 0.0, rng)
    sampled = (mean + std * rng.standard_normal((20_000, 30))).max(axis=1)
    np.testing.assert_allclose(np.quantile(maxima, [0.25, 0.75]), np.quantile(sampled, [0.25, 0.75]), atol=0.15)


@pytest.mark.parametrize("start", [(0.1, 0.2), (0.8, 0.9), (0.99, 0.5)])
def test_a_climb_is_scipys_with_its_own_differences(start):
    def score(U):
        return np.sin(3 * U[:, 0]) * U[:, 1] + U[:, 0] * U[:, 1] ** 2

    x0 = np.array(start)
    expected = minimize(lambda x: -score(x[None])[0], x0, method="L-BFGS-B", bounds=[(0, 1)] * 2)
    u, value, success = published.climb(score, x0)
    np.testing.assert_allclose(u, expected.x, atol=1e-6)
    assert value == pytest.approx(-expected.fun)
    assert success == expected.success


def test_a_flat_score_is_a_success_at_the_start_and_ties_go_to_the_climb():
    def flat(U):
        return np.zeros(len(U))

    candidates, starts = np.full((3, 2), 0.5), np.array([[0.1, 0.2], [0.3, 0.4]])
    best = published.best_of_all(candidates, np.zeros(3), flat, starts, np.random.default_rng(0))
    np.testing.assert_array_equal(best, starts[1])
    higher = published.best_of_all(candidates, np.ones(3), flat, starts, np.random.default_rng(0))
    np.testing.assert_array_equal(higher, candidates[0])


def test_ties_among_candidates_are_broken_at_random():
    candidates, none = np.arange(8.0).reshape(4, 2) / 8, np.empty((0, 2))
    scores = np.array([0.0, 1.0, 1.0, 0.0])
    picks = [published.best_of_all(candidates, scores, len, none, np.random.default_rng(s))[0] for s in range(20)]
    assert set(picks) == {0.25, 0.5}


@pytest.mark.parametrize("rule", PUBLISHED_RULES)
def test_a_rule_asks_inside_the_box_and_the_same_again(rule):
    search = told(rule)
    x = search.ask()
    assert (np.abs(x) <= 4).all()
    np.testing.assert_array_equal(search.ask(), x)
    np.testing.assert_array_equal(told(rule).ask(), x)
    assert not np.array_equal(told(rule, seed=1).ask(), x)


def test_the_recommendation_has_not_seen_the_newest_value():
    assert told(values=[0.1, 0.4, -0.2, 9.0]).recommended() == 1  # a mean of 0 there, far from the others
    assert told(values=[0.1, 0.4, -0.2, 9.0], noise=0.0).recommended() == 3
    assert told(points=[*POINTS, (3.5, -3.5)], values=[0.1, 0.4, -0.2, 9.0, 0.0]).recommended() == 3


def test_an_unknown_rule_and_a_question_without_starting_points_are_refused():
    with pytest.raises(BadInput, match="one of pg"):
        PublishedSearch(BOX, 1.0, "lookahead", noise=0.0, seed=0)
    with pytest.raises(BadInput, match="at least 2"):
        PublishedSearch(BOX, 1.0, "pg", noise=0.0, seed=0).ask()


@pytest.mark.parametrize("algorithm", published_gp2d.ALGORITHMS)
def test_lenient_regret_of_the_published_experiment(algorithm):
    starts = published_gp2d.starting_points(np.random.default_rng(4))
    curves = published_gp2d.published_gp2d(algorithm, starts, seed=1, rounds=30)
    again = published_gp2d.published_gp2d(algorithm, starts, seed=1, rounds=30)
    np.testing.assert_array_equal(curves.standard, again.standard)
    assert curves.indicator[-1] >= 28  # 0.28 % of the candidates are good
    assert curves.standard[-1] == pytest.approx(30 * 1.549, rel=0.1)  # nearly every step is outside, where f = 0
    assert (curves.hinge <= curves.gap).all()


def test_the_lenient_experiment_knows_two_algorithms():
    with pytest.raises(BadInput, match="elimination"):
        published_gp2d.published_gp2d("pg", np.zeros((2, 2)), seed=0)
