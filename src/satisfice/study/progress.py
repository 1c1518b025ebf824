"""How a search is getting on, on stderr."""

import sys
import time
from types import TracebackType
from typing import Literal, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from satisfice.plaintext import plain
from satisfice.search.answer import Answer
from satisfice.study.config import StudyConfig

STYLES = {"good": "green", "none": "yellow", "unlikely": "yellow", "open": "cyan"}
HALF = 0.5  # a requirement that is likelier met than that counts as met
PAUSE = 60.0  # seconds between two lines of a log


class Progress:
    """A bar in a terminal, a line that is overwritten in a notebook, elsewhere a line at most once a minute.

    Parameters
    ----------
    wanted
        True for the bar everywhere, False for nothing anywhere; None or "log" as above.
    config
        The budget and the target of the search.
    """

    def __init__(self, wanted: bool | Literal["log"] | None, config: StudyConfig) -> None:
        self._budget = config.budget or 0
        self._target = "" if config.specification is not None else f"target {config.threshold:.6g}"
        console = Console(stderr=True)
        self._notebook = console.is_jupyter and wanted is not False
        self._bar: Bar | None = None
        self._task = TaskID(0)
        if not self._notebook and wanted is not False and (console.is_terminal or wanted is True):
            columns = (
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
            )
            self._bar = Bar(*columns, console=console)
            self._task = self._bar.add_task("", total=self._budget)
        self._logs = wanted is not False and self._bar is None and not self._notebook
        self._next = time.monotonic() + PAUSE
        self._failed = False  # whether a failure was shown

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._notebook:
            sys.stderr.write("\n")

    def fail(self, reason: str, trace: str) -> None:
        """Show the first failure in full."""
        if self._failed or not (self._bar is not None or self._notebook or self._logs):
            return
        self._failed = True
        text = plain(f"satisfice: an evaluation failed: {reason}\n{trace}".rstrip(), keep="\n\t")
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def show(self, answer: Answer) -> None:
        """Show what is known now."""
        done = answer.evaluations + answer.failures
        said = [] if answer.value is None else [f"best {answer.value:.6g}"]
        if len(answer.requirements) > 1:
            met = sum((each.probability or 0.0) > HALF for each in answer.requirements)
            said.append(f"best meets {met} of {len(answer.requirements)}")
        said += [self._target] if self._target else []
        if answer.hope is not None and answer.verdict != "good":
            said.append(f"hope {answer.hope:.2f}")
        if answer.preference is not None:
            said.append(f"{answer.preference.kind} {answer.preference.cost:.6g}")
        if self._bar is not None:
            text = ", ".join(said) + f", [{STYLES[answer.verdict]}]{answer.verdict}[/]"
            self._bar.update(self._task, completed=min(done, self._budget), description=text)
        line = f"{done}/{self._budget} evaluations, {', '.join(said)}, {answer.verdict}"
        if self._notebook:
            sys.stderr.write(f"\r{line}    ")
            sys.stderr.flush()
        if self._logs and time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE
            sys.stderr.write(f"satisfice: {line}\n")
            sys.stderr.flush()
