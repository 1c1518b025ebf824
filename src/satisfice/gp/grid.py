"""`GridPosterior`: the posterior on a finite domain, updated in O(n |D|) per observation."""

from dataclasses import dataclass, field

import numpy as np

from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Marginal, Posterior, solve_lower
from satisfice.types import Array


@dataclass(frozen=True)
class GridPosterior(Posterior):
    """A `Posterior` that keeps V = L^-1 k(X, D), which gives mean and std on all of D without a solve.

    A new observation adds one row to V, the next one of the forward substitution. The variance on D falls by the square of that
    row, and the mean is V' L^-1 y.

    Parameters
    ----------
    points
        D, (|D|, d).
    V
        L^-1 k(X, D), (n, |D|).
    reduction
        The column sums of V^2, (|D|,).
    """

    points: Array = field(repr=False)
    V: Array = field(repr=False)
    reduction: Array = field(repr=False)

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
        """The posterior with one more value y at u, in O(n |D|)."""
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
