"""The rules: each turns a belief into one point. `RULES` is the only list of them."""

from typing import Protocol, runtime_checkable

from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.rules.analytic import ExpectedExcess, ExpectedImprovement, ProbabilityGood, ProbabilityImprovement
from satisfice.rules.aspiration import Aspiration
from satisfice.rules.baselines import ExploreThenCommit, Random, Sobol
from satisfice.rules.elimination import Elimination, GoodElimination
from satisfice.rules.goodarms import AnytimeThresholding, DilemmaOfConfidence, UpperBoundGoodArm
from satisfice.rules.knownoptimum import ConfidenceBoundMinimisation, ExpectedRegret
from satisfice.rules.levelset import LevelSetEstimation, Straddle, TruncatedVariance
from satisfice.rules.lookahead import GoodActionSearch, JointGoodActionSearch, Lookahead, MaxValueEntropy
from satisfice.rules.requirements import Requirements
from satisfice.rules.thompson import FirstSatisficingThompson, SatisficingThompson, ThompsonSampling
from satisfice.rules.ucb import DoubledConfidence, IntersectedConfidence, UpperConfidence
from satisfice.types import Array


class Rule(Protocol):
    """A frozen value that proposes the next point to evaluate; `requirements`, if it has them, say what it needs."""

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """One point (d,) of the unit cube, on the domain's lattice."""


@runtime_checkable
class RememberingRule(Protocol):
    """A rule that folds what it must know of the past into `belief.memory`, at every tell and never at ask."""

    def remember(self, belief: Belief) -> object:
        """The new memory, from the belief after the newest value with the old memory in it."""


@runtime_checkable
class ConcludingRule(Protocol):
    """A rule that can tell that no action is good."""

    def nothing_left(self, memory: object) -> bool:
        """Whether every point has been ruled out."""


RULES: dict[str, type[Rule]] = {
    "aspire": Aspiration,
    "pg": ProbabilityGood,
    "eg": ExpectedExcess,
    "gs": GoodActionSearch,
    "gs-joint": JointGoodActionSearch,
    "lookahead": Lookahead,
    "sts": SatisficingThompson,
    "sts-first": FirstSatisficingThompson,
    "pi": ProbabilityImprovement,
    "ei": ExpectedImprovement,
    "ucb": UpperConfidence,
    "ucb-intersected": IntersectedConfidence,
    "ucb-doubled": DoubledConfidence,
    "ts": ThompsonSampling,
    "mes": MaxValueEntropy,
    "elimination": Elimination,
    "good-elimination": GoodElimination,
    "etc": ExploreThenCommit,
    "straddle": Straddle,
    "lse": LevelSetEstimation,
    "truvar": TruncatedVariance,
    "erm": ExpectedRegret,
    "cbm": ConfidenceBoundMinimisation,
    "hdoc": DilemmaOfConfidence,
    "lucb-g": UpperBoundGoodArm,
    "apt": AnytimeThresholding,
    "random": Random,
    "sobol": Sobol,
}


def requirements_of(rule: Rule) -> Requirements:
    """What a rule asks of domain and model."""
    return getattr(rule, "requirements", Requirements())
