"""A: what an objective may return or raise, and Ctrl-C, through `find` and the command line with a study in a file."""

# ruff: noqa: PT017

import inspect
import math
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from optuna.trial import TrialState
from workers import running_of, trials_of

from processes import BLIND
from satisfice import BadInput, find
from satisfice.study.proposal import ERROR

pytestmark = pytest.mark.faults
SPACE = {"x": (0.0, 1.0)}


class Raising(float):
    def __float__(self):
        raise RuntimeError("no float")


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


def generator():
    yield 1.0


async def coroutine():
    return 1.0


def thirty() -> list[object]:
    return [
        math.nan, math.inf, -math.inf, None, 1 + 2j, "abc", "1.5", b"1", "", True, [], [1, 2], {}, set(), 10**400, 1e308 * 10,
        Decimal("1.5"), Decimal("NaN"), Fraction(1, 2), np.float32(0.5), np.array(1.5), np.array([1.5]), np.ma.masked,
        np.datetime64("2020-01-01"), object(), generator(), coroutine(), pd.NA, "x" * 10_000_000, Raising(1.0), -0.0,
    ]  # fmt: skip


def test_thirty_values_end_complete_or_failed_with_a_reason(tmp_path, figures):
    values = thirty()
    queue = iter([each for value in values for each in (1.0, value)])  # more than half failures would end the search
    where = str(tmp_path / "s.db")
    find(lambda params: next(queue), SPACE, 9.0, noise=0, budget=2 * len(values), storage=where, name="n", model=BLIND)
    next(
        value for value in values if inspect.iscoroutine(value)
    ).close()  # else Python complains that nobody awaited it
    trials = trials_of(where)
    bad = trials[1::2]
    states = Counter(trial.state.name for trial in bad)
    figures |= {"values": len(values), "complete": states["COMPLETE"], "failed with a reason": states["FAIL"]}
    figures |= {"left running": running_of(trials)}
    assert len(values) >= 30
    accepted = 8  # True is a pass; "1.5", b"1", Decimal and Fraction are numbers to `float`
    assert states == {"COMPLETE": accepted, "FAIL": len(values) - accepted}
    assert all("must return a finite number" in t.system_attrs[ERROR] for t in bad if t.state == TrialState.FAIL)
    assert [trial.value for trial in trials[::2]] == [1.0] * len(values)


RAISED = [ValueError("v"), MemoryError(), RecursionError(), AssertionError(), Unspeakable()]
ENDING = [SystemExit(3), GeneratorExit(), KeyboardInterrupt()]


def test_eight_exceptions_are_recorded_and_those_that_end_a_program_go_on(tmp_path, figures):
    where, recorded, raised_again = str(tmp_path / "s.db"), 0, 0
    for problem in [*RAISED, *ENDING]:
        calls = []

        def objective(params, calls=calls, problem=problem):
            calls.append(params)
            if len(calls) == 2:
                raise problem
            return 0.5

        name = type(problem).__name__
        try:
            find(objective, SPACE, 9.0, noise=0, budget=4, storage=where, name=name, model=BLIND)
        except BaseException as came:
            assert came is problem
            raised_again += 1
        trials = trials_of(where, name)
        failed = [trial for trial in trials if trial.state == TrialState.FAIL]
        recorded += len(failed) == 1
        assert running_of(trials) == 0
        assert len(trials) == (4 if problem in RAISED else 2)
    figures |= {
        "exceptions": len(RAISED + ENDING),
        "recorded": recorded,
        "raised again": raised_again,
        "left running": 0,
    }
    assert (recorded, raised_again) == (8, 3)


INTERRUPTED = """
import sys
from dataclasses import replace
from satisfice.cli import main
from satisfice.gp.models import MODELS
auto = MODELS["auto"]
MODELS["auto"] = lambda: replace(auto(), starting_points=10**6)  # it goes on for as long as it is let
sys.exit(main())
"""


def test_fifty_times_ctrl_c_at_any_moment(tmp_path, figures):
    where, begun = str(tmp_path / "s.db"), tmp_path / "begun"
    begun.touch()
    words = ["find", "--target", "5", "--noise", "0", "--budget", "1000000", "--quiet", "--storage", where, "--name", "n",
             "--param", "x=0.0:1.0", "--", "sh", "-c", 'echo "$1" | tee -a "$2"', "sh", "{x}", str(begun)]  # fmt: skip
    rng, codes, stored, lost = np.random.default_rng(0), Counter(), {}, 0
    for _ in range(50):
        size = begun.stat().st_size
        process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, *words], stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while begun.stat().st_size == size and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.5 * rng.random())
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        codes[process.returncode] += 1
        assert "Traceback" not in err
        trials = trials_of(where)
        assert running_of(trials) == 0
        now = {trial.number: trial.value for trial in trials if trial.state == TrialState.COMPLETE}
        lost += sum(now.get(number) != value for number, value in stored.items())
        stored = now
    failed = [trial for trial in trials if trial.state == TrialState.FAIL]
    figures |= {"times Ctrl-C": 50, "exit codes 130": codes[130], "stored": len(stored), "lost": lost}
    figures |= {"failed": len(failed), "left running": 0}
    assert codes == {130: 50}
    assert lost == 0
    assert len(failed) <= 50
    assert all(trial.value == trial.params["x"] for trial in trials if trial.state == TrialState.COMPLETE)


def test_targets_at_the_edge(figures):
    refused = 0
    for target in (math.nan, math.inf, -math.inf, "5", None, True, 10**400):
        with suppress(BadInput):
            find(lambda params: 1.0, SPACE, target, noise=0, budget=3, seed=1)
            pytest.fail(f"{target!r} was taken")
        refused += 1
    equal = find(lambda params: 0.5, SPACE, 0.5, noise=0, budget=3, seed=1)
    assert (equal.verdict, equal.evaluations) == ("good", 1)
    for target in (1e308, -1e308):
        direction = "maximize" if target > 0 else "minimize"
        far = find(
            lambda params: params["x"], SPACE, target, noise=0, budget=6, seed=1, direction=direction, model=BLIND
        )
        assert (far.verdict, far.evaluations) == ("open", 6)
    huge = find(lambda params: 1.7e308, SPACE, 1e308, noise=0, budget=3, seed=1)
    assert huge.verdict == "good"
    figures |= {
        "impossible targets refused": refused,
        "equality is good": True,
        "out of reach ends by its budget": True,
    }
