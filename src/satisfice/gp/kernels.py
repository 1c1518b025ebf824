"""Stationary kernels on the unit cube: values, and derivatives in the points and in every hyperparameter.

A kernel is k(x, x') = s^2 rho(r) with r^2 = sum_j ((x_j - x'_j) / l_j)^2 (rho: see `CORRELATIONS`), or, `Additive`, the
mean over the coordinates j of s^2 rho(|x_j - x'_j| / l_j). Derivatives are never tensors of shape (m, n, d): with
slope(r) = rho'(r) / r, the derivative of k in x_j is s^2 slope(r) (x_j - x'_j) / l_j^2, so a weighted sum of derivatives is
two matrix products (`vjp`), and so is a weighted sum of the derivatives in the length-scales (`vjp_parameters`).
"""

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.errors import BadInput
from satisfice.gp.correlations import CORRELATIONS
from satisfice.types import Array


class Cross(Protocol):
    """The kernel between points U (m, d) and X (n, d), with its derivative in U."""

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""

    def vjp(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d); weights (n,) serve every m."""


class Gram(Protocol):
    """The kernel among points X (n, d), with its derivative in the hyperparameters."""

    @property
    def value(self) -> Array:
        """k(x_i, x_j), shape (n, n)."""

    def vjp_parameters(self, weights: Array) -> Array:
        """sum_ij weights[i, j] dk(x_i, x_j)/dparameters for symmetric weights."""


class Kernel(Protocol):
    """A positive definite function with hyperparameters; frozen."""

    @property
    def form(self) -> str:
        """The name of the correlation."""

    @property
    def scale(self) -> float:
        """s."""

    @property
    def variance(self) -> float:
        """k(x, x)."""

    @property
    def nugget(self) -> float:
        """The part of the variance that a point shares with no other, however near."""

    @property
    def parameters(self) -> Array:
        """What is learned: lengths as logs, a direction as it is, and the log of the scale s last."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the parameters are called."""

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other hyperparameters (as `parameters` gives them)."""

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j), shape (len(A), len(B))."""

    def cross(self, U: Array, X: Array) -> Cross:
        """k(U, X) and its derivative in U."""

    def gram(self, X: Array) -> Gram:
        """k(X, X) and its derivative in the hyperparameters."""

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Frequencies W (count, d) and amplitudes a (count,): E[sum_i a_i^2 cos(w_i'(x - x'))] = k(x, x')."""


def _check(form: str, lengthscale: Array, scale: float) -> None:
    if form not in CORRELATIONS:
        raise BadInput(f"kernel: form {form!r} came; one of {', '.join(CORRELATIONS)} was wanted")
    if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
        raise BadInput(f"kernel: length-scale {lengthscale!r} came; positive numbers were wanted")
    if not (np.isfinite(scale) and scale > 0):
        raise BadInput(f"kernel: scale {scale!r} came; a positive number was wanted")


@dataclass(frozen=True)
class Hyperparameters:
    """What `Stationary` and `Additive` share: a form, length-scales (1,) or (d,), and the scale s (a standard deviation)."""

    form: str
    lengthscale: Array
    scale: float = 1.0

    def __post_init__(self) -> None:
        lengthscale = np.atleast_1d(np.array(self.lengthscale, dtype=np.float64))
        lengthscale.flags.writeable = False
        _check(self.form, lengthscale, self.scale)
        object.__setattr__(self, "lengthscale", lengthscale)
        object.__setattr__(self, "scale", float(self.scale))

    @property
    def variance(self) -> float:
        """k(x, x)."""
        return self.scale * self.scale

    @property
    def nugget(self) -> float:
        """None: neighbours share all of a value."""
        return 0.0

    @property
    def parameters(self) -> Array:
        """The logs of the length-scales and of s."""
        return np.log(np.append(self.lengthscale, self.scale))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`."""
        return (*(f"length-scale {j}" for j in range(len(self.lengthscale))), "scale")

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with these `parameters`."""
        values = np.exp(parameters)
        return type(self)(self.form, values[:-1], float(values[-1]))


@dataclass(frozen=True)
class RadialPairs:
    """Correlations and slopes between two sets of points, by a distance r between them."""

    kernel: Kernel
    U: Array
    X: Array
    r2: Array
    rho: Array
    slope: Array

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""
        return self.kernel.variance * self.rho

    def slopes_times_steps(self, weights: Array) -> Array:
        """sum_i weights[m, i] slope(r) (u_m - x_i), shape (m, d)."""
        slopes = weights * self.slope
        return np.asarray(slopes.sum(axis=1)[:, None] * self.U - slopes @ self.X)


@dataclass(frozen=True)
class StationaryPairs(RadialPairs):
    """Those of a stationary kernel; serves as `Cross`, and as `Gram` where the sets are one."""

    kernel: "Stationary"

    def vjp(self, weights: Array) -> Array:
        """dk/dx_j = s^2 slope(r) (x_j - x'_j) / l_j^2, summed with the weights."""
        return self.kernel.variance * self.slopes_times_steps(weights) / self.kernel.lengthscale**2

    def vjp_parameters(self, weights: Array) -> Array:
        """dk/dlog l_j = -s^2 slope(r) (x_j - x'_j)^2 / l_j^2 and dk/dlog s = 2 k, summed with the weights.

        One matrix product serves all length-scales: sum_ij M_ij (x_ik - x_jk)^2 = 2 (r'x_k^2 - x_k'M x_k), r = M 1.
        """
        slopes = weights * self.slope
        if len(self.kernel.lengthscale) == 1:
            by_lengthscale = np.vdot(slopes, self.r2)
        else:
            slopes[self.r2 == 0] = 0.0  # equal points: the two sums below would leave their rounding
            C = self.X - self.X.mean(axis=0)
            squares = 2 * (slopes.sum(axis=1) @ C**2 - np.einsum("ij,ij->j", C, slopes @ C))
            by_lengthscale = squares / self.kernel.lengthscale**2
        return self.kernel.variance * np.append(-by_lengthscale, 2 * np.vdot(weights, self.rho))


@dataclass(frozen=True)
class Stationary(Hyperparameters):
    """k(x, x') = s^2 rho(r); `form` is se, matern12, matern32 or matern52; one length-scale, or one a dimension."""

    def r2(self, A: Array, B: Array) -> Array:
        """r^2 between a_i and b_j."""
        return np.asarray(cdist(A / self.lengthscale, B / self.lengthscale, "sqeuclidean"))

    def of_r2(self, r2: Array) -> Array:
        """s^2 rho(r), in the memory of r^2."""
        K = CORRELATIONS[self.form].rho(r2)
        K *= self.variance
        return K

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        return self.of_r2(self.r2(A, B))

    def cross(self, U: Array, X: Array) -> StationaryPairs:
        """k(U, X) and its derivative in U."""
        r2 = self.r2(U, X)
        return StationaryPairs(self, U, X, r2, *CORRELATIONS[self.form].rho_and_slope(r2))

    def gram(self, X: Array) -> StationaryPairs:
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Frequencies drawn from the spectral distribution, all of one amplitude."""
        frequencies = CORRELATIONS[self.form].frequencies((count, dimension), rng) / self.lengthscale
        return frequencies, np.full(count, self.scale / np.sqrt(count))
