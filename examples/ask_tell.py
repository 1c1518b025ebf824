"""Ask and tell: evaluations happen elsewhere, here in a pool of three slow threads, and some of them crash.

    python examples/ask_tell.py

`ask(pending=...)` keeps away from running evaluations, `tell` reports a value, and `fail` reports that there is none.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from satisfice import Box, Search
from satisfice.types import Array

BOX = Box([(-5.0, 10.0), (0.0, 15.0)])
TARGET = -0.2


def evaluate(x: Array) -> float:
    """The value at x, highest at (1, 2), after a while. It crashes in one corner."""
    time.sleep(0.05)
    if x.sum() > 15:
        raise ArithmeticError("no convergence")
    return float(-((x[0] - 1) ** 2) - (x[1] - 2) ** 2)


def main() -> None:
    """Keep three evaluations running until the search has its answer."""
    search = Search(BOX, TARGET, noise=0, seed=3)
    running: dict[Future[float], Array] = {}
    with ThreadPoolExecutor(3) as pool:
        while search.answer().verdict == "open":
            while len(running) < 3:
                x = search.ask(pending=list(running.values()))
                running[pool.submit(evaluate, x)] = x
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                x = running.pop(done)
                if done.exception() is None:
                    search.tell(x, done.result())
                else:
                    search.fail(x)
    print(search.answer())


if __name__ == "__main__":
    main()
