"""The benches of COCO's functions and of pruners: how runs are counted, and how ratios are made of them."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import coco
import coco_page
import pruning


class Bowl:
    """A problem as COCO has them."""

    id_function, id_instance, dimension, number_of_integer_variables = 1, 1, 2, 0
    lower_bounds, upper_bounds = np.full(2, -5.0), np.full(2, 5.0)

    def __call__(self, x):
        return float(x @ x)

    def _best_parameter(self, what):
        Path("best.txt").write_text("0.0\n0.0\n")


def test_the_targets_of_a_cell_are_a_quantile_and_a_tenth_of_its_distance_to_the_optimum():
    cell = coco.Cell("bbob", Bowl())
    # one point in a hundred has x'x <= 100 / (100 pi): the share of the disc in the square
    assert cell.targets["easy"] == pytest.approx(1 / math.pi, rel=0.3)
    assert cell.targets["hard"] == pytest.approx(0.1 * cell.targets["easy"])


def test_a_run_notes_when_each_target_is_reached_and_ends_with_the_last():
    cell = coco.Cell("bbob", Bowl())
    function = coco.Counted(cell, {"easy": 1.0, "hard": 0.1})
    assert function(np.array([3.0, 0.0])) == 9.0
    function(np.array([0.9, 0.0]))
    with pytest.raises(coco.Done):
        function(np.array([0.1, 0.0]))
    assert function.reached == {"easy": 2, "hard": 3}


@pytest.mark.parametrize("name", ["auto", "random"])
def test_contestants_run_until_the_budget_or_the_target(name):
    record = coco.run(coco.Cell("bbob", Bowl()), name)
    assert "error" not in record
    assert record["evaluations"] <= 2 * record["budget"]
    if name == "auto":
        assert record["reached"].keys() == {"easy", "hard"}


def record(contestant, function, instance, easy, hard):
    reached = {name: n for name, n in (("easy", easy), ("hard", hard)) if n is not None}
    base = {"suite": "bbob", "function": function, "dimension": 2, "instance": instance, "budget": 150}
    return {"contestant": contestant, "reached": reached, "seconds": 1.0, "evaluations": 100, **base}


RECORDS = [
    record("auto", 1, 1, 10, 20), record("auto", 1, 2, 10, None), record("auto", 2, 1, 5, 10), record("auto", 2, 2, 5, 10),
    record("tpe", 1, 1, 20, 40), record("tpe", 1, 2, 20, 90), record("tpe", 2, 1, 10, 40), record("tpe", 2, 2, 10, 40),
    record("cobyqa", 1, 1, 5, 10), record("cobyqa", 1, 2, 50, None), record("cobyqa", 2, 1, 20, 20),
]  # fmt: skip


def test_ratios_are_of_means_over_common_instances_and_a_failure_counts_as_the_budget():
    found = coco_page.counts(RECORDS)
    ratios = coco_page.log_ratios(found, "tpe")
    assert ratios[("bbob", 2, "easy"), 1] == pytest.approx(math.log(0.5))
    assert ratios[("bbob", 2, "hard"), 1] == pytest.approx(math.log((20 + 150) / (40 + 90)))
    assert coco_page.log_ratios(found, "cobyqa")[("bbob", 2, "easy"), 2] == pytest.approx(math.log(5 / 20))
    assert coco_page.log_ratios(found, "pycma") == {}


def test_the_best_peer_is_chosen_on_the_other_instances():
    ratios = coco_page.best_elsewhere(coco_page.counts(RECORDS))
    # function 1, easy: on instance 2 TPE is better (20 < 50), so instance 1 has 10 / 20; on instance 1 COBYQA is (5), so 10 / 50
    assert ratios[("bbob", 2, "easy"), 1] == pytest.approx((math.log(10 / 20) + math.log(10 / 50)) / 2)


def test_the_section_names_what_was_run():
    text = coco_page.section(RECORDS)
    assert "`bbob` in 2 dimensions, instances [1, 2]" in text
    assert "| Optuna TPE |" in text
    assert "0.5" in coco_page.summary(RECORDS)


def test_a_replay_counts_steps_and_good_runs_that_were_stopped():
    class StopsGoodOnes(pruning.optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.params["setting"] == 0

    good, bad = np.linspace(0, 1, pruning.STEPS), np.zeros(pruning.STEPS)
    curves = np.array([good, bad, good])
    for seed in range(4):
        steps, begun, stopped = pruning.replay(curves, 0.9, None, seed)
        assert (begun, stopped) == (1, 0)
        assert steps in (pruning.STEPS, 2 * pruning.STEPS)
        steps, begun, stopped = pruning.replay(curves, 0.9, StopsGoodOnes(), seed)
        assert begun - stopped == 1
