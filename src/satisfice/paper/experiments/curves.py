"""From records to curves: success fractions and simple regrets over the evaluations."""

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.spec import READS_TARGET, Panel
from satisfice.types import Array


def record_file(out: Path, variant: str, problem: str) -> Path:
    """Where the runs of a variant on a problem are kept."""
    return out / "records" / variant / f"{problem}.jsonl"


def _read(path: Path) -> tuple[Record, ...]:
    """The records of a file; that of the last time, as long as nobody has written to it."""
    if not path.exists():
        return ()
    state = path.stat()
    return _unchanged(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)  # the panels on a problem share a file, and the page shows every variant again and again
def _unchanged(path: Path, size: int, changed: int) -> tuple[Record, ...]:
    return tuple(Records(path))


def load(out: Path, variant: str, panel: Panel) -> dict[str, list[Record]]:
    """The records that belong to a panel, by rule; within a rule in the order of trial and experiment."""
    found: dict[str, list[Record]] = defaultdict(list)
    rules = panel.rules_as(variant)
    for record in _read(record_file(out, variant, panel.problem)):
        if record["rule"] in rules and record["noise"] == panel.noise and record["budget"] == panel.budget:
            reads = record["rule"] in READS_TARGET
            if not reads or abs(record["target"] - panel.target) <= 1e-6 * (1 + abs(panel.target)):
                found[record["rule"]].append(record)
    return {rule: sorted(found[rule], key=lambda r: (r["trial"], r["experiment"])) for rule in rules if rule in found}


def over_time(changes: Iterable[Iterable[float]], budget: int) -> Array:
    """The value after each of the evaluations 1..budget (budget,), from its changes; NaN before the first."""
    values = np.full(budget, np.nan)
    for t, value in changes:
        values[int(t) - 1 :] = value
    return values


def success(record: Record, panel: Panel) -> Array:
    """Whether the run has succeeded at each evaluation (budget,): a good action was found, or under noise is recommended."""
    changes = record["recommended"] if panel.noise else record["rises"]
    return (over_time(changes, panel.budget) >= panel.target).astype(np.float64)


def simple_regret(record: Record, panel: Panel, maximum: float) -> Array:
    """f* less the best true value so far, at each evaluation (budget,)."""
    return maximum - over_time(record["rises"], panel.budget)


def by_trial(records: list[Record], curves: list[Array]) -> Array:
    """The mean curve of each trial (trials, budget)."""
    trials = sorted({record["trial"] for record in records})
    grouped = {trial: [c for r, c in zip(records, curves, strict=True) if r["trial"] == trial] for trial in trials}
    return np.array([np.mean(grouped[trial], axis=0) for trial in trials])


def success_by_trial(records: list[Record], panel: Panel) -> Array:
    """The success fraction of each trial at each evaluation (trials, budget)."""
    return by_trial(records, [success(record, panel) for record in records])
