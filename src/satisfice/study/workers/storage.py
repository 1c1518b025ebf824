"""Opens storages, SQLite files and database servers alike, and studies; nothing is lost where processes do so at once."""

import fcntl
import logging
import os
import re
import sqlite3
import stat
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy as sql
from optuna.samplers import BaseSampler
from optuna.storages import BaseStorage, InMemoryStorage
from sqlalchemy.engine import URL, make_url

from satisfice.checks import checked_direction
from satisfice.errors import BadInput, SatisficeError, StorageFailed
from satisfice.study._optuna import RetryingStorage
from satisfice.study.workers.retry import PATIENCE, patiently, shown

OPENING = (
    10  # seconds for a server that has never answered, or refuses: the address or the password is likely to be wrong
)
REFUSED = re.compile(
    r"password|authentication|does not exist|not permitted|pg_hba|permission denied|access denied"
    r"|unknown database|invalid response",
    re.IGNORECASE,
)
UNANSWERED = re.compile(
    r"refused|no such file|resolve|translate host|unreachable|no route|time(d )?out|not known", re.IGNORECASE
)
LONGEST_NAME = 512  # of a study, in the tables of Optuna
SCHEMA_KEY = 0x5A715F1CE  # the advisory lock in PostgreSQL under which tables are made
CHATTER = ("optuna.storages._in_memory", "optuna.storages._rdb.storage", "optuna.study.study")


def open_storage(where: str | os.PathLike[str] | BaseStorage | None) -> BaseStorage:
    """Open an Optuna storage.

    Tables that do not exist yet are made once, however many processes open the storage at the same time.

    Parameters
    ----------
    where
        None for a storage in memory, the path of an SQLite file, or the URL of a database; a storage is returned as it is.

    Returns
    -------
    BaseStorage

    Raises
    ------
    BadInput
        If it is no storage, or one that cannot be used.
    StorageFailed
        If the database does not answer.
    """
    if where is None:
        return InMemoryStorage()
    if isinstance(where, BaseStorage):
        return where
    if not isinstance(where, str | os.PathLike):
        raise BadInput(
            f"`storage` must be a path, a URL such as postgresql://host/name, an Optuna storage or None; got {where!r:.80}."
        )
    text = os.fsdecode(where)
    if not text or "\0" in text:
        raise BadInput(f"`storage` must be a path or a URL; got {text!r}.")
    if not isinstance(where, str) or "://" not in text:
        return _open_file(Path(text).absolute())
    url = _parsed(text)
    if url.get_backend_name() != "sqlite":
        storage = patiently(partial(_open_server, url), partial(_patience, url), url, sql.exc.DBAPIError)
        _ANSWERED.add(url)
        return storage
    if url.query or not url.database or url.database.startswith((":memory:", "file:")):
        return _built(url)
    return _open_file(Path(url.database).absolute())


def open_study(
    name: str | None,
    where: str | os.PathLike[str] | BaseStorage | None,
    *,
    direction: str | Sequence[str],
    sampler: BaseSampler | None = None,
) -> optuna.Study:
    """Open a study, or make it if there is none of that name yet.

    Parameters
    ----------
    name
        The name of the study; None makes a study with a new name.
    where
        None for a study in memory, the path of an SQLite file, the URL of a database, or an Optuna storage.
    direction
        "maximize" or "minimize", or a list of these, one for each requirement; it must be that of a study that exists.
    sampler
        The sampler of the study.

    Returns
    -------
    optuna.Study

    Raises
    ------
    BadInput
        If the storage cannot be used, or the study is another one.
    StorageFailed
        If the database does not answer, or the study is damaged.
    """
    wanted = [direction] if isinstance(direction, str) else list(direction)
    for each in wanted:
        checked_direction(each)
    if name is None:
        name = f"satisfice-{uuid.uuid4()}"
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or "\0" in name or not _is_text(name):
        raise BadInput(f"`name` must be a text of 1 to {LONGEST_NAME} characters; got {str(name)[:80]!r}.")
    storage = open_storage(where)
    try:
        with _quiet():
            study = optuna.create_study(
                study_name=name, storage=storage, directions=wanted, sampler=sampler, load_if_exists=True
            )
        # a damaged row is better found now than in the middle of a search
        for trial in study.get_trials(deepcopy=False):
            if not all(isinstance(value, float) for value in trial.values or ()):
                raise TypeError(f"the value of trial {trial.number} is no number")
        _ = study.user_attrs
    except SatisficeError:
        raise
    except Exception as problem:
        raise StorageFailed(
            f"The study {name!r} cannot be read ({problem!r}). Restore a copy or use another name."
        ) from problem
    stored = [each.name.lower() for each in study.directions]
    if len(stored) != len(wanted):
        several = "one objective" if len(wanted) == 1 else f"{len(wanted)} objectives"
        raise BadInput(f"A study must have {several}; {name!r} has {len(stored)} objectives. Use another name.")
    if stored != wanted:
        was, got = (stored[0], wanted[0]) if len(wanted) == 1 else (stored, wanted)
        raise BadInput(f"`direction` must be {was!r}, as in the study {name!r}; got {got!r}. Use another name.")
    return study


_ANSWERED: set[URL] = set()  # the databases whose server has answered this process


def _patience(url: URL, problem: BaseException | None) -> float:
    """Seconds to go on trying to open a database: long if its server is away or cuts connections, short if it was never there."""
    said = re.sub(r"\"[^\"]*\"|'[^']*'", "", str(getattr(problem, "orig", None) or problem))  # names may be any words
    if REFUSED.search(said):
        return OPENING
    if "FATAL" in said or not UNANSWERED.search(said):
        _ANSWERED.add(url)
    sockets = url.host or str(url.query.get("host", ""))  # the directory of a local server's socket
    return PATIENCE if url in _ANSWERED or (sockets.startswith("/") and os.path.isdir(sockets)) else OPENING


def _open_server(url: URL) -> RetryingStorage:
    """The storage on a database server; in PostgreSQL its tables are made under a lock."""
    try:
        if url.get_backend_name() != "postgresql":
            return _built(url)
        with sql.create_engine(url, poolclass=sql.NullPool).begin() as connection:
            connection.execute(sql.text(f"SET LOCAL lock_timeout = '{PATIENCE}s'"))
            connection.execute(sql.text("SELECT pg_advisory_xact_lock(:key)"), {"key": SCHEMA_KEY})
            return _built(url)
    except (ImportError, sql.exc.NoSuchModuleError) as problem:
        hint = " Run pip install '.[postgres]' in the clone." if url.get_backend_name() == "postgresql" else ""
        raise BadInput(f"`storage` needs a driver for {shown(url)}, which is missing ({problem}).{hint}") from None


def _open_file(path: Path) -> RetryingStorage:
    """The storage in an SQLite file, which appears whole or not at all."""
    if not path.parent.is_dir():
        raise BadInput(f"`storage` must lie in a directory that exists; there is no {path.parent}. Make it first.")
    url = URL.create("sqlite", database=str(path))
    if make_url(url.render_as_string()).database != str(path):  # in older versions of SQLAlchemy a "?" ends the path
        raise BadInput(f"`storage` must be a path that can be written as a URL, without '?'; got {path}.")
    try:
        with _locked(path.parent):
            if not os.path.lexists(path):
                _make_file(path)
            _check_file(path)
            return patiently(partial(_built, url), 0, url)
    except OSError as problem:
        raise BadInput(f"`storage`: {path} cannot be used: {problem.strerror}.") from problem


def _make_file(path: Path) -> None:
    """Make a new study file beside its place, then move it there: a process that is killed leaves no half of one."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
    url = URL.create("sqlite", database=str(new))
    try:
        patiently(partial(_built, url), 0, url).engine.dispose()
        new.rename(path)
    finally:
        new.unlink(missing_ok=True)


def _check_file(path: Path) -> None:
    """Refuse what is not the whole and writable database of a study; nothing is written.

    Only SQLite may open the file: closing it elsewhere in this process would drop the locks that SQLite holds on it.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise BadInput(f"`storage` must be the path of an SQLite file, or of none yet; {path} is no file.")
    if found.st_size <= 1:  # SQLite, too, takes a single byte for nothing
        raise BadInput(f"`storage` must be an SQLite file; {path} is empty. Delete it to have it made anew.")
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK)):
        raise BadInput(
            f"`storage` must be a file that can be written; {path} cannot. Check the permissions of the file and its directory."
        )
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=PATIENCE)
        try:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError) as problem:
        verdict = str(problem)
    if verdict != "ok":
        raise BadInput(
            f"`storage`: {path} is damaged or no database ({verdict.splitlines()[0]}). Restore a copy or use another path."
        )
    if tables and "studies" not in tables:
        raise BadInput(f"`storage` must be the database of studies; {path} holds something else. Use another path.")


def _built(url: URL) -> RetryingStorage:
    """The storage itself, with the settings that its kind of database needs."""
    options: dict[str, Any] = {"pool_pre_ping": True}
    if url.get_backend_name() == "sqlite":
        options = {"connect_args": {"timeout": PATIENCE}}
    elif url.get_driver_name() in ("psycopg", "psycopg2"):
        options["connect_args"] = {"connect_timeout": OPENING}
    text = url.render_as_string(hide_password=False)
    try:
        with _quiet():
            return RetryingStorage(text.replace("{", "{{").replace("}", "}}"), engine_kwargs=options)
    except RuntimeError as problem:  # the tables of another version of Optuna
        raise BadInput(f"`storage`: {shown(url)}: {problem}") from problem


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold a lock on a directory that excludes every other process and thread; it ends with the process."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise StorageFailed(
                        f"{directory}: another process has been opening a study for {PATIENCE} s."
                    ) from None
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna's messages about studies of this thread out of the log, except warnings."""
    here = threading.get_ident()

    def keeps(record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or record.thread != here

    loggers = [logging.getLogger(each) for each in CHATTER]
    for logger in loggers:
        logger.addFilter(keeps)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(keeps)


def _parsed(text: str) -> URL:
    """The URL; PostgreSQL without a named driver gets the one that is installed."""
    try:
        url = make_url(text)
    except (sql.exc.ArgumentError, ValueError):  # their messages may hold the password
        raise BadInput(
            f"`storage` must be a URL such as postgresql://host/name; got {text.split('://')[0]}://..."
        ) from None
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg2" if find_spec("psycopg2") else "postgresql+psycopg")
    return url


def _is_text(name: str) -> bool:
    """Whether a database can hold the name: half of a surrogate pair is no text."""
    return name == name.encode(errors="ignore").decode()
