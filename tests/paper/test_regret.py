"""Regret: the paper's definitions, and the order between them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from satisfice.errors import BadInput
from satisfice.paper import regret

VALUES = np.array([0.2, 0.7, 0.5, 1.0, 0.7000001])


def test_each_regret_of_a_sequence_done_by_hand():
    np.testing.assert_allclose(regret.standard(VALUES, 1.0), [0.8, 0.3, 0.5, 0.0, 0.2999999])
    np.testing.assert_allclose(regret.simple(VALUES, 1.0), [0.8, 0.3, 0.3, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(regret.indicator(VALUES, 1.0, 0.4), [1, 0, 1, 0, 0])
    np.testing.assert_allclose(regret.gap(VALUES, 1.0, 0.4), [0.8, 0, 0.5, 0, 0])
    np.testing.assert_allclose(regret.hinge(VALUES, 1.0, 0.4), [0.4, 0, 0.1, 0, 0])


def test_a_value_exactly_at_the_target_is_good():
    at = np.array([1.0 - 0.3])  # 1 - 0.7 is a little above 0.3 in floating point
    below = np.nextafter(at, -1)
    for penalty in (regret.indicator, regret.gap, regret.hinge):
        assert penalty(at, 1.0, 0.3)[0] == 0
        assert penalty(below, 1.0, 0.3)[0] > 0


@given(
    arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1e6)),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e6),
)
def test_hinge_at_most_gap_at_most_standard_exactly(losses, maximum, delta):
    values = maximum - losses
    bad = regret.indicator(values, maximum, delta)
    gap, hinge = regret.gap(values, maximum, delta), regret.hinge(values, maximum, delta)
    assert set(bad) <= {0.0, 1.0}
    assert (hinge >= 0).all()
    assert (hinge <= gap).all()
    assert (gap <= regret.standard(values, maximum)).all()
    np.testing.assert_array_equal(hinge > 0, bad > 0)
    np.testing.assert_array_equal(bad == 0, values >= maximum - delta)


def test_curves_add_up_along_the_steps_of_every_run():
    runs = np.stack([VALUES, VALUES[::-1]])
    curves = regret.curves(runs, 1.0, 0.4)
    assert all(curve.shape == runs.shape for curve in curves)
    np.testing.assert_allclose(curves.standard[:, -1], [1.8999999, 1.8999999])
    np.testing.assert_array_equal(curves.indicator, [[1, 1, 2, 2, 2], [0, 0, 1, 1, 2]])
    np.testing.assert_allclose(curves.gap[1], [0, 0, 0.5, 0.5, 1.3])
    np.testing.assert_allclose(curves.hinge[0], [0.4, 0.4, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(curves.simple[1], np.minimum.accumulate(1.0 - VALUES[::-1]))


@pytest.mark.parametrize(
    "values", [[0.1, np.nan], [np.inf], 0.5, "abc", ["high", "low"], [[1.0], [1.0, 2.0]], [1j], {}, None]
)
def test_values_that_are_no_finite_numbers_are_refused(values):
    wanted = r"`values` must be an array \(..., T\) of finite numbers, the true f\(x_t\); leave out the steps that failed; got "
    for function in (regret.indicator, regret.gap, regret.hinge, regret.curves):
        with pytest.raises(BadInput, match=wanted + re.escape(repr(values)[:80])):
            function(values, 1.0, 0.1)
    for function in (regret.standard, regret.simple):
        with pytest.raises(BadInput, match=wanted):
            function(values, 1.0)


@pytest.mark.parametrize(
    ("maximum", "delta"), [(np.nan, 0.1), (1.0, -0.1), (1.0, np.nan), ("1.0", 0.1), (1.0, None), ([1.0, 2.0], 0.1)]
)
def test_a_maximum_or_delta_that_makes_no_target_is_refused(maximum, delta):
    with pytest.raises(BadInput, match=re.escape(f"of at least 0; got {maximum!r} and {delta!r}")):
        regret.hinge(VALUES, maximum, delta)


def test_whole_numbers_and_many_runs_are_welcome():
    runs = np.arange(12).reshape(2, 2, 3)
    curves = regret.curves(runs, 11, 3)
    assert all(curve.dtype == np.float64 for curve in curves)
    np.testing.assert_array_equal(curves.standard, np.cumsum(11.0 - runs, axis=2))
    np.testing.assert_array_equal(regret.cumulative(np.ones((2, 2, 3)))[..., -1], np.full((2, 2), 3.0))
    np.testing.assert_array_equal(regret.standard(["1", "2"], 3.0), [2.0, 1.0])
