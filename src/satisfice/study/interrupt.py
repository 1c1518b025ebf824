"""Ctrl-C is held back while a study is being written, so that it never leaves a trial half-way."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Ctrl-C raises KeyboardInterrupt where that is allowed; elsewhere it waits for such a place, unless it comes twice.

    It stands aside where Python does not handle Ctrl-C itself, and in all threads but the main one.
    """

    def __init__(self) -> None:
        self._open = False
        self._due = False
        self._before: Any = None

    def __enter__(self) -> Self:
        handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if handled and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._come)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._due and kind is None:
            raise KeyboardInterrupt

    def _come(self, number: int, frame: FrameType | None) -> None:
        now = self._open or self._due
        self._open, self._due = False, not now
        if now:
            raise KeyboardInterrupt

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Within this context, in the main thread, Ctrl-C takes effect at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self._open = True  # before looking whether one is due: none can slip through in between
        try:
            if self._due:
                self._due = False
                raise KeyboardInterrupt
            yield
        finally:
            self._open = False
