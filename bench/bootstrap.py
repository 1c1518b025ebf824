"""The paired bootstrap of the benches: how far a ratio of means over common runs may be off."""

import numpy as np
from numpy.random import Generator

from satisfice.types import Array


def ratio(pairs: Array, rng: Generator, draws: int = 1000) -> tuple[float, Array]:
    """The mean of the first column of pairs (n, 2) over that of the second, and the same of resampled pairs (draws,)."""
    chosen = rng.integers(len(pairs), size=(draws, len(pairs)))
    means = pairs[chosen].mean(axis=1)
    return float(pairs[:, 0].mean() / pairs[:, 1].mean()), means[:, 0] / means[:, 1]


def interval(samples: Array) -> tuple[float, float]:
    """The middle 95 % of bootstrap samples."""
    low, high = np.quantile(samples, [0.025, 0.975])
    return float(low), float(high)
