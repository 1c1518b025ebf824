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
    ([(1, 1)], r"bounds \(1, 1\) of coordinate 0 came; finite numbers low < high were wanted; leave out"),
    ([(0, 1), (2, 1)], r"bounds \(2, 1\) of coordinate 1 came; finite numbers low < high"),
    *[
        ([bad], "of coordinate 0 came; finite numbers low < high")
        for bad in ((0, math.nan), (0, math.inf), (-math.inf, 0))
    ],
    ([(-1e308, 1e308)], "finite numbers low < high were wanted"),  # the width is not a float
    *[
        (bad, r"Box: .* came; a list of \(low, high\) pairs was wanted, one a dimension")
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
    (np.array([[0j, 1]]), "pairs was wanted"),
    (np.array([[0, 1]], dtype=object), "pairs was wanted"),
    ([(0, 10**400)], "pairs was wanted"),
]


@pytest.mark.parametrize(("bounds", "message"), BOUNDS, ids=[repr(bounds)[:30] for bounds, _ in BOUNDS])
def test_impossible_bounds_are_refused(bounds, message):
    with pytest.raises(BadInput, match=message):
        Box(bounds)


@pytest.mark.parametrize("name", ["integers", "switches"])
@pytest.mark.parametrize("given", [[2], [-1], [0.5], ["a"], [None], 1])
def test_integers_and_switches_must_be_indices(name, given):
    with pytest.raises(BadInput, match=rf"{name}=.* came; indices from 0 to 1 were wanted"):
        Box([(0, 1), (0, 3)], **{name: given})


def test_the_bounds_of_an_integer_must_be_whole():
    with pytest.raises(
        BadInput, match=r"bounds \(0\.0, 1\.5\) of integer coordinate 0 came; whole numbers were wanted"
    ):
        Box([(0, 1.5)], integers=[0])


def test_a_grid_has_at_least_two_values():
    with pytest.raises(BadInput, match="n = 1 came; at least 2 values a coordinate were wanted"):
        Box([(0, 1)]).grid(1)
    with pytest.raises(BadInput, match=r"n = 2\.5 came; at least 2 values a coordinate were wanted, as a whole number"):
        Box([(0, 1)]).grid(2.5)


POINTS = [
    (
        [[0.0, 5.0]],
        r"\[0.0, 5.0\] came, but coordinate 1 must lie in \[0, 4\]; widen the box or correct",
        "not in the table",
    ),
    ([[1.00001, 1.0]], r"coordinate 0 must lie in \[0, 1\]", "not in the table"),
    ([[0.0, -1.7e308]], r"must lie in \[0, 4\]", "not in the table"),
    (
        [[0.0, 2.5]],
        r"\[0.0, 2.5\] came, but coordinate 1 holds whole numbers; round it",
        "nearest one there is .*: pass that",
    ),
    *[([[0.0, bad]], *["every coordinate must be a finite number"] * 2) for bad in (math.nan, math.inf, -math.inf)],
    *[
        (bad, *["coordinates a point were wanted"] * 2)
        for bad in ([[1.0]], [[1.0, 2.0, 3.0]], [], np.empty((0, 2)), [[[1.0, 2.0]]], 1.0)
    ],
    *[
        (bad, *["numbers were wanted; pass a list or array of 2 numbers"] * 2)
        for bad in ("ab", None, [[1, 1j]], [[True, False]], [["1", "2"]], [[1, 2], [1]], [[0, 10**400]], {1: 2})
    ],
    (np.array([[0, 1]], dtype=object), *["numbers were wanted"] * 2),
    (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), *["numbers were wanted"] * 2),
    (np.array([[0, np.longdouble("1e400")]]), *["every coordinate must be a finite number"] * 2),
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
            (bad, r"shape .* came; an array \(points, coordinates\) was wanted")
            for bad in ([], [1, 2], [[]], None, [[[1]]])
        ],
        ([[1, 2], [1]], "rows of different lengths came"),
        ([[1, 2], [3, 4], [1.0, 2.0]], r"a point stands in the table twice, \[1.0, 2.0\]; pass each"),
        ([[0.0], [-0.0]], "a point stands in the table twice"),
        ([[math.nan]], "every coordinate must be a finite number"),
        ([["a"]], "numbers were wanted"),
        ([[1j]], "numbers were wanted"),
        ([[-1.7e308], [1.7e308]], "further apart than the largest float"),
    ],
)
def test_impossible_tables_are_refused(points, message):
    with pytest.raises(BadInput, match=message):
        Finite(points)
