"""Rules that score a point by the marginal law of f there: pg, eg, pi, ei."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import (
    Score,
    log_expected_excess,
    mix_logs,
    mix_standard_scores,
    standard_score,
)
from satisfice.acquisition.optimise import maximise
from satisfice.gp.posterior import Marginal
from satisfice.types import Array

Formula = Callable[[Array, Array], Score]  # mean, std -> score and derivatives
Mix = Callable[[Array, Array], tuple[Array, Array]]  # log weights (k,), scores (k, m) -> mixed (m,), derivatives (k, m)


@dataclass(frozen=True)
class MixedScore:
    """An acquisition formula averaged over the members of a belief, as a function of points."""

    belief: Belief
    formula: Formula
    mix: Mix

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""
        return self.of(self.belief.marginals(U))

    def of(self, marginals: list[Marginal]) -> Array:
        """The scores (m,) of points where the marginal of each member is known."""
        values = [self.formula(*marginal).value for marginal in marginals]
        if len(values) == 1:
            return values[0]
        return self.mix(self.belief.log_weights, np.stack(values))[0]

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d), by the chain rule through mean and std."""
        parts = [posterior.marginal_with_vjp(U) for _, posterior in self.belief.members]
        scores = [self.formula(part.mean, part.std) for part in parts]
        if len(parts) == 1:
            value, by_mean, by_std = scores[0]
            return value, parts[0].vjp(by_mean, by_std)
        mixed, shares = self.mix(self.belief.log_weights, np.stack([score.value for score in scores]))
        gradient = np.zeros(U.shape)
        for part, (_, by_mean, by_std), share in zip(parts, scores, shares, strict=True):
            gradient += part.vjp(share * by_mean, share * by_std)
        return mixed, gradient


def probability_score(belief: Belief, level: float) -> MixedScore:
    """P(f(x) >= level) under the mixture, as a standard score: it orders points alike and never underflows."""
    return MixedScore(belief, partial(standard_score, level=level), mix_standard_scores)


@dataclass(frozen=True)
class ProbabilityGood:
    """PG: ask where the value is most likely to reach the target (paper, eq. pg_acq)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= target)."""
        return maximise(probability_score(belief, belief.target), belief, rng)


@dataclass(frozen=True)
class ExpectedExcess:
    """EG: ask where the value is expected to exceed the target the most (paper, eq. eg_acq)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of E[max(0, f(x) - target)]."""
        score = partial(log_expected_excess, level=belief.target)
        return maximise(MixedScore(belief, score, mix_logs), belief, rng)


@dataclass(frozen=True)
class ProbabilityImprovement:
    """PI: ask where the value is most likely to reach the best one so far (Kushner 1964)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= incumbent)."""
        return maximise(probability_score(belief, belief.incumbent), belief, rng)


@dataclass(frozen=True)
class ExpectedImprovement:
    """EI: ask where the value is expected to improve the most on the best one so far (Mockus 1978)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of E[max(0, f(x) - incumbent)]."""
        score = partial(log_expected_excess, level=belief.incumbent)
        return maximise(MixedScore(belief, score, mix_logs), belief, rng)
