"""Products of parameters: levels, logs and one-hot choices in the unit cube and back, their shares, and what is refused."""

import itertools
import math

import numpy as np
import optuna
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from satisfice.acquisition.belief import Belief
from satisfice.domain.box import Box
from satisfice.domain.parameters import Block, Categorical, Integer, Levels, LogInteger, Real
from satisfice.domain.product import Product
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.rules import RULES, requirements_of

LEVELS = [1.0, 2.0, 4.0, 64.0]
MIXED = Product([Real(-1, 3), Levels(LEVELS), Integer(0, 9), Categorical("abc")])  # coordinates 0, 1, 2, and 3 to 5
LOGS = Product([LogInteger(3, 10**6), Real(0, 1), LogInteger(1, 2**45)])
FINITE = Product([Categorical([1, 2]), Levels([0.7, 0.1, 0.3])])


@st.composite
def products(draw):
    """A domain of plain, integer, levelled and logarithmic coordinates and choices, in any order."""
    kinds = draw(st.lists(st.sampled_from(["plain", "integer", "levels", "log", "choice"]), min_size=1, max_size=5))
    parameters = []
    for kind in kinds:
        low, high = draw(st.integers(-9, 0)), draw(st.integers(1, 9))
        values = st.integers(0, 1000).map(lambda k, low=low, high=high: low + (high - low) * k / 1000)
        make = {
            "plain": lambda low=low, high=high: Real(low, high),
            "integer": lambda low=low, high=high: Integer(low, high),
            "log": lambda low=low, high=high: LogInteger(1 - low, 1 - low + 100 * high),
            "choice": lambda: Categorical(range(draw(st.integers(2, 4)))),
            "levels": lambda values=values: Levels(draw(st.lists(values, min_size=2, max_size=6, unique=True))),
        }
        parameters.append(make[kind]())
    return Product(parameters)


def columns_of(domain):
    """Each parameter with its coordinates."""
    ends = list(itertools.accumulate(len(each.bounds) for each in domain.parameters))
    return [(each, range(end - len(each.bounds), end)) for each, end in zip(domain.parameters, ends, strict=True)]


@settings(deadline=None, max_examples=300)
@given(domain=products(), seed=st.integers(0, 2**32))
@example(domain=MIXED, seed=0)
@example(domain=Product([Levels([0, 0.3, math.nextafter(0.3, 1), 1])]), seed=0)  # levels next to each other
def test_the_unit_cube_and_back(domain, seed):
    U = default_rng(seed).random((6, domain.dimension))
    X, snapped = domain.from_unit(U), domain.snap(U)
    placed = columns_of(domain)
    exact = [j for each, columns in placed if isinstance(each, Block) for j in columns]
    assert np.array_equal(domain.to_unit(X)[:, exact], snapped[:, exact])
    assert np.allclose(domain.to_unit(X), snapped, rtol=0, atol=1e-14)  # the roundings of a box
    assert np.array_equal(domain.scaled(X)[:, exact], snapped[:, exact])
    assert np.array_equal(domain.scaled(X[0]), domain.scaled(X)[0])
    assert np.array_equal(domain.snap(snapped)[:, exact], snapped[:, exact])
    assert np.allclose(domain.snap(snapped), snapped, rtol=0, atol=1e-15)
    assert np.array_equal(domain.from_unit(snapped)[:, exact], X[:, exact])
    for each, columns in placed:
        j = columns[0]
        if isinstance(each, Levels):
            low, high = domain.bounds[j]
            wanted = low + U[:, j] * (high - low)
            assert set(X[:, j]) <= set(each.values)
            nearest = np.abs(np.array(each.values) - wanted[:, None]).min(axis=1)
            assert np.allclose(np.abs(X[:, j] - wanted), nearest, rtol=0, atol=1e-14)
        if isinstance(each, Categorical):
            assert np.array_equal(X[:, columns].sum(axis=1), np.ones(6))
            assert np.array_equal(X[:, columns].argmax(axis=1), U[:, columns].argmax(axis=1))


@settings(deadline=None, max_examples=200)
@given(domain=products(), n=st.integers(0, 70), seed=st.integers(0, 2**32))
@example(domain=FINITE, n=6, seed=0)
def test_candidates_and_uniform_points_are_points_of_the_domain(domain, n, seed):
    candidates = domain.candidates(n, default_rng(seed))
    assert len(candidates) == (n if domain.size is None else min(n, domain.size))
    assert domain.uniform(n, default_rng(seed)).shape == (n, domain.dimension)
    for U in (candidates, domain.uniform(n, default_rng(seed))):
        assert ((U >= 0) & (U <= 1)).all()
        assert np.allclose(domain.snap(U), U, rtol=0, atol=1e-15)
        if len(U):
            assert np.allclose(domain.to_unit(domain.from_unit(U)), U, rtol=0, atol=1e-14)
    if domain.size is not None and domain.size <= n:
        assert len(np.unique(domain.from_unit(candidates), axis=0)) == domain.size
    assert np.array_equal(candidates, domain.candidates(n, default_rng(seed)))


def test_a_finite_domain_lists_each_of_its_points_once():
    assert (FINITE.size, FINITE.dimension) == (6, 3)
    X = FINITE.from_unit(FINITE.candidates(6, default_rng(0)))
    expected = [[*hot, level] for hot in ([0.0, 1.0], [1.0, 0.0]) for level in (0.1, 0.3, 0.7)]
    assert sorted(X.tolist()) == expected
    assert len(FINITE.candidates(5, default_rng(0))) == 5


def test_the_size_counts_levels_integers_and_choices():
    assert MIXED.size is None
    assert Product([Integer(0, 9), Levels([0, 0.2, 1]), Categorical("ab")]).size == 10 * 3 * 2
    assert Product([Categorical("abc")] * 100).size == 3**100


def test_two_choices_lie_at_distance_one():
    U = MIXED.to_unit([[0, 4, 5, *hot] for hot in np.eye(3)])
    for a, b in itertools.combinations(U, 2):
        assert math.dist(a, b) == pytest.approx(1, abs=1e-15)
    assert U[0, 3] == math.sqrt(0.5)


def test_every_level_integer_and_choice_has_the_same_share():
    for X in (
        MIXED.from_unit(MIXED.uniform(40_000, default_rng(1))),
        MIXED.from_unit(MIXED.candidates(40_000, default_rng(1))),
    ):
        for counts in (
            np.unique(X[:, 1], return_counts=True)[1],
            np.unique(X[:, 2], return_counts=True)[1],
            X[:, 3:].sum(axis=0),
        ):
            share = 1 / len(counts)  # 4 standard deviations of a count
            assert np.abs(counts - 40_000 * share).max() < 4 * math.sqrt(40_000 * share * (1 - share))
    spread = MIXED.from_unit(MIXED.candidates(256, default_rng(2)))
    assert np.unique(spread[:, 1], return_counts=True)[1].tolist() == [64] * 4  # as a Sobol net has it, not by chance


def test_without_levels_and_choices_it_is_a_box():
    bounds = [(-2, 3), (0, 7)]
    mixed, box = Product([Real(-2, 3), Integer(0, 7)]), Box(bounds, integers=[1])
    assert (mixed.bounds, mixed.integers, mixed.parameters) == (box.bounds, box.integers, box.parameters)
    U = default_rng(0).random((9, 2))
    assert np.array_equal(mixed.from_unit(U), box.from_unit(U))
    assert np.array_equal(mixed.snap(U), box.snap(U))
    assert np.array_equal(mixed.candidates(9, default_rng(1)), box.candidates(9, default_rng(1)))
    assert np.array_equal(mixed.uniform(9, default_rng(1)), box.uniform(9, default_rng(1)))


def test_equal_domains_are_equal_and_the_order_of_levels_does_not_matter():
    one, other = Product([Real(0, 1), Levels([3, 2.5])]), Product([Real(0, 1), Levels(np.array([2.5, 3.0]))])
    assert one == other
    assert hash(one) == hash(other)
    assert one.parameters[1].values == (2.5, 3.0)
    assert one != Product([Real(0, 1), Levels([2, 3])])


def test_points_of_the_cube_are_never_changed():
    U = default_rng(5).random((6, 6))
    U.flags.writeable = False
    before = U.copy()
    for V in (U, np.asfortranarray(U)):
        assert np.array_equal(MIXED.from_unit(V), MIXED.from_unit(before))
        assert np.array_equal(MIXED.snap(V), MIXED.snap(before))
    assert np.array_equal(U, before)


@pytest.mark.parametrize("levels", [[0.5], [], [0, math.nan], [0, math.inf], [0.5, 0.5, 1], [-1e17, 0.0, 1.0, 1e17]])
def test_levels_that_are_none_are_refused(levels):
    with pytest.raises(BadInput, match="Levels must be two or more different finite numbers; got"):
        Levels(levels)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({1: 3.0}, r"Coordinate 1 .* must be one of its levels; got \[0.0, 3.0, 5.0, 1.0, 0.0, 0.0\]\."),
        ({3: 0.0}, "Coordinate 3 of a point of the domain stands for a choice: one coordinate must be 1, all others 0"),
        ({4: 1.0}, "stands for a choice"),
        ({3: 0.5, 4: 0.5}, "stands for a choice"),
        ({2: 2.5}, "Coordinate 2 of a point of the domain must be a whole number; .* Round it"),
        ({0: 4.0}, r"Coordinate 0 of a point of the domain must lie in \[-1, 3\]"),
        ({1: math.nan}, "finite coordinates"),
    ],
)
def test_points_that_are_not_of_the_domain_are_refused(change, message):
    x = [change.get(j, value) for j, value in enumerate([0.0, 4.0, 5.0, 1.0, 0.0, 0.0])]
    with pytest.raises(BadInput, match=message):
        MIXED.to_unit(x)


def test_logarithms_are_those_of_whole_numbers():
    U = np.vstack([default_rng(1).random((400, 3)), np.eye(3)])
    X = LOGS.from_unit(U)
    numbers = [[round(math.exp(z)) for z in row] for row in X[:, [0, 2]]]
    assert X[:, [0, 2]].tolist() == [[math.log(n) for n in row] for row in numbers]
    assert np.abs(np.exp(math.log(3) + U[:, 0] * (math.log(10**6) - math.log(3))) - np.exp(X[:, 0])).max() < 0.501
    snapped = LOGS.snap(U)
    for same in (LOGS.to_unit(X), LOGS.snap(snapped), LOGS.to_unit(LOGS.from_unit(snapped))):
        assert np.array_equal(same[:, [0, 2]], snapped[:, [0, 2]])
    for V in (LOGS.candidates(64, default_rng(0)), LOGS.uniform(64, default_rng(0))):
        assert np.array_equal(LOGS.snap(V), V)
        assert np.histogram(V[:, 0], 4, (0, 1))[0].min() > 8  # spread by their logarithms
    assert LOGS.size is None  # its second coordinate is a continuum
    with pytest.raises(BadInput, match=r"Coordinate 0 .* must be the logarithm of a whole number"):
        LOGS.to_unit([2.0, 0.5, 0.0])


def test_whole_numbers_on_a_log_scale_are_drawn_as_optuna_draws_them():
    domain = Product([LogInteger(1, 20), Categorical("ab")])
    space = {"n": optuna.distributions.IntDistribution(1, 20, log=True)}
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    theirs = np.bincount([study.ask(space).params["n"] for _ in range(4_000)], minlength=21)[1:] / 4_000
    for U in (domain.uniform(40_000, default_rng(1)), domain.candidates(4_096, default_rng(2))):
        numbers = np.rint(np.exp(domain.from_unit(U)[:, 0])).astype(int)
        ours = np.bincount(numbers, minlength=21)[1:] / len(U)
        width = np.sqrt(theirs * (1 - theirs) * (1 / 4_000 + 1 / len(U)))
        assert (np.abs(ours - theirs) < 4 * width).all()


def test_whole_numbers_on_a_log_scale_are_counted_and_listed():
    domain = Product([LogInteger(3, 40), Categorical("ab"), Integer(1, 2)])
    assert domain.size == 38 * 2 * 2
    X = domain.from_unit(domain.candidates(domain.size, default_rng(0)))
    expected = [[math.log(n), *hot, k] for n in range(3, 41) for hot in ([0.0, 1.0], [1.0, 0.0]) for k in (1.0, 2.0)]
    assert sorted(X.tolist()) == expected
    assert Product([LogInteger(1, 2**45)]).size == 2**45


@pytest.mark.parametrize("domain", [MIXED, FINITE, LOGS], ids=["continuum", "finite", "logs"])
@pytest.mark.parametrize("name", RULES)
def test_every_rule_proposes_a_new_point_of_the_domain(domain, name):
    rng = default_rng(3)
    U = domain.candidates(4, rng)
    y = np.sin(3 * U).sum(axis=1)
    members = ((1.0, Posterior.given(Stationary("matern52", np.array([0.5])), 1e-6, U, y)),)
    belief = Belief(members, domain, 2.0, 5, 3, y.max(), U[np.argsort(-y)[:2]], U)
    if requirements_of(RULES[name]()).finite:
        with pytest.raises(BadInput, match=r"Box\.grid"):
            RULES[name]().propose(belief, default_rng(0))
        return
    u = RULES[name]().propose(belief, default_rng([0, 5]))
    assert np.array_equal(u, RULES[name]().propose(belief, default_rng([0, 5])))
    assert np.allclose(domain.snap(u[None]), u, rtol=0, atol=1e-15)
    assert np.abs(U - u).max(axis=1).min() > 1e-7
