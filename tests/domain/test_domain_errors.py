"""What a domain refuses, and what it says then."""

import math

import numpy as np
import pytest

from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.errors import BadInput, SatisficeError


def test_a_refusal_is_a_value_error_and_an_error_of_the_library():
    assert issubclass(BadInput, ValueError)
    assert issubclass(BadInput, SatisficeError)


BOUNDS = [
    ([(1, 1)], r"bounds of coordinate 0 must be finite numbers low < high; got \(1, 1\)\. Leave out"),
    ([(0, 1), (2, 1)], r"coordinate 1 must be finite numbers low < high; got \(2, 1\)"),
    *[
        ([bad], "of coordinate 0 must be finite numbers low < high; got")
        for bad in ((0, math.nan), (0, math.inf), (-math.inf, 0))
    ],
    ([(-1e308, 1e308)], "finite numbers low < high"),  # the width is not a float
    *[
        (bad, r"`bounds` must be a list of \(low, high\) pairs of numbers, one for each coordinate; got")
        for bad in (
            [],
            [()],
            None,
            3,
            "ab",
            [(0, 1, 2)],
            [(0, 1), (0,)],
            [("0", "1")],
            [(0, 1j)],
            [(None, 1)],
            [[[0, 1]]],
        )
    ],
    (np.array([[0j, 1]]), "pairs of numbers"),
    (np.array([[0, 1]], dtype=object), "pairs of numbers"),
    ([(0, 10**400)], "pairs of numbers"),
]


@pytest.mark.parametrize(("bounds", "message"), BOUNDS, ids=[repr(bounds)[:30] for bounds, _ in BOUNDS])
def test_impossible_bounds_are_refused(bounds, message):
    with pytest.raises(BadInput, match=message):
        Box(bounds)


@pytest.mark.parametrize("name", ["integers", "switches"])
@pytest.mark.parametrize("given", [[2], [-1], [0.5], ["a"], [None], 1])
def test_integers_and_switches_must_be_indices(name, given):
    with pytest.raises(BadInput, match=rf"`{name}` must list coordinates from 0 to 1; got"):
        Box([(0, 1), (0, 3)], **{name: given})


def test_the_bounds_of_an_integer_must_be_whole():
    with pytest.raises(BadInput, match=r"bounds of the integer coordinate 0 must be whole numbers; got \(0\.0, 1\.5\)"):
        Box([(0, 1.5)], integers=[0])


def test_a_grid_has_at_least_two_values():
    with pytest.raises(BadInput, match="`n` must be a whole number, 2 or more; got 1"):
        Box([(0, 1)]).grid(1)
    with pytest.raises(BadInput, match=r"`n` must be a whole number, 2 or more; got 2\.5"):
        Box([(0, 1)]).grid(2.5)


POINTS = [
    (
        [[0.0, 5.0]],
        r"Coordinate 1 .* must lie in \[0, 4\]; got \[0.0, 5.0\]\. Widen the domain or correct",
        "must be one of its points",
    ),
    ([[1.00001, 1.0]], r"Coordinate 0 .* must lie in \[0, 1\]", "must be one of its points"),
    ([[0.0, -1.7e308]], r"must lie in \[0, 4\]", "must be one of its points"),
    (
        [[0.0, 2.5]],
        r"Coordinate 1 .* must be a whole number; got \[0.0, 2.5\]\. Round it",
        r"got \[0.0, 2.5\]\. The nearest one is \[",
    ),
    *[([[0.0, bad]], *["must have finite coordinates"] * 2) for bad in (math.nan, math.inf, -math.inf)],
    *[
        (bad, *["must have 2 coordinates; got an array of shape"] * 2)
        for bad in ([[1.0]], [[1.0, 2.0, 3.0]], [], np.empty((0, 2)), [[[1.0, 2.0]]], 1.0)
    ],
    *[
        (bad, *["must be a list or an array of 2 numbers"] * 2)
        for bad in ("ab", None, [[1, 1j]], [[True, False]], [["1", "2"]], [[1, 2], [1]], [[0, 10**400]], {1: 2})
    ],
    (np.array([[0, 1]], dtype=object), *["array of 2 numbers"] * 2),
    (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), *["array of 2 numbers"] * 2),
    (np.array([[0, np.longdouble("1e400")]]), *["must have finite coordinates"] * 2),
]


@pytest.mark.parametrize(("X", "of_a_box", "of_a_table"), POINTS, ids=[repr(X)[:30] for X, *_ in POINTS])
def test_points_that_are_not_of_the_domain_are_refused(X, of_a_box, of_a_table):
    with pytest.raises(BadInput, match=of_a_box):
        Box([(0, 1), (0, 4)], integers=[1]).to_unit(X)
    with pytest.raises(BadInput, match=of_a_table):
        Finite([[0.0, 0.0], [0.0, 1.0], [0.0, 4.0]]).to_unit(X)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        *[
            (bad, r"`points` must be an array of shape \(points, coordinates\); got one of shape")
            for bad in ([], [1, 2], [[]], None, [[[1]]])
        ],
        ([[1, 2], [1]], "got rows of different lengths"),
        ([[1, 2], [3, 4], [1.0, 2.0]], r"must hold each point once; got \[1.0, 2.0\] more than once"),
        ([[0.0], [-0.0]], "must hold each point once"),
        ([[math.nan]], "must have finite coordinates"),
        ([["a"]], "array of 1 numbers"),
        ([[1j]], "array of 1 numbers"),
        ([[-1.7e308], [1.7e308]], "further apart than the largest float"),
    ],
)
def test_impossible_tables_are_refused(points, message):
    with pytest.raises(BadInput, match=message):
        Finite(points)
