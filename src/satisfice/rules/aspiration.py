"""The default rule without noise: pg, made robust against a model that is wrong about the target."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import SAME, best_from, best_of, candidates
from satisfice.rules.analytic import MixedScore, probability_score
from satisfice.types import Array

# The distance that is kept, as a root mean square over the coordinates, is drawn from between these.
NEAREST, FARTHEST = 0.02, 0.3
COPIES = 40  # of each of the best points
HUNCH = 8  # evaluations without a rise until a switch is tried
TRIED = 0.1  # so near to a point that was asked, as a root mean square, a switch is not tried again
STOPS = 17  # values of a coordinate on a line through the best point


@dataclass(frozen=True)
class Aspiration:
    """PG of the target or, where the model holds that to be out of reach, of the highest level that is within it.

    The most probable point for a level that is `b` standard deviations away everywhere is that of the upper confidence bound
    mean + b std (Wang et al. 2016). PG of a far target is thus a bound with a huge b: it asks in the corners, where the model
    knows least. Here b is at most `reach`, of which the two take turns.

    Even so the corners draw it: there are 2^d of them, and what is known least is always farthest out. In three and more
    dimensions every second question therefore keeps a `margin` from the sides of the box, `early` questions a dimension long.
    And when `patience` evaluations have not risen, every second question keeps away from all points asked before: a basin that
    was tried in vain is left. With `sweeps`, after the early questions, every other one of these changes one coordinate of the
    best point alone, far from what was asked: where the model is wrong about one parameter, no other would look. What the
    domain calls a switch is set to its low end sooner, early or not: where 0 means "no limit", its neighbours say nothing of it.
    """

    reach: tuple[float, float] = (3.0, 5.0)
    margin: float = 0.25
    early: int = 4
    patience: int = 10
    sweeps: bool = True

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= level); where the search is stale, among the points `_elsewhere`."""
        turn, margin = belief.step % 2, self._margin(belief)
        if turn == 0:
            points = self._elsewhere(belief, margin, rng)
            if len(points):
                return best_of(points, _score(belief, points, self.reach[turn])[1], belief, rng)
        else:
            margin = 0.0
        start = candidates(belief, rng, margin)
        score, scores = _score(belief, start.points, self.reach[turn])
        return best_from(start, scores, score, belief, rng, margin)

    def _elsewhere(self, belief: Belief, margin: float, rng: Generator) -> Array:
        """Where the search is stale, the points of which one is asked; none where it is not."""
        sweeps = self.sweeps and belief.step % 4 == 0 and belief.points is None
        if sweeps and belief.stale >= HUNCH:
            points = _switched_off(belief)
            if len(points):
                return points
        if belief.stale < self.patience:
            return belief.best[:0]
        return _on_lines(belief) if sweeps and margin == 0 else _at_a_distance(belief, rng)

    def _margin(self, belief: Belief) -> float:
        """The margin that is kept from the sides of the box; 0 where there are few corners, and after the first questions."""
        d = belief.domain.dimension
        return self.margin if d > 2 and belief.step <= 3 + self.early * d else 0.0


def _score(belief: Belief, points: Array, reach: float) -> tuple[MixedScore, Array]:
    """The probability of reaching the target or, if lower, the highest mean + reach std of the points; and theirs."""
    marginals = belief.marginals(points)
    mean, std = belief.mixed(marginals)
    level = min(belief.target, max(float((mean + reach * std).max()), belief.incumbent))
    score = probability_score(belief, level)
    return score, score.of(marginals)


def _at_a_distance(belief: Belief, rng: Generator) -> Array:
    """Points spread over the domain and around the best ones, at a random least distance from all that were asked.

    It is at most half of the largest distance that there is; where all points have been asked there are none.
    """
    distance = NEAREST * (FARTHEST / NEAREST) ** rng.random()
    points = belief.points
    if points is None:
        centres = np.repeat(belief.best, COPIES, axis=0)
        steps = 2 * distance * rng.random((len(centres), 1)) * rng.standard_normal(centres.shape)
        near = belief.domain.snap(np.clip(centres + steps, 0.0, 1.0))
        points = np.vstack([belief.domain.candidates(512, rng), near])
    gaps = _gaps(belief, points) / np.sqrt(belief.domain.dimension)
    return points[gaps >= max(min(distance, gaps.max() / 2), SAME)]


def _on_lines(belief: Belief) -> Array:
    """The best point with one coordinate changed, at least half as far from all that were asked as the farthest of these.

    Snapping makes the choice of a coordinate that stands for one, if it is the largest of its group.
    """
    d = belief.domain.dimension
    points = np.repeat(belief.best[:1], d * STOPS, axis=0)
    points[np.arange(d * STOPS), np.repeat(np.arange(d), STOPS)] = np.tile(np.linspace(0.0, 1.0, STOPS), d)
    points = belief.domain.snap(points)
    gaps = _gaps(belief, points)
    return points[gaps >= max(gaps.max() / 2, SAME)]


def _switched_off(belief: Belief) -> Array:
    """The best point with one switch at its low end, unless something near was asked."""
    switches = list(belief.domain.switches)
    points = np.repeat(belief.best[:1], len(switches), axis=0)
    points[np.arange(len(switches)), switches] = 0.0
    points = belief.domain.snap(points)
    gaps = _gaps(belief, points) / np.sqrt(belief.domain.dimension)
    return points[gaps >= TRIED]


def _gaps(belief: Belief, points: Array) -> Array:
    """The distance of each point from the nearest one that was asked."""
    return np.asarray(cdist(points, belief.avoid).min(axis=1, initial=np.inf))
