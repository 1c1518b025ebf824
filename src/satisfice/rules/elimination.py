"""Rules that rule points out by confidence bounds on a finite set: elimination, good-elimination."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import best_of
from satisfice.rules.requirements import Requirements, finite_points, nothing_is_good, promised_width, single, width_of
from satisfice.rules.widths import PosteriorWidth, Width, sqrt_log_cubed
from satisfice.types import Array

Survivors = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Elimination:
    """Ask the survivor of largest std; a point survives while its upper bound reaches every survivor's lower one (section 2.4).

    After t values the bounds are mu_t -+ width(t + 1) sigma_t. The width is that of the paper's experiment with this rule
    (section 5.1), sqrt(log(2t)^3): the narrower sqrt(log t), meant for `ucb`, rules out the best point too often.
    With `over_all` the highest lower bound is looked for among all points, as the paper writes it (eq. Mt), not among the
    survivors; then the set may become empty.
    """

    width: Width | PosteriorWidth = sqrt_log_cubed
    over_all: bool = False

    requirements: ClassVar = Requirements(finite=True, single=True)

    def remember(self, belief: Belief) -> Survivors:
        """The survivors after the newest value: a mask over the points of the domain."""
        mean, std, half = *_marginal(belief), width_of(self.width, belief)
        before = _survivors(belief)
        lower = mean - half * std
        bar = lower.max() if self.over_all else lower[before].max(initial=-np.inf)
        return before & (mean + half * std >= bar)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The survivor of largest std."""
        return _most_uncertain(belief, rng)


@dataclass(frozen=True)
class GoodElimination:
    """Ask the survivor of largest std; a point survives while its upper bound reaches the target (appendix C, eq. Mt2).

    When no point is left, no action is good, as far as the bounds hold: the verdict is `none`. Without a width of its own it has
    that of bounds which hold where the kernel is the true one, with the search's confidence (section 3.4): the paper's heuristic
    sqrt(log t) promises nothing, and often rules out everything after the first value.
    """

    width: Width | PosteriorWidth | None = None

    requirements: ClassVar = Requirements(finite=True, single=True)

    def remember(self, belief: Belief) -> Survivors:
        """The survivors after the newest value: a mask over the points of the domain."""
        mean, std = _marginal(belief)
        width = self.width or promised_width(belief)
        return _survivors(belief) & (mean + width_of(width, belief) * std >= belief.target)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The survivor of largest std."""
        return _most_uncertain(belief, rng)

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""
        return isinstance(memory, np.ndarray) and not memory.any()


def _marginal(belief: Belief) -> tuple[Array, Array]:
    return single(belief).marginal(finite_points(belief))


def _survivors(belief: Belief) -> Survivors:
    if isinstance(belief.memory, np.ndarray):
        return belief.memory
    return np.ones(len(finite_points(belief)), dtype=bool)


def _most_uncertain(belief: Belief, rng: Generator) -> Array:
    points, survivors = finite_points(belief), _survivors(belief)
    if not survivors.any():
        raise nothing_is_good()
    return best_of(points, np.where(survivors, _marginal(belief)[1], -np.inf), belief, rng)
