"""A process that ends our commands if we die without being able to, as by SIGKILL or for lack of memory.

Each process group that a command starts is announced on a pipe and withdrawn before the command is reaped. The pipe closes when
we end, for whatever reason, and the groups that are still announced get SIGTERM and shortly after SIGKILL. This file is also the
program that the process runs. It cannot see a command in the instant between its start and its announcement.
"""

import atexit
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

GRACE = 0.5  # seconds between SIGTERM and SIGKILL
POLL = 0.02  # seconds between checks whether the groups have ended
PATIENCE = 2.0  # seconds that the watchdog gets to end after us


class Watchdog:
    """The watchdog of this process. If it cannot be started or is killed, we continue without it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._tried = False
        self.watched: set[int] = set()  # the groups that it would end now

    def start(self) -> None:
        """Start it on the first call, in a session of its own; it holds nothing of ours but the pipe."""
        with self._lock:
            if self._tried:
                return
            self._tried = True
            with suppress(OSError, ValueError):
                self._process = subprocess.Popen(  # noqa: S603  our own file, no shell
                    [sys.executable, "-I", "-S", __file__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd="/",
                    bufsize=0,
                )
                os.set_blocking(self._process.stdin.fileno(), False)  # type: ignore[union-attr]  # never block on it
                atexit.register(self._stop)

    def watch(self, group: int) -> None:
        """End this process group if we die from now on."""
        self.watched.add(group)
        self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        """Leave this group alone: its id may soon be reused."""
        self.watched.discard(group)
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process is None or self._process.stdin is None:
                return
            try:
                os.write(self._process.stdin.fileno(), line.encode())
            except OSError:  # it was killed or does not read: what it knows is out of date
                self._process.kill()
                self._process.wait()
                self._process.stdin.close()
                self._process = None

    def _stop(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)


WATCHDOG = Watchdog()


def guard() -> None:
    """Read which groups to watch until the pipe closes, then end them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    rest = b""
    while chunk := os.read(0, 4096):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            (groups.add if line.startswith(b"+") else groups.discard)(int(line[1:]))
    groups = {group for group in groups if signalled(group, signal.SIGTERM)}
    until = time.monotonic() + GRACE
    while groups and time.monotonic() < until:
        time.sleep(POLL)
        groups = {group for group in groups if signalled(group, 0)}
    for group in groups:
        signalled(group, signal.SIGKILL)


def signalled(group: int, number: int) -> bool:
    """Send a signal to a process group.

    Parameters
    ----------
    group
        The id of the group.
    number
        The signal.

    Returns
    -------
    bool
        Whether anybody was there to get it.
    """
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    guard()
