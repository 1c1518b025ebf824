"""Ctrl-C, and requests to end, are held back while a study is being written, so that they never leave a trial half-way."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

REQUESTS = (signal.SIGTERM, signal.SIGHUP)  # to end; the second comes when the terminal is closed


class Ending:
    """Within it a request to end raises KeyboardInterrupt, as Ctrl-C does; `number` is the signal that came.

    A signal that is ignored when it is entered stays ignored, as `nohup` wants it. Whether Ctrl-C is ignored makes no difference:
    a shell starts background jobs so.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in REQUESTS:
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal; only the first one counts, for by then everything is being ended."""
        if self.number is None:
            self.number = number
            raise KeyboardInterrupt


class Interrupts:
    """Ctrl-C raises KeyboardInterrupt where that is allowed; elsewhere it waits for such a place, unless it comes twice.

    The same holds for a request to end within an `Ending`. It leaves signals alone that other code handles, and does nothing in
    threads other than the main one.
    """

    def __init__(self) -> None:
        self._open = False
        self._due: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *REQUESTS):
                handler = signal.getsignal(number)
                if handler is signal.default_int_handler or isinstance(handler, Ending):
                    self._before[number] = signal.signal(number, self._come)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None:
            self._raise_if_due()

    def _come(self, number: int, frame: FrameType | None) -> None:
        now = self._open or self._due is not None
        self._open, self._due = False, number
        if now:
            self._raise_if_due()

    def _raise_if_due(self) -> None:
        due, self._due = self._due, None
        if due is not None:
            self._before[due](due, None)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Within this context, in the main thread, Ctrl-C takes effect at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._open = True  # before looking whether one is due: none can slip through in between
        try:
            self._raise_if_due()
            yield
        finally:
            self._open = False
