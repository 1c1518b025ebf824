"""What the fault tests share: workers in processes of their own, and a look at what they left."""

import subprocess
import textwrap
import time
from collections.abc import Mapping
from pathlib import Path

import optuna
from optuna.trial import TrialState

import nursery
import processes
from satisfice.study.workers.lease import MISSED, reclaim
from satisfice.study.workers.storage import open_study

PERIOD = 0.5  # seconds between two signs of life in these tests
LEASE = MISSED * PERIOD  # after so many seconds without one a worker is dead
BEGIN = f"""
from multiprocessing import get_context
workers.PERIOD = {PERIOD}
context = get_context("fork")
def noting(path):
    # a callback is called when the value is stored: what it notes is acknowledged
    note = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    def callback(study, trial):
        if trial.value is not None:
            os.write(note, f"{{trial.number}} {{trial.value!r}}\\n".encode())
    return callback
def search(told, budget=10**6, objective=lambda params: params["x"], **more):
    more = {{"target": 2.0, "noise": 0, "storage": where, "name": "n", "model": BLIND, "progress": False, **more}}
    return find(objective, SPACE, budget=budget, callbacks=[noting(told)], **more)
"""


def start(script: str, *words: object, env: Mapping[str, str] | None = None) -> nursery.Forked | subprocess.Popen[str]:
    """A process that runs the script after the beginning above; its first argument is the storage."""
    return processes.start(BEGIN + textwrap.dedent(script), *words, env=env)


def run(script: str, *words: object, timeout: float = 600, env: Mapping[str, str] | None = None) -> str:
    """What the script printed; it must end well and say nothing on stderr."""
    process = start(script, *words, env=env)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, ""), (process.returncode, out, err)
    return out


def trials_of(where: str, name: str = "n") -> list[optuna.trial.FrozenTrial]:
    """All trials of a study."""
    return open_study(name, where, direction="maximize").get_trials()


def lost_of(told: Path, trials: list[optuna.trial.FrozenTrial]) -> tuple[int, int]:
    """How many values were acknowledged, and how many of them are not stored as they were."""
    stored = {trial.number: trial.value for trial in trials}
    lines = [line.split() for line in told.read_text().splitlines()]
    return len(lines), sum(stored.get(int(number)) != float(value) for number, value in lines)


def running_of(trials: list[optuna.trial.FrozenTrial]) -> int:
    """How many trials are still called running."""
    return sum(trial.state == TrialState.RUNNING for trial in trials)


def seconds_until_quiet(where: str, name: str = "n") -> float:
    """How long after reopening the last trial of a dead worker is given up; it may take twice the lease."""
    study, seen = open_study(name, where, direction="maximize"), {}
    begun = time.monotonic()
    while running_of(study.get_trials()) and time.monotonic() < begun + 10 * LEASE:
        reclaim(study, seen)
        time.sleep(PERIOD / 4)
    return time.monotonic() - begun
