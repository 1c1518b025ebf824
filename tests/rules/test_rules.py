"""Every rule of the table on every kind of domain, and each against what it says it maximises."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import norm

from satisfice.acquisition.belief import Belief, Seen
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.domain.parameters import Categorical, Integer
from satisfice.domain.product import Product
from satisfice.errors import BadInput
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.posterior import Posterior
from satisfice.rules import RULES, requirements_of

DOMAINS = {
    "box": Box([(-3.0, 5.0), (0.0, 1.0)]),
    "mixed box": Box([(1, 9), (0.0, 1.0)], integers=[0]),
    "finite": Box([(0.0, 1.0), (0.0, 1.0)]).grid(12),
}


def belief_on(domain, members=2, n=14, seed=3, target=1.4):
    rng = default_rng(seed)
    U = domain.uniform(n, rng)
    y = np.sin(5 * U[:, 0]) + U[:, 1]
    kernels = [
        Stationary("se", np.array([0.3])),
        Stationary("matern52", np.array([0.4, 0.7])),
        Additive("se", np.array([0.5])),
    ]
    weights = [0.6, 0.3, 0.1] if members == 3 else ([0.7, 0.3] if members == 2 else [1.0])
    posteriors = [Posterior.given(kernel, 1e-6, U, y) for kernel in kernels[:members]]
    members = tuple(zip(weights, posteriors, strict=True))
    best = U[np.argsort(-y)[:5]]
    return Belief(members, domain, target, n + 1, seed, y.max(), best, U, seen=Seen(U, y, 0.0))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=list(DOMAINS))
@pytest.mark.parametrize("members", [1, 3])
def test_a_proposal_is_a_new_point_of_the_domain_and_reproducible(name, domain, members):
    belief = belief_on(domain, members)
    needs = requirements_of(RULES[name]())
    if (needs.finite and belief.points is None) or (needs.single and members > 1):
        with pytest.raises(BadInput, match=r"Box\.grid|FixedModel"):
            RULES[name]().propose(belief, default_rng(0))
        return
    u = RULES[name]().propose(belief, default_rng([0, 15]))
    again = RULES[name]().propose(belief, default_rng([0, 15]))
    assert u.shape == (2,)
    assert (u == again).all()
    assert ((u >= 0) & (u <= 1)).all()
    assert (domain.snap(u[None]) == u).all()
    assert np.abs(belief.avoid - u).max(axis=1).min() > 1e-7


def mixture_probability(belief, U, level):
    parts = []
    for weight, posterior in belief.members:
        mean, std = posterior.marginal(U)
        parts.append(weight * norm.sf(level, mean, std))
    return np.sum(parts, axis=0)


def mixture_excess(belief, U, level):
    parts = []
    for weight, posterior in belief.members:
        mean, std = posterior.marginal(U)
        z = (mean - level) / std
        parts.append(weight * std * (z * norm.cdf(z) + norm.pdf(z)))
    return np.sum(parts, axis=0)


def mixture_moments(belief, U):
    weights = np.array([weight for weight, _ in belief.members])
    means, stds = np.moveaxis(np.array([posterior.marginal(U) for _, posterior in belief.members]), 1, 0)
    mean = weights @ means
    return mean, np.sqrt(weights @ (stds**2 + means**2) - mean**2)


def upper_bound(belief, U):
    mean, std = mixture_moments(belief, U)
    return mean + np.sqrt(np.log(belief.step)) * std


def straddle(belief, U):
    mean, std = mixture_moments(belief, U)
    return 1.96 * std - np.abs(mean - belief.target)


@pytest.mark.parametrize("members", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "utility"),
    [
        ("pg", lambda b, U: mixture_probability(b, U, b.target)),
        ("pi", lambda b, U: mixture_probability(b, U, b.incumbent)),
        ("eg", lambda b, U: mixture_excess(b, U, b.target)),
        ("ei", lambda b, U: mixture_excess(b, U, b.incumbent)),
        ("ucb", upper_bound),
        ("straddle", straddle),
    ],
)
def test_a_rule_maximises_its_utility(name, utility, members):
    finite = belief_on(DOMAINS["finite"], members)
    free = np.abs(finite.points[:, None] - finite.avoid).max(axis=2).min(axis=1) > 1e-6
    scores = utility(finite, finite.points[free])
    found = RULES[name]().propose(finite, default_rng(0))
    assert utility(finite, found[None])[0] == pytest.approx(scores.max(), rel=1e-12)
    box = belief_on(DOMAINS["box"], members)
    found = RULES[name]().propose(box, default_rng(0))
    fine = DOMAINS["box"].grid(101).U
    fine = fine[np.abs(fine[:, None] - box.avoid).max(axis=2).min(axis=1) > 0.01]
    assert utility(box, found[None])[0] >= utility(box, fine).max() * (1 - 1e-6)


@pytest.mark.parametrize("name", ["random", "sobol"])
@pytest.mark.parametrize(
    "domain",
    [
        Finite(np.arange(8.0)[:, None]),
        Box([(0, 3), (0, 1)], integers=[0, 1]),
        Product([Integer(0, 3), Categorical("ab")]),
    ],
)
def test_random_and_sobol_cover_the_domain_in_an_order_given_by_the_seed(domain, name):
    orders = []
    for seed in (5, 6):
        avoid = np.empty((0, domain.dimension))
        for step in range(1, 9):
            belief = Belief((), domain, 0.0, step, seed, 0.0, avoid, avoid)
            u = RULES[name]().propose(belief, default_rng([seed, step]))
            avoid = np.vstack([avoid, u])
        orders.append(domain.from_unit(avoid).tolist())
    everything = sorted(domain.from_unit(domain.candidates(8, default_rng(0))).tolist())
    assert sorted(orders[0]) == sorted(orders[1]) == everything
    assert everything != orders[0] != orders[1]


def test_sobol_walks_along_one_sequence():
    box, nothing = Box([(0.0, 1.0)] * 2), np.empty((0, 2))
    points = np.array(
        [
            RULES["sobol"]().propose(Belief((), box, 0.0, step, 9, 0.0, nothing, nothing), default_rng([9, step]))
            for step in range(1, 65)
        ]
    )
    cells = np.floor(points * 8).astype(int)
    assert len({tuple(cell) for cell in cells}) == 64  # a (0, 6, 2)-net: one point in each of the 64 squares
