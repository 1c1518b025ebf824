"""The texts and objects in which requirements are written, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.certificates.eprocess import Bounded, level
from satisfice.errors import BadInput
from satisfice.search.specification import Requirement, Specification

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("text", "sense", "threshold"),
    [
        (">= 80", ">=", 80.0),
        ("<=2", "<=", 2.0),
        ("  >=  -1e-3 ", ">=", -1e-3),
        ("≥ 0.93", ">=", 0.93),
        ("≤ +5", "<=", 5.0),
    ],
)
def test_texts_are_read(text, sense, threshold):
    found = Requirement.parse(text, "yield")
    assert (found.name, found.sense, found.threshold) == ("yield", sense, threshold)
    assert Requirement.parse("yield" + text) == found


def test_a_name_may_hold_spaces():
    assert Requirement.parse("p99 latency (ms) <= 200").name == "p99 latency (ms)"


@given(NUMBERS, st.sampled_from([">=", "<="]))
def test_every_number_is_read_as_it_is_written(threshold, sense):
    found = Requirement.parse(f"x {sense} {threshold!r}")
    assert found.threshold == threshold
    assert found.sense == sense


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({}, "at least one requirement"),
        ([], "at least one requirement"),
        ({"yield": 80}, r"`target\['yield'\]` must say in which direction.*got 80"),
        ({"yield": "80"}, r"`target\['yield'\]` must be such as '>= 80'"),
        ({"yield": "> 80"}, r"must compare by >= or <=.*Write >= instead"),
        ({"yield": "== 80"}, "must compare by >= or <="),
        ({"yield": "=> 80"}, "must compare by >= or <="),
        ({"yield": ">= eighty"}, "must end in a number"),
        ({"yield": ">= nan"}, "finite number"),
        ({"yield": ">= inf"}, "finite number"),
        ({"yield": "purity >= 80"}, r"`target\['yield'\]` must be such as"),
        ({3: ">= 80"}, "must name its requirements by texts"),
        ({"": ">= 80"}, "a text that is not empty"),
        ({"yield": Requirement("purity", ">=", 80)}, "one named 'purity'"),
        (["yield >= 80", "yield <= 90"], "two for 'yield'"),
        ([">= 80"], "`requirement` must be such as 'yield >= 80'"),
        ([80.0, 2.0], "must be a finite number, or requirements"),
        (np.array([80.0, 2.0]), "must be a finite number, or requirements"),
        (object(), "must be a finite number, or requirements"),
    ],
)
def test_what_cannot_be_used_is_one_clear_error(target, message):
    with pytest.raises(BadInput, match=message):
        Specification.of(target)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sense": "above"}, "`sense` of the requirement 'yield' must be '>=' or '<='; got 'above'"),
        ({"threshold": "80"}, "`threshold` of the requirement `yield` must be a finite number; got '80'"),
        ({"noise": -1}, "requirement 'yield': `noise` must be"),
        ({"value_range": (0, 50)}, "requirement 'yield': `target` must lie within `value_range`"),
        (
            {"statistic": "median"},
            r"`statistic` of the requirement 'yield' must be 'mean', 'rate' or \('quantile', q\)",
        ),
        ({"statistic": ("quantile", 1.0)}, "q between 0 and 1"),
        ({"statistic": "rate", "threshold": 0.9, "noise": 0}, "must be left out for the statistic 'rate'"),
        ({"statistic": "rate"}, "must lie between 0 and 1; got 80"),
    ],
)
def test_a_requirement_says_what_is_wrong(changed, message):
    with pytest.raises(BadInput, match=message):
        Requirement(**{"name": "yield", "sense": ">=", "threshold": 80, **changed})


@pytest.mark.parametrize("sense", [">=", "<="])
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
def test_a_quantile_meets_its_threshold_exactly_if_the_values_that_count_reach_their_target(q, sense):
    rng = np.random.default_rng(0)
    values = rng.normal(size=1001)  # an odd number: no quantile below falls between two values
    for threshold in np.linspace(-2, 2, 41):
        requirement = Requirement("latency", sense, float(threshold), statistic=("quantile", q))
        quantile = np.quantile(values, q, method="inverted_cdf")
        meets = quantile <= threshold if sense == "<=" else quantile >= threshold
        counted = np.mean([requirement.read(value) for value in values])
        assert requirement.direction == "maximize"
        assert requirement.limits == (0.0, 1.0)
        assert (counted >= requirement.target) == meets


@pytest.mark.parametrize(("q", "least", "most"), [(0.9, 48, 53), (0.95, 100, 110), (0.99, 501, 560)])
def test_a_quantile_takes_as_many_repeats_as_the_documentation_says(q, least, most):
    wanted, test = -np.log(level(0.05, 1)), Bounded(0, 1)
    assert test.log_evidence(np.ones(least - 1), q) < wanted <= test.log_evidence(np.ones(most), q)


@given(st.sampled_from(["mean", "rate", ("quantile", 0.25)]), st.sampled_from([">=", "<="]), st.floats(0.01, 0.99))
def test_json_gives_the_same_requirements_back(statistic, sense, threshold):
    requirements = (Requirement("a", sense, threshold, statistic=statistic), Requirement("b", "<=", 2, 0.5, (0, 4)))
    spec = Specification(requirements)
    assert Specification.from_data(json.loads(json.dumps(spec.to_data()))) == spec


def test_broken_data_is_refused():
    for data in (None, [{"name": "a"}], [3]):
        with pytest.raises(BadInput, match="`data` must be what `to_data` gives"):
            Specification.from_data(data)


def test_a_specification_reads_like_a_sentence():
    target = {"yield": ">= 80", "latency": Requirement("latency", "<=", 200, statistic=("quantile", 0.99))}
    assert str(Specification.of(target)) == "yield >= 80 and quantile 0.99 of latency <= 200"
    assert str(Requirement("ok", ">=", 0.9, statistic="rate")) == "rate of ok >= 0.9"
