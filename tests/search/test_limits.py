"""Known constraints: no question breaks them, whatever asks; what cannot be satisfied or used is one clear error."""

import math
import warnings
from functools import partial

import numpy as np
import pytest
from allowed import limited_spaces
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from satisfice import BadInput, FixedModel, Mixture, Requirement, Search, Space
from satisfice.domain.region import Region
from satisfice.errors import NoSurvivors, SatisficeWarning, SpaceExhausted
from satisfice.gp.kernels import Stationary
from satisfice.rules import RULES, requirements_of

ANYWHERE = [name for name, rule in RULES.items() if not requirements_of(rule()).finite]
SQUARE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


common = partial(settings, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
drawn = given(
    limited=limited_spaces(),
    rule=st.sampled_from(ANYWHERE),
    noise=st.sampled_from([0, None, 0.1]),
    seed=st.integers(0, 99),
)


def model_for(rule, dimension):
    needs = requirements_of(RULES[rule]())
    if needs.fixed or needs.single:
        return FixedModel(Stationary("se", np.full(dimension, 0.3)), lam=0.01)
    return "auto"


def value_of(params, rng):
    numbers = [value for value in params.values() if isinstance(value, int | float)]
    return math.sin(sum((k + 1) * value for k, value in enumerate(numbers))) + 0.1 * rng.standard_normal()


def no_question_breaks(space, limits, rule, noise, seed):
    """Ask in all ways: one by one and in batches, with failures, with repeats, and after hope is lost."""

    def check(params):
        assert all(each.allows(params) for each in limits), (params, [str(each.given) for each in limits])

    rng = default_rng(seed)
    named = Space.of(space, [each.given for each in limits])
    domain = named.domain
    for U in (domain.uniform(8, rng), domain.candidates(16, rng), domain.snap(rng.random((8, domain.dimension)))):
        for x in domain.from_unit(U):
            check(named.decode(x))
        assert np.array_equal(domain.snap(U), U)  # what lies inside stays
    search = Search(named, 1.2, rule, model=model_for(rule, domain.dimension), noise=noise, seed=seed)
    try:
        for turn in range(5):
            batch = search.ask(n=1 + turn % 2)
            for params in batch:
                check(params)
                if turn == 3:
                    search.fail(params)
                else:
                    search.tell(params, value_of(params, rng) if noise is None else round(value_of(params, rng), 3))
            search.answer()
        check(named.decode(search.surrogate.draws.point(turn)))
    except (SpaceExhausted, NoSurvivors):
        pass


class TestEveryQuestion:
    @pytest.fixture(autouse=True)
    def quiet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SatisficeWarning)  # of constant values, and of whole numbers 0 and 1
            yield

    @common(max_examples=8, derandomize=True)
    @drawn
    def test_keeps_the_constraints(self, limited, rule, noise, seed):
        no_question_breaks(*limited, rule, noise, seed)

    @pytest.mark.slow
    @common(max_examples=500)
    @drawn
    def test_of_500_spaces_keeps_the_constraints(self, limited, rule, noise, seed):
        no_question_breaks(*limited, rule, noise, seed)

    @pytest.mark.parametrize("rule", sorted(RULES))
    def test_of_every_rule_keeps_the_constraints_of_a_table(self, rule):
        rows = [{"a": a, "b": b} for a in range(6) for b in range(6)]
        space = Space.of(rows, ["a + b <= 5", lambda p: p["a"] != 2])
        search = Search(space, 1.5, rule, model=model_for(rule, 2), noise=0.1, seed=1)
        for _ in range(8):
            params = search.ask()
            assert params["a"] + params["b"] <= 5
            assert params["a"] != 2
            search.tell(params, math.sin(params["a"]) + math.cos(params["b"]))


def test_a_region_of_one_in_ten_thousand_is_searched():
    inside = lambda p: 0.3 <= p["a"] <= 0.31 and 0.7 <= p["b"] <= 0.71  # noqa: E731
    search = Search(Space.of(SQUARE, inside), -1e-6, noise=0, seed=1)
    while search.answer().verdict == "open" and search.answer().evaluations < 40:
        params = search.ask()
        assert inside(params)
        search.tell(params, -((params["a"] - 0.307) ** 2) - (params["b"] - 0.702) ** 2)
    assert search.answer().verdict == "good"


def test_a_thin_strip_of_a_linear_constraint_is_searched():
    space = Space.of({f"x{k}": (0.0, 1.0) for k in range(6)}, [" + ".join(f"x{k}" for k in range(6)) + " >= 5.8"])
    search = Search(space, 0.995, noise=0, seed=0)
    for _ in range(15):
        params = search.ask()
        assert sum(params.values()) >= 5.8
        search.tell(params, params["x0"] - params["x1"])


def test_uniform_draws_are_uniform_over_the_region():
    """Against rejection, by the shares of 16 cells: the difference of each is within 4.5 of its standard deviations."""
    walked = Space.of({"a": (0.0, 1.0), "b": (0.0, 1.0), "c": (0.0, 1.0)}, ["a + b + c >= 2.9", "a >= b"]).domain
    mixed = Space.of({"a": (0.0, 1.0), "b": (0.0, 0.6), "c": (0.1, 1.0)}, Mixture(["a", "b", "c"])).domain
    curved = Space.of(SQUARE, lambda p: 0.003 < (p["a"] - 0.5) ** 2 + (p["b"] - 0.5) ** 2 < 0.004).domain
    rng, n = default_rng(0), 4000
    tries = rng.random((1_500_000, 3))
    oracle = tries[(tries.sum(axis=1) >= 2.9) & (tries[:, 0] >= tries[:, 1])]
    parts = rng.dirichlet(np.ones(3), size=200_000)
    whole = parts[(parts[:, 1] <= 0.6) & (parts[:, 2] >= 0.1)]
    angles, radii = rng.random(n) * 2 * np.pi, np.sqrt(rng.uniform(0.003, 0.004, n))
    ring = 0.5 + radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    for domain, expected in ((walked, oracle), (mixed, whole), (curved, ring)):
        assert isinstance(domain, Region)
        drawn = domain.from_unit(domain.uniform(n, rng))
        for column in range(2):
            edges = np.quantile(expected[:, column], np.linspace(0, 1, 17)[1:-1])
            found = np.bincount(np.searchsorted(edges, drawn[:, column]), minlength=16)
            assert np.abs(found - n / 16).max() < 4.5 * math.sqrt(n / 16 * (1 + n / len(expected)))


def test_a_point_of_the_users_own_must_be_inside_and_earlier_data_need_not():
    space = Space.of(SQUARE, ["a + b <= 1"])
    search = Search(space, 1.0, noise=0, seed=0)
    with pytest.raises(BadInput, match=r"must satisfy the constraints; it breaks 'a \+ b <= 1'"):
        search.tell({"a": 0.9, "b": 0.9}, 2.0)
    assert search.answer().evaluations == 0
    search.tell({"a": 0.9, "b": 0.9}, 2.0, fresh=False)
    assert search.answer().verdict == "open"
    assert search.answer().params is None
    for _ in range(6):
        params = search.ask()
        assert params["a"] + params["b"] <= 1
        search.tell(params, params["a"] + params["b"] - 0.5)
    answer = search.answer()
    assert answer.params["a"] + answer.params["b"] <= 1  # never the better one outside


def test_a_mixture_asks_for_parts_that_sum_to_the_whole():
    space = Space.of({"a": (0.1, 0.8), "b": (0.0, 1.0), "c": (0.0, 0.5), "heat": (20, 90)}, Mixture(["a", "b", "c"]))
    search = Search(space, -0.001, noise=0, seed=2)
    while search.answer().verdict == "open" and search.answer().evaluations < 60:
        p = search.ask()
        assert p["a"] + p["b"] + p["c"] == pytest.approx(1, abs=1e-12)
        search.tell(p, -((p["a"] - 0.3) ** 2) - (p["c"] - 0.45) ** 2 - ((p["heat"] - 50) / 70) ** 2)
    assert search.answer().verdict == "good"


def test_a_climb_reaches_the_best_point_of_a_face():
    """A good corner that only a climb along the constraint reaches: no candidate lies there."""
    space = Space.of({"a": (0.0, 1.0), "b": (0.0, 1.0)}, ["a + b <= 1"])
    search = Search(space, 0.5 - 1e-3, "eg", noise=0, seed=0)  # a * b + b / 2 on the face, at most at a = 1/4
    best = max((a * (1 - a) + (1 - a) / 2 for a in np.linspace(0, 1, 1001)), default=0)
    search = Search(space, best - 1e-4, "eg", noise=0, seed=0)
    while search.answer().verdict == "open" and search.answer().evaluations < 40:
        p = search.ask()
        search.tell(p, p["a"] * p["b"] + p["b"] / 2)
    assert search.answer().verdict == "good"


def test_a_function_that_raises_late_loses_nothing():
    def below(p):
        if calls.get("raise"):
            raise RuntimeError("the table of limits is gone")
        return p["a"] + p["b"] <= 1.5

    calls = {}
    search = Search(Space.of(SQUARE, below), 3.0, noise=0, seed=0)
    for _ in range(4):
        params = search.ask()
        search.tell(params, params["a"])
    calls["raise"] = True
    with pytest.raises(
        BadInput, match=r"below \(constraints\[0\]\) must return True or False; it raised RuntimeError: the table"
    ):
        search.ask()
    calls.clear()
    assert search.answer().evaluations == 4
    search.tell(search.ask(), 0.1)
    assert search.answer().evaluations == 5


@pytest.mark.parametrize("rule", ["pg", "eg", "aspire", "ts", "sts", "random", "sobol"])
def test_several_requirements_keep_the_constraints(rule):
    space = Space.of({**SQUARE, "k": (0, 9)}, ["a + b <= 0.9", lambda p: p["k"] != 3])
    target = [Requirement("yield", ">=", 0.8, noise=0), Requirement("cost", "<=", 0.1, noise=0)]
    search = Search(space, target, rule, seed=1)
    search.tell({"a": 0.9, "b": 0.9, "k": 1}, {"yield": 1.0, "cost": 0.0}, fresh=False)
    with pytest.raises(BadInput, match="it breaks 'a"):
        search.tell({"a": 0.9, "b": 0.9, "k": 1}, {"yield": 1.0, "cost": 0.0})
    for _ in range(8):
        params = search.ask()
        assert params["a"] + params["b"] <= 0.9
        assert params["k"] != 3
        search.tell(params, {"yield": params["a"], "cost": params["b"] + params["k"] / 90})
        answer = search.answer()
        assert answer.params["a"] + answer.params["b"] <= 0.9
