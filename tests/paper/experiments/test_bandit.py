"""The fast bandit on a grid: dense algebra, and the library's own rules on the same values."""

from itertools import islice

import numpy as np
import pytest

from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.paper.experiments import bandit
from satisfice.paper.theory.confidence import ConstantWidth, LogDetWidth
from satisfice.rules.baselines import ExploreThenCommit
from satisfice.rules.elimination import Elimination
from satisfice.rules.ucb import DoubledConfidence, IntersectedConfidence, UpperConfidence
from satisfice.rules.widths import sqrt_log_cubed
from satisfice.search.search import Search

GRID = Box([(0.0, 1.0)]).grid(21)
KERNEL = Stationary("matern52", np.array([0.3]))
LAM, SIGMA, ROUNDS = 0.2, 0.1, 60
PRIOR = KERNEL(GRID.U, GRID.U)
VALUES = np.sin(9 * GRID.U[:, 0]) + GRID.U[:, 0]
BY_DATA = LogDetWidth(1.0, SIGMA, 0.1)
NARROW = ConstantWidth(0.7)  # so narrow that elimination has ruled out most points after these rounds


@pytest.mark.parametrize("lam", [1e-2, 1.0])
def test_the_posterior_is_that_of_dense_algebra_even_after_thousands_of_rounds(lam):
    values = np.stack([VALUES, -VALUES])
    asked, told = np.zeros((2, 21)), np.zeros((2, 21))
    rng = np.random.default_rng(3)
    rng.random((2, 21))  # the ties are drawn first
    noise = iter(rng.standard_normal((4000, 2)))
    rule = bandit.Ucb(bandit.by_round(sqrt_log_cubed))
    for state, chosen in islice(bandit.rounds(rule, PRIOR, lam, values, SIGMA, np.random.default_rng(3)), 4000):
        if state.t in (1, 2, 50, 3999):
            for run in range(2):  # all values at a point are one value, their mean, with lam / n for its noise
                seen = np.flatnonzero(asked[run])
                K = PRIOR[np.ix_(seen, seen)] + np.diag(lam / asked[run, seen])
                k = PRIOR[seen]
                mean = k.T @ np.linalg.solve(K, told[run, seen] / asked[run, seen])
                std = np.sqrt(1 - np.einsum("ij,ij->j", k, np.linalg.solve(K, k)))
                np.testing.assert_allclose(state.mean[run], mean, atol=1e-9)
                np.testing.assert_allclose(state.std[run], std, atol=1e-8)
                counts = np.sqrt(asked[run])
                gain = 0.5 * np.linalg.slogdet(np.eye(21) + counts[:, None] * PRIOR * counts / lam)[1]
                assert state.information[run] == pytest.approx(gain, abs=1e-9)
        y = values[[0, 1], chosen] + SIGMA * next(noise)
        asked[[0, 1], chosen] += 1
        told[[0, 1], chosen] += y


class Replayed:
    """Asks what the library asked, and notes by how much the fast rule thinks another point better."""

    def __init__(self, rule, places):
        self.rule, self.places, self.shortfall = rule, places, []

    def score(self, state):
        score, place = self.rule.score(state), self.places[state.t - 1]
        self.shortfall.append(float(score.max() - score[0, place]))
        return np.where(np.arange(len(VALUES)) == place, 1.0, 0.0)[None]


@pytest.mark.parametrize(
    ("library", "fast"),
    [
        (UpperConfidence(sqrt_log_cubed), lambda: bandit.Ucb(bandit.by_round(sqrt_log_cubed))),
        (UpperConfidence(BY_DATA), lambda: bandit.Ucb(bandit.by_information(BY_DATA, LAM))),
        (IntersectedConfidence(sqrt_log_cubed), lambda: bandit.Intersected(bandit.by_round(sqrt_log_cubed))),
        (
            DoubledConfidence(sqrt_log_cubed, rounds=20),
            lambda: bandit.Intersected(bandit.by_round(sqrt_log_cubed), doubled=20),
        ),
        (Elimination(NARROW), lambda: bandit.Eliminate(bandit.by_round(NARROW))),
        (Elimination(BY_DATA), lambda: bandit.Eliminate(bandit.by_information(BY_DATA, LAM))),
        (ExploreThenCommit(25), lambda: bandit.ExploreThenCommit(25)),
    ],
)
def test_a_fast_rule_asks_what_the_rule_of_the_library_asks(library, fast):
    rng = np.random.default_rng(5)
    rng.random((1, len(VALUES)))
    search = Search(GRID, 0.0, library, model=FixedModel(KERNEL, LAM), noise=SIGMA, confirm=False, seed=2)
    places = []
    for _ in range(ROUNDS):
        x = search.ask()
        places.append(int(GRID.nearest(GRID.to_unit(x))[0]))
        search.tell(x, VALUES[places[-1]] + SIGMA * float(rng.standard_normal(1)[0]))
    replayed = Replayed(fast(), places)
    played = bandit.rounds(replayed, PRIOR, LAM, VALUES[None], SIGMA, np.random.default_rng(5))
    assert [int(chosen[0]) for _, chosen in islice(played, ROUNDS)] == places
    assert max(replayed.shortfall) <= 1e-8
    if isinstance(library, Elimination) and library.width is NARROW:
        assert replayed.rule.alive.sum() < 10


def test_runs_beside_each_other_do_not_touch_each_other():
    values = np.stack([VALUES, -VALUES, 0.5 * VALUES])
    rule = bandit.Eliminate(bandit.by_round(NARROW))
    together = [
        chosen for _, chosen in islice(bandit.rounds(rule, PRIOR, LAM, values, 0.0, np.random.default_rng(1)), 40)
    ]
    for run in range(3):
        places = [int(chosen[run]) for chosen in together]
        alone = Replayed(bandit.Eliminate(bandit.by_round(NARROW)), places)
        for _ in islice(bandit.rounds(alone, PRIOR, LAM, values[run : run + 1], 0.0, np.random.default_rng(9)), 40):
            pass
        assert max(alone.shortfall) <= 1e-9


def test_elimination_says_whether_it_may_still_choose_a_point():
    rule = bandit.Eliminate(bandit.by_round(NARROW))
    nothing, all_points = np.zeros((1, 21), dtype=bool), np.ones((1, 21), dtype=bool)
    assert rule.may_choose(nothing)  # nothing has been ruled out yet
    for _ in islice(bandit.rounds(rule, PRIOR, LAM, VALUES[None], 0.0, np.random.default_rng(1)), 40):
        pass
    assert not rule.may_choose(nothing)
    assert rule.may_choose(all_points)
    assert not rule.may_choose((VALUES < VALUES.max() - 1)[None])
