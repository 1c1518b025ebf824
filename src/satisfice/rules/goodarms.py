"""Rules for finitely many unrelated arms, by counts and means alone: hdoc, lucb-g, apt.

They read the values themselves (`belief.seen`) and no model: one arm says nothing about another. Arm i of K has N_i values with
mean m_i; t - 1 is the number of all values, R the sub-Gaussian scale of the noise, eta the target. The rules are made for noisy
values and pull arms repeatedly: pass the noise (or `value_range`) to the search, and `confirm=False` to leave every question to
the rule.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import best_of
from satisfice.rules.requirements import Requirements, finite_points, nothing_is_good, seen_at
from satisfice.types import Array


class Arms(NamedTuple):
    """How often each arm was pulled and the mean of its values, each (K,); 0 for an arm never pulled."""

    counts: Array
    means: Array


class Labels(NamedTuple):
    """Which arms are labelled good and which bad, masks (K,); the others are open."""

    good: npt.NDArray[np.bool_]
    bad: npt.NDArray[np.bool_]


def arms_of(belief: Belief) -> Arms:
    """Counts and means of the points of a finite domain.

    Parameters
    ----------
    belief
        A belief over a finite domain.

    Returns
    -------
    Arms
        One arm for each point.
    """
    arm, size = seen_at(belief), len(finite_points(belief))
    counts = np.bincount(arm, minlength=size).astype(np.float64)
    sums = np.bincount(arm, weights=belief.seen.values, minlength=size)
    return Arms(counts, sums / np.maximum(counts, 1.0))


def half_widths(arms: Arms, noise: float, failure: float) -> Array:
    """R sqrt(2 log(4 K N_i^2 / failure) / N_i) (K,); infinite for an arm that was not pulled (Kano et al. 2019).

    With probability at least 1 - failure, all intervals m_i -+ this hold at all times; values in [0, 1] have R = 1/2.

    Parameters
    ----------
    arms
        N_i and m_i.
    noise
        The sub-Gaussian scale R.
    failure
        The probability with which some interval may fail.
    """
    N = np.maximum(arms.counts, 1.0)
    widths = noise * np.sqrt(2 * np.log(4 * len(N) * N**2 / failure) / N)
    return np.where(arms.counts > 0, widths, np.inf)


@dataclass(frozen=True)
class GoodArmIdentification(ABC):
    """Call an arm good when its lower bound reaches the target, bad when its upper bound does not, and pull the best open arm.

    With probability at least 1 - error_rate every such label is right. An arm with a label is not pulled while others are open;
    after that, the good arm of the highest lower bound is. When all arms are bad, no action is good: the verdict is `none`.
    """

    requirements: ClassVar = Requirements(finite=True)

    def remember(self, belief: Belief) -> Labels:
        """The labels of the arms; they are final."""
        arms = arms_of(belief)
        half = half_widths(arms, belief.seen.noise, belief.error_rate)
        none = np.zeros(len(half), dtype=bool)
        good, bad = belief.memory if isinstance(belief.memory, Labels) else (none, none)
        undecided = ~(good | bad)
        return Labels(
            good | (undecided & (arms.means - half >= belief.target)),
            bad | (undecided & (arms.means + half < belief.target)),
        )

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The open arm of the highest index."""
        good, bad = belief.memory if isinstance(belief.memory, Labels) else self.remember(belief)
        if bad.all():
            raise nothing_is_good()
        arms = arms_of(belief)
        if (good | bad).all():
            lower = arms.means - half_widths(arms, belief.seen.noise, belief.error_rate)
            return best_of(finite_points(belief), np.where(good, lower, -np.inf), belief, rng)
        index = np.where(arms.counts > 0, self.index(belief, arms), np.inf)
        return best_of(finite_points(belief), np.where(good | bad, -np.inf, index), belief, rng)

    def nothing_left(self, memory: object) -> bool:
        """Whether every arm has been called bad."""
        return isinstance(memory, Labels) and bool(memory.bad.all())

    @abstractmethod
    def index(self, belief: Belief, arms: Arms) -> Array:
        """The index of each arm (K,); arms never pulled come first anyway."""


@dataclass(frozen=True)
class DilemmaOfConfidence(GoodArmIdentification):
    """HDoC: pull the open arm of the highest m_i + R sqrt(2 log(t) / N_i), label arms by `half_widths` (Kano et al. 2019).

    A hybrid algorithm for the dilemma of confidence: the index of UCB1 looks for the best arm, which can be labelled soonest,
    while labels need bounds that hold at all times.
    """

    def index(self, belief: Belief, arms: Arms) -> Array:
        """m_i + R sqrt(2 log(t) / N_i)."""
        t = arms.counts.sum() + 1
        return np.asarray(arms.means + belief.seen.noise * np.sqrt(2 * np.log(t) / np.maximum(arms.counts, 1.0)))


@dataclass(frozen=True)
class UpperBoundGoodArm(GoodArmIdentification):
    """LUCB-G: pull the open arm of the highest m_i + `half_widths`, the bound that also labels arms (Kano et al. 2019)."""

    def index(self, belief: Belief, arms: Arms) -> Array:
        """m_i + R sqrt(2 log(4 K N_i^2 / failure) / N_i)."""
        return arms.means + half_widths(arms, belief.seen.noise, belief.error_rate)


@dataclass(frozen=True)
class AnytimeThresholding:
    """APT: pull the arm of the lowest sqrt(N_i) (|m_i - eta| + epsilon) (Locatelli, Gutzeit and Carpentier 2016).

    It pulls the arm whose side of the target is least clear, in order to sort all arms within a budget; it gives no labels and
    never concludes.

    Parameters
    ----------
    epsilon
        How close to the target the side of an arm may be wrong, in the model's units.
    """

    epsilon: float = 0.0

    requirements: ClassVar = Requirements(finite=True)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The arm of the lowest index; arms never pulled come first."""
        arms = arms_of(belief)
        index = np.sqrt(arms.counts) * (np.abs(arms.means - belief.target) + self.epsilon)
        return best_of(finite_points(belief), np.where(arms.counts > 0, -index, np.inf), belief, rng)
