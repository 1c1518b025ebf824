"""A process beside this one that ends our commands when we die without being able to, as by SIGKILL or for want of memory.

Each group of processes that a command starts is announced to it on a pipe and taken back before the command is reaped. The pipe
closes with our end, whatever that was, and what is still announced then gets SIGTERM and after a short grace SIGKILL. This file
is also the program that the process runs. What it cannot see is a command in the instant between its start and its announcement.
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
LOOK = 0.02  # seconds between two looks whether the groups have ended
PATIENCE = 2.0  # seconds for the guardian to end after us


class Guardian:
    """The guardian of this process; where it cannot be started, or is killed, we go on without it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._tried = False
        self.watched: set[int] = set()  # the groups that it would end now

    def start(self) -> None:
        """Start it, the first time that this is called: in a session of its own, holding nothing of ours but the pipe."""
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
                os.set_blocking(self._process.stdin.fileno(), False)  # type: ignore[union-attr]  # it holds nobody up
                atexit.register(self._stop)

    def watch(self, group: int) -> None:
        """End this group of processes if we die from now on."""
        self.watched.add(group)
        self._tell(f"+{group}\n")

    def release(self, group: int) -> None:
        """Do not end this group any more: its number may soon belong to others."""
        self.watched.discard(group)
        self._tell(f"-{group}\n")

    def _tell(self, line: str) -> None:
        with self._lock:
            if self._process is None or self._process.stdin is None:
                return
            try:
                os.write(self._process.stdin.fileno(), line.encode())
            except OSError:  # it was killed, or does not read: what it has heard is out of date from now on
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


GUARDIAN = Guardian()


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
    groups = {group for group in groups if _signalled(group, signal.SIGTERM)}
    until = time.monotonic() + GRACE
    while groups and time.monotonic() < until:
        time.sleep(LOOK)
        groups = {group for group in groups if _signalled(group, 0)}
    for group in groups:
        _signalled(group, signal.SIGKILL)


def _signalled(group: int, number: int) -> bool:
    """Send a signal to a group; whether anybody was there to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    guard()
