"""Information gain: dense algebra, brute force over all multisets, submodularity."""

import re
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.errors import BadInput
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.posterior import Posterior
from satisfice.paper.theory.information import greedy_information_gain, information_gain

SE = Stationary("se", np.array([0.3]))
CASES = [
    (SE, 1.0),
    (SE, 0.01),
    (Stationary("matern12", np.array([0.5])), 0.1),
    (Stationary("matern52", np.array([0.2]), 0.7), 0.05),
]


def gains_of_all_multisets(kernel, lam, points, t):
    """The gain of each way to take t of the points, a point any number of times."""
    return [
        information_gain(kernel, lam, points[list(chosen)])
        for chosen in combinations_with_replacement(range(len(points)), t)
    ]


@pytest.mark.parametrize("kernel", [SE, Additive("matern32", np.array([0.4, 0.2]), 0.9)])
def test_gain_of_a_set_is_the_sum_over_eigenvalues(kernel):
    U = np.random.default_rng(0).random((12, 2))
    U[5] = U[4]
    eigenvalues = np.maximum(np.linalg.eigvalsh(kernel(U, U)), 0.0)
    assert information_gain(kernel, 0.2, U) == pytest.approx(0.5 * np.log1p(eigenvalues / 0.2).sum(), rel=1e-12)


@pytest.mark.parametrize(("kernel", "lam"), CASES)
def test_gain_is_what_the_posterior_variances_add_up_to(kernel, lam):
    U = np.random.default_rng(1).random((9, 1))
    variances = [Posterior.given(kernel, lam, U[:i], np.zeros(i)).marginal(U[i : i + 1]).std[0] ** 2 for i in range(9)]
    expected = 0.5 * sum(np.log(1 + variance / lam) for variance in variances)
    assert information_gain(kernel, lam, U) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("kernel", "lam"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_bracket_holds_the_maximum_over_all_multisets(kernel, lam, seed):
    points = np.random.default_rng(seed).random((5, 2))
    gain = greedy_information_gain(kernel, lam, points, 6)
    best = np.array([0.0] + [max(gains_of_all_multisets(kernel, lam, points, t)) for t in range(1, 7)])
    assert (gain.lower <= best + 1e-12).all()
    assert (best <= gain.certified + 1e-12).all()
    assert (gain.certified <= gain.upper).all()
    np.testing.assert_allclose(gain.upper * (1 - 1 / np.e), gain.lower, rtol=1e-14)
    assert gain.lower[0] == gain.upper[0] == 0
    assert gain.horizon == 6


def test_greedy_takes_the_best_point_every_time():
    points, lam = np.random.default_rng(3).random((7, 2)), 0.3
    chosen, expected = points[:0], [0.0]
    for _ in range(12):
        candidates = [np.vstack([chosen, point]) for point in points]
        gains = [information_gain(SE, lam, candidate) for candidate in candidates]
        chosen = candidates[int(np.argmax(gains))]
        expected.append(max(gains))
    np.testing.assert_allclose(greedy_information_gain(SE, lam, points, 12).lower, expected, rtol=1e-10)


def test_one_point_is_taken_again_and_again_and_its_gain_is_certain():
    gain = greedy_information_gain(SE, 0.5, np.array([[0.3]]), 50)
    expected = 0.5 * np.log1p(np.arange(51) / 0.5)
    np.testing.assert_allclose(gain.lower, expected, rtol=1e-12)
    np.testing.assert_allclose(gain.certified, expected, rtol=1e-9)


def test_the_certified_end_is_close_where_rounds_are_many():
    gain = greedy_information_gain(SE, 1.0, np.linspace(0, 1, 101)[:, None], 200).tightened()
    assert gain.upper[200] < 1.01 * gain.lower[200]
    assert (np.diff(gain.upper) >= 0).all()
    assert (np.diff(gain.lower, 2) <= 1e-12).all()  # concave: what a round adds never grows


@given(st.integers(0, 2**32 - 1), st.integers(0, 4), st.integers(0, 4), st.sampled_from(CASES))
def test_gain_is_monotone_and_submodular(seed, smaller, more, case):
    kernel, lam = case
    U = np.random.default_rng(seed).random((smaller + more + 1, 2))
    A, B, x = U[:smaller], U[:-1], U[-1:]

    def gain(points):
        return information_gain(kernel, lam, points) if len(points) else 0.0

    to_smaller = gain(np.vstack([A, x])) - gain(A)
    to_larger = gain(np.vstack([B, x])) - gain(B)
    assert to_smaller >= to_larger - 1e-10
    assert to_larger >= -1e-10


def test_a_kernel_above_one_is_refused_with_the_way_out():
    loud = Stationary("se", np.array([0.3]), 1.5)
    with pytest.raises(BadInput, match=r"k\(x, x\) of at most 1, .* got 2.25. Divide the values by 1.5"):
        greedy_information_gain(loud, 1.0, np.zeros((1, 1)), 3)
    with pytest.raises(BadInput, match="at most 1"):
        information_gain(loud, 1.0, np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("lam", "points", "message"),
    [
        (0.0, np.zeros((1, 1)), "`lam` must be a positive number; got 0.0"),
        ("1", np.zeros((1, 1)), "`lam` must be a positive number; got '1'"),
        ([1.0, 2.0], np.zeros((1, 1)), "`lam` must be a positive number; got [1.0, 2.0]"),
        (1.0, np.zeros((0, 1)), "of shape (number of points, d); got array("),
        (1.0, np.zeros(3), "of shape (number of points, d); got array("),
        (1.0, [0.1, 0.2], "of shape (number of points, d); got [0.1, 0.2]"),
        (1.0, [[0.1], [0.2, 0.3]], "of shape (number of points, d); got [[0.1], [0.2, 0.3]]"),
        (1.0, [["a"]], "of shape (number of points, d); got [['a']]"),
        (1.0, [[np.nan]], "of shape (number of points, d); got [[nan]]"),
        (1.0, None, "of shape (number of points, d); got None"),
    ],
)
def test_what_has_no_gain_is_refused(lam, points, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        information_gain(SE, lam, points)
    with pytest.raises(BadInput, match=re.escape(message)):
        greedy_information_gain(SE, lam, points, 3)


@pytest.mark.parametrize("T", [0, -1, 2.5, "3", None])
def test_rounds_that_are_none_are_refused(T):
    with pytest.raises(BadInput, match=re.escape(f"`T` must be a number of rounds, 1 or more; got {T!r}")):
        greedy_information_gain(SE, 1.0, np.zeros((1, 1)), T)


def test_a_kernel_that_is_none_or_has_another_dimension_is_refused():
    with pytest.raises(BadInput, match=r"`kernel` must be a kernel, .*; got 'se'"):
        information_gain("se", 1.0, [[0.1]])
    wide = Stationary("se", np.array([0.3, 0.4]))
    with pytest.raises(BadInput, match="`U` must have as many columns as the kernel has length-scales; got 3"):
        information_gain(wide, 1.0, [[0.1, 0.2, 0.3]])


def test_lists_are_as_good_as_arrays():
    rows = [[0.1, 0.5], [0.2, 1], [0, 0.7]]
    assert information_gain(SE, 0.5, rows) == information_gain(SE, 0.5, np.array(rows))
    lists, arrays = (greedy_information_gain(SE, 0.5, points, 4) for points in (rows, np.array(rows)))
    np.testing.assert_array_equal(lists.upper, arrays.upper)


@pytest.mark.parametrize(("kernel", "lam"), CASES)
def test_greedy_takes_the_most_uncertain_point_however_many_rounds_there_are(kernel, lam):
    points = np.random.default_rng(2).random((6, 1))
    gain, asked = greedy_information_gain(kernel, lam, points, 20), []
    for _ in range(20):
        std = Posterior.given(kernel, lam, points[asked], np.zeros(len(asked))).marginal(points).std
        asked.append(int(np.argmax(std)))
    for T in (3, 20):  # fewer rounds than points, and more
        rows = greedy_information_gain(kernel, lam, points, T).lower
        expected = [information_gain(kernel, lam, points[asked[:t]]) for t in range(1, T + 1)]
        np.testing.assert_allclose(rows[1:], expected, rtol=1e-8)
    np.testing.assert_array_equal(gain.rounds, np.arange(21))


@pytest.mark.parametrize(("kernel", "lam"), CASES)
def test_blocks_bracket_the_maximum_as_well(kernel, lam):
    points = np.random.default_rng(0).random((4, 1))
    gain = greedy_information_gain(kernel, lam, points, 9, block=0.5)
    assert len(gain.rounds) < 9
    for t, lower, upper in zip(gain.rounds[1:].tolist(), gain.lower[1:], gain.upper[1:], strict=True):
        best = max(gains_of_all_multisets(kernel, lam, points, t))
        assert lower <= best + 1e-12
        assert best <= upper + 1e-12
    for t in range(1, 10):
        assert max(gains_of_all_multisets(kernel, lam, points, t)) <= gain.upper_at(t) + 1e-12


def test_blocks_of_a_hundredth_lose_little_and_save_nearly_all_steps():
    points = np.linspace(0, 1, 20)[:, None]
    one = greedy_information_gain(SE, 0.1, points, 5000)
    many = greedy_information_gain(SE, 0.1, points, 5000, block=0.01)
    assert len(many.rounds) < 600
    ends = np.array([many.upper_at(t) for t in range(1, 5001)])
    assert (one.lower[1:] <= ends + 1e-9).all()
    assert (ends <= 1.02 * one.certified[1:] + 0.05).all()
    assert (many.lower <= one.certified[many.rounds] + 1e-9).all()


@pytest.mark.parametrize("block", [-0.1, 1.5, np.nan])
def test_a_block_that_is_no_share_is_refused(block):
    with pytest.raises(BadInput, match="`block` must be a number from 0 to 1"):
        greedy_information_gain(SE, 1.0, np.zeros((2, 1)), 3, block=block)
