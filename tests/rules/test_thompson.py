"""ts and sts against the laws they draw from."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import chisquare

from satisfice.acquisition.belief import Belief, Seen
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior
from satisfice.rules import thompson
from satisfice.rules.thompson import FirstSatisficingThompson, SatisficingThompson, ThompsonSampling, draw_values

POINTS = np.linspace(0, 1, 12)[:, None]


def known(lengthscale=0.2, seed=0):
    X = POINTS[[2, 8]]
    return Posterior.given(
        Stationary("matern52", np.array([lengthscale])), 1e-2, X, default_rng(seed).standard_normal(2)
    )


def on(domain, members, target=0.8):
    posterior = members[0][1]
    return Belief(members, domain, target, 3, 0, posterior.y.max(), posterior.X, np.empty((0, domain.dimension)))


@pytest.mark.parametrize("limit", [1000, 5])
def test_ts_asks_each_point_with_the_probability_that_it_is_the_best(limit, monkeypatch):
    """Of a mixture, so that members are drawn by their weight; jointly, and beyond the limit by paths."""
    monkeypatch.setattr(thompson, "JOINTLY", limit)
    members = ((0.3, known()), (0.7, known(0.5, seed=5)))
    belief = on(Finite(POINTS), members)
    runs = 1500
    asked = [round(11 * ThompsonSampling().propose(belief, default_rng(seed))[0]) for seed in range(runs)]
    expected = np.zeros(12)
    for weight, posterior in members:
        mean, covariance = posterior.joint(POINTS)
        factor = np.linalg.cholesky(covariance + 1e-10 * np.eye(12))
        best = (mean + (factor @ default_rng(9).standard_normal((12, 400_000))).T).argmax(axis=1)
        expected += weight * np.bincount(best, minlength=12) / 400_000
    frequent = expected * runs >= 5
    observed = np.bincount(asked, minlength=12)
    seen = np.append(observed[frequent], observed[~frequent].sum())
    wanted = np.append(expected[frequent], expected[~frequent].sum()) * runs
    assert chisquare(seen[wanted > 0], wanted[wanted > 0]).pvalue > 1e-3


def test_draws_on_a_finite_set_have_the_posteriors_moments():
    posterior = known()
    draws = np.array([draw_values(posterior, POINTS, default_rng(seed)) for seed in range(4000)])
    mean, covariance = posterior.joint(POINTS)
    assert np.abs((draws.mean(axis=0) - mean) / np.sqrt(np.diagonal(covariance) / 4000)).max() < 4.5
    assert np.abs(np.cov(draws.T) - covariance).max() < 0.1


def test_ts_finds_the_maximum_of_its_path_on_a_box():
    box = Box([(0.0, 1.0)] * 2)
    X = default_rng(0).random((10, 2))
    posterior = Posterior.given(Stationary("se", np.array([0.25])), 1e-4, X, np.sin(7 * X[:, 0]))
    for seed in range(8):
        asked = ThompsonSampling().propose(on(box, ((1.0, posterior),)), default_rng(seed))
        rng = default_rng(seed)
        rng.choice(1, p=[1.0])  # the rule draws the member first
        path = draw_path(posterior, rng)
        fine = box.grid(101).U
        assert path(asked[None])[0] >= path(fine).max() - 1e-3


@pytest.mark.parametrize("centre", [[0.1], [0.1, 0.2, 0.3], "ab", [0.1, np.nan]])
def test_the_centre_must_be_a_point(centre):
    domain, X = Box([(0.0, 1.0)] * 2), default_rng(1).random((3, 2))
    posterior = Posterior.given(Stationary("se", np.array([0.2])), 1e-4, X, X[:, 0])
    with pytest.raises(BadInput, match=r"`centre` of SatisficingThompson must .*; got"):
        SatisficingThompson(centre).propose(on(domain, ((1.0, posterior),), 0.0), default_rng(0))


@pytest.mark.parametrize("centre", [None, (2.0, -3.0), (0.3, 0.9)])
def test_sts_returns_the_nearest_point_that_the_path_calls_good(centre):
    box = Box([(-2.0, 3.0), (-4.0, 2.0)])
    X = default_rng(1).random((12, 2))
    posterior = Posterior.given(Stationary("se", np.array([0.2])), 1e-4, X, np.cos(9 * X[:, 0]) - X[:, 1])
    middle = np.array([0.5, 0.5]) if centre is None else box.to_unit(centre)[0]
    fine = box.grid(81).U
    hits = empty = 0
    for seed in range(8):
        for target in (0.9, 30.0):
            asked = SatisficingThompson(centre).propose(on(box, ((1.0, posterior),), target), default_rng(seed))
            rng = default_rng(seed)
            rng.choice(1, p=[1.0])
            path = draw_path(posterior, rng)
            values = path(fine)
            if target == 30.0:
                assert path(asked[None])[0] >= values.max() - 1e-3  # nothing is good: the path's maximiser
                empty += 1
                continue
            assert path(asked[None])[0] >= target
            nearest = np.linalg.norm(fine[values >= target] - middle, axis=1).min()
            hits += np.linalg.norm(asked - middle) <= nearest + 0.02  # half a cell of the grid and a little
    assert empty == 8
    assert hits >= 7  # a local search may miss an island of the good set that no candidate hit


def test_sts_finds_a_good_set_that_no_candidate_hits():
    box = Box([(0.0, 1.0)] * 2)
    X = default_rng(1).random((12, 2))
    posterior = Posterior.given(Stationary("se", np.array([0.2])), 1e-4, X, np.cos(9 * X[:, 0]) - X[:, 1])
    for seed in range(4):
        top = SatisficingThompson().propose(on(box, ((1.0, posterior),), 1e3), default_rng(seed))
        rng = default_rng(seed)
        rng.choice(1, p=[1.0])
        path = draw_path(posterior, rng)
        target = path(top[None])[0] - 1e-6  # only the very top of the path is good
        asked = SatisficingThompson().propose(on(box, ((1.0, posterior),), target), default_rng(seed))
        assert path(asked[None])[0] >= target


def test_sts_on_a_finite_set_takes_the_nearest_good_point_or_the_best_one():
    posterior = known()
    for seed in range(30):
        for target in (0.5, 50.0):
            asked = SatisficingThompson((0.1,)).propose(
                on(Finite(POINTS), ((1.0, posterior),), target), default_rng(seed)
            )
            rng = default_rng(seed)
            rng.choice(1, p=[1.0])
            values = draw_values(posterior, POINTS, rng)
            good = np.flatnonzero(values >= target)
            best = good[np.argmin(np.abs(POINTS[good, 0] - 0.1))] if len(good) else np.argmax(values)
            assert asked[0] == POINTS[best, 0]


def first_of(belief, values, tolerance):
    """By a loop: the points in the order in which they were first evaluated, then the others in the seed's order."""
    tried = [round(11 * u) for u in belief.seen.points[:, 0]]
    others = default_rng([belief.seed, 0]).permutation(12)
    level = belief.target if tolerance is None else values.max() - tolerance
    avoided = {round(11 * u) for u in belief.avoid[:, 0]}
    for i in [*tried, *others]:
        if values[i] >= level and i not in avoided:
            return i
    return max((i for i in range(12) if i not in avoided), key=lambda i: values[i])


@pytest.mark.parametrize("tolerance", [None, 0.3])
@pytest.mark.parametrize("target", [0.5, 50.0])
@pytest.mark.parametrize("noisy", [True, False])
def test_sts_first_asks_the_first_tried_point_that_the_draw_calls_good_enough(noisy, target, tolerance):
    posterior = known()
    tried = POINTS[[8, 2, 8, 5]]
    belief = on(Finite(POINTS), ((1.0, posterior),), target)
    belief = replace(
        belief, seen=Seen(tried, np.zeros(4), 0.1), avoid=tried[:0] if noisy else tried, may_repeat=noisy, seed=7
    )
    asked = set()
    for seed in range(60):
        found = FirstSatisficingThompson(tolerance).propose(belief, default_rng(seed))
        rng = default_rng(seed)
        rng.choice(1, p=[1.0])
        values = draw_values(posterior, POINTS, rng)
        assert found[0] == POINTS[first_of(belief, values, tolerance), 0]
        asked.add(float(found[0]))
    assert len(asked) > 3  # tried ones, untried ones, and maximisers


@pytest.mark.parametrize("tolerance", [None, 1.5])
def test_sts_first_on_a_box_replicates_a_point_or_takes_a_listed_or_the_best_one(tolerance):
    box = Box([(0.0, 1.0)] * 2)
    X = default_rng(1).random((6, 2))
    posterior = Posterior.given(Stationary("se", np.array([0.2])), 1e-2, X, np.cos(9 * X[:, 0]) - X[:, 1])
    kinds = set()
    for target in (0.3, 1.2, 30.0):
        belief = replace(on(box, ((1.0, posterior),), target), seen=Seen(X, posterior.y, 0.1), may_repeat=True)
        for seed in range(6):
            found = FirstSatisficingThompson(tolerance).propose(belief, default_rng(seed))
            rng = default_rng(seed)
            rng.choice(1, p=[1.0])
            path = draw_path(posterior, rng)
            height = path(box.grid(41).U).max()
            level = target if tolerance is None else height - tolerance
            value, before = path(found[None])[0], path(X)
            tried = np.flatnonzero((X == found).all(axis=1))
            if len(tried):
                assert (before[: tried[0]] < level + 0.02).all()
                assert value >= level - 0.02
                kinds.add("tried")
            elif value < height - 0.02:
                assert (before < level + 0.02).all()
                assert value >= level - 0.02
                kinds.add("listed")
            else:
                assert (before < level + 0.02).all()
                kinds.add("best")
    assert kinds >= ({"tried", "listed", "best"} if tolerance is None else {"tried", "listed"})
