"""A kernel of main effects and pairwise interactions, which bench/ablations.py adds to those of the default."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from satisfice.gp.kernels import CORRELATIONS, Additive
from satisfice.types import Array


@dataclass(frozen=True)
class _InteractingPairs:
    """Scaled differences, correlations and slopes between two sets of points, each (d, m, n). Serves as `Cross` and as `Gram`."""

    kernel: "Interacting"
    difference: Array
    rho: Array
    slope: Array

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n); twice the sum over pairs is (sum_j rho_j)^2 - sum_j rho_j^2."""
        d, total = len(self.rho), self.rho.sum(axis=0)
        pairs = (total**2 - (self.rho**2).sum(axis=0)) / (d * (d - 1))
        return np.asarray(self.kernel.variance * (total / d + pairs) / 2)

    def _slopes(self, weights: Array) -> Array:
        """The weights times dk/drho_j slope(r_j), shape (d, m, n)."""
        d, others = len(self.rho), self.rho.sum(axis=0) - self.rho
        return np.asarray(weights * self.slope * (self.kernel.variance / 2 * (1 / d + 2 * others / (d * (d - 1)))))

    def vjp(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d)."""
        pulled = np.einsum("dmn,dmn->md", self._slopes(weights), self.difference)
        return np.asarray(pulled / self.kernel.lengthscale)

    def vjp_parameters(self, weights: Array) -> Array:
        """sum_ij weights[i, j] dk/d(log l, log s)."""
        by_length = -np.vdot(self._slopes(weights), self.difference**2)
        return np.array([by_length, 2 * np.vdot(weights, self.value)])


@dataclass(frozen=True)
class Interacting(Additive):
    """k = s^2 / 2 (mean over j of rho_j + mean over pairs j < k of rho_j rho_k), rho_j = rho(|x_j - x'_j| / l), one length-scale."""

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        return self.cross(A, B).value

    def cross(self, U: Array, X: Array) -> _InteractingPairs:  # type: ignore[override]
        """k(U, X) and its derivative in U."""
        difference = self.difference(U, X)
        return _InteractingPairs(self, difference, *CORRELATIONS[self.form].rho_and_slope(difference**2))

    def gram(self, X: Array) -> _InteractingPairs:  # type: ignore[override]
        """k(X, X) and its derivative in the hyperparameters."""
        return self.cross(X, X)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Not available: those of `Additive` would belong to another kernel, and no variant draws paths."""
        raise NotImplementedError(
            "The interaction kernel has no random features; use a rule that draws no sample paths."
        )
