"""Mixed domains: levels and one-hot choices in the unit cube and back, their shares, and what is refused."""

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
from satisfice.domain.mixed import Mixed
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.rules import RULES, requirements_of

LEVELS = [1.0, 2.0, 4.0, 64.0]
MIXED = Mixed([(-1, 3), (0, 1), (1, 64), (0, 1), (0, 9), (0, 1)], levels={2: LEVELS}, choices=[(1, 3, 5)], integers=[4])
LOGS = Mixed([(math.log(3), math.log(10**6)), (0, 1), (0, math.log(2**45))], logs=[2, 0])
FINITE = Mixed([(0, 1), (0, 1), (0.1, 0.7)], levels={2: [0.7, 0.1, 0.3]}, choices=[(0, 1)])


@st.composite
def mixed_domains(draw):
    """A domain of plain, integer and levelled coordinates and choices, in any order."""
    kinds = draw(st.lists(st.sampled_from(["plain", "integer", "levels", "choice"]), min_size=1, max_size=5))
    widths = [draw(st.integers(2, 4)) if kind == "choice" else 1 for kind in kinds]
    order = iter(draw(st.permutations(range(sum(widths)))))
    bounds, levels, choices, integers = {}, {}, [], []
    for kind, width in zip(kinds, widths, strict=True):
        columns = [next(order) for _ in range(width)]
        low, high = (0.0, 1.0) if kind == "choice" else (draw(st.integers(-9, 0)), draw(st.integers(1, 9)))
        bounds |= dict.fromkeys(columns, (low, high))
        if kind == "choice":
            choices.append(columns)
        if kind == "integer":
            integers += columns
        if kind == "levels":
            values = st.integers(0, 1000).map(lambda k, low=low, high=high: low + (high - low) * k / 1000)
            levels[columns[0]] = draw(st.lists(values, min_size=2, max_size=6, unique=True))
    return Mixed([bounds[j] for j in range(sum(widths))], levels, choices, integers)


@settings(deadline=None, max_examples=300)
@given(domain=mixed_domains(), seed=st.integers(0, 2**32))
@example(domain=MIXED, seed=0)
@example(domain=Mixed([(0, 1)], {0: [0.3, math.nextafter(0.3, 1)]}), seed=0)  # levels next to each other
def test_the_unit_cube_and_back(domain, seed):
    U = default_rng(seed).random((6, domain.dimension))
    X, snapped = domain.from_unit(U), domain.snap(U)
    exact = [*domain.levels, *itertools.chain(*domain.choices)]
    assert np.array_equal(domain.to_unit(X)[:, exact], snapped[:, exact])
    assert np.allclose(domain.to_unit(X), snapped, rtol=0, atol=1e-14)  # the roundings of a box
    assert np.array_equal(domain.scaled(X)[:, exact], snapped[:, exact])
    assert np.array_equal(domain.scaled(X[0]), domain.scaled(X)[0])
    assert np.array_equal(domain.snap(snapped)[:, exact], snapped[:, exact])
    assert np.allclose(domain.snap(snapped), snapped, rtol=0, atol=1e-15)
    assert np.array_equal(domain.from_unit(snapped)[:, exact], X[:, exact])
    for j, values in domain.levels.items():
        low, high = domain.bounds[j]
        wanted = low + U[:, j] * (high - low)
        assert set(X[:, j]) <= set(values)
        nearest = np.abs(np.array(values) - wanted[:, None]).min(axis=1)
        assert np.allclose(np.abs(X[:, j] - wanted), nearest, rtol=0, atol=1e-14)
    for group in domain.choices:
        assert np.array_equal(X[:, group].sum(axis=1), np.ones(6))
        assert np.array_equal(X[:, group].argmax(axis=1), U[:, group].argmax(axis=1))


@settings(deadline=None, max_examples=200)
@given(domain=mixed_domains(), n=st.integers(0, 70), seed=st.integers(0, 2**32))
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
    assert Mixed([(0, 9), (0, 1), (0, 1), (0, 1)], {1: [0, 0.2, 1]}, [(2, 3)], [0]).size == 10 * 3 * 2
    assert Mixed([(0, 1)] * 300, choices=[range(3 * i, 3 * i + 3) for i in range(100)]).size == 3**100


def test_two_choices_lie_at_distance_one():
    U = MIXED.to_unit([[0, *hot, 5, last] for *hot, last in ([1, 4, 0, 0], [0, 4, 1, 0], [0, 4, 0, 1])])
    for a, b in itertools.combinations(U, 2):
        assert math.dist(a, b) == pytest.approx(1, abs=1e-15)
    assert U[0, 1] == math.sqrt(0.5)


def test_every_level_integer_and_choice_has_the_same_share():
    for X in (
        MIXED.from_unit(MIXED.uniform(40_000, default_rng(1))),
        MIXED.from_unit(MIXED.candidates(40_000, default_rng(1))),
    ):
        for counts in (
            np.unique(X[:, 2], return_counts=True)[1],
            np.unique(X[:, 4], return_counts=True)[1],
            X[:, [1, 3, 5]].sum(axis=0),
        ):
            share = 1 / len(counts)  # 4 standard deviations of a count
            assert np.abs(counts - 40_000 * share).max() < 4 * math.sqrt(40_000 * share * (1 - share))
    spread = MIXED.from_unit(MIXED.candidates(256, default_rng(2)))
    assert np.unique(spread[:, 2], return_counts=True)[1].tolist() == [64] * 4  # as a Sobol net has it, not by chance


def test_without_levels_and_choices_it_is_a_box():
    bounds = [(-2, 3), (0, 7)]
    mixed, box = Mixed(bounds, integers=[1]), Box(bounds, integers=[1])
    U = default_rng(0).random((9, 2))
    assert np.array_equal(mixed.from_unit(U), box.from_unit(U))
    assert np.array_equal(mixed.snap(U), box.snap(U))
    assert np.array_equal(mixed.candidates(9, default_rng(1)), box.candidates(9, default_rng(1)))
    assert np.array_equal(mixed.uniform(9, default_rng(1)), box.uniform(9, default_rng(1)))


def test_equal_domains_are_equal_and_the_order_of_levels_does_not_matter():
    one, other = Mixed([(0, 1), (2, 3)], {1: [3, 2.5]}), Mixed([(0, 1), (2, 3)], {1: np.array([2.5, 3.0])})
    assert one == other
    assert hash(one) == hash(other)
    assert one.levels == {1: (2.5, 3.0)}
    assert one != Mixed([(0, 1), (2, 3)], {1: [2, 3]})


def test_points_of_the_cube_are_never_changed():
    U = default_rng(5).random((6, 6))
    U.flags.writeable = False
    before = U.copy()
    for V in (U, np.asfortranarray(U)):
        assert np.array_equal(MIXED.from_unit(V), MIXED.from_unit(before))
        assert np.array_equal(MIXED.snap(V), MIXED.snap(before))
    assert np.array_equal(U, before)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bounds": [(1, 1)]}, "low < high were wanted"),
        ({"levels": {4: [0, 1]}}, r"coordinates \[4\] came; indices from 0 to 3 were wanted"),
        ({"choices": [(-1, 2)]}, r"coordinates \[-1, 2\] came; indices from 0 to 3"),
        ({"levels": [1, 2]}, r"levels=\[1, 2\].*levels=\{coordinate: values\}"),
        ({"levels": {0: "ab"}}, r"levels=\{coordinate: values\}"),
        ({"levels": {0: 1.0}}, r"levels=\{coordinate: values\}"),
        ({"choices": [1, 2]}, r"choices=\[\(coordinate, coordinate, \.\.\.\), \.\.\.\] were wanted"),
        ({"choices": [(0.5, 1)]}, r"choices=\[\(coordinate"),
        ({"levels": {0: [0.5]}}, r"levels of coordinate 0: \[0.5\] came; two or more different numbers"),
        ({"levels": {0: []}}, "two or more different numbers"),
        ({"levels": {0: [0, 1.5]}}, r"within its bounds \[0, 1\]"),
        ({"levels": {0: [0, math.nan]}}, "two or more different numbers"),
        ({"levels": {0: [0.5, 0.5, 1]}}, "two or more different numbers"),
        ({"levels": {3: [0.0, 1.0, 1e17]}}, "two or more different numbers"),  # the same in the unit cube
        ({"choices": [(1, 1)]}, r"coordinate 1 came as choice \(1, 1\) and choice \(1, 1\); .* one role only"),
        ({"choices": [(0, 1), (1, 2)]}, "one role only"),
        ({"levels": {1: [0, 1]}, "choices": [(1, 2)]}, "one role only"),
        ({"levels": {3: [0, 1]}, "integers": [3]}, "coordinate 3 came as integer and levels; .* one role only"),
        ({"choices": [(1,)]}, r"choice \(1,\) came; two or more coordinates of bounds \(0, 1\)"),
        ({"choices": [(2, 3)]}, r"coordinates of bounds \(0, 1\) were wanted"),
        ({"logs": [0.5]}, r"logs=\[0.5\] came; logs=\[coordinate, \.\.\.\], "),
        ({"logs": [4]}, r"coordinates \[4\] came; indices from 0 to 3"),
        ({"logs": [0, 0]}, "one role only"),
        ({"logs": [0]}, r"bounds \(0.0, 1.0\) of coordinate 0 came; the natural logarithms of whole numbers"),
        ({"logs": [3]}, "whole numbers from 1 to 35,184,372,088,832 were wanted"),
    ],
)
def test_impossible_domains_are_refused(arguments, message):
    with pytest.raises(BadInput, match=message):
        Mixed(**{"bounds": [(0, 1), (0, 1), (0, 1), (-1e17, 1e17)], **arguments})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({2: 3.0}, r"\[0.0, 1.0, 3.0, 0.0, 5.0, 0.0\] came, but coordinate 2 must be one of its levels"),
        ({1: 0.0}, "coordinate 1 stands for a choice: one 1, all others 0"),
        ({3: 1.0}, "stands for a choice"),
        ({1: 0.5, 3: 0.5}, "stands for a choice"),
        ({4: 2.5}, "coordinate 4 holds whole numbers; round it"),
        ({0: 4.0}, r"coordinate 0 must lie in \[-1, 3\]"),
        ({2: math.nan}, "finite number"),
    ],
)
def test_points_that_are_not_of_the_domain_are_refused(change, message):
    x = [change.get(j, value) for j, value in enumerate([0.0, 1.0, 4.0, 0.0, 5.0, 0.0])]
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
    with pytest.raises(BadInput, match="coordinate 0 must be the logarithm of a whole number"):
        LOGS.to_unit([2.0, 0.5, 0.0])


def test_whole_numbers_on_a_log_scale_are_drawn_as_optuna_draws_them():
    domain = Mixed([(0, math.log(20)), (0, 1), (0, 1)], logs=[0], choices=[(1, 2)])
    space = {"n": optuna.distributions.IntDistribution(1, 20, log=True)}
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    theirs = np.bincount([study.ask(space).params["n"] for _ in range(4_000)], minlength=21)[1:] / 4_000
    for U in (domain.uniform(40_000, default_rng(1)), domain.candidates(4_096, default_rng(2))):
        numbers = np.rint(np.exp(domain.from_unit(U)[:, 0])).astype(int)
        ours = np.bincount(numbers, minlength=21)[1:] / len(U)
        width = np.sqrt(theirs * (1 - theirs) * (1 / 4_000 + 1 / len(U)))
        assert (np.abs(ours - theirs) < 4 * width).all()


def test_whole_numbers_on_a_log_scale_are_counted_and_listed():
    domain = Mixed([(math.log(3), math.log(40)), (0, 1), (0, 1), (1, 2)], logs=[0], choices=[(1, 2)], integers=[3])
    assert domain.size == 38 * 2 * 2
    X = domain.from_unit(domain.candidates(domain.size, default_rng(0)))
    expected = [[math.log(n), *hot, k] for n in range(3, 41) for hot in ([0.0, 1.0], [1.0, 0.0]) for k in (1.0, 2.0)]
    assert sorted(X.tolist()) == expected
    assert Mixed([(0, math.log(2**45))], logs=[0]).size == 2**45


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
