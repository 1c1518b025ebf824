"""Learning hyperparameters: the log evidence and its gradient, maximised by L-BFGS-B and integrated by Laplace's method."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from scipy.linalg import lapack

from satisfice.errors import NumericalFailure
from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import cholesky
from satisfice.gp.priors import Prior
from satisfice.types import Array

K = TypeVar("K", bound=Kernel)
STEP = 1e-3  # the step of a hyperparameter in differences of gradients
GRAIN = (
    2.0**-10
)  # learned hyperparameters are rounded to multiples of this: their last digits differ between processors


def log_evidence_with_gradient(kernel: Kernel, lam: float, X: Array, y: Array) -> tuple[float, Array]:
    """The log evidence log N(y; 0, K + lam I) and its gradient.

    With M = a a' - (K + lam I)^-1 and a = (K + lam I)^-1 y, the derivative in a parameter p is 1/2 sum_ij M_ij dK_ij/dp
    (Rasmussen and Williams 2006, eq. 5.9).

    Parameters
    ----------
    kernel, lam
        The covariance and the noise variance.
    X, y
        The points (n, d) and the values (n,).

    Returns
    -------
    value, gradient
        The log evidence, and its derivatives in the kernel's parameters and log lam.

    Raises
    ------
    NumericalFailure
        If the covariance cannot be factorised.
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
    M -= lower  # LAPACK returns zeros in the upper half
    M -= lower.T
    M.flat[:: len(y) + 1] = diagonal
    gradient = 0.5 * np.append(gram.vjp_parameters(M), lam * np.trace(M))
    return float(value), gradient


@dataclass(frozen=True)
class Learned(Generic[K]):
    """A kernel and lam that (locally) maximise evidence times prior.

    Parameters
    ----------
    kernel, lam
        The maximiser.
    objective, prior
        The logs of evidence times prior, and of the prior alone; `integrated` multiplies both by a volume.
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
    """Maximise evidence times prior by L-BFGS-B from several starts.

    Parameters
    ----------
    kernel
        The kernel whose parameters are learned.
    lam
        The noise variance; None: learn its log too, as the last parameter.
    X, y
        The points (n, d) and the values (n,).
    prior
        The prior on the free parameters.
    starts
        The free parameters to start from. A start whose covariance cannot be factorised is skipped.
    tolerance
        The relative rise that ends a run.
    rounds
        The largest number of iterations of a run.

    Returns
    -------
    Learned
        The best result.

    Raises
    ------
    NumericalFailure
        If no start has a finite evidence.
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
    learned_kernel, learned_lam = split(kernel, lam, best[1])
    log_prior, _ = prior.log_density_with_gradient(best[1])
    return Learned(learned_kernel, learned_lam, -best[0], log_prior)


def rounded(found: Learned[K], lam: float | None, prior: Prior) -> Learned[K]:
    """Round the free hyperparameters to `GRAIN`, within the bounds; `lam` as given to `learn`.

    Parameters
    ----------
    found
        What was learned.
    lam
        As given to `learn`.
    prior
        The prior on the free parameters, with their bounds.

    Returns
    -------
    Learned
        The same, rounded.
    """
    parameters = np.clip(np.round(free_parameters(found, lam) / GRAIN) * GRAIN, prior.low, prior.high)
    kernel, rounded_lam = split(found.kernel, lam, parameters)
    return replace(found, kernel=kernel, lam=rounded_lam, prior=prior.log_density_with_gradient(parameters)[0])


def integrated(found: Learned[K], lam: float | None, X: Array, y: Array, prior: Prior) -> Learned[K]:
    """Integrate the objective over the hyperparameters by Laplace's method; `lam` as given to `learn`.

    The factor det(S H S)^(-1/2) is the share of the prior's volume that explains y about as well; H is the Hessian of
    -log(evidence x prior) and S holds the spreads of the normal prior. A direction about which y says nothing has the
    eigenvalue 1 and costs nothing. Smaller eigenvalues are set to 1, since learning makes nothing wider. H comes from
    differences of the analytic gradient.

    Parameters
    ----------
    found
        What was learned.
    lam
        As given to `learn`.
    X, y
        The points (n, d) and the values (n,).
    prior
        The prior on the free parameters.

    Returns
    -------
    Learned
        The same, with `objective` and `prior` multiplied by the factor.
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
    """The learned hyperparameters; log lambda is the last of them unless `lam` is given.

    Parameters
    ----------
    found
        What was learned.
    lam
        As given to `learn`.

    Returns
    -------
    Array
        The parameters.
    """
    return found.kernel.parameters if lam is not None else np.append(found.kernel.parameters, np.log(found.lam))


def split(kernel: K, lam: float | None, parameters: Array) -> tuple[K, float]:
    """The kernel and lambda of free parameters, the opposite of `free_parameters`.

    Parameters
    ----------
    kernel
        A kernel of the same kind.
    lam
        As given to `learn`.
    parameters
        The free parameters.

    Returns
    -------
    kernel, lam
        The kernel with these parameters, and lambda.
    """
    if lam is not None:
        return kernel.with_parameters(parameters), lam
    return kernel.with_parameters(parameters[:-1]), float(np.exp(parameters[-1]))


def _negative(kernel: K, lam: float | None, X: Array, y: Array, prior: Prior) -> Callable[[Array], tuple[float, Array]]:
    def negative(parameters: Array) -> tuple[float, Array]:
        value, gradient = log_evidence_with_gradient(*split(kernel, lam, parameters), X, y)
        if not np.isfinite(value):  # otherwise the optimiser's next point would be NaN
            raise NumericalFailure("the evidence is not finite")
        log_prior, prior_gradient = prior.log_density_with_gradient(parameters)
        free = gradient if lam is None else gradient[:-1]
        return -(value + log_prior), -(free + prior_gradient)

    return negative
