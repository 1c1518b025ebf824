"""Searches in processes of their own, which tests start, stop and kill."""

import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import nursery
from satisfice.gp.models import MODELS

BLIND = replace(
    MODELS["auto"](), starting_points=10**6
)  # without a model there is no verdict but good: budgets are spent
BEGIN = """
import json, os, random, signal, sys, time
from dataclasses import replace
from satisfice import find
from satisfice.gp.models import MODELS
from satisfice.study.workers import loop as workers

BLIND = replace(MODELS["auto"](), starting_points=10**6)
SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
where = sys.argv[1]
"""


def start(script: str, *words: object, env: Mapping[str, str] | None = None) -> nursery.Forked | subprocess.Popen[str]:
    """A process that runs the script after the beginning above; its first argument is the storage.

    An environment of its own, such as another clock, must be there from the start: such a process is not forked.
    """
    script = BEGIN + textwrap.dedent(script)
    if env is None:
        return nursery.fork(script, *words)
    command = [sys.executable, "-W", "error", "-c", script, *map(str, words)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, text=True, env=dict(env), **pipes)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, zombies not counted."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true: Callable[[], object], seconds: float = 10.0) -> bool:
    """Whether it becomes true within so many seconds."""
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.02)
    return bool(true())
