"""`SearchConfig`: what a search looks for and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from satisfice.certificates.eprocess import checked_range
from satisfice.checks import checked_direction, number, sign_of, stated_noise, whole
from satisfice.errors import BadInput
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.search.specification import Requirement, Specification, Target
from satisfice.types import Noise


@dataclass(frozen=True)
class SearchConfig:
    """The arguments of a search, checked.

    Parameters
    ----------
    target
        The value to reach, or requirements: a `Specification`, or what `Specification.of` takes.
    direction
        "maximize" or "minimize". Requirements have directions, noises and ranges of their own.
    noise
        0, a standard deviation, "learn", or None if it is not known whether there is noise.
    confidence
        The probability that a verdict is right.
    value_range
        The range (low, high) that no value can leave; it turns `noise=None` into "learn".
    rule
        The name of a rule or a rule.
    model
        The name of a model or a model.
    seed
        The seed of all random numbers.
    confirm
        Whether the search replicates promising points under noise; otherwise the rule makes every proposal.
    give_up
        Whether a search that has lost hope draws settings at random, and ends as `unlikely`.

    Raises
    ------
    BadInput
        If a value cannot be used.
    """

    target: float | Target
    direction: str = "maximize"
    noise: Noise = None
    confidence: float = 0.95
    value_range: tuple[float, float] | None = None
    rule: str | Rule = "auto"
    model: str | Model = "auto"
    seed: int = 0
    confirm: bool = field(default=True, kw_only=True)
    give_up: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if not 0 < number(self.confidence, "confidence") < 1:
            raise BadInput(f"`confidence` must be a number between 0 and 1, such as 0.95; got {self.confidence!r}.")
        if isinstance(self.target, Specification | Requirement | Mapping | str | list | tuple):
            object.__setattr__(self, "target", self._checked_specification(self.target))
            object.__setattr__(self, "seed", whole(self.seed, "seed", least=0))
            object.__setattr__(self, "confidence", float(self.confidence))
            return
        target = number(self.target, "target")
        stated = stated_noise(self.noise)
        checked = {
            "target": target,
            "direction": checked_direction(self.direction),
            "noise": "learn" if stated is None and self.value_range is not None else stated,
            "confidence": float(self.confidence),
            "value_range": checked_range(self.value_range, target),
            "seed": whole(self.seed, "seed", least=0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.limits is not None and self.limits[1] == self.goal and self.noise != 0:
            raise BadInput(
                f"`target` must lie inside `value_range` under noise; got {target:g}, the best end of value_range. No number of "
                "values shows that the mean is not slightly below it: choose a target short of it, or pass noise=0 if there is "
                "no noise."
            )

    def _checked_specification(self, target: object) -> Specification:
        """The requirements, each of which can be searched for."""
        specification = Specification.of(target)
        for name, usual in (("direction", "maximize"), ("noise", None), ("value_range", None)):
            if getattr(self, name) != usual:
                raise BadInput(
                    f"`{name}` must be left out where `target` has requirements, each of which has its own: write "
                    f"Requirement('yield', '>=', 80, noise=1.5); got {getattr(self, name)!r}."
                )
        for requirement in specification:
            self.alone(requirement)
        return specification

    @property
    def specification(self) -> Specification | None:
        """The requirements, None for a number."""
        return self.target if isinstance(self.target, Specification) else None

    @property
    def threshold(self) -> float:
        """The target, where it is a number."""
        if isinstance(self.target, float):
            return self.target
        raise BadInput(f"`target` must be a number here; got the requirements {self.target}.")

    def alone(self, requirement: Requirement) -> "SearchConfig":
        """The config of a search for one requirement alone."""
        try:
            return SearchConfig(
                target=requirement.target,
                direction=requirement.direction,
                noise=requirement.noise,
                confidence=self.confidence,
                value_range=requirement.limits,
                rule=self.rule,
                model=self.model,
                seed=self.seed,
                confirm=self.confirm,
                give_up=self.give_up,
            )
        except BadInput as problem:
            raise BadInput(f"requirement {requirement.name!r}: {problem}") from None

    @property
    def sign(self) -> float:
        """What values are multiplied by so that larger ones are better."""
        return sign_of(self.direction)

    @property
    def goal(self) -> float:
        """The target of values to be maximised; with several requirements, of the smallest margin."""
        return self.sign * self.target if isinstance(self.target, float) else 0.0

    @property
    def limits(self) -> tuple[float, float] | None:
        """The range (low, high) of values to be maximised."""
        if self.value_range is None:
            return None
        low, high = sorted(self.sign * end for end in self.value_range)
        return low, high

    @property
    def error_rate(self) -> float:
        """The probability with which a verdict may be wrong."""
        return 1 - self.confidence
