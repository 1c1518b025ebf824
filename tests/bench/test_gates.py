"""The simulation of gates, and with it their bars: how often a gate is wrong whose truth lies exactly at the target."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.special import logsumexp

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import gates

from satisfice.certificates.gate import (
    GAPS,
    LOG_WEIGHTS,
    Bets,
    Course,
    GaussianGate,
    Passes,
    StudentGate,
    student_evidence,
)

GATES, LOOKS = 1_000, 150


@pytest.mark.parametrize("level", [0.5, 0.05, 0.001])
@pytest.mark.parametrize("test", [GaussianGate(1.0), StudentGate()], ids=["known", "unknown"])
def test_the_bar_is_right_for_a_truth_at_the_target(test, level):
    """P0(ever) = E[1 / E_T] under the mixture, from 6,000 gates; gaps that are too small to be seen count as exactly at the bar.

    Each term lies between 0 and the level times exp(credit), so the standard error is about 0.4 % of the level.
    """
    rng, n, many = default_rng(5), 400, 6_000
    bar = -np.log(level) - test.credit
    bars = gates.bars(test, n, bar)
    gaps = rng.choice(GAPS, p=np.exp(LOG_WEIGHTS), size=many)
    totals, squares, found = np.zeros(many), np.zeros(many), np.full(many, bar)
    live = np.flatnonzero(gaps > np.sqrt(4 * (bar + 1) / n))
    for m in range(1, n + 1):
        y = gaps[live] + rng.standard_normal(len(live))
        totals[live] += y
        squares[live] += y * y
        at = totals[live] / (np.sqrt(squares[live]) if isinstance(test, StudentGate) else 1.0)
        done = at >= bars[m - 1]
        if done.any():
            counts = np.full(done.sum(), m)
            found[live[done]] = (
                student_evidence(counts, at[done])
                if isinstance(test, StudentGate)
                else logsumexp(LOG_WEIGHTS + GAPS * at[done][:, None] - 0.5 * m * GAPS**2, axis=1)
            )
        live = live[~done]
    error = np.exp(-found)
    assert error.mean() <= level + 3 * error.std() / np.sqrt(many)
    assert error.mean() >= 0.9 * level  # the credit is used


@pytest.mark.parametrize("name", gates.BOUNDARY)
def test_a_gate_at_the_boundary_is_rarely_wrong(name):
    """1,000 gates, looked at after each of 150 values: 5 % and three standard errors."""
    test, target, draw = gates.BOUNDARY[name]
    for first in gates.simulate(test, target, draw, gates=GATES, looks=LOOKS, seed=3):
        assert (first < gates.NEVER).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / GATES)


@pytest.mark.parametrize("test", [GaussianGate(2.0), StudentGate(), Bets(-3.0, 7.0), Passes(0.0, 1.0)])
def test_many_gates_at_once_are_as_many_gates_one_by_one(test):
    passes = isinstance(test, Passes)
    target, steps = (0.6 if passes else 1.0), 60
    rng = default_rng(0)
    values = (rng.random((5, steps)) < 0.9).astype(float) if passes else np.clip(rng.normal(2, 2, (5, steps)), -3, 7)
    runs = gates.Runs(test, target, 5, steps)
    for m in range(steps):
        runs.add(m + 1, values[:, m])
    for row, first in zip(values, runs.first, strict=True):
        course = Course(test, target)
        path = np.array([course.add(float(value)) for value in row])
        reached = np.flatnonzero(path >= gates.BAR)
        assert first == (reached[0] + 1 if len(reached) else gates.NEVER)


def test_the_limit_is_in_reach():
    """A gap of half a standard deviation, 400 gates: at most 1.5 times the limit on average; 1.15 when measured with 4,000."""
    limit = 2 * gates.BAR / 0.25
    row = gates.needed(GaussianGate(1.0), 0.0, gates.normal(0.5), limit, gates=400)
    assert 0.9 < row["mean"] < 1.5
    assert row["late"] == 0


def test_the_tables_have_a_row_for_each_case():
    cell = {"share": 0.04, "low": 0.03, "high": 0.05}
    need = {"mean": 1.1, "median": 1.0, "limit": 96.0, "late": 0.0, "own limit": 1.2}
    names = [f"{kind} {gap:g}" for kind in ("known", "unknown") for gap in gates.GAPS]
    names += [f"rate {target:g} {p:g}" for target, p in gates.RATES]
    found = gates.tables(
        {
            "boundary": {name: {"good": cell, "bad": cell} for name in gates.BOUNDARY},
            "shown": {name: {"good": cell, "bad": cell} for name in gates.SHOWN},
            "needed": dict.fromkeys(names, need),
            "careful": {f"{gap:g}": need for gap in gates.GAPS},
        }
    )
    assert found["boundary"].count("4.0 % (3.0 to 5.0)") == 2 * len(gates.BOUNDARY)
    assert len(found["gaps"].splitlines()) == 2 + len(gates.GAPS)
    assert gates.share(np.array([3, gates.NEVER]))["share"] == 0.5
    assert gates.relative_entropy(1.0, 0.5) == pytest.approx(np.log(2))
