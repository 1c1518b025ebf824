"""Searches in processes of their own, which tests start, stop and kill."""

import textwrap
from dataclasses import replace

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
from satisfice.study import workers

BLIND = replace(MODELS["auto"](), starting_points=10**6)
SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0)}
where = sys.argv[1]
"""


def start(script: str, *words: object) -> nursery.Forked:
    """A process that runs the script after the beginning above; its first argument is the storage."""
    return nursery.fork(BEGIN + textwrap.dedent(script), *words)
