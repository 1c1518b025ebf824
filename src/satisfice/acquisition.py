"""The acquisition formulas: arrays in, arrays out; exact far out in the tails.

`mean` and `std` are those of f at m points under one Gaussian, each (m,). A level is the target (the paper's PG and EG) or the
best value so far (PI and EI): the formulas are the same.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp

from satisfice.types import Array

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
_MILLS = np.sqrt(np.pi / 2)


class Score(NamedTuple):
    """A score (m,) and its derivatives in mean and std, each (m,)."""

    value: Array
    by_mean: Array
    by_std: Array


def standard_score(mean: Array, std: Array, level: float) -> Score:
    """u = (mean - level) / std, which orders points as P(f >= level) does (paper, section 4.1) but never underflows."""
    u = (mean - level) / std
    return Score(u, 1 / std, -u / std)


def probability_good(mean: Array, std: Array, level: float) -> Array:
    """P(f >= level) = Phi(u): PG (paper, eq. pg_acq), or PI over the best value."""
    return np.asarray(ndtr((mean - level) / std))


def log_probability_good(mean: Array, std: Array, level: float) -> Score:
    """log Phi(u), with derivatives by phi(u) / Phi(u)."""
    u = (mean - level) / std
    value = log_ndtr(u)
    slope = np.exp(-0.5 * u * u - _HALF_LOG_2PI - value)
    deep = u < -1e7  # there phi / Phi = |u| to the last digit, while the exponents above cancel
    slope = np.where(deep, -u, slope)
    return Score(value, slope / std, -slope * u / std)


def expected_excess(mean: Array, std: Array, level: float) -> Array:
    """E[max(0, f - level)] = std h(u), h(u) = phi(u) + u Phi(u): EG (paper, eq. eg_acq), or EI over the best value."""
    return std * np.exp(_log_h((mean - level) / std))


def log_expected_excess(mean: Array, std: Array, level: float) -> Score:
    """log(std h(u)), with derivatives Phi / (std h) in the mean and phi / (std h) in the std."""
    u = (mean - level) / std
    log_h = _log_h(u)
    by_mean = np.exp(log_ndtr(u) - log_h)
    by_std = np.exp(-0.5 * u * u - _HALF_LOG_2PI - log_h)
    deep = u < -1e4  # Phi / h = |u| + 2/|u| and phi / h = u^2 + 3 there, up to u^-3
    by_mean = np.where(deep, -u - 2 / np.where(deep, u, -1.0), by_mean)
    by_std = np.where(deep, u * u + 3, by_std)
    return Score(np.log(std) + log_h, by_mean / std, by_std / std)


def upper_confidence(mean: Array, std: Array, width: float) -> Score:
    """mean + width * std, width = beta_t^{1/2} (paper, eq. ucb)."""
    return Score(mean + width * std, np.ones_like(mean), np.full_like(mean, width))


def _log_h(u: Array) -> Array:
    """log(phi(u) + u Phi(u)).

    Three branches: the plain sum for u > -1; phi(u) (1 - |u| Mills(|u|)) with the scaled erfc down to -50, where the
    bracket has lost three digits; from there the asymptotic series of the bracket, u^-2 (1 - 3 u^-2 + 15 u^-4 - ...).
    """
    near = np.maximum(u, -1.0)
    plain = np.log(np.exp(-0.5 * near * near - _HALF_LOG_2PI) + near * ndtr(near))
    a = np.clip(-u, 1.0, 50.0)
    tail = np.log1p(-a * _MILLS * erfcx(a / np.sqrt(2)))
    far = np.maximum(-u, 50.0)
    q = far**-2.0
    series = np.log1p(-3 * q * (1 - 5 * q * (1 - 7 * q * (1 - 9 * q)))) - 2 * np.log(far)
    bracket = np.where(u > -50, tail, series)
    return np.where(u > -1, plain, -0.5 * u * u - _HALF_LOG_2PI + bracket)


def mix_logs(log_weights: Array, values: Array) -> tuple[Array, Array]:
    """log sum_k w_k exp(values[k]) (m,) and its derivatives in the values (k, m), for log utilities (k, m)."""
    weighted = log_weights[:, None] + values
    total = np.logaddexp.reduce(weighted, axis=0)
    return total, np.exp(weighted - np.where(np.isfinite(total), total, 0.0))


def mix_standard_scores(log_weights: Array, u: Array) -> tuple[Array, Array]:
    """The score u* with Phi(u*) = sum_k w_k Phi(u[k]) (m,), and its derivatives in u (k, m).

    Whichever of the two tails is smaller is summed in logs, so that u* is exact where the probability rounds to 0 or 1.
    """
    if len(u) == 1:
        return u[0], np.ones_like(u)
    lower = np.logaddexp.reduce(log_weights[:, None] + log_ndtr(u), axis=0)
    upper = np.logaddexp.reduce(log_weights[:, None] + log_ndtr(-u), axis=0)
    mixed = np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))
    return mixed, np.exp(log_weights[:, None] + 0.5 * (mixed * mixed - u * u))
