"""`GateConfig`: what a gate asks; read from the arguments of `certify`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from satisfice.checks import checked_direction, number, stated_noise
from satisfice.errors import BadInput
from satisfice.search.gate import Gate
from satisfice.search.specification import Requirement, Specification
from satisfice.types import Noise

VALUE, DIFFERENCE = "value", "difference"  # the names of a single requirement
GAUSSIAN = "gaussian"


@dataclass(frozen=True)
class GateConfig:
    """What a gate asks, and how it runs.

    Parameters
    ----------
    specification
        What makes the setting good; of a comparison the requirement on the difference.
    confidence
        The probability that a verdict is right.
    gaussian
        Whether the noise is stated to be Gaussian.
    paired
        Whether each run is one of a pair.
    budget
        The largest number of runs.
    seed
        The seed that the seeds of the runs follow from.
    """

    specification: Specification
    confidence: float = 0.95
    gaussian: bool = False
    paired: bool = False
    budget: int = 1000
    seed: int = 0

    def gate(self) -> Gate:
        """A gate without values."""
        return Gate(self.specification, confidence=self.confidence, gaussian=self.gaussian, differences=self.paired)

    @property
    def target(self) -> str:
        """What is asked, in words."""
        return str(self.specification)

    @property
    def value_range(self) -> None:
        """The range of all values: each requirement has its own."""
        return None

    def to_json(self) -> str:
        """Write the config as a JSON text."""
        return json.dumps({**asdict(self), "specification": self.specification.to_data()})

    @classmethod
    def from_json(cls, text: str) -> "GateConfig":
        """Read what `to_json` wrote."""
        try:
            found = json.loads(text)
            return cls(**{**found, "specification": Specification.from_data(found["specification"])})
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"`text` must be what `to_json` gives ({problem}); got {text!r:.80}.") from None


def gate_config(
    target: Any,
    *,
    direction: str | None = None,
    rate: bool = False,
    quantile: float | None = None,
    paired: bool = False,
    margin: float = 0.0,
    noise: Noise | Literal["gaussian"] = None,
    value_range: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> GateConfig:
    """What the arguments of `certify` ask for.

    Returns
    -------
    GateConfig
        With the default budget and seed.

    Raises
    ------
    BadInput
        If an argument cannot be used.
    """
    if not 0.5 <= number(confidence, "confidence") < 1:
        raise BadInput(f"`confidence` must lie between 0.5 and 1; got {confidence!r}.")
    if direction is not None:
        checked_direction(direction)
    gaussian = isinstance(noise, str) and noise == GAUSSIAN
    if isinstance(noise, str) and noise not in ("learn", GAUSSIAN):
        raise BadInput(f"`noise` must be a standard deviation, 'gaussian', 'learn' or None; got {noise!r:.80}.")
    sd: Noise = None if gaussian else stated_noise(noise)
    if rate and quantile is not None:
        raise BadInput("`rate` and `quantile` must not be given together.")
    if paired:
        if target is not None:
            raise BadInput(f"`target` must be left out with `against`: the difference is judged; got {target!r:.80}.")
        if quantile is not None:
            raise BadInput("`quantile` must be left out with `against`: means are compared.")
        if number(margin, "margin") < 0:
            raise BadInput(f"`margin` must be 0 or more: how much worse is still good; got {margin!r}.")
        small = direction == "minimize"
        ends = (0.0, 1.0) if rate else value_range
        width = None if ends is None else _range(ends)[1] - _range(ends)[0]
        limits = None if width is None else (-width, width)
        needed = float(margin) if small else 0.0 - margin
        requirements = [Requirement(DIFFERENCE, "<=" if small else ">=", needed, sd, limits)]
        return GateConfig(Specification(tuple(requirements)), confidence, gaussian, True)
    if margin != 0:
        raise BadInput(f"`margin` must be left out without `against`; got {margin!r}.")
    statistic: Any = "rate" if rate else "mean" if quantile is None else ("quantile", quantile)
    specification = _specification(target, direction)
    if specification is not None:
        extra = {"rate": rate, "quantile": quantile, "noise": sd, "value_range": value_range}
        given = next((key for key, value in extra.items() if value is not None and value is not False), None)
        if given is not None:
            raise BadInput(
                f"`{given}` must be stated for each requirement of a specification, as in `Requirement('accuracy', '>=', 0.9, "
                "value_range=(0, 1))`."
            )
        if any(each.deferred for each in specification):
            raise BadInput("`deferred` must be left out: each run of the setting must measure everything.")
        return GateConfig(specification, confidence, gaussian)
    if isinstance(target, str):
        sense, needed = (read := Requirement.parse(target, VALUE)).sense, read.threshold
        if direction is not None and (direction == "minimize") != (sense == "<="):
            raise BadInput(f"`direction` must fit the target {target!r}, or be left out; got {direction!r}.")
    else:
        sense = "<=" if direction == "minimize" else ">="
        needed = number(target, "target", ", a text such as '>= 0.95', or a specification")
    if gaussian and (value_range is not None or statistic != "mean"):
        raise BadInput(
            "`noise` must not be 'gaussian' beside `value_range`, `rate` or `quantile`, which need no such assumption."
        )
    return GateConfig(
        Specification((Requirement(VALUE, sense, needed, sd, value_range, statistic),)), confidence, gaussian
    )


def _specification(target: Any, direction: str | None) -> Specification | None:
    """The specification that the target is; None for a number, or a text without a name."""
    if isinstance(target, str):
        if target.strip()[:1] in "<>=≥≤!~":
            return None
    elif not isinstance(target, Specification | Requirement | Mapping | list | tuple):
        return None
    if direction is not None:
        raise BadInput(f"`direction` must be left out: each requirement says which values are good; got {direction!r}.")
    return Specification.of(target)


def _range(value_range: Any) -> tuple[float, float]:
    """The range as floats; `checked_range` says what is wrong with others."""
    return Requirement(VALUE, ">=", float(np.mean(value_range)), value_range=value_range).value_range or (0.0, 0.0)
