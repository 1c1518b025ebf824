"""What tests start and need to be ready, a server or a browser: tried a few times, and if it fails, what failed is said."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class NotStarted(Exception):
    """All attempts failed; the message has what each of them met."""


def started(what: str, start: Callable[[], T], attempts: int = 3, pause: float = 1.0) -> T:
    """What `start` returns; after an error it is called again, at most `attempts` times in all, with a pause between.

    `start` returns only what is ready for use, and leaves nothing running when it raises.
    """
    problems: list[Exception] = []
    while len(problems) < attempts:
        if problems:
            time.sleep(pause)
        try:
            return start()
        except Exception as problem:
            problems.append(problem)
    told = "\n".join(f"{n}. {type(each).__name__}: {each}" for n, each in enumerate(problems, 1))
    raise NotStarted(f"{what} did not start in {attempts} attempts:\n{told}") from problems[-1]
