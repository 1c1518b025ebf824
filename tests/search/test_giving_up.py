"""What a search says when it gives up: the draws are uniform and recognised, the share is stated, `none` is for proof."""

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, Finite, Search
from satisfice.certificates.hope import outlook
from satisfice.certificates.share import noise_free, share_bound
from satisfice.errors import NumericalFailure
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.search.config import SearchConfig
from satisfice.search.draws import ENOUGH, Draws
from satisfice.search.observations import Observations
from satisfice.search.surrogate import LONG

SQUARE = Box([(-1, 1), (-1, 1)])


def bowl(x):
    return -float((x**2).sum())


def finished(search, f, most):
    for _ in range(most):
        if (answer := search.answer()).verdict != "open":
            return answer
        x = search.ask()
        search.tell(x, f(x))
    return search.answer()


def test_a_target_out_of_reach_is_unlikely_with_the_share_that_the_draws_show():
    search = Search(SQUARE, 1.0, noise=0)
    answer = finished(search, bowl, 400)
    assert answer.verdict == "unlikely"
    assert not answer.proven
    assert answer.hope < 0.05
    assert answer.share == share_bound(np.full(ENOUGH, -1.0), 1.0, noise_free(1.0))
    text = str(answer)
    assert "at most 2 % of all settings are good" in text
    assert "no setting" not in text


def test_draws_that_failed_are_said_and_left_out_of_the_share():
    search = Search(SQUARE, 1.0, noise=0)
    draws = search.surrogate.draws
    for number in range(9):
        x = draws.point(number)
        if number % 3:
            search.tell(x, bowl(x))
        else:
            search.fail(x)
    bound = draws.bound()
    assert (bound.draws, bound.failed) == (6, 3)
    assert "that give a value" in str(bound)


def test_a_search_that_may_not_give_up_goes_on():
    search = Search(SQUARE, 1.0, noise=0, give_up=False)
    answer = finished(search, bowl, 120)
    assert answer.verdict == "open"
    assert answer.share is None
    assert answer.hope < 0.05


def test_whoever_reads_the_history_knows_the_draws():
    search = Search(SQUARE, 1.0, noise=0)
    finished(search, bowl, 130)
    told = search.observations
    again = Search(SQUARE, 1.0, noise=0)
    for x, y in zip(told.X, told.y, strict=True):
        again.tell(x, y)
    assert again.surrogate.draws.found == search.surrogate.draws.found
    assert len(search.surrogate.draws.found) > 20
    assert again.answer().share == search.answer().share


def test_draws_are_uniform_and_other_evaluations_do_not_count():
    seen = Observations(SQUARE, Search(SQUARE, 1.0, seed=7).config)
    draws = Draws(seen, None)
    points = np.array([draws.point(number) for number in range(2000)])
    counts = np.histogram2d(*points.T, bins=4, range=[(-1, 1), (-1, 1)])[0]
    assert np.abs(counts - 125).max() < 5 * np.sqrt(125)
    seen.tell([0.1, 0.2], 0.0)
    assert draws.found == []
    seen.tell(draws.point(1), -2.0)  # the first draw is still missing
    assert draws.found == []
    seen.tell(draws.point(0), -1.0, fresh=False)
    assert draws.found == []  # out of a table
    seen.tell(draws.point(0), -1.0)
    assert draws.found == [3, 1]
    seen.fail(draws.point(2))
    assert draws.found == [3, 1, -1]
    assert (draws.next(np.empty((0, 2))) == draws.point(3)).all()
    assert (draws.next(SQUARE.to_unit([draws.point(3)])) == draws.point(4)).all()


def rippled(x):
    return float(np.sin(50 * x[0]) + np.sin(31 * x[0] + 1))


def test_a_search_that_is_long_in_vain_draws_every_second_setting_and_says_what_they_show():
    rng = np.random.default_rng(0)
    open_ended, goes_on = (Search(Box([(0, 1)]), 2.2, noise=0, give_up=give_up) for give_up in (True, False))
    for x in rng.random((LONG * 2, 1)):
        assert not open_ended.surrogate.long_in_vain
        for search in (open_ended, goes_on):
            search.tell(x, rippled(x) + 0.3 * np.sin(700 * x[0]))
    assert open_ended.surrogate.long_in_vain
    assert open_ended.hope() > 0.05
    draws, asked = open_ended.surrogate.draws, []
    for _ in range(12):
        asked.append(open_ended.ask())
        open_ended.tell(asked[-1], rippled(asked[-1]))
        assert open_ended.answer().verdict == "open"
    drawn = [draws.point(k).tolist() in [x.tolist() for x in asked] for k in range(7)]
    assert drawn == [True] * 6 + [False]
    assert open_ended.answer().share.draws == 6
    assert not goes_on.surrogate.long_in_vain
    assert goes_on.answer().share is None


@pytest.mark.parametrize("learned_from", [None, 4, 40, 10**6])
def test_hope_is_the_probability_that_a_draw_with_tails_reaches_the_target(learned_from):
    """Independent: the posterior by dense algebra, and its maximum over eight points by many draws."""
    at, told, values = np.linspace(0, 1, 8), np.array([0.0, 4 / 7, 1.0]), np.array([0.3, -0.4, 0.1])
    search = Search(Finite(at[:, None]), 1.5, "pg", model=FixedModel(Stationary("se", 0.2), 0.01), noise=0.1)
    for x, y in zip(told, values, strict=True):
        search.tell([x], y)
    belief = search.surrogate.belief()
    hope = np.mean([outlook(belief, default_rng(k), learned_from=learned_from).hope for k in range(40)])

    def k(a, b):
        return np.exp(-((a[:, None] - b) ** 2) / (2 * 0.2**2))

    gain = k(at, told) @ np.linalg.inv(k(told, told) + 0.01 * np.eye(3))
    mean, cov = gain @ values, k(at, at) - gain @ k(told, at)
    rng = default_rng(1)
    draws = rng.multivariate_normal(np.zeros(8), cov, 100_000)
    doubt = 0.0
    if learned_from is not None:
        freedom = 3 + learned_from / (3.5 * 2)
        draws *= np.sqrt(freedom / rng.chisquare(freedom, (100_000, 1)))
        doubt = np.exp(-learned_from / (7 * 2))
    expected = doubt + (1 - doubt) * ((mean + draws).max(axis=1) >= 1.5).mean()
    assert 0.02 < expected < 0.9
    assert hope == pytest.approx(expected, abs=0.015)


def test_where_nothing_was_learned_hope_stays():
    search = Search(Box([(0, 1)] * 2), 1.0, noise=0)
    with pytest.warns(UserWarning, match="equal"):
        answer = finished(search, lambda x: 0.0, 130)
    assert answer.verdict == "open"
    assert answer.hope == 1.0


def test_every_setting_without_noise_is_proof():
    search = Search(Finite(np.arange(6.0)[:, None]), 2.0, noise=0)
    answer = finished(search, lambda x: float(np.sin(x[0])), 20)
    assert (answer.verdict, answer.proven, answer.evaluations) == ("none", True, 6)


def test_the_bounds_of_a_known_kernel_on_a_finite_domain_are_proof_and_say_what_they_rest_on():
    points = Finite(np.linspace(0, 1, 60)[:, None])
    search = Search(points, 5.0, "pg", model=FixedModel(Stationary("se", 0.3), 0.01), noise=0.1)
    answer = finished(search, lambda x: float(np.sin(3 * x[0])), 60)
    assert answer.verdict == "none"
    assert not answer.proven
    assert "confidence bounds of the stated kernel, which all hold but for 5 %" in str(answer)


def test_on_a_finite_domain_a_setting_that_is_drawn_again_under_noise_takes_another_value():
    domain = Finite(np.arange(4.0)[:, None])
    seen = Observations(domain, Search(domain, 1.0, noise=1.0).config)
    draws = Draws(seen, None)
    for x in range(4):
        seen.tell([x], -1.0)
    numbers = [int(draws.point(number)[0]) for number in range(40)]
    first_again = next(k for k in range(40) if numbers[k] in numbers[:k])
    assert len(draws.found) == first_again
    assert draws.next(np.empty((0, 1)))[0] == numbers[first_again]
    seen.tell([numbers[first_again]], -2.0)
    assert draws.found[first_again] == 4
    assert draws.wanted == 40


def test_half_of_a_batch_at_most_repeats_one_setting_unless_that_settles_it():
    rng = np.random.default_rng(0)
    search = Search(Box([(0, 1)] * 2), 0.85, noise=0.1)
    shares = []
    for _ in range(12):
        batch = []
        for _ in range(4):
            batch.append(search.ask(batch))
        plan = search.surrogate.plan()
        same = max(sum((x == z).all() for z in batch) for x in batch)
        if plan is not None and plan.cost > 4:
            shares.append(same / 4)
        for x in batch:
            search.tell(x, 0.9 - float(((x - 0.5) ** 2).sum()) + 0.1 * rng.standard_normal())
    assert shares
    assert max(shares) <= 0.5


@pytest.mark.parametrize("noise", [0, 0.5])
def test_where_no_setting_is_free_nothing_is_drawn(noise):
    search = Search(Finite(np.arange(6.0)[:, None]), 9.0, noise=noise)
    for i in range(4):
        search.tell([i], float(i))
    search.fail([4.0])
    draws, waiting = search.surrogate.draws, search.domain.to_unit([[5.0]])
    assert draws.next(waiting[:0]) is not None
    assert (draws.next(waiting) is None) == (noise == 0)  # under noise a setting may be drawn again


def test_where_every_setting_failed_nothing_is_drawn():
    search = Search(Finite(np.arange(3.0)[:, None]), 9.0, noise=0.5)
    for i in range(3):
        search.fail([float(i)])
    assert search.surrogate.draws.next(np.empty((0, 1))) is None


def test_the_model_is_judged_anew_once_noise_shows():
    class Recorder:
        starting_points, noises = 1, []

        def fit(self, seen, previous=None):
            self.noises.append(seen.noise)
            raise NumericalFailure("not fitted")

    told = Observations(SQUARE, SearchConfig(1.0))
    draws = Draws(told, Recorder())
    for x in np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]):
        told.tell(x, bowl(x))
        told.tell(x, bowl(x))
    for number in range(2 * ENOUGH // 3):
        told.tell(draws.point(number), bowl(draws.point(number)))
    assert told.deterministic
    draws.calibrated()
    told.tell([0.1, 0.2], 0.5)
    assert told.deterministic is False
    draws.calibrated()
    assert Recorder.noises == [0.0, None]
