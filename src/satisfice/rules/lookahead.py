"""Rules that look one evaluation ahead, or at the law of the maximum: gs, lookahead, mes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.random import Generator, default_rng
from scipy.special import log_ndtr, ndtr, ndtri

from satisfice.acquisition import Gumbel, Score, gumbel_of_maximum, max_value_information, standard_score
from satisfice.belief import Belief
from satisfice.gp.posterior import FLOOR, Posterior
from satisfice.maximise import best_of, descending, maximise
from satisfice.types import Array

ZERO = 1e-12  # scores below this are rounding
WITNESSES = 64  # so many points stand for a domain that has more
NODES_ON_A_BOX = 6  # there the witnesses are a choice anyway
NODES = 12  # of the quadrature over what an evaluation may give, on each side of the target


@dataclass(frozen=True)
class OneStepAhead:
    """For Q queries, what evaluating each would make of the marginals at M witnesses, over the values y it may give.

    y = mu(x) + sqrt(v) xi with v = sigma^2(x) + lambda and xi ~ N(0, 1) moves the mean at x' by c xi and leaves the variance
    sigma^2(x') - c^2, c = cov(x, x') / sqrt(v). The nodes xi split the real line where y crosses the target, since without
    noise everything jumps there.
    """

    mean: Array  # (Q, nodes, M)
    std: Array  # (Q, 1, M)
    weights: Array  # (Q, nodes), each row sums to one

    def average(self, values: Array) -> Array:
        """E_y[values] (Q,) for values (Q, nodes)."""
        return np.asarray((self.weights * values).sum(axis=1))


@cache
def _legendre(count: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature on (0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def look_ahead(
    posterior: Posterior, queries: Array, witnesses: Array, target: float, nodes: int = NODES
) -> OneStepAhead:
    """The one-step look-ahead at queries (Q, d) with witnesses (M, d), by 2 `nodes` values of y a query."""
    here, there = posterior.marginal(queries), posterior.marginal(witnesses)
    variance = here.std**2 + posterior.lam
    move = posterior.covariance(queries, witnesses) / np.sqrt(variance)[:, None]
    left = there.std**2 - move**2
    std = np.sqrt(np.maximum(left, FLOOR * posterior.kernel.variance))
    split = np.clip(ndtr((target - here.mean) / np.sqrt(variance)), 1e-12, 1 - 1e-12)[:, None]
    share, weights = _legendre(nodes)
    below, above = split * share, split + (1 - split) * share
    xi = ndtri(np.concatenate([below, above], axis=1))
    return OneStepAhead(
        mean=there.mean + xi[:, :, None] * move[:, None, :],
        std=std[:, None, :],
        weights=np.concatenate([split * weights, (1 - split) * weights], axis=1),
    )


def good_action_score(ahead: OneStepAhead, target: float, gumbel: bool = True) -> Array:
    """E_y[P_t(max f >= target)] (Q,), the maximum over the witnesses taken as independent (paper, eq. gs_acq_1).

    With `gumbel` the law of the maximum is the Gumbel law that has its quartiles, as in max-value entropy search; without, it is
    the product 1 - prod_x' Phi((target - mu_t(x')) / sigma_t(x')) itself.
    """
    if gumbel:
        return ahead.average(_gumbel(ahead).probability_above(target))
    return ahead.average(-np.expm1(log_ndtr((target - ahead.mean) / ahead.std).sum(axis=2)))


def _gumbel(ahead: OneStepAhead) -> Gumbel:
    return gumbel_of_maximum(ahead.mean, np.broadcast_to(ahead.std, ahead.mean.shape))


def lookahead_score(ahead: OneStepAhead, target: float) -> Array:
    """E_y[max_x' P_t(f(x') >= target)] (Q,): how good the best bet will be after the evaluation."""
    return ahead.average(ndtr(((ahead.mean - target) / ahead.std).max(axis=2)))


def highest_draw(ahead: OneStepAhead, rng: Generator, draws: int = 100) -> Array:
    """The highest of `draws` sampled maxima for each query (Q,), from the Gumbel laws; the draws are the same for each."""
    top = _gumbel(ahead).quantile(np.array(rng.random(draws).max()))
    return np.asarray(top.max(axis=1))


def queries_and_witnesses(belief: Belief, rng: Generator) -> tuple[Array, Array]:
    """The points to compare and those that stand for the domain: all of a small finite set, else a choice of each.

    Half of the queries are the most promising candidates by PG, half are spread over the domain.
    """
    spread, near = belief.candidates(rng) if belief.points is None else (belief.points, belief.points[:0])
    if len(spread) + len(near) <= WITNESSES:
        return spread, spread
    candidates = np.vstack([spread, near])
    promise = standard_score(*belief.marginal(candidates), belief.target).value
    best = candidates[descending(promise)]
    some = spread[rng.permutation(len(spread))]
    return np.vstack([best[:24], some[:24]]), np.vstack([best[: WITNESSES // 2], some[-WITNESSES // 2 :]])


@dataclass(frozen=True)
class GoodActionSearch:
    """GS: ask where, after the value, the probability that some action is good is expected to be highest (section 4.3).

    The exact expectation is the same for every x (the tower property); what orders the points is the approximation of the law
    of the maximum. `gumbel=False` uses independent marginals as they are. Where every score is 0, the highest sampled maximum
    decides.
    """

    gumbel: bool = True

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The best of the queries, and on a box of points around the best of them."""
        return _best_query(belief, rng, partial(good_action_score, gumbel=self.gumbel))


@dataclass(frozen=True)
class Lookahead:
    """Ask where, after seeing the value, the best bet is expected to be best: E_y[max_x' P_t(f(x') >= target)].

    This is what looking one step ahead for a good action can mean; unlike the score that GS approximates, it depends on x.
    """

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The best of the queries, and on a box of points around the best of them."""
        return _best_query(belief, rng, lookahead_score)


def _best_query(belief: Belief, rng: Generator, score: Callable[[OneStepAhead, float], Array]) -> Array:
    """The query of the highest score averaged over the members; on a box also among points around the first best ones."""
    queries, witnesses = queries_and_witnesses(belief, rng)
    nodes = NODES_ON_A_BOX if belief.points is None else NODES

    def average(points: Array, of: Callable[[OneStepAhead], Array]) -> Array:
        parts = [w * of(look_ahead(p, points, witnesses, belief.target, nodes)) for w, p in belief.members]
        return np.asarray(np.sum(parts, axis=0))

    scores = average(queries, lambda ahead: score(ahead, belief.target))
    if scores.max() < ZERO:
        seed = rng.integers(2**32)
        return best_of(queries, average(queries, lambda ahead: highest_draw(ahead, default_rng(seed))), belief, rng)
    if belief.points is None:
        centres = queries[descending(scores)[:4]].repeat(6, axis=0)
        around = belief.domain.snap(np.clip(centres + 0.03 * rng.standard_normal(centres.shape), 0.0, 1.0))
        scores = np.append(scores, average(around, lambda ahead: score(ahead, belief.target)))
        queries = np.vstack([queries, around])
    return best_of(queries, scores, belief, rng)


@dataclass(frozen=True)
class MaxValueEntropy:
    """MES: ask where the value tells most about the maximum, by draws of it from a Gumbel law (Wang and Jegelka 2017)."""

    draws: int = 10

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of the information, averaged over the members of the belief."""
        witnesses = np.vstack(belief.candidates(rng)) if belief.points is None else belief.points
        shares = rng.random(self.draws)
        maxima = tuple(
            gumbel_of_maximum(*posterior.marginal(witnesses)).quantile(shares) for _, posterior in belief.members
        )
        return maximise(_Information(belief, maxima), belief, rng)


@dataclass(frozen=True)
class _Information:
    """The information about the maximum, averaged over the members, as a function of points."""

    belief: Belief
    maxima: tuple[Array, ...]  # of each member, (draws,)

    def __call__(self, U: Array) -> Array:
        pairs = zip(self.belief.members, self.maxima, strict=True)
        return np.asarray(sum(w * max_value_information(*p.marginal(U), maxima).value for (w, p), maxima in pairs))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        value, gradient = np.zeros(len(U)), np.zeros(U.shape)
        for (weight, posterior), maxima in zip(self.belief.members, self.maxima, strict=True):
            part = posterior.marginal_with_pull(U)
            score: Score = max_value_information(part.mean, part.std, maxima)
            value += weight * score.value
            gradient += weight * part.pull(score.by_mean, score.by_std)
        return value, gradient
