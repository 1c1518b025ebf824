"""The acquisition formulas: arrays in, arrays out, accurate far into the tails.

`mean` and `std` are those of f at m points under one Gaussian, each (m,). A level is the target (PG and EG of the paper) or the
best value so far (PI and EI): the formulas are the same.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr, ndtri, ndtri_exp

from satisfice.types import Array

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_CERTAIN = 8.3  # Phi of more rounds to 1


class Score(NamedTuple):
    """A score (m,) and its derivatives in mean and std, each (m,)."""

    value: Array
    by_mean: Array
    by_std: Array


def standard_score(mean: Array, std: Array, level: float) -> Score:
    """u = (mean - level) / std: it orders points as P(f >= level) does (paper, section 4.1), but never underflows.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    level
        The value to reach.

    Returns
    -------
    Score
        u and its derivatives (m,).
    """
    u = (mean - level) / std
    return Score(u, 1 / std, -u / std)


def probability_good(mean: Array, std: Array, level: float) -> Array:
    """P(f >= level) = Phi(u): PG (paper, eq. pg_acq), or PI over the best value.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    level
        The value to reach.

    Returns
    -------
    Array
        The probabilities (m,).
    """
    return np.asarray(ndtr((mean - level) / std))


def linear_bound(mean: Array, std: Array, by_mean: float, by_std: float) -> Score:
    """by_mean * mean + by_std * std.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    by_mean, by_std
        The coefficients.

    Returns
    -------
    Score
        The bound and its derivatives (m,).
    """
    return Score(by_mean * mean + by_std * std, np.full(len(mean), by_mean), np.full(len(std), by_std))


def distance_bound(mean: Array, std: Array, level: float, by_std: float) -> Score:
    """by_std * std - |mean - level|.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    level
        The value to be close to.
    by_std
        The coefficient.

    Returns
    -------
    Score
        The bound and its derivatives (m,).
    """
    off = mean - level
    return Score(by_std * std - np.abs(off), -np.sign(off), np.full(len(std), by_std))


def log_expected_excess(mean: Array, std: Array, level: float) -> Score:
    """log E[max(0, f - level)] = log(std h(u)), h(u) = phi(u) + u Phi(u): EG (paper, eq. eg_acq), or EI over the best value.

    Its derivatives are Phi / (std h) in the mean and phi / (std h) in the std.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    level
        The value to exceed.

    Returns
    -------
    Score
        The log and its derivatives (m,).
    """
    log_h, by_mean, by_std = _excess((mean - level) / std)
    return Score(np.log(std) + log_h, by_mean / std, by_std / std)


def _phi(u: Array) -> Array:
    return np.exp(-0.5 * u * u - _HALF_LOG_2PI)


def _mills(a: Array) -> Array:
    """Phi(-a) / phi(a) for a >= 0."""
    return np.sqrt(np.pi / 2) * erfcx(a / np.sqrt(2))


def log_cdf_and_hazard(u: Array) -> tuple[Array, Array]:
    """log Phi(u) and its derivative phi(u) / Phi(u) = 1 / Mills(-u), both computed from Mills(|u|)."""
    smaller, larger = _tails(u)
    negative = u < 0
    return np.where(negative, smaller[0], larger[0]), np.where(negative, smaller[1], larger[1])


def _tails(u: Array) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """log Phi and its derivative, at -|u| and at |u|."""
    mills = _mills(np.abs(u))
    log_phi = -0.5 * u * u - _HALF_LOG_2PI
    phi = np.exp(log_phi)
    tail = phi * mills
    return (log_phi + np.log(mills), 1 / mills), (np.log1p(-tail), phi / (1 - tail))


def _excess(u: Array) -> Score:
    """log h(u), Phi(u) / h(u) and phi(u) / h(u), where h(u) = phi(u) + u Phi(u).

    There are three branches: the plain sum for u > -1; below, h = phi(u) bracket(|u|) with bracket(a) = 1 - a Mills(a), which has
    lost three digits at a = 50; beyond that, its asymptotic series a^-2 (1 - 3 a^-2 + 15 a^-4 - ...).
    """
    near = np.maximum(u, -1.0)
    h = _phi(near) + near * ndtr(near)
    a = np.maximum(-u, 1.0)
    far = np.maximum(a, 50.0)
    q = far**-2.0
    bracket = np.where(a < 50, 1 - a * _mills(a), q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q)))))
    plain = u > -1
    return Score(
        np.where(plain, np.log(h), -0.5 * u * u - _HALF_LOG_2PI + np.log(bracket)),
        np.where(plain, ndtr(near) / h, _mills(a) / bracket),
        np.where(plain, _phi(near) / h, 1 / bracket),
    )


def mix_logs(log_weights: Array, values: Array) -> tuple[Array, Array]:
    """log sum_k w_k exp(values[k]) (m,) and its derivatives in the values (k, m), for log utilities (k, m).

    Parameters
    ----------
    log_weights
        The logs of the members' weights (k,).
    values
        The log utility under each member (k, m).

    Returns
    -------
    mixed, derivatives
        The log of the average (m,), and its derivatives in the values (k, m).
    """
    weighted = log_weights[:, None] + values
    total = np.logaddexp.reduce(weighted, axis=0)
    return total, np.exp(weighted - np.where(np.isfinite(total), total, 0.0))


def mix_standard_scores(log_weights: Array, u: Array) -> tuple[Array, Array]:
    """The score u* with Phi(u*) = sum_k w_k Phi(u[k]) (m,), and its derivatives in u (k, m).

    The smaller of the two tails is summed in logs, so that u* is accurate where the probability rounds to 0 or 1. The derivative
    w_k phi(u[k]) / phi(u*) is computed as the share of the member in that tail times a ratio of hazards: the densities themselves
    would be differences of squares.

    Parameters
    ----------
    log_weights
        The logs of the members' weights (k,).
    u
        The standard score under each member (k, m).

    Returns
    -------
    mixed, derivatives
        u* (m,), and its derivatives in u (k, m).
    """
    smaller, larger = _tails(u)
    negative = u < 0
    below = np.where(negative, smaller[0], larger[0])
    above = np.where(negative, larger[0], smaller[0])
    lower = np.logaddexp.reduce(log_weights[:, None] + below, axis=0)
    upper = np.logaddexp.reduce(log_weights[:, None] + above, axis=0)
    is_lower = lower < upper
    least = np.minimum(lower, upper)
    small = ndtri_exp(least)
    shares = np.exp(log_weights[:, None] + np.where(is_lower, below, above) - least)
    hazard = np.where(is_lower == negative, smaller[1], larger[1])
    return np.where(is_lower, small, -small), shares * hazard * _mills(-small)


def quantile_of_maximum(mean: Array, std: Array, p: float, above: Array | float = -np.inf) -> Array:
    """The p-quantile of max_i f_i for independent f_i ~ N(mean_i, std_i^2).

    log F(m) = sum_i log Phi((m - mean_i) / std_i). Newton's method is applied to log(-log F(m)), which is decreasing, concave
    and, since a maximum is nearly Gumbel, nearly linear: the first step overshoots slightly at most, and the others come back.
    It starts at or left of the root, at max_i (mean_i + std_i Phi^-1(p)). No Phi is ever below p, so plain logs and ratios are
    accurate; terms that round to 1 are left out, and so is every maximum whose quantile has been found.

    Parameters
    ----------
    mean, std
        Those of f_i; i runs over the last axis.
    p
        The probability.
    above
        Points known to lie left of the quantiles.

    Returns
    -------
    Array
        The quantiles, one for each maximum.
    """
    wanted = np.log(-np.log(p))
    start = np.maximum((mean + std * ndtri(p)).max(axis=-1), above)
    counted = ~(start[..., None] - mean > _CERTAIN * std)
    mean, std = mean[counted], np.broadcast_to(std, mean.shape)[counted]
    counts = counted.sum(axis=-1).ravel()
    m, left = start.ravel(), np.arange(start.size)
    for _ in range(12):
        first = np.cumsum(counts) - counts
        u = (np.repeat(m[left], counts) - mean) / std
        cdf = ndtr(u)
        log_cdf = np.minimum(np.add.reduceat(np.log(cdf), first), -1e-300)
        excess = np.log(-log_cdf) - wanted
        m[left] -= excess * log_cdf / np.add.reduceat(_phi(u) / (cdf * std), first)
        off = np.abs(excess) >= 1e-4  # otherwise the last step has squared the error
        if not off.any():
            break
        stay = np.repeat(off, counts)
        mean, std, counts, left = mean[stay], std[stay], counts[off], left[off]
    return m.reshape(start.shape)


class Gumbel(NamedTuple):
    """P(max <= m) = exp(-exp(-(m - location) / scale)), the law that max-value entropy search fits to a maximum."""

    location: Array
    scale: Array

    def quantile(self, p: Array) -> Array:
        """The value below which the maximum stays with probability p."""
        return self.location - self.scale * np.log(-np.log(p))

    def probability_above(self, level: float) -> Array:
        """P(max >= level)."""
        return -np.expm1(-np.exp(np.clip(-(level - self.location) / self.scale, -700.0, 700.0)))


def gumbel_of_maximum(mean: Array, std: Array) -> Gumbel:
    """The Gumbel law with the quartiles .25 and .75 of max_i f_i (Wang and Jegelka 2017, section 3.1).

    Parameters
    ----------
    mean, std
        Those of f_i; i runs over the last axis.

    Returns
    -------
    Gumbel
        One law for each maximum.
    """
    low = quantile_of_maximum(mean, std, 0.25)
    high = quantile_of_maximum(mean, std, 0.75, above=low)
    scale = np.maximum((high - low) / (np.log(-np.log(0.25)) - np.log(-np.log(0.75))), 1e-12)
    return Gumbel(low + scale * np.log(-np.log(0.25)), scale)


def max_value_information(mean: Array, std: Array, maxima: Array) -> Score:
    """The information about the maximum of f, averaged over draws of it (Wang and Jegelka 2017, eq. 6).

    This is the mean over the maxima m of g phi(g) / (2 Phi(g)) - log Phi(g), g = (m - mean) / std: the reduction of the entropy
    of f(x) from knowing that it stays below m.

    Parameters
    ----------
    mean, std
        Those of f (m,).
    maxima
        Draws of the maximum (draws,).

    Returns
    -------
    Score
        The information in nats, and its derivatives (m,).
    """
    g = (maxima[:, None] - mean) / std
    log_cdf, hazard = log_cdf_and_hazard(g)
    value = 0.5 * g * hazard - log_cdf
    slope = -0.5 * hazard * (1 + g * (g + hazard))  # d/dg, with hazard' = -hazard (g + hazard)
    return Score(value.mean(axis=0), -slope.mean(axis=0) / std, -(slope * g).mean(axis=0) / std)
