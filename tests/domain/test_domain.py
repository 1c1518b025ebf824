"""Boxes and finite sets: the unit cube and back, snapping, and the spread of candidates."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, qmc

from satisfice.domain.box import Box
from satisfice.domain.finite import Finite

EPS = np.finfo(float).eps
MIXED = Box([(0.01, 0.3), (2, 15), (-5, -1)], integers=[1, 2])
TABLE = np.array([[1.0, 10.0, 7.0], [3.0, 30.0, 7.0], [2.0, 90.0, 7.0], [5.0, 50.0, 7.0]])


@st.composite
def intervals(draw):
    low, high = sorted(draw(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=2, unique=True)))
    return (low, high) if low < high else (low - 1, low)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(bounds=st.lists(intervals(), min_size=1, max_size=4), share=st.floats(0, 1))
@example(bounds=[(0.1, 0.7)], share=1.0)
@example(bounds=[(-5e-324, 5e-324)], share=0.5)
def test_points_come_back_from_the_unit_cube_and_never_leave_the_box(bounds, share):
    box = Box(bounds)
    low, high = np.array(bounds).T
    for u in (0.0, share, 1.0):
        X = box.from_unit(np.full((1, len(bounds)), u))
        assert (low <= X[0]).all()
        assert (X[0] <= high).all()
        U = box.to_unit(X)
        assert ((U >= 0) & (U <= 1)).all()
        # one rounding each of width, product, sum, difference and quotient, all relative to the larger bound
        size = np.maximum(np.abs(low), np.abs(high))
        assert (np.abs(box.from_unit(U) - X) <= 8 * EPS * size + 1e-323).all()
        expected = low * (1 - u) + high * u
        assert (np.abs(X[0] - expected) <= 8 * EPS * size + 1e-323).all()


def test_the_corners_of_the_box_are_those_of_the_cube():
    box = Box([(-2, 3), (0.1, 0.3)])
    assert box.to_unit([[-2, 0.1], [3, 0.3], [0.5, 0.2]]) == pytest.approx(np.array([[0, 0], [1, 1], [0.5, 0.5]]))
    assert (box.dimension, box.size) == (2, None)
    assert Box(np.array([[-2.0, 3.0], [0.1, 0.3]])) == box


@settings(deadline=None, max_examples=200, derandomize=True)
@given(U=st.lists(st.tuples(*[st.floats(0, 1)] * 3), min_size=1, max_size=5))
@example(U=[(0.5, 0.5, 0.5)])
@example(U=[(0.5, 0.5, 0.125)])  # a tie between -5 and -4
def test_snapping_gives_the_image_of_what_the_user_sees(U):
    U = np.array(U)
    X, snapped = MIXED.from_unit(U), MIXED.snap(U)
    assert np.array_equal(MIXED.from_unit(snapped), X)
    assert np.allclose(MIXED.to_unit(X), snapped, rtol=0, atol=1e-14)  # three roundings of numbers up to 1 / 0.29
    assert np.allclose(MIXED.snap(snapped), snapped, rtol=0, atol=1e-15)
    for column, (low, high) in ((1, (2, 15)), (2, (-5, -1))):
        lattice = np.arange(low, high + 1)
        wanted = low + U[:, column] * (high - low)
        assert set(X[:, column]) <= set(lattice.astype(float))
        nearest = np.abs(lattice - wanted[:, None]).min(axis=1)
        assert np.allclose(np.abs(X[:, column] - wanted), nearest, rtol=0, atol=1e-14)


def test_a_box_without_integers_needs_no_snapping():
    U = np.random.default_rng(0).random((5, 2))
    assert np.array_equal(Box([(0, 1), (3, 9)]).snap(U), U)


def test_every_integer_has_the_same_share_of_uniform_points():
    box, draws = Box([(2, 5), (0, 1)], integers=[0]), 40_000
    X = box.from_unit(box.uniform(draws, np.random.default_rng(1)))
    counts = np.bincount(X[:, 0].astype(int), minlength=6)[2:]
    assert counts.sum() == draws
    # a count has the standard deviation sqrt(n p (1 - p)) = 87: 4 of them; rounding, which gives the ends half a share, is 40 off
    assert np.abs(counts - draws / 4).max() < 4 * math.sqrt(draws * 0.25 * 0.75)
    assert kstest(X[:, 1], "uniform").pvalue > 1e-4  # the seed is fixed; a wrong law has a p-value of 0


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_candidates_are_spread_better_than_random_points(dimension):
    box = Box([(0, 1)] * dimension)
    spread = [qmc.discrepancy(box.candidates(128, np.random.default_rng(seed))) for seed in range(20)]
    random = [qmc.discrepancy(np.random.default_rng(seed).random((128, dimension))) for seed in range(20)]
    assert max(spread) < min(random)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 9, 100])
def test_there_are_as_many_candidates_as_asked_for(n):
    points = MIXED.candidates(n, np.random.default_rng(0))
    assert points.shape == (n, 3)
    assert ((points >= 0) & (points <= 1)).all()
    assert np.allclose(MIXED.snap(points), points, rtol=0, atol=1e-15)
    assert np.array_equal(points, MIXED.candidates(n, np.random.default_rng(0)))
    assert n == 0 or not np.array_equal(points, MIXED.candidates(n, np.random.default_rng(1)))


def test_candidates_give_every_integer_the_same_share():
    box = Box([(0, 3), (0, 1)], integers=[0])
    X = box.from_unit(box.candidates(256, np.random.default_rng(2)))
    assert np.bincount(X[:, 0].astype(int)).tolist() == [64] * 4  # a net of 256 points has 64 in each quarter


def test_a_small_box_of_integers_lists_each_of_its_points_once():
    box = Box([(0, 2), (-1, 2)], integers=[0, 1])
    assert box.size == 12
    X = box.from_unit(box.candidates(12, np.random.default_rng(0)))
    assert sorted(map(tuple, X.tolist())) == list(itertools.product([0.0, 1.0, 2.0], [-1.0, 0.0, 1.0, 2.0]))
    assert len(box.candidates(11, np.random.default_rng(0))) == 11


def test_two_hundred_dimensions_are_welcome():
    box = Box([(0, 100)] * 200, integers=range(200))
    assert box.size == 101**200  # more than a float holds
    assert box.candidates(4, np.random.default_rng(0)).shape == (4, 200)
    assert Box([(0, 2**53 - 1), (0, 2)], integers=[0, 1]).size == 3 * 2**53


def test_a_grid_holds_the_product_of_evenly_spaced_values():
    grid = Box([(0, 1), (10, 30)]).grid(3)
    assert grid.X.tolist() == [[a, b] for a in (0.0, 0.5, 1.0) for b in (10.0, 20.0, 30.0)]
    assert grid.U.tolist() == [[a, b] for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)]
    assert Box([(0, 2), (0, 1)], integers=[0]).grid(50).size == 3 * 50
    assert sorted(set(Box([(0, 100)], integers=[0]).grid(5).X[:, 0])) == [0, 25, 50, 75, 100]


def test_a_table_is_scaled_by_its_smallest_box():
    table = Finite(TABLE)
    expected = [[0.0, 0.0, 0.5], [0.5, 0.25, 0.5], [0.25, 1.0, 0.5], [1.0, 0.5, 0.5]]
    assert table.U.tolist() == expected
    assert table.to_unit(TABLE[::-1]).tolist() == expected[::-1]
    assert (table.dimension, table.size) == (3, 4)


def test_a_table_answers_with_its_nearest_point():
    points = np.random.default_rng(3).random((40, 2)) * [1, 1000]
    table, U = Finite(points), np.random.default_rng(4).random((30, 2))
    low, high = points.min(axis=0), points.max(axis=0)
    for u, index, x, snapped in zip(U, table.nearest(U), table.from_unit(U), table.snap(U), strict=True):
        distances = [math.dist(u, (p - low) / (high - low)) for p in points]
        assert index == distances.index(min(distances))
        assert np.array_equal(x, points[index])
        assert np.array_equal(snapped, table.U[index])


def test_the_candidates_of_a_table_are_different_points_of_it():
    table = Finite(np.arange(20.0)[:, None])
    assert np.array_equal(table.candidates(20, np.random.default_rng(0)), table.U)
    for n in (7, 19):
        some = table.candidates(n, np.random.default_rng(0))[:, 0]
        assert len(set(some)) == len(some) == n
        assert set(some) <= set(table.U[:, 0])
    assert set(table.candidates(7, np.random.default_rng(1))[:, 0]) != set(some[:7])


def test_uniform_points_of_a_table_have_equal_shares():
    table, draws = Finite(TABLE), 40_000
    index = table.nearest(table.uniform(draws, np.random.default_rng(1)))
    # as for the integers above: 4 standard deviations
    assert np.abs(np.bincount(index, minlength=4) - draws / 4).max() < 4 * math.sqrt(draws * 0.25 * 0.75)


def variants(X):
    frozen = X.copy()
    frozen.flags.writeable = False
    strided = np.zeros((2 * len(X), X.shape[1]))[::2]
    strided[:] = X
    return {
        "list": X.tolist(),
        "read-only": frozen,
        "Fortran": np.asfortranarray(X),
        "strided": strided,
        "float32": X.astype(np.float32),
        "integers": X.astype(np.int32),
        "unsigned": X.astype(np.uint8),
    }


@pytest.mark.parametrize("name", variants(TABLE))
@pytest.mark.parametrize("domain", [Box([(0, 9), (0, 99), (0, 9)], integers=[2]), Finite(TABLE)], ids=["box", "table"])
def test_every_kind_of_array_gives_the_same_result_and_stays_as_it_was(domain, name):
    X = variants(TABLE)[name]
    before = np.array(X)
    U = domain.to_unit(X)
    assert np.array_equal(U, domain.to_unit(TABLE))  # whole numbers: exact in float32 too
    U[:] = -1.0  # the result is the caller's own
    assert np.array_equal(np.array(X), before)
    assert np.array_equal(domain.to_unit(X), domain.to_unit(TABLE))
    assert np.array_equal(Finite(X).U, Finite(TABLE).U)


@pytest.mark.parametrize("domain", [MIXED, Finite(TABLE)], ids=["box", "table"])
def test_points_of_the_cube_are_never_changed(domain):
    U = np.random.default_rng(5).random((6, 3))
    before = U.copy()
    U.flags.writeable = False
    for V in (U, np.asfortranarray(U)):
        assert np.array_equal(domain.from_unit(V), domain.from_unit(before))
        assert np.array_equal(domain.snap(V), domain.snap(before))
    assert np.array_equal(U, before)


def test_a_table_does_not_follow_the_array_it_came_from():
    source = TABLE.copy()
    table = Finite(source)
    source[0, 0] = 99.0
    assert table.X[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        table.X[0, 0] = 99.0


def test_a_single_point_and_a_single_dimension_need_no_brackets():
    assert Box([(0, 4), (0, 2)]).to_unit([1, 1]).tolist() == [[0.25, 0.5]]
    assert Box([(0, 4)]).to_unit(1).tolist() == [[0.25]]
    assert Finite([[3.0]]).U.tolist() == [[0.5]]


def test_rounding_just_outside_the_box_is_forgiven():
    U = Box([(0.1, 0.3)]).to_unit([[0.3 + 1e-12], [0.1 - 1e-12]])
    assert U.tolist() == [[1.0], [0.0]]
