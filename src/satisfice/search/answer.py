"""`Answer`: what a search knows so far."""

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from satisfice.certificates.eprocess import Certificate
from satisfice.certificates.share import ShareBound
from satisfice.search.specification import Requirement
from satisfice.types import Array

Verdict = Literal["good", "none", "unlikely", "open"]
MANY = 10_000  # a larger number of repeats says only that they are too many
WORDS = {
    "good": "the target is met",
    "none": "no setting reaches the target",
    "unlikely": "given up, without a proof",
    "open": "not decided yet",
}
SEVERAL = {
    "good": "all requirements are met",
    "none": "no setting meets all requirements",
    "unlikely": "given up, without a proof",
    "open": "not decided yet",
}


@dataclass(frozen=True)
class RequirementAnswer:
    """What is known of one requirement at the setting of an answer.

    Parameters
    ----------
    requirement
        The requirement.
    value
        The value at the setting: the estimate of the model under noise, None if it was not measured.
    interval
        Where it lies, with the search's confidence, by the model.
    probability
        The model's probability that the requirement is met.
    certificate
        Why it is met, if the setting is certified.
    critical
        Whether it is the requirement with the least evidence, or without noise the smallest margin.
    hope
        The model's probability that some setting meets this requirement alone, where a search for several has given up.
    """

    requirement: Requirement
    value: float | None = None
    interval: tuple[float, float] | None = None
    probability: float | None = None
    certificate: Certificate | None = None
    critical: bool = False
    hope: float | None = None

    def __str__(self) -> str:
        said = f"required {self.requirement.sense} {self.requirement.threshold:.6g}"
        if self.value is None:
            return f"not measured; {said}"
        text = _short(self.value)
        if self.interval is not None and self.interval[0] < self.interval[1]:
            text += f", between {_short(self.interval[0])} and {_short(self.interval[1])}"
        statistic, sense = self.requirement.statistic, "at least" if self.requirement.sense == ">=" else "at most"
        if statistic == "rate":
            text = f"rate {text}"
        elif isinstance(statistic, tuple):
            text = f"share {text} of the values {sense} {self.requirement.threshold:.6g}"
            said = f"required >= {self.requirement.target:.6g}"
        text += f"; {said}"
        certificate = self.certificate
        if certificate is not None and certificate.repeats:
            bound = "at least" if self.requirement.direction == "maximize" else "at most"
            text += f"; certified {bound} {_short(certificate.bound)}"
        elif certificate is None and self.probability is not None:
            text += f"; met with probability {probability(self.probability)}, by the model"
        return text + ("; critical" if self.critical else "")


@dataclass(frozen=True)
class PreferenceAnswer:
    """What the certified settings cost, where some are preferred.

    Parameters
    ----------
    kind
        "cost", or "distance" to a centre.
    cost
        That of the most preferred certified setting.
    first
        That of the first one that was certified.
    certified
        How many settings are certified.
    hope
        The model's probability that some good setting saves at least 1 % (under noise 5 %) of what could be saved at all: of the
        difference from the lowest cost that any setting has.
    done
        Whether that is so small that the search ends.
    """

    kind: str
    cost: float
    first: float
    certified: int
    hope: float
    done: bool

    @property
    def saving(self) -> float:
        """How much less than the first certified setting the most preferred one costs."""
        return self.first - self.cost

    def __str__(self) -> str:
        text = f"{self.kind} {_short(self.cost)}"
        if self.certified > 1 and self.saving > 0:
            share = f" ({100 * self.saving / self.first:.0f} % less)" if self.cost >= 0 else ""
            text += f", the least of {self.certified} certified settings; the first one had {_short(self.first)}{share}"
        else:
            text += ", that of the first certified setting"
        return f"{text}. Hope of a more preferred one: {probability(self.hope)}, by the model"


@dataclass(frozen=True, repr=False)
class Answer:
    """What a search knows so far.

    A search that has lost hope draws settings at random. What they say of the share of good settings holds whatever the function
    is. It ends as `unlikely` if the model had predicted them well.

    Parameters
    ----------
    verdict
        `good` (the value reaches the target), `none` (no point reaches it, by proof), `unlikely` (given up) or `open`.
    point
        The best point, in your units.
    value
        f at the point, not one lucky observation: the estimate of the model under noise.
    interval
        Where f lies at the point, with the search's confidence, by the model.
    probability
        The model's probability that the point is good.
    hope
        The model's probability that some point is good.
    evaluations, failures
        How many evaluations gave a value, and how many failed.
    certificate
        Why the point is called good.
    repeats
        About how many more fresh evaluations of the point would certify it, if it is as good as estimated.
    notes
        Remarks about the data.
    confidence
        The confidence that was asked for.
    params
        The point by the names of its parameters, if they have names.
    proven
        Whether every point was evaluated without noise; `none` without that rests on the confidence bounds of a stated kernel.
    basis
        What a verdict `none`, or one `unlikely` without draws, rests on.
    share
        What settings drawn at random say of the share of good ones; None before there are any.
    requirements
        Each requirement at the point, where the target has several; `value` and `interval` are then None, and `certificate` is
        that of the critical one.
    conflicts
        Which requirements cannot be met together, in words, where a search for several found no setting.
    preference
        What the certified settings cost, if some are preferred and one is certified; `point` is then the most preferred one.
    """

    verdict: Verdict
    point: Array | None = None
    value: float | None = None
    interval: tuple[float, float] | None = None
    probability: float | None = None
    hope: float | None = None
    evaluations: int = 0
    failures: int = 0
    certificate: Certificate | None = None
    repeats: int | None = None
    notes: tuple[str, ...] = ()
    confidence: float = 0.95
    params: dict[str, Any] | None = None
    proven: bool = False
    basis: str = ""
    share: ShareBound | None = None  # what settings drawn at random say of the share of good ones
    requirements: tuple[RequirementAnswer, ...] = ()
    conflicts: tuple[str, ...] = ()
    preference: PreferenceAnswer | None = None

    @property
    def done(self) -> bool:
        """Whether the search is over: the verdict is in, and no more preferred setting is hoped for."""
        return self.verdict != "open" and (self.preference is None or self.preference.done)

    @property
    def needed(self) -> int | None:
        """The same as `repeats`. Version 0.1.0 guessed here how many evaluations are to come in all, and was mostly wrong."""
        return self.repeats

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The answer in words, as (what, text)."""
        words = SEVERAL if len(self.requirements) > 1 else WORDS
        said = [("verdict", f"{self.verdict}: {words[self.verdict]}")]
        if self.params is not None:
            said.append(("setting", ", ".join(f"{name} = {_short(value)}" for name, value in self.params.items())))
        elif self.point is not None:
            said.append(("setting", "[" + ", ".join(_short(coordinate) for coordinate in self.point) + "]"))
        if self.value is not None and self.interval is not None:
            low, high = self.interval
            sure = "" if low == high else f", between {_short(low)} and {_short(high)}"
            said.append(("value", _short(self.value) + sure))
        if len(self.requirements) > 1:
            said += [(each.requirement.name, str(each)) for each in self.requirements]
        if self.certificate is not None:
            said += [("certificate", each) for each in self._guarantees]
        if self.preference is not None:
            said.append(("preference", str(self.preference)))
        elif self.certificate is None and self.probability is not None and self._uncertain:
            said.append(("good with probability", f"{probability(self.probability)}, by the model"))
        if (
            self.hope is not None
            and self.verdict in ("open", "unlikely")
            and (self.share is not None or not self.basis)
        ):
            judged = "by the model" + (
                ", which predicted random settings well"
                if self.verdict == "unlikely" and self.share is not None
                else ""
            )
            said.append(("hope that some setting is good", f"{probability(self.hope)}, {judged}"))
        if self.share is not None:
            said.append(("share of good settings", str(self.share)))
        if self.basis:
            said.append(("rests on", self.basis))
        said += [("conflict", each) for each in self.conflicts]
        spent = f"{self.evaluations}" + (f", and {self.failures} failed" if self.failures else "")
        if self.repeats is not None and self.verdict == "open":
            count = f"about {self.repeats}" if self.repeats <= MANY else f"more than {MANY:,}"
            spent += f"; if this setting is as good as estimated, {count} more of it would certify it"
        said.append(("evaluations", spent))
        return said + [("note", note) for note in self.notes]

    @property
    def _guarantees(self) -> list[str]:
        """What the certificate rests on; where that differs between the requirements, for each of them."""
        found = [(each.requirement.name, str(each.certificate)) for each in self.requirements if each.certificate]
        if len({text for _, text in found}) < 2:
            return [str(self.certificate)]
        return [f"{name}: {text}" for name, text in found]

    @property
    def _uncertain(self) -> bool:
        """Whether the value, or one of the values, is an estimate."""
        found = [self.interval, *(each.interval for each in self.requirements)]
        return any(each is not None and each[0] < each[1] for each in found)

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self.lines)
        return "\n".join(f"{what:<{width}}  {text}" for what, text in self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>" for what, text in self.lines)
        return f"<table>{rows}</table>"


def probability(p: float) -> str:
    """A probability as a percentage that never reads as certain when it is not."""
    if 0 <= p < 0.001:
        return "below 0.1 %"
    if 0.999 < p < 1:
        return "above 99.9 %"
    return f"{100 * p:.3g} %"


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
