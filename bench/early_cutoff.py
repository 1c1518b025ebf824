"""Decide whether a peer is the best on a problem, in as little time as possible: `bench/evaluations.py --settle`.

A peer's missing runs advance side by side, one evaluation each in turn. They are cut off once the peer cannot have the best mean on the
problem, even if every run ended at its next evaluation. A run that was cut off counts as the evaluations it had, which favours the peer.
The late steps, which take longest, are therefore only run where they decide something.
"""

import random
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from eval_peers import BUDGET, CONTESTANTS, OURS
from eval_problems import PROBLEMS
from eval_runs import LEAST, best_peer, by_problem, can_be_best, enough, ratio
from evaluations import Step, as_record, broken, course, load, quiet
from faster_peers import hasten
from rich.console import Console
from rich.progress import track

from satisfice.blas import one_blas_thread
from satisfice.extras import load_extra
from satisfice.paper.experiments.records import Record, Records


def settle(problem: str, contestant: str, contestants: dict[str, dict[int, int]]) -> list[Record]:
    """The missing runs of `contestant`, given the counts of all contestants; those that were cut off are marked."""
    hasten(contestant)
    known = contestants.get(contestant, {})
    missing = [seed for seed in range(enough(contestant)) if seed not in known]
    records: dict[int, Record] = {}  # of finished runs
    last: dict[int, Step] = {}
    with quiet(), one_blas_thread(), ExitStack() as stack:
        steps = {
            s: stack.enter_context(closing(course(PROBLEMS[problem], CONTESTANTS[contestant], s))) for s in missing
        }
        states = dict.fromkeys(missing, _randomness())
        for count in range(1, BUDGET + 1):
            for seed in [s for s in missing if s not in records]:
                _restore_randomness(states[seed])
                try:
                    last[seed] = next(steps[seed])
                    if last[seed][1] or count == BUDGET:
                        records[seed] = as_record(problem, contestant, seed, last[seed])
                except Exception as error:
                    records[seed] = broken(problem, contestant, seed, error)
                states[seed] = _randomness()
            counts = known | {s: records[s]["evaluations"] if s in records else count for s in missing}
            if count >= LEAST and not can_be_best(contestants | {contestant: counts}, "auto", contestant):
                break
    return [records.get(s) or as_record(problem, contestant, s, last[s]) | {"cut": True} for s in missing]


def _randomness() -> tuple[Any, ...]:
    """The states of the process-wide generators."""
    torch = sys.modules.get("torch")
    return random.getstate(), np.random.get_state(), torch.get_rng_state() if torch else None  # noqa: NPY002 - theirs


def _restore_randomness(state: tuple[Any, ...]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002
    if state[2] is not None:
        sys.modules["torch"].set_rng_state(state[2])


def _behind(contestants: dict[str, dict[int, int]], peer: str) -> float:
    """The ratio of this peer's evaluations to those of the best peer, by the runs so far; 0 if there are none."""
    best = best_peer(contestants, "auto")
    if best is None or peer not in contestants:
        return 0.0
    return ratio(contestants["auto"], contestants[best])[0] / ratio(contestants["auto"], contestants[peer])[0]


def _settle_pair(problem: str, contestant: str, folder: Path, packed: Path) -> list[Record]:
    return settle(problem, contestant, by_problem(load(folder, packed)).get(problem, {}))


def settle_all(contestants: list[str], problems: list[str], folder: Path, packed: Path, jobs: int) -> None:
    """Settle every peer on every problem, the most promising first, and append the records of each pair once it is settled."""
    runs = by_problem(load(folder, packed))
    pairs = [
        (p, c) for p in problems for c in contestants if c not in OURS and len(runs.get(p, {}).get(c, {})) < enough(c)
    ]
    pairs.sort(key=lambda pair: _behind(runs.get(pair[0], {}), pair[1]))
    joblib = load_extra("joblib", "experiments")
    calls = (joblib.delayed(_settle_pair)(*pair, folder, packed) for pair in pairs)
    parallel = joblib.Parallel(n_jobs=jobs, pre_dispatch=jobs, return_as="generator_unordered")
    for records in track(parallel(calls), "settled", len(pairs), console=Console(stderr=True)):
        for record in records:
            Records(folder / f"{record['contestant']}.jsonl").append(record)
