"""The default rule without noise: pg, made robust against a model that is wrong about the target."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator
from scipy.spatial.distance import cdist

from satisfice.acquisition.joint import AnyBelief
from satisfice.acquisition.optimise import SAME, best_from, best_of, candidates
from satisfice.acquisition.scores import aspired_score
from satisfice.domain.region import Region
from satisfice.types import Array

NEAREST, FARTHEST = 0.02, 0.3  # range of the distance to keep from asked points, as a root mean square over coordinates
COPIES = 40  # perturbed copies of each of the best points
HUNCH = 8  # evaluations without improvement until a switch is tried
TRIED = 0.1  # a switch is not tried again this close to an asked point, as a root mean square over coordinates
STOPS = 17  # values of a coordinate on a line through the best point


@dataclass(frozen=True)
class Aspiration:
    """PG of the target or, if the model considers it out of reach, of the highest level within reach.

    If a level is b standard deviations away everywhere, the point most likely to reach it maximises the upper confidence bound
    mean + b std (Wang et al. 2016). PG of a far target is thus a bound with a huge b: it asks in the corners, where the model
    knows least. Here b is at most `reach`.

    Corners are attractive even then: there are 2^d of them, and the least known points always lie farthest out. In three and
    more dimensions, every second early question therefore keeps a margin from the sides of the box. Once the search is stale,
    every second question keeps away from all points asked before, to leave a basin that was tried in vain. With `sweeps`, every
    other one of these changes a single coordinate of the best point, far from what was asked: where the model is wrong about
    one parameter, no other question would look. Coordinates that the domain calls switches are set to their low end sooner:
    where 0 means "no limit", its neighbours say nothing about it.

    Of several requirements, all targets are lowered by the same amount, each in the units of its own model.

    Parameters
    ----------
    reach
        The largest b, for even and odd steps.
    margin
        The distance from the sides of the box that every second early question keeps.
    early
        How many questions are early, per dimension.
    patience
        The number of evaluations without improvement after which the search is stale.
    sweeps
        Whether single coordinates of the best point are swept.
    """

    reach: tuple[float, float] = (3.0, 5.0)
    margin: float = 0.25
    early: int = 4
    patience: int = 10
    sweeps: bool = True

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= level); if the search is stale, among points elsewhere."""
        turn, margin = belief.step % 2, self._margin(belief)
        if turn == 0:
            points = self._elsewhere(belief, margin, rng)
            if len(points):
                return best_of(points, aspired_score(belief, points, self.reach[turn])[1], belief, rng)
        else:
            margin = 0.0
        start = candidates(belief, rng, margin)
        score, scores = aspired_score(belief, start.points, self.reach[turn])
        return best_from(start, scores, score, belief, rng, margin)

    def _elsewhere(self, belief: AnyBelief, margin: float, rng: Generator) -> Array:
        """The points to choose from if the search is stale, none otherwise."""
        sweeps = self.sweeps and belief.step % 4 == 0 and belief.points is None
        if sweeps and belief.stale >= HUNCH and len(belief.best):
            points = _switched_off(belief)
            if len(points):
                return points
        if belief.stale < self.patience or not len(belief.best):
            return belief.best[:0]
        return _on_lines(belief) if sweeps and margin == 0 else _at_a_distance(belief, rng)

    def _margin(self, belief: AnyBelief) -> float:
        """The margin to keep from the sides of the box; 0 where there are few corners, and after the early questions.

        The sides of a region are not those of the box: there it is 0 as well.
        """
        d = belief.domain.dimension
        early = d > 2 and belief.step <= 3 + self.early * d
        return self.margin if early and not isinstance(belief.domain, Region) else 0.0


def _at_a_distance(belief: AnyBelief, rng: Generator) -> Array:
    """Points all over the domain and around the best ones, at a random distance or more from all that were asked.

    The distance is at most half of the largest one available; if all points have been asked, there are none.
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


def _on_lines(belief: AnyBelief) -> Array:
    """The best point with one coordinate changed, at least half as far from all that were asked as the farthest such point.

    Where coordinates stand for the choices of a categorical parameter, snapping selects the choice of the largest one.
    """
    d = belief.domain.dimension
    points = np.repeat(belief.best[:1], d * STOPS, axis=0)
    points[np.arange(d * STOPS), np.repeat(np.arange(d), STOPS)] = np.tile(np.linspace(0.0, 1.0, STOPS), d)
    points = belief.domain.snap(points)
    gaps = _gaps(belief, points)
    return points[gaps >= max(gaps.max() / 2, SAME)]


def _switched_off(belief: AnyBelief) -> Array:
    """The best point with one switch at its low end, unless a point nearby was asked."""
    switches = list(belief.domain.switches)
    points = np.repeat(belief.best[:1], len(switches), axis=0)
    points[np.arange(len(switches)), switches] = 0.0
    points = belief.domain.snap(points)
    gaps = _gaps(belief, points) / np.sqrt(belief.domain.dimension)
    return points[gaps >= TRIED]


def _gaps(belief: AnyBelief, points: Array) -> Array:
    """The distance from each point to the nearest one that was asked."""
    return np.asarray(cdist(points, belief.avoid).min(axis=1, initial=np.inf))
