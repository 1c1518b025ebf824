"""`Additive`: functions that are sums of functions of one coordinate."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.random import Generator
from scipy.spatial.distance import squareform

from satisfice.gp.kernels.correlations import CORRELATIONS
from satisfice.gp.kernels.stationary import Lengthscales
from satisfice.types import Array


@dataclass(frozen=True)
class AdditiveCross:
    """Scaled differences, correlations and slopes between two sets of points, each (d, m, n).

    Parameters
    ----------
    kernel
        The kernel.
    difference, rho, slope
        (x_j - x'_j) / l_j, rho(r_j) and rho'(r_j) / r_j (d, m, n).
    """

    kernel: "Additive"
    difference: Array
    rho: Array
    slope: Array

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""
        return self.kernel.variance * np.asarray(self.rho.mean(axis=0))

    def vjp(self, weights: Array) -> Array:
        """dk/dx_j = s^2 / d slope(r_j) (x_j - x'_j) / l_j^2, summed with the weights."""
        pulled = np.einsum("dmn,dmn->md", weights * self.slope, self.difference)
        return pulled * (self.kernel.variance / len(self.rho) / self.kernel.lengthscale)


@dataclass(frozen=True)
class AdditiveGram:
    """Each pair of points once: rho, and slope(r) r^2, both summed over the coordinates that share a length-scale.

    Parameters
    ----------
    kernel
        The kernel.
    dimension
        d.
    rho
        The sum of rho(r_j) for each pair (n (n - 1) / 2,).
    bends
        The sum of rho'(r_j) r_j for each length-scale and pair.
    """

    kernel: "Additive"
    dimension: int
    rho: Array
    bends: Array

    @property
    def value(self) -> Array:
        """k(x_i, x_j), shape (n, n)."""
        matrix = squareform(self.rho * (self.kernel.variance / self.dimension))
        np.fill_diagonal(matrix, self.kernel.variance)
        return np.asarray(matrix)

    def vjp_parameters(self, weights: Array) -> Array:
        """dk/dlog l_j = -s^2 / d slope(r_j) r_j^2 and dk/dlog s = 2 k, summed with symmetric weights.

        Every pair counts twice; the diagonal depends on the scale alone.
        """
        pairs = squareform(weights, checks=False)
        total = 2 * (pairs @ self.rho) + self.dimension * np.trace(weights)
        return np.append(-2 * (self.bends @ pairs), 2 * total) * (self.kernel.variance / self.dimension)


@lru_cache(maxsize=2)
def _pairs(n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The first and the second index of each pair out of n, in the order of `squareform`."""
    return np.triu_indices(n, 1)


@dataclass(frozen=True)
class Additive(Lengthscales):
    """k(x, x') = s^2 / d * sum_j rho(r_j), r_j = |x_j - x'_j| / l_j.

    Parameters
    ----------
    form
        "se", "matern12", "matern32" or "matern52".
    lengthscale
        One for all coordinates (1,), or one for each (d,).
    scale
        The standard deviation s.
    """

    def difference(self, A: Array, B: Array) -> Array:
        """(a_ij - b_kj) / l_j for each coordinate, shape (d, len(A), len(B))."""
        return (A / self.lengthscale).T[:, :, None] - (B / self.lengthscale).T[:, None, :]

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j)."""
        rho, d = CORRELATIONS[self.form].rho, A.shape[1]
        A, B = A / self.lengthscale, B / self.lengthscale
        total, r2 = np.zeros((len(A), len(B))), np.empty((len(A), len(B)))
        for j in range(d):  # one coordinate at a time, in place: the matrices may be large
            np.subtract(A[:, j, None], B[:, j], out=r2)
            total += rho(np.multiply(r2, r2, out=r2))
        total *= self.variance / d
        return total

    def cross(self, U: Array, X: Array) -> AdditiveCross:
        """k(U, X) and its derivative in U."""
        difference = self.difference(U, X)
        return AdditiveCross(self, difference, *CORRELATIONS[self.form].rho_and_slope(difference**2))

    def gram(self, X: Array) -> AdditiveGram:
        """k(X, X) and its derivative in the hyperparameters."""
        first, second = _pairs(len(X))
        rho, bends = np.zeros(len(first)), np.zeros((len(self.lengthscale), len(first)))
        for j, column in enumerate((X / self.lengthscale).T):  # one coordinate at a time: it stays in the cache
            r2 = column[first]
            r2 -= column[second]
            r2 *= r2
            along, slope = CORRELATIONS[self.form].rho_and_slope(r2)
            rho += along
            bends[j % len(bends)] += np.multiply(slope, r2, out=slope)
        return AdditiveGram(self, X.shape[1], rho, bends)

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Draw features that each depend on one coordinate; the coordinates take turns."""
        along = np.arange(count) % dimension
        frequencies = np.zeros((count, dimension))
        draws = CORRELATIONS[self.form].frequencies((count, 1), rng)[:, 0]
        frequencies[np.arange(count), along] = draws / np.broadcast_to(self.lengthscale, (dimension,))[along]
        share = np.bincount(along, minlength=dimension)
        return frequencies, self.scale / np.sqrt(dimension * share[along])
