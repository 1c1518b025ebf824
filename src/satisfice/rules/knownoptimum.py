"""Rules for a known optimum f*, here the target: erm and cbm (Nguyen and Osborne 2020).

Both model f = f* - g^2 / 2, which cannot exceed f*, by a Gaussian process g with values sqrt(2 (f* - y_i)). The prior mean of g
is sqrt(2 f*), so that f has prior mean 0, and its kernel is that of f, which assumes values of about unit variance. To first
order, f is Gaussian with mean f* - mu_g^2 / 2 and standard deviation |mu_g| sigma_g.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import Score, distance_bound, log_expected_excess, mix_logs
from satisfice.acquisition.optimise import maximise
from satisfice.acquisition.scores import Formula, Mix, MixedScore
from satisfice.rules.widths import Width, sqrt_log
from satisfice.types import Array

LEAST = 1e-9  # smallest std of f, so that the logarithm of the regret stays finite where g is 0


def minus_log_regret(mean: Array, std: Array, optimum: float) -> Score:
    """-log E[max(0, f* - f)], where E[max(0, f* - f)] = (f* - mean) Phi(z) + std phi(z), z = (f* - mean) / std.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    optimum
        f*.

    Returns
    -------
    Score
        The score and its derivatives (m,).
    """
    value, by_mean, by_std = log_expected_excess(-mean, std, -optimum)
    return Score(-value, by_mean, -by_std)


def through_square(mean: Array, std: Array, optimum: float, prior: float, formula: Formula) -> Score:
    """Turn a formula of the mean and std of f = f* - (prior + g)^2 / 2 into one of the mean and std of g.

    Parameters
    ----------
    mean, std
        Those of g (m,).
    optimum
        f*.
    prior
        The prior mean of g.
    formula
        The formula for f.

    Returns
    -------
    Score
        The score and its derivatives in the mean and std of g (m,).
    """
    mu = prior + mean
    spread = np.abs(mu) * std
    value, by_mean, by_std = formula(optimum - 0.5 * mu**2, np.maximum(spread, LEAST))
    by_spread = np.where(spread > LEAST, by_std, 0.0)
    return Score(value, -mu * by_mean + np.sign(mu) * std * by_spread, np.abs(mu) * by_spread)


def _mix_regrets(log_weights: Array, values: Array) -> tuple[Array, Array]:
    """-log of the average of exp(-value), and its derivatives."""
    mixed, shares = mix_logs(log_weights, -values)
    return -mixed, shares


def _mix_means(log_weights: Array, values: Array) -> tuple[Array, Array]:
    """The average, and its derivatives."""
    weights = np.exp(log_weights)
    return weights @ values, np.broadcast_to(weights[:, None], values.shape)


def _score(belief: Belief, formula: Formula, mix: Mix, transformed: bool) -> MixedScore:
    """A formula of f, or of the transformed f, mixed over the members."""
    if not transformed:
        return MixedScore(belief, formula, mix)
    optimum = belief.target
    prior = float(np.sqrt(2 * max(optimum, 0.0)))
    roots = tuple((w, p.with_values(np.sqrt(2 * np.maximum(optimum - p.y, 0.0)) - prior)) for w, p in belief.members)
    square = partial(through_square, optimum=optimum, prior=prior, formula=formula)
    return MixedScore(replace(belief, members=roots), square, mix)


@dataclass(frozen=True)
class ExpectedRegret:
    """ERM: minimise the expected regret E[max(0, f* - f(x))], averaged over the members (Nguyen and Osborne 2020).

    Parameters
    ----------
    transformed
        Whether f is modelled through g, as in the source.
    """

    transformed: bool = True

    def score(self, belief: Belief) -> MixedScore:
        """-log E[max(0, f* - f(x))] as a function of points."""
        return _score(belief, partial(minus_log_regret, optimum=belief.target), _mix_regrets, self.transformed)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The minimiser of the expected regret."""
        return maximise(self.score(belief), belief, rng)


@dataclass(frozen=True)
class ConfidenceBoundMinimisation:
    """CBM: minimise |mu(x) - f*| + width(t) sigma(x), averaged over the members (Nguyen and Osborne 2020).

    Parameters
    ----------
    width
        beta_t^{1/2} of the source.
    transformed
        Whether f is modelled through g, as in the source.
    """

    width: Width = sqrt_log
    transformed: bool = True

    def score(self, belief: Belief) -> MixedScore:
        """-(|mu(x) - f*| + width(t) sigma(x)) as a function of points."""
        formula = partial(distance_bound, level=belief.target, by_std=-self.width(belief.step))
        return _score(belief, formula, _mix_means, self.transformed)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The minimiser of the bound."""
        return maximise(self.score(belief), belief, rng)
