"""The server itself: makes the application, prints where it is, and ends without losing anything."""

import asyncio
import ipaddress
import secrets
import socket
from collections.abc import Callable, Sequence
from types import FrameType

import optuna
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from satisfice.errors import BadInput, StorageFailed
from satisfice.serve.api import Api
from satisfice.serve.guard import LOOPBACK, Guard, refused
from satisfice.serve.pages import Pages
from satisfice.serve.studies import Studies

CONNECTIONS = 400  # at once
GOODBYE = 5  # seconds for what is being done when the server ends


def application(
    studies: Studies,
    command: Callable[[optuna.Study], str],
    token: str,
    cookie: str,
    names: Sequence[str] = LOOPBACK,
    any_address: bool = False,
) -> tuple[Guard, Pages]:
    """Return the application, and its pages.

    Parameters
    ----------
    studies
        The studies.
    command
        Gives the command line that goes on with a study.
    token, cookie, names, any_address
        As in `Guard`.

    Returns
    -------
    Guard, Pages
        The ASGI application, and the pages, whose `closing` ends the streams of events.
    """
    pages = Pages(studies, command)

    async def missing(request: Request, problem: Exception) -> Response:
        status = getattr(problem, "status_code", 500)
        text = {404: "There is no such address.", 405: "This address takes other methods."}.get(
            status, "This went wrong."
        )
        if request.scope["raw_path"].startswith(b"/api"):
            return refused(request.scope, status, "no_address", text, getattr(problem, "headers", None))
        found = pages.page("message.html", status, title=text, words="")
        found.headers.update(getattr(problem, "headers", None) or {})
        return found

    handlers = {404: missing, 405: missing, 500: missing}
    app = Starlette(routes=[*Api(studies).routes(), *pages.routes()], exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, token, cookie, names, any_address), pages


class Server(uvicorn.Server):
    """A server that ends its streams of events first, since they never end by themselves."""

    def __init__(self, config: uvicorn.Config, pages: Pages) -> None:
        super().__init__(config)
        self._pages = pages
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C or a request to end."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._pages.closing.set)
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to the address; BadInput if that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        own = socket.socket(family, kind, protocol)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(address)
    except (OSError, OverflowError, UnicodeError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise BadInput(f"The server cannot listen on {host}, port {port}: {why}. Choose another --port.") from None
    return own


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine reach the address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def address(host: str, port: int) -> str:
    """Return the address of the server without its token."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/"


def run(
    studies: Studies,
    command: Callable[[optuna.Study], str],
    own: socket.socket,
    token: str,
    names: Sequence[str],
    any_address: bool,
) -> None:
    """Serve until Ctrl-C or a request to end.

    Parameters
    ----------
    studies, command, token, names, any_address
        As in `application`.
    own
        The socket, bound.
    """
    port = own.getsockname()[1]
    guard, pages = application(studies, command, token, f"satisfice-{port}", names, any_address)
    config = uvicorn.Config(
        guard, log_level="error", access_log=False, server_header=False, http="h11", ws="none", lifespan="off",
        proxy_headers=False, limit_concurrency=CONNECTIONS, timeout_keep_alive=20, timeout_graceful_shutdown=GOODBYE,
        h11_max_incomplete_event_size=16_384,
    )  # fmt: skip
    try:
        Server(config, pages).run([own])
    except StorageFailed:
        raise
    finally:
        own.close()


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)
