"""`satisfice bench`: how long a suggestion takes on this machine."""

import argparse
import time
from typing import Any

import numpy as np
from numpy.random import default_rng

from satisfice.domain.box import Box
from satisfice.search.search import Search

SIZES = (25, 100, 400)
STEPS = 3  # are timed at each size, after one that is not: it fits the model to a history that nobody has seen before


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="time the suggestions on this machine",
        description="Time one ask and tell with 25, 100 and 400 values seen, for the paper's model and our own; some seconds.",
        epilog="example: satisfice bench",
        allow_abbrev=False,
    )
    parser.set_defaults(command=run)


def run(given: argparse.Namespace) -> int:
    """Print the table of times."""
    print(f"{'milliseconds a suggestion':<27}" + "".join(f"{f'n = {n}':>10}" for n in SIZES))
    for model in ("paper", "auto"):
        cells = [f"{1000 * step_time(model, n):>10.0f}" for n in SIZES]
        print(f"{f'model {model}':<27}" + "".join(cells), flush=True)
    return 0


def step_time(model: str, n: int) -> float:
    """The median time in seconds of one ask and tell with n values seen, in four dimensions."""
    rng = default_rng(n)
    search = Search(Box([(0, 1)] * 4), target=10.0, model=model, noise=0)
    for x in rng.random((n - 1, 4)):
        search.tell(x, _value(x))
    times = []
    for _ in range(STEPS + 1):
        start = time.perf_counter()
        x = search.ask()
        search.tell(x, _value(x))
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def _value(x: Any) -> float:
    return float(np.sin(7 * x).sum() - ((x - 0.4) ** 2).sum())
