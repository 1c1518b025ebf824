"""`Answer`: what a search knows so far."""

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from satisfice.certify.eprocess import Certificate
from satisfice.types import Array

Verdict = Literal["good", "none", "open"]
MANY = 10_000  # a larger estimate of the evaluations needed says nothing
WORDS = {"good": "the target is met", "none": "no setting reaches the target", "open": "not decided yet"}


@dataclass(frozen=True, repr=False)
class Answer:
    """What a search knows so far.

    Each of the verdicts `good` and `none` is wrong with probability at most 1 - confidence (`none` as far as the model is right),
    both together with at most twice that.

    Parameters
    ----------
    verdict
        `good` (the value reaches the target), `none` (no point reaches it) or `open`.
    point
        The best point, in your units.
    value
        f at the point, not one lucky observation: the estimate of the model under noise.
    interval
        Where f lies at the point, with the search's confidence, by the model.
    probability
        The model's probability that the point is good.
    hope
        The model's probability that some point is good; below 1 - confidence the verdict is `none`.
    evaluations, failures
        How many evaluations gave a value, and how many failed.
    certificate
        Why the point is called good.
    repeats
        About how many more fresh evaluations of the point would certify it.
    needed
        About how many more evaluations are needed.
    notes
        Remarks about the data.
    confidence
        The confidence that was asked for.
    params
        The point by the names of its parameters, if they have names.
    proven
        Whether `none` needs no model: every point was evaluated without noise, and `hope` is 0.
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
    needed: int | None = None
    notes: tuple[str, ...] = ()
    confidence: float = 0.95
    params: dict[str, Any] | None = None
    proven: bool = False

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The answer in words, as (what, text)."""
        said = [("verdict", f"{self.verdict}: {WORDS[self.verdict]}")]
        if self.params is not None:
            said.append(("setting", ", ".join(f"{name} = {_short(value)}" for name, value in self.params.items())))
        elif self.point is not None:
            said.append(("setting", "[" + ", ".join(_short(coordinate) for coordinate in self.point) + "]"))
        if self.value is not None and self.interval is not None:
            low, high = self.interval
            sure = "" if low == high else f", between {_short(low)} and {_short(high)}"
            said.append(("value", _short(self.value) + sure))
        if self.certificate is not None:
            said.append(("certificate", str(self.certificate)))
        elif self.probability is not None and self.interval is not None and self.interval[0] < self.interval[1]:
            said.append(("good with probability", f"{self.probability:.2g}, by the model"))
        if self.hope is not None and self.verdict != "good" and not self.proven:
            said.append(("hope that some setting is good", f"{self.hope:.2g}, by the model"))
        if self.proven:
            said.append(("rests on", "every setting was evaluated, without noise"))
        elif self.verdict == "none":
            error = 2 * (1 - self.confidence)
            said.append(
                ("rests on", f"the model; `good` and `none` together are wrong with probability {error:.2g} at most")
            )
        spent = f"{self.evaluations}" + (f", and {self.failures} failed" if self.failures else "")
        if self.needed is not None and self.verdict == "open":
            few = self.needed <= MANY
            spent += f"; about {self.needed} more are needed" if few else f"; more than {MANY:,} more are needed"
            spent += f", {self.repeats} of them to confirm the setting" if few and self.repeats is not None else ""
        said.append(("evaluations", spent))
        return said + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        width = max(len(what) for what, _ in self.lines)
        return "\n".join(f"{what:<{width}}  {text}" for what, text in self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>" for what, text in self.lines)
        return f"<table>{rows}</table>"


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
