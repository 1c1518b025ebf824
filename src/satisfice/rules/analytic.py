"""Rules that score a point by the marginal law of f there: pg, eg, pi, ei."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.joint import AnyBelief
from satisfice.acquisition.optimise import maximise
from satisfice.acquisition.scores import excess_score, probability_score
from satisfice.types import Array


@dataclass(frozen=True)
class ProbabilityGood:
    """PG: evaluate the point that is most likely to reach the target (paper, eq. pg_acq); of several requirements, all."""

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= target)."""
        return maximise(probability_score(belief, belief.target), belief, rng)


@dataclass(frozen=True)
class ExpectedExcess:
    """EG: evaluate the point that is expected to exceed the target the most (paper, eq. eg_acq).

    Of several requirements, the expected product of the excesses is maximised.
    """

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """The maximiser of E[max(0, f(x) - target)]."""
        return maximise(excess_score(belief, belief.target), belief, rng)


@dataclass(frozen=True)
class ProbabilityImprovement:
    """PI: evaluate the point that is most likely to reach the best value so far (Kushner 1964)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of P(f(x) >= incumbent)."""
        return maximise(probability_score(belief, belief.incumbent), belief, rng)


@dataclass(frozen=True)
class ExpectedImprovement:
    """EI: evaluate the point that is expected to improve the most on the best value so far (Mockus 1978)."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The maximiser of E[max(0, f(x) - incumbent)]."""
        return maximise(excess_score(belief, belief.incumbent), belief, rng)
