"""Stationary kernels on the unit cube: values, and derivatives in the points and in every hyperparameter.

A kernel is k(x, x') = s^2 rho(r) with r^2 = sum_j ((x_j - x'_j) / l_j)^2 (rho: see `FORMS`), or, additive, the
mean over the coordinates j of s^2 rho(|x_j - x'_j| / l_j). Derivatives are never tensors of shape (m, n, d): with
slope(r) = rho'(r) / r, the derivative of k in x_j is s^2 slope(r) (x_j - x'_j) / l_j^2, so a weighted sum of derivatives is
two matrix products (`pull`), and so is a weighted sum of the derivatives in the length-scales (`pull_parameters`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.types import Array, BadInput

_SQRT3, _SQRT5 = np.sqrt(3.0), np.sqrt(5.0)


@dataclass(frozen=True)
class Form:
    """A correlation rho as a function of r^2, its slope rho'(r) / r, and the spectral density it has as a distribution."""

    rho: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    nu: float  # the smoothness; infinite for SE

    def frequencies(self, shape: tuple[int, int], rng: Generator) -> Array:
        """Draws w (m, d) with E[cos(w'(x - x'))] = rho: normal for SE, Student-t with 2 nu degrees for Matérn."""
        normal = rng.standard_normal(shape)
        if np.isinf(self.nu):
            return normal
        return normal * np.sqrt(2 * self.nu / rng.chisquare(2 * self.nu, size=(shape[0], 1)))


def _matern32(r2: Array) -> Array:
    a = _SQRT3 * np.sqrt(r2)
    return (1 + a) * np.exp(-a)


def _matern52(r2: Array) -> Array:
    a = _SQRT5 * np.sqrt(r2)
    return (1 + a + a * a / 3) * np.exp(-a)


def _matern52_slope(r2: Array) -> Array:
    a = _SQRT5 * np.sqrt(r2)
    return (-5 / 3) * (1 + a) * np.exp(-a)


def _matern12_slope(r2: Array) -> Array:
    r = np.maximum(np.sqrt(r2), 1e-8)  # the kernel has a kink at r = 0; there the difference x - x' is 0 too
    return -np.exp(-r) / r


FORMS: dict[str, Form] = {
    "se": Form(lambda r2: np.exp(-0.5 * r2), lambda r2: -np.exp(-0.5 * r2), np.inf),
    "matern12": Form(lambda r2: np.exp(-np.sqrt(r2)), _matern12_slope, 0.5),
    "matern32": Form(_matern32, lambda r2: -3 * np.exp(-_SQRT3 * np.sqrt(r2)), 1.5),
    "matern52": Form(_matern52, _matern52_slope, 2.5),
}


class Cross(Protocol):
    """The kernel between points U (m, d) and X (n, d), with its derivative in U."""

    value: Array  # (m, n)

    def pull(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d)."""


class Kernel(Protocol):
    """A positive definite function with hyperparameters; frozen."""

    scale: float

    @property
    def variance(self) -> float:
        """k(x, x) = s^2."""

    @property
    def parameters(self) -> Array:
        """log of the length-scales, then log of the scale s."""

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other hyperparameters (as `parameters` gives them)."""

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j), shape (len(A), len(B))."""

    def cross(self, U: Array, X: Array) -> Cross:
        """k(U, X) and its derivative in U."""

    def pull_parameters(self, X: Array, weights: Array) -> Array:
        """sum_ij weights[i, j] dk(x_i, x_j)/dparameters for symmetric weights."""

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
    def parameters(self) -> Array:
        return np.log(np.append(self.lengthscale, self.scale))

    def with_parameters(self, parameters: Array) -> Self:
        values = np.exp(parameters)
        return replace(self, lengthscale=values[:-1], scale=float(values[-1]))

    def _form(self) -> Form:
        return FORMS[self.form]


@dataclass(frozen=True)
class _StationaryCross:
    kernel: "Stationary"
    U: Array
    X: Array
    r2: Array

    @property
    def value(self) -> Array:
        return self.kernel.variance * self.kernel._form().rho(self.r2)

    def pull(self, weights: Array) -> Array:
        slopes = weights * self.kernel._form().slope(self.r2)
        moved = slopes.sum(axis=1)[:, None] * self.U - slopes @ self.X
        return self.kernel.variance * moved / self.kernel.lengthscale**2


@dataclass(frozen=True)
class Stationary(_Hyperparameters):
    """k(x, x') = s^2 rho(r); `form` is se, matern12, matern32 or matern52; one length-scale, or one a dimension."""

    def _r2(self, A: Array, B: Array) -> Array:
        return cdist(A / self.lengthscale, B / self.lengthscale, "sqeuclidean")

    def __call__(self, A: Array, B: Array) -> Array:
        return self.variance * self._form().rho(self._r2(A, B))

    def cross(self, U: Array, X: Array) -> Cross:
        return _StationaryCross(self, U, X, self._r2(U, X))

    def pull_parameters(self, X: Array, weights: Array) -> Array:
        """dk/dlog l_j = -s^2 slope(r) (x_j - x'_j)^2 / l_j^2 and dk/dlog s = 2 k, summed with the weights."""
        r2 = self._r2(X, X)
        by_scale = 2 * self.variance * np.vdot(weights, self._form().rho(r2))
        slopes = weights * self._form().slope(r2)
        if len(self.lengthscale) == 1:
            by_lengthscale = np.array([-self.variance * np.vdot(slopes, r2)])
        else:
            np.fill_diagonal(slopes, 0.0)
            C = X - X.mean(axis=0)
            squares = 2 * (slopes.sum(axis=1) @ C**2 - np.einsum("ij,ij->j", C, slopes @ C))
            by_lengthscale = -self.variance * squares / self.lengthscale**2
        return np.append(by_lengthscale, by_scale)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        frequencies = self._form().frequencies((count, dimension), rng) / self.lengthscale
        return frequencies, np.full(count, self.scale / np.sqrt(count))


@dataclass(frozen=True)
class _AdditiveCross:
    kernel: "Additive"
    U: Array
    X: Array

    @property
    def value(self) -> Array:
        return self.kernel(self.U, self.X)

    def pull(self, weights: Array) -> Array:
        kernel, slope = self.kernel, self.kernel._form().slope
        pulled = np.empty(self.U.shape)
        for j, lengthscale in enumerate(kernel._lengthscales(self.U.shape[1])):
            difference = (self.U[:, j, None] - self.X[:, j]) / lengthscale
            pulled[:, j] = np.einsum("ij,ij,ij->i", weights, slope(difference**2), difference) / lengthscale
        return pulled * (kernel.variance / self.U.shape[1])


@dataclass(frozen=True)
class Additive(_Hyperparameters):
    """k(x, x') = s^2 / d * sum_j rho(|x_j - x'_j| / l_j): functions that are sums of functions of one coordinate."""

    def _lengthscales(self, dimension: int) -> Array:
        return np.broadcast_to(self.lengthscale, (dimension,))

    def _r2(self, A: Array, B: Array, j: int) -> Array:
        return ((A[:, j, None] - B[:, j]) / self._lengthscales(A.shape[1])[j]) ** 2

    def __call__(self, A: Array, B: Array) -> Array:
        d, rho = A.shape[1], self._form().rho
        total = rho(self._r2(A, B, 0))
        for j in range(1, d):
            total += rho(self._r2(A, B, j))
        return total * (self.variance / d)

    def cross(self, U: Array, X: Array) -> Cross:
        return _AdditiveCross(self, U, X)

    def pull_parameters(self, X: Array, weights: Array) -> Array:
        d, form = X.shape[1], self._form()
        by_coordinate, by_scale = np.empty(d), 0.0
        for j in range(d):
            r2 = self._r2(X, X, j)
            by_coordinate[j] = -np.einsum("ij,ij,ij->", weights, form.slope(r2), r2)
            by_scale += 2 * np.vdot(weights, form.rho(r2))
        by_lengthscale = by_coordinate if len(self.lengthscale) == d else by_coordinate.sum(keepdims=True)
        return np.append(by_lengthscale, by_scale) * (self.variance / d)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Each feature sees one coordinate; the coordinates take turns."""
        along = np.arange(count) % dimension
        frequencies = np.zeros((count, dimension))
        draws = self._form().frequencies((count, 1), rng)[:, 0]
        frequencies[np.arange(count), along] = draws / self._lengthscales(dimension)[along]
        share = np.bincount(along, minlength=dimension)
        return frequencies, self.scale / np.sqrt(dimension * share[along])
