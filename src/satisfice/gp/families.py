"""The kernels that models learn, each with the prior on its hyperparameters."""

from dataclasses import dataclass

import numpy as np

from satisfice.gp.evidence import Prior
from satisfice.gp.kernels import Additive, Kernel, Stationary

NOISE_FREE = 1e-6  # lambda of a noise-free objective, in standardised units


@dataclass(frozen=True)
class Family:
    """A kernel whose hyperparameters are learned, and the prior on their logs (length-scales, scale, lambda)."""

    kernel: Kernel
    prior: Prior


def _prior(*rows: tuple[float, float, float, float]) -> Prior:
    """Rows of (low, high, centre, spread of the log) for length-scales, scale; that of lambda is added."""
    table = np.array([*rows, (NOISE_FREE, 1.0, 1e-3, 2.5)])
    return Prior(np.log(table[:, 0]), np.log(table[:, 1]), np.log(table[:, 2]), table[:, 3])


def paper_families(dimension: int) -> tuple[Family, ...]:
    """SE with one length-scale in [1e-3, 1] and scale in [5e-2, 1.5], no prior within the bounds (paper, section 5.2)."""
    return (Family(Stationary("se", np.array([0.2])), _prior((1e-3, 1.0, 0.2, np.inf), (5e-2, 1.5, 1.0, np.inf))),)


def auto_families(dimension: int) -> tuple[Family, ...]:
    """SE, Matérn-5/2, Matérn-5/2 with a length-scale for each dimension, and additive Matérn-5/2.

    Distances in the unit cube grow with sqrt(d), and so do the length-scales that the prior expects.
    """
    expected = 0.5 * np.sqrt(dimension)
    length, scale = (1e-2, 50.0, expected, 1.0), (5e-2, 20.0, 1.0, 1.0)
    families = [
        Family(Stationary("se", np.array([expected])), _prior(length, scale)),
        Family(Stationary("matern52", np.array([expected])), _prior(length, scale)),
    ]
    if dimension > 1:
        each = np.full(dimension, expected)
        families += [
            Family(Stationary("matern52", each), _prior(*[length] * dimension, scale)),
            Family(Additive("matern52", np.array([0.5])), _prior((1e-2, 50.0, 0.5, 1.0), scale)),
        ]
    return tuple(families)
