"""The posterior of a Gaussian process with zero prior mean (the paper's eq. posterior_mean and posterior_variance)."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from satisfice.errors import NumericalFailure
from satisfice.gp.kernels import Cross, Kernel
from satisfice.types import Array

JITTERS = (0.0, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4)  # tried in turn, relative to the mean diagonal
PIVOT = 100 * np.finfo(np.float64).eps  # a smaller pivot, relative to n times the diagonal, is mostly rounding error
SMALL = 250  # up to this many observations, the inverse of the Cholesky factor is used
FLOOR = 1e-12  # the smallest posterior variance, relative to the prior's: rounding may take it below zero


class Marginal(NamedTuple):
    """Mean and standard deviation of f at m points, each (m,)."""

    mean: Array
    std: Array


class MarginalWithVjp(NamedTuple):
    """Mean and standard deviation of f at m points U, each (m,), and what their derivatives in U consist of.

    With k the kernel between U and the observed points, dmean = dk alpha and dstd = dk weights, where weights is
    -(K + lam I)^-1 k / std (zero where the std is at its floor).
    """

    mean: Array
    std: Array
    cross: Cross
    alpha: Array  # (n,)
    weights: Array  # (m, n)

    def vjp(self, by_mean: Array, by_std: Array) -> Array:
        """The derivatives in U (m, d) of a function of mean and std, given its derivatives in those, each (m,)."""
        return self.cross.vjp(by_mean[:, None] * self.alpha + by_std[:, None] * self.weights)


def cholesky(K: Array) -> tuple[Array, float]:
    """Factorise K + jitter I = L L', with the smallest jitter that works.

    A pivot that is mostly rounding error counts as a failure, since the factor would be as well.

    Parameters
    ----------
    K
        A symmetric matrix (n, n).

    Returns
    -------
    L, jitter
        The lower factor (n, n), and the jitter; 0 if K itself can be factorised.

    Raises
    ------
    NumericalFailure
        If even the largest jitter does not help.
    """
    step = float(np.mean(np.diagonal(K)))
    if np.isfinite(step):
        for share in JITTERS:
            jittered = K + share * step * np.eye(len(K)) if share else K
            factor, info = lapack.dpotrf(jittered.T, lower=1, clean=1)
            pivots = np.diagonal(factor) ** 2
            if info == 0 and np.isfinite(pivots).all() and pivots.min() > PIVOT * len(K) * step:
                return factor, share * step
    raise NumericalFailure(
        f"a covariance matrix of {len(K)} points cannot be factorised, even with a jitter of {JITTERS[-1]:g} "
        "times its diagonal"
    )


def solve_lower(L: Array, B: Array, transposed: bool = False) -> Array:
    """L^-1 B, or L'^-1 B.

    Parameters
    ----------
    L
        A lower triangular matrix (n, n).
    B
        The right-hand sides (n, m).
    transposed
        Whether to solve with L'.

    Returns
    -------
    Array
        The solution (n, m).
    """
    solution, _ = lapack.dtrtrs(L, B, lower=1, trans=int(transposed))
    return solution


@dataclass(frozen=True)
class Posterior:
    """f given y = f(X) + noise, with noise ~ N(0, lam) and f ~ GP(0, kernel); build one with `Posterior.given`.

    Parameters
    ----------
    kernel
        The prior covariance.
    lam
        The paper's lambda, which may differ from the variance of the true noise.
    X, y
        The points (n, d) in the unit cube and the values (n,); n may be 0.
    L
        The Cholesky factor of k(X, X) + (lam + jitter) I.
    jitter
        What was added to the diagonal so that it could be factorised.
    """

    kernel: Kernel
    lam: float
    X: Array
    y: Array
    L: Array = field(repr=False)
    jitter: float

    @classmethod
    def given(cls, kernel: Kernel, lam: float, X: Array, y: Array) -> "Posterior":
        """The posterior from scratch, in O(n^3)."""
        if len(X) == 0:
            return cls(kernel, lam, X, y, np.empty((0, 0), order="F"), 0.0)
        K = kernel(X, X)
        K.flat[:: len(X) + 1] += lam
        L, jitter = cholesky(K)
        return cls(kernel, lam, X, y, L, jitter)

    def extend(self, u: Array, y: float, lam: float | None = None) -> "Posterior":
        """The posterior with one more value y at u (d,), in O(n^2); `lam` may differ for this value."""
        lam = self.lam if lam is None else lam
        n = len(self.X)
        X, values = np.vstack([self.X, u]), np.append(self.y, y)
        if n == 0:
            return replace(Posterior.given(self.kernel, lam, X, values), lam=self.lam)
        row = solve_lower(self.L, self.kernel(self.X, u[None]))[:, 0]
        corner = self.kernel.variance + lam + self.jitter - row @ row
        smallest = PIVOT * (n + 1) * (self.kernel.variance + lam)
        if corner < 0.5 * (lam + self.jitter) or corner <= smallest:  # rounding used up what lam should leave
            K = self.kernel(X, X)
            K[np.diag_indices_from(K)] += np.append(np.maximum(self.noise_variances - self.jitter, 0.0), lam)
            factor, jitter = cholesky(K)
            return Posterior(self.kernel, self.lam, X, values, factor, jitter)
        L = np.zeros((n + 1, n + 1), order="F")
        L[:n, :n] = self.L
        L[n, :n] = row
        L[n, n] = np.sqrt(corner)
        return replace(self, X=X, y=values, L=L)

    def with_values(self, y: Array) -> "Posterior":
        """The posterior with other values at the same points, in O(n^2)."""
        return replace(self, y=y)

    @cached_property
    def half(self) -> Array:
        """L^-1 y (n,)."""
        return solve_lower(self.L, self.y[:, None])[:, 0] if len(self.y) else self.y

    @cached_property
    def alpha(self) -> Array:
        """(K + lam I)^-1 y (n,), the weights of the mean."""
        return solve_lower(self.L, self.half[:, None], transposed=True)[:, 0] if len(self.y) else self.y

    @cached_property
    def inverse_factor(self) -> Array:
        """L^-1: for a small posterior at many points, multiplying by it is three times as fast as solving."""
        inverse, _ = lapack.dtrtri(self.L, lower=1)
        return np.asarray(inverse)

    @property
    def noise_variances(self) -> Array:
        """The noise variance of each value (n,): the diagonal of L L' minus that of k(X, X)."""
        return np.maximum(np.einsum("ij,ij->i", self.L, self.L) - self.kernel.variance, 0.0)

    @property
    def log_evidence(self) -> float:
        """log p(y | X, kernel, lam)."""
        log_determinant = 2 * np.log(np.diagonal(self.L)).sum()
        return float(-0.5 * (self.half @ self.half + log_determinant + len(self.y) * np.log(2 * np.pi)))

    def _std(self, reduction: Array) -> Array:
        """sqrt(k(x, x) - reduction), never below the floor."""
        variance = self.kernel.variance
        return np.sqrt(np.maximum(variance - reduction, FLOOR * variance))

    def marginal(self, U: Array) -> Marginal:
        """mu(x) = k(x)'(K + lam I)^-1 y and sigma(x) = sqrt(k(x, x) - k(x)'(K + lam I)^-1 k(x)) at U (m, d)."""
        if len(self.X) == 0:
            return Marginal(np.zeros(len(U)), np.full(len(U), self.kernel.scale))
        K = self.kernel(U, self.X)
        if len(U) >= len(self.X) <= SMALL:
            halves = blas.dtrmm(1.0, self.inverse_factor, K.T, lower=1)
        else:
            halves = solve_lower(self.L, K.T)
        return Marginal(K @ self.alpha, self._std(np.einsum("nm,nm->m", halves, halves)))

    def marginal_with_vjp(self, U: Array) -> MarginalWithVjp:
        """The marginal at U (m, d), with its derivatives in U by the chain rule."""
        cross = self.kernel.cross(U, self.X)
        K = cross.value
        if len(self.X) == 0:
            return MarginalWithVjp(*self.marginal(U), cross, self.alpha, K)
        if len(self.X) <= SMALL:
            halves = self.inverse_factor @ K.T
            weights = (self.inverse_factor.T @ halves).T
        else:
            halves = solve_lower(self.L, K.T)
            weights = solve_lower(self.L, halves, transposed=True).T
        std = self._std(np.einsum("nm,nm->m", halves, halves))
        floored = std <= np.sqrt(FLOOR) * self.kernel.scale
        weights *= np.where(floored, 0.0, -1 / std)[:, None]
        return MarginalWithVjp(K @ self.alpha, std, cross, self.alpha, weights)

    def covariance(self, A: Array, B: Array) -> Array:
        """The posterior covariance of f(A) and f(B), (len(A), len(B))."""
        prior = self.kernel(A, B)
        if len(self.X) == 0:
            return prior
        half_A = solve_lower(self.L, self.kernel(self.X, A))
        half_B = half_A if A is B else solve_lower(self.L, self.kernel(self.X, B))
        return prior - half_A.T @ half_B

    def joint(self, U: Array) -> tuple[Array, Array]:
        """The mean (m,) and the covariance (m, m) of f at U."""
        return self.marginal(U).mean, self.covariance(U, U)
