"""A bound on the share of all settings that are good, which needs no model of the objective.

No number of evaluations tells a function from the same function with a needle in it, so no search that gives up can say that
there is no good setting. It can say how rare good settings are at most: settings drawn uniformly and independently are good
with exactly that probability, whatever the function. The bounds are anytime-valid: one may look after every draw, and stop when
one likes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincinv, logsumexp, ndtr

from satisfice.types import Array

RATIOS = np.array([0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4])  # rates of success tried, as multiples of the one tested
WEIGHTS = np.array([0.5, 0.1, 0.1, 0.1, 0.1, 0.1])
MARGINS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0])  # standard deviations below the target
LEVELS = np.arange(8) / 8  # parts of the way from the low end of a range to the target


@dataclass(frozen=True)
class Reading:
    """What one value of a good setting must look like: P(y < level) <= miss for each level.

    Parameters
    ----------
    levels, misses : tuple of float
        Pairs of a level and the largest probability that a value of a good setting lies below it.
    assumption : str
        What that rests on, in words; empty where it rests on nothing.
    spent : float
        The probability that the reading itself is wrong, taken off the error of the bound.
    """

    levels: tuple[float, ...]
    misses: tuple[float, ...]
    assumption: str = ""
    spent: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether a value tells for certain whether its setting is good."""
        return self.misses == (0.0,)


def noise_free(target: float) -> Reading:
    """Values are the truth: a good setting never shows less than the target."""
    return Reading((target,), (0.0,))


def symmetric_noise(target: float) -> Reading:
    """Noise that is as often above zero as below: P(y < target) <= 1/2 at a good setting."""
    return Reading((target,), (0.5,), "for noise that is as often above the true value as below it")


def gaussian_noise(target: float, sd: float, *, spent: float = 0.0) -> Reading:
    """Gaussian noise of at most this standard deviation: P(y < target - c sd) <= Phi(-c), for each of `MARGINS`.

    `spent` is the probability that the noise has a larger one, where `sd` is learned: see `largest_sd`.
    """
    levels = target - MARGINS * sd
    assumption = f"for Gaussian noise with a standard deviation of at most {sd:.3g}"
    return Reading(tuple(levels.tolist()), tuple(ndtr(-MARGINS).tolist()), assumption, spent)


def values_within(target: float, low: float, high: float) -> Reading:
    """Values between `low` and `high`, of any distribution: P(y <= a) <= 1 - (target - a) / (high - a) at a good setting.

    That is Markov's inequality for high - y, whose mean is at most high - target; `a` runs over `LEVELS`. For passes (1) and
    fails (0) and a = 0 it says that a good setting passes with a probability of at least the target.
    """
    a = low + LEVELS * (target - low)
    misses = 1 - (target - a) / (high - a)
    levels = np.nextafter(a, np.inf)
    return Reading(tuple(levels.tolist()), tuple(misses.tolist()), f"for values from {low:g} to {high:g}")


def largest_sd(squares: float, freedom: int, error: float) -> float:
    """The standard deviation that Gaussian noise has at most, with probability 1 - error at all times together.

    sqrt(squares / q), q the quantile error / (m (m + 1)) of the chi-square law with m = `freedom` degrees: the shares of the
    error sum to it over all m, so one may look after every repeat.

    Parameters
    ----------
    squares : float
        The sum of the squared deviations of repeats from the means of their settings.
    freedom : int
        The number of repeats less the number of settings.
    error : float
        The probability of ever being wrong.
    """
    if freedom < 1:
        return np.inf
    return float(np.sqrt(squares / (2 * gammaincinv(0.5 * freedom, error / (freedom * (freedom + 1))))))


@dataclass(frozen=True)
class ShareBound:
    """At most `share` of all settings are good.

    Parameters
    ----------
    share : float
        The bound, a fraction of the domain by volume.
    confidence : float
        The probability that every such bound of a search, at whatever time it is stated, is true.
    draws : int
        How many settings were drawn.
    reached : int
        How many of the draws showed a value that reaches the target.
    assumption : str
        What the bound rests on besides the draws.
    failed : int
        How many more draws gave no value; the share is then one of the settings that give a value.
    """

    share: float
    confidence: float
    draws: int
    reached: int
    assumption: str = ""
    failed: int = 0

    def __str__(self) -> str:
        shown = "gave a value that reaches" if self.assumption else "reached"
        found = f"of {self.draws} drawn at random {self.reached or 'none'} {shown} the target"
        if self.failed:
            found += f"; {self.failed} more {'draw' if self.failed == 1 else 'draws'} failed"
        if self.share >= 1:
            return f"no bound on the share of good settings yet; {found}"
        tail = f"; {self.assumption}" if self.assumption else ""
        those = " that give a value" if self.failed else ""
        sure = f"with {100 * self.confidence:g} % confidence"
        return f"{sure} at most {rounded_up(100 * self.share)} % of all settings{those} are good; {found}{tail}"


def rounded_up(x: float) -> str:
    """A positive number to two significant digits, never below itself, so that "at most" stays true."""
    if x <= 0:
        return "0"
    step = 10.0 ** (floor(log10(x)) - 1)
    return f"{ceil(x / step - 1e-9) * step:.6g}"


def share_bound(values: Array, target: float, reading: Reading, *, error: float = 0.05) -> ShareBound:
    """What values at settings drawn uniformly and independently say of the share of good settings.

    Let s be the share, q = s (1 - miss) and k the number of the n values at or above the level: a draw is above it with
    probability q at least. For each ratio c < 1 the product of likelihood ratios

        E_n(s) = c^k ((1 - c q) / (1 - q))^(n - k)

    is a nonnegative supermartingale, since a success multiplies it by c < 1 and a failure by more than 1: a rate above q can
    only lower its expectation, which is 1 at q. So is its mean over levels and ratios, and by Ville's inequality the true
    share is among those with E_n(s) < 1 / error for all n together, except with probability `error`. E_n rises in s, so these
    are an interval from 0; its end is the bound, the least over all times so far.

    Without noise, with k = 0 and c = 0 it reads s <= 1 - error^(1/n). There the proof is one line: let n0 be the first n with
    1 - error^(1/n) < s. Whenever the claim is false, the first n0 draws were all not good, and that one event has probability
    (1 - s)^n0 < error.

    Parameters
    ----------
    values : array of shape (n,)
        One value of each setting, in the order of the draws, to be maximised. A draw that gave no value is left out; the
        share is then one of the settings that give a value.
    target : float
        What a good setting reaches.
    reading : Reading
        What a value says of its setting.
    error : float
        The probability that any of the bounds of a search is false.

    Returns
    -------
    ShareBound
        With share 1 where nothing can be said.
    """
    values = np.asarray(values, dtype=np.float64)
    reached = int((values >= target).sum())
    above = values[:, None] >= np.array(reading.levels)
    return _bound(above, reached, reading, error)


def joint_share_bound(values: Array, targets: Array, readings: Sequence[Reading], *, error: float = 0.05) -> ShareBound:
    """What values of several requirements at settings drawn at random say of the share that meets all of them.

    A setting that is good in all shows a value of at least level_i in requirement i with probability 1 - miss_i, and in all of
    them together with probability 1 - sum_i miss_i at least, whatever the dependence of their noise. E_n(s) is averaged over the
    tests of all together and of each alone, since the share that meets all is at most the share that meets one. Where the sum of
    the misses is 1 or more, as with symmetric noise of two, the noises are assumed to be independent: prod_i (1 - miss_i).

    Parameters
    ----------
    values : array of shape (n, requirements)
        The values of each setting, to be maximised.
    targets : array of shape (requirements,)
        What a good setting reaches.
    readings : sequence of Reading
        What a value says of its setting, for each requirement.
    error : float
        The probability that any of the bounds of a search is false.

    Returns
    -------
    ShareBound
        With share 1 where nothing can be said.
    """
    reached = int((values >= targets).all(axis=1).sum())
    if all(reading.exact for reading in readings):
        return _bound(np.all(values >= targets, axis=1)[:, None], reached, noise_free(0.0), error)
    columns, misses, together, independent = [], [], [], []
    for k, reading in enumerate(readings):
        for level, miss in zip(reading.levels, reading.misses, strict=True):
            columns.append(values[:, k] >= level)
            misses.append(miss)
    for number in range(max(len(reading.levels) for reading in readings)):
        chosen = [min(number, len(reading.levels) - 1) for reading in readings]
        levels = np.array([reading.levels[at] for reading, at in zip(readings, chosen, strict=True)])
        missed = np.array([reading.misses[at] for reading, at in zip(readings, chosen, strict=True)])
        all_above = np.all(values >= levels, axis=1)
        independent.append((all_above, float(1 - np.prod(1 - missed))))
        if missed.sum() < 1:
            together.append((all_above, float(missed.sum())))
    for all_above, miss in together or independent:
        columns.append(all_above)
        misses.append(miss)
    assumptions = dict.fromkeys(reading.assumption for reading in readings if reading.assumption)
    if not together:
        assumptions["for noise that is independent between the requirements"] = None
    spent = sum(reading.spent for reading in readings)
    joint = Reading((0.0,) * len(misses), tuple(misses), ", ".join(assumptions), spent)
    return _bound(np.column_stack(columns), reached, joint, error)


def _bound(above: npt.NDArray[np.bool_], reached: int, reading: Reading, error: float) -> ShareBound:
    """The bound for the values at or above each level (n, levels)."""
    n, left = len(above), error - reading.spent
    if n == 0 or left <= 0 or not np.isfinite(reading.levels).all() or (reading.exact and reached):
        return ShareBound(1.0, 1 - error, n, reached, reading.assumption)
    seen = np.cumsum(above, axis=0)  # (n, levels)
    counts = np.arange(1, n + 1)
    bar = -np.log(left)
    low, high = 0.0, 1.0
    if log_evidence(counts, seen, high, reading).max() < bar:
        return ShareBound(1.0, 1 - error, n, reached, reading.assumption)
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if log_evidence(counts, seen, middle, reading).max() >= bar else (middle, high)
    return ShareBound(high, 1 - error, n, reached, reading.assumption)


def log_evidence(counts: npt.ArrayLike, above: npt.ArrayLike, share: float, reading: Reading) -> Array:
    """log E_n(share) where `above` (..., levels) of n = `counts` (...) values are at or above each level."""
    k = np.asarray(above)[..., None]
    n = np.asarray(counts)[..., None, None]
    q = np.minimum(share * (1 - np.array(reading.misses)), 1 - 1e-15)[:, None]
    ratios, weights = (RATIOS[:1], np.ones(1)) if reading.exact else (RATIOS, WEIGHTS)
    with np.errstate(divide="ignore", invalid="ignore"):
        hits = np.where(k > 0, k * np.log(ratios), 0.0)  # 0 log 0 = 0
    terms = hits + (n - k) * (np.log1p(-ratios * q) - np.log1p(-q))
    return np.asarray(logsumexp(terms, b=weights / len(reading.levels), axis=(-2, -1)))
