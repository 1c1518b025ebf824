"""What the authors' published code really did (github.com/caitree/GoodAction), where it differs from the paper's text.

`PublishedSearch` is for the experiments only. The kernel is never learned, the noise is not in the model, draws have the prior's
covariance, acquisitions are plain formulas climbed by finite differences. Nothing here is advice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng
from scipy.linalg import lapack
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import ndtr

from satisfice.blas import one_blas_thread
from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior, solve_lower
from satisfice.types import Array

WIDTH = 0.04  # of the kernel exp(-d^2 / 0.04) in the unit cube, for ever
KERNEL = Stationary("se", np.array([sqrt(WIDTH / 2)]))
LAM = 1e-8  # with noise and without
FLOOR = 1e-8  # of the std, where something is divided by it, and of a probability in `mes`
CANDIDATES, CANDIDATES_PER_DIMENSION = 1000, 100  # the second for mes, gs and the first look of sts
STARTS = 10
STEP = 1e-8  # of the finite differences
DRAWS = 100  # of gs, at each point
MAXIMA = 1000  # of mes

Score = Callable[[Array, Array], Array]  # of mean and std, each (m,)
Climbed = Callable[[Array], Array]  # of points (m, d)


def standardised(y: Array) -> tuple[Array, float, float]:
    """(y - mean) / std, the mean and the std (1 where all values are equal)."""
    mean, std = float(np.mean(y)), float(np.std(y)) or 1.0
    return (y - mean) / std, mean, std


def kernel(A: Array, B: Array) -> Array:
    """exp(-d^2 / 0.04): `KERNEL`, called so often on few points that its generality would cost."""
    return np.exp(cdist(A, B, "sqeuclidean") * (-1 / WIDTH))


def marginal(posterior: Posterior, U: Array) -> tuple[Array, Array]:
    """Mean and std of a *new value* at U: lambda is added to the variance of f."""
    K = kernel(U, posterior.X)
    halves = solve_lower(posterior.L, K.T)
    variance = 1 + LAM - np.einsum("nm,nm->m", halves, halves)
    return K @ posterior.alpha, np.sqrt(np.maximum(variance, 0.0))


def prior_draws(U: Array, count: int, rng: Generator) -> Array:
    """Draws (m, count) of GP(0, kernel) at U, by a pivoted Cholesky factor: the matrix is nearly singular."""
    factor, pivots, rank, _ = lapack.dpstrf(kernel(U, U), tol=1e-7, lower=1)
    draws = np.empty((len(U), count))
    draws[pivots - 1] = np.tril(factor[:, :rank]) @ rng.standard_normal((rank, count))
    return draws


def excess(mean: Array, std: Array, level: float) -> Array:
    """E[max(0, f - level)] as (mean - level) Phi(z) + std phi(z), which underflows to 0 far out (eg, ei)."""
    a = mean - level
    z = a / np.maximum(std, FLOOR)
    return a * ndtr(z) + std * _phi(z)


def z_score(mean: Array, std: Array, level: float) -> Array:
    """(mean - level) / std, the std floored (pg; pi is Phi of it)."""
    return (mean - level) / np.maximum(std, FLOOR)


def entropy_fall(mean: Array, std: Array, maxima: Array) -> Array:
    """The mean over the maxima m of g phi(g) / (2 Phi(g)) - log Phi(g), g = (m - mean) / std, Phi floored (mes)."""
    g = (maxima - mean[:, None]) / np.maximum(std, FLOOR)[:, None]
    cdf = np.maximum(ndtr(g), FLOOR)
    return np.asarray((0.5 * g * _phi(g) / cdf - np.log(cdf)).mean(axis=1))


def _phi(z: Array) -> Array:
    return np.exp(-0.5 * z * z) / sqrt(2 * np.pi)


def gumbel_maxima(mean: Array, std: Array, highest: float, rng: Generator) -> Array:
    """1,000 draws of a Gumbel law fitted to the quartiles of max f, as read off a grid of 100 values.

    The grid reaches from the highest value seen to max(mean + 5 std); P(max f <= m) is taken to be the product of the marginals.
    """

    def below(m: Array) -> Array:
        return np.asarray(ndtr((m[:, None] - mean) / np.maximum(std, FLOOR)).prod(axis=1))

    top = float((mean + 5 * std).max())
    if below(np.array([top]))[0] <= 0.75:
        top += 1
    grid = np.linspace(highest, top, 100)
    cdf = below(grid)
    low, high = (float(grid[np.argmax(cdf >= p)]) for p in (0.25, 0.75))
    scale = (low - high) / (log(-log(0.75)) - log(-log(0.25)))
    return low + scale * (log(-log(0.25)) - np.log(-np.log(rng.random(MAXIMA))))


def climb(score: Climbed, start: Array) -> tuple[Array, float, bool]:
    """Where L-BFGS-B ends in the unit cube, the score there, and whether it reports success.

    The gradient is a forward difference of 1e-8 (backward at the upper bound), as scipy's own; it is taken here to evaluate its
    points at once. A score that draws anew at each call is climbed in the same way: that is what the published code did.
    """
    d = len(start)
    axes = np.vstack([np.zeros(d), np.eye(d)])

    def negative(u: Array) -> tuple[float, Array]:
        points = u + axes * np.where(u > 1.0 - STEP, -STEP, STEP)
        values = -score(points)
        return values[0], (values[1:] - values[0]) / (points[1:].diagonal() - u)

    result = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * d)
    return result.x, -float(result.fun), bool(result.success)


def best_of_all(candidates: Array, scores: Array, climbed: Climbed, starts: Array, rng: Generator) -> Array:
    """The candidate of highest score (ties at random), or the end of a climb that reports success and is no worse."""
    top = float(scores.max())
    best = candidates[rng.choice(np.flatnonzero(scores == top))]
    for start in starts:
        u, value, success = climb(climbed, start)
        if success and value >= top:
            best, top = u, value
    return best


@dataclass(frozen=True)
class Known:
    """What a rule sees: the model, and target and best value in the units of the first standardisation."""

    domain: Box
    posterior: Posterior
    target: float
    best: float
    evaluations: int

    def points(self, *counts: int, rng: Generator) -> list[Array]:
        """Successive stretches of one scrambled Sobol sequence."""
        points = self.domain.candidates(sum(counts), rng)
        return np.split(points, np.cumsum(counts)[:-1])

    @property
    def few(self) -> int:
        """100 d."""
        return CANDIDATES_PER_DIMENSION * self.domain.dimension

    @cached_property
    def width(self) -> float:
        """beta_t^{1/2} = sqrt(log(t - 1)), t the number of the evaluation to come."""
        return sqrt(log(max(self.evaluations, 1)))


def _marginal_rule(score_of: Callable[[Known], Score]) -> Callable[[Known, Generator], Array]:
    """pg, eg, pi, ei, ucb: 1,000 candidates, then the climbs."""

    def propose(known: Known, rng: Generator) -> Array:
        score = score_of(known)
        candidates, starts = known.points(CANDIDATES, STARTS, rng=rng)

        def climbed(U: Array) -> Array:
            return score(*marginal(known.posterior, U))

        return best_of_all(candidates, climbed(candidates), climbed, starts, rng)

    return propose


def _mes(known: Known, rng: Generator) -> Array:
    """Max-value entropy search on 100 d candidates, the maxima drawn once."""
    witnesses, candidates, starts = known.points(known.few, known.few, STARTS, rng=rng)
    maxima = gumbel_maxima(*marginal(known.posterior, witnesses), known.best, rng)

    def climbed(U: Array) -> Array:
        return entropy_fall(*marginal(known.posterior, U), maxima)

    return best_of_all(candidates, climbed(candidates), climbed, starts, rng)


def _mean(known: Known, U: Array) -> Array:
    return kernel(U, known.posterior.X) @ known.posterior.alpha


def _ts(known: Known, rng: Generator) -> Array:
    """The best of 1,000 candidates by one joint draw: posterior mean, prior covariance.

    The published code then climbs a score that draws N(mu(x), 1) anew at every call. Such a climb goes nowhere, and what it ends
    with beats the best of 1,000 about once in seventy steps (noisy Keane): it is left out, as it would double the time.
    """
    (candidates,) = known.points(CANDIDATES, rng=rng)
    return candidates[np.argmax(_mean(known, candidates) + prior_draws(candidates, 1, rng)[:, 0])]


def _sts(known: Known, rng: Generator) -> Array:
    """Of 100 d candidates whose draw reaches the target, the one nearest to the centre; if none does, as `ts`."""
    (candidates,) = known.points(known.few, rng=rng)
    good = candidates[_mean(known, candidates) + prior_draws(candidates, 1, rng)[:, 0] >= known.target]
    return good[np.argmin(((good - 0.5) ** 2).sum(axis=1))] if len(good) else _ts(known, rng)


def _gs(known: Known, rng: Generator) -> Array:
    """The candidate with the largest share of 100 draws above the target; if no draw is, that of the highest draw.

    The climbs draw anew at every call too, but here they win one step in five: a small share is easily reached by luck.
    """
    candidates, starts = known.points(known.few, STARTS, rng=rng)
    draws = _mean(known, candidates)[:, None] + prior_draws(candidates, DRAWS, rng)
    if (draws < known.target).all():
        return candidates[np.argmax(draws.max(axis=1))]

    def climbed(U: Array) -> Array:
        return rng.binomial(DRAWS, ndtr(_mean(known, U) - known.target)) / DRAWS

    return best_of_all(candidates, (draws >= known.target).mean(axis=1), climbed, starts, rng)


PUBLISHED_RULES: dict[str, Callable[[Known, Generator], Array]] = {
    "pg": _marginal_rule(lambda known: lambda mean, std: z_score(mean, std, known.target)),
    "eg": _marginal_rule(lambda known: lambda mean, std: excess(mean, std, known.target)),
    "pi": _marginal_rule(lambda known: lambda mean, std: np.asarray(ndtr(z_score(mean, std, known.best)))),
    "ei": _marginal_rule(lambda known: lambda mean, std: excess(mean, std, known.best)),
    "ucb": _marginal_rule(lambda known: lambda mean, std: mean + known.width * std),
    "mes": _mes,
    "ts": _ts,
    "sts": _sts,
    "gs": _gs,
    "random": lambda known, rng: known.domain.uniform(1, rng)[0],
}


class PublishedSearch:
    """Ask and tell as the published code did; always to be maximised.

    `noise` only says how the answer is chosen (`recommended`): the published model never saw it. The starting points are the
    caller's: the first question needs at least two values.
    """

    def __init__(self, domain: Box, target: float, rule: str, *, noise: float, seed: int) -> None:
        if rule not in PUBLISHED_RULES:
            raise BadInput(f"`rule` must be one of {', '.join(PUBLISHED_RULES)}; got {rule!r}.")
        self.domain, self.target, self.rule, self.noise, self.seed = domain, target, rule, noise, seed
        none = np.empty((0, domain.dimension))
        self._U, self._y = none, np.empty(0)
        self._first: list[int] = []  # which observations are not at a repeated point
        self._now = self._before = Posterior.given(KERNEL, LAM, none, np.empty(0))  # their values are set when used

    def tell(self, x: npt.ArrayLike, value: float) -> None:
        """Record the value seen at x; the model keeps the first of repeated points only."""
        u = self.domain.to_unit(x)[0]
        self._before = self._now
        if not (self._U == u).all(axis=1).any():
            self._now = self._now.extend(u, 0.0)
            self._first.append(len(self._y))
        self._U, self._y = np.vstack([self._U, u]), np.append(self._y, value)

    def ask(self) -> Array:
        """The next point (d,) in the user's units; asking twice gives the same one."""
        known = self.known()
        with one_blas_thread():
            u = PUBLISHED_RULES[self.rule](known, default_rng([self.seed, known.evaluations]))
        return self.domain.from_unit(u[None])[0]

    def known(self) -> Known:
        """What the rule sees now; target and best value are standardised once, with all values, repeats included."""
        n = len(self._y)
        if n < 2:
            raise BadInput(f"`ask` needs the starting points, at least 2 values, to be told first; got {n}.")
        values, mean, std = standardised(self._y)
        return Known(self.domain, self._fitted(self._now, n), (self.target - mean) / std, float(values.max()), n)

    def recommended(self) -> int:
        """Which of the observations is thought best: that of the highest value, or, with noise, of the highest posterior mean.

        The mean is that of the model which chose the newest point: it has not seen the newest value. (It goes through all the
        others, lambda being 1e-8.)
        """
        if self.noise == 0 or len(self._y) < 2:
            return int(np.argmax(self._y))
        with one_blas_thread():
            return int(np.argmax(marginal(self._fitted(self._before, len(self._y) - 1), self._U)[0]))

    def _fitted(self, posterior: Posterior, n: int) -> Posterior:
        """The posterior of the first n observations: standardised, and again once the repeats were dropped."""
        values = standardised(self._y[:n])[0]
        return posterior.with_values(standardised(values[self._first[: len(posterior.X)]])[0])
