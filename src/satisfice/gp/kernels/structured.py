"""Kernels for shapes that length-scales along the axes cannot express: `Directional` and `WithNugget`."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.gp.kernels.correlations import CORRELATIONS
from satisfice.gp.kernels.stationary import Radial, RadialPairs, Stationary
from satisfice.types import Array

ROUGH = 1e4  # a wave of this frequency is uncorrelated with itself a thousandth of the unit cube away


@dataclass(frozen=True)
class Directional(Radial):
    """k(x, x') = s^2 rho(r), r^2 = |x - x'|^2 / l^2 + (w'(x - x'))^2: f varies faster along w, as across an oblique valley.

    Parameters
    ----------
    form
        The name of the correlation.
    lengthscale
        The length-scale l across w.
    direction
        w (d,); `parameters` contains w itself, not its log.
    scale
        The standard deviation s.
    """

    form: str
    lengthscale: float
    direction: Array
    scale: float = 1.0

    @property
    def parameters(self) -> Array:
        """log l, w, log s."""
        return np.concatenate([[np.log(self.lengthscale)], self.direction, [np.log(self.scale)]])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`."""
        return ("length-scale", *(f"slope {j}" for j in range(len(self.direction))), "scale")

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other `parameters`."""
        length, scale = np.exp(parameters[[0, -1]])
        return replace(self, lengthscale=float(length), direction=parameters[1:-1], scale=float(scale))

    def towards(self, X: Array, y: Array) -> Self:
        """The same kernel with w the slope of a plane fitted to the values y (n,) at X (n, d): a start for learning."""
        C = X - X.mean(axis=0)
        slope = np.linalg.solve(C.T @ C + 0.1 * np.eye(C.shape[1]), C.T @ y)
        return replace(self, direction=slope)

    def r2(self, A: Array, B: Array) -> Array:
        """r^2 between a_i and b_j: a distance in d + 1 dimensions, those of x / l and w'x."""
        a, b = (np.column_stack([points / self.lengthscale, points @ self.direction]) for points in (A, B))
        return np.asarray(cdist(a, b, "sqeuclidean"))

    def gradient(self, steps: Array) -> Array:
        """dk/dx = s^2 slope(r) ((x - x') / l^2 + w w'(x - x'))."""
        w = self.direction
        return self.variance * (steps / self.lengthscale**2 + np.outer(steps @ w, w))

    def shape_gradient(self, slopes: Array, X: Array, r2: Array) -> Array:
        """dk/dlog l = -s^2 slope(r) |x - x'|^2 / l^2 and dk/dw = s^2 slope(r) w'(x - x') (x - x').

        As for `Stationary`: sum_ij M_ij (x_i - x_j)(x_i - x_j)' = 2 (X'diag(r) X - X'M X), r = M 1.
        """
        slopes[r2 == 0] = 0.0  # equal points: rounding errors would not cancel in the sums below
        C = X - X.mean(axis=0)
        spread = 2 * C.T @ (slopes.sum(axis=1)[:, None] * C - slopes @ C)
        return np.append(-np.trace(spread) / self.lengthscale**2, spread @ self.direction)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Draw frequencies in d + 1 dimensions, like r, and map them to d."""
        drawn = CORRELATIONS[self.form].frequencies((count, dimension + 1), rng)
        frequencies = drawn[:, :-1] / self.lengthscale + drawn[:, -1:] * self.direction
        return frequencies, np.full(count, self.scale / np.sqrt(count))


@dataclass(frozen=True)
class WithNugget:
    """k(x, x') = s^2 (rho(r) + h [x = x']): a trend plus ripples so narrow that a value says nothing about its neighbours.

    It models a bowl with many small waves: the trend leads to the middle, and a good value is partly luck.

    Parameters
    ----------
    trend
        The kernel s^2 rho(r).
    ripple
        h, the variance of the ripples relative to that of the trend.
    """

    trend: Stationary
    ripple: float

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
        """The logs of the trend's length-scales, of h and of s."""
        *lengths, scale = self.trend.parameters
        return np.array([*lengths, np.log(self.ripple), scale])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`."""
        *lengths, scale = self.trend.names
        return (*lengths, "ripple", scale)

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other `parameters`."""
        *lengths, ripple, scale = parameters
        trend = self.trend.with_parameters(np.array([*lengths, scale]))
        return replace(self, trend=trend, ripple=float(np.exp(ripple)))

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        r2 = self.trend.r2(A, B)
        same = r2 == 0
        K = self.trend.of_r2(r2)
        return np.add(K, self.nugget, out=K, where=same)

    def cross(self, U: Array, X: Array) -> "NuggetPairs":
        """k(U, X) and its derivative in U; the ripples have none."""
        return NuggetPairs(self.trend.cross(U, X), self.nugget)

    def gram(self, X: Array) -> "NuggetPairs":
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Draw half of the features from the trend; the others are waves too narrow for two points to share one."""
        half = count // 2
        frequencies, amplitudes = self.trend.features(half, dimension, rng)
        rough = ROUGH * rng.standard_normal((count - half, dimension))
        heights = np.full(count - half, np.sqrt(self.nugget / (count - half)))
        return np.vstack([frequencies, rough]), np.append(amplitudes, heights)


@dataclass(frozen=True)
class NuggetPairs:
    """The trend between two sets of points, plus the nugget where points coincide; serves as `Cross` and as `Gram`.

    Parameters
    ----------
    trend
        The pairs of the trend.
    nugget
        The variance of the ripples.
    """

    trend: RadialPairs
    nugget: float

    @property
    def _ripples(self) -> Array:
        return self.nugget * (self.trend.r2 == 0)

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""
        return self.trend.value + self._ripples

    def vjp(self, weights: Array) -> Array:
        """The trend's: the ripples have no derivative in the points."""
        return self.trend.vjp(weights)

    def vjp_parameters(self, weights: Array) -> Array:
        """dk/dlog h = s^2 h [x = x'], and dk/dlog s = 2 k."""
        *lengths, scale = self.trend.vjp_parameters(weights)
        ripple = np.vdot(weights, self._ripples)
        return np.array([*lengths, ripple, scale + 2 * ripple])
