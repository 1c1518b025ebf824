"""Scales, ticks and texts."""

import math
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.domain.parameters import Categorical, Integer, LogReal
from satisfice.report.scales import Choices, Linear, Log, scale_around, scale_of
from satisfice.report.svg import tag
from satisfice.report.text import shown

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE, FINITE)
def test_a_linear_scale_stays_on_the_axis_whatever_its_size(a, b, value):
    scale = Linear(min(a, b), max(a, b))
    assert 0 <= scale.place(value) <= 1
    ticks = scale.ticks(5)
    assert 1 <= len(ticks) <= 12
    assert all(0 <= place <= 1 for place, _ in ticks)
    assert all(len(text) <= 14 for _, text in ticks)


@given(st.floats(1e-300, 1e300), st.floats(1.001, 1e6))
def test_a_log_scale_has_ticks_on_the_axis(low, factor):
    scale = Log(low, low * factor)
    ticks = scale.ticks(5)
    assert 1 <= len(ticks) <= 12
    assert all(0 <= place <= 1 for place, _ in ticks)
    assert scale.place(low) == 0
    assert scale.place(math.sqrt(low * (low * factor)) if low < 1e100 else low) <= 0.51


def test_ticks_are_round():
    assert [text for _, text in Linear(0, 1).ticks(5)] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [text for _, text in Linear(-0.03, 0.11).ticks(4)] == ["0", "0.05", "0.1"]
    assert [text for _, text in Linear(1, 3, whole=True).ticks(8)] == ["1", "2", "3"]
    assert [text for _, text in Linear(-1e300, 1e300).ticks(4)] == ["−1e300", "−5e299", "0", "5e299", "1e300"]
    assert [text for _, text in Log(1e-5, 0.1).ticks(5)] == ["10⁻⁵", "10⁻⁴", "0.001", "0.01", "0.1"]
    assert [text for _, text in Log(2, 9).ticks(5)] == ["2", "5"]
    assert [text for _, text in Choices(("a", None, True)).ticks(5)] == ["a", "None", "True"]
    assert len(Choices(tuple(range(1000))).ticks(5)) == 5


def test_the_scale_of_a_parameter_is_its_own():
    assert scale_of(LogReal(1e-3, 1)) == Log(1e-3, 1.0)
    assert scale_of(Integer(1, 9)) == Linear(1.0, 9.0, whole=True)
    assert scale_of(Categorical(["a", 1])) == Choices(("a", 1))


@given(st.lists(FINITE, max_size=30), st.lists(FINITE, min_size=1, max_size=3))
def test_what_must_be_seen_is_within_the_scale(values, always):
    scale = scale_around(values, always)
    assert -math.inf < scale.low <= min(always) <= max(always) <= scale.high < math.inf


def test_one_outlier_does_not_hide_the_others():
    scale = scale_around([*(0.9 + 0.001 * k for k in range(50)), 1e300], [0.95])
    assert scale.high < 2
    assert scale_around([3.0, 3.0], [3.0]).low < 3


@given(st.text())
def test_no_text_breaks_out_of_an_element(text):
    element = ET.fromstring(str(tag("text", shown(text), class_=shown(text))))  # noqa: S314  our own
    assert len(element) == 0
    assert set(element.attrib) == {"class"}


def test_hidden_marks_and_halves_of_letters_are_made_visible():
    assert shown("a\u202eb\x00c\ud800d\ne") == "a\ufffdb\ufffdc\ufffdd\ufffde"
    assert shown("x" * 500, 10) == "x" * 9 + "…"
    assert [shown(value) for value in (1e-5, 1e300, 0.1 + 0.2, 3, True, None)] == [
        "1e-5",
        "1e300",
        "0.3",
        "3",
        "True",
        "None",
    ]
    assert not re.search(r"e[+-]0", shown(-1e-7))


def test_elements_refuse_nothing_and_escape_all():
    assert (
        str(tag("text", "<b>&", x=1.0, text_anchor='"end"'))
        == '<text x="1" text-anchor="&#34;end&#34;">&lt;b&gt;&amp;</text>'
    )
    with pytest.raises(TypeError):
        tag()
