"""The rule that asks for information about the maximum: mes."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import Score
from satisfice.acquisition.maximum import gumbel_of_maximum, max_value_information
from satisfice.acquisition.optimise import maximise
from satisfice.types import Array


@dataclass(frozen=True)
class MaxValueEntropy:
    """MES: maximise the information about the maximum, drawn from a Gumbel law (Wang and Jegelka 2017).

    Parameters
    ----------
    draws
        The number of draws of the maximum.
    """

    draws: int = 10

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the information, averaged over the members of the belief."""
        witnesses = np.vstack(belief.candidates(rng)) if belief.points is None else belief.points
        shares = rng.random(self.draws)
        maxima = tuple(
            gumbel_of_maximum(*posterior.marginal(witnesses)).quantile(shares) for _, posterior in belief.members
        )
        return maximise(MaxValueInformation(belief, maxima), belief, rng)


@dataclass(frozen=True)
class MaxValueInformation:
    """The information about the maximum, averaged over the members, as a function of points.

    Parameters
    ----------
    belief
        The members and their weights.
    maxima
        Draws of the maximum under each member (draws,).
    """

    belief: Belief
    maxima: tuple[Array, ...]

    def __call__(self, U: Array) -> Array:
        """The information (m,)."""
        pairs = zip(self.belief.members, self.maxima, strict=True)
        return np.asarray(sum(w * max_value_information(*p.marginal(U), maxima).value for (w, p), maxima in pairs))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The information (m,) and its derivatives in U (m, d)."""
        value, gradient = np.zeros(len(U)), np.zeros(U.shape)
        for (weight, posterior), maxima in zip(self.belief.members, self.maxima, strict=True):
            part = posterior.marginal_with_vjp(U)
            score: Score = max_value_information(part.mean, part.std, maxima)
            value += weight * score.value
            gradient += weight * part.vjp(score.by_mean, score.by_std)
        return value, gradient
