"""Eight workers, each in its own process, search for one good setting in one study.

    python examples/workers.py --storage postgresql://user@host/database --workers 8
    python examples/workers.py --storage study.db

Run it with the same storage on several machines, and all of them work on the same study. When one worker finds a good
setting, all of them stop.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from satisfice import find

SPACE = {"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["plain", "careful"]}
TARGET = 0.9


def score(params: dict[str, Any]) -> float:
    """The score of a training: best at a rate of 0.01, a depth of 7 and with the careful solver."""
    time.sleep(0.2)  # a real one takes longer
    far = (params["rate"] ** 0.25 - 0.316) ** 2 * 4 + (params["depth"] - 7) ** 2 / 50
    return float(1.0 - far - 0.2 * (params["solver"] == "plain"))


def work(storage: str, name: str, budget: int) -> tuple[int, str, str]:
    """Run one worker, and return its process, its verdict and its answer as text."""
    answer = find(score, SPACE, TARGET, noise=0, budget=budget, storage=storage, name=name, progress=False)
    return os.getpid(), answer.verdict, str(answer)


def main() -> None:
    """Start the workers and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--storage", default="workers.db", help="a database's URL or the path of a file (default: workers.db)"
    )
    parser.add_argument("--name", default="workers", help="the study's name (default: workers)")
    parser.add_argument("--workers", type=int, default=8, help="how many processes (default: 8)")
    parser.add_argument("--budget", type=int, default=200, help="evaluations of all workers together (default: 200)")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        workers = [pool.submit(work, given.storage, given.name, given.budget) for _ in range(given.workers)]
        answers = [worker.result() for worker in workers]
    print(f"{len(answers)} workers in {len({process for process, _, _ in answers})} processes: ", end="")
    print(", ".join(verdict for _, verdict, _ in answers))
    print(
        find(score, SPACE, TARGET, noise=0, budget=given.budget, storage=given.storage, name=given.name, progress=False)
    )


if __name__ == "__main__":
    main()
