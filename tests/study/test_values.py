"""Thirty things an objective may return, and some that fight back."""

import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.trial import TrialState

from satisfice.checks import as_objective
from satisfice.errors import BadValue, SatisficeError, WrongType
from satisfice.study.proposal import ERROR
from satisfice.study.workers.lease import Lease
from satisfice.study.workers.storage import open_study


class Raising(float):
    def __float__(self):
        raise RuntimeError("no float")

    def __repr__(self):
        raise RuntimeError("no text")


class LooksAway:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class Says(float):
    def __float__(self):
        return "1.5"


class LikeTensor:
    """As a tensor of one number is to Python."""

    def __float__(self):
        return 2.5


def generator():
    yield 1.0


async def coroutine():
    return 1.0


ACCEPTED = [
    (1, 1.0),
    (-2.5, -2.5),
    (-0.0, -0.0),
    (np.float32(0.5), 0.5),
    (np.float64(1e300), 1e300),
    (np.int64(7), 7.0),
    (np.uint8(7), 7.0),
    (np.array(1.5), 1.5),
    (np.ma.array(1.5), 1.5),
    (5e-324, 5e-324),
    ("1.5", 1.5),
    (" -1e-3\n", -1e-3),
    (b"1", 1.0),
    (Decimal("1.5"), 1.5),
    (Fraction(1, 2), 0.5),
    (np.array(True), 1.0),
    (np.array("1"), 1.0),
    (LikeTensor(), 2.5),
]
REFUSED = [
    math.nan,
    math.inf,
    -math.inf,
    1e308 * 10,
    None,
    1 + 2j,
    1 + 0j,
    "abc",
    "1,5",
    "nan",
    "",
    b"",
    [],
    [1, 2],
    (1.0,),
    {},
    set(),
    10**400,
    10**6000,
    -(10**400),
    Decimal("NaN"),
    Decimal("sNaN"),
    np.array([1.5]),
    np.array([[1.5]]),
    np.array(math.nan),
    np.array(None),
    np.ma.masked,
    np.ma.array(1.5, mask=True),
    np.datetime64("2020-01-01"),
    np.timedelta64(3, "s"),
    np.complex128(1),
    np.longdouble("1e400"),
    object(),
    float,
    generator(),
    "x" * 10_000_000,
    b"x" * 10_000_000,
    list(range(100_000)),
    Raising(1.0),
    Says(1.0),
]


@pytest.mark.parametrize(("value", "expected"), ACCEPTED, ids=lambda value: repr(value).split(" at 0x")[0][:20])
def test_a_finite_real_number_becomes_exactly_that_float(value, expected):
    result = as_objective(value)
    assert type(result) is float
    assert result == expected
    assert math.copysign(1, result) == math.copysign(1, expected)


@pytest.mark.parametrize("value", REFUSED, ids=range(len(REFUSED)))
def test_everything_else_is_one_short_named_error(value):
    with pytest.raises(BadValue, match=r"^The objective must return a finite number; it returned") as refusal:
        as_objective(value)
    assert isinstance(refusal.value, SatisficeError)
    assert len(str(refusal.value)) < 300


def test_a_coroutine_is_refused():
    waiting = coroutine()
    with pytest.raises(BadValue, match="of type coroutine"):
        as_objective(waiting)
    waiting.close()


def test_a_missing_value_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(BadValue, match="<NA>"):
        as_objective(pandas.NA)


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_a_truth_value_is_a_pass_or_a_fail(value):
    assert as_objective(value) == float(value)


@pytest.mark.parametrize("value", [-0.1, 1.5, 2])
def test_a_value_outside_of_the_range_is_refused(value):
    with pytest.raises(BadValue, match=rf"within the range 0 to 1; it returned {float(value)}"):
        as_objective(value, (0.0, 1.0))


def test_the_message_shows_what_came():
    with pytest.raises(BadValue, match=r"returned '1,5' of type str. Convert it by float"):
        as_objective("1,5")
    with pytest.raises(BadValue, match=r"returned None of type NoneType. A `return` may be missing"):
        as_objective(None)
    with pytest.raises(BadValue, match=r"returned nan of type float"):
        as_objective(math.nan)


def test_an_interruption_is_not_a_bad_value():
    class Interrupted(float):
        def __float__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        as_objective(Interrupted(1.0))


def test_a_value_that_hides_its_class_is_refused():
    with pytest.raises(BadValue, match="of type LooksAway"):
        as_objective(LooksAway())


NUMBERS = st.floats() | st.integers(-(2**1000), 2**1000) | st.complex_numbers() | st.decimals() | st.fractions()


@given(NUMBERS | st.text() | st.binary())
def test_the_result_is_the_number_itself_or_a_bad_value(value):
    try:
        expected = float(value)  # a whole number beyond 2^53 is the nearest float
    except (TypeError, ValueError, OverflowError):
        expected = math.nan
    if math.isfinite(expected):
        assert as_objective(value) == expected
    else:
        with pytest.raises(BadValue):
            as_objective(value)


@pytest.mark.parametrize("value", [None, "abc", "", [], {}, object(), 1 + 2j, np.array([1.5])], ids=range(8))
def test_what_is_no_number_at_all_is_told_apart(value):
    with pytest.raises(WrongType):
        as_objective(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 10**400, Decimal("NaN"), np.ma.masked, "nan"], ids=repr)
def test_from_a_number_that_is_not_finite(value):
    with pytest.raises(BadValue) as refusal:
        as_objective(value)
    assert not isinstance(refusal.value, WrongType)


def test_every_one_of_them_ends_its_trial_and_the_study_goes_on():
    study = open_study(None, None, direction="maximize")
    for value in [*(value for value, _ in ACCEPTED), *REFUSED, LooksAway()]:
        with suppress(BadValue), Lease.begin(study) as lease:
            lease.tell(value)
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.COMPLETE] * len(ACCEPTED) + [TrialState.FAIL] * (len(REFUSED) + 1)
    assert all("must return a finite number" in trial.system_attrs[ERROR] for trial in study.trials[len(ACCEPTED) :])
