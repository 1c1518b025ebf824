"""The posterior on a finite domain, updated in O(n |D|) an observation."""

from dataclasses import dataclass, field

import numpy as np

from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Marginal, Posterior, solve_lower
from satisfice.types import Array


@dataclass(frozen=True)
class GridPosterior(Posterior):
    """A `Posterior` that keeps V = L^-1 k(X, D), so that mean and std on all of D are there without a solve.

    Adding (x, y) adds one row to V, the forward substitution's next; the variance on D falls by that row squared, and the
    mean is V' L^-1 y.
    """

    points: Array = field(repr=False)  # D, (|D|, d)
    V: Array = field(repr=False)  # (n, |D|)
    reduction: Array = field(repr=False)  # the column sums of V^2, (|D|,)

    @classmethod
    def on(cls, points: Array, kernel: Kernel, lam: float, X: Array, y: Array) -> "GridPosterior":
        """The posterior on D = points, from scratch."""
        return cls._around(Posterior.given(kernel, lam, X, y), points)

    @classmethod
    def _around(cls, plain: Posterior, points: Array) -> "GridPosterior":
        V = solve_lower(plain.L, plain.kernel(plain.X, points)) if len(plain.X) else np.empty((0, len(points)))
        return cls._with(plain, points, V, np.einsum("nm,nm->m", V, V))

    @classmethod
    def _with(cls, plain: Posterior, points: Array, V: Array, reduction: Array) -> "GridPosterior":
        return cls(plain.kernel, plain.lam, plain.X, plain.y, plain.L, plain.jitter, points, V, reduction)

    def extend(self, u: Array, y: float, lam: float | None = None) -> "GridPosterior":
        """With one more value y at u, O(n |D|)."""
        plain = super().extend(u, y, lam)
        n = len(self.X)
        if plain.jitter != self.jitter or n == 0 or not np.array_equal(plain.L[:n, :n], self.L):
            return self._around(plain, self.points)
        row = (self.kernel(u[None], self.points)[0] - plain.L[n, :n] @ self.V) / plain.L[n, n]
        return self._with(plain, self.points, np.vstack([self.V, row]), self.reduction + row * row)

    def marginal(self, U: Array) -> Marginal:
        """Mean and std; without a solve where U is the whole finite domain."""
        if U is not self.points:
            return super().marginal(U)
        return Marginal(self.half @ self.V, self._std(self.reduction))
