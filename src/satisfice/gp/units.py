"""The units a model works in: values with mean 0 and standard deviation 1, safely from 1e-300 to 1e300."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from satisfice.types import Array

QUANTUM = 2.0**-33  # standardised values are rounded to this, so that the user's units cannot change a proposal
LARGEST = float(np.finfo(np.float64).max)
FARTHEST = 1e6  # a standardised value or target farther out than this says no more than this


@dataclass(frozen=True)
class Units:
    """value = (centre + spread * standardised) * size; by taking out the size first nothing over- or underflows."""

    size: float = 1.0
    centre: float = 0.0
    spread: float = 1.0
    constant: bool = False  # there are several values and no two differ
    digits_lost: bool = False  # the values differ only in their last digits

    def standardise(self, y: npt.ArrayLike) -> Array:
        """(y - centre) / spread, rounded to `QUANTUM`."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            z = (np.asarray(y, dtype=np.float64) / self.size - self.centre) / self.spread
        return np.asarray(np.round(np.clip(z, -FARTHEST, FARTHEST) / QUANTUM) * QUANTUM)

    def restore(self, z: npt.ArrayLike) -> Array:
        """The values that standardised ones stand for; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            values = (np.asarray(z) * self.spread + self.centre) * self.size
        return np.asarray(np.clip(values, -LARGEST, LARGEST))

    def restore_std(self, std: npt.ArrayLike) -> Array:
        """Standard deviations in the user's units; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            stds = np.asarray(std) * self.spread * self.size
        return np.asarray(np.minimum(stds, LARGEST))

    def standardise_std(self, std: float) -> float:
        """A standard deviation in standardised units."""
        return min(std / self.size, LARGEST) / self.spread


def units_of(y: Array, target: float) -> Units:
    """Units in which y has mean 0 and standard deviation 1; one value, or equal ones, are measured by the target's distance."""
    size = max(float(np.abs(y).max(initial=0.0)) or abs(target) or 1.0, 1e-300)
    shares = y / size
    centre = float(shares.mean()) if len(y) else target / size
    spread = float(shares.std()) if len(y) else 0.0
    if spread > 4e-16:
        return Units(size, centre, spread, digits_lost=spread < 1e-11)
    with np.errstate(over="ignore"):
        distance = abs(np.float64(target) / size - centre)
    return Units(size, centre, float(distance) if 0 < distance < np.inf else 1.0, constant=len(y) > 1)
