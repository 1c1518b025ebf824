"""`KernelStack`: several kernels evaluated together, as one array with a row for each.

With few points, calling numpy takes longer than its arithmetic. A stack calls it once for all kernels: their r^2 are one matrix
product, of the inverse squared length-scales (k, d) with the squared differences of the points (d, pairs).
"""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from satisfice.gp.kernels.additive import Additive
from satisfice.gp.kernels.base import Kernel
from satisfice.gp.kernels.correlations import CORRELATIONS, Correlation
from satisfice.gp.kernels.stationary import Stationary
from satisfice.gp.kernels.structured import Directional, WithNugget
from satisfice.types import Array

Rows = slice | npt.NDArray[np.intp]
CACHED = 16_384  # numbers that stay in the processor's nearest cache
STACKABLE = (Stationary, Additive, Directional, WithNugget)


class Differences(NamedTuple):
    """Pairs of points: x - x' and its squares, each (d, pairs), and whether the points are equal (pairs,)."""

    steps: Array
    squares: Array
    same: npt.NDArray[np.bool_]

    @classmethod
    def between(cls, A: Array, B: Array) -> "Differences":
        """Every a_i with every b_j, in the order of a matrix (len(A), len(B))."""
        steps = (A.T[:, :, None] - B.T[:, None, :]).reshape(A.shape[1], -1)
        return cls._of(steps)

    @classmethod
    def among(cls, X: Array) -> "Differences":
        """Each pair i < j of the points once, in the order of `numpy.triu_indices`."""
        first, second = np.triu_indices(len(X), 1)
        return cls._of(np.ascontiguousarray((X[first] - X[second]).T))

    @classmethod
    def _of(cls, steps: Array) -> "Differences":
        squares = steps * steps
        return cls(steps, squares, squares.max(axis=0, initial=0.0) == 0)


@cache
def _roles(kind: str, lengths: int, d: int) -> Array:
    """Which parameter is which: (2 d + 2, parameters), the rows are d logs of lengths, d slopes, log h and log s."""
    size = lengths + 1 + (1 if kind == "WithNugget" else d if kind == "Directional" else 0)
    roles = np.zeros((2 * d + 2, size))
    roles[-1, -1] = 1.0
    if kind == "WithNugget":
        roles[-2, -2] = 1.0
    if kind == "Directional":
        roles[np.arange(d, 2 * d), np.arange(1, d + 1)] = 1.0
    roles[np.arange(d), np.arange(d) if lengths == d else 0] = 1.0
    return roles


def _roles_of(kernel: Kernel, d: int) -> Array:
    if isinstance(kernel, Directional):
        return _roles("Directional", 1, d)
    if isinstance(kernel, WithNugget):
        return _roles("WithNugget", len(kernel.trend.lengthscale), d)
    if isinstance(kernel, Stationary | Additive):
        return _roles("", len(kernel.lengthscale), d)
    raise TypeError(f"a stack does not know the kernel {kernel!r}")


class Values(NamedTuple):
    """What the parameters of the rows say.

    `inverse` are the inverse squared lengths (k, d), `slope` the directions of the directional rows, `ripple` h or 0, and
    `variance` s^2, each (k, 1).
    """

    inverse: Array
    slope: Array
    ripple: Array
    variance: Array


@dataclass(frozen=True)
class KernelStack:
    """Kernels of known kinds. Rows are ordered so that those of one kind follow each other: see `order_of`.

    Parameters
    ----------
    select
        The roles of the parameters (k, 2 d + 2, p); those that a kernel lacks are rows of zeros.
    forms
        The name of the correlation of each row.
    additive, directed, rippled
        What each row is (k,).
    """

    select: Array
    forms: tuple[str, ...]
    additive: npt.NDArray[np.bool_]
    directed: npt.NDArray[np.bool_]
    rippled: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, kernels: list[Kernel], d: int, size: int | None = None) -> Self:
        """The stack of kernels in the order of `order_of`, with room for `size` parameters each."""
        roles = [_roles_of(kernel, d) for kernel in kernels]
        select = np.zeros((len(kernels), 2 * d + 2, max(each.shape[1] for each in roles) if size is None else size))
        for row, each in zip(select, roles, strict=True):
            row[:, : each.shape[1]] = each
        kinds = (np.array([isinstance(each, kind) for each in kernels]) for kind in (Additive, Directional, WithNugget))
        return cls(select, tuple(kernel.form for kernel in kernels), *kinds)

    def take(self, rows: npt.NDArray[np.intp]) -> "KernelStack":
        """Some of the rows, in increasing order."""
        forms = tuple(self.forms[k] for k in rows)
        return KernelStack(self.select[rows], forms, self.additive[rows], self.directed[rows], self.rippled[rows])

    @cached_property
    def plain(self) -> int:
        """The number of rows before the additive ones."""
        return int(np.argmax(self.additive)) if self.additive.any() else len(self.forms)

    @cached_property
    def directional(self) -> npt.NDArray[np.intp]:
        """The indices of the directional rows."""
        return np.flatnonzero(self.directed)

    @cached_property
    def _groups(self) -> list[tuple[Correlation, slice]]:
        """The radial rows that share a correlation."""
        found, start = [], 0
        for form, group in groupby(self.forms[: self.plain]):
            end = start + len(list(group))
            found.append((CORRELATIONS[form], slice(start, end)))
            start = end
        return found

    def values(self, parameters: Array) -> Values:
        """The values that the parameters (k, p) stand for."""
        roles = (self.select @ parameters[:, :, None])[:, :, 0]
        d = (roles.shape[1] - 2) // 2
        ripple = np.where(self.rippled, np.exp(roles[:, -2]), 0.0)
        slope = roles[self.directional, d : 2 * d]
        return Values(np.exp(-2 * roles[:, :d]), slope, ripple[:, None], np.exp(2 * roles[:, -1:]))

    def gram(self, values: Values, between: Differences) -> "StackGram":
        """The correlations of all rows for all pairs, and what their derivatives in the parameters consist of."""
        rho, slope, along = self._radial(values, between)
        plain = len(slope)
        bends = np.zeros((len(rho) - plain, rho.shape[1]))
        d = len(between.squares)
        together = d if between.squares.size <= CACHED else 1  # coordinates; larger arrays leave the cache
        for k in range(plain, len(rho)):
            rho_and_slope, total = CORRELATIONS[self.forms[k]].rho_and_slope, rho[k]
            total.fill(0.0)
            for j in range(0, d, together):
                squares = between.squares[j : j + together]
                each, bend = rho_and_slope(values.inverse[k, j : j + together, None] * squares)
                total += each.sum(axis=0)
                bend *= squares
                bends[k - plain] += bend.sum(axis=0)
            total /= d
        return StackGram(self, values, between, rho, slope, along, bends)

    def cross(self, values: Values, U: Array, X: Array) -> "StackCross":
        """The correlations of all rows between points U (m, d) and X (n, d), and what their derivatives in U consist of."""
        between = Differences.between(U, X)
        rho, slope, _ = self._radial(values, between)
        plain = len(slope)
        bends = np.empty((len(rho) - plain, *between.squares.shape))
        for k in range(plain, len(rho)):
            scaled = values.inverse[k, :, None] * between.squares
            each, bends[k - plain] = CORRELATIONS[self.forms[k]].rho_and_slope(scaled)
            each.mean(axis=0, out=rho[k])
        return StackCross(self, values, between, U, X, rho, slope, bends)

    def _radial(self, values: Values, between: Differences) -> tuple[Array, Array, Array]:
        """rho with space for all rows (k, pairs), and of the radial ones the slope and w'(x - x')."""
        r2 = values.inverse[: self.plain] @ between.squares
        along = values.slope @ between.steps
        if len(along):
            r2[self.directional] += along * along
        rho, slope = np.empty((len(self.forms), r2.shape[1])), np.empty_like(r2)
        for correlation, rows in self._groups:
            rho[rows], slope[rows] = correlation.rho_and_slope(r2[rows])
        return rho, slope, along


def _one_length(kernel: Kernel) -> bool:
    """Whether an additive kernel has one length-scale, as all have that are learned."""
    return not isinstance(kernel, Additive) or len(kernel.lengthscale) == 1


def order_of(kernels: list[Kernel]) -> list[int]:
    """The order in which a stack wants kernels: by kind and correlation; empty if it does not know one of them."""
    if not all(type(kernel) in STACKABLE and _one_length(kernel) for kernel in kernels):
        return []
    key = {
        k: (isinstance(kernel, Additive), kernel.form, isinstance(kernel, Directional))
        for k, kernel in enumerate(kernels)
    }
    return sorted(key, key=key.__getitem__)


class StackGram(NamedTuple):
    """Correlations and slopes of all rows for pairs of points.

    `rho` has all rows (k, pairs), `slope` the radial ones, `along` is w'(x - x') of the directional ones, and `bends` of the
    additive ones is the sum of slope(r_j) (x_j - x'_j)^2 over the coordinates.
    """

    stack: KernelStack
    values: Values
    between: Differences
    rho: Array
    slope: Array
    along: Array
    bends: Array

    def covariances(self) -> Array:
        """s^2 (rho + h [x = x']) for all rows and pairs."""
        return _covariances(self.values, self.rho, self.between.same)

    def vjp_parameters(self, weights: Array, trace: Array) -> Array:
        """sum weights dk/dparameters (k, p), for weights (k, pairs) and a weight `trace` (k,) of k(x, x).

        With slope = rho'(r) / r: dk/dlog l_j = -s^2 slope (x_j - x'_j)^2 / l_j^2, dk/dw = s^2 slope w'(x - x') (x - x'),
        dk/dlog h = s^2 h [x = x'] and dk/dlog s = 2 k. Those of an additive kernel are means over the coordinates.
        """
        stack, (inverse, _, ripple, variance), between = self.stack, self.values, self.between
        d, plain = len(between.squares), len(self.slope)
        directed = stack.directional
        roles = np.zeros((len(self.rho), 2 * d + 2))
        pulled = weights[:plain] * self.slope
        roles[:plain, :d] = -inverse[:plain] * (pulled @ between.squares.T)
        if len(directed):
            roles[directed, d : 2 * d] = (pulled[directed] * self.along) @ between.steps.T
        if plain < len(self.rho):  # one length serves all coordinates, so its derivative may stand in the first
            roles[plain:, 0] = np.einsum("kp,kp->k", self.bends, weights[plain:]) * (-inverse[plain:, 0] / d)
        ripples = ripple[:, 0] * (weights @ between.same + trace)
        roles[:, -2] = ripples
        roles[:, -1] = 2 * (np.einsum("kp,kp->k", weights, self.rho) + trace + ripples)
        roles *= variance
        return np.asarray((roles[:, None, :] @ stack.select)[:, 0])


class StackCross(NamedTuple):
    """Correlations and slopes of all rows between points U (m, d) and X (n, d).

    `rho` has all rows (k, m n), `slope` the radial ones, and `bends` are the slopes of the additive ones in each coordinate
    (rows, d, m n).
    """

    stack: KernelStack
    values: Values
    between: Differences
    U: Array
    X: Array
    rho: Array
    slope: Array
    bends: Array

    @property
    def value(self) -> Array:
        """k(u_m, x_i) of all rows (k, m, n)."""
        return _covariances(self.values, self.rho, self.between.same).reshape(-1, len(self.U), len(self.X))

    def vjp(self, weights: Array) -> Array:
        """sum weights[k, m, i] dk(u_m, x_i)/du_m over the rows and X, (m, d)."""
        inverse, slope, _, variance = self.values
        plain, shape = len(self.slope), weights.shape[1:]
        pulled = weights[:plain] * self.slope.reshape(plain, *shape)
        steps = pulled.sum(axis=2)[:, :, None] * self.U - pulled @ self.X
        steps *= variance[:plain, :, None]
        found = np.asarray((steps * inverse[:plain, None, :]).sum(axis=0))
        for k, w in zip(self.stack.directional, slope, strict=True):
            found += np.outer(steps[k] @ w, w)
        for k in range(plain, len(self.rho)):
            pulls = (self.bends[k - plain] * self.between.steps).reshape(-1, *shape) * weights[k]
            found += pulls.sum(axis=2).T * (inverse[k] * variance[k] / len(pulls))
        return found


def _covariances(values: Values, rho: Array, same: npt.NDArray[np.bool_]) -> Array:
    found = values.variance * rho
    if same.any():
        found += (values.variance * values.ripple) * same
    return found
