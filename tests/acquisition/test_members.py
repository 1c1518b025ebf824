"""All members of a belief at once, against each of them alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import approx_fprime

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import log_expected_excess, mix_logs, mix_standard_scores, standard_score
from satisfice.acquisition.members import MemberStack
from satisfice.acquisition.scores import MixedScore
from satisfice.domain.box import Box
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.posterior import SMALL, Posterior
from satisfice.gp.priors import exact_families

SCORES = {
    "pg": (partial(standard_score, level=1.5), mix_standard_scores),
    "eg": (partial(log_expected_excess, level=1.5), mix_logs),
}


def belief_of(d, n, seed=0, lam=1e-3):
    rng = default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(5 * X[:, 0]) + X[:, -1]
    kernels = [each.kernel.with_parameters(each.kernel.parameters + 0.2) for each in exact_families(d)]
    weights = rng.dirichlet(np.ones(len(kernels)))
    members = tuple((float(w), Posterior.given(k, lam, X, y)) for w, k in zip(weights, kernels, strict=True))
    return Belief(members, Box([(0.0, 1.0)] * d), 1.5, 5, 0, float(y.max()), X[:3], X)


@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("n", [1, 4, 30])
def test_marginals_together_are_those_of_each_member(n, d):
    belief = belief_of(d, n)
    U = np.vstack([default_rng(1).random((7, d)), belief.avoid[:1]])
    together = belief.stack.marginals_with_vjp(U)
    by_mean, by_std = default_rng(2).standard_normal((2, len(belief.members), len(U)))
    expected = np.zeros(U.shape)
    for row, k in enumerate(belief.stack.order):
        alone = belief.members[k][1].marginal_with_vjp(U)
        assert together.mean[row] == pytest.approx(alone.mean, rel=1e-9, abs=1e-9)
        assert together.std[row] == pytest.approx(alone.std, rel=1e-7)
        expected += alone.vjp(by_mean[row], by_std[row])
    assert together.vjp(by_mean, by_std) == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("name", SCORES)
def test_scores_and_gradients_of_a_stack_are_those_of_the_mixture(name):
    belief = belief_of(3, 12)
    score = MixedScore(belief, *SCORES[name])
    U = default_rng(3).random((5, 3))
    values, gradients = score.with_gradient(U)
    assert values == pytest.approx(score(U), rel=1e-9)
    for u, gradient in zip(U, gradients, strict=True):
        numeric = approx_fprime(u, lambda v: score(v[None])[0], 1e-6)
        assert gradient == pytest.approx(numeric, rel=1e-3, abs=1e-3 * np.abs(gradients).max())


def test_what_cannot_be_stacked_is_evaluated_one_by_one():
    belief = belief_of(2, 10)
    first, second = belief.members[0][1], belief.members[1][1]
    odd = Posterior.given(Additive("se", np.array([0.3, 0.5])), 1e-3, first.X, first.y)
    large = [
        Posterior.given(each.kernel, 1e-1, np.linspace(0, 1, SMALL + 1)[:, None], np.zeros(SMALL + 1))
        for each in (first, first)
    ]
    for posteriors in ([first], [first, odd], [first, second.extend(np.array([0.5, 0.5]), 1.0)], large, []):
        assert MemberStack.of(posteriors) is None
    mixed = replace(belief, members=((0.5, first), (0.5, odd)))
    values, _ = MixedScore(mixed, *SCORES["pg"]).with_gradient(belief.avoid[:4] + 0.01)
    assert np.isfinite(values).all()


def test_a_belief_of_one_member_needs_no_stack():
    belief = belief_of(2, 10)
    alone = replace(
        belief, members=((1.0, Posterior.given(Stationary("se", np.array([0.3])), 1e-3, belief.avoid, np.zeros(10))),)
    )
    assert alone.stack is None
