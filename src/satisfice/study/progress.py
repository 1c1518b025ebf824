"""How a search is getting on, in one line on stderr."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from satisfice.search.answer import Answer

STYLES = {"good": "green", "none": "yellow", "unlikely": "yellow", "open": "cyan"}


class Progress:
    """A bar in a terminal, a line that is written over in a notebook, nothing elsewhere (`wanted` True or False decides)."""

    def __init__(self, wanted: bool | None, budget: int, target: float) -> None:
        self._budget, self._target = budget, target
        console = Console(stderr=True)
        self._line = console.is_jupyter and wanted is not False
        self._bar: Bar | None = None
        self._task = TaskID(0)
        if not self._line and (console.is_terminal if wanted is None else wanted):
            columns = (
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
            )
            self._bar = Bar(*columns, console=console)
            self._task = self._bar.add_task("", total=budget)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._line:
            sys.stderr.write("\n")

    def show(self, answer: Answer) -> None:
        """Show what is known now."""
        done = answer.evaluations + answer.failures
        said = [] if answer.value is None else [f"best {answer.value:.6g}"]
        said.append(f"target {self._target:.6g}")
        if answer.hope is not None and answer.verdict != "good":
            said.append(f"hope {answer.hope:.2f}")
        if self._bar is not None:
            text = ", ".join(said) + f", [{STYLES[answer.verdict]}]{answer.verdict}[/]"
            self._bar.update(self._task, completed=min(done, self._budget), description=text)
        if self._line:
            sys.stderr.write(f"\r{done}/{self._budget} evaluations, {', '.join(said)}, {answer.verdict}    ")
            sys.stderr.flush()
