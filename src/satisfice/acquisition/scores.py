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
    log_probability,
    mix_logs,
    mix_standard_scores,
    standard_score,
)
from satisfice.acquisition.joint import AnyBelief, JointBelief
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


@dataclass(frozen=True)
class SumScore:
    """The sum of the scores of all requirements: where these are logs, the log of a product.

    Parameters
    ----------
    scores
        The score of each requirement.
    """

    scores: tuple[MixedScore, ...]

    def __call__(self, U: Array) -> Array:
        """The scores (m,) of the points U (m, d)."""
        return np.asarray(sum(score(U) for score in self.scores))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""
        found = [score.with_gradient(U) for score in self.scores]
        return np.asarray(sum(value for value, _ in found)), np.asarray(sum(gradient for _, gradient in found))


Level = float | tuple[float, ...]  # for each requirement one


def probability_score(belief: AnyBelief, level: Level) -> MixedScore | SumScore:
    """P(f(x) >= level) under the mixture, as a standard score: it orders points in the same way and never underflows.

    Of several requirements the log of the product, sum_i log P(f_i(x) >= level_i).

    Parameters
    ----------
    belief
        The members and their weights.
    level
        The value to reach; for several requirements one each.

    Returns
    -------
    MixedScore or SumScore
        The score as a function of points.
    """
    if isinstance(belief, JointBelief) or isinstance(level, tuple):
        return _summed(belief, log_probability, level)
    return MixedScore(belief, partial(standard_score, level=level), mix_standard_scores)


def log_probability_score(belief: AnyBelief, level: Level) -> SumScore:
    """log P(f(x) >= level) under the mixture, or the sum of these for several requirements.

    Parameters
    ----------
    belief
        The members and their weights.
    level
        The value to reach; for several requirements one each.

    Returns
    -------
    SumScore
        The score as a function of points.
    """
    return _summed(belief, log_probability, level)


def excess_score(belief: AnyBelief, level: Level) -> MixedScore | SumScore:
    """log E[max(0, f(x) - level)] under the mixture.

    Of several requirements the log of the expected product of the excesses, which is the product of the expected ones,
    log E[prod_i max(0, f_i(x) - level_i)] = sum_i log E[max(0, f_i(x) - level_i)]: the units of a requirement make no difference.

    Parameters
    ----------
    belief
        The members and their weights.
    level
        The value to exceed; for several requirements one each.

    Returns
    -------
    MixedScore or SumScore
        The score as a function of points.
    """
    if isinstance(belief, JointBelief) or isinstance(level, tuple):
        return _summed(belief, log_expected_excess, level)
    return MixedScore(belief, partial(log_expected_excess, level=level), mix_logs)


def _summed(belief: AnyBelief, formula: Callable[..., Score], level: Level) -> SumScore:
    beliefs = belief.parts if isinstance(belief, JointBelief) else (belief,)
    levels = level if isinstance(level, tuple) else (level,) * len(beliefs)
    parts = zip(beliefs, levels, strict=True)
    return SumScore(tuple(MixedScore(part, partial(formula, level=each), mix_logs) for part, each in parts))


def aspired_score(belief: AnyBelief, points: Array, reach: float) -> tuple[MixedScore | SumScore, Array]:
    """The probability score of the target or, where that is out of reach, of the highest level within reach.

    Within reach is what the highest mean + reach std of the points reaches, or the best value so far. Of several requirements
    all targets are lowered by the same amount, each in the units of its own model, the smallest one with which some point has
    mean_i + reach std_i >= target_i - amount for all i, or with which the best point so far is good.

    Parameters
    ----------
    belief
        The members and their weights.
    points
        The points (m, d) that are looked at.
    reach
        How many standard deviations are within reach.

    Returns
    -------
    score, scores
        The score as a function of points, and its values (m,) at the points.
    """
    if isinstance(belief, JointBelief):
        found = [part.marginals(points) for part in belief.parts]
        overall = [part.mixed(marginals) for part, marginals in zip(belief.parts, found, strict=True)]
        gaps = [part.target - (mean + reach * std) for part, (mean, std) in zip(belief.parts, overall, strict=True)]
        conceded = max(min(float(np.max(gaps, axis=0).min()), belief.shortfall), 0.0)
        total = _summed(belief, log_probability, tuple(target - conceded for target in belief.target))
        return total, np.asarray(sum(score.of(each) for score, each in zip(total.scores, found, strict=True)))
    marginals = belief.marginals(points)
    mean, std = belief.mixed(marginals)
    level = min(belief.target, max(float((mean + reach * std).max()), belief.incumbent))
    score = MixedScore(belief, partial(standard_score, level=level), mix_standard_scores)
    return score, score.of(marginals)


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
