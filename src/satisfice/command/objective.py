"""The user's command as an objective: the parameters are filled in, it runs without a shell and prints its value."""

import os
import re
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from satisfice.command.value import CommandFailed, PrintedValue, last_words, read_value, read_values
from satisfice.command.watchdog import WATCHDOG, signalled
from satisfice.errors import BadInput

KEPT = 65_536  # bytes kept of each output, the last ones
TICK = 0.1  # seconds between checks whether the command has ended or must stop
GRACE = 2.0  # seconds that processes get to terminate before they are killed
PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass
class CommandObjective:
    """A command with placeholders, called with the parameters; returns the value or raises `CommandFailed`.

    Several threads may call it at once.

    Parameters
    ----------
    words
        The program and its arguments. `{name}` within a word stands for a parameter, `{{` and `}}` for braces.
    timeout
        Seconds that one run may take.
    key
        The entry of a JSON object on the last line that holds the value; `satisfice.command.value` says what is read without it.
    pattern
        What finds the value in the output, in place of the key.
    names
        The entries of that object that hold the values of requirements; then the objective returns a dict.
    on_first
        Called once, with the first value and the line that it was read from.
    by_exit_code
        Whether a run has the value 1 if its exit code is 0, whatever it prints; with another one it fails.
    """

    words: Sequence[str]
    timeout: float | None = None
    key: str | None = None
    pattern: re.Pattern[str] | None = None
    on_first: Callable[[PrintedValue], None] | None = None
    names: Sequence[str] = ()
    by_exit_code: bool = False
    running: int = 0  # runs in progress
    _stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def check(self, names: Iterable[str]) -> None:
        """Raise `BadInput` unless the program exists and the command uses exactly these parameters.

        Parameters
        ----------
        names
            The names of the parameters.
        """
        if not self.words:
            raise BadInput("The command is missing; write it after --, such as: -- python train.py --rate {rate}")
        wanted = list(names)
        used = {name for word in self.words for name in placeholders(word)}
        if missing := [name for name in wanted if name not in used]:
            raise BadInput(
                f"The command does not use the parameter {missing[0]!r}; write {{{missing[0]}}} where it belongs."
            )
        if unknown := used - set(wanted):
            raise BadInput(
                f"The command contains {{{min(unknown)}}}, which is not a parameter; the parameters are {', '.join(wanted)}. "
                "Write {{ and }} for braces."
            )
        if not placeholders(self.words[0]) and shutil.which(filled(self.words[0], {})) is None:
            raise BadInput(f"There is no program {self.words[0]!r}; check its name and your PATH.")

    def __call__(self, params: Mapping[str, Any]) -> float | dict[str, Any]:
        """Return the value, or the values of the requirements, that the command prints for these parameters."""
        return self.run(params, lambda: None)

    def run(self, params: Mapping[str, Any], look: Callable[[], None]) -> float | dict[str, Any]:
        """Return the value, and call `look` about ten times a second; what it raises ends the run.

        Parameters
        ----------
        params
            The parameters by name.
        look
            The function.

        Returns
        -------
        float or dict
            The value, or the values of the requirements.
        """
        with self._lock:
            self.running += 1
        try:
            code, out, err, cut = self._run([filled(word, params) for word in self.words], look)
        finally:
            with self._lock:
                self.running -= 1
        if code != 0:
            ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            raise CommandFailed(f"{ended}{last_words(err or out)}", _tail(err or out))
        if self.by_exit_code:
            return 1.0
        printed = read_values(out, self.names, cut) if self.names else read_value(out, self.key, cut, self.pattern)
        with self._lock:
            tell, self.on_first = self.on_first, None
        if tell is not None:
            tell(printed)
        return printed.value

    def stop(self) -> None:
        """Stop all runs, present and future; each raises `KeyboardInterrupt` where it was called."""
        self._stopped = True

    def _run(self, words: list[str], look: Callable[[], None]) -> tuple[int, bytes, bytes, bool]:
        """Run it; return the exit code, the ends of both outputs, and whether the standard output was cut."""
        if self._stopped:
            raise KeyboardInterrupt
        WATCHDOG.start()
        try:
            process = subprocess.Popen(  # noqa: S603  a list of arguments, no shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:  # ValueError: a NUL within an argument
            raise CommandFailed(f"could not be started: {problem}") from None
        WATCHDOG.watch(process.pid)
        tails = _Tails(process)
        until = None if self.timeout is None else time.monotonic() + self.timeout
        try:
            while not _has_ended(process):
                tails.read(TICK)
                look()
                if self._stopped:
                    raise KeyboardInterrupt
                if until is not None and time.monotonic() > until:
                    said = tails.of(process.stderr)
                    raise CommandFailed(f"took longer than {self.timeout:g} s{last_words(said)}", _tail(said))
        finally:  # also after an ordinary end: a background child may be left
            _end_group(process)
            tails.drain()
            WATCHDOG.release(process.pid)
            process.wait()
        return process.returncode, tails.of(process.stdout), tails.of(process.stderr), tails.cut


def _tail(output: bytes) -> str:
    return output.decode(errors="replace").strip()


def placeholders(word: str) -> set[str]:
    """Return the names in {braces}; raise `BadInput` for a single brace.

    Parameters
    ----------
    word
        One argument of the command.

    Returns
    -------
    set[str]
        The names.
    """
    names = set()
    for part in PART.finditer(word):
        if part[0] in "{}":
            raise BadInput(
                f"The command contains a single brace: {word!r:.80}. Write {{{{ or }}}} for it, {{name}} for a parameter."
            )
        if part[1] is not None:
            names.add(part[1])
    return names


def filled(word: str, params: Mapping[str, Any]) -> str:
    """Return a word with the parameters filled in; floats round-trip exactly.

    Parameters
    ----------
    word
        One argument of the command.
    params
        The parameters by name.

    Returns
    -------
    str
        The argument.
    """

    def replacement(part: re.Match[str]) -> str:
        return part[0][0] if part[1] is None else str(params[part[1]])

    return PART.sub(replacement, word)


class _Tails:
    """The last bytes of a process's two outputs, read as they arrive: the process never blocks and memory stays small."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._selector = selectors.DefaultSelector()
        self._tails: dict[IO[bytes] | None, bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
        self._first, self.cut = process.stdout, False
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ)

    def of(self, pipe: IO[bytes] | None) -> bytes:
        """Return the last bytes of one output."""
        return bytes(self._tails[pipe])

    def read(self, seconds: float) -> bool:
        """Read what is there, waiting up to `seconds`; return whether there was anything."""
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
        """Read what is left in the pipes and close them, without waiting for a process that escaped and keeps writing."""
        until = time.monotonic() + GRACE
        while self._selector.get_map() and self.read(0) and time.monotonic() < until:
            pass
        self._selector.close()
        for pipe in self._tails:
            if pipe is not None:
                pipe.close()


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process has ended, without reaping it: its id must not be reused for another group yet."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Terminate the group with SIGTERM while the command itself runs, then kill what is left."""
    try:
        if not _has_ended(process):
            signalled(process.pid, signal.SIGTERM)
            until = time.monotonic() + GRACE
            while not _has_ended(process) and time.monotonic() < until:
                time.sleep(TICK / 10)
    finally:  # even after a second Ctrl-C
        signalled(process.pid, signal.SIGKILL)
