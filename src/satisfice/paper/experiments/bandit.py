"""Many runs of a bandit on the points of a finite domain at once, for horizons that a `Search` is too slow for.

The posterior of every run is kept as its mean and covariance on all points, and a value changes both by one rank: a round costs
O(|D|^2) a run, however long the run is. `tests/paper/experiments/test_bandit.py` holds the rules here against those of
`satisfice.rules`, on the same values.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.paper.theory.confidence import LogDetWidth
from satisfice.rules.widths import Width
from satisfice.types import Array

Choice = npt.NDArray[np.intp]
TIE = 1e-12  # scores that differ by less are equal, and the choice among them is random


class State(NamedTuple):
    """What each of R runs knows before round t, on the m points of the domain."""

    t: int
    mean: Array  # (R, m)
    std: Array  # (R, m)
    information: Array  # (R,): 1/2 ln det(I + K / lam) of the points asked so far


HalfWidth = Callable[[State], float | Array]  # a number, or one for each run (R, 1)


class GridRule(Protocol):
    """A rule that may remember: called once a round, in order."""

    def score(self, state: State) -> Array:
        """The scores (R, m); the point with the highest one is asked."""


def by_round(width: Width) -> HalfWidth:
    """A width that depends on the round alone."""
    return lambda state: width(state.t)


def by_information(width: LogDetWidth, lam: float) -> HalfWidth:
    """A width that depends on the points asked."""
    return lambda state: width.at(state.information, lam)[:, None]


def rounds(
    rule: GridRule, prior: Array, lam: float, values: Array, sigma: float, rng: Generator
) -> Iterator[tuple[State, Choice]]:
    """Round after round, what was known before it and the places (R,) of the points that it asks; never ends.

    Parameters
    ----------
    rule
        Scores the points of the domain.
    prior
        The kernel that the model assumes between all points (m, m); the true one may be another.
    lam
        The variance of the noise that the model assumes.
    values
        The true f of each run at all points (R, m).
    sigma
        The standard deviation of the true noise.
    rng
        Draws the noise and breaks ties.
    """
    runs, points = values.shape
    every = np.arange(runs)
    mean, covariance = np.zeros((runs, points)), np.repeat(prior[None], runs, axis=0)
    step = np.empty_like(covariance)
    variance = np.einsum("rii->ri", covariance)  # a view
    information, tie = np.zeros(runs), TIE * rng.random((runs, points))
    t = 1
    while True:
        state = State(t, mean, np.sqrt(np.maximum(variance, 0.0)), information)
        chosen = np.argmax(rule.score(state) + tie, axis=1)
        yield state, chosen
        column = covariance[every, chosen]
        spread = column[every, chosen] + lam
        surprise = values[every, chosen] + sigma * rng.standard_normal(runs) - mean[every, chosen]
        mean = mean + column * (surprise / spread)[:, None]
        information = information + 0.5 * np.log(spread / lam)
        column /= np.sqrt(spread)[:, None]
        covariance -= np.multiply(column[:, :, None], column[:, None, :], out=step)
        t += 1


@dataclass
class Ucb:
    """The highest upper confidence bound."""

    width: HalfWidth

    def score(self, state: State) -> Array:
        """The upper bounds."""
        return state.mean + self.width(state) * state.std


@dataclass
class Intersected:
    """The highest of the lowest upper bounds so far (appendix A); with a width twice as large up to round `doubled`."""

    width: HalfWidth
    doubled: int = 0
    upper: float | Array = np.inf

    def score(self, state: State) -> Array:
        """The lowest upper bounds so far."""
        width = (2 if state.t <= self.doubled else 1) * self.width(state)
        self.upper = np.minimum(self.upper, state.mean + width * state.std)
        return self.upper


@dataclass
class Eliminate:
    """The most uncertain of the points whose upper bound reaches every survivor's lower one (section 2.4)."""

    width: HalfWidth
    alive: npt.NDArray[np.bool_] | None = None

    def score(self, state: State) -> Array:
        """The standard deviations of the survivors, minus infinity for the others."""
        if self.alive is None:
            self.alive = np.ones(state.mean.shape, dtype=bool)
        else:
            half = self.width(state) * state.std
            bar = np.where(self.alive, state.mean - half, -np.inf).max(axis=1, keepdims=True)
            self.alive &= state.mean + half >= bar
        return np.where(self.alive, state.std, -np.inf)

    def may_choose(self, points: npt.NDArray[np.bool_]) -> bool:
        """Whether one of the points (R, m) has survived in any run."""
        return self.alive is None or bool((self.alive & points).any())


@dataclass
class ExploreThenCommit:
    """The most uncertain point for `explore` rounds, then the one of highest mean (appendix A)."""

    explore: int

    def score(self, state: State) -> Array:
        """Standard deviations first, means afterwards."""
        return state.std if state.t <= self.explore else state.mean


@dataclass
class Uniform:
    """A point at random."""

    rng: Generator

    def score(self, state: State) -> Array:
        """Random numbers."""
        return self.rng.random(state.mean.shape)
