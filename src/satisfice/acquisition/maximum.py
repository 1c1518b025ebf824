"""The law of the maximum of f: its quantiles, its Gumbel law, and the information about it."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from satisfice.acquisition.formulas import Score, log_cdf_and_hazard, normal_density
from satisfice.types import Array

CERTAIN = 8.3  # Phi of more rounds to 1


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
    counted = ~(start[..., None] - mean > CERTAIN * std)
    mean, std = mean[counted], np.broadcast_to(std, mean.shape)[counted]
    counts = counted.sum(axis=-1).ravel()
    m, left = start.ravel(), np.arange(start.size)
    for _ in range(12):
        first = np.cumsum(counts) - counts
        u = (np.repeat(m[left], counts) - mean) / std
        cdf = ndtr(u)
        log_cdf = np.minimum(np.add.reduceat(np.log(cdf), first), -1e-300)
        excess = np.log(-log_cdf) - wanted
        m[left] -= excess * log_cdf / np.add.reduceat(normal_density(u) / (cdf * std), first)
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
