"""The default rule: a level within reach, and a distance where the search has stopped rising."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from test_rules import DOMAINS, belief_on

from satisfice import Box, Search
from satisfice.rules.aspire import NEAREST, Aspire
from satisfice.rules.marginal import ProbabilityGood

FINITE = DOMAINS["finite"]
REACH, STALE = Aspire().reach, Aspire().patience


@pytest.mark.parametrize("step", [14, 15])
def test_a_target_within_reach_is_aimed_at_as_pg_does(step):
    belief = replace(belief_on(FINITE, members=1), step=step)
    mean, std = belief.marginal(FINITE.U)
    within = float((mean + (min(REACH) - 0.1) * std).max())
    belief = replace(belief, target=within)
    assert (Aspire().propose(belief, default_rng(0)) == ProbabilityGood().propose(belief, default_rng(0))).all()


@pytest.mark.parametrize("step", [14, 15])
def test_of_a_target_out_of_reach_the_upper_confidence_bound_is_left(step):
    belief = replace(belief_on(FINITE, members=1), step=step, target=1e5)
    mean, std = belief.marginal(FINITE.U)
    bound = mean + REACH[step % 2] * std
    free = (np.abs(FINITE.U[:, None] - belief.avoid).max(axis=2) > 1e-6).all(axis=1)
    best = FINITE.U[np.flatnonzero(free)[np.argmax(bound[free])]]
    assert (Aspire().propose(belief, default_rng(0)) == best).all()


@pytest.mark.parametrize("domain", DOMAINS.values(), ids=list(DOMAINS))
def test_a_stale_search_keeps_its_distance_at_every_second_question(domain):
    belief = replace(belief_on(domain, members=2), stale=STALE, step=20)
    for seed in range(20):
        u = Aspire().propose(belief, default_rng(seed))
        gap = np.sqrt(((belief.avoid - u) ** 2).mean(axis=1)).min()
        assert gap >= NEAREST / 2
        assert (domain.snap(u[None]) == u).all()
    odd = replace(belief, step=21)
    assert (Aspire().propose(odd, default_rng(0)) == Aspire().propose(replace(odd, stale=0), default_rng(0))).all()


@pytest.mark.parametrize("step", [4, 6, 14])
def test_early_every_second_question_keeps_a_margin_from_the_sides(step):
    """The model knows least in the corners of the cube, and there the questions without a margin go."""
    domain = Box([(0.0, 1.0)] * 3)
    belief = replace(belief_on(domain, members=1), target=50.0, step=step)
    inner = Aspire().propose(belief, default_rng(0))
    assert (np.abs(inner - 0.5) <= 0.5 - Aspire().margin + 1e-12).all()
    for other in (replace(belief, step=step + 1), replace(belief, step=3 + 4 * 3 + 1)):
        assert np.abs(Aspire().propose(other, default_rng(0)) - 0.5).max() > 0.45
    with_all = replace(Aspire(), margin=0.0).propose(belief, default_rng(0))
    assert np.abs(with_all - 0.5).max() > 0.45


def test_where_there_is_little_room_the_distance_is_smaller():
    belief = belief_on(FINITE, members=1)
    crowded = replace(belief, stale=STALE, step=20, avoid=FINITE.U[:-1])
    assert (Aspire().propose(crowded, default_rng(0)) == FINITE.U[-1]).all()
    full = replace(crowded, avoid=FINITE.U, may_repeat=True)
    assert Aspire().propose(full, default_rng(0)).shape == (2,)


def test_a_bowl_with_ripples_is_walked_down_and_not_explored_in_its_corners():
    """PG of a target that the model thinks impossible asks where it knows least; the level within reach leads on."""

    def bowl(x):
        x = np.asarray(x) - 0.15
        return float(-20 * (1 - np.exp(-0.2 * 32 * np.sqrt((x**2).mean()))) + 0.5 * np.cos(200 * x).mean())

    spent = []
    for seed in range(6):
        search = Search(Box([(-0.5, 0.5)] * 6), -13.0, noise=0, seed=seed)
        while search.answer().verdict == "open" and search.answer().evaluations < 100:
            x = search.ask()
            search.tell(x, bowl(x))
        spent.append(search.answer().evaluations)
    assert np.median(spent) <= 40
