"""A small study for the tests: the least value of Branin's function."""

from collections import Counter

import numpy as np

from satisfice import find
from satisfice.study.proposal import CANCELLED

SPACE = {"x": (-5.0, 10.0), "y": (0.0, 15.0)}


def branin(params):
    a, b = params["x"], params["y"]
    return (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def least_branin(**more):
    """A search for the least value of Branin's function, noise-free."""
    return find(branin, **{"space": SPACE, "target": 0.6, "direction": "minimize", "noise": 0, "seed": 1, **more})


def settings_of(answer):
    """The parameters that were evaluated, in order."""
    return [trial.params for trial in answer.study.trials if CANCELLED not in trial.system_attrs]


def states_of(answer):
    return Counter(trial.state.name for trial in answer.study.trials)
