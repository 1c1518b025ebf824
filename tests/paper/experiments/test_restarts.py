"""What `--as paper` asks for is found from ten uniform points by SciPy's L-BFGS-B, and from nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.maximum import gumbel_of_maximum
from satisfice.acquisition.scores import probability_score
from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import Dataset, paper_model
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior
from satisfice.paper.experiments.as_written import RULES_AS_WRITTEN, rule_as_written, witnesses
from satisfice.paper.experiments.good_action import GoodActionScore, HighestMaximum
from satisfice.paper.experiments.likelihood import written_model
from satisfice.paper.experiments.restarts import climb_from, one_by_one, routine_is_known, together
from satisfice.paper.problems import PROBLEMS
from satisfice.rules.lookahead import NODES_ON_A_BOX, good_action_score, highest_draw, look_ahead


def belief_of(d=2, n=12, lengthscale=0.3, target=1.5, seed=0):
    """The belief after n values of a wave, in a box of d dimensions."""
    rng = default_rng(seed)
    U = rng.random((n, d))
    y = np.sin(5 * U).sum(axis=1)
    y = (y - y.mean()) / y.std()
    posterior = Posterior.given(Stationary("se", np.array([lengthscale])), 1e-6, U, y)
    return Belief(
        members=((1.0, posterior),),
        domain=Box([(0.0, 1.0)] * d),
        target=target,
        step=n + 1,
        seed=0,
        incumbent=float(y.max()),
        best=U[np.argsort(-y)[:5]],
        avoid=U,
    )


def scores_of(belief):
    posterior = belief.members[0][1]
    return {
        "pg": probability_score(belief, belief.target),
        "path": draw_path(posterior, default_rng(1)),
        "gs": GoodActionScore(posterior, witnesses(belief, default_rng(2)), belief.target),
    }


def test_this_scipy_has_the_routine_that_runs_in_lockstep():
    assert routine_is_known()


@pytest.mark.parametrize("name", ["pg", "path", "gs"])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_runs_in_lockstep_end_where_minimize_ends(name, d):
    score = scores_of(belief_of(d))[name]
    starts = default_rng(3).random((10, d))
    ends, others = together(starts, score), one_by_one(starts, score)
    assert np.abs(score(ends) - score(others)).max() < 1e-6 * (1 + np.abs(score(others)).max())
    assert np.median(np.abs(ends - others).max(axis=1)) < 1e-6  # a flat score may end a run a little earlier or later
    assert (ends >= 0).all()
    assert (ends <= 1).all()


def test_the_ends_come_with_their_scores_and_are_no_lower_than_the_starts():
    score = scores_of(belief_of())["pg"]
    starts = default_rng(3).random((10, 2))
    ends = climb_from(starts, score)
    assert (ends.scores == score(ends.points)).all()
    assert (ends.scores >= score(starts)).all()
    assert (ends.scores > score(starts)).any()


def test_pg_asks_the_best_point_that_minimize_finds_from_ten_uniform_starts():
    belief = belief_of()
    score = scores_of(belief)["pg"]
    ends = one_by_one(default_rng(5).random((10, 2)), score)
    expected = ends[np.argmax(score(ends))]
    assert np.abs(rule_as_written("pg").propose(belief, default_rng(5)) - expected).max() < 1e-6


@pytest.mark.parametrize("name", sorted(set(RULES_AS_WRITTEN) - {"random"}))
def test_no_rule_starts_from_the_best_points_or_keeps_away_from_any(name):
    belief, rule = belief_of(), rule_as_written(name)
    elsewhere = replace(belief, best=belief.best[:, ::-1] / 2, avoid=np.zeros((0, 2)))
    asked = rule.propose(belief, default_rng(6))
    assert (asked == rule.propose(elsewhere, default_rng(6))).all()
    assert asked.shape == (2,)
    again = rule.propose(replace(belief, avoid=np.vstack([belief.avoid, asked])), default_rng(6))
    assert (again == asked).all()


def test_a_rule_that_the_text_does_not_have_is_refused():
    with pytest.raises(BadInput, match=r"`rule` must be one of pg, eg, .*; got 'aspire'"):
        rule_as_written("aspire")


@pytest.mark.parametrize("d", [2, 3, 6])
def test_the_score_of_gs_is_that_of_the_rule_and_its_gradient_that_of_differences(d):
    belief = belief_of(d, n=4 * d)
    posterior = belief.members[0][1]
    W = witnesses(belief, default_rng(2))
    likely = gumbel_of_maximum(*posterior.marginal(W)).quantile(np.array(0.5))
    belief = replace(belief, target=float(likely))  # else the score is nearly 0 or 1 everywhere
    score = GoodActionScore(posterior, W, belief.target)
    U = default_rng(4).uniform(0.1, 0.9, (6, d))
    ahead = look_ahead(posterior, U, W, belief.target, NODES_ON_A_BOX)
    values, gradients = score.with_gradient(U)
    np.testing.assert_allclose(values, good_action_score(ahead, belief.target), rtol=1e-9)
    np.testing.assert_array_equal(values, score(U))
    h = 1e-5
    differences = np.stack([(score(U + h * e) - score(U - h * e)) / (2 * h) for e in np.eye(d)], axis=1)
    assert np.abs(gradients).max() > 1e-3
    np.testing.assert_allclose(gradients, differences, atol=1e-6 * np.abs(gradients).max())


def test_where_every_score_of_gs_is_zero_the_highest_sampled_maximum_decides():
    belief = belief_of(target=400.0)
    posterior = belief.members[0][1]
    score = GoodActionScore(posterior, witnesses(belief, default_rng(7)), belief.target)
    U = default_rng(8).random((20, 2))
    assert score(U).max() < 1e-12
    highest = HighestMaximum(score, float(default_rng(9).random(100).max()))
    ahead = look_ahead(posterior, U, score.witnesses, belief.target, NODES_ON_A_BOX)
    np.testing.assert_allclose(highest(U), highest_draw(ahead, default_rng(9)), rtol=1e-9)
    h, (values, gradients) = 1e-6, highest.with_gradient(U)
    differences = np.stack([(highest(U + h * e) - highest(U - h * e)) / (2 * h) for e in np.eye(2)], axis=1)
    assert (values == highest(U)).all()
    assert np.median(np.abs(gradients - differences).max(axis=1)) < 1e-3 * np.abs(gradients).max()  # kinks aside
    asked = rule_as_written("gs").propose(belief, default_rng(7))
    assert highest(asked[None])[0] >= np.quantile(highest(U), 0.9)


def test_mes_takes_its_maxima_from_uniform_and_evaluated_points():
    belief, rng = belief_of(), default_rng(10)
    posterior = belief.members[0][1]
    domain = np.vstack([rng.random((1000, 2)), posterior.X])
    maxima = gumbel_of_maximum(*posterior.marginal(domain)).quantile(rng.random(10))
    score = RULES_AS_WRITTEN["mes"].score(belief, default_rng(10))
    np.testing.assert_array_equal(score.maxima[0], maxima)


def test_sts_asks_the_good_point_of_its_draw_that_is_nearest_to_the_centre():
    """On a line every hill of the draw is climbed, and the nearest good point can be seen on a fine grid."""
    line = np.linspace(0, 1, 2001)[:, None]
    good = bad = 0
    for seed in range(30):
        belief = belief_of(d=1, n=4, lengthscale=0.15, target=1.0, seed=seed)
        asked = rule_as_written("sts").propose(belief, default_rng(seed))
        path = draw_path(belief.members[0][1], default_rng(seed))
        reach = path(line) >= belief.target
        if reach.any():
            nearest = np.abs(line[reach] - 0.5).min()
            good += 1
            assert path(asked[None])[0] >= belief.target
            assert abs(np.abs(asked[0] - 0.5) - nearest) < 5e-4
        else:
            bad += 1
            assert path(asked[None])[0] >= path(line).max() - 1e-6
    assert min(good, bad) >= 3


def likelihood(theta, U, z, lam):
    length, scale = np.exp(theta)
    K = scale**2 * np.exp(-cdist(U, U, "sqeuclidean") / (2 * length**2)) + lam * np.eye(len(z))
    factor = cho_factor(K, lower=True)
    return -0.5 * z @ cho_solve(factor, z) - np.log(np.diag(factor[0])).sum()


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_the_likelihood_is_maximised_over_the_whole_range(noise):
    """No point of a fine grid is better by more than a trifle; the default way of learning, quick, is often caught out."""
    grid = [np.log((length, scale)) for length in np.geomspace(1e-3, 1, 40) for scale in np.geomspace(0.05, 1.5, 12)]
    short = {"written": [], "quick": []}
    problem = PROBLEMS["alpine"]
    for seed in range(4):
        rng = default_rng(seed)
        U = rng.random((24, 6))
        y = problem.values(problem.domain.from_unit(U)) + noise * rng.standard_normal(24)
        for name, model in (("written", written_model()), ("quick", paper_model())):
            fit = None
            for n in range(3, 25, 3):
                seen = Dataset(problem.domain, U[:n], y[:n], 0.0, noise, seed)
                fit = model.fit(seen, fit)
                z, lam = fit.scaler.standardise(y[:n]), fit.posteriors[0].lam
                best = max(likelihood(theta, U[:n], z, lam) for theta in grid)
                short[name].append(best - likelihood(fit.learned[0].kernel.parameters, U[:n], z, lam))
    assert max(short["written"]) < 0.02
    assert max(short["quick"]) > 0.1
