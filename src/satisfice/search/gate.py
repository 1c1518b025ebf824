"""`Gate`: the values of one given setting, and what they say of a specification. No model, no storage.

A setting is good if it meets all requirements. The gate opens once the evidence of every requirement has passed log(1 / delta):
if one of them is missed, its own evidence does so with probability delta at most, so nothing is divided (intersection-union).
It closes as soon as one requirement is shown to be missed; any of the R could be the wrong one, so each needs log(R / delta).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from satisfice.search.gate_answer import CertifiedRequirement, CertifyAnswer, GateVerdict
from satisfice.search.gate_judge import Judge
from satisfice.search.specification import Specification

SAME = 20  # identical values, after which a gate stops: they do not vary from run to run


class Gate:
    """Judge one setting by its values.

    Parameters
    ----------
    specification
        What makes the setting good.
    confidence
        The probability that a verdict is right.
    gaussian
        Whether the noise is stated to be Gaussian, of unknown standard deviation, where a requirement states nothing else.
    differences
        Whether the values are differences of pairs.

    Examples
    --------
    >>> from satisfice.search.specification import Requirement
    >>> gate = Gate(Specification.of({"yield": Requirement("yield", ">=", 80, noise=1.0)}))
    >>> for value in (82.1, 83.0, 81.6, 82.4):
    ...     gate.tell({"yield": value})
    >>> gate.verdict
    'good'
    """

    def __init__(
        self,
        specification: Specification,
        *,
        confidence: float = 0.95,
        gaussian: bool = False,
        differences: bool = False,
    ) -> None:
        self.specification, self.confidence = specification, confidence
        error = 1 - confidence
        self.bars = float(-np.log(error)), float(np.log(len(specification) / error))
        self._sides = [Judge(each, self.bars, gaussian, differences) for each in specification]
        self.evaluations = self.failures = 0
        self.errors: list[str] = []
        self.late = 0  # runs that were told after the verdict
        self.verdict: GateVerdict = "open"

    @property
    def counts_failures(self) -> bool:
        """Whether a failed run counts as a fail: where all requirements are about passes."""
        return all(each.counts_passes for each in self.specification)

    @property
    def ended(self) -> str | None:
        """Why no further run would help, None if one may."""
        if self.verdict != "open":
            return "decided"
        same = [each for each in self._sides if each.identical >= SAME]
        return "the values do not vary" if same else None

    def tell(self, values: Mapping[str, float]) -> None:
        """Take the values of the next run, by the names of the requirements; the order is that in which runs began.

        What is told after the verdict does not count: it was begun before, and cannot undo it.
        """
        if self.verdict != "open":
            self.late += 1
            return
        self.evaluations += 1
        for each in self._sides:
            each.add(float(values[each.requirement.name]))
        self._judge()

    def fail(self, error: str) -> None:
        """Take a run that failed: a fail for a rate or a quantile, no value for a mean."""
        if self.verdict != "open":
            self.late += 1
            return
        self.failures += 1
        self.errors.append(error)
        for each in self._sides:
            each.fail()
        self._judge()

    def _judge(self) -> None:
        if any(each.verdict == "bad" for each in self._sides):
            self.verdict = "bad"
        elif all(each.verdict == "good" for each in self._sides):
            self.verdict = "good"

    def answer(self, *, study: Any = None, notes: tuple[str, ...] = (), brief: bool = False) -> CertifyAnswer:
        """What is known now; if `brief`, without the intervals and the evidence over time, which take a while."""
        parts = tuple(each.answer(brief) for each in self._sides)
        return CertifyAnswer(
            self.verdict, parts, self.evaluations, self.failures, self._needed(parts), self.confidence,
            (*self._notes(), *notes), study,
        )  # fmt: skip

    def _needed(self, parts: tuple[CertifiedRequirement, ...]) -> int | None:
        """The requirement that is missed soonest if one looks missed, else the one that is met last."""
        still = [each for each in parts if each.verdict == "open"]
        if self.verdict != "open" or not still or any(each.needed is None for each in still):
            return None
        missed = [each.needed or 0 for each in still if each.looks_missed]
        return min(missed) if missed else max(each.needed or 0 for each in still)

    def _notes(self) -> list[str]:
        notes = []
        if self.failures:
            why = f"most often by: {max(self.errors, key=self.errors.count)}"
            if self.counts_failures:
                notes.append(f"runs that failed count as fails: {self.failures}, {why}")
            else:
                share = f"{self.failures} of {self.failures + self.evaluations} runs"
                notes.append(f"the answer is about runs that give a value: {share} failed, {why}")
        for each in self._sides:
            notes += each.notes()
        if self.late:
            notes.append(f"runs that ended after the verdict, and do not count: {self.late}")
        return notes
