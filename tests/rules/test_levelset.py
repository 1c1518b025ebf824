"""lse and truvar against double loops and explicit inverses on small finite domains, and what they promise."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, NoSurvivors, Search
from satisfice.acquisition.belief import Belief
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.gp.posterior import Posterior
from satisfice.paper.theory.confidence import ConstantWidth
from satisfice.rules.levelset import LevelSetEstimation, TruncatedVariance, truncated_reduction
from satisfice.rules.widths import BayesianWidth

SIZE, LENGTH, LAM, SIGMA, TARGET = 25, 0.2, 0.04, 0.2, 0.4
GRID = Box([(-1.0, 3.0)]).grid(SIZE)
KERNEL = Stationary("se", np.array([LENGTH]))


def f(x):
    return np.sin(2.5 * x)


def searching(rule, target=TARGET, noise=SIGMA):
    return Search(GRID, target, rule, model=FixedModel(KERNEL, LAM), noise=noise, confirm=False)


def dense(asked, y):
    """Mean and variance at all points given values at the asked ones, by an explicit inverse in the unit cube."""
    u = np.linspace(0, 1, SIZE)
    if not asked:
        return np.zeros(SIZE), np.ones(SIZE)
    x = u[asked]
    inverse = np.linalg.inv(np.exp(-0.5 * ((x[:, None] - x) / LENGTH) ** 2) + LAM * np.eye(len(x)))
    k = np.exp(-0.5 * ((u[:, None] - x) / LENGTH) ** 2)
    return k @ inverse @ np.array(y), np.array([1 - row @ inverse @ row for row in k])


def run(search, rounds, look):
    """Ask and tell; `look` gets what was known before each question and the number of the point that was asked."""
    rng, asked, y = default_rng(0), [], []
    for _ in range(rounds):
        index = int(np.flatnonzero(search.ask()[0] == GRID.X[:, 0])[0])
        look(asked, y, index)
        asked.append(index)
        y.append(f(GRID.X[index, 0]) + SIGMA * rng.standard_normal())
        search.tell(GRID.X[index], y[-1])


@pytest.mark.parametrize("accuracy", [0.0, 0.15])
def test_lse_classifies_by_intersected_intervals_and_asks_the_most_ambiguous_point(accuracy):
    search = searching(LevelSetEstimation(accuracy, ConstantWidth(1.8)))
    low, high, side = [-np.inf] * SIZE, [np.inf] * SIZE, ["open"] * SIZE
    seen = set()

    def look(asked, y, index):
        mean, variance = dense(asked, y)
        for i in range(SIZE):
            low[i] = max(low[i], mean[i] - 1.8 * variance[i] ** 0.5)
            high[i] = min(high[i], mean[i] + 1.8 * variance[i] ** 0.5)
            if side[i] == "open" and low[i] + accuracy >= TARGET:
                side[i] = "high"
            elif side[i] == "open" and high[i] - accuracy < TARGET:
                side[i] = "low"
        ambiguity = {i: min(high[i] - TARGET, TARGET - low[i]) for i in range(SIZE) if side[i] == "open"}
        if asked:
            known = search.surrogate.memory
            assert [
                ("high" if h else "low" if b else "open") for h, b in zip(known.high, known.low, strict=True)
            ] == side
            assert known.lower == pytest.approx(np.array(low))
            assert known.upper == pytest.approx(np.array(high))
        seen.update(side)
        if ambiguity:
            assert ambiguity[index] == pytest.approx(max(ambiguity.values()))
        else:
            best = max(low[i] for i in range(SIZE) if side[i] == "high")
            assert side[index] == "high"
            assert low[index] == pytest.approx(best)

    run(search, 60, look)
    assert {"high", "low"} <= seen


def test_the_width_of_lse_is_the_one_with_which_all_bounds_hold():
    belief = Belief(((1.0, GridPosterior.on(GRID.U, KERNEL, LAM, GRID.U[:0], np.empty(0))),), GRID, TARGET, 1, 0, 0.0,
                    GRID.U[:0], GRID.U[:0], error_rate=0.1)  # fmt: skip
    expected = np.sqrt(2 * np.log(SIZE * np.pi**2 / (6 * 0.1)))
    assert BayesianWidth(SIZE, 0.1)(1) == pytest.approx(expected)
    assert LevelSetEstimation().remember(belief).upper == pytest.approx(np.full(SIZE, expected))


@pytest.mark.parametrize("rule", [LevelSetEstimation(), TruncatedVariance()])
def test_points_are_misclassified_no_more_often_than_promised(rule):
    """60 draws from the prior, failure 0.2; with a width of 1 in place of the promised one far more are wrong."""
    spectrum, basis = np.linalg.eigh(KERNEL(GRID.U, GRID.U))
    nothing = np.empty((0, 1))
    wrong = {rule: 0, replace(rule, width=ConstantWidth(1.0)): 0}
    for some in wrong:
        for seed in range(60):
            rng = default_rng(seed)
            values = basis @ (np.sqrt(np.maximum(spectrum, 0)) * rng.standard_normal(SIZE))
            posterior, memory = GridPosterior.on(GRID.U, KERNEL, LAM, nothing, np.empty(0)), None
            for t in range(1, 41):
                belief = Belief(
                    ((1.0, posterior),), GRID, TARGET, t, seed, 0.0, nothing, nothing, True, memory, error_rate=0.2
                )
                try:
                    u = some.propose(belief, default_rng([seed, t]))
                except NoSurvivors:
                    break
                index = round((SIZE - 1) * u[0])
                posterior = posterior.extend(GRID.U[index], values[index] + SIGMA * rng.standard_normal())
                memory = some.remember(replace(belief, members=((1.0, posterior),), step=t + 1))
            known = memory if isinstance(some, LevelSetEstimation) else memory.known
            wrong[some] += bool((known.high & (values < TARGET)).any() or (known.low & (values >= TARGET)).any())
    promised, narrow = wrong.values()
    assert promised <= 0.2 * 60
    assert narrow > 20


def truncated(variance, added, width, wanted, active):
    """The sum over the active points, one by one."""
    total = 0.0
    for i in np.flatnonzero(active):
        total += max(width**2 * variance[i], wanted**2) - max(width**2 * added[i], wanted**2)
    return total


@pytest.mark.parametrize("cost", [None, lambda X: 1 + (X[:, 0] > 1) * 3.0])
def test_truvar_maximises_the_truncated_variance_reduction_per_cost(cost):
    """Add each point in turn and condition everything anew; an epoch ends once the open points are known well enough."""
    width = 1.8
    search = searching(TruncatedVariance(cost, shrink=0.5, slack=0.2, width=ConstantWidth(width)))
    side, wanted, epochs = ["open"] * SIZE, [1.0], []
    prices = np.ones(SIZE) if cost is None else cost(GRID.X)

    def look(asked, y, index):
        mean, variance = dense(asked, y)
        for i in range(SIZE):
            if side[i] == "open" and mean[i] - width * variance[i] ** 0.5 >= TARGET:
                side[i] = "high"
            elif side[i] == "open" and mean[i] + width * variance[i] ** 0.5 < TARGET:
                side[i] = "low"
        active = np.array([s == "open" for s in side])
        if not active.any():
            return
        while width * np.sqrt(variance[active].max()) <= 1.2 * wanted[0]:
            wanted[0] *= 0.5
        epochs.append(wanted[0])
        scores = [
            truncated(variance, dense([*asked, i], [*y, 0.0])[1], width, wanted[0], active) / prices[i]
            for i in range(SIZE)
        ]
        assert scores[index] == pytest.approx(max(scores), rel=1e-9)
        if asked:
            assert (search.surrogate.memory.known.unclassified == active).all()
            assert search.surrogate.memory.wanted == pytest.approx(wanted[0])

    run(search, 30, look)
    assert len(set(epochs)) >= 2


def test_the_truncated_reduction_is_the_same_in_one_piece_and_in_many(monkeypatch):
    posterior = Posterior.given(KERNEL, LAM, GRID.U[[2, 11]], np.array([0.3, -0.2]))
    whole = truncated_reduction(posterior, GRID.U, GRID.U[3:9], 2.0, 0.7)
    monkeypatch.setattr("satisfice.rules.levelset.ROWS", 4)
    assert truncated_reduction(posterior, GRID.U, GRID.U[3:9], 2.0, 0.7) == pytest.approx(whole, rel=1e-12)
    assert (truncated_reduction(posterior, GRID.U, GRID.U[:0], 2.0, 0.7) == 0).all()


@pytest.mark.parametrize("rule", ["lse", "truvar"])
def test_level_sets_end_with_none_when_every_upper_bound_lies_below_the_target(rule):
    search, rng = searching(rule, target=2.5), default_rng(1)
    for _ in range(200):
        x = search.ask()
        search.tell(x, f(x[0]) + SIGMA * rng.standard_normal())
        if search.answer().verdict != "open":
            break
    assert search.answer().verdict == "none"
    with pytest.raises(NoSurvivors, match="no action is good"):
        search.ask()


def test_with_an_accuracy_possibly_good_low_points_do_not_prove_none():
    """All points are low up to an accuracy of 3; the upper bounds still lie above the target."""
    search = searching(LevelSetEstimation(3.0, ConstantWidth(2.0)), target=1.5)
    search.tell([0.0], -1.0)
    assert search.surrogate.memory.unclassified.sum() == 0
    assert not search.surrogate.memory.nothing_good
    assert search.answer().verdict == "open"
    assert search.ask().shape == (1,)
