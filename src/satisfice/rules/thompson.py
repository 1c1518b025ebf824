"""Rules that draw a function from the posterior and follow it: ts, sts, sts-first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import Generator, default_rng

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.joint import AnyBelief, JointBelief
from satisfice.acquisition.optimise import ScoreFunction, best_of, descending, first_free, maximise
from satisfice.domain.finite import checked_points
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior, cholesky
from satisfice.rules.requirements import seen_at
from satisfice.types import Array

LISTED = 256  # points of a box that `sts-first` lists without having tried them
JOINTLY = 1000  # up to this many points of a finite domain are drawn jointly; beyond, by a path


def draw_member(belief: Belief, rng: Generator) -> Posterior:
    """One of the posteriors, drawn by its weight.

    Parameters
    ----------
    belief
        The members and their weights.
    rng
        The random numbers.

    Returns
    -------
    Posterior
        A member.
    """
    weights = np.array([weight for weight, _ in belief.members])
    return belief.members[rng.choice(len(weights), p=weights / weights.sum())][1]


def draw_values(posterior: Posterior, points: Array, rng: Generator) -> Array:
    """A draw of f at the points (m, d) of a finite domain, shape (m,).

    Parameters
    ----------
    posterior
        What is known of f.
    points
        The points (m, d).
    rng
        The random numbers.

    Returns
    -------
    Array
        The values (m,).
    """
    if len(points) > JOINTLY:
        return draw_path(posterior, rng)(points)
    mean, covariance = posterior.joint(points)
    factor, _ = cholesky(covariance + 1e-10 * posterior.kernel.variance * np.eye(len(points)))
    return mean + factor @ rng.standard_normal(len(points))


@dataclass(frozen=True)
class SmallestMargin:
    """min_i (f_i - target_i) over several requirements, of one draw of each: at least 0 where the draws meet all of them.

    Parameters
    ----------
    paths
        A draw for each requirement.
    targets
        What each must reach.
    """

    paths: tuple[ScoreFunction, ...]
    targets: tuple[float, ...]

    def __call__(self, U: Array) -> Array:
        """The margins (m,) at the points U (m, d)."""
        return np.min([path(U) - target for path, target in zip(self.paths, self.targets, strict=True)], axis=0)

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The margins (m,) and their derivatives in U (m, d), those of the requirement that is smallest."""
        found = [path.with_gradient(U) for path in self.paths]
        margins = np.stack([value - target for (value, _), target in zip(found, self.targets, strict=True)])
        smallest, rows = np.argmin(margins, axis=0), np.arange(len(U))
        return margins[smallest, rows], np.stack([gradient for _, gradient in found])[smallest, rows]


def drawn_values(belief: AnyBelief, points: Array, rng: Generator) -> Array:
    """A draw of f (m,) at points of a finite domain; of several requirements, of the smallest margin."""
    if isinstance(belief, JointBelief):
        margins = [draw_values(draw_member(part, rng), points, rng) - part.target for part in belief.parts]
        return np.min(margins, axis=0)
    return draw_values(draw_member(belief, rng), points, rng)


def drawn_path(belief: AnyBelief, rng: Generator) -> ScoreFunction:
    """A draw of f as a function of points; of several requirements, of the smallest margin."""
    if isinstance(belief, JointBelief):
        return SmallestMargin(tuple(draw_path(draw_member(part, rng), rng) for part in belief.parts), belief.target)
    return draw_path(draw_member(belief, rng), rng)


def drawn_target(belief: AnyBelief) -> float:
    """What a draw must reach for a point to be good."""
    return 0.0 if isinstance(belief, JointBelief) else belief.target


@dataclass(frozen=True)
class ThompsonSampling:
    """TS: evaluate the maximiser of a draw of the function; of several requirements, of the smallest margin of their draws."""

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The maximiser of a draw from a member of the belief, which is drawn by its weight."""
        if belief.points is not None:
            return best_of(belief.points, drawn_values(belief, belief.points, rng), belief, rng)
        return maximise(drawn_path(belief, rng), belief, rng)


@dataclass(frozen=True)
class SatisficingThompson:
    """STS: of the points that a draw of the function calls good, evaluate the one nearest to a centre (paper, eq. sts_acq).

    Distances are those of the unit cube. If the draw calls no point good, its maximiser is evaluated. Of several requirements,
    the draws of all of them must call a point good; else the maximiser of their smallest margin is evaluated.

    Parameters
    ----------
    centre
        The paper's x^c, in your units; by default the centre of the unit cube.
    """

    centre: Sequence[float] | None = None

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The nearest point of {path >= target}, or the path's maximiser if that set is empty."""
        d, target = belief.domain.dimension, drawn_target(belief)
        centre = np.full(d, 0.5)
        if self.centre is not None:
            centre = belief.domain.scaled(checked_points(self.centre, d, "`centre` of SatisficingThompson")[0])
        if belief.points is not None:
            points, values = belief.points, drawn_values(belief, belief.points, rng)
            reach = values >= target
            scores = np.where(reach, -_distance(points, centre), -np.inf) if reach.any() else values
            return best_of(points, scores, belief, rng)
        path = drawn_path(belief, rng)
        candidates = np.vstack([*belief.candidates(rng), belief.domain.snap(centre[None])])
        good = candidates[path(candidates) >= target]
        if len(good) == 0:
            top = maximise(path, belief, rng)
            if path(top[None])[0] < target:
                return top
            good = top[None]
        nearest = good[descending(-_distance(good, centre))[:2]]
        nearer = belief.domain.snap(np.array([_nearest(path, start, centre, target) for start in nearest]))
        found = np.vstack([nearer[path(nearer) >= target], good])
        return best_of(found, -_distance(found, centre), belief, rng)


@dataclass(frozen=True)
class FirstSatisficingThompson:
    """Evaluate the first point, in a fixed order, that a draw of the function calls good enough (Russo and Van Roy 2022, STS).

    Points come in the order in which they were first evaluated; the others follow in a random order that belongs to the seed
    (on a box, `LISTED` of them). A value is good enough if it reaches the target or, with a tolerance D, lies within D of the
    draw's maximum, as in the source: the first a with f~(a) >= max f~ - D. If no listed point is good enough, the draw's
    maximiser is evaluated.

    `sts` differs in its order: there the point nearest to a centre comes first. Here, under noise, a point is replicated before
    any new one as long as draws call it good enough: the rule learns less, and uses sooner what it has learned.

    Parameters
    ----------
    tolerance
        D, in the model's units; by default the target decides.
    """

    tolerance: float | None = None

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The first point whose drawn value is good enough and that need not be avoided."""
        posterior, fixed = draw_member(belief, rng), default_rng([belief.seed, 0])
        if belief.points is not None:
            points, values = belief.points, draw_values(posterior, belief.points, rng)
            order = np.append(seen_at(belief), fixed.permutation(len(points)))
            found = self._first(belief, points[order], values[order], float(values.max()))
            return best_of(points, values, belief, rng) if found is None else found
        path = draw_path(posterior, rng)
        top = None if self.tolerance is None else maximise(path, belief, rng)
        listed = fixed.permutation(belief.domain.candidates(LISTED, fixed))
        if len(belief.seen.values):
            listed = np.vstack([belief.domain.snap(belief.seen.points), listed])
        found = self._first(belief, listed, path(listed), -np.inf if top is None else float(path(top[None])[0]))
        if found is not None:
            return found
        return maximise(path, belief, rng) if top is None else top

    def _first(self, belief: Belief, points: Array, values: Array, highest: float) -> Array | None:
        """The first of the points whose value is good enough and that need not be avoided."""
        level = belief.target if self.tolerance is None else max(highest, float(values.max())) - self.tolerance
        enough = points[values >= level]
        free = first_free(enough, belief.avoid, belief.domain)
        return None if free is None else enough[free]


def _distance(points: Array, centre: Array) -> Array:
    return np.sqrt(((points - centre) ** 2).sum(axis=1))


def _nearest(path: ScoreFunction, start: Array, centre: Array, target: float) -> Array:
    """A point of {path >= target} that is locally the nearest to the centre, found from `start` in that set."""
    from scipy.optimize import minimize  # not needed to import the package

    def squared_distance(u: Array) -> tuple[float, Array]:
        return float(((u - centre) ** 2).sum()), 2 * (u - centre)

    margin = 1e-9 * (1 + abs(target))
    found = minimize(
        squared_distance,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints={
            "type": "ineq",
            "fun": lambda u: path(u[None])[0] - target - margin,
            "jac": lambda u: path.with_gradient(u[None])[1][0],
        },
        options={"maxiter": 20, "ftol": 1e-8},
    ).x
    return _walk_back(path, start, np.clip(found, 0.0, 1.0), target)


def _walk_back(path: ScoreFunction, good: Array, wanted: Array, target: float) -> Array:
    """The last good point of 33 on the line from a good point to a wanted one."""
    line = good + np.linspace(0.0, 1.0, 33)[:, None] * (wanted - good)
    return line[np.flatnonzero(path(line) >= target)[-1]] if path(good[None])[0] >= target else good
