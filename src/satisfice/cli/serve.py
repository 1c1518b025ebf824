"""`satisfice serve`: a live page for every study of a storage, and the JSON protocol."""

import os
import sys
from typing import TYPE_CHECKING

import rich_click as click

from satisfice.cli.options import STORAGE, Value, command
from satisfice.cli.studies import ARGUMENTS, hidden, study_line
from satisfice.errors import BadInput
from satisfice.numerals import read_number
from satisfice.plaintext import plain

if TYPE_CHECKING:
    import optuna

TOKEN = "SATISFICE_TOKEN"  # noqa: S105  # the environment variable that may hold the token
SHORTEST = 16  # characters of a token
HOST, PORT = "127.0.0.1", 8765
PORTS = Value(
    "port", "a port, 0 to 65535", lambda text: n if isinstance(n := read_number(text), int) and 0 <= n < 2**16 else None
)
REMOTE = """note: this address can be reached from other machines. Whoever has the token can read and change all studies of this
storage. The connection is not encrypted: whoever can listen on the network can read the token. On a network that you do not
trust, leave out --host and forward the port, as in: ssh -L {port}:127.0.0.1:{port} THIS-MACHINE"""


@command()
@click.option(
    "--storage", default=STORAGE, show_default=True, metavar="PATH|URL", help="An SQLite file or a database URL."
)
@click.option(
    "--port", type=PORTS, default=PORT, show_default=True, metavar="N", help="The port; 0 takes any that is free."
)
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Allow an address that other machines reach.")
@click.option(
    "--hostname",
    "names",
    multiple=True,
    metavar="NAME",
    help="A name by which browsers may address the server, beside its own.",
)
def serve(storage: str, port: int, host: str, allow_remote: bool, names: tuple[str, ...]) -> int:
    """Serve a live page for every study, on this machine.

    It shows each study as it goes on, takes results for experiments by hand, and speaks JSON with other programs. It prints an
    address with a token; without the token nobody gets in. The environment variable SATISFICE_TOKEN sets the token.

    Example
    -------
    satisfice serve --storage lab.db
    """
    from satisfice.extras import check_extras

    check_extras([("starlette", "serve"), ("uvicorn", "serve")])
    import optuna

    from satisfice.serve import server
    from satisfice.serve.guard import LOOPBACK
    from satisfice.serve.studies import Studies
    from satisfice.study.workers.storage import open_storage

    local = server.is_loopback(host)
    if not local and not allow_remote:
        raise BadInput(
            f"`--host` must be an address of this machine alone, such as {HOST}; got {host!r:.80}, which other machines reach. "
            "If that is what you want, add --allow-remote."
        )
    token = os.environ.get(TOKEN) or server.new_token()
    if len(token) < SHORTEST or not all("!" <= each <= "~" and each not in '";,\\' for each in token):
        raise BadInput(
            f"`{TOKEN}` must have at least {SHORTEST} characters, without spaces, quotes, commas and semicolons."
        )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    opened = open_storage(storage)
    own = server.listen(host, port)
    port = own.getsockname()[1]
    known = [*LOOPBACK, *names] + ([] if local else [host, *_own_names()])
    shown = host if local or host not in ("0.0.0.0", "::") else (_own_names() or [host])[0]  # noqa: S104
    print(f"studies  {plain(hidden(storage))}")
    print(f"address  {plain(server.address(shown, port))}?token={token}")
    print("Ctrl-C ends the server; the studies stay.", flush=True)
    if not local:
        print(REMOTE.format(port=port), file=sys.stderr, flush=True)
    server.run(
        Studies(opened, hidden(storage)), lambda study: go_on(study, storage), own, token, known, any_address=not local
    )
    return 0


def go_on(study: "optuna.Study", storage: str) -> str:
    """Return the command line that goes on with a study: the one that began it, or the one that asks for experiments.

    Parameters
    ----------
    study
        The study.
    storage
        A path or a URL.

    Returns
    -------
    str
        The command line; nothing for a gate.
    """
    from satisfice.study.gate_replay import stored

    if stored(study) is not None:
        return ""
    return study.user_attrs.get(ARGUMENTS) or study_line("ask", storage, study.study_name, "-n", "4")


def _own_names() -> list[str]:
    import socket

    return list(dict.fromkeys([socket.gethostname(), socket.getfqdn()]))
