"""GP-UCB with plain, intersected and doubled confidence bounds: ucb, ucb-intersected, ucb-doubled."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import best_of, maximise
from satisfice.acquisition.scores import bound_score
from satisfice.rules.requirements import Requirements, finite_points, promised_width, single, width_of
from satisfice.rules.widths import DoubledWidth, PosteriorWidth, Width, sqrt_log
from satisfice.types import Array

ROUNDS = 50  # rounds of doubled width, unless the user knows N_max


@dataclass(frozen=True)
class UpperConfidence:
    """GP-UCB: evaluate the maximiser of mean + width(t) * std of the mixture (paper, section 2.3).

    Parameters
    ----------
    width
        beta_t^{1/2}.
    """

    width: Width | PosteriorWidth = sqrt_log

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the upper confidence bound."""
        return maximise(bound_score(belief, 1.0, width_of(self.width, belief)), belief, rng)


@dataclass(frozen=True)
class IntersectedConfidence:
    """GP-UCB by the lowest upper bound that a point ever had (appendix A, eq. ucb_int).

    Parameters
    ----------
    width
        By default that of bounds which hold for all t (section 3.4). A bound that fails once is never repaired, and the heuristic
        sqrt(log t) = 0 fails at t = 1.
    """

    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def _width(self, belief: Belief) -> Width:
        return self.width or promised_width(belief)

    def remember(self, belief: Belief) -> Array:
        """The lowest upper bound of each point so far, those of the prior and of the coming round included."""
        posterior = single(belief)
        mean, std = posterior.marginal(finite_points(belief))
        width = self._width(belief)
        bound = mean + width(belief.step) * std
        earlier = belief.memory if isinstance(belief.memory, np.ndarray) else width(1) * posterior.kernel.scale
        return np.minimum(earlier, bound)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the lowest upper bound."""
        return best_of(finite_points(belief), self.remember(belief), belief, rng)


@dataclass(frozen=True)
class DoubledConfidence(IntersectedConfidence):
    """As `IntersectedConfidence`, with a width that is doubled in the first rounds (appendix A).

    The text multiplies beta_t by two but then speaks of halving the confidence width; here the width itself is doubled.

    Parameters
    ----------
    width
        By default that of bounds which hold for all t.
    rounds
        The number of rounds; in the paper N_max of Theorem 1, `satisfice.paper.theory.bounds.ucb_bounds(...).indicator`.
    """

    rounds: int = ROUNDS

    def _width(self, belief: Belief) -> Width:
        return DoubledWidth(super()._width(belief), self.rounds)
