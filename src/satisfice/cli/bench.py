"""`satisfice bench`: how long a suggestion takes on this machine."""

import time
from typing import TYPE_CHECKING

from satisfice.cli.options import command

if TYPE_CHECKING:
    from satisfice.types import Array

SIZES = (25, 100, 400)
REPEATS = 3  # timed steps at each size, after an untimed one that fits the model to the whole history


@command()
def bench() -> int:
    """Time one suggestion on this machine.

    One ask and tell with 25, 100 and 400 observations, for the paper's model and the default one. Takes some seconds.

    Example
    -------
    satisfice bench
    """
    print(f"{'milliseconds a suggestion':<27}" + "".join(f"{f'n = {n}':>10}" for n in SIZES))
    for model in ("paper", "auto"):
        cells = [f"{1000 * step_time(model, n):>10.0f}" for n in SIZES]
        print(f"{f'model {model}':<27}" + "".join(cells), flush=True)
    return 0


def step_time(model: str, n: int) -> float:
    """Return the median time in seconds of one ask and tell with `n` observations in four dimensions.

    Parameters
    ----------
    model
        The name of a model, as `Search` takes it.
    n
        The number of observations.

    Returns
    -------
    float
        Seconds.
    """
    import numpy as np

    from satisfice.domain.box import Box
    from satisfice.search.search import Search

    def objective(x: "Array") -> float:
        return float(np.sin(7 * x).sum() - ((x - 0.4) ** 2).sum())

    search = Search(Box([(0, 1)] * 4), target=10.0, model=model, noise=0)
    for x in np.random.default_rng(n).random((n - 1, 4)):
        search.tell(x, objective(x))
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        x = search.ask()
        search.tell(x, objective(x))
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))
