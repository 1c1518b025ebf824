"""`Improvement`: after the first good setting, the search for one that the user prefers."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng

from satisfice.acquisition.joint import AnyBelief, JointBelief
from satisfice.acquisition.optimise import ScoreFunction, best_from, candidates, taken
from satisfice.acquisition.scores import log_probability_score
from satisfice.certificates.hope import Outlook, joint_outlook, outlook
from satisfice.domain.preference import Preference
from satisfice.errors import SpaceExhausted
from satisfice.types import Array

if TYPE_CHECKING:
    from satisfice.search.joint_observations import JointObservations
    from satisfice.search.observations import Observations

# A setting is more preferred if it saves at least this share of what could be saved at all. The second one is for noise, under
# which a saving costs repeats.
WORTH, WORTH_REPEATS = 0.01, 0.05
BEST = 5  # the number of cheap promising points whose neighbourhoods are searched
BETWEEN = (0.3, 0.6, 0.8, 0.9, 0.95)  # shares of the way back from a cheaper point to the best certified one
CHEAPER = 24  # so many of them
NO_SAVING = -1e3  # the log of no saving, lowered further by what a point costs more


@dataclass(frozen=True)
class SavingScore:
    """log E[saving] = log (bar - c(x)) + log P(f(x) >= target): the saving counts only if the point is good.

    Parameters
    ----------
    preference
        The cost c.
    bar
        What the cost must stay below.
    good
        log P(f(x) >= target), or the sum of these for several requirements.
    """

    preference: Preference
    bar: float
    good: ScoreFunction

    def __call__(self, U: Array) -> Array:
        """The scores (m,) of the points U (m, d)."""
        return np.asarray(self._log(self.bar - self.preference.at(U)) + self.good(U))

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The scores (m,) and their derivatives in U (m, d)."""
        costs, slopes = self.preference.with_gradient(U)
        value, gradient = self.good.with_gradient(U)
        saving = self.bar - costs
        rate = np.where(saving > 0, 1 / np.where(saving > 0, saving, 1.0), 1.0)
        return self._log(saving) + value, gradient - rate[:, None] * slopes

    @staticmethod
    def _log(saving: Array) -> Array:
        return np.where(saving > 0, np.log(np.where(saving > 0, saving, 1.0)), NO_SAVING + np.minimum(saving, 0.0))


@dataclass(frozen=True)
class ExpectedSaving:
    """The rule while a search improves: evaluate the point of the largest expected saving, (bar - c(x))+ P(f(x) >= target).

    Parameters
    ----------
    preference
        The cost c.
    bar
        What the cost must stay below.
    best
        The most preferred certified point (d,) of the unit cube.
    """

    preference: Preference
    bar: float
    best: Array

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The maximiser of the expected saving."""
        start = candidates(belief, rng)
        score = self.score(belief)
        if belief.points is None:
            cheap = start.points[np.argsort(self.preference.at(start.points), kind="stable")[:CHEAPER]]
            lines = cheap[:, None] + np.array(BETWEEN)[None, :, None] * (self.best - cheap[:, None])
            between = belief.domain.snap(lines.reshape(-1, len(self.best)))
            start = start._replace(points=np.vstack([start.points, between]))
        return best_from(start, score(start.points), score, belief, rng)

    def score(self, belief: AnyBelief) -> SavingScore:
        """The log of the expected saving."""
        return SavingScore(self.preference, self.bar, log_probability_score(belief, belief.target))


class Improvement:
    """What has been certified, what it costs, and what is worth a further search.

    Parameters
    ----------
    observations
        What the search has been told.
    preference
        What the user prefers.
    """

    def __init__(self, observations: "Observations | JointObservations", preference: Preference) -> None:
        self._seen, self.preference = observations, preference
        self._costs: list[float] = []

    @property
    def costs(self) -> Array:
        """The cost of the point of each value (n,)."""
        missing = self._seen.X[len(self._costs) :]
        if len(missing):
            self._costs += self.preference.costs(missing).tolist()
        return np.array(self._costs)

    @property
    def certified(self) -> list[int]:
        """An index of each certified point, in the order in which they were certified."""
        return self._seen.all_certified

    @property
    def best(self) -> int | None:
        """An index of the most preferred certified point; None before there is one."""
        certified = self.certified
        return min(certified, key=lambda index: (self.costs[index], certified.index(index)), default=None)

    @property
    def bar(self) -> float:
        """What a more preferred point costs at most: it saves a share of what could be saved at all."""
        best = self.best
        if best is None:
            return np.inf
        cost = float(self.costs[best])
        worth = WORTH if self._seen.deterministic else WORTH_REPEATS
        return cost - worth * max(cost - self.preference.lowest, 0.0)

    @property
    def going_on(self) -> bool:
        """Whether there is a certified point, so that a more preferred one is searched for."""
        return self.best is not None

    def worthwhile(self, index: int) -> bool:
        """Whether certifying the point of a value would be an improvement; so is any before there is a certified point."""
        return bool(self._saves(self.costs[index : index + 1])[0])

    def _saves(self, costs: Array) -> npt.NDArray[np.bool_]:
        """Which costs save enough."""
        best = self.best
        return np.asarray((costs <= self.bar) & (costs < (np.inf if best is None else self.costs[best])))

    def worth(self, index: int) -> float:
        """What certifying the point of a value would save; one before there is a certified point."""
        best = self.best
        return 1.0 if best is None else max(float(self.costs[best] - self.costs[index]), 1e-300)

    def rule(self) -> ExpectedSaving:
        """The rule that looks for a more preferred point."""
        return ExpectedSaving(self.preference, self.bar, self._seen.U[self.best or 0])

    def focused(self, belief: AnyBelief) -> AnyBelief:
        """The belief, its best points replaced by the cheapest ones that are likely to be good."""
        U = self._seen.U[self._seen.inside]
        cost = self.costs[self._seen.inside]
        likely = belief.probability_good(U) >= 0.5
        order = np.lexsort([cost, ~likely])[:BEST]
        best = np.unique(np.vstack([self._seen.U[[self.best or 0]], U[order]]), axis=0)
        return replace(belief, best=best)

    def outlook(self, belief: AnyBelief, seed: int, step: int, learned_from: list[int | None]) -> Outlook:
        """P(some point that costs at most `bar` is good), as hope is estimated."""
        rng, focused = default_rng([seed, step, 6]), self.focused(belief)
        points = self._cheap(focused, rng)
        if not len(points):
            return Outlook(0.0, 0.0)
        if isinstance(focused, JointBelief):
            return joint_outlook(focused, rng, learned_from=learned_from, points=points)
        return outlook(focused, rng, learned_from=learned_from[0], points=points)

    def _cheap(self, belief: AnyBelief, rng: Generator) -> Array:
        """Points that cost at most `bar` and may be evaluated, those of the largest expected savings first."""
        rule = self.rule()
        score = rule.score(belief)
        found = candidates(belief, rng).points if belief.points is None else belief.points
        if belief.points is None:
            with suppress(SpaceExhausted):  # all points of a product of few are known
                found = np.vstack([rule.propose(belief, rng)[None], found])
        found = found[~taken(found, belief.avoid, belief.domain)]
        found = found[self._saves(self.preference.costs(belief.domain.from_unit(found)))]
        return found[np.argsort(-score(found), kind="stable")]
