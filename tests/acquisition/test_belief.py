"""The belief while evaluations are pending: each counts as a bad value."""

import mpmath
import numpy as np
import pytest

from satisfice.acquisition.belief import CLEARLY, Belief
from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary, WithNugget
from satisfice.gp.posterior import Posterior

X, Y = np.array([[0.1], [0.4], [0.9]]), np.array([-1.0, 0.5, 0.2])


def belief(target, kernel=None):
    posterior = Posterior.given(kernel or Stationary("matern52", 0.3), 1e-6, X, Y)
    return Belief(((1.0, posterior),), Box([(0.0, 1.0)]), target, 4, 0, float(Y.max()), X[1:2], X)


def mean_below(mean, std, target):
    """E[f | f < target] of a normal f, by quadrature over 20 standard deviations below the target."""

    def weight(f):  # the density as a multiple of that at the target
        return mpmath.exp(((target - mean) ** 2 - (f - mean) ** 2) / (2 * std * std))

    places = mpmath.linspace(target - 20 * std, target, 41)
    return float(mpmath.quad(lambda f: f * weight(f), places) / mpmath.quad(weight, places))


@pytest.mark.parametrize("target", [-60.0, -5.0, -1.0, 0.3, 1.0, 4.0])
def test_a_pending_value_is_the_mean_of_the_part_below_the_target(target):
    before, u = belief(target), np.array([[0.65]])
    mean, std = (float(part[0]) for part in before.marginal(u))
    after = before.assuming_bad(u)
    (_, posterior), *_ = after.members
    expected = min(mean_below(mean, std, target), target - CLEARLY)
    assert posterior.y[-1] == pytest.approx(expected, rel=1e-8)
    assert after.marginal(u).mean[0] == pytest.approx(
        expected, rel=1e-5, abs=1e-4
    )  # its noise variance is a millionth of the kernel's
    assert after.avoid.tolist() == [*X.tolist(), [0.65]]
    assert after.probability_good(u)[0] < 1e-6


def test_the_vjp_of_a_mixture_equals_central_differences():
    rng = np.random.default_rng(0)
    points, values = rng.random((12, 2)), rng.standard_normal(12)
    kernels = [Stationary("se", 0.4), Stationary("matern52", [0.3, 0.8], 1.5), WithNugget(Stationary("se", 0.6), 0.2)]
    members = tuple(
        (w, Posterior.given(k, 1e-4, points, values)) for w, k in zip((0.5, 0.3, 0.2), kernels, strict=True)
    )
    mixture = Belief(members, Box([(0.0, 1.0)] * 2), 1.0, 13, 0, 1.0, points[:1], points)
    U, step = rng.random((6, 2)), 1e-6
    by_mean, by_std = rng.standard_normal((2, 6))
    found = mixture.marginal_with_vjp(U)
    assert found.mean == pytest.approx(mixture.marginal(U).mean, rel=1e-10)
    assert found.std == pytest.approx(mixture.marginal(U).std, rel=1e-10)
    for j in range(2):
        above, below = (mixture.marginal(U + sign * step * np.eye(2)[j]) for sign in (1, -1))
        gradients = [(a - b) / (2 * step) for a, b in zip(above, below, strict=True)]
        # truncation step^2 times a third derivative of some 1e3; rounding 1e-12 / step
        assert found.vjp(by_mean, by_std)[:, j] == pytest.approx(
            by_mean * gradients[0] + by_std * gradients[1], abs=1e-5
        )


def test_a_pending_value_is_capped():
    (_, posterior), *_ = belief(1.0).assuming_bad(np.array([[0.65]]), at_most=-2.0).members
    assert posterior.y[-1] == -2.0


def test_two_pending_points_are_added_one_after_the_other():
    u, v = np.array([[0.6]]), np.array([[0.7]])
    together = belief(1.0).assuming_bad(np.vstack([u, v])).members[0][1]
    in_turn = belief(1.0).assuming_bad(u).assuming_bad(v).members[0][1]
    assert together.y.tolist() == in_turn.y.tolist()
    assert together.y[-1] < belief(1.0).assuming_bad(v).members[0][1].y[-1]  # the bad neighbour is known


def test_under_a_nugget_a_pending_value_is_one_of_the_trend():
    kernel = WithNugget(Stationary("se", 0.3), 0.5)
    before, u = belief(1.0, kernel), np.array([[0.65]])
    after = before.assuming_bad(u)
    beside = np.array([[0.6501]])  # a value of the ripples would say little about its neighbours
    assert after.marginal(beside).mean[0] == pytest.approx(after.members[0][1].y[-1], abs=0.01)
    assert before.assuming_bad(X[1:2]).members[0][1].y.tolist() == Y.tolist()  # observed points keep their values
