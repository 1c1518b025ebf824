"""Hope: the model's probability that some point of the domain is good.

Functions are not Gaussian, and hyperparameters learned from few values are not the truth: taken at face value, the model gives
up far too early. Draws of a learned model therefore get the tails of a Student distribution, and with a probability that falls
with the number of evaluated points we disregard the model. Both were calibrated on problems like those of the paper.
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import Climbers, climb, descending
from satisfice.acquisition.scores import probability_score
from satisfice.gp.posterior import cholesky
from satisfice.types import Array

DRAWS = 256
CLIMBED = 10  # the number of most promising points from which the probability of being good is maximised
TAILS = 3  # degrees of freedom of the draws of a learned model
TRUST = 7.0  # a learned model is disregarded with probability exp(-n / (TRUST (d + 1)))
SURE = 0.95  # no need to look further once one of the best points is good with this probability
DRAWN = 160  # the number of most promising points that are drawn jointly


class Outlook(NamedTuple):
    """What the model expects of the whole domain."""

    hope: float  # P(max f >= target)
    best_bet: float  # the largest P(f(x) >= target) of a single point


def outlook(belief: Belief, rng: Generator, *, learned_from: int | None) -> Outlook:
    """Estimate P(max f >= target) by joint draws at points all over the domain, near the best ones, and where good is likeliest.

    Parameters
    ----------
    belief
        What is known of f.
    rng
        The random numbers of the draws.
    learned_from
        The number of different points from which the model was learned; None if it was known beforehand.

    Returns
    -------
    Outlook
        The probability, and that of the best point.
    """
    if len(belief.best):
        sure = float(belief.probability_good(belief.best).max())
        if sure >= SURE:
            return Outlook(sure, sure)
    score = probability_score(belief, belief.target)
    points = belief.points
    if points is None:
        points = np.vstack(belief.candidates(rng))
    scores = score(points)
    order = descending(scores)
    tops = points[:0]
    if belief.points is None:
        tops = belief.domain.snap(climb(score, Climbers.at(points[order[:CLIMBED]], score)).points)
    points = np.vstack([tops, points[order[:DRAWN]]])
    normal = rng.standard_normal((len(points), DRAWS))
    doubt = doubt_of(belief.domain.dimension, learned_from)
    if learned_from is not None:
        normal *= np.sqrt(TAILS / rng.chisquare(TAILS, DRAWS))
    hope = sum(weight * _some_above(*p.joint(points), belief.target, normal) for weight, p in belief.members)
    best = float(belief.probability_good(points).max())
    return Outlook(doubt + (1 - doubt) * max(hope, best), best)


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
