import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import minimize

from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.extras import load_extra
from satisfice.paper.problems import PROBLEMS, MissingExtra, Problem
from satisfice.paper.problems.synthetic import SYNTHETIC

NAMES = [problem.name for problem in SYNTHETIC]


def uniform(problem, n, seed):
    return problem.domain.from_unit(problem.domain.uniform(n, np.random.default_rng(seed)))


# Scalar formulas, minus signs as in the sources, which minimise.


def eggholder(x):
    a, b = x
    first = -(b + 47) * math.sin(math.sqrt(abs(b + a / 2 + 47)))
    return -(first - a * math.sin(math.sqrt(abs(a - (b + 47)))))


def alpine(x):
    return -sum(abs(v * math.sin(v) + 0.1 * v) for v in x)


def keane(x, weight=1.0):
    a, b = x
    return 1.5 * math.sin(a - b) ** 2 * math.sin(a + b) ** 2 / math.sqrt(a * a + weight * b * b)


def ackley(x):
    d = len(x)
    first = -20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / d))
    second = -math.exp(sum(math.cos(2 * math.pi * v) for v in x) / d)
    return -(first + second + 20 + math.exp(1))


def dropwave(x):
    a, b = x
    return -(-(1 + math.cos(12 * math.sqrt(a**2 + b**2))) / (0.5 * (a**2 + b**2) + 2))


def hartmann3(x):
    alpha = (1.0, 1.2, 3.0, 3.2)
    A = ((3, 10, 30), (0.1, 10, 35), (3, 10, 30), (0.1, 10, 35))
    P = ((3689, 1170, 2673), (4699, 4387, 7470), (1091, 8732, 5547), (381, 5743, 8828))
    total = 0.0
    for i in range(4):
        total -= alpha[i] * math.exp(-sum(A[i][j] * (x[j] - 1e-4 * P[i][j]) ** 2 for j in range(3)))
    return -total


FORMULAS = {
    "eggholder": eggholder,
    "alpine": alpine,
    "keane": keane,
    "keane-published": lambda x: keane(x, 1.5),
    "ackley": ackley,
    "dropwave": dropwave,
    "dropwave-shifted": lambda x: dropwave((x[0] + 5.12, x[1] - 5.12)),
    "hartmann3": hartmann3,
}

# Value, and a point of the literature that has it.
KNOWN = {
    "eggholder": (959.6407, (512, 404.2319)),
    "alpine": (0.0, (0,) * 6),
    "keane": (1.0105, (1.393, 0)),
    "keane-published": (1.0105, (1.393, 0)),
    "ackley": (0.0, (0,) * 6),
    "dropwave": (1.0, (0, 0)),
    "dropwave-shifted": (1.0, (-5.12, 5.12)),
    "hartmann3": (3.86278, (0.114614, 0.555649, 0.852547)),
}


def test_every_problem_has_a_formula_and_a_known_maximum():
    assert set(NAMES) == set(FORMULAS) == set(KNOWN)


def test_the_table_has_every_problem_of_the_paper():
    paper = {*NAMES, "gp2d", "robot3", "robot4", "xgboost"}
    assert paper < set(PROBLEMS)
    assert set(PROBLEMS) - paper == {"gp2d-published", "gp2d-published-grid", "xgboost-published"}
    assert all(name == problem.name for name, problem in PROBLEMS.items())


@pytest.mark.parametrize("name", NAMES)
def test_values_equal_the_scalar_formula(name):
    problem = PROBLEMS[name]
    X = uniform(problem, 300, seed=1)
    expected = [FORMULAS[name](x) for x in X.tolist()]
    np.testing.assert_allclose(problem.values(X), expected, rtol=1e-11, atol=1e-11)
    assert problem.value(X[7]) == pytest.approx(expected[7], rel=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_the_maximum_is_the_known_one_and_is_reached(name):
    problem, (value, point) = PROBLEMS[name], KNOWN[name]
    assert problem.maximum == pytest.approx(value, abs=1e-4)
    assert problem.value(point) == pytest.approx(value, abs=1e-4)
    for maximiser in problem.maximisers:
        assert problem.value(maximiser) == pytest.approx(problem.maximum, abs=1e-9)
        problem.domain.to_unit([maximiser])


@pytest.mark.parametrize("name", NAMES)
def test_no_point_exceeds_the_maximum(name):
    problem = PROBLEMS[name]
    X = uniform(problem, 30_000, seed=2)
    values = problem.values(X)
    assert values.max() <= problem.maximum
    for start in X[np.argsort(values)[-3:]]:
        top = minimize(lambda x: -problem.value(x), start, method="Nelder-Mead", bounds=problem.domain.bounds)
        assert -top.fun <= problem.maximum + 1e-9


def test_keane_has_four_equal_maxima_and_the_published_variant_two():
    points = [(1.3932491, 0), (-1.3932491, 0), (0, 1.3932491), (0, -1.3932491)]
    np.testing.assert_allclose(PROBLEMS["keane"].values(points), 1.0105, atol=1e-4)
    np.testing.assert_allclose(PROBLEMS["keane-published"].values(points), [1.0105, 1.0105, 0.825, 0.825], atol=1e-4)
    assert PROBLEMS["keane"].value((0, 0)) == PROBLEMS["keane-published"].value((0, 0)) == 0
    assert PROBLEMS["keane-published"].target == 0.85


def test_alpine_is_zero_wherever_the_sine_is_minus_a_tenth():
    roots = [0.0, math.pi + math.asin(0.1), 2 * math.pi - math.asin(0.1), 3 * math.pi + math.asin(0.1)]
    assert PROBLEMS["alpine"].value([*roots, roots[1], roots[3]]) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if PROBLEMS[name].xis])
def test_about_a_share_xi_of_fresh_actions_is_good(name):
    problem, n = PROBLEMS[name], 100_000
    values = problem.values(uniform(problem, n, seed=3))
    for xi in (*problem.xis, 1 / 400, 1 / 50):
        error = math.sqrt(xi * (1 - xi) * (1 / n + 1 / 10_000))  # of the share, and of the quantile
        assert (values >= problem.target_at(xi)).mean() == pytest.approx(xi, abs=4 * error)
    assert problem.target == problem.target_at(problem.xis[0]) == problem.target_at(1 / 100)
    assert problem.target < problem.maximum


def test_targets_without_a_good_action_lie_above_the_maximum():
    assert PROBLEMS["hartmann3"].etas == pytest.approx((3.96278, 4.36278), abs=1e-5)
    assert PROBLEMS["robot3"].etas == (4.75, 4.5, 4.0, 5.1, 5.5)


def test_the_target_from_a_share_does_not_change():
    problem = PROBLEMS["eggholder"]
    again = Problem("again", problem.domain, problem.function, problem.maximum, xis=problem.xis)
    assert again.target == problem.target == pytest.approx(713.3667583355, rel=1e-9)


def test_problems_travel_to_other_processes():
    x = (0.3, 0.7)
    for name in ("gp2d", "dropwave-shifted"):
        assert pickle.loads(pickle.dumps(PROBLEMS[name])).value(x) == PROBLEMS[name].value(x)  # noqa: S301


@pytest.mark.parametrize("x", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], 1.0])
def test_a_point_of_the_wrong_shape_is_refused(x):
    with pytest.raises(BadInput, match="keane"):
        PROBLEMS["keane"].value(x)


@pytest.mark.parametrize("xi", [0.0, 1.0, -1.0, math.nan])
def test_an_impossible_share_is_refused(xi):
    with pytest.raises(BadInput, match="xi"):
        PROBLEMS["keane"].target_at(xi)


def test_a_problem_without_a_target_is_refused():
    with pytest.raises(BadInput, match="target"):
        Problem("aimless", Box([(0, 1)]), lambda X: X[:, 0], maximum=1.0)


def test_a_missing_package_is_named_with_the_extra_that_brings_it():
    with pytest.raises(
        MissingExtra, match=r"no_such_package is not installed: run pip install '\.\[push\]' in the clone"
    ):
        load_extra("no_such_package", "push")


def test_importing_the_problems_loads_no_optional_package():
    code = "import sys, satisfice.paper.problems; sys.exit('Box2D' in sys.modules or 'xgboost' in sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
