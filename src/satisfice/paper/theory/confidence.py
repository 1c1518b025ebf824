"""Confidence widths beta_t^{1/2}, and the bounds that they make (paper, section 2.3 and appendix A).

A width is a callable of t = 1, 2, ..., the number of the evaluation that is about to be chosen, starting
points included: it goes with the mean and the standard deviation after t - 1 values. `LogDetWidth` is a function of the
posterior instead.
"""

from dataclasses import dataclass, field
from math import log, pi
from typing import Literal, get_args

import numpy as np

from satisfice.errors import BadInput
from satisfice.gp.posterior import Posterior
from satisfice.paper.theory.information import InformationGain, posterior_information
from satisfice.rules.widths import checked_failure, checked_round
from satisfice.types import Array

Formula = Literal["sum", "root"]
FORMULAS = get_args(Formula)


@dataclass(frozen=True)
class ConstantWidth:
    """The same width at every t."""

    value: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.value) and self.value >= 0):
            raise BadInput(f"`value` must be a number of at least 0; got {self.value!r}.")

    def __call__(self, t: int) -> float:
        """The constant."""
        checked_round(t)
        return self.value


def norm_width(B: float, noise: Array, formula: Formula) -> Array:
    """The width for a function of norm B whose noise alone needs sqrt(noise): their sum, or the root of their squares."""
    return np.asarray(B + np.sqrt(noise) if formula == "sum" else np.sqrt(B**2 + noise))


def _check(failure: float, B: float, sigma: float, formula: str) -> None:
    checked_failure(failure)
    if not (np.isfinite(B) and B >= 0 and np.isfinite(sigma) and sigma >= 0):
        raise BadInput(f"`B` and `sigma` must be numbers of at least 0; got {B!r} and {sigma!r}.")
    if formula not in FORMULAS:
        raise BadInput(f"`formula` must be 'sum' or 'root'; got {formula!r}.")


@dataclass(frozen=True, eq=False)
class RkhsWidth:
    """beta_t^{1/2} = B + sigma lam^{-1/2} sqrt(2 (gamma_{t-1} + ln(1 / failure))) (paper, eq. beta).

    For any f with ||f||_k <= B and noise N(0, sigma^2) the bounds hold for all t and x with probability at
    least 1 - failure. gamma is the upper end of `gain`, and lam the one of `gain`; t ends one round after the
    gain does. `formula="root"` is the narrower sqrt(B^2 + 2 sigma^2 / lam (gamma_{t-1} + ln(1 / failure))),
    which `LogDetWidth` proves.

    Parameters
    ----------
    B : float
        The bound on the norm of f.
    sigma : float
        The standard deviation of the noise.
    failure : float
        The probability that the bounds may fail with, the paper's delta.
    gain : InformationGain
        Bounds on gamma_t; its lambda is that of the model.
    formula : {"sum", "root"}, default "sum"
        The paper's sum, or the narrower root of squares.
    """

    B: float
    sigma: float
    failure: float
    gain: InformationGain = field(repr=False)
    formula: Formula = "sum"

    def __post_init__(self) -> None:
        _check(self.failure, self.B, self.sigma, self.formula)

    def __call__(self, t: int) -> float:
        """beta_t^{1/2}."""
        if checked_round(t) > self.gain.horizon + 1:
            raise BadInput(
                f"`t` must be at most {self.gain.horizon + 1}, since the information gain ends at {self.gain.horizon} rounds; "
                f"got {t}. Compute the gain for T = {t - 1} rounds or more."
            )
        noise = 2 * self.sigma**2 / self.gain.lam * (self.gain.upper_at(t - 1) + log(1 / self.failure))
        return float(norm_width(self.B, np.array(noise), self.formula))


@dataclass(frozen=True)
class LogDetWidth:
    """The width with the information gain of the points that were asked, I_t = 1/2 ln det(I + K_t / lam), for gamma_t.

    For any f with ||f||_k <= B, any noise that is sigma-sub-Gaussian given the past, any lam > 0 and any way to choose
    the points, |f - mu_t| <= width sigma_t holds for all t and x with probability at least 1 - failure, with

    - `formula="sum"`: B + sigma lam^{-1/2} sqrt(2 (I_t + ln(1 / failure))), the self-normalised bound of
      Abbasi-Yadkori (2013), from which the paper's Lemma 1 follows by I_t <= gamma_t. Chowdhury and Gopalan (2017) have
      the same for lam = 1 + eta with ln det(lam I + K_t) inside, which is larger for eta > 0; Whitehouse, Ramdas and Wu
      (2023) have the same width, and a choice of lam.
    - `formula="root"`: sqrt(B^2 + 2 sigma^2 / lam (I_t + ln(1 / failure))), never larger. The mean over
      g ~ GP(0, sigma^2 k / lam) of exp((||y - f||^2 - ||y - g||^2) / (2 sigma^2)) is a martingale that starts at 1; by
      Ville's inequality it stays below 1 / failure, that is, ||y - f||^2 <= lam y'(K_t + lam I)^-1 y +
      2 sigma^2 (I_t + ln(1 / failure)). Adding lam ||f||^2 <= lam B^2 and completing the square leaves
      ||V^{1/2} (f - mu_t)||^2 <= lam B^2 + 2 sigma^2 (I_t + ln(1 / failure)), V = lam + sum of k(., x_s) k(., x_s)', and
      sigma_t(x) = lam^{1/2} ||V^{-1/2} k(., x)|| (mixtures of this kind: Flynn and Reeb, 2025).

    Parameters
    ----------
    B : float
        The bound on the norm of f.
    sigma : float
        The noise is sigma-sub-Gaussian.
    failure : float
        The probability that the bounds may fail with, the paper's delta.
    formula : {"sum", "root"}, default "sum"
        Which of the two.
    """

    B: float
    sigma: float
    failure: float
    formula: Formula = "sum"

    def __post_init__(self) -> None:
        _check(self.failure, self.B, self.sigma, self.formula)

    def at(self, information: float | Array, lam: float) -> Array:
        """The widths for information gains I_t (...)."""
        noise = 2 * self.sigma**2 / lam * (np.asarray(information) + log(1 / self.failure))
        return norm_width(self.B, noise, self.formula)

    def given(self, posterior: Posterior) -> float:
        """The width that goes with this posterior."""
        return float(self.at(posterior_information(posterior), posterior.lam))


@dataclass(frozen=True)
class FixedDesignWidth:
    """The width where no question depends on an answer, as in the first part of explore-then-commit: no gain at all.

    At one x the noise in mu_t(x) is normal with a standard deviation of at most sigma lam^{-1/2} sigma_t(x), so that
    B + sigma lam^{-1/2} sqrt(2 ln(2 |D| t^2 pi^2 / (6 failure))) holds for all t and the `size` = |D| points of a finite
    domain (Vakili et al., 2021, with a union bound). With the root of squares it holds too: the bias is at most B times
    what sigma_t^2(x) leaves beside lam ||a||^2, a the weights of the values in mu_t(x). ucb and elimination choose by what
    they have seen: for them it promises nothing.

    Parameters
    ----------
    B : float
        The bound on the norm of f.
    sigma : float
        The standard deviation of the noise.
    failure : float
        The probability that the bounds may fail with, the paper's delta.
    lam : float
        The lambda of the model.
    size : int
        |D|, the number of points of the domain.
    formula : {"sum", "root"}, default "sum"
        As in `LogDetWidth`.
    """

    B: float
    sigma: float
    failure: float
    lam: float
    size: int
    formula: Formula = "sum"

    def __post_init__(self) -> None:
        _check(self.failure, self.B, self.sigma, self.formula)
        if not (np.isfinite(self.lam) and self.lam > 0 and self.size >= 1):
            raise BadInput(
                f"`lam` must be positive and `size`, the number of points of the domain, at least 1; got lam = "
                f"{self.lam!r} and size = {self.size!r}."
            )

    def __call__(self, t: int) -> float:
        """The width for round t."""
        tail = log(2 * self.size * checked_round(t) ** 2 * pi**2 / (6 * self.failure))
        return float(norm_width(self.B, np.array(2 * self.sigma**2 / self.lam * tail), self.formula))


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
