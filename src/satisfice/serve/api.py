"""The JSON protocol: ask, tell, fail, cancel, undo and status, for programs in any language."""

import hashlib
import json
import math
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from satisfice.errors import BadInput, NoSurvivors, SpaceExhausted, StorageFailed
from satisfice.numerals import finite
from satisfice.report.text import goal
from satisfice.search.gate_config import gate_config
from satisfice.serve.openapi import KEY, OPERATIONS, SCHEMAS, Operation, document
from satisfice.serve.schema import Invalid, read
from satisfice.serve.studies import NotFound, Opened, Studies, named
from satisfice.serve.view import SIDES, look, status
from satisfice.study.sheet import result_columns
from satisfice.study.snapshot import Evaluation
from satisfice.study.stored import StoredSearch, UnknownTrial

KEYS = 10_000  # of requests, that are remembered to tell when one is used for another request
WAITING = 1_000  # experiments of a study that may wait at once
Body = Mapping[str, Any]


class Api:
    """The operations of the protocol.

    Parameters
    ----------
    studies
        The studies.
    """

    def __init__(self, studies: Studies) -> None:
        self._studies = studies
        self._keys: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._document = document()

    def routes(self) -> list[Route]:
        """Return the routes of all operations."""
        found = [Route("/api/openapi.json", self._openapi, methods=["GET"])]
        for each in OPERATIONS:
            handler: Callable[..., Awaitable[Any]] = getattr(self, f"_{each.name}")
            found.append(Route(each.path, _endpoint(self, each, handler), methods=[each.method.upper()]))
        return found

    async def _openapi(self, request: Request) -> JSONResponse:
        return JSONResponse(self._document)

    async def body(self, request: Request, operation: Operation) -> tuple[Body, str]:
        """Return the body and the key of the request, by which the study knows it if it comes again."""
        if operation.takes is None:
            return {}, ""
        content = await request.body()
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, "no_json", "The Content-Type must be application/json.")
        try:
            found = json.loads(content.decode(), parse_constant=_no_number)
            canonical = json.dumps(
                found, sort_keys=True, ensure_ascii=False
            ).encode()  # half a surrogate pair is no text
        except (ValueError, RecursionError) as problem:
            raise Refusal(
                400, "no_json", f"The body must be JSON in UTF-8; it cannot be read: {problem!s:.200}."
            ) from None
        body = read(found, SCHEMAS[operation.takes], SCHEMAS)
        keys = request.headers.getlist("idempotency-key")
        if not keys:
            return body, ""
        if len(keys) > 1 or not re.fullmatch(KEY["schema"]["pattern"], keys[0]):
            raise Invalid("`Idempotency-Key` must be 1 to 200 characters without spaces.")
        digest = hashlib.sha256(b"\n".join([request.url.path.encode(), keys[0].encode(), canonical])).hexdigest()[:32]
        before = self._keys.setdefault((request.url.path, keys[0]), digest)
        if len(self._keys) > KEYS:
            self._keys.popitem(last=False)
        if before != digest:
            raise Refusal(409, "key_reused", "The key was sent with another request; each one needs a key of its own.")
        return body, digest

    async def opened(self, request: Request) -> Opened:
        """Return the study that the address names."""
        return await self._studies.get(named(request.path_params["study"]))

    async def _list(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        rows = await self._studies.thread(self._studies.listed)
        return {
            "studies": [
                {
                    "name": each["name"],
                    "verdict": each["verdict"],
                    "target": each["gate"] or (each["config"] and goal(each["config"])),
                    "trials": each["trials"],
                }
                for each in rows
            ]
        }

    async def _status(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        opened = await self.opened(request)
        _, found = await self._studies.kept(opened, "status", lambda: status(opened))
        return found

    async def _experiments(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        opened = await self.opened(request)
        _, found = await self._studies.kept(opened, "experiments", lambda: look(opened).evaluations)
        columns = result_columns(opened.config)
        return {"experiments": [experiment(each, columns) for each in found]}

    async def _ask(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        opened = await self.opened(request)
        search, n = opened.by_hand, body.get("n", 1)

        def ask() -> list[Any]:
            if len(search.waiting()) + n > WAITING:
                raise BadInput(
                    f"At most {WAITING:,} experiments may wait for their results; tell or cancel some first."
                )
            return list(search.ask(n, by=body.get("by", ""), key=key))

        async with opened.thinking:
            asked = await self._studies.thread(ask)
        return {"asked": [{"number": each.number, "params": dict(each)} for each in asked]}

    async def _tell(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        opened = await self.opened(request)
        search = opened.by_hand
        value = result(search, body["values"])
        return await self._write(
            opened,
            body,
            lambda which: search.tell(which, value, correct=body.get("correct", False), by=body.get("by", ""), key=key),
        )

    async def _fail(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        return await self._end(await self.opened(request), "fail", body, key)

    async def _cancel(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        return await self._end(await self.opened(request), "cancel", body, key)

    async def _end(self, opened: Opened, method: str, body: Body, key: str) -> dict[str, Any]:
        end = getattr(opened.by_hand, method)
        said = {"correct": body.get("correct", False), "by": body.get("by", ""), "key": key}
        return await self._write(opened, body, lambda which: end(which, body.get("why", ""), **said))

    async def _undo(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        opened = await self.opened(request)
        search = opened.by_hand
        return await self._write(opened, body, lambda which: search.undo(which, by=body.get("by", ""), key=key))

    async def _certify(self, request: Request, body: Body, key: str) -> dict[str, Any]:
        return await self._studies.thread(lambda: certified(body))

    async def _write(self, opened: Opened, body: Body, write: Callable[[Any], str]) -> dict[str, Any]:
        def once() -> str:
            return write(body["number"] if "number" in body else dict(body["params"]))

        async with opened.writing:
            outcome = await self._studies.thread(once)
        return {"number": body.get("number"), "outcome": outcome}


class Refusal(Exception):
    """A request that is refused: with a status, a code for programs and a message for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def refusal_of(problem: Exception) -> Refusal:
    """Return the refusal that an error of the library means."""
    if isinstance(problem, Refusal):
        return problem
    if isinstance(problem, StorageFailed):
        return Refusal(503, "storage", str(problem))
    if isinstance(problem, SpaceExhausted | NoSurvivors):
        return Refusal(409, "nothing_left", str(problem))
    if isinstance(problem, NotFound | UnknownTrial):
        return Refusal(404, "not_found", str(problem))
    if isinstance(problem, BadInput):
        return Refusal(409, "refused", str(problem))
    return Refusal(422, "invalid", str(problem))


def _endpoint(
    api: Api, operation: Operation, handler: Callable[..., Awaitable[Any]]
) -> Callable[..., Awaitable[JSONResponse]]:
    async def endpoint(request: Request) -> JSONResponse:
        try:
            body, key = await api.body(request, operation)
            return JSONResponse(finite(await handler(request, body, key)))
        except (Refusal, Invalid, BadInput, SpaceExhausted, NoSurvivors, StorageFailed) as problem:
            found = refusal_of(problem)
            return JSONResponse({"error": {"code": found.code, "message": str(found)}}, found.status)

    return endpoint


def certified(body: Body) -> dict[str, Any]:
    """Judge one setting by its results; BadInput if they do not suit the target. Nothing is stored."""
    given = {name: body[name] for name in ("confidence", "rate", "quantile", "noise") if name in body}
    limits = tuple(body["value_range"]) if "value_range" in body else None
    config = gate_config(body["target"], value_range=limits, **given)
    gate, requirements = config.gate(), config.specification.requirements
    for place, each in enumerate(body["values"]):
        if each is None:
            gate.fail("it was sent as null")
            continue
        values = each if isinstance(each, Mapping) else {requirements[0].name: each}
        if set(values) != {one.name for one in requirements}:
            names = ", ".join(repr(one.name) for one in requirements)
            raise BadInput(f"`values[{place}]` must have {names} and nothing else; got {each!s:.80}.")
        for one in requirements:
            low, high = one.value_range or ((0, 1) if one.statistic == "rate" else (-math.inf, math.inf))
            if not low <= values[one.name] <= high or (one.statistic == "rate" and values[one.name] not in (0, 1)):
                what = "0 or 1" if one.statistic == "rate" else f"within the range {low:g} to {high:g}"
                raise BadInput(f"`values[{place}]` must be {what}; got {values[one.name]:g}.")
        gate.tell(values)
    answer = gate.answer()
    return {
        **{name: getattr(answer, name) for name in ("verdict", "summary", "certificate", "evaluations", "failures", "needed")},
        "notes": list(answer.notes),
        "requirements": [
            {"name": each.requirement.name, "side": SIDES[each.requirement.sense], "threshold": each.requirement.threshold,
             **{name: getattr(each, name) for name in ("verdict", "value", "interval", "needed")}}
            for each in answer.requirements
        ],
    }  # fmt: skip


def result(search: StoredSearch, values: Mapping[str, float]) -> float | Mapping[str, float]:
    """Return what `StoredSearch.tell` takes for these results; BadInput if they are not those that the study wants."""
    if search.config.specification is not None:
        search.config.specification.readings(values)
        return values
    columns = result_columns(search.config)
    if set(values) != set(columns):
        raise BadInput(
            f"`values` must have {', '.join(map(repr, columns))} and nothing else; got {sorted(values)!s:.80}."
        )
    return values[columns[0]]


def experiment(each: Evaluation, columns: list[str]) -> dict[str, Any]:
    """Return an experiment as the protocol has it."""
    return {
        "number": each.number,
        "params": each.params,
        "values": {name: each.values.get(name, each.value) for name in columns} if each.told else None,
        "state": each.state,
        "repeats": each.repeats,
        "error": each.error,
        "seconds": each.seconds,
    }


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")
