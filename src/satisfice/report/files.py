"""Write files such as reports and tables: each appears whole or not at all, and never replaces a study."""

import errno
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from satisfice.errors import BadInput

# how SQLite files begin: a database, a rollback journal, and a write-ahead log in either byte order
SQLITE = (b"SQLite format 3\0", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
BESIDE = ("-journal", "-wal", "-shm")  # suffixes of the files that SQLite keeps beside a database
DESCRIPTOR = re.compile(r"(?:/dev/fd|/proc/self/fd)/([0-9]{1,9})")
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
PATIENCE = 5.0  # seconds to wait for a process that reads a named pipe


def check_path(path: str | os.PathLike[str], databases: Iterable[Path] = ()) -> None:
    """Refuse a path that `write_file` would refuse, without writing anything.

    Parameters
    ----------
    path
        Where a file will be written.
    databases
        SQLite files to refuse even if they do not exist yet, and with them the files that SQLite would keep beside them.

    Raises
    ------
    BadInput
        If the path is a database, a directory, a symbolic link, a block device or a socket, or if the file or its directory
        is not writable.
    """
    place = Path(path)
    try:
        number = _descriptor(place)
        if number is not None:
            _check_no_database(Path(f"/proc/self/fd/{number}"), os.fstat(number), databases)
            return
        found = _look(place)
        _check_no_database(place, found, databases)
        if not place.parent.is_dir():
            raise _refusal(place, f"there is no directory {str(place.parent)!r:.200}; make it first")
        if found is None or stat.S_ISREG(found.st_mode):
            if not all(
                os.access(each, os.W_OK) for each in ([place.parent] if found is None else [place.parent, place])
            ):
                raise _refusal(place, "Permission denied; choose another path")
        elif stat.S_ISLNK(found.st_mode):
            raise _refusal(place, f"it is a symbolic link; write to its target instead: {os.readlink(place)!r:.200}")
        elif stat.S_ISDIR(found.st_mode):
            raise _refusal(place, "it is a directory; add a file name")
        elif not _is_pipe_or_device(found):
            raise _refusal(place, "it is a block device or a socket; choose another path")
    except (OSError, ValueError) as problem:
        raise _unwritable(place, problem) from None


def write_file(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write content to a file.

    A new or regular file appears whole or not at all: the content goes to a temporary file in the same directory, which then
    replaces the old one and takes over its permissions. (Other hard links to the old file keep the old content.) A named pipe, a
    character device such as a terminal or `/dev/null`, and an open descriptor such as `/dev/stdout` or `/dev/fd/3` are written
    into and stay what they are; a pipe without a reader for 5 seconds is an error.

    SQLite databases and the files beside them are never replaced, because they may hold a study; nor are directories, block
    devices and symbolic links, which somebody else may have put there: pass the path of their target.

    Parameters
    ----------
    path
        Where to write.
    content
        The bytes to write.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    BadInput
        If the path cannot or must not be written.
    """
    place = Path(path)
    check_path(place)
    try:
        number = _descriptor(place)
        if number is not None:
            sys.stdout.flush()  # what was printed before comes first
            _write(os.dup(number), content)
        elif _is_pipe_or_device(_look(place)):
            _write(_opened(place), content)
        else:
            _replace(place, content)
    except (OSError, ValueError) as problem:
        raise _unwritable(place, problem) from None
    return place


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether `write_file` would write into an open descriptor, a pipe or a device rather than a file.

    Parameters
    ----------
    path
        The path.

    Returns
    -------
    bool
        Whether it is one of these.
    """
    place = Path(path)
    return _descriptor(place) is not None or _is_pipe_or_device(_look(place))


def _descriptor(place: Path) -> int | None:
    """Return the number of the open descriptor that the path names, if it names one."""
    name = os.path.abspath(place)
    found = DESCRIPTOR.fullmatch(name)
    return int(found[1]) if found else STANDARD.get(name)


def _look(place: Path) -> os.stat_result | None:
    """Return what is there, without following links; None for nothing."""
    try:
        return place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_pipe_or_device(found: os.stat_result | None) -> bool:
    """Return whether it is a named pipe or a character device."""
    return found is not None and (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode))


def _check_no_database(place: Path, found: os.stat_result | None, databases: Iterable[Path]) -> None:
    """Refuse these databases, under any name, and every other SQLite file."""
    name = os.path.realpath(place)
    for database in databases:
        for file in (f"{start}{end}" for start in (database, os.path.realpath(database)) for end in ("", *BESIDE)):
            same = found is not None and os.path.exists(file) and os.path.samestat(found, os.stat(file))
            if same or name == os.path.realpath(file):
                raise _refusal(place, "the study itself is kept there; choose another path")
    if found is not None and stat.S_ISREG(found.st_mode) and _is_sqlite(place):
        raise _refusal(place, "it is an SQLite database, perhaps a study; choose another path, or delete it first")
    for end in BESIDE:
        base = name.removesuffix(end)
        if base != name and os.path.isfile(base) and _is_sqlite(base):
            raise _refusal(place, f"SQLite may use it for the database {base!r:.200}; choose another path")


def _is_sqlite(place: str | Path) -> bool:
    """Return whether the file begins like an SQLite file."""
    handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    found = os.read(handle, 16).startswith(SQLITE)
    if not found:  # closing a database would drop the locks that SQLite may hold on it in this process
        os.close(handle)
    return found


def _opened(place: Path) -> int:
    """Open a pipe or device; wait a while for the reader of a pipe."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(place, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW)
            break
        except OSError as problem:
            if problem.errno != errno.ENXIO:
                raise
            if time.monotonic() > until:
                raise OSError(errno.ENXIO, "no process reads from this pipe") from None
            time.sleep(0.02)
    os.set_blocking(handle, True)
    return handle


def _write(handle: int, content: bytes) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _replace(place: Path, content: bytes) -> None:
    """Write a temporary file beside the path, then move it there."""
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # otherwise a power loss could leave an empty file
        mode = 0o666 & ~_umask()  # as for any new file; mkstemp makes it private
        if (old := _look(place)) is not None:
            mode = old.st_mode & 0o777
            with suppress(PermissionError):  # only root can change the owner
                os.chown(temporary, old.st_uid, old.st_gid)
        os.chmod(temporary, mode)
        os.replace(temporary, place)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _refusal(place: Path, why: str) -> BadInput:
    return BadInput(f"{str(place)!r:.200} cannot be written: {why}.")


def _unwritable(place: Path, problem: OSError | ValueError) -> BadInput:
    """Return the system's error for the path; ValueError stands for a NUL in it."""
    if isinstance(problem, BadInput):
        return problem
    return _refusal(place, f"{getattr(problem, 'strerror', None) or problem}; choose another path")
