"""`OutputScaler`: the scale a model works on, values with mean 0 and standard deviation 1, safely from 1e-300 to 1e300.

With a target, how bad a bad value is matters little. Warping therefore log-compresses values below the median, on the scale of
the median's distance from the target, and leaves values above the median alone.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from satisfice.types import LARGEST, Array

QUANTUM = 2.0**-33  # standardised values are rounded to this, so that the user's units cannot change a proposal
FARTHEST = 1e6  # a standardised value or target farther out than this says no more than this


@dataclass(frozen=True)
class OutputScaler:
    """value = unwarped(centre + spread * standardised) * size; by taking out the size first nothing over- or underflows.

    warped(s) = s for s >= a, and a - w log(1 + (a - s) / w) below, with a = `warp_below` and w = `warp_width`.

    Parameters
    ----------
    size
        What values are divided by first.
    centre, spread
        The mean and standard deviation of warped values / size.
    constant
        Whether there are several values and no two differ.
    digits_lost
        Whether the values differ only in their last digits.
    warp_below, warp_width
        a and w, in values / size; a is minus infinity without warping.
    """

    size: float = 1.0
    centre: float = 0.0
    spread: float = 1.0
    constant: bool = False
    digits_lost: bool = False
    warp_below: float = -np.inf
    warp_width: float = 1.0

    def standardise(self, y: npt.ArrayLike) -> Array:
        """(warped(y / size) - centre) / spread, rounded to `QUANTUM`."""
        with np.errstate(over="ignore"):  # what overflows is clipped
            z = (self._warped(np.asarray(y, dtype=np.float64) / self.size) - self.centre) / self.spread
        return np.asarray(np.round(np.clip(z, -FARTHEST, FARTHEST) / QUANTUM) * QUANTUM)

    def restore(self, z: npt.ArrayLike) -> Array:
        """The values that standardised ones stand for; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            values = self._unwarped(np.asarray(z) * self.spread + self.centre) * self.size
        return np.asarray(np.clip(values, -LARGEST, LARGEST))

    def restore_std(self, std: npt.ArrayLike) -> Array:
        """Standard deviations in the user's units, as they are above `warp_below`; beyond the largest float, that float."""
        with np.errstate(over="ignore"):
            stds = np.asarray(std) * self.spread * self.size
        return np.asarray(np.minimum(stds, LARGEST))

    def standardise_std(self, std: float) -> float:
        """A standard deviation in standardised units, as it is above `warp_below`."""
        return min(std / self.size, LARGEST) / self.spread

    def _warped(self, shares: Array) -> Array:
        if np.isinf(self.warp_below):
            return shares
        below = np.maximum(self.warp_below - shares, 0.0) / self.warp_width
        return np.where(shares < self.warp_below, self.warp_below - self.warp_width * np.log1p(below), shares)

    def _unwarped(self, warped: Array) -> Array:
        if np.isinf(self.warp_below):
            return warped
        below = np.maximum(self.warp_below - warped, 0.0) / self.warp_width
        return np.where(warped < self.warp_below, self.warp_below - self.warp_width * np.expm1(below), warped)


def scaler_of(y: Array, target: float, *, warp: bool = False) -> OutputScaler:
    """The scaler that gives y mean 0 and standard deviation 1; equal values are scaled by their distance from the target.

    Parameters
    ----------
    y
        The values (n,); n may be 0.
    target
        The value to reach.
    warp
        Whether values below the median are warped.

    Returns
    -------
    OutputScaler
        The scaler.
    """
    size = max(float(np.abs(y).max(initial=0.0)) or abs(target) or 1.0, 1e-300)
    shares = y / size
    centre = float(shares.mean()) if len(y) else target / size
    spread = float(shares.std()) if len(y) else 0.0
    if spread > 4e-16:
        linear = OutputScaler(size, centre, spread, digits_lost=spread < 1e-11)
        return _warped_for(linear, shares, target) if warp else linear
    with np.errstate(over="ignore"):
        distance = abs(np.float64(target) / size - centre)
    return OutputScaler(size, centre, float(distance) if 0 < distance < np.inf else 1.0, constant=len(y) > 1)


def _warped_for(linear: OutputScaler, shares: Array, target: float) -> OutputScaler:
    """The same scaler with values warped below the median, if the target lies above it."""
    warp_below = float(np.median(shares))
    with np.errstate(over="ignore"):
        warp_width = float(np.float64(target) / linear.size - warp_below)
    if not 1e-9 * linear.spread < warp_width < np.inf:
        return linear
    warping = replace(linear, warp_below=warp_below, warp_width=warp_width)
    warped = warping._warped(shares)
    spread = float(warped.std())
    return replace(warping, centre=float(warped.mean()), spread=spread) if spread > 4e-16 else linear
