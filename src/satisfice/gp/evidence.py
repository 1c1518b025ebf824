"""Learning hyperparameters: the log evidence with its analytic gradient, maximised by L-BFGS-B, and integrated by Laplace."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.random import Generator
from scipy.linalg import lapack

from satisfice.errors import NumericalFailure
from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import cholesky
from satisfice.types import Array

K = TypeVar("K", bound=Kernel)
STEP = 1e-3  # of a hyperparameter, for differences of gradients
GRAIN = 2.0**-10  # learned hyperparameters are rounded to this: their last digits differ between processors


def log_evidence_with_gradient(kernel: Kernel, lam: float, X: Array, y: Array) -> tuple[float, Array]:
    """log N(y; 0, K + lam I) and its derivatives in log length-scales, log scale and log lam.

    With M = a a' - (K + lam I)^-1 and a = (K + lam I)^-1 y the derivative in a parameter p is 1/2 sum_ij M_ij dK_ij/dp
    (Rasmussen and Williams 2006, eq. 5.9).
    """
    gram = kernel.gram(X)
    covariance = gram.value
    covariance.flat[:: len(y) + 1] += lam
    L, _ = cholesky(covariance)
    alpha, _ = lapack.dpotrs(L, y[:, None], lower=1)
    half_log_determinant = np.log(np.diagonal(L)).sum()
    value = -0.5 * float(y @ alpha[:, 0]) - half_log_determinant - 0.5 * len(y) * np.log(2 * np.pi)
    lower, _ = lapack.dpotri(L, lower=1)
    M = np.outer(alpha, alpha)
    diagonal = M.diagonal() - lower.diagonal()
    M -= lower  # the upper half of what LAPACK returns is zero
    M -= lower.T
    M.flat[:: len(y) + 1] = diagonal
    gradient = 0.5 * np.append(gram.vjp_parameters(M), lam * np.trace(M))
    return float(value), gradient


@dataclass(frozen=True)
class Prior:
    """Where hyperparameters may lie: bounds on their logs, and an optional normal prior on the logs."""

    low: Array
    high: Array
    centre: Array
    spread: Array  # infinite: no prior, only bounds

    def without_last(self) -> "Prior":
        """The prior without its last parameter."""
        return Prior(self.low[:-1], self.high[:-1], self.centre[:-1], self.spread[:-1])

    def log_density_with_gradient(self, parameters: Array) -> tuple[float, Array]:
        """The log density up to a constant; flat where the spread is infinite."""
        z = (parameters - self.centre) / self.spread
        return float(-0.5 * z @ z), -z / self.spread

    def draw(self, rng: Generator) -> Array:
        """A point to start from: normal where there is a prior, uniform between the bounds elsewhere."""
        normal = self.centre + np.where(np.isfinite(self.spread), self.spread, 0.0) * rng.standard_normal(
            self.low.shape
        )
        uniform = rng.uniform(self.low, self.high)
        return np.clip(np.where(np.isfinite(self.spread), normal, uniform), self.low, self.high)


@dataclass(frozen=True)
class Learned(Generic[K]):
    """A kernel and lam of (locally) maximal evidence times prior.

    `objective` is the log of that product, `prior` of its second factor; `integrated` multiplies both by a volume.
    """

    kernel: K
    lam: float
    objective: float = 0.0
    prior: float = 0.0


def learn(
    kernel: K,
    lam: float | None,
    X: Array,
    y: Array,
    prior: Prior,
    starts: list[Array],
    tolerance: float = 1e-7,
    rounds: int = 50,
) -> Learned[K]:
    """The best of L-BFGS-B runs from each start over log length-scales, log scale and, where lam is None, log lam.

    `prior` and the starts have one entry a free parameter, in that order. A start whose covariance cannot be factorised is
    passed over; `NumericalFailure` is raised where none can.
    """
    from scipy.optimize import minimize  # not needed to import the package

    best: tuple[float, Array] | None = None
    for start in starts:
        try:
            found = minimize(
                _negative(kernel, lam, X, y, prior),
                np.clip(start, prior.low, prior.high),
                jac=True,
                method="L-BFGS-B",
                bounds=np.column_stack([prior.low, prior.high]),
                options={"maxiter": rounds, "ftol": tolerance, "gtol": 1e-4},
            )
        except NumericalFailure:
            continue
        if np.isfinite(found.fun) and (best is None or found.fun < best[0]):
            best = (float(found.fun), found.x)
    if best is None:
        raise NumericalFailure(f"the evidence of {len(y)} values is not finite anywhere that was tried")
    learned_kernel, learned_lam = _split(kernel, lam, best[1])
    log_prior, _ = prior.log_density_with_gradient(best[1])
    return Learned(learned_kernel, learned_lam, -best[0], log_prior)


def rounded(found: Learned[K], lam: float | None, prior: Prior) -> Learned[K]:
    """The same with its free hyperparameters rounded to `GRAIN`, within the bounds; `lam` as it was given to `learn`."""
    parameters = np.clip(np.round(free_parameters(found, lam) / GRAIN) * GRAIN, prior.low, prior.high)
    kernel, rounded_lam = _split(found.kernel, lam, parameters)
    return replace(found, kernel=kernel, lam=rounded_lam, prior=prior.log_density_with_gradient(parameters)[0])


def integrated(found: Learned[K], lam: float | None, X: Array, y: Array, prior: Prior) -> Learned[K]:
    """The same with its objective integrated over the hyperparameters by Laplace's method; `lam` as it was given to `learn`.

    The factor is the share of the prior's volume in which y is explained as well: with H the Hessian of -log(evidence x prior)
    and S the spreads of the normal prior, det(S H S)^(-1/2). A direction that y says nothing about has the eigenvalue 1 and
    costs nothing, however many there are; none is taken to be below 1, since learning makes nothing wider. H comes from
    differences of the analytic gradient.
    """
    at = free_parameters(found, lam)
    negative = _negative(found.kernel, lam, X, y, prior)
    here = negative(at)[1]
    steps = np.diag(np.where(at + STEP <= prior.high, STEP, -STEP))
    H = np.array([(negative(at + step)[1] - here) / step.sum() for step in steps])
    scaled = 0.5 * (H + H.T) * np.outer(prior.spread, prior.spread)
    log_volume = -0.5 * float(np.log(np.maximum(np.linalg.eigvalsh(scaled), 1.0)).sum())
    return replace(found, objective=found.objective + log_volume, prior=found.prior + log_volume)


def free_parameters(found: Learned[K], lam: float | None) -> Array:
    """The hyperparameters that were learned; log lambda is the last of them unless `lam` is given."""
    return found.kernel.parameters if lam is not None else np.append(found.kernel.parameters, np.log(found.lam))


def _split(kernel: K, lam: float | None, parameters: Array) -> tuple[K, float]:
    if lam is not None:
        return kernel.with_parameters(parameters), lam
    return kernel.with_parameters(parameters[:-1]), float(np.exp(parameters[-1]))


def _negative(kernel: K, lam: float | None, X: Array, y: Array, prior: Prior) -> Callable[[Array], tuple[float, Array]]:
    def negative(parameters: Array) -> tuple[float, Array]:
        value, gradient = log_evidence_with_gradient(*_split(kernel, lam, parameters), X, y)
        if not np.isfinite(value):  # else the optimiser's next question would be NaN
            raise NumericalFailure("the evidence is not finite")
        log_prior, prior_gradient = prior.log_density_with_gradient(parameters)
        free = gradient if lam is None else gradient[:-1]
        return -(value + log_prior), -(free + prior_gradient)

    return negative
