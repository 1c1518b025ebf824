"""Spaces: the domain that parameters make, and settings there and back."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.domain.parameters import Categorical, Integer, LogInteger, LogReal, Real
from satisfice.domain.product import Product
from satisfice.domain.space import COLUMNS, Space
from satisfice.errors import BadInput
from satisfice.study.distributions import distribution_of

EVERYTHING = {
    "rate": (1e-5, 1.0, "log"),
    "width": (8, 512, "log"),
    "depth": (2, 12),
    "even": (0, 100, 2),
    "drop": (0.0, 0.9, 0.1),
    "weight": (-1.5, 2.0),
    "solver": ["adam", "sgd", None],
    "flag": (True, False),
    "fixed": [7],
    "still": (3.0, 3.0),
}
TABLE = [
    {"layers": 1, "rate": 0.1, "act": "relu", "norm": True, "seed": 5},
    {"layers": 2, "rate": 0.2, "act": "tanh", "norm": True, "seed": 5},
    {"layers": 2, "rate": 0.1, "act": "gelu", "norm": False, "seed": 5},
]


def test_the_domain_has_coordinates_for_what_is_searched():
    domain = Space.of(EVERYTHING).domain
    assert isinstance(domain, Product)
    assert domain.bounds[:2] == ((math.log(1e-5), 0.0), (math.log(8), math.log(512)))
    assert domain.bounds[2:6] == ((2, 12), (0, 50), (0, 9), (-1.5, 2))
    assert domain.bounds[6:] == ((0, 1),) * 5
    assert domain.integers == (2, 3, 4)
    assert isinstance(domain.parameters[1], LogInteger)
    assert domain.parameters[6:] == (Categorical(["adam", "sgd", None]), Categorical([True, False]))
    plain, box = (
        Space.of({"a": (0.0, 1.0), "b": (1, 9), "c": (0, 8, 2)}).domain,
        Box([(0, 1), (1, 9), (0, 4)], [1, 2], [2]),
    )
    assert (plain.bounds, plain.integers, plain.switches) == (box.bounds, box.integers, box.switches)
    assert Space.of({"a": (1, 10_000, "log")}).domain.size == 10_000
    assert Space.of({"a": [1, 2, 3], "b": (1, 5), "c": [0]}).domain.size == 15


def spaces():
    """Spaces of all kinds of parameters."""
    whole = st.integers(-1000, 1000)
    finite = st.floats(-1e6, 1e6)
    choice = st.one_of(st.text(max_size=3), st.integers(-5, 5), st.floats(allow_nan=False), st.booleans(), st.none())
    form = st.one_of(
        st.tuples(whole, st.integers(0, 50)).map(lambda pair: (pair[0], pair[0] + pair[1])),
        st.tuples(st.integers(1, 50), st.integers(0, 10**5)).map(lambda pair: (pair[0], sum(pair), "log")),
        st.tuples(whole, st.integers(0, 50), st.integers(1, 9)).map(
            lambda t: (t[0], t[0] + t[1], min(t[2], max(t[1], 1)))
        ),
        st.tuples(finite, finite).map(lambda pair: tuple(sorted(pair))),
        st.tuples(st.floats(1e-9, 1e-3), st.floats(2e-3, 1e9)).map(lambda pair: (*pair, "log")),
        st.tuples(st.integers(-50, 50), st.integers(0, 80)).map(lambda t: (t[0] / 10, (t[0] + t[1]) / 10, 0.1)),
        st.lists(choice, min_size=1, max_size=4, unique=True),
    )
    names = st.text(min_size=1, max_size=4).filter(lambda name: name not in COLUMNS)
    return st.dictionaries(names, form, max_size=4).map(lambda d: Space.of({**d, "z": (0, 7)}))


def same(first, second):
    return repr(first) == repr(second)  # tells 1 from 1.0 and True


@pytest.mark.filterwarnings(
    "ignore:(?s).* means the whole numbers:satisfice.SatisficeWarning"
)  # a name may have two lines
@settings(deadline=None, max_examples=300)
@given(space=spaces(), seed=st.integers(0, 2**32))
@example(space=Space.of(EVERYTHING), seed=0)
@example(space=Space.of({"x": (0.0, 1.0, 0.1), "y": (0.5, 9.5, 1.0)}), seed=0)
def test_what_is_decoded_is_a_setting_and_comes_back(space, seed):
    for u in space.domain.uniform(5, default_rng(seed)):
        x = space.domain.from_unit(u[None])[0]
        params = space.decode(x)
        assert list(params) == list(space.parameters)
        for name, parameter in space.parameters.items():
            distribution = distribution_of(parameter)
            assert distribution._contains(distribution.to_internal_repr(params[name]))  # Optuna takes it as it is
            if isinstance(parameter, Categorical):
                assert any(params[name] is choice for choice in parameter.choices)
            else:
                assert type(params[name]) is (int if isinstance(parameter, Integer) else float)
        again = space.decode(space.encode(params))
        for name, parameter in space.parameters.items():
            if isinstance(parameter, LogReal):
                # exp(log(x)): the rounding of a logarithm up to 21 in size, and of the exponential
                assert again[name] == pytest.approx(params[name], rel=1e-14)
            else:
                assert same(again[name], params[name])
        assert space.domain.to_unit(space.encode(params)).shape == (1, space.domain.dimension)


@pytest.mark.parametrize("low", [1, 977, 2**45 - 30_000])
def test_whole_numbers_on_a_log_scale_come_back_exactly(low):
    space = Space.of({"n": (low, low + 29_999, "log")})
    for n in [*range(low, low + 30_000, 97), low + 29_999]:
        x = space.encode({"n": n})
        assert same(space.decode(x), {"n": n})
        assert np.array_equal(space.domain.from_unit(space.domain.to_unit(x))[0], x)


def test_the_ends_of_a_log_scale_come_back_exactly():
    space = Space.of({"x": (0.3, 7.1, "log"), "y": (1e-7, 3e5, "log")})
    for params in ({"x": 0.3, "y": 3e5}, {"x": 7.1, "y": 1e-7}):
        assert space.decode(space.encode(params)) == params


def test_a_whole_number_that_starts_at_0_or_minus_1_is_a_switch_and_no_other_low_end():
    forms = {
        "depth": (-1, 8),
        "width": (32, 512, 32),
        "drop": (0.0, 0.5, 0.1),
        "limit": (0, 100, 10),
        "share": (0.0, 1.0),
    }
    assert list(Space.of(forms).domain.switches) == [0, 3]
    mixed = Space.of({"kind": ["a", "b"], **forms, "count": (1, 1000, "log")})
    assert list(mixed.domain.switches) == [2, 5]
    lowest = {"depth": -1, "width": 32, "drop": 0.0, "limit": 0, "share": 0.0}
    assert (Space.of(forms).domain.to_unit(Space.of(forms).encode(lowest)) == 0).all()
    assert Space.of([{"depth": depth} for depth in range(9)]).domain.switches == ()


def test_steps_read_as_they_are_written():
    space = Space.of({"x": (0.0, 1.0, 0.1)})
    assert [space.decode(np.array([float(k)]))["x"] for k in range(11)] == [k / 10 for k in range(11)]
    assert space.decode(space.encode({"x": 3 * 0.1})) == {"x": 0.3}  # another float, the same step


def test_parameters_may_be_numpy_scalars():
    space = Space.of(EVERYTHING)
    params = space.decode(space.domain.from_unit(space.domain.uniform(1, default_rng(0)))[0])
    numpy = {name: value if value is None else np.asarray(value)[()] for name, value in params.items()}
    assert np.array_equal(space.encode(numpy), space.encode(params))
    assert np.array_equal(space.encode({**params, "depth": 3.0}), space.encode({**params, "depth": 3}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"more": 1}, r"`params` must have the names \['rate', 'width', .*\]; 'more' is unknown\."),
        ({"depth": 13}, r"must be a number from 2 to 12; got 13\."),
        ({"depth": 2.5}, r"must be 2 plus a whole number of steps of 1; got 2\.5"),
        ({"depth": True}, "must be a number from 2 to 12; got True"),
        ({"depth": "3"}, "must be a number from 2 to 12; got '3'"),
        ({"rate": 0.0}, "must be a number from 1e-05 to 1.0; got 0.0"),
        ({"rate": math.nan}, "must be a number from 1e-05 to 1.0; got nan"),
        ({"rate": None}, "must be a number from 1e-05 to 1.0; got None"),
        ({"even": 3}, "must be 0 plus a whole number of steps of 2; got 3"),
        ({"drop": 0.15}, "must be 0.0 plus a whole number of steps of 0.1; got 0.15"),
        ({"width": 9.5}, "must be 8 plus a whole number of steps of 1; got 9.5"),
        ({"solver": "sdg"}, r"must be one of \['adam', 'sgd', None\]; got 'sdg'"),
        ({"solver": ["adam"]}, "must be one of .*; got "),
        ({"solver": np.zeros(2)}, "must be one of .*; got "),
        ({"fixed": 8}, r"must be one of \[7\]; got 8"),
        ({"still": 2.0}, "must be a number from 3.0 to 3.0; got 2.0"),
    ],
)
def test_parameters_outside_the_space_are_refused(change, message):
    space = Space.of(EVERYTHING)
    params = space.decode(space.domain.from_unit(space.domain.uniform(1, default_rng(0)))[0])
    (name,) = change
    named = "" if name == "more" else rf"`params\['{name}'\]` "
    with pytest.raises(BadInput, match=f"^{named}{message}"):
        space.encode({**params, **change})


def test_a_missing_parameter_and_a_point_of_another_length_are_refused():
    space = Space.of({"a": (0, 9), "b": [1, 2]})
    with pytest.raises(BadInput, match=r"`params` must have the names \['a', 'b'\]; 'b' is missing"):
        space.encode({"a": 1})
    with pytest.raises(BadInput, match=r"one point of 3 coordinates; got shape \(2,\)"):
        space.decode(np.zeros(2))


def test_a_table_is_a_finite_domain_of_its_rows():
    space = Space.of(TABLE)
    assert isinstance(space.domain, Finite)
    assert space.domain.X.tolist() == [
        [1, 0.1, 1, 0, 0, 1, 0],
        [2, 0.2, 0, 1, 0, 1, 0],
        [2, 0.1, 0, 0, 1, 0, 1],
    ]
    assert space.rows == tuple(TABLE)
    assert space.parameters == {
        "layers": Integer(1, 2),
        "rate": Real(0.1, 0.2),
        "act": Categorical(["relu", "tanh", "gelu"]),
        "norm": Categorical([True, False]),
        "seed": Integer(5, 5),
    }
    for row in TABLE:
        assert same(space.decode(space.encode(row)), row)
    decoded = space.decode(space.encode(TABLE[0]))
    decoded["layers"] = 99
    assert space.rows[0]["layers"] == 1
    with pytest.raises(BadInput, match="`params` must be one of the 3 rows of the table"):
        space.encode({**TABLE[0], "rate": 0.2})
    with pytest.raises(BadInput, match=r"`params\['act'\]` must be one of"):
        space.encode({**TABLE[0], "act": ["relu"]})


def test_a_large_table_is_read_in_little_time():
    space = Space.of([{"a": i * 0.1, "b": f"name {i % 7}"} for i in range(5000)])
    assert space.domain.size == 5000
    assert len(space.to_json()) < 50 * 5000
    assert same(space.decode(space.encode(space.rows[4321])), space.rows[4321])


def test_a_data_frame_is_a_table():
    pandas = pytest.importorskip("pandas")
    assert Space.of(pandas.DataFrame(TABLE)) == Space.of(TABLE)
    assert same(Space.of(pandas.DataFrame(TABLE)).rows, tuple(TABLE))


@pytest.mark.parametrize("given", [EVERYTHING, TABLE], ids=["parameters", "table"])
def test_a_space_survives_json_and_pickle(given):
    space = Space.of(given)
    for copy in (Space.from_json(space.to_json()), pickle.loads(pickle.dumps(space)), Space.of(space)):  # noqa: S301
        assert copy == space
        assert list(copy.parameters) == list(space.parameters)
        x = space.domain.from_unit(space.domain.uniform(1, default_rng(1)))[0]
        assert same(copy.decode(x), space.decode(x))
    assert space != Space.of({"a": (0, 5)})


@pytest.mark.parametrize("text", ["", "{}", "[]", "3", '{"distributions": {"a": 1}, "rows": null}'])
def test_another_text_is_refused(text):
    with pytest.raises(BadInput, match="`text` must be what"):
        Space.from_json(text)
