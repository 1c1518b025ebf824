"""What a user may write for a space, and what is refused."""

import math

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy import stats

from satisfice import BadInput, SatisficeWarning, find
from satisfice.domain.space import Space
from satisfice.study.distributions import distributions_of


@pytest.mark.parametrize(
    ("form", "distribution"),
    [
        ((0.0, 1.0), FloatDistribution(0, 1)),
        ((0, 1.5), FloatDistribution(0, 1.5)),
        ((np.float64(0.5), np.float32(1.5)), FloatDistribution(0.5, 1.5)),
        ((2, 12), IntDistribution(2, 12)),
        ((np.int64(2), np.uint8(12)), IntDistribution(2, 12)),
        ((1e-3, 1.0, "log"), FloatDistribution(1e-3, 1, log=True)),
        ((1, 1024, "log"), IntDistribution(1, 1024, log=True)),
        ((0.0, 1.0, 0.25), FloatDistribution(0, 1, step=0.25)),
        ((0.0, 1.0, 0.3), FloatDistribution(0, 0.9, step=0.3)),
        ((0, 1, 0.5), FloatDistribution(0, 1, step=0.5)),
        ((0.1, 0.7, 0.1), FloatDistribution(0.1, 0.7, step=0.1)),  # 0.1 + 6 * 0.1 is above 0.7
        ((0, 100, 30), IntDistribution(0, 90, step=30)),
        ((3.0, 3.0), FloatDistribution(3, 3)),
        (["a", "b"], CategoricalDistribution(["a", "b"])),
        (("a", "b"), CategoricalDistribution(["a", "b"])),
        ((True, False), CategoricalDistribution([True, False])),
        ((1, 2, None), CategoricalDistribution([1, 2, None])),
        (("log", 1), CategoricalDistribution(["log", 1])),
        ([1, 2.5, "x", None, True], None),  # 1 and True are one choice
        ([0, 10], CategoricalDistribution([0, 10])),
        (np.array([1.0, 10.0]), CategoricalDistribution([1.0, 10.0])),
        ([np.int64(3), np.str_("x")], CategoricalDistribution([3, "x"])),
        (stats.uniform(2, 3), FloatDistribution(2, 5)),
        (stats.loguniform(0.5, 2), FloatDistribution(0.5, 2, log=True)),
        (stats.randint(1, 10), IntDistribution(1, 9)),
        (IntDistribution(1, 9, step=2), IntDistribution(1, 9, step=2)),
    ],
)
def test_short_forms_mean_distributions(form, distribution):
    given = {"x": form, "other": (0.0, 1.0)}
    if distribution is None:
        with pytest.raises(BadInput, match="must have different choices"):
            Space.of(given)
        return
    space = Space.of(given)
    found = distributions_of(space)["x"]
    assert found == distribution
    assert type(found) is type(distribution)
    assert Space.of({"x": found, "other": (0.0, 1.0)}) == space
    if isinstance(found, CategoricalDistribution):
        assert [type(a) for a in found.choices] == [type(b) for b in distribution.choices]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ((1.0, 0.0), r"must have finite ends low <= high; got \(1.0, 0.0\)\."),
        ((5, 2), "low <= high"),
        ((0.0, math.nan), "finite ends"),
        ((math.nan, 1.0), "finite ends"),
        ((0.0, math.inf), "finite ends"),
        ((0.5, 10**400), "finite ends"),
        ((-1e308, 1e308), "too far apart"),
        ((0, 2**53 + 1), "numbers up to 9,007,199,254,740,992 as its ends"),
        ((1, 2**46, "log"), "numbers up to 35,184,372,088,832"),
        ((0.0, 1.0, "log"), "low > 0 on a log scale"),
        ((-3, 5, "log"), "low > 0"),
        ((1e300, math.nextafter(1e300, math.inf), "log"), "too close together"),
        ((0.0, 1.0, "Log"), 'a step or "log" as its third entry'),
        ((0.0, 1.0, 0.0), "a step greater than 0"),
        ((0.0, 1.0, -0.1), "a step greater than 0"),
        ((0.0, 1.0, math.nan), "a step greater than 0"),
        ((0.0, 1.0, 1e-9), "a coarser step"),
        ((False, 5), "Write choices as a list"),
        ((0.0, 1.0, True), "Write choices as a list"),
        ((1, 2, 3, 4), "Write choices as a list"),
        ((1,), "Write choices as a list"),
        ((), "Write choices as a list"),
        ([], "at least one choice; got an empty list"),
        (["a", "b", "a"], "different choices"),
        ([1, 1.0], "different choices"),
        ([0.5, math.nan], "a choice must be .*; got nan"),
        ([[1], [2]], r"a choice must be a text, a number, .*; got \[1\]"),
        ([int, float], "look them up in the objective"),
        (([1], "a"), r"a choice must be .*; got \[1\]"),
        ("ab", "must be a range .*; got 'ab'"),
        (3, "A constant is a list of one value"),
        (None, "must be a range .*; got None"),
        ({"low": 0}, "must be a range"),
        (range(3), "must be a range"),
        (stats.norm(0, 1), "uniform, loguniform or randint"),
        (np.zeros((1, 2)), "must be a range"),
        (FloatDistribution(0, math.inf), "finite numbers"),
        (FloatDistribution(math.nan, math.nan), "finite numbers"),
        (IntDistribution(0, 10**400), "numbers up to"),
        (CategoricalDistribution([1, 1]), "different choices"),
    ],
)
def test_forms_that_mean_nothing_are_refused_by_name(form, message):
    with pytest.raises(BadInput, match=rf"`space\['rate'\]`.*{message}"):
        Space.of({"ok": (0.0, 1.0), "rate": form})


def test_a_range_of_two_whole_numbers_is_warned_of_where_the_user_wrote_it():
    told = r"`space\['x'\]`: \(0, 1\) means the whole numbers 0 and 1 only\. .* write the ends as 0\.0 and 1\.0;"
    with pytest.warns(SatisficeWarning, match=told) as seen:
        answer = find(lambda p: p["x"], {"x": (0, 1), "y": (0.0, 1.0)}, 1, noise=0, seed=1)
    assert [each.filename for each in seen] == [__file__]
    assert type(answer.params["x"]) is int


@pytest.mark.parametrize(
    "form", [(0, 2), (0.0, 1.0), (0, 1.0), [0, 1], (1, 2, "log"), (False, True), IntDistribution(0, 1)]
)
def test_other_ranges_are_not_warned_of(form):
    Space.of({"x": form})  # a warning would be an error here


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "nothing to search"),
        ({"a": [1], "b": (2.0, 2.0), "c": (3, 3, 5)}, "nothing to search"),
        ({"a": (16, 32, 64)}, r"a step within the range; got .*\. Write choices as a list"),
        ({3: (0, 1)}, "must be a text that is not empty; got 3"),
        ({"": (0, 1)}, "must be a text that is not empty; got ''"),
        ([], r"must be a dict that gives each name .*; got \[\]"),
        ([(0, 1)], "must be a dict that gives each name"),
        (None, "got None"),
        ("abc", "got 'abc'"),
        ([{"a": 1}], "nothing to search"),
        ([{"a": 1}, {"a": 2, "b": 3}], r"Row 1 of `space` must have the keys of row 0, \['a'\]; got \['a', 'b'\]"),
        ([{"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 1.0, "b": "x"}], "rows 0 and 2 are equal"),
        ([{"a": 1.0}, {"a": math.nan}], "the column 'a' of `space` has nan or infinite"),
        ([{"a": 1}, {"a": 10**400}], "has nan or infinite"),
        ([{"a": "x"}, {"a": [1]}], r"a choice must be .*; got \[1\]"),
        ([{"a": "x"}, {"a": math.nan}], "a choice must be .*; got nan"),
        ([{1: 1}, {1: 2}], "got 1"),
        ([{}, {}], "rows 0 and 1 are equal"),
        ({"value": (0.0, 1.0)}, r"must not be a column of answer.table\(\) .*; got 'value'"),
        ([{"number": 1}, {"number": 2}], "got 'number'. Use another name"),
    ],
    ids=lambda value: repr(value).split(" at 0x")[0][:40],
)
def test_spaces_that_mean_nothing_are_refused(given, message):
    with pytest.raises(BadInput, match=message):
        Space.of(given)


def test_a_list_of_two_floats_is_doubted():
    with pytest.warns(SatisficeWarning, match=r"means the two choices 1.0 and 0.5.*write the range \(0.5, 1.0\)"):
        space = Space.of({"x": [1.0, 0.5]})
    assert space.domain.size == 2


def test_texts_are_no_ends_of_a_range():
    with pytest.raises(BadInput, match=r"must have numbers as its ends; got the texts \('0', '1'\)"):
        Space.of({"x": ("0", "1")})


@pytest.mark.parametrize("form", [(1.0, 0.0), (0.0, 1.0, "lin"), (0.0, math.inf), (-1.0, 1.0, "log")])
def test_a_percent_sign_in_a_name_breaks_no_error(form):
    with pytest.raises(BadInput, match=r"space\['%s'\]"):
        Space.of({"%s": form})
