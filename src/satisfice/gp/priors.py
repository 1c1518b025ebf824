"""The kernels that models learn, each with the prior on its hyperparameters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator

from satisfice.gp.kernels import Additive, Directional, Kernel, Stationary, WithNugget
from satisfice.types import Array

NOISE_FREE = 1e-6  # lambda of a noise-free objective, in standardised units


@dataclass(frozen=True)
class Prior:
    """Where hyperparameters may lie: bounds on their logs, and an optional normal prior on the logs.

    Parameters
    ----------
    low, high
        The bounds.
    centre, spread
        The mean and standard deviation of the normal prior; an infinite spread means that there are only bounds.
    """

    low: Array
    high: Array
    centre: Array
    spread: Array

    def without_last(self) -> "Prior":
        """The prior without its last parameter."""
        return Prior(self.low[:-1], self.high[:-1], self.centre[:-1], self.spread[:-1])

    def log_density_with_gradient(self, parameters: Array) -> tuple[float, Array]:
        """The log density up to a constant, -|z|^2 / 2 with z = (parameters - centre) / spread, and its gradient."""
        z = (parameters - self.centre) / self.spread
        return float(-0.5 * z @ z), -z / self.spread

    def draw(self, rng: Generator) -> Array:
        """A point to start from: normal where there is a prior, uniform between the bounds elsewhere."""
        normal = self.centre + np.where(np.isfinite(self.spread), self.spread, 0.0) * rng.standard_normal(
            self.low.shape
        )
        uniform = rng.uniform(self.low, self.high)
        return np.clip(np.where(np.isfinite(self.spread), normal, uniform), self.low, self.high)


@dataclass(frozen=True)
class KernelPrior:
    """A kernel whose hyperparameters are learned.

    Parameters
    ----------
    kernel
        The kernel, with hyperparameters to start from.
    prior
        The prior on its `parameters`, then log lambda.
    guess
        Points and values -> a kernel: one more start for learning.
    """

    kernel: Kernel
    prior: Prior
    guess: Callable[[Array, Array], Kernel] | None = None

    def free(self, lam: float | None) -> Prior:
        """The prior on what is learned: without lambda where that is known."""
        return self.prior if lam is None else self.prior.without_last()

    def penalty(self, n: int) -> float:
        """(parameters / 2) log n, what the kernel pays for its hyperparameters with n observations."""
        return 0.5 * len(self.prior.low) * float(np.log(max(n, 1)))


Row = tuple[float, float, float, float]  # low, high, centre and spread of a parameter


def _log(low: float, high: float, centre: float, spread: float) -> Row:
    """The row of a parameter that is learned by its log."""
    return float(np.log(low)), float(np.log(high)), float(np.log(centre)), spread


def _prior(*rows: Row) -> Prior:
    """The prior on these parameters and lambda."""
    return Prior(*np.array([*rows, _log(NOISE_FREE, 1.0, 1e-3, 2.5)]).T)


_SCALE = _log(5e-2, 20.0, 1.0, 1.0)


@cache
def paper_families(dimension: int) -> tuple[KernelPrior, ...]:
    """SE with one length-scale in [1e-3, 1] and scale in [5e-2, 1.5], without a prior inside the bounds (paper, section 5.2)."""
    prior = _prior(_log(1e-3, 1.0, 0.2, np.inf), _log(5e-2, 1.5, 1.0, np.inf))
    return (KernelPrior(Stationary("se", np.array([0.2])), prior),)


@cache
def auto_families(dimension: int) -> tuple[KernelPrior, ...]:
    """SE, Matérn-5/2, Matérn-5/2 with a length-scale for each dimension, and additive Matérn-5/2."""
    expected, length = _length(dimension)
    families = [
        KernelPrior(Stationary("se", np.array([expected])), _prior(length, _SCALE)),
        KernelPrior(Stationary("matern52", np.array([expected])), _prior(length, _SCALE)),
    ]
    if dimension > 1:
        each = np.full(dimension, expected)
        families += [
            KernelPrior(Stationary("matern52", each), _prior(*[length] * dimension, _SCALE)),
            KernelPrior(Additive("matern52", np.array([0.5])), _prior(_log(1e-2, 50.0, 0.5, 1.0), _SCALE)),
        ]
    return tuple(families)


@cache
def exact_families(dimension: int) -> tuple[KernelPrior, ...]:
    """Those of `auto_families` and, since no noise can be mistaken for them, SE with a nugget and directional Matérn-5/2."""
    expected, length = _length(dimension)
    trend = Stationary("se", np.array([expected]))
    families = [
        *auto_families(dimension),
        KernelPrior(WithNugget(trend, 0.1), _prior(length, _log(1e-4, 10.0, 0.1, 2.0), _SCALE)),
    ]
    if dimension > 1:
        directional = Directional("matern52", expected, np.zeros(dimension))
        slope = (-100.0, 100.0, 0.0, 2.0)
        prior = _prior(length, *[slope] * dimension, _SCALE)
        families.append(KernelPrior(directional, prior, guess=directional.towards))
    return tuple(families)


def _length(dimension: int) -> tuple[float, Row]:
    """The expected length-scale and its prior: distances in the unit cube grow with sqrt(d), and so does this."""
    expected = 0.5 * float(np.sqrt(dimension))
    return expected, _log(1e-2, 50.0, expected, 1.0)
