"""Certificates: anytime-valid tests of H0: f < target from fresh values at one point.

Each test is an e-process E_m of the fresh values y_1, ..., y_m: a nonnegative process whose expectation under H0 is at most 1
at every stopping time, so P(E_m >= 1 / level for any m) <= level (Ville's inequality): one may look after every value, stop
whenever one likes and go on later. E_m falls in the target, so the targets that are not rejected are a confidence sequence:
the target may be chosen after the values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import betaln, erfcx, hyp2f1, log_ndtr, logsumexp, stdtr

from satisfice.errors import BadInput
from satisfice.types import LARGEST, Array

PRIOR = (
    0.5  # variance of the half-normal mixture over (f - target) / sigma: good for gaps from a fifth of sigma to many
)
BETS = (np.arange(64) + 0.5) / 64  # the shares of the capital that the bets mix over
SKEWED = 2.5  # standard errors of the skewness beyond which repeats are called skewed
FARTHEST = 1e100  # so many standard deviations from the target are as good as any more
TINY = 1e-200  # a probability that is below cannot be told from one that has underflowed
FEW = 8  # repeats, below which one cannot tell whether they are skewed


class EProcess(Protocol):
    """An e-process for H0: f < target."""

    @property
    def guarantee(self) -> str:
        """What the certificate rests on, in words."""

    @property
    def gaussian(self) -> bool:
        """Whether the guarantee needs Gaussian noise."""

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise; 0 where it is not known."""

    def log_evidence(self, values: Array, target: float) -> float:
        """log E_m of the fresh values (m,)."""

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """About what each further value adds to log E_m if f lies `gap` above the target and the noise has std sigma."""


@dataclass(frozen=True)
class KnownNoise:
    """Gaussian noise with known standard deviation: the likelihood ratio mixed over f above the target."""

    sigma: float
    guarantee = "valid for Gaussian noise with the stated standard deviation"
    gaussian = True

    def log_evidence(self, values: Array, target: float) -> float:
        """log 2 - log(1 + m r) / 2 + w^2 / 2 + log Phi(w), w = sqrt(r / (1 + m r)) sum (y - target) / sigma."""
        m = len(values)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond FARTHEST there is nothing to tell apart
            above = np.clip(np.nan_to_num((values - target) / self.sigma), -FARTHEST, FARTHEST)
        w = np.sqrt(PRIOR / (1 + m * PRIOR)) * float(above.sum())
        # far below the target w^2 / 2 and log Phi(w) would cancel, and rounding alone could certify
        tail = 0.5 * w * w + log_ndtr(w) if w > 0 else np.log(0.5 * erfcx(-w / np.sqrt(2)))
        return float(np.log(2) - 0.5 * np.log1p(m * PRIOR) + tail)

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """gap^2 / (2 sigma^2)."""
        return 0.5 * (gap / sigma) ** 2


@dataclass(frozen=True)
class LearnedNoise:
    """Gaussian noise of unknown standard deviation: the same with the invariant prior d sigma / sigma, in closed form.

    Mixing exp(-m d^2 / 2) E exp(d S / sqrt(V) u), u ~ chi_m, over a half-normal d leaves a Student distribution function. For
    f below the target it is a supermartingale, since its ratio rises and theirs falls in the same statistic S / sqrt(V).
    """

    guarantee = "valid for Gaussian noise of any standard deviation"
    gaussian = True
    sigma = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """log 2 - log(1 + m r) / 2 - (m / 2) log(1 - a) + log T_m(sqrt(m a / (1 - a)) sign S), a = r S^2 / ((1 + m r) V)."""
        m = len(values)
        with np.errstate(over="ignore"):
            above = np.clip(values - target, -LARGEST, LARGEST)
        size = float(np.abs(above).max(initial=0.0))
        if size == 0:
            return -0.5 * float(np.log1p(m * PRIOR))
        above = above / size  # so that squares neither over- nor underflow
        total = float(above.sum())
        a = PRIOR * total**2 / ((1 + m * PRIOR) * float((above**2).sum()))
        student = float(stdtr(m, np.sign(total) * np.sqrt(m * a / (1 - a))))
        if student > TINY:
            tail = np.log(student) - 0.5 * m * np.log1p(-a)
        else:  # far below the target; T_m = I_{1 - a}(m / 2, 1 / 2) / 2, in which (1 - a)^{m / 2} is a factor that cancels
            series = np.log(hyp2f1(0.5 * (m + 1), 1.0, 0.5 * m + 1, 1 - a))
            tail = 0.5 * np.log(a) - np.log(m) - betaln(0.5 * m, 0.5) + series
        return float(np.log(2) - 0.5 * np.log1p(m * PRIOR) + tail)

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """log(1 + gap^2 / sigma^2) / 2."""
        return 0.5 * float(np.log1p((gap / sigma) ** 2))


@dataclass(frozen=True)
class Bounded:
    """Values between `low` and `high`, of any distribution: the capital of a mixture of bets against H0.

    A bet of the share b turns the capital into 1 + b ((y - low) / (target - low) - 1) times itself: not more than before in
    expectation, wherever the mean of y is not above the target.
    """

    low: float
    high: float
    guarantee = "valid for any distribution of values within the stated range"
    gaussian = False
    sigma = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """log of the mean over b of prod (1 + b ((y - low) / (target - low) - 1))."""
        if target <= self.low:  # every value reaches it
            return np.inf
        gains = (values - self.low) / (target - self.low) - 1
        return float(logsumexp(np.log1p(BETS[:, None] * gains).sum(axis=1)) - np.log(len(BETS)))

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """log(1 + gap^2 / sigma^2) / 2, about what the best bet earns, within what it earns at least and at most.

        At least it is the relative entropy of the two means, as for pass and fail; at most what values at the end earn.
        """
        end = self.high - self.low
        bar, mean = (min(max(share / end, 1e-12), 1 - 1e-12) for share in (target - self.low, target + gap - self.low))
        least = mean * np.log(mean / bar) + (1 - mean) * np.log((1 - mean) / (1 - bar))
        return float(np.clip(0.5 * np.log1p((gap / sigma) ** 2), least, -np.log(bar)))


def level(delta: float, tested: int) -> float:
    """The share delta / (k (k + 1)) of the error delta for the k-th candidate that is tested; the shares sum to delta."""
    return delta / (tested * (tested + 1))


def lower_bound(test: EProcess, values: Array, share: float) -> float:
    """The highest target that the fresh values certify at the level `share`; -inf if they certify none."""
    wanted = -np.log(share)
    top = float((values / len(values)).sum())  # a sum of large values would overflow, and so would their range
    step = max(min(float(values.max()) - float(values.min()), LARGEST), test.sigma, 1e-12 * abs(top), 1e-300)
    bottom = _below(lambda target: test.log_evidence(values, target) >= wanted, top, step)
    if bottom == -np.inf:
        return bottom
    for _ in range(60):
        middle = 0.5 * bottom + 0.5 * top
        bottom, top = (middle, top) if test.log_evidence(values, middle) >= wanted else (bottom, middle)
    return bottom


def _below(certified: Callable[[float], bool], top: float, step: float) -> float:
    """A target below `top` that is certified, found by doubling the step; -inf if there is none."""
    for _ in range(60):
        if certified(top - step):
            return top - step
        step *= 2
    return -np.inf


def look_skewed(values: Array) -> bool:
    """Whether the values are too skewed for a Gaussian: the certificates that assume one may then be wrong."""
    m = len(values)
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    shares = values / size  # else the squares of large values would overflow
    spread = float(shares.std()) if m else 0.0
    if m < FEW or spread == 0:
        return False
    skewness = float((((shares - shares.mean()) / spread) ** 3).mean())
    return abs(skewness) > SKEWED * float(np.sqrt(6 * (m - 2) / ((m + 1) * (m + 3))))


def checked_range(value_range: object, target: float) -> tuple[float, float] | None:
    """The stated range of the values (low, high), or one clear error."""
    if value_range is None:
        return None
    try:
        low, high = (float(end) for end in value_range)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise BadInput(f"value_range: {value_range!r} came; a pair (low, high) was wanted, such as (0, 1)") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise BadInput(f"value_range: {value_range!r} came; finite numbers low < high were wanted, such as (0, 1)")
    if not low <= target <= high:
        raise BadInput(
            f"target: {target:g} came; one within the stated range of the values, {low:g} to {high:g}, was wanted"
        )
    return low, high


@dataclass(frozen=True)
class Certificate:
    """Why a point is called good: `repeats` fresh values of it certify that f reaches `bound`."""

    guarantee: str
    confidence: float | None  # that no bad point is ever called good, over all candidates; None where none is claimed
    repeats: int
    bound: float  # what f reaches for certain, in the user's units; it lies on the good side of the target
    candidates: int  # how many were tested up to then
    skewed: bool = False  # the repeats do not look Gaussian, and the guarantee needs that they are

    def __str__(self) -> str:
        if self.repeats == 0:
            return self.guarantee
        tested = "" if self.candidates == 1 else f", the last of {self.candidates} candidates"
        spent = f"confidence {self.confidence:g} by {self.repeats} fresh evaluations of it{tested}; {self.guarantee}"
        return spent + ("; but they look skewed: state value_range for a guarantee without that" if self.skewed else "")
