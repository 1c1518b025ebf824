"""Hope: the model's probability that some point of the domain is good.

Functions are not Gaussian, and hyperparameters learned from few values are not the truth: taken at face value, the model gives
up far too early. Draws of a learned model therefore get the tails of a Student distribution, and with a probability that falls
with the number of evaluated points we disregard the model; the tails as well shrink with that number. Both were calibrated on
problems like those of the paper.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.joint import AnyBelief, JointBelief
from satisfice.acquisition.optimise import Climbers, climb, descending
from satisfice.acquisition.scores import probability_score
from satisfice.domain.region import Region
from satisfice.gp.posterior import cholesky
from satisfice.types import Array

DRAWS = 256
CLIMBED = 10  # the number of most promising points from which the probability of being good is maximised
TAILS = 3  # degrees of freedom of the draws of a model that was learned from few points
EARNED = 3.5  # one more for each EARNED (d + 1) points: what is learned from many is known better
TRUST = 7.0  # a learned model is disregarded with probability exp(-n / (TRUST (d + 1)))
SURE = 0.95  # no need to look further once one of the best points is good with this probability
DRAWN = 160  # the number of most promising points that are drawn jointly


class Outlook(NamedTuple):
    """What the model expects of the whole domain."""

    hope: float  # P(max f >= target)
    best_bet: float  # the largest P(f(x) >= target) of a single point


def outlook(belief: Belief, rng: Generator, *, learned_from: int | None, points: Array | None = None) -> Outlook:
    """Estimate P(max f >= target) by joint draws at points all over the domain, near the best ones, and where good is likeliest.

    Parameters
    ----------
    belief
        What is known of f.
    rng
        The random numbers of the draws.
    learned_from
        The number of different points from which the model was learned; None if it was known beforehand.
    points
        Where to look, the most promising points (m, d) first; None for the whole domain.

    Returns
    -------
    Outlook
        The probability, and that of the best point.
    """
    likely = belief.best if points is None else points
    if len(likely):
        sure = float(belief.probability_good(likely).max())
        if sure >= SURE:
            return Outlook(sure, sure)
    points = _likeliest(belief, rng) if points is None else points[:DRAWN]
    normal = rng.standard_normal((len(points), DRAWS))
    doubt = 0.0
    if learned_from is not None:
        normal *= _tails(rng, learned_from, belief.domain.dimension)
        doubt = doubt_of(belief.domain.dimension, learned_from)
    hope = sum(weight * _some_above(*p.joint(points), belief.target, normal) for weight, p in belief.members)
    best = float(belief.probability_good(points).max())
    return Outlook(doubt + (1 - doubt) * max(hope, best), best)


def joint_outlook(
    belief: JointBelief, rng: Generator, *, learned_from: Sequence[int | None], points: Array | None = None
) -> Outlook:
    """Estimate P(f_i(x) >= target_i for all i at some x), by independent joint draws of each requirement's function.

    A requirement whose model is disregarded is no obstacle anywhere. They are disregarded together, since it is the number of
    evaluations that makes a model doubtful: in a draw with the uniform number v, those whose probability of that is above v.

    Parameters
    ----------
    belief
        What is known of each requirement.
    rng
        The random numbers of the draws.
    learned_from
        As in `outlook`, for each requirement.
    points
        As in `outlook`.

    Returns
    -------
    Outlook
        The probability, and that of the best point.
    """
    likely = belief.best if points is None else points
    if len(likely):
        sure = float(belief.probability_good(likely).max())
        if sure >= SURE:
            return Outlook(sure, sure)
    points = _likeliest(belief, rng) if points is None else points[:DRAWN]
    good = np.ones((len(points), DRAWS), dtype=bool)
    uniform = (np.arange(DRAWS) + 0.5) / DRAWS
    for part, count in zip(belief.parts, learned_from, strict=True):
        weights = np.array([weight for weight, _ in part.members])
        drawn = rng.choice(len(weights), DRAWS, p=weights / weights.sum())
        normal = rng.standard_normal((len(points), DRAWS))
        doubt = 0.0
        if count is not None:
            normal *= _tails(rng, count, belief.domain.dimension)
            doubt = doubt_of(belief.domain.dimension, count)
        for k in np.unique(drawn):
            mean, covariance = part.members[k][1].joint(points)
            L, _ = cholesky(covariance)
            own = drawn == k
            good[:, own] &= (mean[:, None] + L @ normal[:, own] >= part.target) | (uniform[own] < doubt)
    best = float(belief.probability_good(points).max())
    return Outlook(max(float(good.any(axis=0).mean()), best), best)


def _likeliest(belief: AnyBelief, rng: Generator) -> Array:
    """The points (m, d) of the domain that are most likely to be good, those found by climbing first."""
    score = probability_score(belief, belief.target)
    points = belief.points
    if points is None:
        points = np.vstack(belief.candidates(rng))
    scores = score(points)
    order = descending(scores)
    tops = points[:0]
    if belief.points is None:
        region = belief.domain if isinstance(belief.domain, Region) else None
        tops = belief.domain.snap(climb(score, Climbers.at(points[order[:CLIMBED]], score), region=region).points)
    return np.vstack([tops, points[order[:DRAWN]]])


def _tails(rng: Generator, learned_from: int, dimension: int) -> Array:
    """Factors of normal draws (DRAWS,) that make them Student draws of `TAILS` + n / (`EARNED` (d + 1)) degrees of freedom."""
    freedom = TAILS + learned_from / (EARNED * (dimension + 1))
    return np.asarray(np.sqrt(freedom / rng.chisquare(freedom, DRAWS)))


def is_hopeful(belief: Belief, rng: Generator, least: float, *, learned_from: int | None) -> bool:
    """Whether `outlook(...).hope >= least`, without the joint draws where a part of the hope is enough.

    Parameters
    ----------
    belief
        What is known of f.
    rng
        The random numbers, as `outlook` would get them.
    least
        The probability.
    learned_from
        As for `outlook`.

    Returns
    -------
    bool
        Whether the hope is at least that.
    """
    doubt = doubt_of(belief.domain.dimension, learned_from)
    known = float(belief.probability_good(belief.best).max(initial=0.0))
    if doubt + (1 - doubt) * known >= least:
        return True
    return outlook(belief, rng, learned_from=learned_from).hope >= least


def doubt_of(dimension: int, learned_from: int | None) -> float:
    """The probability with which we disregard a model, the least that hope can be.

    Parameters
    ----------
    dimension
        That of the domain.
    learned_from
        As for `outlook`; a model that was known beforehand is never disregarded.

    Returns
    -------
    float
        exp(-n / (7 (d + 1))), or 0.
    """
    return 0.0 if learned_from is None else float(np.exp(-learned_from / (TRUST * (dimension + 1))))


def _some_above(mean: Array, covariance: Array, level: float, normal: Array) -> float:
    """The share of joint draws whose maximum reaches the level; `normal` are their standard normal numbers (m, draws)."""
    L, _ = cholesky(covariance)
    draws = mean[:, None] + L @ normal
    return float((draws.max(axis=0) >= level).mean())
