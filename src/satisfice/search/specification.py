"""`Specification`: what makes a setting good, one requirement or several."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

import numpy as np

from satisfice.certificates.eprocess import checked_range
from satisfice.checks import number, stated_noise
from satisfice.errors import BadInput
from satisfice.types import Noise

Sense = Literal[">=", "<="]
Statistic = Literal["mean", "rate"] | tuple[Literal["quantile"], float]
SENSES: dict[str, Sense] = {">=": ">=", "<=": "<=", "≥": ">=", "≤": "<="}
EXAMPLE = "such as '>= 80' or '<= 2'"
_TEXT = re.compile(r"(?P<name>.*?)\s*(?P<sense>[<>=≥≤!~]+)\s*(?P<threshold>.*)", re.DOTALL)


@dataclass(frozen=True)
class Requirement:
    """A requirement on one of the values that an evaluation returns.

    Parameters
    ----------
    name
        The name of the value.
    sense
        ">=" or "<=".
    threshold
        What the statistic of the value must reach (>=) or must not exceed (<=).
    noise
        As in `Search`, of this value.
    value_range
        The range (low, high) that this value cannot leave.
    statistic
        What must meet the threshold: the "mean" over repeats of a setting, the "rate" of passes among values that are 1 or 0,
        or `("quantile", q)`, the value below which a share q of the repeats lies. Of a rate and of a quantile only passes and
        fails count, so their certificates hold for any noise and need many repeats: for the quantile 0.9 about 50, for 0.95 about
        105, for 0.99 over 500, if all of them pass.
    deferred
        Whether the value is measured only where the other requirements pass, as that of an expensive second test.

    Raises
    ------
    BadInput
        If an argument cannot be used.

    Examples
    --------
    >>> print(Requirement("yield", ">=", 80, noise=1.5))
    yield >= 80
    >>> print(Requirement("latency", "<=", 200, statistic=("quantile", 0.99)))
    quantile 0.99 of latency <= 200
    """

    name: str
    sense: Sense
    threshold: float
    noise: Noise = None
    value_range: tuple[float, float] | None = None
    statistic: Statistic = "mean"
    deferred: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise BadInput(f"`name` of a requirement must be a text that is not empty; got {self.name!r:.80}.")
        if not isinstance(self.sense, str) or self.sense not in SENSES:
            raise BadInput(f"`sense` of the requirement {self.name!r} must be '>=' or '<='; got {self.sense!r:.80}.")
        checked = {
            "sense": SENSES[self.sense],
            "threshold": number(self.threshold, f"threshold` of the requirement `{self.name}"),
            "statistic": self._checked_statistic(),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        try:
            object.__setattr__(self, "noise", stated_noise(self.noise))
            object.__setattr__(self, "value_range", checked_range(self.value_range, self.threshold))
        except BadInput as problem:
            raise BadInput(f"requirement {self.name!r}: {problem}") from None
        if self.statistic != "mean" and (self.noise is not None or self.value_range is not None):
            raise BadInput(
                f"requirement {self.name!r}: `noise` and `value_range` must be left out for the statistic {self.statistic!r}, "
                "which counts passes and fails only."
            )
        if not isinstance(self.deferred, bool):
            raise BadInput(f"requirement {self.name!r}: `deferred` must be True or False; got {self.deferred!r:.80}.")
        if self.statistic == "rate" and not 0 < self.threshold < 1:
            raise BadInput(
                f"requirement {self.name!r}: the `threshold` of a rate must lie between 0 and 1; got {self.threshold:g}."
            )

    def _checked_statistic(self) -> Statistic:
        given: Any = self.statistic
        if isinstance(given, str) and given in ("mean", "rate"):
            return "rate" if given == "rate" else "mean"
        if isinstance(given, Sequence) and len(given) == 2 and given[0] == "quantile":
            q = number(given[1], "the q of ('quantile', q)")
            if 0 < q < 1:
                return "quantile", q
        raise BadInput(
            f"`statistic` of the requirement {self.name!r} must be 'mean', 'rate' or ('quantile', q) with q between 0 and 1; "
            f"got {given!r:.80}."
        )

    @classmethod
    def parse(cls, text: str, name: str | None = None) -> "Requirement":
        """Read a requirement such as "yield >= 80", or ">= 80" where the name is given.

        Strict comparisons are refused: noise and rounding make them no different, and it should be said what happens at the
        threshold.

        Parameters
        ----------
        text
            The requirement.
        name
            Its name, if the text does not contain it.

        Returns
        -------
        Requirement
            With the statistic "mean".

        Raises
        ------
        BadInput
            If the text is no requirement.
        """
        called = f"target[{name!r}]" if name is not None else "requirement"
        wanted = EXAMPLE if name is not None else "such as 'yield >= 80' or 'impurity <= 2'"
        found = _TEXT.fullmatch(text.strip())
        if found is None or (name is None) != bool(found["name"]):
            raise BadInput(f"`{called}` must be {wanted}; got {text!r:.80}.")
        if found["sense"] not in SENSES:
            hint = f" Write {found['sense']}= instead." if found["sense"] in ("<", ">") else ""
            raise BadInput(f"`{called}` must compare by >= or <=, {wanted}; got {text!r:.80}.{hint}")
        try:
            threshold = float(found["threshold"])
        except ValueError:
            raise BadInput(f"`{called}` must end in a number, {wanted}; got {text!r:.80}.") from None
        return cls(found["name"] if name is None else name, SENSES[found["sense"]], threshold)

    def __str__(self) -> str:
        what = f"rate of {self.name}" if self.statistic == "rate" else self.name
        if isinstance(self.statistic, tuple):
            what = f"quantile {self.statistic[1]:g} of {self.name}"
        return f"{what} {self.sense} {self.threshold:.6g}"

    @property
    def counts_passes(self) -> bool:
        """Whether only passes and fails count: of a rate, and of a quantile."""
        return self.statistic != "mean"

    @property
    def direction(self) -> str:
        """The direction in which the values that count become better; see `read`."""
        return "maximize" if self.sense == ">=" or isinstance(self.statistic, tuple) else "minimize"

    @property
    def target(self) -> float:
        """What the mean of the values that count must reach.

        P(value <= threshold) >= q for the quantile q to be at most the threshold, P(value >= threshold) >= 1 - q for it to be at
        least that.
        """
        if isinstance(self.statistic, tuple):
            return self.statistic[1] if self.sense == "<=" else 1 - self.statistic[1]
        return self.threshold

    @property
    def limits(self) -> tuple[float, float] | None:
        """The range of the values that count, if it is known."""
        return (0.0, 1.0) if self.counts_passes else self.value_range

    def reading(self, value: object) -> float:
        """The value that counts, of what an evaluation returned; BadInput if that cannot be used."""
        if isinstance(value, bool | np.bool_):
            value = float(value)  # a pass or a fail
        found = number(value, self.name)
        limits = self.value_range
        if limits is not None and not limits[0] <= found <= limits[1]:
            raise BadInput(f"`{self.name}` must lie within its range, {limits[0]:g} to {limits[1]:g}; got {found!r}.")
        if self.statistic == "rate" and found not in (0.0, 1.0):
            raise BadInput(
                f"`{self.name}` must be a pass or a fail, 1 or 0, since its rate is required; got {found!r}."
            )
        return self.read(found)

    def read(self, value: float) -> float:
        """The value that counts: of a quantile, 1 for a value that meets the threshold and 0 for another one."""
        if isinstance(self.statistic, tuple):
            return float(value <= self.threshold if self.sense == "<=" else value >= self.threshold)
        return value


@dataclass(frozen=True)
class Specification:
    """Several requirements; a setting is good if it meets all of them.

    Parameters
    ----------
    requirements
        The requirements, in the order in which they are shown.

    Raises
    ------
    BadInput
        If there is none, or two have the same name.
    """

    requirements: tuple[Requirement, ...]

    def __post_init__(self) -> None:
        names = [requirement.name for requirement in self.requirements]
        if not names:
            raise BadInput(f"`target` must have at least one requirement, {EXAMPLE}; got none.")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise BadInput(
                f"`target` must have one requirement for each value; got two for {twice!r}. For a value that must lie between "
                "two bounds, return it twice, under two names."
            )
        if all(requirement.deferred for requirement in self.requirements):
            raise BadInput(
                "`target` must have a requirement that is not deferred: only where it passes are the others measured."
            )

    @classmethod
    def of(cls, target: Any) -> "Specification":
        """Read requirements as a user writes them.

        Parameters
        ----------
        target
            A dict such as `{"yield": ">= 80", "impurity": "<= 2"}`, whose values may be `Requirement` objects; a `Requirement`,
            a text such as "yield >= 80", or a list of these.

        Returns
        -------
        Specification
            The requirements in their order.

        Raises
        ------
        BadInput
            If they cannot be used.

        Examples
        --------
        >>> print(Specification.of({"yield": ">= 80", "impurity": "<= 2"}))
        yield >= 80 and impurity <= 2
        """
        if isinstance(target, Specification):
            return target
        if isinstance(target, Mapping):
            return cls(tuple(_named(name, each) for name, each in target.items()))
        given = [target] if isinstance(target, str | Requirement) else target
        if (
            not isinstance(given, Sequence)
            or not all(isinstance(each, str | Requirement) for each in given)
            or (isinstance(target, str) and not _TEXT.fullmatch(target))
        ):
            raise BadInput(
                "`target` must be a finite number, or requirements such as {'yield': '>= 80', 'impurity': '<= 2'}; got "
                f"{target!r:.80} of type {type(target).__name__}."
            )
        return cls(tuple(each if isinstance(each, Requirement) else Requirement.parse(each) for each in given))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values, in their order."""
        return tuple(requirement.name for requirement in self.requirements)

    def readings(self, values: Any) -> dict[str, float]:
        """The values that count, by their names; those of deferred requirements may be missing, and others are left out.

        Raises
        ------
        BadInput
            If a value is missing or cannot be used; the message names it.
        """
        if not isinstance(values, Mapping):
            wanted = ", ".join(f"{name!r}: ..." for name in self.names)
            raise BadInput(f"`value` must be a dict of the required values, {{{wanted}}}; got {values!r:.80}.")
        missing = [each.name for each in self if not each.deferred and values.get(each.name) is None]
        if missing:
            got = ", ".join(map(repr, values)) or "nothing"
            raise BadInput(f"The value {missing[0]!r} is required, and was not returned; got {got:.200}.")
        return {each.name: each.reading(values[each.name]) for each in self if values.get(each.name) is not None}

    def to_data(self) -> list[dict[str, Any]]:
        """The requirements as lists, dicts, texts and numbers, for JSON."""
        return [asdict(requirement) for requirement in self.requirements]

    @classmethod
    def from_data(cls, data: Any) -> "Specification":
        """Read what `to_data` wrote, also after a JSON text."""
        known = {each.name for each in fields(Requirement)}
        try:
            return cls(tuple(Requirement(**{key: each[key] for key in known & set(each)}) for each in data))
        except (TypeError, KeyError) as problem:
            raise BadInput(f"`data` must be what `to_data` gives ({problem}); got {data!r:.80}.") from None

    def __len__(self) -> int:
        return len(self.requirements)

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.requirements)

    def __str__(self) -> str:
        return " and ".join(map(str, self.requirements))


Target = Specification | Requirement | str | Mapping[str, str | Requirement] | Sequence[str | Requirement]


def _named(name: Any, given: Any) -> Requirement:
    """The requirement of this name."""
    if isinstance(given, Requirement):
        if given.name != name:
            raise BadInput(f"`target[{name!r}]` must be a requirement of that name; got one named {given.name!r}.")
        return given
    if not isinstance(name, str):
        raise BadInput(f"`target` must name its requirements by texts; got {name!r:.80}.")
    if not isinstance(given, str):
        raise BadInput(f"`target[{name!r}]` must say in which direction, {EXAMPLE}; got {given!r:.80}.")
    return Requirement.parse(given, name)
