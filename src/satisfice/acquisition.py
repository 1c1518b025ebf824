"""The acquisition formulas: arrays in, arrays out; exact far out in the tails.

`mean` and `std` are those of f at m points under one Gaussian, each (m,). A level is the target (the paper's PG and EG) or the
best value so far (PI and EI): the formulas are the same.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp

from satisfice.types import Array

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


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
    """log Phi(u), with derivatives by the hazard phi(u) / Phi(u) = 1 / Mills(-u)."""
    u = (mean - level) / std
    hazard = np.where(u < 0, 1 / _mills(np.maximum(-u, 0.0)), _phi(u) / ndtr(np.maximum(u, 0.0)))
    return Score(log_ndtr(u), hazard / std, -hazard * u / std)


def expected_excess(mean: Array, std: Array, level: float) -> Array:
    """E[max(0, f - level)] = std h(u), h(u) = phi(u) + u Phi(u): EG (paper, eq. eg_acq), or EI over the best value."""
    return std * np.exp(_excess((mean - level) / std).value)


def log_expected_excess(mean: Array, std: Array, level: float) -> Score:
    """log(std h(u)), with derivatives Phi / (std h) in the mean and phi / (std h) in the std."""
    log_h, by_mean, by_std = _excess((mean - level) / std)
    return Score(np.log(std) + log_h, by_mean / std, by_std / std)


def upper_confidence(mean: Array, std: Array, width: float) -> Score:
    """mean + width * std, width = beta_t^{1/2} (paper, eq. ucb)."""
    return Score(mean + width * std, np.ones_like(mean), np.full_like(mean, width))


def _phi(u: Array) -> Array:
    return np.exp(-0.5 * u * u - _HALF_LOG_2PI)


def _mills(a: Array) -> Array:
    """Phi(-a) / phi(a) for a >= 0."""
    return np.sqrt(np.pi / 2) * erfcx(a / np.sqrt(2))


def _excess(u: Array) -> Score:
    """log h(u), Phi(u) / h(u) and phi(u) / h(u), where h(u) = phi(u) + u Phi(u).

    Three branches: the plain sum for u > -1; below, h = phi(u) bracket(|u|) with bracket(a) = 1 - a Mills(a), which has lost
    three digits at a = 50; from there on its asymptotic series a^-2 (1 - 3 a^-2 + 15 a^-4 - ...).
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
    """log sum_k w_k exp(values[k]) (m,) and its derivatives in the values (k, m), for log utilities (k, m)."""
    weighted = log_weights[:, None] + values
    total = np.logaddexp.reduce(weighted, axis=0)
    return total, np.exp(weighted - np.where(np.isfinite(total), total, 0.0))


def mix_standard_scores(log_weights: Array, u: Array) -> tuple[Array, Array]:
    """The score u* with Phi(u*) = sum_k w_k Phi(u[k]) (m,), and its derivatives in u (k, m).

    Whichever of the two tails is smaller is summed in logs, so that u* is exact where the probability rounds to 0 or 1.
    """
    lower = np.logaddexp.reduce(log_weights[:, None] + log_ndtr(u), axis=0)
    upper = np.logaddexp.reduce(log_weights[:, None] + log_ndtr(-u), axis=0)
    mixed = np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))
    return mixed, np.exp(log_weights[:, None] + 0.5 * (mixed * mixed - u * u))
