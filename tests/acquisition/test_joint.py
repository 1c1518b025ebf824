"""The belief about several requirements, and its scores, against quadrature over the values of all of them."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from numpy.random import default_rng
from scipy.stats import norm

from satisfice.acquisition.belief import Belief, Seen
from satisfice.acquisition.joint import JointBelief
from satisfice.acquisition.scores import aspired_score, excess_score, probability_score
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior

NODES, WEIGHTS = leggauss(40)


def part(seed, target, members, domain, n=9):
    rng = default_rng([seed, 7])
    U = default_rng(1).random((n, 2))  # the same points for all requirements
    y = np.sin((3 + seed) * U[:, 0]) + U[:, 1] * rng.normal() + 0.1 * rng.normal(size=n)
    kernels = [Stationary("se", 0.4), Stationary("matern52", [0.3, 0.8], 1.5)][:members]
    weights = [0.7, 0.3] if members == 2 else [1.0]
    found = tuple((w, Posterior.given(k, 1e-3, U, y)) for w, k in zip(weights, kernels, strict=True))
    return Belief(found, domain, target, n + 1, 0, y.max(), U[:3], U, seen=Seen(U, y, 0.0))


def joint(targets=(0.6, 0.2), members=2, domain=None):
    domain = domain or Box([(0.0, 1.0)] * 2)
    parts = tuple(part(k, target, members, domain) for k, target in enumerate(targets))
    return JointBelief(parts, parts[0].best, parts[0].avoid, False, shortfall=9.0)


def density(one, u):
    """The density of one requirement's value at u under its mixture."""
    laws = [(w, *(float(each[0]) for each in p.marginal(u[None]))) for w, p in one.members]
    return lambda f: sum(w * norm.pdf(f, mean, std) for w, mean, std in laws)


def panels(one, u, level):
    """Where the integral over one value is cut: at the level, and around the mean under each member."""
    laws = [tuple(float(each[0]) for each in p.marginal(u[None])) for _, p in one.members]
    cuts = {level, *(mean + k * std for mean, std in laws for k in (-12, -4, 0, 4, 12))}
    return sorted(max(cut, level) for cut in cuts)


def quadrature(belief, u, utility, levels):
    """The expectation of utility(f_1 - level_1, f_2 - level_2) over the region above both levels, by a tensor grid."""
    grids, weights = [], []
    for one, level in zip(belief.parts, levels, strict=True):
        cuts = panels(one, u, level)
        f = np.concatenate([low + (high - low) * (NODES + 1) / 2 for low, high in pairwise(cuts)])
        shares = np.concatenate([WEIGHTS * (high - low) / 2 for low, high in pairwise(cuts)])
        grids.append(f - level)
        weights.append(shares * density(one, u)(f))
    table = utility(*np.meshgrid(*grids, indexing="ij"))
    return float(np.einsum("i,j,ij->", *weights, table))


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("targets", [(0.6, 0.2), (2.5, -1.0), (-3.0, -3.0)])
def test_p_good_is_the_integral_over_the_region_above_all_targets(targets, members):
    belief = joint(targets, members)
    for u in default_rng(3).random((6, 2)):
        expected = quadrature(belief, u, lambda a, b: np.ones_like(a), targets)
        assert belief.probability_good(u[None])[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)
        score = probability_score(belief, belief.target)
        assert np.exp(score(u[None])[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("targets", [(0.6, 0.2), (2.5, -1.0), (-3.0, -3.0)])
def test_the_joint_excess_is_the_integral_of_the_product_of_the_excesses(targets, members):
    belief = joint(targets, members)
    for u in default_rng(3).random((6, 2)):
        expected = quadrature(belief, u, lambda a, b: a * b, targets)
        assert np.exp(excess_score(belief, targets)(u[None])[0]) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("make", [probability_score, excess_score])
@pytest.mark.parametrize("targets", [(0.6, 0.2), (9.0, -1.0)])
def test_the_gradients_equal_differences_of_the_quadrature(make, targets):
    belief, h = joint(targets), 1e-4
    score = make(belief, targets)
    utility = (lambda a, b: np.ones_like(a)) if make is probability_score else (lambda a, b: a * b)
    U = default_rng(4).random((4, 2))
    value, gradient = score.with_gradient(U)
    assert value == pytest.approx(score(U), rel=1e-12)
    for u, slope in zip(U, gradient, strict=True):
        for axis in range(2):
            step = h * np.eye(2)[axis]
            if targets[0] < 5:
                logs = [np.log(quadrature(belief, u + sign * step, utility, targets)) for sign in (1, -1)]
            else:  # the integral underflows: differences of the score itself
                logs = [score((u + sign * step)[None])[0] for sign in (1, -1)]
            assert slope[axis] == pytest.approx((logs[0] - logs[1]) / (2 * h), rel=1e-4, abs=1e-5)


def test_far_from_all_targets_the_score_still_tells_points_apart():
    belief = joint((60.0, 40.0))
    values, gradients = probability_score(belief, belief.target).with_gradient(default_rng(5).random((20, 2)))
    assert np.isfinite(values).all()
    assert len(set(values)) == 20
    assert (np.abs(gradients).max(axis=1) > 1e-3).all()


def test_all_targets_are_lowered_by_the_same_smallest_amount_within_reach():
    belief = joint((5.0, 4.0))
    points = default_rng(6).random((200, 2))
    score, _ = aspired_score(belief, points, 2.0)
    levels = np.array([each.formula.keywords["level"] for each in score.scores])
    conceded = np.array(belief.target) - levels
    assert conceded[0] == pytest.approx(conceded[1])
    bounds = [mean + 2.0 * std for mean, std in (one.marginal(points) for one in belief.parts)]
    within = [
        bool((np.array(bounds).T >= np.array(belief.target) - c).all(axis=1).any())
        for c in (conceded[0] - 1e-3, conceded[0] + 1e-3)
    ]
    assert within == [False, True]
    assert 0 <= conceded[0] <= belief.shortfall


def test_nothing_is_conceded_where_all_targets_are_within_reach():
    belief = joint((-3.0, -3.0))
    score, _ = aspired_score(belief, default_rng(6).random((50, 2)), 3.0)
    assert [each.formula.keywords["level"] for each in score.scores] == [-3.0, -3.0]


def test_a_pending_point_is_bad_in_the_requirement_that_it_most_likely_misses():
    belief = joint((-3.0, 0.5))
    u = np.array([[0.05, 0.95]])
    worst = int(np.argmin([one.probability_good(u)[0] for one in belief.parts]))
    after = belief.assuming_bad(u)
    changed = [len(b.members[0][1].y) - len(a.members[0][1].y) for a, b in zip(belief.parts, after.parts, strict=True)]
    assert changed[worst] == 1
    assert sum(changed) == 1
    assert after.probability_good(u)[0] < 1e-6
    assert (after.avoid[-1] == u[0]).all()


def test_the_belief_about_one_of_them_is_that_part():
    belief = joint()
    U = default_rng(0).random((5, 2))
    assert (belief.only([1]).probability_good(U) == belief.parts[1].probability_good(U)).all()


def test_a_finite_domain_lists_its_points():
    domain = Finite(default_rng(2).random((7, 2)))
    assert (joint(domain=domain).points == domain.U).all()
