"""How a gate is getting on, on stderr."""

import sys
import time
from typing import Any

from satisfice.study.progress import PAUSE, Progress

STYLES = {"good": "green", "bad": "yellow", "open": "cyan"}


class GateProgress(Progress):
    """As `Progress`, for a gate."""

    def __init__(self, wanted: Any, config: Any) -> None:
        super().__init__(wanted, config)
        self._shown = f"{config.target}"

    def show(self, answer: Any) -> None:
        """Show what is known now."""
        done = answer.evaluations + answer.failures
        values = [f"{each.value:.6g}" for each in answer.requirements if each.value is not None]
        said = ", ".join([*values, self._shown])
        if self._bar is not None:
            text = f"{said}, [{STYLES[answer.verdict]}]{answer.verdict}[/]"
            self._bar.update(self._task, completed=min(done, self._budget), description=text)
        line = f"{done}/{self._budget} runs, {said}, {answer.verdict}"
        if self._notebook:
            sys.stderr.write(f"\r{line}    ")
            sys.stderr.flush()
        if self._logs and time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            sys.stderr.write(f"satisfice: {line}\n")
            sys.stderr.flush()
