"""Rules that look one evaluation ahead for a good action: gs, gs-joint, lookahead."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from numpy.random import Generator, default_rng
from scipy.special import entr, log_ndtr, ndtr, ndtri

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import standard_score
from satisfice.acquisition.maximum import Gumbel, gumbel_of_maximum
from satisfice.acquisition.optimise import best_of, descending
from satisfice.gp.posterior import FLOOR, Posterior, cholesky
from satisfice.types import Array

ZERO = 1e-12  # scores below this are rounding errors
TINY = 1e-300
WITNESSES = 64  # the number of points that represent a larger domain
NODES = 12  # of the quadrature over the value of an evaluation, on each side of the target
NODES_ON_A_BOX = 6  # there the witnesses are a sample anyway

# posterior, queries (Q, d), witnesses (M, d), target, nodes of a quadrature -> scores (Q,)
QueryScore = Callable[[Posterior, Array, Array, float, int], Array]


@dataclass(frozen=True)
class OneStepAhead:
    """The marginals at M witnesses after evaluating one of Q queries, for each value y it may give.

    A value y = mu(x) + sqrt(v) xi with v = sigma^2(x) + lambda and xi ~ N(0, 1) moves the mean at x' by c xi and leaves the
    variance sigma^2(x') - c^2, where c = cov(x, x') / sqrt(v). The nodes xi split the real line where y crosses the target,
    since without noise everything jumps there.

    Parameters
    ----------
    mean, std
        The means (Q, nodes, M) and standard deviations (Q, 1, M).
    weights
        The weights of the nodes (Q, nodes); each row sums to one.
    """

    mean: Array
    std: Array
    weights: Array

    def average(self, values: Array) -> Array:
        """E_y[values] (Q,) for values (Q, nodes)."""
        return np.asarray((self.weights * values).sum(axis=1))


@cache
def legendre(count: int) -> tuple[Array, Array]:
    """Nodes and weights of Gauss-Legendre quadrature on (0, 1).

    Parameters
    ----------
    count
        The number of nodes.

    Returns
    -------
    nodes, weights
        Each (count,).
    """
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return (nodes + 1) / 2, weights / 2


def _what_it_may_give(posterior: Posterior, queries: Array, target: float, nodes: int) -> tuple[Array, Array, Array]:
    """Nodes xi (Q, 2 nodes) and weights of a quadrature over y = mu(x) + sqrt(v) xi, split at the target; and v (Q,)."""
    mean, std = posterior.marginal(queries)
    variance = std**2 + posterior.lam
    split = np.clip(ndtr((target - mean) / np.sqrt(variance)), 1e-12, 1 - 1e-12)[:, None]
    share, weights = legendre(nodes)
    xi = ndtri(np.concatenate([split * share, split + (1 - split) * share], axis=1))
    return xi, np.concatenate([split * weights, (1 - split) * weights], axis=1), variance


def look_ahead(
    posterior: Posterior, queries: Array, witnesses: Array, target: float, nodes: int = NODES
) -> OneStepAhead:
    """The one-step look-ahead at queries (Q, d) with witnesses (M, d), by 2 `nodes` values of y per query.

    Parameters
    ----------
    posterior
        What is known of f.
    queries, witnesses
        The points to evaluate (Q, d), and those that represent the domain (M, d).
    target
        Where the quadrature is split.
    nodes
        Half the number of values y of each query.

    Returns
    -------
    OneStepAhead
        The marginals at the witnesses.
    """
    xi, weights, variance = _what_it_may_give(posterior, queries, target, nodes)
    there = posterior.marginal(witnesses)
    move = posterior.covariance(queries, witnesses) / np.sqrt(variance)[:, None]
    std = np.sqrt(np.maximum(there.std**2 - move**2, FLOOR * posterior.kernel.variance))
    return OneStepAhead(there.mean + xi[:, :, None] * move[:, None, :], std[:, None, :], weights)


def good_action_score(ahead: OneStepAhead, target: float, gumbel: bool = True) -> Array:
    """E_y[P_t(max f >= target)] (Q,), where the maximum treats the witnesses as independent (paper, eq. gs_acq_1).

    With `gumbel`, the law of the maximum is the Gumbel law with the same quartiles, as in max-value entropy search; otherwise
    it is the product 1 - prod_x' Phi((target - mu_t(x')) / sigma_t(x')) itself.

    Parameters
    ----------
    ahead
        The look-ahead.
    target
        The value to reach.
    gumbel
        Whether the law of the maximum is a Gumbel law.

    Returns
    -------
    Array
        The scores (Q,).
    """
    if gumbel:
        return ahead.average(_gumbel(ahead).probability_above(target))
    return ahead.average(-np.expm1(log_ndtr((target - ahead.mean) / ahead.std).sum(axis=2)))


def _gumbel(ahead: OneStepAhead) -> Gumbel:
    return gumbel_of_maximum(ahead.mean, np.broadcast_to(ahead.std, ahead.mean.shape))


def lookahead_score(ahead: OneStepAhead, target: float) -> Array:
    """E_y[max_x' P_t(f(x') >= target)] (Q,): the expected probability of the best point after the evaluation.

    Parameters
    ----------
    ahead
        The look-ahead.
    target
        The value to reach.

    Returns
    -------
    Array
        The scores (Q,).
    """
    return ahead.average(ndtr(((ahead.mean - target) / ahead.std).max(axis=2)))


def event_information(
    posterior: Posterior, queries: Array, witnesses: Array, target: float, nodes: int, draws: int, seed: int
) -> Array:
    """I(1{max f >= target}; y) (Q,), the maximum over the witnesses and the query itself, by joint draws of f.

    Given the value y = mu(x) + sqrt(v) xi, a draw f~ becomes f~ + c (xi - xi~), where xi~ is the value of the draw itself
    (Matheron's rule). This is linear in xi at each witness, so the xi for which no witness reaches the target form an interval.

    Parameters
    ----------
    posterior, target
        What is known of f, and what it should reach.
    queries, witnesses
        The x to score (Q, d), and the points that represent the domain (M, d).
    nodes
        Half the number of values y of each query.
    draws, seed
        The number of draws of f, and their seed.

    Returns
    -------
    Array
        The information in nats (Q,).
    """
    xi, weights, variance = _what_it_may_give(posterior, queries, target, nodes)
    rng, m, deviation = default_rng(seed), len(witnesses), np.sqrt(variance)
    mean, covariance = posterior.joint(np.vstack([witnesses, queries]))
    factor, _ = cholesky(covariance + 1e-10 * posterior.kernel.variance * np.eye(len(mean)))
    f = mean + rng.standard_normal((draws, len(mean))) @ factor.T
    noise = np.sqrt(posterior.lam) * rng.standard_normal((draws, len(queries)))
    given = ((f[:, m:] + noise - mean[m:]) / deviation).T  # xi~, (Q, draws)
    move = np.column_stack([covariance[m:, :m], np.diagonal(covariance)[m:]]) / deviation[:, None]
    move = np.where(move == 0, TINY, move)[:, None, :]  # (Q, 1, M + 1), the last being the query's own
    drawn = np.stack([np.column_stack([f[:, :m], f[:, m + k]]) for k in range(len(queries))])
    with np.errstate(over="ignore"):
        crossing = (target - drawn) / move + given[:, :, None]
    low = np.where(move < 0, crossing, -np.inf).max(axis=2)[:, :, None]
    high = np.where(move > 0, crossing, np.inf).min(axis=2)[:, :, None]
    p = 1 - ((low < xi[:, None, :]) & (xi[:, None, :] < high)).mean(axis=1)  # P_t(max f >= target), (Q, nodes)
    return _entropy((weights * p).sum(axis=1)) - (weights * _entropy(p)).sum(axis=1)


def _entropy(p: Array) -> Array:
    """The entropy of an event of probability p, in nats; rounding may take p slightly above 1."""
    p = np.minimum(p, 1.0)
    return np.asarray(entr(p) + entr(1 - p))


def highest_draw(ahead: OneStepAhead, rng: Generator, draws: int = 100) -> Array:
    """The highest of `draws` maxima drawn from the Gumbel law of each query (Q,), with common random numbers.

    Parameters
    ----------
    ahead
        The look-ahead.
    rng
        The random numbers.
    draws
        The number of draws.

    Returns
    -------
    Array
        The highest draw for each query (Q,).
    """
    top = _gumbel(ahead).quantile(np.array(rng.random(draws).max()))
    return np.asarray(top.max(axis=1))


def queries_and_witnesses(belief: Belief, rng: Generator) -> tuple[Array, Array]:
    """The points to compare, and those that represent the domain: all of a small finite set, otherwise a sample.

    Half of the queries are the most promising candidates by PG; the others lie all over the domain.

    Parameters
    ----------
    belief
        The domain, and what is known of f.
    rng
        The random numbers of the samples.

    Returns
    -------
    queries, witnesses
        The points to compare (Q, d), and those that represent the domain (M, d).
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
    """GS: maximise the expected probability, after the evaluation, that some action is good (section 4.3).

    The exact expectation is the same for every x (the tower property); it is the approximation of the law of the maximum that
    orders the points. Independent marginals overestimate the probability, all the more the less is known, so GS prefers the
    values that teach least (`docs/paper.md`; `gs-joint` is the repair). If every score is 0, the highest sampled maximum
    decides.

    Parameters
    ----------
    gumbel
        Whether the law of the maximum is a Gumbel law, instead of a product of marginals; the two need not order points alike.
    """

    gumbel: bool = True

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The best of the queries, and on a box of points around the best of them."""
        return _best_query(belief, rng, _after(partial(good_action_score, gumbel=self.gumbel)))


@dataclass(frozen=True)
class JointGoodActionSearch:
    """GS repaired: maximise the information about whether some action is good, I(1{max f >= target}; y), by joint draws of f.

    This is the expected reduction of the event's entropy, H(P) - E_y[H(P_t)], with P_t = P_t(max f >= target) and H(p) = -p log
    p - (1 - p) log(1 - p). The expectation of P_t itself, which GS maximises, is P for every x; that of its entropy depends on
    x, and joint draws, unlike independent marginals, do not overestimate P. If every score is 0, the highest sampled maximum
    decides, as in GS.

    Parameters
    ----------
    draws
        The number of draws of f that estimate the probabilities.
    """

    draws: int = 256

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The best of the queries, and on a box of points around the best of them."""
        return _best_query(belief, rng, partial(event_information, draws=self.draws, seed=int(rng.integers(2**32))))


@dataclass(frozen=True)
class Lookahead:
    """Maximise the expected probability of the best point after the evaluation, E_y[max_x' P_t(f(x') >= target)].

    This is one meaning of looking one step ahead for a good action; unlike the exact score of GS, it depends on x.
    """

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The best of the queries, and on a box of points around the best of them."""
        return _best_query(belief, rng, _after(lookahead_score))


def _best_query(belief: Belief, rng: Generator, score: QueryScore) -> Array:
    """The query of the highest score, averaged over the members; on a box, points around the best queries compete too."""
    queries, witnesses = queries_and_witnesses(belief, rng)
    nodes = NODES_ON_A_BOX if belief.points is None else NODES

    def average(points: Array, of: QueryScore) -> Array:
        parts = [
            weight * of(posterior, points, witnesses, belief.target, nodes) for weight, posterior in belief.members
        ]
        return np.asarray(np.sum(parts, axis=0))

    scores = average(queries, score)
    if scores.max() < ZERO:
        seed = rng.integers(2**32)
        highest = _after(lambda ahead, _: highest_draw(ahead, default_rng(seed)))
        return best_of(queries, average(queries, highest), belief, rng)
    if belief.points is None:
        centres = queries[descending(scores)[:4]].repeat(6, axis=0)
        around = belief.domain.snap(np.clip(centres + 0.03 * rng.standard_normal(centres.shape), 0.0, 1.0))
        scores = np.append(scores, average(around, score))
        queries = np.vstack([queries, around])
    return best_of(queries, scores, belief, rng)


def _after(score: Callable[[OneStepAhead, float], Array]) -> QueryScore:
    """Turn a score of the look-ahead into one of the posterior."""

    def of(posterior: Posterior, queries: Array, witnesses: Array, target: float, nodes: int) -> Array:
        return score(look_ahead(posterior, queries, witnesses, target, nodes), target)

    return of
