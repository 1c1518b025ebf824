"""Stationary kernels on the unit cube: values, and derivatives in the points and in every hyperparameter.

A kernel is k(x, x') = s^2 rho(r) with r^2 = sum_j ((x_j - x'_j) / l_j)^2 (rho: see `FORMS`), or, additive, the
mean over the coordinates j of s^2 rho(|x_j - x'_j| / l_j). Derivatives are never tensors of shape (m, n, d): with
slope(r) = rho'(r) / r, the derivative of k in x_j is s^2 slope(r) (x_j - x'_j) / l_j^2, so a weighted sum of derivatives is
two matrix products (`pull`), and so is a weighted sum of the derivatives in the length-scales (`pull_parameters`).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.spatial.distance import cdist, squareform

from satisfice.gp.correlations import FORMS
from satisfice.types import Array, BadInput


class Cross(Protocol):
    """The kernel between points U (m, d) and X (n, d), with its derivative in U."""

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""

    def pull(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d); weights (n,) serve every m."""


class Gram(Protocol):
    """The kernel among points X (n, d), with its derivative in the hyperparameters."""

    @property
    def value(self) -> Array:
        """k(x_i, x_j), shape (n, n)."""

    def pull_parameters(self, weights: Array) -> Array:
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
    if form not in FORMS:
        raise BadInput(f"kernel: form {form!r} came; one of {', '.join(FORMS)} was wanted")
    if lengthscale.ndim != 1 or not (np.isfinite(lengthscale) & (lengthscale > 0)).all():
        raise BadInput(f"kernel: length-scale {lengthscale!r} came; positive numbers were wanted")
    if not (np.isfinite(scale) and scale > 0):
        raise BadInput(f"kernel: scale {scale!r} came; a positive number was wanted")


@dataclass(frozen=True)
class _Hyperparameters:
    """What both kernels share: a form, length-scales (1,) or (d,), and the scale s (a standard deviation)."""

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
        return self.scale * self.scale

    @property
    def nugget(self) -> float:
        return 0.0

    @property
    def parameters(self) -> Array:
        return np.log(np.append(self.lengthscale, self.scale))

    @property
    def names(self) -> tuple[str, ...]:
        return (*(f"length-scale {j}" for j in range(len(self.lengthscale))), "scale")

    def with_parameters(self, parameters: Array) -> Self:
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

    def pull(self, weights: Array) -> Array:
        """dk/dx_j = s^2 slope(r) (x_j - x'_j) / l_j^2, summed with the weights."""
        return self.kernel.variance * self.slopes_times_steps(weights) / self.kernel.lengthscale**2

    def pull_parameters(self, weights: Array) -> Array:
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
class Stationary(_Hyperparameters):
    """k(x, x') = s^2 rho(r); `form` is se, matern12, matern32 or matern52; one length-scale, or one a dimension."""

    def r2(self, A: Array, B: Array) -> Array:
        """r^2 between a_i and b_j."""
        return np.asarray(cdist(A / self.lengthscale, B / self.lengthscale, "sqeuclidean"))

    def of_r2(self, r2: Array) -> Array:
        """s^2 rho(r), in the memory of r^2."""
        K = FORMS[self.form].rho(r2)
        K *= self.variance
        return K

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        return self.of_r2(self.r2(A, B))

    def cross(self, U: Array, X: Array) -> StationaryPairs:
        """k(U, X) and its derivative in U."""
        r2 = self.r2(U, X)
        return StationaryPairs(self, U, X, r2, *FORMS[self.form].rho_and_slope(r2))

    def gram(self, X: Array) -> StationaryPairs:
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Frequencies drawn from the spectral distribution, all of one amplitude."""
        frequencies = FORMS[self.form].frequencies((count, dimension), rng) / self.lengthscale
        return frequencies, np.full(count, self.scale / np.sqrt(count))


@dataclass(frozen=True)
class _AdditivePairs:
    """Scaled differences, correlations and slopes between two sets of points, each (d, m, n)."""

    kernel: "Additive"
    difference: Array
    rho: Array
    slope: Array

    @property
    def value(self) -> Array:
        return self.kernel.variance * np.asarray(self.rho.mean(axis=0))

    def pull(self, weights: Array) -> Array:
        d = len(self.rho)
        pulled = np.einsum("dmn,dmn->md", weights * self.slope, self.difference)
        return pulled * (self.kernel.variance / d / self.kernel.lengthscale)


@lru_cache(maxsize=2)
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first and the second index of each pair out of n, in the order of `squareform`."""
    return np.triu_indices(n, 1)


@dataclass(frozen=True)
class _AdditiveGram:
    """Each pair of points once: rho, and slope(r) r^2, summed over the coordinates that share a length-scale."""

    kernel: "Additive"
    dimension: int
    rho: Array  # (n (n - 1) / 2,)
    bends: Array  # (length-scales, n (n - 1) / 2)

    @property
    def value(self) -> Array:
        matrix = squareform(self.rho * (self.kernel.variance / self.dimension))
        np.fill_diagonal(matrix, self.kernel.variance)
        return np.asarray(matrix)

    def pull_parameters(self, weights: Array) -> Array:
        """Every pair counts twice; the diagonal depends on the scale alone."""
        pairs = squareform(weights, checks=False)
        total = 2 * (pairs @ self.rho) + self.dimension * np.trace(weights)
        return np.append(-2 * (self.bends @ pairs), 2 * total) * (self.kernel.variance / self.dimension)


@dataclass(frozen=True)
class Additive(_Hyperparameters):
    """k(x, x') = s^2 / d * sum_j rho(|x_j - x'_j| / l_j): functions that are sums of functions of one coordinate."""

    def _difference(self, A: Array, B: Array) -> Array:
        return (A / self.lengthscale).T[:, :, None] - (B / self.lengthscale).T[:, None, :]

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        rho, d = FORMS[self.form].rho, A.shape[1]
        A, B = A / self.lengthscale, B / self.lengthscale
        total, r2 = np.zeros((len(A), len(B))), np.empty((len(A), len(B)))
        for j in range(d):  # one coordinate at a time, in place: the matrices may be large
            np.subtract(A[:, j, None], B[:, j], out=r2)
            total += rho(np.multiply(r2, r2, out=r2))
        total *= self.variance / d
        return total

    def cross(self, U: Array, X: Array) -> _AdditivePairs:
        """k(U, X) and its derivative in U."""
        difference = self._difference(U, X)
        return _AdditivePairs(self, difference, *FORMS[self.form].rho_and_slope(difference**2))

    def gram(self, X: Array) -> _AdditiveGram:
        """k(X, X) and its derivative in the hyperparameters."""
        first, second = _pairs(len(X))
        rho, bends = np.zeros(len(first)), np.zeros((len(self.lengthscale), len(first)))
        for j, column in enumerate((X / self.lengthscale).T):  # one coordinate at a time: it stays in the cache
            r2 = column[first]
            r2 -= column[second]
            r2 *= r2
            along, slope = FORMS[self.form].rho_and_slope(r2)
            rho += along
            bends[j % len(bends)] += np.multiply(slope, r2, out=slope)
        return _AdditiveGram(self, X.shape[1], rho, bends)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Each feature sees one coordinate; the coordinates take turns."""
        along = np.arange(count) % dimension
        frequencies = np.zeros((count, dimension))
        draws = FORMS[self.form].frequencies((count, 1), rng)[:, 0]
        frequencies[np.arange(count), along] = draws / np.broadcast_to(self.lengthscale, (dimension,))[along]
        share = np.bincount(along, minlength=dimension)
        return frequencies, self.scale / np.sqrt(dimension * share[along])
