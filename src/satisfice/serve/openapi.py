"""The OpenAPI document of the JSON protocol: the schemas by which requests are checked, and the operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from satisfice.serve.schema import Schema

MOST = 100  # experiments that one request may ask for
RUNS = 2_000  # of a setting, that one request may send to be judged
TEXT: Schema = {"type": "string", "maxLength": 500, "pattern": "^[^\\u0000-\\u001f\\u007f]*$"}
NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31, "description": "the number of an experiment"}
CELL: Schema = {"type": ["number", "string", "boolean", "null"]}
PARAMS: Schema = {
    "type": "object",
    "additionalProperties": CELL,
    "maxProperties": 500,
    "description": "parameters by their names",
}
SOME_NUMBER: Schema = {"type": ["number", "null"]}


def _object(needed: Mapping[str, Schema], other: Mapping[str, Schema] | None = None, **more: Any) -> dict[str, Any]:
    """The schema of an object with these names and no others."""
    return {"type": "object", "properties": {**needed, **(other or {})}, "required": list(needed),
            "additionalProperties": False, **more}  # fmt: skip


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


WHO = {**TEXT, "description": "a text in one line, of at most 500 characters"}
ASKED = _object({"number": NUMBER, "params": PARAMS})
WAITS = _object({"number": NUMBER, "params": PARAMS, "by": {"type": "string"}, "since": {"type": ["string", "null"]}})


def _about(needed: Mapping[str, Schema], other: Mapping[str, Schema]) -> dict[str, Any]:
    """The schema of what is said about an experiment, by its number or by its parameters."""
    by = {"by": WHO, "correct": {"type": "boolean", "description": "true or false"}}
    return {
        "anyOf": [
            _object({"number": NUMBER, **needed}, {**by, **other}),
            _object({"params": PARAMS, **needed}, {**by, **other}),
        ]
    }


RESULTS: Schema = {
    "type": "object", "additionalProperties": {"type": "number", "description": "a finite number"},
    "minProperties": 1, "maxProperties": 100, "description": "the results by their names",
}  # fmt: skip
SCHEMAS: dict[str, Schema] = {
    "Ask": _object({}, {
        "n": {"type": "integer", "minimum": 1, "maximum": MOST, "description": f"a whole number from 1 to {MOST}"}, "by": WHO,
    }),
    "Tell": _about({"values": RESULTS}, {}),
    "End": _about({}, {"why": WHO}),
    "Undo": _object({"number": NUMBER}, {"by": WHO}),
    "Asked": _object({"asked": {"type": "array", "items": ASKED}}),
    "Done": _object({
        "number": {"type": ["integer", "null"]}, "outcome": {"type": "string", "enum": ["told", "known", "corrected"]},
    }),
    "Requirement": _object({
        "name": {"type": "string"}, "side": {"type": "string", "enum": ["at least", "at most"]}, "threshold": {"type": "number"},
        "value": SOME_NUMBER, "interval": {"type": ["array", "null"], "items": SOME_NUMBER}, "probability": SOME_NUMBER,
    }),
    "Status": _object({
        "name": {"type": "string"}, "verdict": {"type": "string", "enum": ["good", "none", "unlikely", "open"]},
        "sentences": {"type": "array", "items": {"type": "string"}}, "params": {"anyOf": [PARAMS, {"type": "null"}]},
        "requirements": {"type": "array", "items": _ref("Requirement")}, "probability": SOME_NUMBER, "hope": SOME_NUMBER,
        "evaluations": {"type": "integer"}, "failures": {"type": "integer"}, "repeats": {"type": ["integer", "null"]},
        "certificate": {"type": ["object", "null"]},
        "waiting": {"type": "array", "items": WAITS}, "running": {"type": "integer"},
        "notes": {"type": "array", "items": {"type": "string"}},
    }),
    "Experiments": _object({"experiments": {"type": "array", "items": _object({
        "number": NUMBER, "params": PARAMS, "values": {"type": ["object", "null"], "additionalProperties": SOME_NUMBER},
        "state": {"type": "string"}, "repeats": {"type": ["integer", "null"]}, "error": {"type": ["string", "null"]},
        "seconds": SOME_NUMBER,
    })}}),
    "Studies": _object({"studies": {"type": "array", "items": _object({
        "name": {"type": "string"}, "verdict": {"type": "string"}, "target": {"type": ["string", "null"]},
        "trials": {"type": "integer"},
    })}}),
    "Certify": _object({
        "values": {
            "type": "array", "items": {"anyOf": [{"type": "number"}, RESULTS, {"type": "null"}]}, "minItems": 1, "maxItems": RUNS,
            "description": f"a list of 1 to {RUNS:,} results, null for a run that failed",
        },
        "target": {"anyOf": [
            {"type": "string", "maxLength": 200, "description": "a text such as '>= 0.95'"},
            {"type": "object", "additionalProperties": {"type": "string", "maxLength": 200}, "minProperties": 1,
             "maxProperties": 100, "description": "requirements such as '>= 0.95' by their names"},
        ]},
    }, {
        "confidence": {"type": "number", "minimum": 0.5, "maximum": 0.999999, "description": "a number from 0.5 to 0.999999"},
        "rate": {"type": "boolean", "description": "true or false"},
        "quantile": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.999999, "description": "a number between 0 and 1"},
        "noise": {"type": ["number", "string"], "description": "a standard deviation, 'gaussian' or 'learn'"},
        "value_range": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2,
                        "description": "the smallest and the largest possible value"},
    }),
    "Certified": _object({
        "verdict": {"type": "string", "enum": ["good", "bad", "open"]}, "summary": {"type": "string"},
        "certificate": {"type": ["string", "null"]}, "evaluations": {"type": "integer"}, "failures": {"type": "integer"},
        "needed": {"type": ["integer", "null"]}, "notes": {"type": "array", "items": {"type": "string"}},
        "requirements": {"type": "array", "items": _object({
            "name": {"type": "string"}, "side": {"type": "string", "enum": ["at least", "at most"]},
            "threshold": {"type": "number"}, "verdict": {"type": "string", "enum": ["good", "bad", "open"]},
            "value": SOME_NUMBER, "interval": {"type": ["array", "null"], "items": SOME_NUMBER},
            "needed": {"type": ["integer", "null"]},
        })},
    }),
    "Error": _object({"error": _object({"code": {"type": "string"}, "message": {"type": "string"}})}),
}  # fmt: skip
KEY: dict[str, Any] = {
    "name": "Idempotency-Key", "in": "header", "required": False, "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    "description": "A name for this request, 1 to 200 characters without spaces. Sent once more with the same key, it has no "
                   "further effect and the same answer.",
}  # fmt: skip
STUDY: dict[str, Any] = {
    "name": "study", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1},
    "description": "The name of the study, percent-encoded.",
}  # fmt: skip
ERRORS = {
    "400": "The request is no JSON.",
    "401": "The token is missing or wrong.",
    "403": "A page of another origin made the request.",
    "404": "There is no such study or experiment.",
    "408": "The body did not come.",
    "409": "The study refuses it as it stands: a result is there already, a value is out of range, nothing is left to ask, the "
    "key was sent with another request.",
    "413": "The body is too large.",
    "414": "The address is too long.",
    "415": "The body must be application/json.",
    "421": "The Host is not this server.",
    "422": "The body or a header is not what this document says.",
    "431": "The headers are too long.",
    "429": "Too many requests.",
    "503": "The database cannot be read or written just now.",
}


@dataclass(frozen=True)
class Operation:
    """One operation: its method and path, what it takes and gives."""

    name: str
    method: str
    path: str
    summary: str
    gives: str
    takes: str | None = None
    example: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return its entry in the OpenAPI document."""
        codes = ["401", "403", "408", "413", "414", "421", "429", "431", "503"]
        codes += ["404"] if "{study}" in self.path else []
        codes += ["409"] if "{study}" in self.path or self.takes else []
        codes += ["400", "415", "422"] if self.takes else []
        refusals = {code: {"description": ERRORS[code], "content": _json(_ref("Error"))} for code in sorted(codes)}
        entry: dict[str, Any] = {
            "operationId": self.name,
            "summary": self.summary,
            "responses": {"200": {"description": "Done.", "content": _json(_ref(self.gives))}, **refusals},
        }
        parameters = [STUDY] * ("{study}" in self.path) + [KEY] * (self.takes is not None and "{study}" in self.path)
        if parameters:
            entry["parameters"] = parameters
        if self.takes is not None:
            body = _json(_ref(self.takes))
            body["application/json"]["example"] = dict(self.example)
            entry["requestBody"] = {"required": True, "content": body}
        return entry


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


WHERE = "/api/studies/{study}"
OPERATIONS = (
    Operation("list", "get", "/api/studies", "List the studies.", "Studies"),
    Operation("status", "get", WHERE, "The verdict, the best setting, and what waits for a result.", "Status"),
    Operation("experiments", "get", f"{WHERE}/experiments", "All experiments, those that wait included.", "Experiments"),
    Operation("ask", "post", f"{WHERE}/ask", "Ask for the next experiments.", "Asked", "Ask", {"n": 4, "by": "Ada"}),
    Operation("tell", "post", f"{WHERE}/tell", "Tell the results of an experiment.", "Done", "Tell",
              {"number": 3, "values": {"value": 81.3}}),
    Operation("fail", "post", f"{WHERE}/fail", "Tell that an experiment was made and gave no result.", "Done", "End",
              {"number": 3, "why": "the vessel leaked"}),
    Operation("cancel", "post", f"{WHERE}/cancel", "Tell that an experiment will not be made.", "Done", "End", {"number": 3}),
    Operation("undo", "post", f"{WHERE}/undo", "Take back what was told: the experiment waits for its result again.",
              "Done", "Undo", {"number": 3}),
    Operation("certify", "post", "/api/certify", "Judge one given setting by its results so far, in their order.",
              "Certified", "Certify", {"target": ">= 0.9", "rate": True, "values": [1, 1, 0, 1]}),
)  # fmt: skip


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths: dict[str, dict[str, Any]] = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = each.document()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "satisfice",
            "version": version("satisfice"),
            "description": "Ask for the next experiments of a study, and tell their results, from any program.",
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }
