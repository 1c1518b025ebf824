"""`CertifyAnswer`: whether one given setting is good."""

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from satisfice.search.answer import MANY
from satisfice.search.specification import Requirement

GateVerdict = Literal["good", "bad", "open"]
GATE_WORDS = {"good": "the target is met", "bad": "the target is missed", "open": "not decided yet"}


@dataclass(frozen=True)
class Evidence:
    """The evidence after a number of values: its logarithms, and the bars that they must reach.

    Parameters
    ----------
    values
        The number of values.
    good, bad
        For the target being met, and for its being missed.
    """

    values: int
    good: float
    bad: float


@dataclass(frozen=True)
class CertifiedRequirement:
    """What is known of one requirement.

    Parameters
    ----------
    requirement
        The requirement.
    verdict
        `good`, `bad` or `open`.
    value
        The estimate: the mean, the share of passes, or the sample quantile.
    interval
        Where it lies. Each end is right with the confidence of the answer, whenever one looks.
    passed
        How many values passed, where only that counts.
    values
        How many values there are.
    guarantee
        What the verdict rests on.
    evidence
        The evidence over time.
    bars
        What the logarithms of the evidence must reach for `good` and for `bad`.
    needed
        About how many more values are needed; None if nobody knows.
    looks_missed
        Whether the estimate lies on the bad side.
    """

    requirement: Requirement
    verdict: GateVerdict
    value: float | None
    interval: tuple[float, float] | None
    passed: int | None
    values: int
    guarantee: str
    evidence: tuple[Evidence, ...] = field(repr=False)
    bars: tuple[float, float]
    needed: int | None
    looks_missed: bool = False

    def __str__(self) -> str:
        if self.value is None:
            return "no value yet"
        counted = f", {self.passed} of {self.values} passed" if self.passed is not None else ""
        ends = self.interval or (-math.inf, math.inf)
        low, high = (None if math.isinf(end) else f"{end:.6g}" for end in ends)
        if low is not None and low == high:
            return f"{self.value:.6g}{counted}"
        said = [f"at least {low}"] * (low is not None) + [f"at most {high}"] * (high is not None)
        return f"{self.value:.6g}{counted}" + (f"; {' and '.join(said)}" if said else "")


@dataclass(frozen=True, repr=False)
class CertifyAnswer:
    """Whether one given setting is good.

    Parameters
    ----------
    verdict
        `good` (the target is met), `bad` (it is missed) or `open` (not decided yet). `good` and `bad` are each wrong with
        probability at most 1 - confidence, whenever one looks and stops, under the conditions that the certificate names.
    requirements
        What is known of each requirement.
    evaluations, failures
        How many runs gave a value, and how many failed.
    needed
        About how many more runs are needed; None if nobody knows.
    confidence
        The confidence that was asked for.
    notes
        Remarks about the data.
    study
        The study that holds the runs, if there is one.
    """

    verdict: GateVerdict
    requirements: tuple[CertifiedRequirement, ...]
    evaluations: int
    failures: int
    needed: int | None
    confidence: float
    notes: tuple[str, ...] = ()
    study: Any = field(default=None, compare=False)

    @property
    def done(self) -> bool:
        """Whether nothing more is to be found out."""
        return self.verdict != "open"

    @property
    def value(self) -> float | None:
        """The estimate; of the first requirement if there are several."""
        return self.requirements[0].value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where it lies, as in `CertifiedRequirement`; of the first requirement if there are several."""
        return self.requirements[0].interval

    @property
    def certificate(self) -> str | None:
        """What a verdict rests on, in words; None as long as there is none."""
        if self.verdict == "open":
            return None
        told = [each for each in self.requirements if self.verdict == "good" or each.verdict == "bad"]
        words = "; ".join(dict.fromkeys(each.guarantee for each in told))
        count = told[0].values
        runs = f"{count} {'run' if count == 1 else 'runs'}"
        return words if told[0].bars[0] == 0 else f"confidence {self.confidence:g} by {runs}; {words}"

    @property
    def _spent(self) -> str:
        failed = f", {self.failures} of them failed" if self.failures else ""
        return f"{self.evaluations + self.failures}{failed}"

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The answer in words, as (what, text)."""
        said = [("verdict", f"{self.verdict}: {GATE_WORDS[self.verdict]}")]
        if len(self.requirements) == 1:
            only = self.requirements[0]
            said += [("target", str(only.requirement)), ("value", str(only))]
        else:
            said += [(str(each.requirement), f"{each.verdict}; {each}") for each in self.requirements]
        if self.certificate is not None:
            said.append(("certificate", self.certificate))
        spent = self._spent
        if self.verdict == "open" and self.needed is not None:
            few = self.needed <= MANY
            spent += f"; about {self.needed} more are needed" if few else f"; more than {MANY:,} more are needed"
        said.append(("runs", spent))
        return said + [("note", note) for note in self.notes]

    @property
    def summary(self) -> str:
        """The answer in one line, for a log."""
        parts = [f"{each.requirement} ({each})" for each in self.requirements]
        return f"{self.verdict}: {'; '.join(parts)}; runs: {self._spent}; confidence {self.confidence:g}"

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self.lines)
        return "\n".join(f"{what:<{width}}  {text}" for what, text in self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>" for what, text in self.lines)
        return f"<table>{rows}</table>"
