"""The units a model works in: values with mean 0 and standard deviation 1, safely from 1e-300 to 1e300.

Bent units are for searches with a target: how bad a bad value is matters little. Values below the median are drawn together
logarithmically, on the scale of the median's distance from the target; above the median nothing changes.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from satisfice.types import LARGEST, Array

QUANTUM = 2.0**-33  # standardised values are rounded to this, so that the user's units cannot change a proposal
FARTHEST = 1e6  # a standardised value or target farther out than this says no more than this


@dataclass(frozen=True)
class Units:
    """value = unbent(centre + spread * standardised) * size; by taking out the size first nothing over- or underflows.

    bent(s) = s from the knee on, knee - width log(1 + (knee - s) / width) below it: smooth, increasing, of slope 1 at the knee.
    """

    size: float = 1.0
    centre: float = 0.0
    spread: float = 1.0
    constant: bool = False  # there are several values and no two differ
    digits_lost: bool = False  # the values differ only in their last digits
    knee: float = -np.inf  # in values / size; minus infinity: straight
    width: float = 1.0

    def standardise(self, y: npt.ArrayLike) -> Array:
        """(bent(y / size) - centre) / spread, rounded to `QUANTUM`."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            z = (self._bent(np.asarray(y, dtype=np.float64) / self.size) - self.centre) / self.spread
        return np.asarray(np.round(np.clip(z, -FARTHEST, FARTHEST) / QUANTUM) * QUANTUM)

    def restore(self, z: npt.ArrayLike) -> Array:
        """The values that standardised ones stand for; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            values = self._unbent(np.asarray(z) * self.spread + self.centre) * self.size
        return np.asarray(np.clip(values, -LARGEST, LARGEST))

    def restore_std(self, std: npt.ArrayLike) -> Array:
        """Standard deviations in the user's units, as they are above the knee; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            stds = np.asarray(std) * self.spread * self.size
        return np.asarray(np.minimum(stds, LARGEST))

    def standardise_std(self, std: float) -> float:
        """A standard deviation in standardised units, as it is above the knee."""
        return min(std / self.size, LARGEST) / self.spread

    def _bent(self, shares: Array) -> Array:
        if np.isinf(self.knee):
            return shares
        below = np.maximum(self.knee - shares, 0.0) / self.width
        return np.where(shares < self.knee, self.knee - self.width * np.log1p(below), shares)

    def _unbent(self, bent: Array) -> Array:
        if np.isinf(self.knee):
            return bent
        below = np.maximum(self.knee - bent, 0.0) / self.width
        return np.where(bent < self.knee, self.knee - self.width * np.expm1(below), bent)


def units_of(y: Array, target: float, *, bend: bool = False) -> Units:
    """Units in which y has mean 0 and standard deviation 1; one value, or equal ones, are measured by the target's distance."""
    size = max(float(np.abs(y).max(initial=0.0)) or abs(target) or 1.0, 1e-300)
    shares = y / size
    centre = float(shares.mean()) if len(y) else target / size
    spread = float(shares.std()) if len(y) else 0.0
    if spread > 4e-16:
        straight = Units(size, centre, spread, digits_lost=spread < 1e-11)
        return _bent_for(straight, shares, target) if bend else straight
    with np.errstate(over="ignore"):
        distance = abs(np.float64(target) / size - centre)
    return Units(size, centre, float(distance) if 0 < distance < np.inf else 1.0, constant=len(y) > 1)


def _bent_for(straight: Units, shares: Array, target: float) -> Units:
    """The same units with a knee at the median, if the target lies above it."""
    knee = float(np.median(shares))
    with np.errstate(over="ignore"):
        width = float(np.float64(target) / straight.size - knee)
    if not 1e-9 * straight.spread < width < np.inf:
        return straight
    bending = replace(straight, knee=knee, width=width)
    bent = bending._bent(shares)
    spread = float(bent.std())
    return replace(bending, centre=float(bent.mean()), spread=spread) if spread > 4e-16 else straight
