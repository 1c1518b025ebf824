"""A process beside the worker that writes the beats of its leases: an objective that holds the GIL does not stop them."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

import optuna

from satisfice.study._optuna import RetryingStorage, backend_of
from satisfice.study.workers.retry import PATIENCE

SCRIPT = Path(__file__).with_name("beats.py")
DRIVERS = ("psycopg", "psycopg2")
ENDING = 5.0  # seconds that a companion has to end


class Companion:
    """A companion process; OSError if it cannot be started or does not listen."""

    def __init__(self) -> None:
        executable = get_executable()
        if not executable or getattr(sys, "frozen", False) or not os.path.exists("/proc/self/stat"):
            raise OSError("there is no interpreter to run it, or no /proc to tell whether the worker is stopped")
        theirs, self._orders = os.pipe()
        self._reports, answers = os.pipe()
        self._rest = b""  # of a report
        try:
            # Addresses and passwords go through the pipe: everybody can read the arguments of a process. A session of its own
            # keeps Ctrl-C away.
            self._process = subprocess.Popen(  # noqa: S603  a list of arguments, no shell
                [executable, "-I", "-S", SCRIPT],
                stdin=theirs,
                stdout=answers,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            self._close()
            raise
        finally:
            os.close(theirs)
            os.close(answers)
        for end in (self._orders, self._reports):
            os.set_blocking(end, False)  # whatever becomes of the companion, the worker does not wait for it
        try:
            self._say({"worker": os.getpid(), "path": [str(entry) for entry in sys.path]})
        except OSError:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def take(self, number: int, place: dict[str, Any], lease: dict[str, Any]) -> None:
        """Renew a lease from now on; the number is the caller's."""
        self._say({"take": number, "place": place, "lease": lease})

    def drop(self, number: int) -> None:
        """Renew a lease no longer."""
        self._say({"drop": number})

    def reports(self) -> list[tuple[int, float]]:
        """The numbers of the leases that were renewed since the last call, and when by the monotonic clock."""
        with suppress(BlockingIOError):
            self._rest += os.read(self._reports, 1 << 20)
        *lines, self._rest = self._rest.split(b"\n")
        return [(int(number), float(at)) for number, at in map(bytes.split, lines)]

    def stop(self) -> None:
        """End the process, and wait until it has ended."""
        self._close()
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """In a forked child: leave the companion to the parent."""
        self._close()
        self._process.returncode = 0  # it is no child of this process

    def _say(self, message: dict[str, Any]) -> None:
        line = json.dumps(message).encode() + b"\n"
        if not self.alive or os.write(self._orders, line) < len(
            line
        ):  # some programs die of writing where nobody reads
            raise BrokenPipeError("the companion does not listen")

    def _close(self) -> None:
        ends, self._orders, self._reports = (self._orders, self._reports), -1, -1
        for end in ends:
            with suppress(OSError):
                os.close(end)


def place_of(study: optuna.Study) -> dict[str, Any] | None:
    """How a companion reaches the database of a study; None if it cannot: not one of ours, no file, or another driver."""
    storage = backend_of(study)
    if not isinstance(storage, RetryingStorage):
        return None
    url = storage.engine.url
    if url.get_backend_name() == "sqlite":
        if url.query or not url.database or not os.path.isabs(url.database):
            return None
        uri = f"{Path(url.database).as_uri()}?mode=rw"
        return {
            "driver": "sqlite3",
            "address": {"database": uri, "uri": True, "timeout": PATIENCE, "isolation_level": None},
        }
    if url.get_driver_name() not in DRIVERS:
        return None
    words, named = storage.engine.dialect.create_connect_args(url)
    named.pop("context", None)  # how SQLAlchemy wants values converted
    place = {"driver": url.get_driver_name(), "address": {**named, **storage.engine_kwargs.get("connect_args", {})}}
    return None if words else place
