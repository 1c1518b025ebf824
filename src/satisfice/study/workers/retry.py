"""A database may be away for a while: calls are made again, with growing pauses, for as long as there is patience."""

import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sql
from numpy.random import default_rng
from optuna.exceptions import StorageInternalError
from sqlalchemy.engine import URL

from satisfice.errors import StorageFailed

T = TypeVar("T")

PATIENCE = 60  # seconds that a call goes on trying when the database is away, or locked by others
LONGEST_PAUSE = 4.0  # seconds between two tries; less than a lease's period, so that an outage costs no lease


def patiently(
    call: Callable[[], T],
    patience: float | Callable[[BaseException | None], float],
    url: URL,
    also: type[Exception] | tuple[()] = (),
) -> T:
    """Make a call, and make it again with growing pauses while the database is away (or raises `also`).

    `patience` is the time to go on trying, in seconds, or a function that derives it from the problem.
    """
    begun = time.monotonic()
    pause = 0.05
    while True:
        try:
            return call()
        except (StorageInternalError, sql.exc.SQLAlchemyError) as problem:
            cause = problem.__cause__ if isinstance(problem, StorageInternalError) else problem
            if not (_is_away(cause) or isinstance(cause, also)):
                raise
            wait = pause * default_rng().uniform(0.5, 1.0)
            if time.monotonic() + wait >= begun + (patience(cause) if callable(patience) else patience):
                lines = str(getattr(cause, "orig", None) or cause).strip().splitlines() or [type(cause).__name__]
                hidden = "***"
                raise StorageFailed(f"{shown(url)}: {lines[0].replace(url.password or hidden, hidden)}") from problem
        time.sleep(wait)
        pause = min(2 * pause, LONGEST_PAUSE)


def _is_away(cause: BaseException | None) -> bool:
    """Whether it was the connection that failed, rather than what was asked of it."""
    away = (sql.exc.OperationalError, sql.exc.InterfaceError, sql.exc.PendingRollbackError)
    return isinstance(cause, away) or (isinstance(cause, sql.exc.DBAPIError) and cause.connection_invalidated)


def shown(url: URL) -> str:
    """The URL for a message, without its password and its options, which may hold one."""
    return url.set(query={}).render_as_string(hide_password=True)
