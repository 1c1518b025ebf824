"""Confidence widths beta_t^{1/2}, and the bounds that they make (paper, section 2.3 and appendix A).

A width is a callable of t = 1, 2, ..., the number of the evaluation that is about to be chosen, starting
points included: it goes with the mean and the standard deviation after t - 1 values.
"""

from dataclasses import dataclass, field
from math import log, sqrt

import numpy as np

from satisfice.theory.information import InformationGain
from satisfice.types import Array, BadInput
from satisfice.widths import checked_failure, checked_round


@dataclass(frozen=True)
class ConstantWidth:
    """The same width at every t."""

    value: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and self.value >= 0):
            raise BadInput(f"a width: the constant {self.value!r} came; a number of at least 0 was wanted")

    def __call__(self, t: int) -> float:
        """The constant."""
        checked_round(t)
        return self.value


@dataclass(frozen=True, eq=False)
class RkhsWidth:
    """beta_t^{1/2} = B + sigma lam^{-1/2} sqrt(2 (gamma_{t-1} + ln(1 / failure))) (paper, eq. beta).

    For any f with ||f||_k <= B and noise N(0, sigma^2) the bounds hold for all t and x with probability at
    least 1 - failure. gamma is the upper end of `gain`, and lam the one of `gain`; t ends one round after the
    gain does.
    """

    B: float
    sigma: float
    failure: float
    gain: InformationGain = field(repr=False)

    def __post_init__(self) -> None:
        checked_failure(self.failure)
        if not (np.isfinite(self.B) and self.B >= 0 and np.isfinite(self.sigma) and self.sigma >= 0):
            raise BadInput(
                f"a width: B = {self.B!r} and sigma = {self.sigma!r} came; numbers of at least 0 were wanted"
            )

    def __call__(self, t: int) -> float:
        """beta_t^{1/2}."""
        if checked_round(t) > self.gain.horizon + 1:
            raise BadInput(
                f"a width: t = {t} came, but the information gain ends at {self.gain.horizon} rounds; "
                f"compute the gain for T = {t - 1} rounds or more"
            )
        spread = sqrt(2 * (float(self.gain.upper[t - 1]) + log(1 / self.failure)))
        return self.B + self.sigma / sqrt(self.gain.lam) * spread


@dataclass(frozen=True, eq=False)
class ConfidenceBounds:
    """lower <= f <= upper at m points, each (m,)."""

    lower: Array
    upper: Array

    def intersected(self, later: "ConfidenceBounds") -> "ConfidenceBounds":
        """The larger of the lower and the smaller of the upper bounds (paper, eq. ucb_int and lcb_int).

        Folded over the rounds, this gives max over t' <= t of LCB_t' and min over t' <= t of UCB_t'.
        """
        return ConfidenceBounds(np.maximum(self.lower, later.lower), np.minimum(self.upper, later.upper))

    def contain(self, values: Array) -> bool:
        """Whether every value f(x) (m,) lies between its bounds."""
        return bool(((self.lower <= values) & (values <= self.upper)).all())


def confidence_bounds(mean: Array, std: Array, width: float) -> ConfidenceBounds:
    """LCB_t, UCB_t = mu_{t-1} -+ beta_t^{1/2} sigma_{t-1} (paper, eq. lcb and ucb); mean and std (m,)."""
    return ConfidenceBounds(mean - width * std, mean + width * std)
