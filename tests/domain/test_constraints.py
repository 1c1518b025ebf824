"""Constraints: texts are parsed, tables filtered, what contradicts itself or cannot be used is one clear error."""

import json
import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import minimize

from satisfice import BadInput, Mixture, Space
from satisfice.domain.linear import linear_form
from satisfice.domain.polytope import Polytope
from satisfice.domain.product import Product
from satisfice.domain.region import Region

NAMES = {"a": (0.0, 1.0), "b": (0.0, 1.0), "max depth": (1, 9), "e": (0.0, 5.0), "kind": ["u", "v"], "fixed": [2.0]}
WHOLE = {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("text", "weights", "bound"),
    [
        ("a + 2 b <= 1", {"a": 1, "b": 2}, 1),
        ("a+2*b>=0.5", {"a": -1, "b": -2}, -0.5),
        ("2a <= b + 1e-1", {"a": 2, "b": -1}, 0.1),
        ("-a - -b <= 3 - 2", {"a": -1, "b": 1}, 1),
        ("a/4 + b * 2 * 3 <= 1", {"a": 0.25, "b": 6}, 1),
        ("1.5 max depth + 2 e <= 10", {"max depth": 1.5, "e": 2}, 10),
        ("1 <= a + b", {"a": -1, "b": -1}, -1),
        ("a - a + b <= 1", {"b": 1}, 1),
        ("a + fixed <= 2.5", {"a": 1, "fixed": 1}, 2.5),
    ],
)
def test_a_linear_text_is_read(text, weights, bound):
    (found,) = Space.of(NAMES, text).constraints
    assert (found.weights, found.bound) == (weights, pytest.approx(bound))


def test_a_text_with_two_relations_is_two_constraints():
    space = Space.of(NAMES, ["0.2 <= a + b <= 0.8"])
    assert [each.bound for each in space.constraints] == [-0.2, 0.8]
    X = space.domain.from_unit(space.domain.uniform(200, default_rng(0)))
    sums = X[:, 0] + X[:, 1]
    assert 0.2 <= sums.min() < 0.3
    assert 0.7 < sums.max() <= 0.8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a + b = 1", "must be an inequality.*use Mixture.*leave one parameter out"),
        ("a + b == 1", "use Mixture"),
        ("a + b < 1", "with <= or >="),
        ("a + b", "must be a linear constraint such as"),
        ("a <= b <= e <= 1", "must be a linear constraint"),
        ("0 <= a >= 0.5", "in one direction"),
        ("a * b <= 1", "cannot read 'b'"),
        ("2 (a + b) <= 1", "Multiply out brackets"),
        ("a + c <= 1", "cannot read 'c'"),
        ("kind <= 1", "'kind' is a choice"),
        ("1 / a <= 1", "divide by numbers only"),
        ("a / 0 <= 1", "divide by numbers only"),
        ("1 <= 2", "must depend on a parameter"),
        ("a <= ", "on each side"),
        ("__import__('os') <= 1", "cannot read"),
        ("a <= 1e999", "finite numbers"),
        ("a 2 b <= 1", "cannot read '2 b'"),
        ("a + <= 1", "ends too early"),
        ("2 * / a <= 1", "cannot read"),
    ],
)
def test_a_text_that_cannot_be_read_is_refused(text, message):
    with pytest.raises(BadInput, match=message):
        Space.of(NAMES, [text])


def test_a_name_is_read_whole():
    space = Space.of({"ab": (0.0, 1.0), "a": (0.0, 1.0)}, ["ab + 2 a <= 1"])
    assert space.constraints[0].weights == {"ab": 1, "a": 2}
    assert linear_form("a_b - 1", {"a_b": None, "a": None}, "x") == ({"a_b": 1.0}, -1.0)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (["a + b <= 0.5", "a >= 0.3", "b >= 0.3"], r"'a \+ b <= 0.5' and 'a >= 0.3' and 'b >= 0.3' do"),
        (["a + b <= 0.5", "a >= 0.6", "e <= 3"], r"contradict each other; 'a \+ b <= 0.5' and 'a >= 0.6' do"),
        (["a + b >= 3"], r"'a \+ b >= 3' must be possible within the ranges"),
        (["a + b <= 1", "a + b >= 1"], "must leave more than a face"),
        (["max depth <= 2.5", "max depth >= 2.2"], "contradict each other"),
        ([lambda p: False], "none of .* settings satisfies them all"),
        ([lambda p: 1.0 - p["a"]], "it returned .*return `number <= 0`"),
        (
            [lambda p: p["missing"] < 1],
            r"<lambda> \(constraints\[0\]\) must return True or False; it raised KeyError: 'missing'",
        ),
        ([lambda p: math.log(p["a"] - 2) < 1], "it raised ValueError"),
        (3, "must be a list of texts, functions and mixtures"),
        ([3], r"`constraints\[0\]` must be"),
        (Mixture(["a", "x"]), "must name parameters of the space"),
        (Mixture(["a", "max depth"]), r"'max depth' is .*Write the range as \(1.0, 9.0\)"),
        (Mixture(["a", "kind"]), "must be ranges of real numbers; 'kind'"),
        (Mixture(["a", "b"], total=2.0), "in more than one way"),
        ([Mixture(["a", "b"]), Mixture(["b", "e"])], "'b' is in two"),
        ([Mixture(["a", "b"]), "a >= 0.7", "b >= 0.4"], "contradict each other"),
    ],
)
def test_constraints_that_cannot_be_used_are_refused(constraints, message):
    with pytest.raises(BadInput, match=message):
        Space.of(NAMES, constraints)


@pytest.mark.parametrize(
    "parts", [(["a"],), (["a", "a"],), ("ab",), (["a", "b"], 0), (["a", "b"], math.inf), (["a", 3],)]
)
def test_a_mixture_needs_parts_and_a_total(parts):
    with pytest.raises(BadInput, match="of a Mixture must be"):
        Mixture(*parts)


def test_whole_numbers_are_listed_exactly():
    domain = Space.of({"a": (0, 9), "b": (0, 9)}, ["a + b <= 3"]).domain
    assert domain.size == 10
    X = domain.from_unit(domain.candidates(100, default_rng(0)))
    assert {tuple(x) for x in X} == {(a, b) for a in range(10) for b in range(10) if a + b <= 3}
    with pytest.raises(BadInput, match="none of the 100 combinations"):
        Space.of({"a": (0, 9), "b": (0, 9)}, [lambda p: p["a"] > 9])


def test_a_table_keeps_the_rows_that_are_allowed():
    rows = [{"a": k / 10, "b": 1 - k / 10, "name": f"r{k}"} for k in range(11)]
    space = Space.of(rows, ["a <= 0.5", lambda p: p["name"] != "r3", Mixture(["a", "b"])])
    assert [row["name"] for row in space.rows] == ["r0", "r1", "r2", "r4", "r5"]
    with pytest.raises(BadInput, match="none of its 11 rows"):
        Space.of(rows, ["a + b >= 1.5"])


def test_without_constraints_nothing_changes():
    assert type(Space.of(WHOLE).domain) is Product
    assert type(Space.of(WHOLE, []).domain) is Product
    assert "constraints" not in Space.of(WHOLE).to_json()


def test_constraints_are_stored_and_functions_are_not():
    space = Space.of(WHOLE, ["0.1 <= a <= 0.7", Mixture(["a", "b", "c"]), lambda p: p["b"] > 0.2])
    stored = json.loads(space.to_json())["constraints"]
    assert stored == [
        {"linear": "0.1 <= a <= 0.7"},
        {"mixture": ["a", "b", "c"], "total": 1.0},
        {"function": "<lambda> (constraints[2])"},
    ]
    again = Space.from_json(space.to_json())
    assert again.to_json() == space.to_json()
    assert [each.name for each in again.limits.forgotten] == ["<lambda> (constraints[2])"]
    assert isinstance(again.domain, Region)


def random_polytope(rng, k, rows, even):
    """A polytope of the unit cube around 0.2 to 0.8."""
    inner = rng.uniform(0.2, 0.8, k)
    A = rng.standard_normal((rows, k))
    A /= np.linalg.norm(A, axis=1)[:, None]
    E = np.linalg.qr(rng.standard_normal((k, even)))[0].T if even else np.empty((0, k))
    return Polytope(A, A @ inner + rng.uniform(0.02, 0.2, rows), E, E @ inner)


@pytest.mark.parametrize("seed", range(12))
def test_a_projection_is_the_nearest_point(seed):
    """Against SLSQP on the same quadratic programme."""
    rng = default_rng(seed)
    k = 2 + seed % 4
    shape = random_polytope(rng, k, seed % 4, int(seed % 3 == 0))
    Z = rng.uniform(-0.5, 1.5, (5, k))
    found = shape.project(Z)
    assert shape.inside(found).all()
    assert (shape.project(found) == found).all()
    for z, projected in zip(Z, found, strict=True):
        limits = [{"type": "ineq", "fun": lambda v: shape.b - shape.A @ v}] if len(shape.A) else []
        limits += [{"type": "eq", "fun": lambda v: shape.E @ v - shape.e}] if len(shape.E) else []
        oracle = minimize(
            lambda v, z=z: ((v - z) ** 2).sum(), shape.centre, bounds=[(0, 1)] * k, constraints=limits, method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 300},
        )  # fmt: skip
        assert np.linalg.norm(projected - z) <= np.linalg.norm(oracle.x - z) + 1e-3
        assert np.abs(projected - oracle.x).max() < 0.02


@pytest.mark.parametrize("seed", range(6))
def test_steps_stay_inside_and_rise(seed):
    rng = default_rng(seed)
    k = 2 + seed % 3
    shape = random_polytope(rng, k, 3, seed % 2)
    Z = shape.project(rng.uniform(-0.5, 1.5, (40, k)))  # most of them on faces
    D = rng.standard_normal((40, k))
    S = shape.steer(Z, D)
    assert shape.inside(np.clip(Z + S * (1 - 1e-9), 0, 1)).mean() > 0.95
    assert ((shape.project(Z + S) - Z - S) ** 2).sum(axis=1).max() < 1e-12
    assert (S * D).sum(axis=1).min() > -1e-9  # along a gradient D no step descends
