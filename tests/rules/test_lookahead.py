"""gs, lookahead and mes against quadrature and sampling on small finite domains with a known kernel."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal, norm, spearmanr, truncnorm

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.maximum import gumbel_of_maximum, max_value_information, quantile_of_maximum
from satisfice.domain.finite import Finite
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.rules.entropy import MaxValueEntropy
from satisfice.rules.lookahead import (
    ZERO,
    GoodActionSearch,
    JointGoodActionSearch,
    Lookahead,
    event_information,
    good_action_score,
    highest_draw,
    look_ahead,
    lookahead_score,
)

POINTS = np.linspace(0, 1, 15)[:, None]
TARGET = 1.2


def posterior(lam, seed=0):
    rng = default_rng(seed)
    X = POINTS[[1, 5, 12]]
    return Posterior.given(Stationary("se", np.array([0.15])), lam, X, 0.7 * rng.standard_normal(3))


def updated_marginals(known, i, y):
    """Mean and std at all points after the value y at point i, by conditioning anew."""
    later = Posterior.given(known.kernel, known.lam, np.vstack([known.X, POINTS[i]]), np.append(known.y, y))
    return later.marginal(POINTS)


def exact_score(known, i, after):
    """E_y[after(mean_t, std_t)] by a fine midpoint rule in the probability of y."""
    mean, std = (part[i] for part in known.marginal(POINTS))
    shares = (np.arange(500) + 0.5) / 500
    values = mean + np.sqrt(std**2 + known.lam) * norm.ppf(shares)
    return np.mean([after(*updated_marginals(known, i, y)) for y in values])


def product_of_marginals(mean, std):
    return -np.expm1(log_ndtr((TARGET - mean) / std).sum())


@pytest.mark.parametrize("lam", [1e-6, 1e-2, 0.3])
def test_gs_equals_dense_quadrature_of_its_definition(lam):
    known = posterior(lam)
    ahead = look_ahead(known, POINTS, POINTS, TARGET)
    expected = np.array([exact_score(known, i, product_of_marginals) for i in range(len(POINTS))])
    assert np.abs(good_action_score(ahead, TARGET, gumbel=False) - expected).max() < 1e-3
    gumbel = good_action_score(ahead, TARGET)
    assert np.abs(gumbel - expected).max() < 0.06  # the Gumbel law has the quartiles of the product, not its upper tail
    assert spearmanr(gumbel, expected).statistic >= 0.9  # on this domain; tests/bench/test_gs_order.py has another


def test_the_exact_score_is_the_same_for_every_query():
    """E_y[P_t(max f >= target)] = P(max f >= target) by the tower property: joint draws show no difference between points.

    While the score of `gs`, with its independent marginals, differs by far more.
    """
    known, rng = posterior(1e-2), default_rng(3)
    mean, covariance = known.joint(POINTS)
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(len(POINTS)))
    prior_chance = np.mean((mean + (factor @ rng.standard_normal((15, 200_000))).T).max(axis=1) >= TARGET)
    scores = []
    for i in range(len(POINTS)):
        variance = covariance[i, i] + known.lam
        move = covariance[:, i] / np.sqrt(variance)
        later = np.linalg.cholesky(covariance - np.outer(move, move) + 1e-9 * np.eye(15))
        means = mean + rng.standard_normal((400, 1)) * move  # 400 values y, and 500 draws of f for each
        draws = means[:, None] + rng.standard_normal((400, 500, 15)) @ later.T
        scores.append(np.mean(draws.max(axis=2) >= TARGET, axis=1))
    error = np.array([np.hypot(score.std() / np.sqrt(400), 0.5 / np.sqrt(200_000)) for score in scores])
    z = (np.array([score.mean() for score in scores]) - prior_chance) / error
    assert np.abs(z).max() < 4
    assert np.ptp(good_action_score(look_ahead(known, POINTS, POINTS, TARGET), TARGET)) > 0.1


@pytest.mark.parametrize("lam", [1e-6, 1e-1])
def test_lookahead_equals_brute_force_monte_carlo(lam):
    known, rng = posterior(lam), default_rng(1)
    scores = lookahead_score(look_ahead(known, POINTS, POINTS, TARGET), TARGET)
    mean, std = known.marginal(POINTS)
    for i in range(len(POINTS)):
        values = mean[i] + np.sqrt(std[i] ** 2 + lam) * rng.standard_normal(3000)
        later = [updated_marginals(known, i, y) for y in values]
        best = [ndtr((mean - TARGET) / std).max() for mean, std in later]
        assert scores[i] == pytest.approx(np.mean(best), abs=4 * np.std(best) / np.sqrt(3000) + 1e-3)


def belief(known, members=None):
    domain = Finite(POINTS)
    weighted = members or ((1.0, known),)
    return Belief(weighted, domain, TARGET, 4, 0, known.y.max(), known.X, np.empty((0, 1)))


def entropy(p):
    return sum(-q * np.log(q) for q in (p, 1 - p) if q > 0)


@pytest.mark.parametrize("lam", [1e-4, 0.05, 1.0])
@pytest.mark.parametrize("points", [[4, 8], [3, 7, 9]])
def test_the_information_of_gs_joint_is_that_of_dense_quadrature_with_the_multivariate_normal_law(points, lam):
    known, places = posterior(1e-2), POINTS[points]
    known = Posterior.given(known.kernel, lam, known.X, known.y)
    mean, covariance = known.joint(places)
    shares = (np.arange(100) + 0.5) / 100
    expected = []
    for i in range(len(points)):
        variance = covariance[i, i] + lam
        move = covariance[:, i] / np.sqrt(variance)
        later = covariance - np.outer(move, move) + 1e-9 * np.eye(len(points))
        below = [
            multivariate_normal(mean + xi * move, later, seed=default_rng(0)).cdf(np.full(len(points), TARGET))
            for xi in norm.ppf(shares)
        ]
        expected.append(entropy(np.mean(below)) - np.mean([entropy(p) for p in below]))
    ours = event_information(known, places, places, TARGET, 16, 40_000, 0)
    assert ours == pytest.approx(np.array(expected), abs=0.006)
    assert np.ptp(expected) > 0.02


def test_a_query_is_its_own_witness_and_an_uninformative_one_scores_zero():
    """One query and no other witness: without noise its value decides, H(P) is all learned; far from it nothing is."""
    known = posterior(1e-8)
    mean, std = (part[4] for part in known.marginal(POINTS))
    whole = event_information(known, POINTS[[4]], POINTS[[4]], TARGET, 12, 4000, 0)
    assert whole[0] == pytest.approx(entropy(norm.sf(TARGET, mean, std)), abs=0.02)
    assert event_information(known, POINTS[[4]], np.array([[40.0]]), 9.0, 12, 4000, 0)[0] < 1e-6
    assert event_information(known, POINTS[[5]], POINTS[[9]], TARGET, 12, 4000, 0)[0] < 0.01  # it was asked before


def test_gs_joint_asks_the_point_of_the_highest_information_averaged_over_the_members():
    first, second = posterior(1e-3), posterior(1e-2, seed=4)
    both = belief(first, ((0.3, first), (0.7, second)))
    scores = sum(w * event_information(p, POINTS, POINTS, TARGET, 12, 20_000, 1) for w, p in both.members)
    for seed in range(5):
        asked = JointGoodActionSearch(draws=4000).propose(both, default_rng(seed))
        assert scores[int(np.flatnonzero((POINTS == asked).all(axis=1))[0])] > 0.9 * scores.max()


def test_the_rules_ask_the_best_point_averaged_over_the_members():
    first, second = posterior(1e-3), posterior(1e-2, seed=4)
    both = belief(first, ((0.3, first), (0.7, second)))
    for rule, score in (
        (GoodActionSearch(gumbel=False), lambda ahead: good_action_score(ahead, TARGET, gumbel=False)),
        (GoodActionSearch(), lambda ahead: good_action_score(ahead, TARGET)),
        (Lookahead(), lambda ahead: lookahead_score(ahead, TARGET)),
    ):
        scores = sum(w * score(look_ahead(p, POINTS, POINTS, TARGET)) for w, p in both.members)
        asked = rule.propose(both, default_rng(0))
        assert (asked == POINTS[np.argmax(scores)]).all()


def test_where_every_score_is_zero_gs_asks_for_the_highest_sampled_maximum():
    known = posterior(1e-4)
    far = Belief(((1.0, known),), Finite(POINTS), 60.0, 4, 0, 0.0, known.X, np.empty((0, 1)))
    ahead = look_ahead(known, POINTS, POINTS, 60.0)
    assert good_action_score(ahead, 60.0).max() < ZERO
    asked = GoodActionSearch().propose(far, default_rng(0))
    tops = highest_draw(ahead, default_rng(5))
    assert int(np.flatnonzero((POINTS == asked).all(axis=1))[0]) in np.argsort(-tops)[:4]


def test_quantiles_of_the_maximum_equal_those_of_sampled_maxima():
    mean, std = default_rng(0).standard_normal(30), default_rng(1).uniform(0.05, 1.5, 30)
    maxima = (mean + std * default_rng(2).standard_normal((200_000, 30))).max(axis=1)
    for p in (0.05, 0.25, 0.5, 0.75, 0.99):
        m = quantile_of_maximum(mean, std, p)
        assert norm.cdf(m, mean, std).prod() == pytest.approx(p, rel=1e-7)
        assert np.mean(maxima <= m) == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 200_000))
    gumbel = gumbel_of_maximum(mean, std)
    for p in (0.25, 0.75):
        assert gumbel.quantile(np.array(p)) == pytest.approx(quantile_of_maximum(mean, std, p), rel=1e-9)
    for p in (0.1, 0.5, 0.9):  # in between and a little outside the law is near; that is all it claims
        assert gumbel.quantile(np.array(p)) == pytest.approx(np.quantile(maxima, p), abs=0.12)
    assert gumbel.probability_above(float(gumbel.quantile(np.array(0.6)))) == pytest.approx(0.4)


def test_quantiles_of_many_maxima_at_once_equal_one_by_one():
    mean = default_rng(0).standard_normal((4, 3, 20)) * [[[1.0]], [[1e3]], [[1e-3]], [[5.0]]]
    std = default_rng(1).uniform(1e-4, 2, (4, 1, 20))
    together = quantile_of_maximum(mean, np.broadcast_to(std, mean.shape), 0.75)
    for i in range(4):
        for j in range(3):
            assert norm.cdf(together[i, j], mean[i, j], std[i, 0]).prod() == pytest.approx(0.75, rel=1e-6)


@pytest.mark.parametrize("maximum", [0.3, 1.0, 4.0])
def test_max_value_information_is_the_entropy_reduction_of_truncation(maximum):
    mean, std = 0.4, 0.8
    truncated = truncnorm(-np.inf, (maximum - mean) / std, loc=mean, scale=std)
    entropy, _ = quad(lambda f: -truncated.pdf(f) * truncated.logpdf(f), mean - 12 * std, maximum)
    score = max_value_information(np.array([mean]), np.array([std]), np.array([maximum]))
    assert score.value[0] == pytest.approx(norm(mean, std).entropy() - entropy, rel=1e-6)
    h = 1e-6
    for by, shift in ((score.by_mean, (h, 0.0)), (score.by_std, (0.0, h))):
        ends = [
            max_value_information(
                np.array([mean + s * shift[0]]), np.array([std + s * shift[1]]), np.array([maximum])
            ).value
            for s in (1, -1)
        ]
        assert by[0] == pytest.approx((ends[0][0] - ends[1][0]) / (2 * h), rel=1e-6)


def test_mes_is_near_a_monte_carlo_estimate_of_the_mutual_information():
    """I(f(x); max f) from joint draws, by binning both; mes replaces f(x) | max by a truncated normal, so near is all it is."""
    known, rng = posterior(1e-6), default_rng(2)
    mean, covariance = known.joint(POINTS)
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(15))
    draws = mean + (factor @ rng.standard_normal((15, 400_000))).T
    maxima = draws.max(axis=1)
    edges = np.quantile(maxima, np.linspace(0, 1, 31)[1:-1])
    estimates = []
    for i in range(15):
        cells = np.quantile(draws[:, i], np.linspace(0, 1, 31)[1:-1])
        table, _, _ = np.histogram2d(np.digitize(draws[:, i], cells), np.digitize(maxima, edges), bins=30)
        joint = table / table.sum()
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        estimates.append(np.sum(joint[joint > 0] * np.log(joint[joint > 0] / independent[joint > 0])))
    marginal = known.marginal(POINTS)
    scores = max_value_information(*marginal, rng.choice(maxima, 2000)).value
    free = marginal.std > 0.1  # at the data there is nothing to tell, and binning cannot see it
    assert spearmanr(scores[free], np.array(estimates)[free]).statistic > 0.7
    assert np.abs(scores - estimates)[free].max() < 0.35
    asked = MaxValueEntropy(draws=200).propose(belief(known), default_rng(0))
    by_gumbel = max_value_information(
        *marginal, gumbel_of_maximum(*marginal).quantile(default_rng(7).random(4000))
    ).value
    assert by_gumbel[int(np.flatnonzero((POINTS == asked).all(axis=1))[0])] > 0.97 * by_gumbel.max()
