"""Estimates and tests from blocks of runs. Nothing here knows of rules, problems or claims.

A block is what is independent of everything else: the runs that start from the same points. Every test of a mean flips the signs
of the blocks' values, which needs no distribution but symmetry, and of a skewed one only that there are many blocks.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.random import default_rng

from satisfice.types import Array

LEVEL = 0.05  # of every verdict: the largest probability of calling a false statement shown, or a true one refuted
EXACT = 12  # with so many blocks at most, all signs are enumerated
DRAWS = 10_000  # of signs, where there are more blocks
SEED = 2021
TIE = 1e-9  # sums that differ by less than this share of the whole are equal


@lru_cache(maxsize=4)
def _signs(blocks: int) -> Array:
    """All signs (2^blocks, blocks), or random ones (DRAWS, blocks)."""
    if blocks <= EXACT:
        bits = np.arange(2**blocks)[:, None] >> np.arange(blocks)
        return np.asarray(1.0 - 2.0 * (bits & 1))
    return np.asarray(1.0 - 2.0 * default_rng([SEED, blocks]).integers(0, 2, (DRAWS, blocks)))


def p_below(values: Array) -> float:
    """The p-value of the statement that the mean of the blocks' values (n,) is below 0, against 0 or more.

    P(sum of +-|v_i| <= sum of v_i) over random signs, the observed ones among them: a sign-flip test. With n blocks it is at
    least 2^-n, so that fewer than five decide nothing at 5 %.
    """
    if len(values) == 0:
        return 1.0
    sums = _signs(len(values)) @ np.abs(values)
    reached = np.count_nonzero(sums <= np.sum(values) + TIE * np.sum(np.abs(values)))
    observed = int(len(values) > EXACT)  # is one of all signs, but not of random ones
    return float((reached + observed) / (len(sums) + observed))


def least_p(blocks: int) -> float:
    """The smallest p-value that `p_below` can give with so many blocks."""
    return 0.5**blocks if blocks <= EXACT else 1 / (DRAWS + 1)


def p_least_above(a: Array, b: Array) -> float:
    """The p-value of the statement that the smallest mean of the columns of a (n, j) is above that of b (n, k).

    That is so where for some k every a_j is above b_k. For one k all j must be shown, each by itself (an intersection-union
    test); any k will do, so that the smallest p-value is multiplied by their number. No column is chosen by its outcome.
    """
    columns = range(b.shape[1])
    by_column = [max(p_below(b[:, k] - a[:, j]) for j in range(a.shape[1])) for k in columns]
    return min(1.0, len(columns) * min(by_column))


def p_share(successes: int, runs: int, share: float) -> tuple[float, float]:
    """Exact binomial p-values of the statements that the probability of success is above the share, and below it."""
    from scipy.stats import binom

    return float(binom.sf(successes - 1, runs, share)), float(binom.cdf(successes, runs, share))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for their number (Holm 1979): those at most LEVEL are wrong in LEVEL of all cases together."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def pseudo_values(statistic: Callable[[Array], Array], rows: Array) -> Array:
    """The jackknife's pseudo-values (n,) of a smooth statistic of the column means of rows (n, k).

    n s(all) - (n - 1) s(all but i). `statistic` takes means (m, k) and returns (m,). The mean of the pseudo-values estimates the
    statistic without its first-order bias, and they can be tested like values of blocks.
    """
    n = len(rows)
    if n < 2:
        return np.empty(0)
    total = rows.sum(axis=0)
    return np.asarray(n * statistic(total[None] / n) - (n - 1) * statistic((total - rows) / (n - 1)))


def standard_error(values: Array) -> float:
    """Of the mean of blocks' values; NaN for a single one."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
