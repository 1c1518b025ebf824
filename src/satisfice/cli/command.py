"""A user's command as an objective: its arguments are filled in, it runs without a shell, and prints its value."""

import os
import re
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from satisfice.cli.guardian import GUARDIAN
from satisfice.cli.printed import CommandFailed, Printed, last_words, read_printed
from satisfice.errors import BadInput

KEPT = 65_536  # bytes of each output that are kept: the last ones
TICK = 0.1  # seconds between two looks whether the command has ended or is to be stopped
GRACE = 2.0  # seconds that processes get to end themselves before they are killed
PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass
class Command:
    """A command with placeholders, called with the parameters: it returns the value or raises `CommandFailed`.

    `{name}` within an argument stands for a parameter, `{{` and `}}` for braces. `timeout` are the seconds that one run may take.
    `key` names the entry of a JSON object on the last line that holds the value; `satisfice.cli.printed` says what is read
    without it. `on_first` is called once, with the first value and the line that it was read from. Several threads may call the
    command at once; `stop` ends all runs.
    """

    words: Sequence[str]
    timeout: float | None = None
    key: str | None = None
    on_first: Callable[[Printed], None] | None = None
    running: int = 0  # so many runs are under way
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check(self, names: Iterable[str]) -> None:
        """BadInput unless the command can be found and uses the parameters, all of them and no others."""
        if not self.words:
            raise BadInput("command: none came; write it after --, such as: -- python train.py --rate {rate}")
        wanted = list(names)
        used = {name for word in self.words for name in placeholders(word)}
        for name in wanted:
            if name not in used:
                raise BadInput(
                    f"command: the parameter {name!r} appears nowhere in it; write {{{name}}} where it belongs"
                )
        for name in used - set(wanted):
            raise BadInput(
                f"command: {{{name}}} came, which is no parameter; {', '.join(wanted)} were wanted; a brace is {{{{ or }}}}"
            )
        if not placeholders(self.words[0]) and shutil.which(filled(self.words[0], {})) is None:
            raise BadInput(f"command: there is no program {self.words[0]!r}; check its name and your PATH")

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value that the command prints for these parameters."""
        with self._lock:
            self.running += 1
        try:
            code, out, err, cut = self._run([filled(word, params) for word in self.words])
        finally:
            with self._lock:
                self.running -= 1
        if code != 0:
            ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            raise CommandFailed(f"{ended}{last_words(err or out)}")
        printed = read_printed(out, self.key, cut)
        with self._lock:
            tell, self.on_first = self.on_first, None
        if tell is not None:
            tell(printed)
        return printed.value

    def stop(self) -> None:
        """End every run, now and from now on; each raises KeyboardInterrupt where it was called."""
        self._stopped = True

    def _run(self, words: list[str]) -> tuple[int, bytes, bytes, bool]:
        """Exit code, the ends of standard output and error output, and whether the first of them was cut."""
        if self._stopped:
            raise KeyboardInterrupt
        GUARDIAN.start()
        try:
            process = subprocess.Popen(  # noqa: S603  a list of arguments, no shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:  # ValueError: a NUL within an argument
            raise CommandFailed(f"it could not be started: {problem}") from None
        GUARDIAN.watch(process.pid)
        tails = _Tails(process)
        until = None if self.timeout is None else time.monotonic() + self.timeout
        try:
            while not _has_ended(process):
                tails.read(TICK)
                if self._stopped:
                    raise KeyboardInterrupt
                if until is not None and time.monotonic() > until:
                    raise CommandFailed(f"it took longer than {self.timeout:g} s{last_words(tails.of(process.stderr))}")
        finally:  # after an ordinary end too: a child in the background may have been left
            _end_group(process)
            tails.drain()
            GUARDIAN.release(process.pid)
            process.wait()
        return process.returncode, tails.of(process.stdout), tails.of(process.stderr), tails.cut


def placeholders(word: str) -> set[str]:
    """The names in {braces}; BadInput for a single brace."""
    names = set()
    for part in PART.finditer(word):
        if part[0] in "{}":
            raise BadInput(f"command: {word!r:.80} came; a single brace is written {{{{ or }}}}, a parameter {{name}}")
        if part[1] is not None:
            names.add(part[1])
    return names


def filled(word: str, params: Mapping[str, Any]) -> str:
    """An argument with the parameters in their places; numbers by repr, so that they come back exactly."""

    def replacement(part: re.Match[str]) -> str:
        return part[0][0] if part[1] is None else str(params[part[1]])

    return PART.sub(replacement, word)


class _Tails:
    """The last bytes of a process's two outputs, read as they come so that the process never waits and memory stays small."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._selector = selectors.DefaultSelector()
        self._tails: dict[IO[bytes] | None, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
        self._first, self.cut = process.stdout, False
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ)

    def of(self, pipe: IO[bytes] | None) -> bytes:
        """The last bytes of one output."""
        return bytes(self._tails[pipe])

    def read(self, seconds: float) -> bool:
        """Take what there is, waiting up to so many seconds; whether there was anything."""
        if not self._selector.get_map():
            time.sleep(seconds / 10)
            return False
        ready = self._selector.select(seconds)
        for entry, _ in ready:
            pipe: Any = entry.fileobj
            chunk = os.read(pipe.fileno(), KEPT)
            if not chunk:
                self._selector.unregister(pipe)
            tail = self._tails[pipe]
            tail += chunk
            if len(tail) > KEPT:
                del tail[:-KEPT]
                self.cut = self.cut or pipe is self._first
        return bool(ready)

    def drain(self) -> None:
        """Take what is left in the pipes and close them; a process that escaped and goes on writing is not waited for."""
        until = time.monotonic() + GRACE
        while self._selector.get_map() and self.read(0) and time.monotonic() < until:
            pass
        self._selector.close()
        for pipe in self._tails:
            if pipe is not None:
                pipe.close()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has ended. It is left unreaped, so that its number cannot come to belong to another group."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End all processes of the group: with SIGTERM while the command itself runs, after some grace with SIGKILL."""
    try:
        if not _has_ended(process):
            _signal_group(process, signal.SIGTERM)
            until = time.monotonic() + GRACE
            while not _has_ended(process) and time.monotonic() < until:
                time.sleep(TICK / 10)
    finally:  # even if a second Ctrl-C comes meanwhile
        _signal_group(process, signal.SIGKILL)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left
        os.killpg(process.pid, number)
