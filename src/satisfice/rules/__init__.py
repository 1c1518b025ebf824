"""Rules: each turns a belief into one point. `RULES` lists them by name."""

from typing import Protocol, runtime_checkable

from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.rules.analytic import ExpectedExcess, ExpectedImprovement, ProbabilityGood, ProbabilityImprovement
from satisfice.rules.aspiration import Aspiration
from satisfice.rules.baselines import ExploreThenCommit, Random, Sobol
from satisfice.rules.elimination import Elimination, GoodElimination
from satisfice.rules.entropy import MaxValueEntropy
from satisfice.rules.goodarms import AnytimeThresholding, DilemmaOfConfidence, UpperBoundGoodArm
from satisfice.rules.knownoptimum import ConfidenceBoundMinimisation, ExpectedRegret
from satisfice.rules.levelset import LevelSetEstimation, Straddle, TruncatedVariance
from satisfice.rules.lookahead import GoodActionSearch, JointGoodActionSearch, Lookahead
from satisfice.rules.requirements import Requirements
from satisfice.rules.thompson import FirstSatisficingThompson, SatisficingThompson, ThompsonSampling
from satisfice.rules.ucb import DoubledConfidence, IntersectedConfidence, UpperConfidence
from satisfice.types import Array


class Rule(Protocol):
    """Proposes the next point to evaluate; frozen. Its `requirements`, if any, say what it needs.

    A rule whose attribute `joint` is True takes a `JointBelief` as well, that of several requirements.
    """

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """A point (d,) of the unit cube that the domain has."""


@runtime_checkable
class RememberingRule(Protocol):
    """A rule that summarises the past in `belief.memory`, at every tell and never at ask."""

    def remember(self, belief: Belief) -> object:
        """The new memory, given the belief after the newest value, which contains the old memory."""


@runtime_checkable
class ConcludingRule(Protocol):
    """A rule that can conclude that no action is good."""

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


JOINT = tuple(
    sorted(name for name, rule in RULES.items() if getattr(rule, "joint", False))
)  # take several requirements


def requirements_of(rule: Rule) -> Requirements:
    """What a rule needs of the domain and the model.

    Parameters
    ----------
    rule
        Any rule.

    Returns
    -------
    Requirements
        Its `requirements`, or none.
    """
    return getattr(rule, "requirements", Requirements())
