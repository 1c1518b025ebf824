"""Scores of points under a belief: a formula averaged over the members, or applied to the overall mean and std."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import (
    Score,
    linear_bound,
    log_expected_excess,
    mix_logs,
    mix_standard_scores,
    standard_score,
)
from satisfice.gp.posterior import Marginal
from satisfice.types import Array

Formula = Callable[[Array, Array], Score]  # mean, std -> score and derivatives
Mix = Callable[[Array, Array], tuple[Array, Array]]  # log weights (k,), scores (k, m) -> mixed (m,), derivatives (k, m)


@dataclass(frozen=True)
class MixedScore:
    """A formula of the marginal under each member, averaged over the members.

    Parameters
    ----------
    belief
        The members and their weights.
    formula
        The mean and std under a member -> its score.
    mix
        Averages the scores of the members.
    """

    belief: Belief
    formula: Formula
    mix: Mix

    def __call__(self, U: Array) -> Array:
        """The scores (m,) of the points U (m, d)."""
        return self.of(self.belief.marginals(U))

    def of(self, marginals: list[Marginal]) -> Array:
        """The scores (m,), given the marginals under each member."""
        values = [self.formula(*marginal).value for marginal in marginals]
        if len(values) == 1:
            return values[0]
        return self.mix(self.belief.log_weights, np.stack(values))[0]

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d), by the chain rule through mean and std."""
        if (stack := self.belief.stack) is not None:
            together = stack.marginals_with_vjp(U)
            shape = together.mean.shape
            value, by_mean, by_std = (
                part.reshape(shape) for part in self.formula(together.mean.ravel(), together.std.ravel())
            )
            mixed, shares = self.mix(self.belief.log_weights[stack.order], value)
            return mixed, together.vjp(shares * by_mean, shares * by_std)
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


@dataclass(frozen=True)
class OverallScore:
    """A formula of the mean and std under the whole mixture.

    Parameters
    ----------
    belief
        The members and their weights.
    formula
        The overall mean and std -> the score.
    """

    belief: Belief
    formula: Formula

    def __call__(self, U: Array) -> Array:
        """The scores (m,) of the points U (m, d)."""
        return self.formula(*self.belief.marginal(U)).value

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""
        found = self.belief.marginal_with_vjp(U)
        value, by_mean, by_std = self.formula(found.mean, found.std)
        return value, found.vjp(by_mean, by_std)


def probability_score(belief: Belief, level: float) -> MixedScore:
    """P(f(x) >= level) under the mixture, as a standard score: it orders points in the same way and never underflows.

    Parameters
    ----------
    belief
        The members and their weights.
    level
        The value to reach.

    Returns
    -------
    MixedScore
        The score as a function of points.
    """
    return MixedScore(belief, partial(standard_score, level=level), mix_standard_scores)


def excess_score(belief: Belief, level: float) -> MixedScore:
    """log E[max(0, f(x) - level)] under the mixture.

    Parameters
    ----------
    belief
        The members and their weights.
    level
        The value to exceed.

    Returns
    -------
    MixedScore
        The score as a function of points.
    """
    return MixedScore(belief, partial(log_expected_excess, level=level), mix_logs)


def bound_score(belief: Belief, by_mean: float, by_std: float) -> OverallScore:
    """by_mean * mean + by_std * std of the mixture: an upper confidence bound, for example.

    Parameters
    ----------
    belief
        The members and their weights.
    by_mean, by_std
        The coefficients.

    Returns
    -------
    OverallScore
        The score as a function of points.
    """
    return OverallScore(belief, partial(linear_bound, by_mean=by_mean, by_std=by_std))
