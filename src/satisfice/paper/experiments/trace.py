"""One run of a search on a function whose true values are known: what is kept of it."""

from collections.abc import Callable, Iterable
from typing import Any

from numpy.random import Generator

from satisfice.paper.experiments.records import Record
from satisfice.types import Array


def trace(
    search: Any,
    value: Callable[[Array], float],
    starts: Iterable[Array],
    *,
    budget: int,
    stop: float | None,
    noise: float,
    rng: Generator,
) -> Record:
    """When the best true value rose and to what; under noise, the true value of the recommended point.

    Both are lists of (evaluation, value) at each change. The search is told the starting points, then it is asked; the run is
    over when a true value reaches `stop`, or after `budget` evaluations. `noise` is the standard deviation of what `rng` adds.
    """
    truths: list[float] = []
    rises: list[tuple[int, float]] = []
    recommended: list[tuple[int, float]] = []
    given = iter(starts)
    while len(truths) < budget:
        x = next(given, None)
        x = search.ask() if x is None else x
        truths.append(value(x))
        search.tell(x, truths[-1] + noise * rng.standard_normal())
        if not rises or truths[-1] > rises[-1][1]:
            rises.append((len(truths), truths[-1]))
        if noise:
            truth = truths[search.recommended()]
            if not recommended or truth != recommended[-1][1]:
                recommended.append((len(truths), truth))
        if stop is not None and rises[-1][1] >= stop:
            break
    return {"evaluations": len(truths), "rises": _rounded(rises), "recommended": _rounded(recommended)}


def _rounded(changes: list[tuple[int, float]]) -> list[list[float]]:
    """To eight digits: more than any target needs, and a small file."""
    return [[t, float(f"{value:.8g}")] for t, value in changes]
