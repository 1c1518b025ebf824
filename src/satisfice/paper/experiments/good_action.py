"""The score of `gs` and its fallback with their gradients, so that L-BFGS-B can climb them (`--as paper`).

The values are those of `satisfice.rules.lookahead`. The gradient follows the same steps backwards: the score hangs on x through
the mean and the variance v of the value that x may give, and through its covariances with the witnesses.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import ndtr, ndtri

from satisfice.acquisition.maximum import quantile_of_maximum
from satisfice.gp.kernels import Cross
from satisfice.gp.posterior import FLOOR, MarginalWithVjp, Posterior
from satisfice.rules.lookahead import NODES_ON_A_BOX, legendre
from satisfice.types import Array

_LOW, _HIGH = (float(np.log(-np.log(p))) for p in (0.25, 0.75))
_NARROWEST = 1e-12  # the smallest scale of a Gumbel law, and the smallest share on one side of the target


def _density(u: Array) -> Array:
    return np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Ahead:
    """The law of max f over M witnesses after a value at each of Q points, for N values that the point may give.

    `low` and `high` are the quartiles of that law (Q, N), its witnesses taken as independent. y = mu + sqrt(v) xi, and
    c = cov(x, witnesses) / sqrt(v) is how far a standard deviation of y moves the means.
    """

    part: MarginalWithVjp
    to_witnesses: Cross
    solved: Array  # (n, M): (K + lam I)^-1 k(X, witnesses)
    v: Array  # (Q,)
    z: Array  # (Q,): (target - mu) / sqrt(v)
    share: Array  # (Q,): of the values below the target, Phi(z)
    below: Array  # (N,): how much a node's probability rises with that share
    node_weights: Array  # (N,): how much a node's weight rises with it
    xi: Array  # (Q, N)
    weights: Array  # (Q, N)
    c: Array  # (Q, M)
    mean: Array  # (Q, N, M)
    std: Array  # (Q, M)
    floored: NDArray[np.bool_]  # (Q, M)

    @cached_property
    def low(self) -> Array:
        """The first quartile of the maximum (Q, N)."""
        return quantile_of_maximum(self.mean, self._stds, 0.25)

    @cached_property
    def high(self) -> Array:
        """The third quartile of the maximum (Q, N)."""
        return quantile_of_maximum(self.mean, self._stds, 0.75, above=self.low)

    @property
    def _stds(self) -> Array:
        return np.broadcast_to(self.std[:, None, :], self.mean.shape)

    @property
    def scale(self) -> Array:
        """The scale of the Gumbel law with these quartiles (Q, N)."""
        return np.maximum((self.high - self.low) / (_LOW - _HIGH), _NARROWEST)

    def vjp(self, by_low: Array, by_high: Array, by_weights: Array) -> Array:
        """The derivatives in the points (Q, d) of a function that has these derivatives in quartiles and weights (Q, N)."""
        by_means, by_stds = np.zeros(self.mean.shape), np.zeros(self.mean.shape)
        for quartile, by in ((self.low, by_low), (self.high, by_high)):
            u = (quartile[:, :, None] - self.mean) / self.std[:, None, :]
            steep = _density(u) / (ndtr(u) * self.std[:, None, :])  # no Phi is below that of the quartile
            steep *= (by / steep.sum(axis=2))[:, :, None]
            by_means += steep
            by_stds += steep * u
        by_std = np.where(self.floored, 0.0, by_stds.sum(axis=1))
        by_c = (self.xi[:, :, None] * by_means).sum(axis=1) - by_std * self.c / self.std
        by_xi = (by_means * self.c[:, None, :]).sum(axis=2)
        by_share = (by_xi / _density(self.xi) * self.below + by_weights * self.node_weights).sum(axis=1)
        inside = (self.share > _NARROWEST) & (self.share < 1 - _NARROWEST)
        by_z = np.where(inside, by_share * _density(self.z), 0.0)
        root = np.sqrt(self.v)
        by_v = -(by_z * self.z + (by_c * self.c).sum(axis=1)) / (2 * self.v)
        by_covariance = by_c / root[:, None]
        return (
            self.to_witnesses.vjp(by_covariance)
            - self.part.cross.vjp(by_covariance @ self.solved.T)
            + self.part.vjp(-by_z / root, 2 * by_v * self.part.std)
        )


@dataclass(frozen=True)
class GoodActionScore:
    """E_y[P_t(max f >= target)] as `gs` approximates it, as a function of points (paper, eq. gs_acq_1)."""

    posterior: Posterior
    witnesses: Array
    target: float

    @cached_property
    def _solved(self) -> Array:
        K = self.posterior.kernel(self.posterior.X, self.witnesses)
        return np.asarray(lapack.dpotrs(self.posterior.L, K, lower=1)[0])

    @cached_property
    def _there(self) -> tuple[Array, Array]:
        mean, std = self.posterior.marginal(self.witnesses)
        return mean, std**2

    def ahead(self, U: Array) -> Ahead:
        """What a value at each of the points U (Q, d) would make of the maximum."""
        part = self.posterior.marginal_with_vjp(U)
        to_witnesses = self.posterior.kernel.cross(U, self.witnesses)
        v = part.std**2 + self.posterior.lam
        c = (to_witnesses.value - part.cross.value @ self._solved) / np.sqrt(v)[:, None]
        mean, variance = self._there
        left, floor = variance - c**2, FLOOR * self.posterior.kernel.variance
        z = (self.target - part.mean) / np.sqrt(v)
        share = np.clip(ndtr(z), _NARROWEST, 1 - _NARROWEST)
        nodes, weights = legendre(NODES_ON_A_BOX)
        probabilities = np.hstack([share[:, None] * nodes, share[:, None] + (1 - share[:, None]) * nodes])
        xi = ndtri(probabilities)
        return Ahead(
            part,
            to_witnesses,
            self._solved,
            v,
            z,
            share,
            below=np.append(nodes, 1 - nodes),
            node_weights=np.append(weights, -weights),
            xi=xi,
            weights=np.hstack([share[:, None] * weights, (1 - share[:, None]) * weights]),
            c=c,
            mean=mean + xi[:, :, None] * c[:, None, :],
            std=np.sqrt(np.maximum(left, floor)),
            floored=left <= floor,
        )

    def _steps(self, ahead: Ahead) -> tuple[Array, Array]:
        """How many scales the target lies above the mode of each Gumbel law (Q, N), and exp of minus that."""
        r = (self.target - ahead.low) / ahead.scale - _LOW
        return r, np.exp(np.clip(-r, -700.0, 700.0))

    def __call__(self, U: Array) -> Array:
        """The scores (Q,)."""
        ahead = self.ahead(U)
        return np.asarray((ahead.weights * -np.expm1(-self._steps(ahead)[1])).sum(axis=1))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (Q,) and their derivatives in U (Q, d)."""
        ahead = self.ahead(U)
        r, rate = self._steps(ahead)
        reached = -np.expm1(-rate)
        by_r = -ahead.weights * rate * np.exp(-rate)
        by_high = -by_r * (_LOW + r) / (ahead.scale * (_LOW - _HIGH))
        by_low = -by_r / ahead.scale - by_high
        return np.asarray((ahead.weights * reached).sum(axis=1)), ahead.vjp(by_low, by_high, reached)


@dataclass(frozen=True)
class HighestMaximum:
    """The highest sampled maximum after a value at each point: what `gs` goes by where every score is 0.

    `largest` is the largest of the uniform numbers behind the samples; they are the same for every point.
    """

    score: GoodActionScore
    largest: float

    def _tops(self, ahead: Ahead) -> Array:
        return ahead.low + (_LOW - float(np.log(-np.log(self.largest)))) * ahead.scale

    def __call__(self, U: Array) -> Array:
        """The highest sample for each point (Q,)."""
        return np.asarray(self._tops(self.score.ahead(U)).max(axis=1))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The highest samples (Q,) and their derivatives in U (Q, d)."""
        ahead = self.score.ahead(U)
        tops = self._tops(ahead)
        first = (np.arange(tops.shape[1]) == tops.argmax(axis=1)[:, None]).astype(np.float64)
        by_high = first * (_LOW - float(np.log(-np.log(self.largest)))) / (_LOW - _HIGH)
        return np.asarray(tops.max(axis=1)), ahead.vjp(first - by_high, by_high, np.zeros(tops.shape))
