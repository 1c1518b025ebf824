"""The rules: each turns a belief into one point. `RULES` is the only list of them."""

from typing import Protocol

from numpy.random import Generator

from satisfice.belief import Belief
from satisfice.rules.explore import Random, Sobol
from satisfice.rules.marginal import (
    ExpectedExcess,
    ExpectedImprovement,
    ProbabilityGood,
    ProbabilityImprovement,
    UpperConfidence,
)
from satisfice.types import Array


class Rule(Protocol):
    """A frozen value that proposes the next point to evaluate."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """One point (d,) of the unit cube, on the domain's lattice."""


RULES: dict[str, type[Rule]] = {
    "pg": ProbabilityGood,
    "eg": ExpectedExcess,
    "pi": ProbabilityImprovement,
    "ei": ExpectedImprovement,
    "ucb": UpperConfidence,
    "random": Random,
    "sobol": Sobol,
}
