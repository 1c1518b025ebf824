"""GP-UCB with plain, intersected and doubled-then-halved confidence bounds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import best_of, maximise
from satisfice.rules.requirements import Requirements, finite_points, promised_width, single, width_of
from satisfice.rules.widths import DoubledWidth, PosteriorWidth, Width, sqrt_log
from satisfice.types import Array

ROUNDS = 50  # with a width twice as large, unless the user knows N_max


@dataclass(frozen=True)
class BoundScore:
    """by_mean * mean + by_std * std of a belief, as a function of points."""

    belief: Belief
    by_mean: float
    by_std: float

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""
        mean, std = self.belief.marginal(U)
        return self.by_mean * mean + self.by_std * std

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""
        found = self.belief.marginal_with_vjp(U)
        by_mean, by_std = np.full(len(U), self.by_mean), np.full(len(U), self.by_std)
        return self.by_mean * found.mean + self.by_std * found.std, found.vjp(by_mean, by_std)


@dataclass(frozen=True)
class UpperConfidence:
    """GP-UCB: ask where mean + width(t) * std is largest; on a mixture, its overall mean and std (paper, section 2.3)."""

    width: Width | PosteriorWidth = sqrt_log

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the upper confidence bound."""
        return maximise(BoundScore(belief, 1.0, width_of(self.width, belief)), belief, rng)


@dataclass(frozen=True)
class IntersectedConfidence:
    """GP-UCB by the lowest upper bound that a point ever had (appendix A, eq. ucb_int).

    Without a width of its own it has that of bounds which hold for all t (section 3.4): a bound that fails once, as the heuristic
    sqrt(log t) = 0 at t = 1 does, stays for ever.
    """

    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def _width(self, belief: Belief) -> Width:
        return self.width or promised_width(belief)

    def remember(self, belief: Belief) -> Array:
        """The lowest upper bound of each point so far, that of the prior and that for the coming round included."""
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
    """The same with a width that is twice as large in the first rounds, whatever the width is (appendix A).

    The text multiplies beta_t by two and then speaks of halving the confidence width; here the width is what doubles.

    Parameters
    ----------
    width
        By default that of bounds which hold for all t.
    rounds
        In how many rounds it doubles; in the paper N_max of Theorem 1, `satisfice.paper.theory.bounds.ucb_bounds(...).indicator`.
    """

    rounds: int = ROUNDS

    def _width(self, belief: Belief) -> Width:
        return DoubledWidth(super()._width(belief), self.rounds)
