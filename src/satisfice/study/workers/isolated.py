"""`Isolated`: an objective that is evaluated in processes of their own, so that a hang or a crash ends only these.

Before the search starts a thread, `find` forks a *brood process*, which has one thread and holds nothing but the objective. For
each evaluation it forks a child. A fork needs no importable function and no pickling, so lambdas, functions of notebooks and data
that are loaded already all work; and from a process with one thread it is safe, whatever locks the search's threads hold then.

A socket joins each evaluation with its child. Over it come the value, or the error with its traceback, and then the brood
process's word on how the child ended. Shutting the socket down, on purpose or by dying, ends the child and all that it started.
"""

import gc
import json
import math
import os
import random
import re
import resource
import select
import signal
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NoReturn, Self

import numpy as np
import optuna

from satisfice.checks import as_objective
from satisfice.domain.parameters import native
from satisfice.errors import BadInput, BadValue, EvaluationFailed, WrongType
from satisfice.study.values import sendable
from satisfice.study.workers.traces import reason_of, trace_of

TICK = 0.1  # seconds between two looks whether the evaluation is still wanted
GRACE = 1.0  # seconds between SIGTERM and SIGKILL
PATIENCE = 5.0  # seconds to wait for word that a child has ended
ENOUGH = 1 << 20  # bytes of a message
SHOWN = 500  # characters of a reason
LAST = re.compile(rb'\n\{"ended": [0-9]+\}\n\Z')  # the word of the brood process
SEEDED = (np.random.Generator, np.random.RandomState, random.Random)
FIRST_TO_GO = b"1000"  # what Linux is told of a child: if memory runs out, end this one and not the search


class Isolated:
    """An objective of which each evaluation has a process of its own. Several threads may call it at once.

    Parameters
    ----------
    objective
        What is evaluated.
    seconds
        How long one evaluation may take; infinity for as long as it likes.
    memory
        How many bytes one evaluation may allocate; None for as many as there are.
    """

    def __init__(self, objective: Callable[[Any], object], seconds: float, memory: float | None = None) -> None:
        if not hasattr(os, "fork"):
            raise BadInput("`each` must be None on this system, which cannot fork a process; got a number of seconds.")
        self._objective, self._seconds, self._memory = objective, seconds, memory
        self._turn = threading.Lock()  # to speak to the brood process

    def __enter__(self) -> Self:
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()  # or the children would write it again
        self._brood, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with (
            warnings.catch_warnings()
        ):  # Python warns of threads, but the brood process uses nothing that they may hold
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process = os.fork()
        if self._process == 0:
            try:
                self._brood.close()
                _Brood(theirs, self._objective, self._memory).run()
            finally:
                os._exit(1)
        theirs.close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._brood.close()
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)  # it ends the children first

    def __call__(self, given: Any) -> object:
        """Evaluate; raise `EvaluationFailed`, `BadValue` or `optuna.TrialPruned` if there is no value."""
        return self.run(given, lambda: None)

    def run(self, given: Any, look: Callable[[], None]) -> object:
        """Evaluate, and call `look` about ten times a second; what it raises ends the evaluation."""
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs, self._turn:
                    _send(self._brood, given, theirs)
            except OSError as problem:
                raise EvaluationFailed(f"no process could be started for the evaluation: {problem}") from None
            answer, until = _Answer(ours), time.monotonic() + self._seconds
            late = False
            try:
                while not answer.complete and not late:
                    answer.read(TICK)
                    look()
                    late = time.monotonic() > until
            finally:  # wait until the process has gone, with the memory and the files that it held
                if not answer.complete:
                    with suppress(OSError):
                        ours.shutdown(socket.SHUT_WR)
                    gone = time.monotonic() + PATIENCE
                    while not answer.complete and time.monotonic() < gone:
                        answer.read(TICK)
        return answer.value(f"took longer than {self._seconds:g} s" if late else None)


class _Answer:
    """What comes from one evaluation."""

    def __init__(self, pipe: socket.socket) -> None:
        self._pipe, self._text = pipe, bytearray()
        self.complete = False

    def read(self, seconds: float) -> None:
        """Read what comes within so many seconds."""
        if select.select([self._pipe], [], [], seconds)[0]:
            try:
                chunk = self._pipe.recv(ENOUGH)
            except OSError:
                chunk = b""
            self._text += chunk
            self.complete = not chunk or LAST.search(self._text) is not None

    def value(self, ended: str | None) -> object:
        """The value; an exception if there is none, with the reason that is known already."""
        said: dict[str, Any] = {}
        for line in self._text.split(b"\n"):
            with suppress(ValueError):  # a message of which a child was killed
                said |= json.loads(line)
        if "value" in said:
            return said["value"]
        if "error" in said:
            kinds = {"BadValue": BadValue, "WrongType": WrongType, "TrialPruned": optuna.TrialPruned}
            kind = kinds.get(said["kind"])
            raise EvaluationFailed(said["error"], said["trace"]) if kind is None else kind(said["error"])
        status = said.get("ended")
        if ended is None:
            ended = "its process ended without a word" if status is None else _in_words(status)
        raise EvaluationFailed(ended)


def _in_words(status: int) -> str:
    """How a process ended that returned nothing."""
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"the process ended with exit code {code} and returned nothing"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    why = {"SIGKILL": ", as when memory runs out", "SIGSEGV": ", a crash in compiled code"}.get(name, "")
    return f"the process was ended by {name}{why}"


class _Brood:
    """The process that forks a child for each evaluation, and ends those that nobody waits for."""

    def __init__(self, orders: socket.socket, objective: Callable[[Any], object], memory: float | None) -> None:
        self._orders, self._objective, self._memory = orders, objective, memory
        # Each child begins in the same state, so all would draw the same noise, and repeats would agree to the last digit.
        self._random = [each for each in gc.get_objects() if issubclass(type(each), SEEDED)]
        self._begun = 0  # so many children
        self._children: dict[int, socket.socket] = {}  # by their process
        self._due: dict[int, float] = {}  # when those that have been told to end are killed

    def run(self) -> NoReturn:
        """Do so until the search has ended."""
        os.setsid()  # Ctrl-C is the search's to handle
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        while True:
            poll = select.poll()
            poll.register(woken, select.POLLIN)
            poll.register(self._orders, select.POLLIN)
            mine = {pipe.fileno(): child for child, pipe in self._children.items() if child not in self._due}
            for pipe in mine:
                poll.register(pipe, select.POLLRDHUP)
            pause = min(self._due.values(), default=math.inf) - time.monotonic()
            for ready, _ in poll.poll(None if math.isinf(pause) else max(1000 * pause, 0)):
                if ready == woken:
                    os.read(woken, 1 << 16)
                elif ready == self._orders.fileno():
                    self._obey()
                elif ready in mine:
                    self._end(mine[ready])
            self._tidy()

    def _obey(self) -> None:
        given, pipes = _receive(self._orders)
        if not pipes:  # the search has ended, in whatever way
            for child in self._children:
                _signal(child, signal.SIGKILL)
                os.waitpid(child, 0)
            os._exit(0)
        pipe, self._begun = socket.socket(fileno=pipes[0]), self._begun + 1
        try:
            child = os.fork()
        except OSError as problem:
            _write(pipe, {"error": f"no process could be started: {problem}", "trace": "", "kind": ""}, {"ended": 0})
            pipe.close()
            return
        if child == 0:
            try:
                os.setsid()
                for other in (self._orders, *self._children.values()):
                    other.close()
                reseed(self._random, self._begun)
                _evaluate(self._objective, given, pipe, self._memory)
            finally:
                os._exit(0)
        self._children[child] = pipe

    def _end(self, child: int) -> None:
        _signal(child, signal.SIGTERM)
        self._due[child] = time.monotonic() + GRACE

    def _tidy(self) -> None:
        """Report the children that have ended, and kill those that do not."""
        for child in list(self._children):
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                _signal(child, signal.SIGKILL)  # what it has left behind
                _, status = os.waitpid(child, 0)
                pipe = self._children.pop(child)
                self._due.pop(child, None)
                _write(pipe, {}, {"ended": status})
                pipe.close()
            elif time.monotonic() >= self._due.get(child, math.inf):
                _signal(child, signal.SIGKILL)
                self._due[child] = math.inf  # once is enough


def _evaluate(objective: Callable[[Any], object], given: Any, pipe: socket.socket, memory: float | None) -> None:
    """Evaluate in a child, and write what comes of it."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    with suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
        file.write(FIRST_TO_GO)
    said: dict[str, Any]
    try:
        if memory is not None:
            _limit(int(memory))
        returned = objective(given)
        if isinstance(returned, Mapping):
            said = {"value": {str(name): sendable(value) for name, value in returned.items()}}
        else:
            said = {"value": as_objective(returned)}
    except BaseException as problem:
        error = str(problem) if isinstance(problem, BadValue | optuna.TrialPruned) else reason_of(problem)
        said = {"error": error, "trace": trace_of(problem), "kind": type(problem).__name__}
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    _write(pipe, said)


def _limit(memory: int) -> None:
    """Let this process allocate so many bytes more: what it shares with the search is not counted."""
    with open("/proc/self/status", encoding="ascii") as file:
        held = next(int(line.split()[1]) for line in file if line.startswith("VmData:"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = 1024 * held + memory
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def reseed(generators: Iterable[Any], number: int) -> None:
    """Give generators of random numbers another state for each number; it follows from the state that they have."""
    for each in generators:
        if isinstance(each, np.random.Generator):
            seed = np.random.SeedSequence([*map(int, each.integers(2**32, size=4)), number])
            each.bit_generator.state = type(each.bit_generator)(seed).state
        elif isinstance(each, np.random.RandomState):
            each.seed([*map(int, each.randint(2**31, size=4)), number])
        else:
            each.seed(f"{each.getrandbits(128)} {number}")
    if "torch" in sys.modules:
        torch: Any = sys.modules["torch"]
        torch.manual_seed(torch.initial_seed() + number)


def _signal(child: int, number: int) -> None:
    """Send a signal to a child and all that it has started; at its very beginning it has no group of its own yet."""
    try:
        os.killpg(child, number)
    except (ProcessLookupError, PermissionError):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(child, number)


def _write(pipe: socket.socket, *messages: Mapping[str, Any]) -> None:
    with suppress(OSError):
        pipe.sendall(b"".join(b"\n" + json.dumps(each).encode() for each in messages if each) + b"\n")


def _send(orders: socket.socket, given: Any, pipe: socket.socket) -> None:
    try:
        text = json.dumps(given, default=native).encode()
    except (TypeError, ValueError):
        raise WrongType(
            f"`space` must give texts, numbers, True, False or None where `each` is set, since they go to another process; got "
            f"{given!r:.200}."
        ) from None
    socket.send_fds(orders, [text], [pipe.fileno()])


def _receive(orders: socket.socket) -> tuple[Any, list[int]]:
    text, pipes, _, _ = socket.recv_fds(orders, ENOUGH, 1)
    return (json.loads(text) if pipes else None), pipes
