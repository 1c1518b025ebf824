"""Processes for the tests, forked from one that has imported everything: the import takes longer than most of their work.

A forked process is a process like any other: memory, signals and end are its own, and warnings are errors in it.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

# what a worker on a study has imported in the end
IMPORTED = (
    "alembic.command",
    "psycopg",
    "satisfice.study.find",
    "satisfice.study.workers.loop",
    "scipy.stats.qmc",
    "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.sqlite.pysqlite",
)


class Forked:
    """What the tests use of `subprocess.Popen`, for a process that the nursery forked.

    The output is read when the process has ended, so it must fit into a pipe (64 KiB).
    """

    def __init__(self, command: str, stdin: int, stdout: int, stderr: int, state: int) -> None:
        self.args = command
        self.stdin, self.stdout, self.stderr = os.fdopen(stdin, "w"), os.fdopen(stdout), os.fdopen(stderr)
        self._state = os.fdopen(state)
        born = self._state.readline()
        assert born, "the nursery has ended; what it wrote to the standard error says why"
        self.pid = int(born)
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            ready, _, _ = select.select([self._state], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._state.readline())
            self._state.close()
        return self.returncode

    def communicate(self, text: str = "", timeout: float | None = None) -> tuple[str, str]:
        with suppress(BrokenPipeError), self.stdin:
            self.stdin.write(text)
        self.wait(timeout)
        with self.stdout, self.stderr:
            return self.stdout.read(), self.stderr.read()

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork(script: str, *words: object, cwd: Path | None = None) -> Forked:
    """A process that runs the script, as `python -W error -c script words` would."""
    pipes = [os.pipe() for _ in range(4)]  # its input, its two outputs, and its state
    theirs = [pipes[0][0], *(writing for _, writing in pipes[1:])]
    ours = [pipes[0][1], *(reading for reading, _ in pipes[1:])]
    request = {"script": script, "argv": ["-c", *map(str, words)], "cwd": str(cwd or Path.cwd())}
    socket.send_fds(_nursery()[0], [json.dumps(request).encode()], theirs)
    for end in theirs:
        os.close(end)
    return Forked(script, *ours)


@cache
def _nursery() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that forks, started at the first call, and the way to it; it ends when the way is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-W", "error", __file__, str(theirs.fileno())]
        return ours, subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])


def pytest_unconfigure() -> None:
    if _nursery.cache_info().currsize:
        way, process = _nursery()
        way.close()
        process.wait(60)


def _born(channel: socket.socket) -> str:
    """Wait for requests for ever; it returns in each new process, with the script that is to be run there."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, ends, _, _ = socket.recv_fds(channel, 2**20, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not message:
            channel.close()
            sys.exit()
        if os.fork() == 0:
            break
        for end in ends:
            os.close(end)
    channel.close()
    *streams, state = ends
    child = os.fork()
    if child:  # this one waits for the process and tells how it ended
        for end in streams:
            os.close(end)
        os.write(state, f"{child}\n".encode())
        status = os.waitpid(child, 0)[1]
        with suppress(BrokenPipeError):
            os.write(state, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    os.close(state)
    for number, end in enumerate(streams):
        os.dup2(end, number)
        os.close(end)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    request = json.loads(message)
    os.chdir(request["cwd"])
    sys.argv = request["argv"]
    return request["script"]


if __name__ == "__main__":
    for name in IMPORTED:
        with suppress(ImportError):  # an extra may be missing
            import_module(name)
    exec(compile(_born(socket.socket(fileno=int(sys.argv[1]))), "<string>", "exec"), globals())  # noqa: S102
