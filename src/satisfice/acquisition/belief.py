"""`Belief`: what a rule sees, a mixture of posteriors with the target and the points asked so far."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.formulas import log_cdf_and_hazard, probability_good
from satisfice.acquisition.members import MemberStack
from satisfice.domain.finite import Finite
from satisfice.gp.posterior import Marginal, MarginalWithVjp, Posterior
from satisfice.types import Array, Domain

SPREAD = 256  # candidates over the whole domain
CLEARLY = 0.1  # a value this far below the target is clearly bad, in standardised units
RECALLED = 200  # the belief learns from this many bad points at most: the time grows with their square
RADII = (0.1, 0.02, 0.004)  # the distances of perturbed copies from the best points, in the unit cube
COPIES = 4  # of each point at each radius


class MixedMarginal(NamedTuple):
    """Mean and std of f at m points U under a mixture, each (m,), and what their derivatives in U consist of."""

    mean: Array
    std: Array
    parts: list[tuple[float, MarginalWithVjp]]  # weight first

    def vjp(self, by_mean: Array, by_std: Array) -> Array:
        """The derivatives in U (m, d) of a function of mean and std, given its derivatives in those, each (m,).

        Half the variance, sum_k w_k (std_k^2 + (mean_k - mean)^2) / 2, has the derivative w_k (mean_k - mean) in mean_k and w_k
        std_k in std_k.
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
    """The observed values, for rules that use no model: the points (n, d) with the values (n,) in the model's units.

    Values that `Belief.assuming_bad` makes up are not included. `noise` is the scale R of sub-Gaussian noise: its standard
    deviation or, where that is unknown but a range of values is stated, half of the range (Hoeffding's lemma).
    """

    points: Array
    values: Array
    noise: float


NOTHING = Seen(np.empty((0, 1)), np.empty(0), 0.0)


@dataclass(frozen=True)
class Belief:
    """What is known before an evaluation; values are in the model's (standardised) units.

    Parameters
    ----------
    members
        The posteriors with their weights, weight first; the weights sum to one.
    domain
        Where to look.
    target
        The value to reach.
    step
        The number of the coming evaluation.
    seed
        The seed of the search.
    incumbent
        The best value so far; under noise, the highest posterior mean among the evaluated points.
    best
        The most promising points so far (k, d), best first.
    avoid
        Points (k, d) that must not be proposed.
    may_repeat
        Whether a point may be evaluated again if no other is left, as under noise.
    memory
        What a rule that remembers has stored at each tell.
    stale
        The number of evaluations since the incumbent was found.
    error_rate
        The probability with which bounds that promise something may be wrong.
    seen
        The observed values.
    """

    members: tuple[tuple[float, Posterior], ...]
    domain: Domain
    target: float
    step: int
    seed: int
    incumbent: float
    best: Array
    avoid: Array
    may_repeat: bool = False
    memory: object = None
    stale: int = 0
    error_rate: float = 0.05
    seen: Seen = NOTHING

    @cached_property
    def log_weights(self) -> Array:
        """The log weight of each member (k,)."""
        return np.log([weight for weight, _ in self.members])

    @cached_property
    def stack(self) -> MemberStack | None:
        """The members evaluated at once, where that is possible and faster."""
        return MemberStack.of([posterior for _, posterior in self.members])

    def marginals(self, U: Array) -> list[Marginal]:
        """Mean and std of f at U (m, d) under each member."""
        return [posterior.marginal(U) for _, posterior in self.members]

    def marginal(self, U: Array) -> Marginal:
        """Mean and std of f at U (m, d) under the mixture."""
        return self.mixed(self.marginals(U))

    def mixed(self, marginals: list[Marginal]) -> Marginal:
        """Mean and std under the mixture, given those under each member."""
        if len(marginals) == 1:
            return marginals[0]
        weights = np.array([weight for weight, _ in self.members])[:, None]
        means = np.stack([marginal.mean for marginal in marginals])
        mean = (weights * means).sum(axis=0)
        variances = np.stack([marginal.std for marginal in marginals]) ** 2 + (means - mean) ** 2
        return Marginal(mean, np.sqrt((weights * variances).sum(axis=0)))

    def marginal_with_vjp(self, U: Array) -> MixedMarginal:
        """Mean and std of f at U (m, d) under the mixture, with their derivatives in U by the chain rule."""
        parts = [(weight, posterior.marginal_with_vjp(U)) for weight, posterior in self.members]
        mixed = self.mixed([Marginal(part.mean, part.std) for _, part in parts])
        return MixedMarginal(*mixed, parts)

    def probability_good(self, U: Array) -> Array:
        """P(f >= target) at each of the points U (m, d) under the mixture, (m,)."""
        return np.asarray(
            sum(w * probability_good(*posterior.marginal(U), self.target) for w, posterior in self.members)
        )

    def assuming_bad(self, U: Array, at_most: float = np.inf) -> "Belief":
        """The belief if the points U (k, d) were clearly bad, with values E[f | f < target] and at most `at_most`.

        Pending and failed evaluations are treated like this; the points are avoided as well. Of very many points, the posteriors
        include the last ones only.
        """
        at_most = min(at_most, self.target - CLEARLY)
        members = self.members
        for u in U[-RECALLED:]:
            members = tuple((weight, _extended_as_bad(p, u, self.target, at_most)) for weight, p in members)
        return replace(self, members=members, avoid=np.vstack([self.avoid, U]))

    def assuming_failed(self, U: Array) -> "Belief":
        """The belief if the points U (k, d), which gave no value, were no better than the median and clearly bad."""
        return self.assuming_bad(U, at_most=float(np.median(self.seen.values)))

    def candidates(self, rng: Generator) -> tuple[Array, Array]:
        """Points all over the domain (m, d), and perturbed copies of the best points (k, d), both snapped.

        A copy changes each coordinate with a probability that makes about three or more change, so that high dimensions see steps
        along few coordinates.
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
        """All points of a finite domain (|D|, d), None for any other domain."""
        return self.domain.U if isinstance(self.domain, Finite) else None


def _extended_as_bad(posterior: Posterior, u: Array, target: float, at_most: float) -> Posterior:
    """Add the value E[f | f < target] = mean - std phi(z) / Phi(-z), z = (mean - target) / std, without noise at u.

    Under a kernel with a nugget it counts as a value of the trend: otherwise the next best point would be right beside this one.
    """
    nugget = posterior.kernel.nugget
    if nugget and (posterior.X == u).all(axis=1).any():
        return posterior
    mean, std = (float(part[0]) for part in posterior.marginal(u[None]))
    z = (mean - target) / std
    _, hazard = log_cdf_and_hazard(np.array([-z]))
    lam = 1e-6 * posterior.kernel.variance - nugget
    return posterior.extend(u, min(mean - std * float(hazard[0]), at_most), lam=lam)
