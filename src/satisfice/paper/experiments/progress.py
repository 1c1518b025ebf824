"""How far a run of many tasks is: a bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINES = 10  # from the first task to the last, where there is no terminal


@contextmanager
def progress(title: str, total: int, completed: int = 0) -> Iterator[Callable[[], None]]:
    """Show on stderr how many of `total` tasks are done; call what is yielded after each."""
    console = Console(stderr=True)
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as bar:
            task = bar.add_task(title, total=total, completed=completed)
            yield lambda: bar.advance(task)
        return
    start, done = monotonic(), completed

    def advance() -> None:
        nonlocal done
        done += 1
        if LINES * done // total > LINES * (done - 1) // total:
            said = f"{title}: {done} of {total} runs, {monotonic() - start:.0f} s"
            console.print(said, highlight=False, soft_wrap=True, markup=False)

    yield advance
