"""Learning several kernels at once: `satisfice.gp.evidence` in one batch, by one projected BFGS instead of L-BFGS-B.

With few values, most of the time of learning one kernel after another goes to calling numpy and the optimiser. Here a round
evaluates all kernels and all their starts: their correlations are one array, and only the factorisations are a loop over LAPACK.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas, lapack

from satisfice.errors import NumericalFailure
from satisfice.gp.ascent import ascend
from satisfice.gp.evidence import STEP, Learned, free_parameters, integrated, learn, split
from satisfice.gp.kernels import Kernel
from satisfice.gp.kernels.stack import Differences, KernelStack, order_of
from satisfice.gp.posterior import PIVOT, cholesky
from satisfice.gp.priors import Prior
from satisfice.types import Array

Rows = npt.NDArray[np.intp]
BLOCK = 16_384  # so many pairs of points are evaluated at once, since larger arrays leave the cache
_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)


class Objectives:
    """log(evidence x prior) of several kernels, and its gradient.

    Parameters
    ----------
    kernels
        The kernels, in the order of `order_of`.
    priors
        The prior on the free parameters of each: those of the kernel, then log lambda unless `lam` is given.
    lam
        The noise variance; None: it is the last free parameter.
    X, y
        The points (n, d) and the values (n,).
    """

    def __init__(self, kernels: list[Kernel], priors: list[Prior], lam: float | None, X: Array, y: Array) -> None:
        self.lam, self.X, self.y = lam, X, y
        sizes = [len(prior.low) for prior in priors]
        most = max(sizes)
        self.low, self.high, self.centre = (np.zeros((len(kernels), most)) for _ in range(3))
        self.spread = np.full((len(kernels), most), np.inf)
        for k, prior in enumerate(priors):
            for mine, each in zip(
                (self.low, self.high, self.centre, self.spread),
                (prior.low, prior.high, prior.centre, prior.spread),
                strict=True,
            ):
                mine[k, : len(each)] = each
        self.scale = np.where(np.isfinite(self.spread), self.spread, 1.0)  # how far a parameter may usually move
        self.last = np.array(sizes) - 1  # where log lambda stands if it is free
        self.stack = KernelStack.of(kernels, X.shape[1], most)
        self.between = Differences.among(X)
        n = len(y)
        self._upper = np.ravel_multi_index(np.triu_indices(n, 1), (n, n))
        self._first, self._second = np.triu_indices(n, 1)
        self._taken: dict[bytes, KernelStack] = {}
        self._memory = np.empty(0)

    @cached_property
    def _constant(self) -> float:
        return float(len(self.y) * _HALF_LOG_2PI)

    def _stack(self, rows: Rows) -> KernelStack:
        key = rows.tobytes()
        if key not in self._taken:
            self._taken[key] = self.stack.take(rows)
        return self._taken[key]

    def _workspace(self, count: int) -> Array:
        """Memory for `count` matrices, which is kept."""
        n = len(self.y)
        if len(self._memory) < count * n * n:
            self._memory = np.empty(count * n * n)
        return self._memory[: count * n * n].reshape(count, n, n)

    def __call__(self, rows: Rows, parameters: Array) -> tuple[Array, Array]:
        """The values (b,) and gradients (b, p) of some rows at one point each (b, p); -inf where there is no factorisation."""
        size = max(1, BLOCK // max(len(self._first), 1))
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is left out
            parts = [self._block(rows[k : k + size], parameters[k : k + size]) for k in range(0, len(rows), size)]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([value for value, _ in parts]), np.vstack([gradient for _, gradient in parts])

    def _block(self, rows: Rows, parameters: Array) -> tuple[Array, Array]:
        """The values and gradients of a few rows.

        The formula is that of `satisfice.gp.evidence.log_evidence_with_gradient`; a sum over i, j is twice that over the pairs
        i < j, plus the diagonal.
        """
        stack, n, count = self._stack(rows), len(self.y), len(rows)
        values = stack.values(parameters)
        at = np.arange(count), self.last[rows]
        lam = np.full(count, self.lam) if self.lam is not None else np.exp(parameters[at])
        gram = stack.gram(values, self.between)
        covariances = gram.covariances()
        variance = (values.variance * (1 + values.ripple))[:, 0]
        C = self._workspace(count)
        flat = C.reshape(count, n * n)
        flat[:, self._upper] = covariances
        flat[:, :: n + 1] = (variance + lam)[:, None]
        alpha = np.empty((count, n))
        failed = []
        for k in range(count):  # LAPACK's lower triangle is the upper one of a matrix whose rows are contiguous
            if lapack.dpotrf(C[k].T, lower=1, clean=0, overwrite_a=1)[1]:
                failed.append(k)
        pivots = flat[:, :: n + 1]
        weak = (pivots.min(axis=1) ** 2 <= PIVOT * n * (variance + lam)) | ~np.isfinite(pivots).all(axis=1)
        for k in {*failed, *np.flatnonzero(weak).tolist()}:
            C[k].T[:] = self._jittered(covariances[k], variance[k] + lam[k])
        log_determinant = np.log(pivots).sum(axis=1)
        for k in range(count):
            alpha[k] = lapack.dpotrs(C[k].T, self.y, lower=1)[0]
            lapack.dpotri(C[k].T, lower=1, overwrite_c=1)
            blas.dsyr(-1.0, alpha[k], a=C[k].T, lower=1, overwrite_a=1)
        value = -0.5 * (alpha @ self.y) - log_determinant - self._constant
        trace = -0.5 * pivots.sum(axis=1)
        gradient = gram.vjp_parameters(-flat[:, self._upper], trace)
        if self.lam is None:
            gradient[at] += lam * trace
        z = (parameters - self.centre[rows]) / self.spread[rows]
        value -= 0.5 * np.einsum("kp,kp->k", z, z)
        gradient -= z / self.spread[rows]
        lost = ~(np.isfinite(value) & np.isfinite(gradient).all(axis=1))
        if lost.any():
            value[lost], gradient[lost] = -np.inf, 0.0
        return value, gradient

    def _jittered(self, covariance: Array, diagonal: float) -> Array:
        """The lower Cholesky factor with the smallest jitter that works; NaN if none does."""
        n = len(self.y)
        K = np.zeros((n, n))
        K[self._first, self._second] = covariance
        K += K.T
        K.flat[:: n + 1] = diagonal
        try:
            return cholesky(K)[0]
        except NumericalFailure:
            return np.full((n, n), np.nan)


def learn_together(
    kernels: list[Kernel],
    lam: float | None,
    X: Array,
    y: Array,
    priors: list[Prior],
    starts: list[list[Array]],
    rounds: list[int],
    tolerance: float,
) -> list[Learned[Kernel]]:
    """Maximise evidence times prior of each kernel from each of its starts, all in one batch.

    One kernel alone, or one that no stack knows, is learned by `satisfice.gp.evidence.learn`.

    Parameters
    ----------
    kernels
        The kernels whose parameters are learned.
    lam
        The noise variance; None: learn its log too, as the last parameter.
    X, y
        The points (n, d) and the values (n,).
    priors
        The prior on the free parameters of each kernel.
    starts
        For each kernel, the free parameters to start from. A start whose covariance cannot be factorised is skipped.
    rounds
        The largest number of steps for each kernel.
    tolerance
        The relative rise that ends a run.

    Returns
    -------
    list of Learned
        The best result of each kernel.

    Raises
    ------
    NumericalFailure
        If no start of a kernel has a finite evidence.
    """
    order = order_of(kernels)
    if len(kernels) == 1 or not order:
        each = zip(kernels, priors, starts, rounds, strict=True)
        return [learn(kernel, lam, X, y, prior, mine, tolerance, most) for kernel, prior, mine, most in each]
    owners = [k for k in order for _ in starts[k]]
    objectives = Objectives([kernels[k] for k in owners], [priors[k] for k in owners], lam, X, y)
    begin = np.zeros_like(objectives.low)
    for row, start in zip(begin, [start for k in order for start in starts[k]], strict=True):
        row[: len(start)] = start
    limit = np.array([rounds[k] for k in owners])
    whose = np.array(owners)
    points, tops = ascend(objectives, begin, objectives.low, objectives.high, objectives.scale, limit, tolerance)
    found = []
    for k, (kernel, prior) in enumerate(zip(kernels, priors, strict=True)):
        mine = np.flatnonzero(whose == k)
        best = mine[np.argmax(tops[mine])]
        if not np.isfinite(tops[best]):
            raise NumericalFailure(f"the evidence of {len(y)} values is not finite anywhere that was tried")
        parameters = points[best, : len(prior.low)]
        learned, its_lam = split(kernel, lam, parameters)
        found.append(Learned(learned, its_lam, float(tops[best]), prior.log_density_with_gradient(parameters)[0]))
    return found


def integrated_together(
    found: list[Learned[Kernel]], lam: float | None, X: Array, y: Array, priors: list[Prior]
) -> list[Learned[Kernel]]:
    """`satisfice.gp.evidence.integrated` of several kernels: all differences of gradients in one batch.

    Parameters
    ----------
    found
        What was learned.
    lam
        As given to `learn_together`.
    X, y
        The points (n, d) and the values (n,).
    priors
        The prior on the free parameters of each kernel.

    Returns
    -------
    list of Learned
        The same, each with `objective` and `prior` multiplied by the factor.
    """
    order = order_of([each.kernel for each in found])
    if not order:
        return [integrated(each, lam, X, y, prior) for each, prior in zip(found, priors, strict=True)]
    places: list[slice] = []
    points: list[Array] = []
    owners: list[int] = []
    for k in order:
        at = free_parameters(found[k], lam)
        steps = np.where(at + STEP <= priors[k].high, STEP, -STEP)
        places.append(slice(len(owners), len(owners) + len(at) + 1))
        points.append(np.vstack([at, at + np.diag(steps)]))
        owners += [k] * (len(at) + 1)
    objectives = Objectives([found[k].kernel for k in owners], [priors[k] for k in owners], lam, X, y)
    begin = np.zeros_like(objectives.low)
    for place, some in zip(places, points, strict=True):
        begin[place, : some.shape[1]] = some
    values, gradients = objectives(np.arange(len(owners)), begin)
    if not np.isfinite(values).all():
        raise NumericalFailure("the evidence is not finite")
    results = list(found)
    for k, place, some in zip(order, places, points, strict=True):
        size, spread = some.shape[1], priors[k].spread
        H = -(gradients[place][1:, :size] - gradients[place][0, :size]) / (some[1:] - some[0]).sum(axis=1)[:, None]
        scaled = 0.5 * (H + H.T) * np.outer(spread, spread)
        log_volume = -0.5 * float(np.log(np.maximum(np.linalg.eigvalsh(scaled), 1.0)).sum())
        results[k] = replace(found[k], objective=found[k].objective + log_volume, prior=found[k].prior + log_volume)
    return results
