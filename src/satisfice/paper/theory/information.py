"""Information gain: what values at a set of points can teach about f (paper, eq. max_info_gain)."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from satisfice.errors import BadInput
from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Posterior
from satisfice.types import Array

Rounds = npt.NDArray[np.int64]
GREEDY_SHARE = 1 - np.exp(-1.0)  # greedy reaches this share of the maximum of a monotone submodular function


def _checked(kernel: Kernel, lam: float, points: npt.ArrayLike, name: str) -> Array:
    """The points as an array (n, d), where they, the kernel and the noise have an information gain."""
    if not isinstance(getattr(kernel, "variance", None), Real):
        raise BadInput(f"`kernel` must be a kernel, such as Stationary('se', [0.3]); got {kernel!r:.80}.")
    if kernel.variance > 1:
        raise BadInput(
            f"`kernel` must have k(x, x) of at most 1, as the paper's bounds assume; got {kernel.variance:g}. Divide the "
            f"values by {kernel.scale:g} and use a kernel of scale 1."
        )
    if not (isinstance(lam, Real) and np.isfinite(lam) and lam > 0):
        raise BadInput(f"`lam` must be a positive number; got {lam!r:.80}.")
    try:
        given = np.asarray(points)
        checked = given.astype(np.float64) if given.dtype.kind in "iuf" else np.empty(0)
    except (TypeError, ValueError):  # rows of different lengths
        checked = np.empty(0)
    if checked.ndim != 2 or checked.size == 0 or not np.isfinite(checked).all():
        raise BadInput(
            f"`{name}` must be an array of finite numbers of shape (number of points, d); got {points!r:.80}."
        )
    try:
        kernel(checked[:1], checked[:1])
    except ValueError:
        raise BadInput(
            f"`{name}` must have as many columns as the kernel has length-scales; got {checked.shape[1]}."
        ) from None
    return checked


def information_gain(kernel: Kernel, lam: float, U: npt.ArrayLike) -> float:
    """The information gain 1/2 ln det(I + K / lam), K = k(U, U), of the points U (n, d).

    Parameters
    ----------
    kernel : Kernel
        A kernel with k(x, x) of at most 1.
    lam : float
        The paper's lambda.
    U : array-like (n, d)
        The points. A point may stand there twice.

    Returns
    -------
    float
        The gain in nats.
    """
    U = _checked(kernel, lam, U, "U")
    return 0.5 * float(np.linalg.slogdet(np.eye(len(U)) + kernel(U, U) / lam)[1])


def posterior_information(posterior: Posterior) -> float:
    """1/2 ln det(I + K / lam) of the points of a posterior, from its Cholesky factor."""
    return float(np.log(np.diagonal(posterior.L)).sum() - 0.5 * len(posterior.y) * np.log(posterior.lam))


@dataclass(frozen=True, eq=False)
class InformationGain:
    """Bounds on the maximum information gain: lower <= gamma_t <= upper at t = rounds, each (n,), from t = 0 to T.

    `lower` is what the greedy choice reaches, `upper` is lower / (1 - 1/e), because the gain is monotone and
    submodular. `certified` is a second upper bound, often much closer (see `greedy_information_gain`);
    `tightened` uses it, and where greedy took several values at once, `upper` is the same. Widths and regret
    bounds take the upper end: the lower one proves nothing.
    """

    lam: float
    lower: Array = field(repr=False)
    upper: Array = field(repr=False)
    certified: Array = field(repr=False)
    rounds: Rounds = field(repr=False)  # 0, 1, ..., T, or with gaps that grow with t

    @property
    def horizon(self) -> int:
        """T, the largest number of rounds for which gamma is bounded."""
        return int(self.rounds[-1])

    def tightened(self) -> "InformationGain":
        """The same gain with the smaller of the two upper bounds as its upper end."""
        return replace(self, upper=self.certified)

    def upper_at(self, t: int) -> float:
        """An upper bound on gamma_t for t up to T: the one of the next of the rounds, since gamma does not fall."""
        return float(self.upper[np.searchsorted(self.rounds, t)])


def greedy_information_gain(
    kernel: Kernel, lam: float, points: npt.ArrayLike, T: int, *, block: float = 0.0
) -> InformationGain:
    """Bounds on gamma_0, ..., gamma_T over the finite domain `points` (|D|, d).

    Greedy takes the point of largest posterior variance, again and again if it stays so; b values at a point x
    add 1/2 ln(1 + b sigma^2(x) / lam). `certified` comes from the concavity of the gain in the numbers n_x >= 0
    of times that each point is taken, whole or not: the derivative in n_x is sigma_t^2(x) / (2 lam), so that
    gamma_t <= lower_t + (t max_x sigma_t^2(x) - sum_x n_x sigma_t^2(x)) / (2 lam), and gamma_t <= gamma_s for
    t <= s.

    Parameters
    ----------
    kernel : Kernel
        A kernel with k(x, x) of at most 1.
    lam : float
        The paper's lambda.
    points : array-like (|D|, d)
        The domain.
    T : int
        The last round.
    block : float, default 0
        How many values greedy takes at once, as a share of those it has: with 0.01 a million rounds need 1,400
        steps instead of a million, and the bounds are a little wider. 0 takes one value at a time.

    Returns
    -------
    InformationGain
        The bounds after each step. A step costs O(|D| min(step, |D|)).
    """
    points = _checked(kernel, lam, points, "points")
    if not isinstance(T, Integral) or T < 1:
        raise BadInput(f"`T` must be a number of rounds, 1 or more; got {T!r:.80}.")
    if not (isinstance(block, Real) and 0 <= block <= 1):
        raise BadInput(f"`block` must be a number from 0 to 1; got {block!r:.80}.")
    rounds = _steps(int(T), float(block))
    lower, excess = np.zeros(len(rounds)), np.zeros(len(rounds))
    variance, times = np.full(len(points), kernel.variance), np.zeros(len(points))
    many = len(rounds) > len(points)
    posterior = kernel(points, points) if many else None  # the posterior covariance: few rows, or none at all
    V = np.empty((0 if many else len(rounds) - 1, len(points)))  # else it is k - V'V
    for step, (before, t) in enumerate(pairwise(rounds.tolist())):
        best, count = int(np.argmax(variance)), t - before
        lower[step + 1] = lower[step] + 0.5 * np.log1p(count * variance[best] / lam)
        if posterior is None:
            covariance = kernel(points[best : best + 1], points)[0] - V[:step, best] @ V[:step]
            row = V[step] = covariance / np.sqrt(variance[best] + lam / count)
        else:
            row = posterior[best] / np.sqrt(variance[best] + lam / count)
            posterior -= np.multiply.outer(row, row)
        variance = np.maximum(variance - row * row, 0.0)
        times[best] += count
        excess[step + 1] = (t * variance.max() - times @ variance) / (2 * lam)
    concave = lower + np.maximum(excess, 0.0)
    single = rounds == np.arange(len(rounds))  # the share is proven for one value at a time only
    shared = np.where(single, lower / GREEDY_SHARE, np.inf)
    certified = np.minimum.accumulate(np.minimum(shared, concave)[::-1])[::-1]
    upper = shared if single.all() else certified
    return InformationGain(lam, lower, upper, certified, rounds)


def _steps(T: int, block: float) -> Rounds:
    """0 = t_0 < t_1 < ... = T, each step longer than the share `block` of the rounds before it, but at least 1."""
    rounds = [0]
    while rounds[-1] < T:
        rounds.append(min(rounds[-1] + 1 + int(block * rounds[-1]), T))
    return np.array(rounds)
