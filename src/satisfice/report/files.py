"""Files that the command line writes, such as reports and tables: each appears whole or not at all, and destroys no study."""

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

# how SQLite's files begin: a database, a rollback journal, and a write-ahead log in either byte order
SQLITE = (b"SQLite format 3\0", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
BESIDE = ("-journal", "-wal", "-shm")  # what SQLite appends to the name of a database for the files it keeps beside it
DESCRIPTOR = re.compile(r"(?:/dev/fd|/proc/self/fd)/([0-9]{1,9})")
STANDARD = {"/dev/stdout": 1, "/dev/stderr": 2}
PATIENCE = 5.0  # seconds to wait for a process that reads a named pipe


def check_path(path: str | os.PathLike[str], databases: Iterable[Path] = ()) -> None:
    """Refuse a path that `write_file` would refuse; nothing is written.

    Parameters
    ----------
    path
        Where a file is to be written.
    databases
        SQLite files that are refused even if they do not exist yet, as are those that SQLite would keep beside them.

    Raises
    ------
    BadInput
        If there is a database, a directory, a symbolic link, a block device or a socket, or if the file or its directory
        cannot be written.
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
            raise _refusal(place, "it is a directory; add the name of a file")
        elif not _is_pipe_or_device(found):
            raise _refusal(place, "it is a block device or a socket; choose another path")
    except (OSError, ValueError) as problem:
        raise _unwritable(place, problem) from None


def write_file(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write the content to a file and return its path.

    A new or ordinary file appears whole or not at all: the content goes to a temporary file in the same directory, which
    then takes the place of the old one and keeps its permissions. (Other hard links to the old file keep the old content.) A
    named pipe, a character device such as a terminal or `/dev/null`, and an open descriptor such as `/dev/stdout` or
    `/dev/fd/3` are written into and stay what they are; a pipe that nobody reads within 5 seconds is an error.

    Never replaced are SQLite databases and the files that SQLite keeps beside them, since a study may be in there;
    directories; block devices; and symbolic links, which somebody else may have put there: pass the path of their target.

    Parameters
    ----------
    path
        Where to write.
    content
        The bytes to write.

    Raises
    ------
    BadInput
        If the path cannot be written, or must not be.
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
    """Whether `write_file` would write into an open descriptor, a pipe or a device rather than make a file."""
    place = Path(path)
    return _descriptor(place) is not None or _is_pipe_or_device(_look(place))


def _descriptor(place: Path) -> int | None:
    """The number of the open descriptor that the path names, if it names one."""
    name = os.path.abspath(place)
    found = DESCRIPTOR.fullmatch(name)
    return int(found[1]) if found else STANDARD.get(name)


def _look(place: Path) -> os.stat_result | None:
    """What is there, links not followed; None for nothing."""
    try:
        return place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_pipe_or_device(found: os.stat_result | None) -> bool:
    """Whether it is something to write into: a named pipe, or a device that takes characters."""
    return found is not None and (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode))


def _check_no_database(place: Path, found: os.stat_result | None, databases: Iterable[Path]) -> None:
    """Refuse the named databases, under any name, and every other file of SQLite."""
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
    """Whether the file begins like one of SQLite's."""
    handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    found = os.read(handle, 16).startswith(SQLITE)
    if not found:  # closing a database would drop the locks that SQLite may hold on it in this process
        os.close(handle)
    return found


def _opened(place: Path) -> int:
    """A descriptor of a pipe or device; the reader of a pipe is waited for, though not for ever."""
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
    """Make a file beside its place, then move it there."""
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:40]}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # else a loss of power soon after could leave the new name on an empty file
        mode = 0o666 & ~_umask()  # as an ordinary file; mkstemp's own are for their owner only
        if (old := _look(place)) is not None:
            mode = old.st_mode & 0o777
            with suppress(PermissionError):  # only root can give a file away
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
    return BadInput(f"{str(place)!r:.200} cannot be written: {why}")


def _unwritable(place: Path, problem: OSError | ValueError) -> BadInput:
    """What the system says of the path; ValueError stands for a NUL in it."""
    if isinstance(problem, BadInput):
        return problem
    return _refusal(place, f"{getattr(problem, 'strerror', None) or problem}; choose another path")
