import math

import numpy as np
import pytest

from satisfice.extras import load_extra
from satisfice.paper.problems import PROBLEMS, MissingExtra
from satisfice.paper.problems.push import pushed

try:  # not pytest.importorskip: Box2D must not be loaded while warnings are errors
    load_extra("Box2D", "push")
except MissingExtra as missing:
    pytest.skip(f"ROBOT PUSHING IS NOT TESTED: {missing}", allow_module_level=True)

BOTH = ["robot3", "robot4"]


@pytest.mark.parametrize("name", BOTH)
def test_the_recorded_point_is_close_to_the_goal(name):
    problem = PROBLEMS[name]
    assert 4.9 <= problem.value(problem.maximisers[0]) <= problem.maximum == 5
    assert not problem.exact
    assert problem.target == 4.75


@pytest.mark.parametrize("name", BOTH)
def test_equal_points_have_equal_values_and_none_exceeds_five(name):
    problem = PROBLEMS[name]
    X = problem.domain.from_unit(problem.domain.uniform(300, np.random.default_rng(0)))
    values = problem.values(X)
    np.testing.assert_array_equal(problem.values(X[::-1]), values[::-1])
    assert values.max() <= 5
    assert len(np.unique(values)) > 200


def test_a_hand_that_does_not_reach_the_disc_leaves_it_at_the_origin():
    assert PROBLEMS["robot3"].value([-5, -5, 1]) == 0  # the goal is 5 away
    assert PROBLEMS["robot4"].value([5, -5, 0, 1]) == 0


@pytest.mark.parametrize("speed", [5.0, 10.0])
def test_the_disc_moves_as_fast_as_the_forces_allow(speed):
    """At constant velocity 30 m (v - u) = 5 + 2: the drive of the hand against the friction of disc and hand."""
    early, later = (pushed(-1.4, 0.0, 0.0, speed, steps) for steps in (200, 300))
    mass = 0.1 * (2 * 0.3) * (2 * 1.0)
    assert later[0] - early[0] == pytest.approx(speed - 7 / (30 * mass), rel=2e-3)
    assert abs(later[1]) < 1e-3


@pytest.mark.parametrize("speed", [5.0, 10.0])
def test_disc_and_hand_slide_to_a_stop_together(speed):
    """The way of a push of 3 s: u (3 - M / (30 m)) once the velocity u has settled, then u^2 M / (2 * 7) to the stop."""
    mass, both = 0.12, 0.12 + 0.05 * math.pi
    settled = speed - 7 / (30 * mass)
    expected = settled * (3 - both / (30 * mass)) + settled**2 * both / 14
    assert pushed(-1.4, 0.0, 0.0, speed, 300)[0] == pytest.approx(expected, rel=0.02)


def test_opposite_pushes_end_at_opposite_places():
    for x, y in [(-2.0, -3.0), (1.5, -4.0), (3.0, 0.2)]:
        angle = math.atan(y / x)
        there, back = pushed(x, y, angle, 5.0, 150), pushed(-x, -y, angle, 5.0, 150)
        np.testing.assert_allclose(there, [-back[0], -back[1]], atol=1e-2)


def test_the_duration_counts_tenths_of_its_unit_and_is_cut_off():
    value = PROBLEMS["robot3"].value
    assert value([-2, -3, 15.04]) == value([-2, -3, 15.0])
    assert value([-2, -3, 15.14]) != value([-2, -3, 15.0])


def test_the_hand_may_start_on_the_axis_and_at_the_origin():
    robot3 = PROBLEMS["robot3"]
    assert robot3.value([0, -3, 15]) == pytest.approx(robot3.value([1e-12, -3, 15]), abs=1e-2)
    assert robot3.value([0, 0, 10]) == robot3.value([0, 1e-6, 10])
    assert math.isfinite(PROBLEMS["robot4"].value([0, 0, 1, 10]))
