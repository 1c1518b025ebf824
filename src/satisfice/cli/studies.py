"""The study that a command line means, and how it is shown without a password."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from satisfice.cli.options import NAME, STORAGE
from satisfice.errors import BadInput
from satisfice.plaintext import plain

if TYPE_CHECKING:  # Optuna and SQLAlchemy are slow to import, and --help should not be
    import optuna
    from sqlalchemy.engine import URL

    from satisfice.study.stored import StoredSearch

PROGRAM = "satisfice:command"  # the user attribute of a study that holds the user's program
ARGUMENTS = "satisfice:arguments"  # and the one that holds the last command line of `satisfice find`


def stored_study(storage: str, name: str) -> "optuna.Study":
    """Return the study; raise `BadInput` if there is none.

    Parameters
    ----------
    storage
        A path or a URL.
    name
        The name of the study.

    Returns
    -------
    optuna.Study
        The study.
    """
    import optuna

    from satisfice.study.workers.storage import open_storage

    if "://" not in storage and not os.path.lexists(storage):
        raise BadInput(
            f"`--storage`: there is no file {storage}. Create it with `satisfice find` or `satisfice new`, or name another."
        )
    opened = open_storage(storage)
    names = optuna.get_all_study_names(opened)
    if name not in names:
        found = ", ".join(repr(each)[:60] for each in names[:10]) or "no study at all"
        raise BadInput(f"`--name`: there is no study {name!r:.80}; the storage holds {found}.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.load_study(study_name=name, storage=opened)


def existing_names(storage: str) -> list[str]:
    """Return the names of the studies in a storage, none if there is no such file yet.

    Parameters
    ----------
    storage
        A path or a URL.

    Returns
    -------
    list[str]
        The names.
    """
    import optuna

    from satisfice.study.workers.storage import open_storage

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if "://" not in storage and not os.path.lexists(storage):
        return []
    return list(optuna.get_all_study_names(open_storage(storage)))


def stored_search(storage: str, name: str) -> "StoredSearch":
    """Return the search of a study; raise `BadInput` if there is none.

    Parameters
    ----------
    storage
        A path or a URL.
    name
        The name of the study.

    Returns
    -------
    StoredSearch
        The search.
    """
    from satisfice.study.stored import StoredSearch

    return StoredSearch.of(stored_study(storage, name))


def database_files(storage: str) -> list[Path]:
    """Return the SQLite file that a storage names, if it names one.

    Parameters
    ----------
    storage
        A path or a URL.

    Returns
    -------
    list[Path]
        One path, or none.
    """
    if "://" not in storage:
        return [Path(storage)]
    url = _url(storage)
    if url is None or url.get_backend_name() != "sqlite" or not url.database:
        return []
    return [Path(url.database.removeprefix("file:"))]


def hidden(storage: str) -> str:
    """Return the storage as it may be shown: a URL without its password.

    Parameters
    ----------
    storage
        A path or a URL.

    Returns
    -------
    str
        What may be shown.
    """
    if "://" not in storage:
        return storage
    from satisfice.study.workers.retry import shown

    url = _url(storage)
    return storage.split("://")[0] + "://..." if url is None else shown(url)


def _url(storage: str) -> "URL | None":
    """Return the URL, or None where it cannot be read; opening it will say why."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(storage)
    except (ArgumentError, ValueError):
        return None


def command_line(words: Sequence[str], storage: str) -> str:
    """Return the words as a command line without a password.

    Parameters
    ----------
    words
        The words after the program's name.
    storage
        The storage, which may hold a password.

    Returns
    -------
    str
        The command line.
    """
    shown = [word.replace(storage, hidden(storage)) if storage in word else word for word in words]
    return plain(shlex.join(["satisfice", *shown]), keep="\n\t")


def report_line(storage: str, name: str) -> str:
    """Return the command line that writes the report of the study; the parameters are those of `study_line`."""
    return study_line("report", storage, name)


def study_line(command: str, storage: str, name: str, *words: str) -> str:
    """Return a command line about the study.

    Parameters
    ----------
    command
        The command.
    storage
        A path or a URL.
    name
        The name of the study.
    *words
        Arguments and options that come before those of the study.

    Returns
    -------
    str
        The command line.
    """
    where = ["--storage", storage] if storage != STORAGE else []
    return command_line([command, *words, *where, *(["--name", name] if name != NAME else [])], storage)
