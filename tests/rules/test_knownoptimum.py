"""erm and cbm against quadrature, finite differences and explicit inverses."""

from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.integrate import quad
from scipy.stats import norm

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import distance_bound
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.rules.knownoptimum import (
    ConfidenceBoundMinimisation,
    ExpectedRegret,
    minus_log_regret,
    through_square,
)

OPTIMUM, LAM, PRIOR = 1.3, 1e-3, np.sqrt(2.6)
FINITE = Finite(np.linspace(0, 1, 40)[:, None])
BOX = Box([(0.0, 1.0)])


@pytest.mark.parametrize(("mean", "std"), [(0.2, 0.7), (1.3, 0.1), (2.0, 0.4), (-8.0, 0.5)])
def test_the_expected_regret_is_the_integral(mean, std):
    law = norm(mean, std)
    integral, _ = quad(lambda v: (OPTIMUM - v) * law.pdf(v), mean - 12 * std, OPTIMUM, points=[mean] * (mean < OPTIMUM))
    score = minus_log_regret(np.array([mean]), np.array([std]), OPTIMUM)
    assert np.exp(-score.value[0]) == pytest.approx(integral, rel=1e-7)


FORMULAS = {
    "regret": partial(minus_log_regret, optimum=OPTIMUM),
    "bound": partial(distance_bound, level=OPTIMUM, by_std=-1.7),
    "regret, transformed": partial(
        through_square, optimum=OPTIMUM, prior=PRIOR, formula=partial(minus_log_regret, optimum=OPTIMUM)
    ),
    "bound, transformed": partial(
        through_square, optimum=OPTIMUM, prior=PRIOR, formula=partial(distance_bound, level=OPTIMUM, by_std=-1.7)
    ),
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=list(FORMULAS))
def test_the_derivatives_are_those_of_the_values(formula):
    mean, std, h = np.array([-2.5, -0.4, 0.3, 1.9, 4.0]), np.array([0.3, 0.8, 0.2, 1.1, 0.5]), 1e-6
    score = formula(mean, std)
    by_mean = (formula(mean + h, std).value - formula(mean - h, std).value) / (2 * h)
    by_std = (formula(mean, std + h).value - formula(mean, std - h).value) / (2 * h)
    assert score.by_mean == pytest.approx(by_mean, rel=1e-5, abs=1e-7)
    assert score.by_std == pytest.approx(by_std, rel=1e-5, abs=1e-7)


def test_a_point_that_is_as_good_as_the_optimum_has_a_finite_score():
    for name in ("regret, transformed", "bound, transformed"):
        score = FORMULAS[name](np.array([-PRIOR]), np.array([0.3]))
        assert np.isfinite(np.concatenate(score)).all()


def data(seed):
    rng = default_rng(seed)
    X = rng.random((7, 1))
    return X, np.minimum(np.sin(6 * X[:, 0]) + 0.3 * rng.standard_normal(7), OPTIMUM - 0.05)


def belief_on(domain, lengths):
    X, y = data(1)
    weights = np.array([0.7, 0.3])[: len(lengths)]
    members = tuple(
        (w, Posterior.given(Stationary("se", np.array([length])), LAM, X, y))
        for w, length in zip(weights / weights.sum(), lengths, strict=True)
    )
    return Belief(members, domain, OPTIMUM, 8, 0, y.max(), X[:2], X)


def moments(U, length, transformed):
    """Mean and std of f at U, by an explicit inverse; transformed, by way of g with f = f* - g^2 / 2."""
    X, y = data(1)
    values, prior = (np.sqrt(2 * (OPTIMUM - y)), PRIOR) if transformed else (y, 0.0)
    inverse = np.linalg.inv(np.exp(-0.5 * ((X - X.T) / length) ** 2) + LAM * np.eye(7))
    k = np.exp(-0.5 * ((U - X.T) / length) ** 2)
    mean, std = prior + k @ inverse @ (values - prior), np.sqrt(1 - np.einsum("mi,ij,mj->m", k, inverse, k))
    return (OPTIMUM - mean**2 / 2, np.abs(mean) * std) if transformed else (mean, std)


def regret(mean, std):
    z = (OPTIMUM - mean) / std
    return (OPTIMUM - mean) * norm.cdf(z) + std * norm.pdf(z)


def bound(mean, std):
    return np.abs(mean - OPTIMUM) + np.sqrt(np.log(8)) * std


@pytest.mark.parametrize("transformed", [True, False])
@pytest.mark.parametrize("lengths", [(0.15,), (0.15, 0.4)], ids=["one member", "two"])
@pytest.mark.parametrize(("rule", "of"), [(ExpectedRegret, regret), (ConfidenceBoundMinimisation, bound)])
def test_the_rules_minimise_the_average_over_the_members(rule, of, lengths, transformed):
    def average(U):
        weights = (0.7, 0.3) if len(lengths) == 2 else (1.0,)
        return sum(w * of(*moments(U, length, transformed)) for w, length in zip(weights, lengths, strict=True))

    chosen = rule(transformed=transformed)
    score = chosen.score(belief_on(BOX, lengths))
    ours = -score(FINITE.U)
    assert (np.exp(ours) if rule is ExpectedRegret else ours) == pytest.approx(average(FINITE.U), rel=1e-5)
    h, (_, gradient) = 1e-6, score.with_gradient(FINITE.U)
    assert gradient[:, 0] == pytest.approx((score(FINITE.U + h) - score(FINITE.U - h)) / (2 * h), rel=1e-3, abs=1e-4)
    found = chosen.propose(belief_on(FINITE, lengths), default_rng(0))
    assert average(found[None])[0] == pytest.approx(average(FINITE.U).min(), rel=1e-6)
    found = chosen.propose(belief_on(BOX, lengths), default_rng(0))
    fine = average(np.linspace(0, 1, 2001)[:, None])
    assert average(found[None])[0] <= fine.min() + 1e-3 * np.ptp(fine)
