"""Kernels of one distance r: what they share (`Radial`), and `Stationary`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.errors import BadInput
from satisfice.gp.kernels.correlations import CORRELATIONS
from satisfice.types import Array


class Scaled:
    """A kernel s^2 rho: its variance, without a nugget."""

    form: str
    scale: float

    @property
    def variance(self) -> float:
        """k(x, x) = s^2."""
        return self.scale * self.scale

    @property
    def nugget(self) -> float:
        """0: neighbours share all of a value."""
        return 0.0


class Radial(Scaled, ABC):
    """k(x, x') = s^2 rho(r): `r2` says what r is."""

    @abstractmethod
    def r2(self, A: Array, B: Array) -> Array:
        """r^2 between a_i and b_j."""

    @abstractmethod
    def gradient(self, steps: Array) -> Array:
        """dk/dx summed with weights, given steps = sum_i weights_i slope(r_i) (x - x_i), shape (m, d)."""

    @abstractmethod
    def shape_gradient(self, slopes: Array, X: Array, r2: Array) -> Array:
        """dk/dp / s^2 summed with weights, for all parameters p but the scale, given slopes = weights * slope(r), (n, n)."""

    def of_r2(self, r2: Array) -> Array:
        """s^2 rho(r), in the memory of r^2."""
        K = CORRELATIONS[self.form].rho(r2)
        K *= self.variance
        return K

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        return self.of_r2(self.r2(A, B))

    def cross(self, U: Array, X: Array) -> "RadialPairs":
        """k(U, X) and its derivative in U."""
        r2 = self.r2(U, X)
        return RadialPairs(self, U, X, r2, *CORRELATIONS[self.form].rho_and_slope(r2))

    def gram(self, X: Array) -> "RadialPairs":
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)


@dataclass(frozen=True)
class RadialPairs:
    """Correlations and slopes between two sets of points; serves as `Cross`, and as `Gram` where the sets are one.

    Parameters
    ----------
    kernel
        The kernel.
    U, X
        The points (m, d) and (n, d).
    r2, rho, slope
        r^2, rho(r) and rho'(r) / r (m, n).
    """

    kernel: Radial
    U: Array
    X: Array
    r2: Array
    rho: Array
    slope: Array

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""
        return self.kernel.variance * self.rho

    def vjp(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d)."""
        slopes = weights * self.slope
        return self.kernel.gradient(np.asarray(slopes.sum(axis=1)[:, None] * self.U - slopes @ self.X))

    def vjp_parameters(self, weights: Array) -> Array:
        """The derivatives in the parameters, summed with symmetric weights; dk/dlog s = 2 k."""
        shape = self.kernel.shape_gradient(weights * self.slope, self.X, self.r2)
        return self.kernel.variance * np.append(shape, 2 * np.vdot(weights, self.rho))


@dataclass(frozen=True)
class Lengthscales(Scaled):
    """What `Stationary` and `Additive` share.

    Parameters
    ----------
    form
        "se", "matern12", "matern32" or "matern52".
    lengthscale
        One for all coordinates (1,), or one for each (d,).
    scale
        The standard deviation s.

    Raises
    ------
    BadInput
        If the form is unknown, or a number is not positive.
    """

    form: str
    lengthscale: Array
    scale: float = 1.0

    def __post_init__(self) -> None:
        lengthscale = np.atleast_1d(np.array(self.lengthscale, dtype=np.float64))
        lengthscale.flags.writeable = False
        if self.form not in CORRELATIONS:
            raise BadInput(f"`form` of a kernel must be one of {', '.join(CORRELATIONS)}; got {self.form!r}.")
        if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
            raise BadInput(f"`lengthscale` of a kernel must hold positive numbers; got {lengthscale!r}.")
        if not (np.isfinite(self.scale) and self.scale > 0):
            raise BadInput(f"`scale` of a kernel must be a positive number; got {self.scale!r}.")
        object.__setattr__(self, "lengthscale", lengthscale)
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def parameters(self) -> Array:
        """The logs of the length-scales and of s."""
        return np.log(np.append(self.lengthscale, self.scale))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`."""
        return (*(f"length-scale {j}" for j in range(len(self.lengthscale))), "scale")

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other `parameters`."""
        values = np.exp(parameters)
        return type(self)(self.form, values[:-1], float(values[-1]))


@dataclass(frozen=True)
class Stationary(Lengthscales, Radial):
    """k(x, x') = s^2 rho(r), r^2 = sum_j ((x_j - x'_j) / l_j)^2.

    Parameters
    ----------
    form
        "se", "matern12", "matern32" or "matern52".
    lengthscale
        One for all coordinates (1,), or one for each (d,).
    scale
        The standard deviation s.
    """

    def r2(self, A: Array, B: Array) -> Array:
        """r^2 between a_i and b_j."""
        return np.asarray(cdist(A / self.lengthscale, B / self.lengthscale, "sqeuclidean"))

    def gradient(self, steps: Array) -> Array:
        """dk/dx_j = s^2 slope(r) (x_j - x'_j) / l_j^2."""
        return self.variance * steps / self.lengthscale**2

    def shape_gradient(self, slopes: Array, X: Array, r2: Array) -> Array:
        """dk/dlog l_j = -s^2 slope(r) (x_j - x'_j)^2 / l_j^2.

        One matrix product serves all length-scales: sum_ij M_ij (x_ik - x_jk)^2 = 2 (r'x_k^2 - x_k'M x_k), r = M 1.
        """
        if len(self.lengthscale) == 1:
            return np.array([-np.vdot(slopes, r2)])
        slopes[r2 == 0] = 0.0  # equal points: rounding errors would not cancel in the two sums below
        C = X - X.mean(axis=0)
        return -2 * (slopes.sum(axis=1) @ C**2 - np.einsum("ij,ij->j", C, slopes @ C)) / self.lengthscale**2

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Draw frequencies from the spectral distribution, all with the same amplitude."""
        frequencies = CORRELATIONS[self.form].frequencies((count, dimension), rng) / self.lengthscale
        return frequencies, np.full(count, self.scale / np.sqrt(count))
