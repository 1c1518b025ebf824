"""Rules that classify points as above or below the target: straddle, lse, truvar."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import distance_bound
from satisfice.acquisition.optimise import best_of, maximise
from satisfice.acquisition.scores import OverallScore
from satisfice.gp.posterior import Posterior
from satisfice.rules.requirements import Requirements, finite_points, nothing_is_good, promised_width, single
from satisfice.rules.widths import Width
from satisfice.types import Array

Mask = npt.NDArray[np.bool_]
ROWS = 512  # variance reductions are computed for this many queries at once


@dataclass(frozen=True)
class Straddle:
    """Evaluate the maximiser of 1.96 sigma(x) - |mu(x) - eta|: near the target, and uncertain (Bryan et al. 2005).

    mu and sigma are the overall mean and std of a mixture.

    Parameters
    ----------
    width
        The 1.96.
    """

    width: float = 1.96

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the straddle score."""
        score = partial(distance_bound, level=belief.target, by_std=self.width)
        return maximise(OverallScore(belief, score), belief, rng)


class Classified(NamedTuple):
    """What is known of each point of a finite domain, each (m,): bounds on f, and its class, which is final."""

    lower: Array
    upper: Array
    high: Mask
    low: Mask
    nothing_good: bool  # every upper bound lies below the target

    @property
    def unclassified(self) -> Mask:
        """The points without a class."""
        return ~(self.high | self.low)


def _classified_again(
    belief: Belief, before: Classified | None, bounds: tuple[Array, Array], accuracy: float
) -> Classified:
    """Classify the points by new bounds; classes are final."""
    lower, upper = bounds
    open_ = np.ones(len(lower), dtype=bool) if before is None else before.unclassified
    high = open_ & (lower + accuracy >= belief.target)
    low = open_ & ~high & (upper - accuracy < belief.target)
    if before is not None:
        high, low = before.high | high, before.low | low
    return Classified(lower, upper, high, low, bool((upper < belief.target).all()))


def _best_unclassified(points: Array, scores: Array, known: Classified, belief: Belief, rng: Generator) -> Array:
    """The best unclassified point; if there is none, the high point of the highest lower bound."""
    if known.nothing_good:
        raise nothing_is_good()
    if known.unclassified.any():
        return best_of(points, scores, belief, rng)
    return best_of(points, np.where(known.high, known.lower, -np.inf), belief, rng)


@dataclass(frozen=True)
class LevelSetEstimation:
    """LSE: evaluate the most ambiguous unclassified point (Gotovos et al. 2013, algorithm 1).

    C_t(x) is the intersection over t' <= t of the intervals mu_{t'-1}(x) -+ width(t') sigma_{t'-1}(x). A point is high once
    min C_t(x) + accuracy >= eta, otherwise low once max C_t(x) - accuracy < eta. The ambiguity of an unclassified point is
    min{max C_t(x) - eta, eta - min C_t(x)}. A value of eta itself is good here, while the source calls it low.

    Once all points are classified, the high point of the highest lower bound is evaluated, so that a search can certify it. When
    every upper bound lies below the target, no action is good: the verdict is `none`.

    Parameters
    ----------
    accuracy
        How far on the wrong side of the target a classified point may lie, in the model's units.
    width
        By default that of the source, `BayesianWidth`, with which all bounds hold if the kernel is the true one.
    """

    accuracy: float = 0.0
    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def remember(self, belief: Belief) -> Classified:
        """The intersected intervals and the classes after the newest value."""
        posterior, width = single(belief), self.width or promised_width(belief)
        mean, std = posterior.marginal(finite_points(belief))
        half = width(belief.step) * std
        if isinstance(belief.memory, Classified):
            before, earlier = belief.memory, (belief.memory.lower, belief.memory.upper)
        else:
            prior = width(1) * posterior.kernel.scale
            before, earlier = None, (np.full(len(mean), -prior), np.full(len(mean), prior))
        bounds = np.maximum(earlier[0], mean - half), np.minimum(earlier[1], mean + half)
        return _classified_again(belief, before, bounds, self.accuracy)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The unclassified point of the largest ambiguity."""
        known = belief.memory if isinstance(belief.memory, Classified) else self.remember(belief)
        ambiguity = np.minimum(known.upper - belief.target, belief.target - known.lower)
        scores = np.where(known.unclassified, ambiguity, -np.inf)
        return _best_unclassified(finite_points(belief), scores, known, belief, rng)

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""
        return isinstance(memory, Classified) and memory.nothing_good


class Epoch(NamedTuple):
    """What TruVar remembers: the classified points, and the confidence eta_(i) it requires of the others."""

    known: Classified
    wanted: float


@dataclass(frozen=True)
class TruncatedVariance:
    """TruVar for level sets: reduce the truncated variance of the unclassified points the most (Bogunovic et al. 2016).

    With M the unclassified points and b = width(t), the score of x is the sum over x' in M of max{b^2 sigma^2(x'), e^2} -
    max{b^2 sigma^2(x' | x), e^2}, divided by cost(x). Points are classified by mu -+ b sigma: high when the lower bound reaches
    eta, low when the upper bound does not. Once b sigma <= (1 + slack) e in all of M, a new epoch with a smaller e begins. The
    defaults are those of the source's experiments. The source uses one width for a whole epoch, which needs a bound on its
    length; here each round has its own. Once all points are classified, and for the verdict `none`, TruVar acts like `lse`.

    Parameters
    ----------
    cost
        The cost (m,) of evaluating points (m, d), in the user's units; by default it is the same everywhere.
    first
        The e of the first epoch, relative to the prior's standard deviation.
    shrink
        The ratio of e to that of the previous epoch.
    slack
        The source's delta bar.
    width
        By default `BayesianWidth`, with which all bounds hold if the kernel is the true one.
    """

    cost: Callable[[Array], Array] | None = None
    first: float = 1.0
    shrink: float = 0.1
    slack: float = 0.0
    width: Width | None = None

    requirements: ClassVar = Requirements(finite=True, single=True, fixed=True)

    def remember(self, belief: Belief) -> Epoch:
        """The classified points and the epoch after the newest value."""
        posterior = single(belief)
        mean, std = posterior.marginal(finite_points(belief))
        before = belief.memory if isinstance(belief.memory, Epoch) else None
        half = self._width(belief) * std
        known = _classified_again(belief, before.known if before else None, (mean - half, mean + half), 0.0)
        wanted = before.wanted if before else self.first * posterior.kernel.scale
        widest = float(half[known.unclassified].max(initial=0.0))
        while 0 < widest <= (1 + self.slack) * wanted:
            wanted *= self.shrink
        return Epoch(known, wanted)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The point of the largest truncated variance reduction relative to its cost."""
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
    """Sum over points x' max{b^2 sigma^2(x'), e^2} - max{b^2 sigma^2(x' | x), e^2}, for each query x.

    sigma^2(x' | x) = sigma^2(x') - cov(x, x')^2 / (sigma^2(x) + lambda) is the variance at x' given one more value at x.

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
