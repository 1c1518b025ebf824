"""Checks a JSON value against a schema, by the part of JSON Schema that the protocol uses."""

import math
import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


class Invalid(ValueError):
    """A value that a schema refuses; the message names the place, what it must be and what came."""


def read(value: Any, schema: Schema, known: Mapping[str, Schema], where: str = "the body") -> Any:
    """Return the value, with whole floats as ints where the schema wants integers.

    Parameters
    ----------
    value
        What `json.loads` returned.
    schema
        The schema.
    known
        The schemas that a `$ref` may name.
    where
        What messages call the value.

    Returns
    -------
    Any
        The value.

    Raises
    ------
    Invalid
        If the schema refuses it.
    """
    if "$ref" in schema:
        return read(value, known[schema["$ref"].rpartition("/")[2]], known, where)
    if "anyOf" in schema:
        problems = []
        for each in schema["anyOf"]:
            try:
                return read(value, each, known, where)
            except Invalid as problem:
                problems.append(problem)
        wanted = " or ".join(dict.fromkeys(described(each, known) for each in schema["anyOf"]))
        deeper = next((each for each in problems if not str(each).startswith(f"`{where}` must be")), None)
        raise deeper or Invalid(f"`{where}` must be {wanted}; got {shown(value)}.")
    kind = kind_of(value)
    allowed = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [kind])
    if kind == "number" and "number" not in allowed and float(value).is_integer():
        kind, value = "integer", int(value)
    fits = kind in allowed or (kind == "integer" and "number" in allowed)
    if not fits or ("enum" in schema and value not in schema["enum"]) or not _in_bounds(value, kind, schema):
        raise Invalid(f"`{where}` must be {described(schema, known)}; got {shown(value)}.")
    if kind == "object":
        return _object(value, schema, known, where)
    if kind == "array":
        items = schema.get("items", {})
        return [read(each, items, known, f"{where}[{k}]") for k, each in enumerate(value)]
    return value


def kind_of(value: Any) -> str:
    """Return the JSON type of a value."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def described(schema: Schema, known: Mapping[str, Schema]) -> str:
    """Return in words what a schema wants."""
    if "$ref" in schema:
        return described(known[schema["$ref"].rpartition("/")[2]], known)
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return " or ".join(repr(each) for each in schema["enum"])
    kinds = schema.get("type", "anything")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def shown(value: Any) -> str:
    """Return a value in at most 80 characters."""
    return f"{value!r:.80}"


def _object(value: dict[str, Any], schema: Schema, known: Mapping[str, Schema], where: str) -> dict[str, Any]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            raise Invalid(f"`{where}` must have {name!r}; got {shown(sorted(value))}.")
    found = {}
    for name, each in value.items():
        place = name if where == "the body" else f"{where}.{name}"
        if name not in properties and others is False:
            raise Invalid(f"`{where}` must have no other names than {', '.join(properties)}; got {name!r:.80}.")
        if name not in properties and "propertyNames" in schema:
            read(name, schema["propertyNames"], known, f"a name of {where}")
        inside = properties.get(name, others if isinstance(others, Mapping) else {})
        found[name] = read(each, inside, known, place[:80])
    return found


def _in_bounds(value: Any, kind: str, schema: Schema) -> bool:
    if kind in ("integer", "number"):
        if isinstance(value, int):
            try:
                number = float(value)
            except OverflowError:
                return False
        else:
            number = value
        return (
            math.isfinite(number)
            and schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
            and schema.get("exclusiveMinimum", -math.inf) < number
        )
    if kind == "string":
        fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf)
        return fits and ("pattern" not in schema or re.search(schema["pattern"], value) is not None)
    if kind == "array":
        return bool(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf))
    if kind == "object":
        return bool(schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", math.inf))
    return True
