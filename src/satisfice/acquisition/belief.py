"""What a rule sees: a weighted tuple of posteriors over the domain, the target, and the questions already asked."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.formulas import log_cdf_and_hazard, probability_good
from satisfice.domain.finite import Finite
from satisfice.gp.posterior import Marginal, MarginalWithVjp, Posterior
from satisfice.types import Array, Domain

SPREAD = 256  # candidates over the whole domain
CLEARLY = 0.1  # a value is clearly bad when it lies so far below the target, in standardised units
RECALLED = 200  # of more bad points only so many are learned from: the time grows with their square
RADII = (0.1, 0.02, 0.004)  # how far the perturbed copies of the best points lie from them, in the unit cube
COPIES = 4  # of each point at each radius


class MixedMarginal(NamedTuple):
    """Mean and std of f at m points U under a mixture, each (m,), and what their derivatives in U are made of."""

    mean: Array
    std: Array
    parts: list[tuple[float, MarginalWithVjp]]  # weight first

    def vjp(self, by_mean: Array, by_std: Array) -> Array:
        """The derivatives in U (m, d) of a function of mean and std that has these derivatives in them, each (m,).

        Half the variance, sum_k w_k (std_k^2 + (mean_k - mean)^2) / 2, changes by w_k (mean_k - mean) with mean_k and by
        w_k std_k with std_k.
        """
        by_half_variance = by_std / self.std
        pulled = [
            part.vjp(
                weight * (by_mean + by_half_variance * (part.mean - self.mean)), weight * by_half_variance * part.std
            )
            for weight, part in self.parts
        ]
        return np.asarray(sum(pulled))


class Seen(NamedTuple):
    """The values themselves, for rules that do not ask the model: each value (n,) with its point (n, d), in the model's units.

    Values that `Belief.assuming_bad` makes up are not among them. `noise` is the scale R of sub-Gaussian noise: its standard
    deviation or, where that is unknown but the range of the values is stated, half of the range (Hoeffding's lemma).
    """

    points: Array
    values: Array
    noise: float


NOTHING = Seen(np.empty((0, 1)), np.empty(0), 0.0)


@dataclass(frozen=True)
class Belief:
    """The state of knowledge before evaluation number `step`; values are in the model's (standardised) units.

    `incumbent` is the best value so far, or under noise the highest posterior mean among the queried points; `best` are the most
    promising points so far (k, d), best first; `avoid` are points (k, d) that must not be proposed; `stale` is the number of
    evaluations since the incumbent was found.
    """

    members: tuple[tuple[float, Posterior], ...]  # (weight, posterior), the weights sum to one
    domain: Domain
    target: float
    step: int
    seed: int
    incumbent: float
    best: Array
    avoid: Array
    may_repeat: bool = False  # under noise a point may be asked again, where there is no other left
    memory: object = None  # what a rule that remembers has folded at each tell
    stale: int = 0
    error_rate: float = 0.05  # the probability with which bounds that promise something may be wrong
    seen: Seen = NOTHING

    @cached_property
    def log_weights(self) -> Array:
        """The log weight of each member (k,)."""
        return np.log([weight for weight, _ in self.members])

    def marginals(self, U: Array) -> list[Marginal]:
        """Mean and std of f at U (m, d) under each member."""
        return [posterior.marginal(U) for _, posterior in self.members]

    def marginal(self, U: Array) -> Marginal:
        """Mean and std of f at U (m, d) under the mixture."""
        return self.mixed(self.marginals(U))

    def mixed(self, marginals: list[Marginal]) -> Marginal:
        """Mean and std under the mixture from those under each member."""
        if len(marginals) == 1:
            return marginals[0]
        weights = np.array([weight for weight, _ in self.members])[:, None]
        means = np.stack([marginal.mean for marginal in marginals])
        mean = (weights * means).sum(axis=0)
        variances = np.stack([marginal.std for marginal in marginals]) ** 2 + (means - mean) ** 2
        return Marginal(mean, np.sqrt((weights * variances).sum(axis=0)))

    def marginal_with_vjp(self, U: Array) -> MixedMarginal:
        """Mean and std of f at U (m, d) under the mixture, and their derivatives in U by the chain rule."""
        parts = [(weight, posterior.marginal_with_vjp(U)) for weight, posterior in self.members]
        mixed = self.mixed([Marginal(part.mean, part.std) for _, part in parts])
        return MixedMarginal(*mixed, parts)

    def probability_good(self, U: Array) -> Array:
        """P(f >= target) at each of the points U (m, d) under the mixture, (m,)."""
        return np.asarray(
            sum(w * probability_good(*posterior.marginal(U), self.target) for w, posterior in self.members)
        )

    def assuming_bad(self, U: Array, at_most: float = np.inf) -> "Belief":
        """The belief if each of the points U (k, d) turned out clearly bad, its value being E[f | f < target] or `at_most`.

        This is how pending and failed evaluations are seen; the points are avoided as well. Of very many only the last ones are
        learned from.
        """
        at_most = min(at_most, self.target - CLEARLY)
        members = self.members
        for u in U[-RECALLED:]:
            members = tuple((weight, _extended_as_bad(p, u, self.target, at_most)) for weight, p in members)
        return replace(self, members=members, avoid=np.vstack([self.avoid, U]))

    def candidates(self, rng: Generator) -> tuple[Array, Array]:
        """Points over the whole domain (m, d), and perturbed copies of the best points (k, d), both snapped.

        A copy moves each coordinate with a chance that keeps about three or more moving, so that there are steps along few
        coordinates in high dimensions.
        """
        spread = self.domain.candidates(SPREAD, rng)
        count, d = len(self.best), self.domain.dimension
        radius = np.tile(np.repeat(RADII, COPIES), count)[:, None]
        moves = rng.random((len(radius), d)) < max(0.5, 3 / d)
        steps = radius * rng.standard_normal((len(radius), d)) * moves
        near = np.clip(np.repeat(self.best, len(RADII) * COPIES, axis=0) + steps, 0.0, 1.0)
        return spread, self.domain.snap(near)

    @property
    def points(self) -> Array | None:
        """All points of the domain (|D|, d) if it is a finite set, else None."""
        return self.domain.U if isinstance(self.domain, Finite) else None


def _extended_as_bad(posterior: Posterior, u: Array, target: float, at_most: float) -> Posterior:
    """E[f | f < target] = mean - std phi(z) / Phi(-z), z = (mean - target) / std, as one more value of f itself at u.

    Where f has ripples it is taken for a value of the trend: else the next best point would be next to this one.
    """
    nugget = posterior.kernel.nugget
    if nugget and (posterior.X == u).all(axis=1).any():
        return posterior
    mean, std = (float(part[0]) for part in posterior.marginal(u[None]))
    z = (mean - target) / std
    _, hazard = log_cdf_and_hazard(np.array([-z]))
    lam = 1e-6 * posterior.kernel.variance - nugget
    return posterior.extend(u, min(mean - std * float(hazard[0]), at_most), lam=lam)
