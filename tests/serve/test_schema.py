"""The check of JSON against a schema, compared with an independent validator where one is installed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from satisfice.serve.openapi import OPERATIONS, SCHEMAS, document
from satisfice.serve.schema import Invalid, read

finite = st.floats(allow_nan=False, allow_infinity=False)
cells = st.one_of(st.none(), st.booleans(), st.integers(-3, 2**40), finite, st.text(max_size=5))
inner = st.recursive(
    cells, lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=3), one, max_size=3), max_leaves=5
)
names = st.sampled_from(["n", "by", "number", "params", "values", "why", "correct", "x"])
bodies = st.one_of(
    inner, st.dictionaries(names, cells | st.dictionaries(st.text(max_size=3), cells, max_size=2), max_size=4)
)


def accepts(body, name):
    try:
        read(body, SCHEMAS[name], SCHEMAS)
    except Invalid:
        return False
    return True


@settings(max_examples=600, deadline=None)
@given(bodies, st.sampled_from(["Ask", "Tell", "End", "Undo", "Status", "Certify"]))
def test_it_agrees_with_another_validator(body, name):
    validators = pytest.importorskip("jsonschema_rs", reason="NO SECOND VALIDATOR: the extra faults brings one")
    other = validators.validator_for({"components": document()["components"], "$ref": f"#/components/schemas/{name}"})
    assert accepts(body, name) == other.is_valid(body)


def test_the_examples_of_the_document_are_accepted():
    shown = [each for each in OPERATIONS if each.takes]
    assert len(shown) == 6
    assert all(accepts(dict(each.example), each.takes) for each in shown)


@pytest.mark.parametrize(("body", "message"), [
    ({"n": 0}, "`n` must be a whole number from 1 to 100; got 0."),
    ({"n": 1.5}, "`n` must be a whole number from 1 to 100; got 1.5."),
    ({"n": "4"}, "`n` must be a whole number from 1 to 100; got '4'."),
    ({"by": "a\nb"}, r"`by` must be a text in one line, of at most 500 characters; got 'a\nb'."),
    ({"m": 3}, "`the body` must have no other names than n, by; got 'm'."),
    ([], "`the body` must be object; got []."),
])  # fmt: skip
def test_a_message_names_the_place(body, message):
    with pytest.raises(Invalid) as problem:
        read(body, SCHEMAS["Ask"], SCHEMAS)
    assert str(problem.value) == message


def test_a_whole_float_is_an_integer_as_json_schema_has_it():
    assert read({"n": 4.0}, SCHEMAS["Ask"], SCHEMAS) == {"n": 4}
