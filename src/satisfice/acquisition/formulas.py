"""The acquisition formulas: arrays in, arrays out, accurate far into the tails.

`mean` and `std` are those of f at m points under one Gaussian, each (m,). A level is the target (PG and EG of the paper) or the
best value so far (PI and EI): the formulas are the same.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, ndtr, ndtri_exp

from satisfice.types import Array

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


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


def log_probability(mean: Array, std: Array, level: float) -> Score:
    """log P(f >= level) = log Phi(u), u = (mean - level) / std; its derivative in u is phi(u) / Phi(u).

    Parameters
    ----------
    mean, std
        Those of f (m,).
    level
        The value to reach.

    Returns
    -------
    Score
        The log and its derivatives (m,).
    """
    u = (mean - level) / std
    value, hazard = log_cdf_and_hazard(u)
    return Score(value, hazard / std, -u * hazard / std)


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


def normal_density(u: Array) -> Array:
    """phi(u) = exp(-u^2 / 2) / sqrt(2 pi)."""
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
    h = normal_density(near) + near * ndtr(near)
    a = np.maximum(-u, 1.0)
    far = np.maximum(a, 50.0)
    q = far**-2.0
    bracket = np.where(a < 50, 1 - a * _mills(a), q * (1 - 3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q)))))
    plain = u > -1
    return Score(
        np.where(plain, np.log(h), -0.5 * u * u - _HALF_LOG_2PI + np.log(bracket)),
        np.where(plain, ndtr(near) / h, _mills(a) / bracket),
        np.where(plain, normal_density(near) / h, 1 / bracket),
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
