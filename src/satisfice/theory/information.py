"""Information gain: what values at a set of points can teach about f (paper, eq. max_info_gain)."""

from dataclasses import dataclass, field, replace
from numbers import Integral, Real

import numpy as np
import numpy.typing as npt

from satisfice.gp.kernels import Kernel
from satisfice.types import Array, BadInput

GREEDY_SHARE = 1 - np.exp(-1.0)  # greedy reaches this share of the maximum of a monotone submodular function


def _checked(kernel: Kernel, lam: float, points: npt.ArrayLike, name: str) -> Array:
    """The points as an array (n, d), where they, the kernel and the noise have an information gain."""
    if not isinstance(getattr(kernel, "variance", None), Real):
        raise BadInput(
            f"information gain: `kernel` must be a kernel, such as Stationary('se', [0.3]); got {kernel!r:.80}"
        )
    if kernel.variance > 1:
        raise BadInput(
            f"theory: a kernel with k(x, x) = {kernel.variance:g} came, at most 1 was wanted, as the paper's "
            f"bounds ask for; divide the values by {kernel.scale:g} and use a kernel of scale 1"
        )
    if not (isinstance(lam, Real) and np.isfinite(lam) and lam > 0):
        raise BadInput(f"information gain: `lam` must be a positive number; got {lam!r:.80}")
    try:
        given = np.asarray(points)
        checked = given.astype(np.float64) if given.dtype.kind in "iuf" else np.empty(0)
    except (TypeError, ValueError):  # rows of different lengths
        checked = np.empty(0)
    if checked.ndim != 2 or checked.size == 0 or not np.isfinite(checked).all():
        raise BadInput(
            f"information gain: `{name}` must be an array of finite numbers of shape (number of points, d); got {points!r:.80}"
        )
    try:
        kernel(checked[:1], checked[:1])
    except ValueError:
        raise BadInput(
            f"information gain: `{name}` must have as many columns as the kernel has length-scales; got {checked.shape[1]}"
        ) from None
    return checked


def information_gain(kernel: Kernel, lam: float, U: npt.ArrayLike) -> float:
    """1/2 ln det(I + K / lam), K = k(U, U), of the points U (n, d), an array or lists; a point may stand there twice."""
    U = _checked(kernel, lam, U, "U")
    return 0.5 * float(np.linalg.slogdet(np.eye(len(U)) + kernel(U, U) / lam)[1])


@dataclass(frozen=True, eq=False)
class InformationGain:
    """Bounds on the maximum information gain: lower[t] <= gamma_t <= upper[t], t = 0, ..., T, each (T + 1,).

    `lower` is what the greedy choice reaches, `upper` is lower / (1 - 1/e), because the gain is monotone and
    submodular. `certified` is a second upper bound, often much closer (see `greedy_information_gain`);
    `tightened` uses it. Widths and regret bounds take the upper end: the lower one proves nothing.
    """

    lam: float
    lower: Array = field(repr=False)
    upper: Array = field(repr=False)
    certified: Array = field(repr=False)

    @property
    def horizon(self) -> int:
        """T, the largest number of rounds for which gamma is bounded."""
        return len(self.upper) - 1

    def tightened(self) -> "InformationGain":
        """The same gain with the smaller of the two upper bounds as its upper end."""
        return replace(self, upper=self.certified)


def greedy_information_gain(kernel: Kernel, lam: float, points: npt.ArrayLike, T: int) -> InformationGain:
    """Bounds on gamma_0, ..., gamma_T over the finite domain `points` (|D|, d), in O(T^2 |D|).

    Greedy takes the point of largest posterior variance, again and again if it stays so; a point x adds
    1/2 ln(1 + sigma^2(x) / lam). `certified` comes from the concavity of the gain in the numbers n_x >= 0 of
    times that each point is taken, whole or not: the derivative in n_x is sigma_t^2(x) / (2 lam), so that
    gamma_t <= lower_t + (t max_x sigma_t^2(x) - sum_x n_x sigma_t^2(x)) / (2 lam), and gamma_t <= gamma_s for
    t <= s.
    """
    points = _checked(kernel, lam, points, "points")
    if not isinstance(T, Integral) or T < 1:
        raise BadInput(f"information gain: `T` must be a number of rounds, 1 or more; got {T!r:.80}")
    lower, excess = np.zeros(T + 1), np.zeros(T + 1)
    variance, times = np.full(len(points), kernel.variance), np.zeros(len(points))
    V = np.empty((T, len(points)))  # the posterior covariance is k - V'V
    for t in range(T):
        best = int(np.argmax(variance))
        lower[t + 1] = lower[t] + 0.5 * np.log1p(variance[best] / lam)
        covariance = kernel(points[best : best + 1], points)[0] - V[:t, best] @ V[:t]
        V[t] = covariance / np.sqrt(variance[best] + lam)
        variance = np.maximum(variance - V[t] ** 2, 0.0)
        times[best] += 1
        excess[t + 1] = ((t + 1) * variance.max() - times @ variance) / (2 * lam)
    upper = lower / GREEDY_SHARE
    certified = np.minimum.accumulate(np.minimum(upper, lower + np.maximum(excess, 0.0))[::-1])[::-1]
    return InformationGain(lam, lower, upper, certified)
