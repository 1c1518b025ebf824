"""Certificates: anytime-valid tests of H0: f < target, from fresh values at one point.

Each test is an e-process E_m of the fresh values y_1, ..., y_m: a nonnegative process whose expectation under H0 is at most 1
at every stopping time. Hence P(E_m >= 1 / level for any m) <= level (Ville's inequality): you may look after every value, stop
at any time and continue later. E_m decreases in the target, so the targets that are not rejected form a confidence sequence,
and the target may be chosen after the values.

For Gaussian noise of known standard deviation the bar that E_m must reach is lower than 1 / level. E_m is the likelihood ratio
of a mixture P over P0, the law at f = target; of the first time T at which it reaches a bar b,

    P0(T < infinity) = E_P[1 / E_T; T < infinity] = (1 / b) E_P[b / E_T; T < infinity],

and since E_m jumps over the bar, the last factor is below exp(-credit) for every b >= 2. So b = exp(-credit) / level is enough
(`bar`). Where f lies below the target, or the noise is smaller, every path that reaches the bar would also reach it at the target
with the stated noise, so it is reached more rarely still.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import betaln, erfcx, hyp2f1, log_ndtr, logsumexp, stdtr

from satisfice.errors import BadInput
from satisfice.types import LARGEST, Array

PRIOR = 0.5  # variance of the half-normal mixture over (f - target) / sigma; suits gaps from a fifth of sigma upwards
BETS = (np.arange(64) + 0.5) / 64  # the shares of the capital over which bets are mixed
SKEWED = 2.5  # replicates are called skewed beyond this many standard errors of the skewness
FARTHEST = 1e100  # distances from the target are clipped to this many standard deviations
TINY = 1e-200  # smaller probabilities may have underflowed
FEW = 8  # with fewer replicates, skewness cannot be judged


class EProcess(Protocol):
    """An e-process for H0: f < target."""

    @property
    def guarantee(self) -> str:
        """The assumption of the certificate, in words."""

    @property
    def gaussian(self) -> bool:
        """Whether the guarantee assumes Gaussian noise."""

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise; 0 if unknown."""

    @property
    def credit(self) -> float:
        """By how much log E_m may fall short of log(1 / level), since it jumps over the bar."""

    def log_evidence(self, values: Array, target: float) -> float:
        """log E_m of the fresh values (m,)."""

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """About what each further value adds to log E_m if f lies `gap` above the target and the noise has std sigma."""


@dataclass(frozen=True)
class KnownNoise:
    """Gaussian noise of known standard deviation: the likelihood ratio, mixed over f above the target.

    Parameters
    ----------
    sigma
        The standard deviation.
    """

    sigma: float
    guarantee = "valid for Gaussian noise with the stated standard deviation"
    gaussian = True
    credit: ClassVar[float] = 0.26

    def log_evidence(self, values: Array, target: float) -> float:
        """log 2 - log(1 + m r) / 2 + w^2 / 2 + log Phi(w), w = sqrt(r / (1 + m r)) sum (y - target) / sigma."""
        m = len(values)
        with np.errstate(over="ignore", invalid="ignore"):  # `FARTHEST` clips it
            above = np.clip(np.nan_to_num((values - target) / self.sigma), -FARTHEST, FARTHEST)
        w = np.sqrt(PRIOR / (1 + m * PRIOR)) * float(above.sum())
        # far below the target, w^2 / 2 and log Phi(w) would cancel, and rounding errors alone could certify
        tail = 0.5 * w * w + log_ndtr(w) if w > 0 else np.log(0.5 * erfcx(-w / np.sqrt(2)))
        return float(np.log(2) - 0.5 * np.log1p(m * PRIOR) + tail)

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """gap^2 / (2 sigma^2)."""
        return 0.5 * (gap / sigma) ** 2


@dataclass(frozen=True)
class LearnedNoise:
    """Gaussian noise of unknown standard deviation: as `KnownNoise`, with the invariant prior d sigma / sigma, in closed form.

    With S = sum (y - target) and V = sum (y - target)^2, mixing exp(-m d^2 / 2) E exp(d S / sqrt(V) u), u ~ chi_m, over a
    half-normal d gives a Student distribution function. For f below the target this is a supermartingale, since E_m increases in
    the statistic S / sqrt(V) while the likelihood ratio of a lower f decreases in it.
    """

    guarantee = "valid for Gaussian noise of any standard deviation"
    gaussian = True
    sigma = 0.0
    credit: ClassVar[float] = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """log 2 - log(1 + m r) / 2 - (m / 2) log(1 - a) + log T_m(sqrt(m a / (1 - a)) sign S), a = r S^2 / ((1 + m r) V)."""
        m = len(values)
        with np.errstate(over="ignore"):
            above = np.clip(values - target, -LARGEST, LARGEST)
        size = float(np.abs(above).max(initial=0.0))
        if size == 0:
            return -0.5 * float(np.log1p(m * PRIOR))
        above = above / size  # squares can neither over- nor underflow
        total = float(above.sum())
        a = PRIOR * total**2 / ((1 + m * PRIOR) * float((above**2).sum()))
        student = float(stdtr(m, np.sign(total) * np.sqrt(m * a / (1 - a))))
        if student > TINY:
            tail = np.log(student) - 0.5 * m * np.log1p(-a)
        else:  # far below the target: T_m = I_{1 - a}(m / 2, 1 / 2) / 2, whose factor (1 - a)^{m / 2} cancels
            series = np.log(hyp2f1(0.5 * (m + 1), 1.0, 0.5 * m + 1, 1 - a))
            tail = 0.5 * np.log(a) - np.log(m) - betaln(0.5 * m, 0.5) + series
        return float(np.log(2) - 0.5 * np.log1p(m * PRIOR) + tail)

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """log(1 + gap^2 / sigma^2) / 2."""
        return 0.5 * float(np.log1p((gap / sigma) ** 2))


@dataclass(frozen=True)
class Bounded:
    """Values of any distribution between two bounds: the capital of a mixture of bets against H0.

    A bet of the share b multiplies the capital by 1 + b ((y - low) / (target - low) - 1), whose expectation is at most 1 if the
    mean of y is below the target.

    Parameters
    ----------
    low, high
        The bounds.
    """

    low: float
    high: float
    guarantee = "valid for any distribution of values within the stated range"
    gaussian = False
    sigma = 0.0
    credit: ClassVar[float] = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """The log of the mean over b of prod (1 + b ((y - low) / (target - low) - 1))."""
        if target <= self.low:  # every value reaches it
            return np.inf
        gains = (values - self.low) / (target - self.low) - 1
        return float(logsumexp(np.log1p(BETS[:, None] * gains).sum(axis=1)) - np.log(len(BETS)))

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """log(1 + gap^2 / sigma^2) / 2, about what the best bet gains, clipped to the possible range.

        The best bet gains at least the relative entropy of the two means, as for passes and fails, and at most what values at the
        upper bound gain.
        """
        end = self.high - self.low
        bar, mean = (min(max(share / end, 1e-12), 1 - 1e-12) for share in (target - self.low, target + gap - self.low))
        least = mean * np.log(mean / bar) + (1 - mean) * np.log((1 - mean) / (1 - bar))
        return float(np.clip(0.5 * np.log1p((gap / sigma) ** 2), least, -np.log(bar)))


def level(delta: float, tested: int) -> float:
    """The share delta / (k (k + 1)) of the error delta for the k-th candidate; the shares sum to delta.

    Parameters
    ----------
    delta
        The error that all candidates share.
    tested
        k.

    Returns
    -------
    float
        The level of the k-th test.
    """
    return delta / (tested * (tested + 1))


def bar(test: EProcess, share: float) -> float:
    """What log E_m must reach so that a bad point is certified with probability `share` at most: log(1 / share) - credit.

    Parameters
    ----------
    test
        The e-process.
    share
        The level of the test, at most 1 / 2.

    Returns
    -------
    float
        The bar.
    """
    return float(-np.log(share)) - test.credit


def lower_bound(test: EProcess, values: Array, share: float) -> float:
    """The highest target that the fresh values certify.

    Parameters
    ----------
    test
        The e-process.
    values
        The fresh values (m,).
    share
        The level of the test.

    Returns
    -------
    float
        The bound; -inf if no target is certified.
    """
    wanted = bar(test, share)
    top = float((values / len(values)).sum())  # the sum of large values would overflow
    step = max(min(float(values.max()) - float(values.min()), LARGEST), test.sigma, 1e-12 * abs(top), 1e-300)
    bottom = _below(lambda target: test.log_evidence(values, target) >= wanted, top, step)
    if bottom == -np.inf:
        return bottom
    for _ in range(60):
        middle = 0.5 * bottom + 0.5 * top
        bottom, top = (middle, top) if test.log_evidence(values, middle) >= wanted else (bottom, middle)
    return bottom


def _below(certified: Callable[[float], bool], top: float, step: float) -> float:
    """A certified target below `top`, found by doubling the step; -inf if there is none."""
    for _ in range(60):
        if certified(top - step):
            return top - step
        step *= 2
    return -np.inf


def look_skewed(values: Array) -> bool:
    """Whether the values (m,) are too skewed for Gaussian noise, so that certificates which assume it may be wrong.

    Parameters
    ----------
    values
        The replicates (m,).

    Returns
    -------
    bool
        False for fewer than `FEW` values.
    """
    m = len(values)
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    shares = values / size  # the squares of large values would overflow
    spread = float(shares.std()) if m else 0.0
    if m < FEW or spread == 0:
        return False
    skewness = float((((shares - shares.mean()) / spread) ** 3).mean())
    return abs(skewness) > SKEWED * float(np.sqrt(6 * (m - 2) / ((m + 1) * (m + 3))))


def checked_range(value_range: object, target: float) -> tuple[float, float] | None:
    """Check a stated range of values.

    Parameters
    ----------
    value_range
        The range (low, high), or None.
    target
        The target, which must lie in it.

    Returns
    -------
    tuple or None
        The range as floats.

    Raises
    ------
    BadInput
        If it is not a range, or the target lies outside.
    """
    if value_range is None:
        return None
    try:
        low, high = (float(end) for end in value_range)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise BadInput(f"`value_range` must be a pair (low, high), such as (0, 1); got {value_range!r}.") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BadInput(f"`value_range` must be finite numbers low < high, such as (0, 1); got {value_range!r}.")
    if not low <= target <= high:
        raise BadInput(f"`target` must lie within `value_range`, {low:g} to {high:g}; got {target:g}.")
    return low, high


@dataclass(frozen=True)
class Certificate:
    """Why a point is called good: its fresh values certify that f reaches a bound.

    Parameters
    ----------
    guarantee
        The assumption, in words.
    confidence
        The probability that no bad point is ever called good, over all candidates; None where none is claimed.
    repeats
        The number of fresh values.
    bound
        What f reaches, in your units; at least as good as the target.
    candidates
        The number of candidates tested so far.
    skewed
        Whether the guarantee assumes Gaussian noise and the replicates do not look Gaussian.
    """

    guarantee: str
    confidence: float | None
    repeats: int
    bound: float
    candidates: int
    skewed: bool = False

    def __str__(self) -> str:
        if self.repeats == 0:
            return self.guarantee
        tested = "" if self.candidates == 1 else f", the last of {self.candidates} candidates"
        spent = f"confidence {self.confidence:g} by {self.repeats} fresh evaluations of it{tested}; {self.guarantee}"
        return spent + ("; but they look skewed: state value_range for a guarantee without that" if self.skewed else "")
