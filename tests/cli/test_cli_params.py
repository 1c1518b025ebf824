"""What may be written after --param."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.cli.params import read_number, read_param, read_params
from satisfice.domain.space import Space
from satisfice.errors import BadInput


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("lr=1e-5:1e-1:log", (1e-5, 0.1, "log")),
        ("depth=2:12", (2, 12)),
        ("depth=2:12.0", (2, 12.0)),
        ("n=1:1000:log", (1, 1000, "log")),
        ("x=0:1:step=0.25", (0, 1, 0.25)),
        ("x=-1:+1", (-1, 1)),
        ("x=-1.5:-.5", (-1.5, -0.5)),
        ("booster=gbtree,dart", ["gbtree", "dart"]),
        ("n=1,2,4", [1, 2, 4]),
        ("n=1,2.5,auto", [1, 2.5, "auto"]),
        ("id=007,008", ["007", "008"]),
        ("flag=True,False", ["True", "False"]),
        ("url=http://a,http://b", ["http://a", "http://b"]),
        ("mode=fast", ["fast"]),
        ("n=3", [3]),
        ("x==,;", ["=", ";"]),
        ("x=nan,inf", ["nan", "inf"]),
    ],
)
def test_what_is_written_is_what_is_meant(text, form):
    name, found = read_param(text)
    assert name == text.partition("=")[0]
    assert found == form
    assert type(found) is type(form)
    assert [type(part) for part in found] == [type(part) for part in form]


@pytest.mark.parametrize(
    "text",
    ["", "lr", "=1:2", " =1:2", "lr=", "lr=1:", "lr=:1", "lr=a:b", "lr=1:2:lgo", "lr=1:2:3", "lr=1:2:step=", "lr=1:2:step=x",
     "lr=1:2:log:step=1", "lr=1:2:3:4", "lr=1,,2", "lr=1,", "lr=nan:1", "lr=0:inf", "lr=0:1e999", "{lr}=0:1", "lr=http://x",
     "lr=1_000:2_000", "lr=٣:٤"],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_its_name(text):
    with pytest.raises(BadInput) as caught:
        read_param(text)
    assert f"--param {text}:" in str(caught.value)


def test_a_name_comes_once():
    with pytest.raises(BadInput, match="given twice"):
        read_params(["a=1:2", "b=1:2", "a=1:3"])


@given(st.lists(st.text(max_size=30) | st.from_regex(r"[a-c]=[-+0-9.e:,lognastep=]{0,20}", fullmatch=True), max_size=4))
def test_any_text_gives_a_space_or_one_clear_error(texts):
    try:
        space = Space.of(read_params(texts))
    except BadInput:
        return
    assert set(space.parameters) == {text.partition("=")[0] for text in texts}


@given(st.integers() | st.floats())
def test_numbers_come_back(number):
    expected = number if math.isfinite(number) else None
    found = read_number(repr(number))
    assert found == expected
    assert type(found) is type(expected)


@given(st.text())
def test_what_is_read_as_a_number_is_finite(text):
    found = read_number(text)
    assert found is None or math.isfinite(found)
