"""The guard at the door: who may ask, from where, how much and how often. Every request passes it first."""

import asyncio
import ipaddress
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
LONGEST_PATH, LONGEST_QUERY = 4_000, 4_000  # characters
LONGEST_HEADERS = 16_000  # bytes
LARGEST = 64_000  # bytes of a body,
LARGEST_TABLE = 2_000_000  # and of one with a table of earlier data
SLOWEST = 20.0  # seconds without a further piece of a body
RATE, BURST = 400.0, 800.0  # requests of one address: a second, and at once
REFUSED_RATE, REFUSED_BURST = 0.5, 30.0  # and those with a wrong token
ADDRESSES = 1_000  # that are remembered
SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser would hide the origin of a form, by which we know it
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


class Rate:
    """So many requests a second of each address, and a burst of them at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> what is left of it, and when

    def allows(self, address: str, cost: float = 1.0) -> bool:
        """Take the cost of a request; False if nothing is left."""
        now = time.monotonic()
        left, at = self._left.pop(address, (self._burst, now))
        left = min(self._burst, left + self._rate * (now - at))
        allowed = left >= 1.0
        self._left[address] = (left - cost if allowed else left, now)
        while len(self._left) > ADDRESSES:
            self._left.popitem(last=False)
        return allowed


class Guard:
    """Refuses what may not come in, and adds the headers that keep a page to itself.

    Parameters
    ----------
    app
        What is guarded.
    token
        The token that a client must know.
    cookie
        The name of the cookie in which a browser keeps it.
    names
        The names by which the server may be addressed. An attacker's page can point a name of its own at this address (DNS
        rebinding), so that all others are refused.
    any_address
        Whether any IP address will do as well as a name: rebinding needs a name.
    """

    def __init__(
        self, app: ASGIApp, token: str, cookie: str, names: Iterable[str] = LOOPBACK, any_address: bool = False
    ) -> None:
        self._app, self._token, self._cookie = app, token.encode(), cookie
        self._names, self._any_address = {each.lower() for each in names}, any_address
        self._rate, self._refusals = Rate(RATE, BURST), Rate(REFUSED_RATE, REFUSED_BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets
            await send({"type": "websocket.close", "code": 1008})
            return

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, sealed)
            return
        # what a handler sees is still percent-encoded: a name that holds a slash is one piece of the path
        scope = {**scope, "path": scope["raw_path"].decode("ascii"), "root_path": ""}
        limit = LARGEST_TABLE if scope["path"].endswith(("/earlier", "/new")) else LARGEST
        content, left = b"", limit
        while scope["method"] not in SAFE:
            try:
                message = await asyncio.wait_for(receive(), SLOWEST)
            except TimeoutError:
                await refused(scope, 408, "too_slow", "The body did not come.")(scope, receive, sealed)
                return
            if message["type"] != "http.request":
                return  # it went away in the middle of its body
            content, left = content + message.get("body", b""), left - len(message.get("body", b""))
            if left < 0:
                text = f"The body must have at most {limit:,} bytes."
                await refused(scope, 413, "too_large", text)(scope, receive, sealed)
                return
            if not message.get("more_body", False):
                receive = _again(content, receive)
                break
        await self._app(scope, receive, sealed)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that may not come in, None if it may."""
        headers, path = Headers(scope=scope), scope["raw_path"]
        address = scope["client"][0] if scope.get("client") else ""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            text = f"This server is not {hosts[0]:.80}." if len(hosts) == 1 else "A request must have one Host."
            return refused(scope, 421, "wrong_host", text)
        if not self._rate.allows(address):
            return refused(scope, 429, "too_many", "Too many requests; wait a second.", {"Retry-After": "1"})
        if sum(len(name) + len(value) for name, value in scope["headers"]) > LONGEST_HEADERS:
            return refused(scope, 431, "too_long", "The headers are too long.")
        if len(path) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
            return refused(scope, 414, "too_long", "The address is too long.")
        if not path.isascii() or b"\\" in path or b"%00" in path or b"//" in path:
            return refused(scope, 400, "bad_path", "There is no such address.")
        if _announced(headers) > LARGEST_TABLE:
            return refused(scope, 413, "too_large", f"The body must have at most {LARGEST_TABLE:,} bytes.")
        foreign = self._foreign(scope, headers, hosts[0])
        if foreign is not None:
            return foreign
        if path.startswith(b"/static/") and scope["method"] in SAFE:
            return None  # nothing of a study
        return self._unknown(scope, headers, address)

    def _is_ours(self, host: str) -> bool:
        name = re.sub(r":[0-9]{1,5}$", "", host.lower())
        if name in self._names:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def _foreign(self, scope: Scope, headers: Headers, host: str) -> Response | None:
        """The refusal of a request that a page of another origin made (CSRF)."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = (f"http://{host}".lower(), f"https://{host}".lower())
        text = "Another page made this request."
        if origin is not None and origin.lower() not in own:
            return refused(scope, 403, "wrong_origin", text)
        if site not in (None, "same-origin", "none"):  # another site, or another port of this machine
            page = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not page or headers.get("sec-fetch-dest", "document") != "document":
                return refused(scope, 403, "wrong_origin", text)
        return None

    def _unknown(self, scope: Scope, headers: Headers, address: str) -> Response | None:
        """The refusal of a client that does not know the token; the first page of a browser that does gets a cookie."""
        given = headers.get("authorization")
        if given is not None:
            known = given[:7].lower() == "bearer " and self._is_token(given[7:].strip())
            return None if known else self._no_token(scope, address, tried=True)
        kept = _cookies(headers).get(self._cookie)
        if kept is not None and self._is_token(kept):
            # a browser says where a form comes from; a program sends the token itself
            if scope["method"] in SAFE or headers.get("origin") is not None:
                return None
            return refused(scope, 403, "wrong_origin", "A request with a cookie must have an Origin.")
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if "token" in query and scope["method"] == "GET":
            if self._is_token(query["token"]):
                return self._welcome(scope)
            return self._no_token(scope, address, tried=True)
        return self._no_token(scope, address, tried=kept is not None)

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(errors="replace"), self._token)

    def _no_token(self, scope: Scope, address: str, tried: bool) -> Response:
        if tried and not self._refusals.allows(address):
            return refused(scope, 429, "too_many", "Too many wrong tokens; wait a minute.", {"Retry-After": "60"})
        text = "Open the address that the server printed: it has the token."
        if scope["raw_path"].startswith(b"/api/"):
            text = "The token must be sent, as in `Authorization: Bearer TOKEN`."
        return refused(scope, 401, "no_token", text, {"WWW-Authenticate": "Bearer"})

    def _welcome(self, scope: Scope) -> Response:
        """A page that leads to the same address without the token: a redirect would not send a strict cookie after a click."""
        path = re.sub(r"[^A-Za-z0-9/%~._-]", "", scope["raw_path"].decode("ascii"))
        page = (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>satisfice</title>'
            '<link rel="icon" href="/static/icon.svg">'
            f'<meta http-equiv="refresh" content="0; url={path}"><p><a href="{path}">Go on</a></p></html>'
        )
        found = Response(page, media_type="text/html")
        found.set_cookie(self._cookie, self._token.decode(), httponly=True, samesite="strict", path="/")
        return found


def refused(scope: Scope, status: int, code: str, text: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error: JSON for programs, a line of text for people."""
    if scope["raw_path"].startswith(b"/api"):
        return JSONResponse({"error": {"code": code, "message": text}}, status, headers)
    return Response(f"{text}\n", status, headers, media_type="text/plain; charset=utf-8")


def _announced(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isdigit() and len(text) < 18 else 10**18 if text != "0" else 0


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        return {name: each.value for name, each in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _again(content: bytes, receive: Receive) -> Receive:
    """The same messages, the body in one piece."""
    messages: list[Message] = [{"type": "http.request", "body": content, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again
