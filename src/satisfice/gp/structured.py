"""Kernels of functions whose shape lengths along the axes cannot say: a ridge in any direction, a trend with ripples."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.gp.correlations import CORRELATIONS
from satisfice.gp.kernels import RadialPairs, Stationary, StationaryPairs
from satisfice.types import Array

ROUGH = 1e4  # a wave of this frequency has nothing to do with itself a thousandth of the unit cube further on


@dataclass(frozen=True)
class _RidgePairs(RadialPairs):
    """Those of a ridge; serves as `Cross`, and as `Gram` where the sets are one."""

    kernel: "Directional"

    def vjp(self, weights: Array) -> Array:
        """dk/dx = s^2 slope(r) ((x - x') / l^2 + w w'(x - x')), summed with the weights."""
        moved, w = self.slopes_times_steps(weights), self.kernel.direction
        return self.kernel.variance * (moved / self.kernel.lengthscale**2 + np.outer(moved @ w, w))

    def vjp_parameters(self, weights: Array) -> Array:
        """dk/dlog l = -s^2 slope(r) |x - x'|^2 / l^2, dk/dw = s^2 slope(r) w'(x - x') (x - x') and dk/dlog s = 2 k.

        As for a stationary kernel: sum_ij M_ij (x_i - x_j)(x_i - x_j)' = 2 (X'diag(r) X - X'M X), r = M 1.
        """
        slopes = weights * self.slope
        slopes[self.r2 == 0] = 0.0  # equal points: the sums below would leave their rounding
        C = self.X - self.X.mean(axis=0)
        spread = 2 * C.T @ (slopes.sum(axis=1)[:, None] * C - slopes @ C)
        by_length = -np.trace(spread) / self.kernel.lengthscale**2
        last = 2 * np.vdot(weights, self.rho)
        return self.kernel.variance * np.concatenate([[by_length], spread @ self.kernel.direction, [last]])


@dataclass(frozen=True)
class Directional:
    """k(x, x') = s^2 rho(r), r^2 = |x - x'|^2 / l^2 + (w'(x - x'))^2: one length, and a direction along which f varies faster.

    What is searched along a narrow valley that is not parallel to an axis looks like this. `parameters` has w itself, not a log.
    """

    form: str
    lengthscale: float
    direction: Array  # w (d,)
    scale: float = 1.0

    @property
    def variance(self) -> float:
        """k(x, x) = s^2."""
        return self.scale * self.scale

    @property
    def nugget(self) -> float:
        """None."""
        return 0.0

    @property
    def parameters(self) -> Array:
        """log l, w, log s."""
        return np.concatenate([[np.log(self.lengthscale)], self.direction, [np.log(self.scale)]])

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""
        return ("length-scale", *(f"slope {j}" for j in range(len(self.direction))), "scale")

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other hyperparameters (as `parameters` gives them)."""
        length, scale = np.exp(parameters[[0, -1]])
        return replace(self, lengthscale=float(length), direction=parameters[1:-1], scale=float(scale))

    def towards(self, X: Array, y: Array) -> Self:
        """The same kernel with the slope of the plane through the values y as its direction: a place to learn from."""
        C = X - X.mean(axis=0)
        slope = np.linalg.solve(C.T @ C + 0.1 * np.eye(C.shape[1]), C.T @ y)
        return replace(self, direction=slope)

    def _r2(self, A: Array, B: Array) -> Array:
        """r is a distance in d + 1 dimensions: those of x / l, and w'x."""
        a, b = (np.column_stack([points / self.lengthscale, points @ self.direction]) for points in (A, B))
        return np.asarray(cdist(a, b, "sqeuclidean"))

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        K = CORRELATIONS[self.form].rho(self._r2(A, B))
        K *= self.variance
        return K

    def cross(self, U: Array, X: Array) -> _RidgePairs:
        """k(U, X) and its derivative in U."""
        r2 = self._r2(U, X)
        return _RidgePairs(self, U, X, r2, *CORRELATIONS[self.form].rho_and_slope(r2))

    def gram(self, X: Array) -> _RidgePairs:
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """As r is a distance in d + 1 dimensions, a frequency has as many."""
        drawn = CORRELATIONS[self.form].frequencies((count, dimension + 1), rng)
        frequencies = drawn[:, :-1] / self.lengthscale + drawn[:, -1:] * self.direction
        return frequencies, np.full(count, self.scale / np.sqrt(count))


@dataclass(frozen=True)
class _RippledPairs:
    """The trend's pairs, and which points are the same; serves as `Cross` and as `Gram`."""

    kernel: "WithNugget"
    trend: StationaryPairs

    @property
    def _ripple(self) -> Array:
        return self.kernel.nugget * (self.trend.r2 == 0)

    @property
    def value(self) -> Array:
        return self.trend.value + self._ripple

    def vjp(self, weights: Array) -> Array:
        return self.trend.vjp(weights)

    def vjp_parameters(self, weights: Array) -> Array:
        *lengths, scale = self.trend.vjp_parameters(weights)
        ripple = np.vdot(weights, self._ripple)
        return np.array([*lengths, ripple, scale + 2 * ripple])


@dataclass(frozen=True)
class WithNugget:
    """k(x, x') = s^2 (rho(r) + h [x = x']): a trend, and ripples so narrow that a value says nothing about its neighbours.

    It is the model of a bowl with many small waves, where the trend leads to the middle and a good value is in part luck.
    """

    trend: Stationary
    ripple: float  # h

    @property
    def form(self) -> str:
        """The name of the trend's correlation."""
        return self.trend.form

    @property
    def scale(self) -> float:
        """The square root of the variance."""
        return float(np.sqrt(self.variance))

    @property
    def variance(self) -> float:
        """k(x, x) = s^2 (1 + h)."""
        return self.trend.variance + self.nugget

    @property
    def nugget(self) -> float:
        """The variance of the ripples, s^2 h."""
        return self.trend.variance * self.ripple

    @property
    def parameters(self) -> Array:
        """log of the trend's length-scales, log h, log s."""
        *lengths, scale = self.trend.parameters
        return np.array([*lengths, np.log(self.ripple), scale])

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""
        *lengths, scale = self.trend.names
        return (*lengths, "ripple", scale)

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other hyperparameters (as `parameters` gives them)."""
        *lengths, ripple, scale = parameters
        trend = self.trend.with_parameters(np.array([*lengths, scale]))
        return replace(self, trend=trend, ripple=float(np.exp(ripple)))

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        r2 = self.trend.r2(A, B)
        same = r2 == 0
        K = self.trend.of_r2(r2)
        return np.add(K, self.nugget, out=K, where=same)

    def cross(self, U: Array, X: Array) -> _RippledPairs:
        """k(U, X) and its derivative in U, the ripples apart: they have none."""
        return _RippledPairs(self, self.trend.cross(U, X))

    def gram(self, X: Array) -> _RippledPairs:
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Half of them are those of the trend, the others waves that are too narrow for two points to share one."""
        half = count // 2
        frequencies, amplitudes = self.trend.features(half, dimension, rng)
        rough = ROUGH * rng.standard_normal((count - half, dimension))
        heights = np.full(count - half, np.sqrt(self.nugget / (count - half)))
        return np.vstack([frequencies, rough]), np.append(amplitudes, heights)
