"""Rules that rule out points by confidence bounds on a finite set: elimination, good-elimination."""

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


class MostUncertainSurvivor:
    """What the rules share: they evaluate the survivor of largest std."""

    requirements: ClassVar = Requirements(finite=True, single=True)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The survivor of largest std."""
        points, survivors = finite_points(belief), _survivors(belief)
        if not survivors.any():
            raise nothing_is_good()
        std = single(belief).marginal(points).std
        return best_of(points, np.where(survivors, std, -np.inf), belief, rng)


@dataclass(frozen=True)
class Elimination(MostUncertainSurvivor):
    """A point survives while its upper bound reaches every survivor's lower bound (section 2.4).

    After t values the bounds are mu_t -+ width(t + 1) sigma_t.

    Parameters
    ----------
    width
        By default sqrt(log(2t)^3), as in the paper's experiment with this rule (section 5.1). The narrower sqrt(log t), meant for
        `ucb`, rules out the best point too often.
    over_all
        Whether the highest lower bound is taken over all points, as the paper writes it (eq. Mt), instead of the survivors; the
        set may then become empty.
    """

    width: Width | PosteriorWidth = sqrt_log_cubed
    over_all: bool = False

    def remember(self, belief: Belief) -> Survivors:
        """The survivors after the newest value: a mask over the points of the domain."""
        mean, std = single(belief).marginal(finite_points(belief))
        half, before = width_of(self.width, belief) * std, _survivors(belief)
        lower = mean - half
        bar = lower.max() if self.over_all else lower[before].max(initial=-np.inf)
        return before & (mean + half >= bar)


@dataclass(frozen=True)
class GoodElimination(MostUncertainSurvivor):
    """A point survives while its upper bound reaches the target (appendix C, eq. Mt2).

    When no point is left, no action is good as far as the bounds hold: the verdict is `none`.

    Parameters
    ----------
    width
        By default that of bounds which hold with the search's confidence if the kernel is the true one (section 3.4). The paper's
        heuristic sqrt(log t) promises nothing, and often rules out everything after the first value.
    """

    width: Width | PosteriorWidth | None = None

    def remember(self, belief: Belief) -> Survivors:
        """The survivors after the newest value: a mask over the points of the domain."""
        mean, std = single(belief).marginal(finite_points(belief))
        width = self.width or promised_width(belief)
        return _survivors(belief) & (mean + width_of(width, belief) * std >= belief.target)

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""
        return isinstance(memory, np.ndarray) and not memory.any()


def _survivors(belief: Belief) -> Survivors:
    if isinstance(belief.memory, np.ndarray):
        return belief.memory
    return np.ones(len(finite_points(belief)), dtype=bool)
