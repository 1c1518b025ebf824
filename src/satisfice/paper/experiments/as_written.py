"""`--as paper`: the rules optimised as the text says, "the built-in SciPy optimizer with 10 random restarts" (section 5.2).

Every acquisition is maximised by L-BFGS-B from ten uniform points of the box and from nothing else: no candidates are screened,
no point is copied, none is avoided. What the text leaves open is settled here:

- The hyperparameters maximise the likelihood over their whole range (`WrittenModel`), not near those of the last time.
- `mes` and `gs` want a set of points that stands for the domain where the law of max f is approximated. As in the code of Wang
  and Jegelka (2017) it has uniform points and the evaluated ones. For `gs`, which approximates that law again for every
  candidate, it has 64 of them: the 32 that are most likely to be good, and 32 uniform ones.
- `sts`: the drawn path is climbed from the ten starts. From every end that reaches the target SciPy's optimiser for constraints
  (SLSQP) walks to the nearest point of {path >= target}; the nearest of all is asked. Where no end reaches it, the highest is.
- Whole numbers are continuous for the model and the rule, and rounded for the evaluation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.formulas import standard_score
from satisfice.acquisition.maximum import gumbel_of_maximum
from satisfice.acquisition.optimise import ScoreFunction
from satisfice.acquisition.scores import bound_score, excess_score, probability_score
from satisfice.errors import BadInput
from satisfice.gp.paths import Path, draw_path
from satisfice.paper.experiments.good_action import GoodActionScore, HighestMaximum
from satisfice.paper.experiments.restarts import Ends, climb_from
from satisfice.rules import Rule
from satisfice.rules.baselines import Random
from satisfice.rules.entropy import MaxValueInformation
from satisfice.rules.lookahead import WITNESSES, ZERO
from satisfice.rules.requirements import single
from satisfice.rules.widths import sqrt_log
from satisfice.types import Array

RESTARTS = 10
SPREAD = 1000  # uniform points that stand for the domain, for `mes`
CHOSEN_FROM = 256  # the same for `gs`, before the choice
MAXIMA, GS_MAXIMA = 10, 100  # sampled maxima of `mes`, and of `gs` where every score is 0


def _starts(belief: Belief, rng: Generator) -> Array:
    return rng.random((RESTARTS, belief.domain.dimension))


def _highest(ends: Ends) -> Array:
    return ends.points[np.argmax(ends.scores)]


@dataclass(frozen=True)
class Maximiser:
    """A rule that asks the maximiser of a score, as ten random restarts find it."""

    score: Callable[[Belief, Generator], ScoreFunction]

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The highest of the ten ends."""
        score = self.score(belief, rng)
        return _highest(climb_from(_starts(belief, rng), score))


def _information(belief: Belief, rng: Generator) -> ScoreFunction:
    posterior = single(belief)
    domain = np.vstack([rng.random((SPREAD, belief.domain.dimension)), posterior.X])
    maxima = gumbel_of_maximum(*posterior.marginal(domain)).quantile(rng.random(MAXIMA))
    return MaxValueInformation(belief, (maxima,))


@dataclass(frozen=True)
class GoodActionSearch:
    """`gs`: the maximiser of its score or, where every score is 0, of the highest sampled maximum."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The highest of the ten ends."""
        score = GoodActionScore(single(belief), witnesses(belief, rng), belief.target)
        starts = _starts(belief, rng)
        ends = climb_from(starts, score)
        if ends.scores.max() < ZERO:
            ends = climb_from(starts, HighestMaximum(score, float(rng.random(GS_MAXIMA).max())))
        return _highest(ends)


def witnesses(belief: Belief, rng: Generator) -> Array:
    """The points (m, d) that stand for the domain in `gs`."""
    uniform = rng.random((CHOSEN_FROM, belief.domain.dimension))
    points = np.vstack([uniform, single(belief).X])
    promise = standard_score(*belief.marginal(points), belief.target).value
    half = WITNESSES // 2
    return np.vstack([points[np.argsort(-promise)[:half]], uniform[:half]])


@dataclass(frozen=True)
class SatisficingThompson:
    """`sts`: of the points that a draw of the function calls good, the nearest to the centre; else the draw's maximiser."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The nearest point that was found from the ends that reach the target, or the highest end."""
        path = draw_path(single(belief), rng)
        ends = climb_from(_starts(belief, rng), path)
        good = ends.points[ends.scores >= belief.target]
        if len(good) == 0:
            return _highest(ends)
        centre = np.full(belief.domain.dimension, 0.5)
        found = np.array([_nearest_good(path, end, centre, belief.target) for end in good])
        return found[np.argmin(((found - centre) ** 2).sum(axis=1))]


def _nearest_good(path: Path, good: Array, centre: Array, target: float) -> Array:
    """The point of {path >= target} at which SLSQP ends on the way from a good point to the centre; locally the nearest."""
    from scipy.optimize import minimize

    def squared_distance(u: Array) -> tuple[float, Array]:
        return float(((u - centre) ** 2).sum()), 2 * (u - centre)

    reaches = {
        "type": "ineq",
        "fun": lambda u: path(u[None])[0] - target,
        "jac": lambda u: path.with_gradient(u[None])[1][0],
    }
    bounds, options = [(0.0, 1.0)] * len(good), {"ftol": 1e-10}
    end = minimize(
        squared_distance, good, jac=True, method="SLSQP", bounds=bounds, constraints=reaches, options=options
    ).x
    end = np.clip(end, 0.0, 1.0)
    if path(end[None])[0] >= target:
        return end
    low, high = 0.0, 1.0  # the border lies between: SLSQP ends on it up to its tolerance, or has gone astray
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if path((good + middle * (end - good))[None])[0] >= target else (low, middle)
    return good + low * (end - good)


RULES_AS_WRITTEN: dict[str, Rule] = {
    "pg": Maximiser(lambda belief, _: probability_score(belief, belief.target)),
    "eg": Maximiser(lambda belief, _: excess_score(belief, belief.target)),
    "gs": GoodActionSearch(),
    "sts": SatisficingThompson(),
    "pi": Maximiser(lambda belief, _: probability_score(belief, belief.incumbent)),
    "ei": Maximiser(lambda belief, _: excess_score(belief, belief.incumbent)),
    "ucb": Maximiser(lambda belief, _: bound_score(belief, 1.0, sqrt_log(belief.step))),
    "ts": Maximiser(lambda belief, rng: draw_path(single(belief), rng)),
    "mes": Maximiser(_information),
    "random": Random(),
}


def rule_as_written(name: str) -> Rule:
    """The rule of that name; an error where the text has none."""
    if name not in RULES_AS_WRITTEN:
        raise BadInput(
            f"`rule` must be one of {', '.join(RULES_AS_WRITTEN)}; got {name!r}. Run others --as paper-local."
        )
    return RULES_AS_WRITTEN[name]
