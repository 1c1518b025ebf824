"""The maximiser against separate runs, dense grids and brute force."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import minimize

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import log_expected_excess, mix_logs, mix_standard_scores, standard_score
from satisfice.acquisition.optimise import RESOLUTION, SAME, Climbers, climb, descending, maximise, taken
from satisfice.acquisition.scores import MixedScore
from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.errors import SpaceExhausted
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior


@dataclass(frozen=True)
class Bowl:
    """A known score: -|u - centre|^2."""

    centre: np.ndarray

    def __call__(self, U):
        return -((U - self.centre) ** 2).sum(axis=1)

    def with_gradient(self, U):
        return self(U), -2 * (U - self.centre)


def belief_on(domain, avoid=None, seed=0, n=30, form="se"):
    rng = default_rng(seed)
    d = domain.dimension
    U = domain.uniform(n, rng)
    y = rng.standard_normal(n)
    posterior = Posterior.given(Stationary(form, np.array([0.3 * np.sqrt(d)])), 1e-4, U, y)
    best = U[np.argsort(-y)[:5]]
    nothing = np.empty((0, d))
    return Belief(((1.0, posterior),), domain, 2.5, n + 1, 0, y.max(), best, nothing if avoid is None else avoid)


def test_a_known_maximum_inside_and_on_the_border_is_found():
    belief = belief_on(Box([(0, 1)] * 4))
    inside = np.array([0.3, 0.71, 0.5, 0.12])
    assert maximise(Bowl(inside), belief, default_rng(0)) == pytest.approx(inside, abs=1e-6)
    outside = np.array([1.4, 0.5, -2.0, 0.2])
    assert maximise(Bowl(outside), belief, default_rng(0)) == pytest.approx([1.0, 0.5, 0.0, 0.2], abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("formula", "mix", "form"),
    [(standard_score, mix_standard_scores, "se"), (log_expected_excess, mix_logs, "matern52")],
)
def test_one_call_for_all_starts_is_as_good_as_separate_runs(seed, formula, mix, form):
    belief = belief_on(Box([(0, 1)] * 5), seed=seed, form=form)
    score = MixedScore(belief, partial(formula, level=2.5), mix)
    found = score(maximise(score, belief, default_rng(seed))[None])[0]

    def negative(u):
        value, gradient = score.with_gradient(u[None])
        return -value[0], -gradient[0]

    spread, near = belief.candidates(default_rng(seed))
    starts = np.vstack([C[np.argsort(-score(C))[:5]] for C in (spread, near)])
    separate = [minimize(negative, u, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * 5).fun for u in starts]
    assert found >= -min(separate) - 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_climbing_never_ends_below_its_starts_and_stays_in_the_cube(seed):
    belief = belief_on(Box([(0, 1)] * 3), seed=seed)
    score = MixedScore(belief, partial(standard_score, level=2.5), mix_standard_scores)
    starts = default_rng(seed).random((10, 3))
    climbed, values, *_ = climb(score, Climbers.at(starts, score))
    assert values == pytest.approx(score(climbed), rel=1e-9)
    assert ((climbed >= 0) & (climbed <= 1)).all()
    assert (values >= score(starts) - 1e-9).all()
    best = maximise(score, belief, default_rng(seed))
    assert score(best[None])[0] >= max(score(C).max() for C in belief.candidates(default_rng(seed)))


def test_a_second_climb_reuses_the_learned_curvature():
    @dataclass(frozen=True)
    class Valley:
        """A narrow ridge that is not parallel to an axis, with its top at 0.5."""

        M: np.ndarray

        def __call__(self, U):
            return -0.5 * np.einsum("md,de,me->m", U - 0.5, self.M, U - 0.5)

        def with_gradient(self, U):
            return self(U), -(U - 0.5) @ self.M

    rotation, _ = np.linalg.qr(default_rng(0).standard_normal((4, 4)))
    score = Valley(rotation @ np.diag([1.0, 5.0, 30.0, 100.0]) @ rotation.T)
    start = Climbers.at(0.5 + 0.2 * default_rng(1).standard_normal((20, 4)).clip(-1, 1), score)
    half_way = climb(score, start, rounds=8)
    on = climb(score, half_way, rounds=8)
    anew = climb(score, Climbers.at(half_way.points, score), rounds=8)
    assert (on.values >= half_way.values).all()
    assert on.values.mean() > 0.1 * anew.values.mean()  # the top is at 0: a tenth of the way is left
    assert np.abs(climb(score, half_way.some(np.array([3, 0])), rounds=8).points - on.points[[3, 0]]).max() < 1e-9


def test_the_end_of_a_climb_is_rounded_but_the_sides_of_the_box_stay_exact():
    inside = maximise(Bowl(np.array([0.3, 0.71, 0.5])), belief_on(Box([(0, 1)] * 3)), default_rng(0))
    assert (inside / RESOLUTION == np.round(inside / RESOLUTION)).all()
    assert RESOLUTION < SAME  # a point that counts as another is another after rounding, too
    outside = maximise(Bowl(np.array([1.4, 0.5, -2.0])), belief_on(Box([(0, 1)] * 3)), default_rng(0))
    assert outside.tolist() == [1.0, 0.5, 0.0]


@dataclass(frozen=True)
class Shaken:
    """A score with other last digits, as another processor would compute it."""

    score: MixedScore
    rng: np.random.Generator

    def _shaken(self, values):
        return values * (1 + 1e-12 * self.rng.uniform(-1, 1, values.shape))

    def __call__(self, U):
        return self._shaken(self.score(U))

    def with_gradient(self, U):
        value, gradient = self.score.with_gradient(U)
        return self._shaken(value), self._shaken(gradient)


def test_different_last_digits_rarely_change_the_point():
    """Of 180 points in 2, 3 and 5 dimensions 179 stay the same to the last bit; unrounded, none of 20 does."""
    same = 0
    for seed in range(20):
        belief = belief_on(Box([(0, 1)] * 3), seed=seed)
        score = MixedScore(belief, partial(standard_score, level=2.5), mix_standard_scores)
        shaken = Shaken(score, default_rng(seed))
        same += (maximise(score, belief, default_rng(0)) == maximise(shaken, belief, default_rng(0))).all()
    assert same >= 15


def test_equal_scores_keep_their_order():
    scores = np.repeat([1.0, 3.0, -np.inf, 2.0], 100)
    assert descending(scores).tolist() == [*range(100, 200), *range(300, 400), *range(100), *range(200, 300)]


def test_integer_coordinates_come_back_on_their_lattice():
    box = Box([(0, 7), (0.0, 1.0)], integers=[0])
    u = maximise(Bowl(np.array([0.4, 0.4])), belief_on(box), default_rng(0))
    assert box.from_unit(u[None])[0] == pytest.approx([3.0, 0.4], abs=1e-6)  # 0.4 * 7 = 2.8
    assert u[0] == 3 / 7


def test_a_point_to_be_avoided_is_never_returned():
    centre = np.array([0.5, 0.5])
    belief = belief_on(Box([(0, 1)] * 2), avoid=centre[None])
    u = maximise(Bowl(centre), belief, default_rng(0))
    assert np.abs(u - centre).max() > SAME
    box = Box([(0, 2), (0, 2)], integers=[0, 1])
    everything_but_one = box.candidates(9, default_rng(0))[np.arange(9) != 4]
    assert box.from_unit(maximise(Bowl(centre * 0), belief_on(box, everything_but_one), default_rng(0))[None]) == (
        pytest.approx(np.array([[1.0, 1.0]]))
    )
    with pytest.raises(SpaceExhausted, match="all 9 points"):
        maximise(Bowl(centre), belief_on(box, box.candidates(9, default_rng(0))), default_rng(0))


def test_on_a_finite_set_the_best_point_wins_and_ties_are_broken_at_random():
    points = Finite(np.array([[0.0], [1.0], [2.0], [4.0]]))
    belief = belief_on(points, n=2)
    assert maximise(Bowl(np.array([0.6])), belief, default_rng(0)) == pytest.approx([0.5])
    tied = {float(maximise(Bowl(np.array([0.375])), belief, default_rng(seed))[0]) for seed in range(20)}
    assert tied == {0.25, 0.5}


def test_taken_equals_brute_force():
    rng = default_rng(1)
    points = rng.random((40, 3))
    avoid = np.vstack([points[:5] + 0.9 * SAME, points[5:8] + 2 * SAME])
    expected = [any(np.abs(p - a).max() <= SAME for a in avoid) for p in points]
    assert taken(points, avoid, Box([(0, 1)] * points.shape[1])).tolist() == expected
    assert not taken(points, avoid[:0], Box([(0, 1)] * points.shape[1])).any()
