"""The kernels that models learn, each with the prior on its hyperparameters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from satisfice.gp.additive import Additive
from satisfice.gp.evidence import Prior
from satisfice.gp.kernels import Kernel, Stationary
from satisfice.gp.structured import Directional, WithNugget
from satisfice.types import Array

NOISE_FREE = 1e-6  # lambda of a noise-free objective, in standardised units


@dataclass(frozen=True)
class KernelPrior:
    """A kernel whose hyperparameters are learned, and the prior on them (as the kernel's `parameters`, then log lambda)."""

    kernel: Kernel
    prior: Prior
    guess: Callable[[Array, Array], Kernel] | None = None  # of points and values: one more place to learn from

    def penalty(self, n: int) -> float:
        """(parameters / 2) log n, what the kernel pays for its hyperparameters with n observations."""
        return 0.5 * len(self.prior.low) * float(np.log(max(n, 1)))


Row = tuple[float, float, float, float]  # low, high, centre and spread of a parameter as it is learned


def _log(low: float, high: float, centre: float, spread: float) -> Row:
    """The row of a parameter that is learned by its log."""
    return float(np.log(low)), float(np.log(high)), float(np.log(centre)), spread


def _prior(*rows: Row) -> Prior:
    """The prior of these parameters; that of lambda is added."""
    return Prior(*np.array([*rows, _log(NOISE_FREE, 1.0, 1e-3, 2.5)]).T)


_SCALE = _log(5e-2, 20.0, 1.0, 1.0)


@cache
def paper_families(dimension: int) -> tuple[KernelPrior, ...]:
    """SE with one length-scale in [1e-3, 1] and scale in [5e-2, 1.5], no prior within the bounds (paper, section 5.2)."""
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
    """Those of `auto_families` and, where no noise can be taken for them, SE with ripples and Matérn-5/2 with a ridge."""
    expected, length = _length(dimension)
    trend = Stationary("se", np.array([expected]))
    families = [
        *auto_families(dimension),
        KernelPrior(WithNugget(trend, 0.1), _prior(length, _log(1e-4, 10.0, 0.1, 2.0), _SCALE)),
    ]
    if dimension > 1:
        ridge = Directional("matern52", expected, np.zeros(dimension))
        slope = (-100.0, 100.0, 0.0, 2.0)
        families.append(KernelPrior(ridge, _prior(length, *[slope] * dimension, _SCALE), guess=ridge.towards))
    return tuple(families)


def _length(dimension: int) -> tuple[float, Row]:
    """The length-scale that is expected, and its prior: distances in the unit cube grow with sqrt(d), and so does this."""
    expected = 0.5 * float(np.sqrt(dimension))
    return expected, _log(1e-2, 50.0, expected, 1.0)
