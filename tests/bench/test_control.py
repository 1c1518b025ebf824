"""The bench of control tasks: its tables are right, its policies can meet their targets, and what `find` calls good is good."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import control

RECORDS = [
    {"task": "CartPole-v1", "method": "find", "seed": 0, "verdict": "good", "spent": 90, "mean": 490.0, "target": 475.0,
     "says": "confidence 0.95 by 9 fresh evaluations of it"},
    {"task": "CartPole-v1", "method": "find", "seed": 1, "verdict": "open", "spent": 200, "mean": 400.0, "target": 475.0,
     "says": "None"},
    {"task": "CartPole-v1", "method": "TPE", "seed": 0, "verdict": "good", "spent": 9, "mean": 300.0, "target": 475.0},
]  # fmt: skip


def test_a_row_counts_what_was_said_and_what_is_true():
    lines = control.table(RECORDS).splitlines()
    assert "| CartPole-v1 (475) | find | 2 | 1 | 1 of 1 (3% to 100%) | 490 | 145 |" in lines
    assert "| CartPole-v1 (475) | TPE | 1 | 1 | 0 of 1 (0% to 98%) | 300 | 9 |" in lines
    assert "| all | find | 2 | 1 | 1 of 1 (3% to 100%) |  |  |" in lines


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("CartPole-v1", [0.1, 0.2, 0.8, 0.6]),
        ("Acrobot-v1", [0, 0, 0, 0, 0.2, -0.8, 0, 0, 0, 0, -0.2, 0.8]),
        ("MountainCarContinuous-v0", [0.0, 0.0, 1.0]),
    ],
)
def test_a_linear_policy_meets_the_target(name, weights):
    pytest.importorskip("gymnasium")
    task = control.TASKS[name]
    assert len(weights) == task.weights
    returns = [control.episode(task, np.array(weights), seed) for seed in range(5)]
    assert returns == [control.episode(task, np.array(weights), seed) for seed in range(5)]
    assert np.mean(returns) >= task.target


@pytest.mark.slow
@pytest.mark.parametrize("name", control.TASKS)
def test_what_find_calls_good_is_good(name):
    """At a confidence of 95 %, two of three false ones are expected in less than one case of a hundred."""
    pytest.importorskip("gymnasium")
    found = [control.run(control.TASKS[name], "find", seed) for seed in range(20, 23)]
    assert sum(r["verdict"] == "good" and r["mean"] < r["target"] - 2 * r["error"] for r in found) <= 1
    assert all(r["verdict"] in ("good", "open") for r in found)  # good policies exist, and are no needles
