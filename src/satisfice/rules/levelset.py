"""Rules that sort the points into those above and below the target: straddle, lse, truvar."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import best_of, maximise
from satisfice.gp.posterior import Posterior
from satisfice.rules.requirements import Requirements, finite_points, nothing_is_good, promised_width, single
from satisfice.rules.widths import Width
from satisfice.types import Array

Mask = npt.NDArray[np.bool_]
ROWS = 512  # so many queries have their variance reductions computed at once


@dataclass(frozen=True)
class StraddleScore:
    """width * std - |mean - target| of a belief, as a function of points."""

    belief: Belief
    width: float

    def __call__(self, U: Array) -> Array:
        """The scores (m,)."""
        mean, std = self.belief.marginal(U)
        return self.width * std - np.abs(mean - self.belief.target)

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""
        found = self.belief.marginal_with_vjp(U)
        above = found.mean - self.belief.target
        gradient = found.vjp(-np.sign(above), np.full(len(U), self.width))
        return self.width * found.std - np.abs(above), gradient


@dataclass(frozen=True)
class Straddle:
    """Ask where 1.96 sigma(x) - |mu(x) - eta| is largest: near the target, and uncertain (Bryan et al. 2005).

    On a mixture mu and sigma are its overall mean and std.

    Parameters
    ----------
    width
        The 1.96.
    """

    width: float = 1.96

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the straddle score."""
        return maximise(StraddleScore(belief, self.width), belief, rng)


class Sorted(NamedTuple):
    """What is known of each point of a finite domain, each (m,): bounds on f, and which side of the target it was put on."""

    lower: Array
    upper: Array
    high: Mask
    low: Mask
    nothing_good: bool  # every upper bound lies below the target itself

    @property
    def unclassified(self) -> Mask:
        """The points on neither side."""
        return ~(self.high | self.low)


def _sorted_again(belief: Belief, before: Sorted | None, bounds: tuple[Array, Array], accuracy: float) -> Sorted:
    """The points with new bounds; those that were put on a side stay there."""
    lower, upper = bounds
    open_ = np.ones(len(lower), dtype=bool) if before is None else before.unclassified
    high = open_ & (lower + accuracy >= belief.target)
    low = open_ & ~high & (upper - accuracy < belief.target)
    if before is not None:
        high, low = before.high | high, before.low | low
    return Sorted(lower, upper, high, low, bool((upper < belief.target).all()))


def _best_unclassified(points: Array, scores: Array, known: Sorted, belief: Belief, rng: Generator) -> Array:
    """The best point of those that are not sorted yet; when all are, the high one with the highest lower bound."""
    if known.nothing_good:
        raise nothing_is_good()
    if known.unclassified.any():
        return best_of(points, scores, belief, rng)
    return best_of(points, np.where(known.high, known.lower, -np.inf), belief, rng)


@dataclass(frozen=True)
class LevelSetEstimation:
    """LSE: ask the most ambiguous point that is not sorted yet (Gotovos et al. 2013, algorithm 1).

    C_t(x) is the intersection over t' <= t of the intervals mu_{t'-1}(x) -+ width(t') sigma_{t'-1}(x). A point is high when
    min C_t(x) + accuracy >= eta, else low when max C_t(x) - accuracy < eta, and stays so; the ambiguity of the others is
    min{max C_t(x) - eta, eta - min C_t(x)}. A value of eta itself is good here; the source has it low.

    When everything is sorted the high point of the highest lower bound is asked, so that a search can certify it; when every
    upper bound lies below the target, no action is good: the verdict is `none`.

    Parameters
    ----------
    accuracy
        How far on the wrong side of the target a point may be, in the model's units.
    width
        By default that of the source, `BayesianWidth`, with which all bounds hold where the kernel is the true one.
    """

    accuracy: float = 0.0
    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def remember(self, belief: Belief) -> Sorted:
        """The intersected intervals and the sides after the newest value."""
        posterior, width = single(belief), self.width or promised_width(belief)
        mean, std = posterior.marginal(finite_points(belief))
        half = width(belief.step) * std
        if isinstance(belief.memory, Sorted):
            before, earlier = belief.memory, (belief.memory.lower, belief.memory.upper)
        else:
            prior = width(1) * posterior.kernel.scale
            before, earlier = None, (np.full(len(mean), -prior), np.full(len(mean), prior))
        bounds = np.maximum(earlier[0], mean - half), np.minimum(earlier[1], mean + half)
        return _sorted_again(belief, before, bounds, self.accuracy)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The unclassified point of the largest ambiguity."""
        known = belief.memory if isinstance(belief.memory, Sorted) else self.remember(belief)
        ambiguity = np.minimum(known.upper - belief.target, belief.target - known.lower)
        scores = np.where(known.unclassified, ambiguity, -np.inf)
        return _best_unclassified(finite_points(belief), scores, known, belief, rng)

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""
        return isinstance(memory, Sorted) and memory.nothing_good


class Epoch(NamedTuple):
    """What TruVar remembers: the sorted points, and the confidence eta_(i) that it now wants in all that are not sorted."""

    known: Sorted
    wanted: float


@dataclass(frozen=True)
class TruncatedVariance:
    """TruVar for level sets: ask what most reduces the truncated variance of the unsorted points (Bogunovic et al. 2016).

    With M the points that are not sorted yet and b = width(t), the score of x is the sum over x' in M of
    max{b^2 sigma^2(x'), e^2} - max{b^2 sigma^2(x' | x), e^2}, divided by cost(x). Points are sorted by mu -+ b sigma: high when
    the lower bound reaches eta, low when the upper one does not. Once b sigma <= (1 + slack) e in all of M a new epoch begins,
    with a smaller e. The defaults are those of the source's experiments. The source has one width for an epoch, which asks for a
    bound on its length; here it is that of the round. What is asked when all is sorted, and the verdict `none`, are as for `lse`.

    Parameters
    ----------
    cost
        The price (m,) of evaluating points (m, d) in the user's units; by default all cost the same.
    first
        The e of the first epoch, as a multiple of the prior's standard deviation.
    shrink
        The ratio of the e of an epoch to that of the one before.
    slack
        The source's delta bar.
    width
        By default `BayesianWidth`, with which all bounds hold where the kernel is the true one.
    """

    cost: Callable[[Array], Array] | None = None
    first: float = 1.0
    shrink: float = 0.1
    slack: float = 0.0
    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def remember(self, belief: Belief) -> Epoch:
        """The sorted points and the epoch after the newest value."""
        posterior = single(belief)
        mean, std = posterior.marginal(finite_points(belief))
        before = belief.memory if isinstance(belief.memory, Epoch) else None
        half = self._width(belief) * std
        known = _sorted_again(belief, before.known if before else None, (mean - half, mean + half), 0.0)
        wanted = before.wanted if before else self.first * posterior.kernel.scale
        widest = float(half[known.unclassified].max(initial=0.0))
        while 0 < widest <= (1 + self.slack) * wanted:
            wanted *= self.shrink
        return Epoch(known, wanted)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The point of the largest truncated variance reduction for its cost."""
        points = finite_points(belief)
        known, wanted = belief.memory if isinstance(belief.memory, Epoch) else self.remember(belief)
        scores = truncated_reduction(single(belief), points, points[known.unclassified], self._width(belief), wanted)
        if self.cost is not None:
            scores = scores / self.cost(belief.domain.from_unit(points))
        return _best_unclassified(points, scores, known, belief, rng)

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""
        return isinstance(memory, Epoch) and memory.known.nothing_good

    def _width(self, belief: Belief) -> float:
        return (self.width or promised_width(belief))(belief.step)


def truncated_reduction(posterior: Posterior, queries: Array, points: Array, width: float, wanted: float) -> Array:
    """The sum over points x' of max{b^2 sigma^2(x'), e^2} - max{b^2 sigma^2(x' | x), e^2}, for each query x.

    sigma^2(x' | x) = sigma^2(x') - cov(x, x')^2 / (sigma^2(x) + lambda) is the variance at x' after one more value at x.

    Parameters
    ----------
    posterior
        What is known of f.
    queries, points
        The x (q, d) and the x' (m, d), in the unit cube.
    width, wanted
        b and e.

    Returns
    -------
    Array
        The scores (q,).
    """
    floor = wanted**2
    before = width**2 * posterior.marginal(points).std ** 2
    now = np.maximum(before, floor).sum()
    scores = [np.empty(0)]
    for some in np.split(queries, range(ROWS, len(queries), ROWS)):
        variance = posterior.marginal(some).std ** 2 + posterior.lam
        fall = width**2 * posterior.covariance(some, points) ** 2 / variance[:, None]
        scores.append(now - np.maximum(before - fall, floor).sum(axis=1))
    return np.concatenate(scores)
