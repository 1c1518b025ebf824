"""`Answer`: what a search knows."""

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from satisfice.certify.eprocess import Certificate
from satisfice.certify.share import ShareBound
from satisfice.types import Array

Verdict = Literal["good", "none", "unlikely", "open"]
MANY = 10_000  # evaluations, beyond which a number says nothing any more
WORDS = {
    "good": "the target is met",
    "none": "no setting reaches the target",
    "unlikely": "given up, without a proof",
    "open": "not decided yet",
}


@dataclass(frozen=True, repr=False)
class Answer:
    """What a search knows now. `value`, `interval` and `probability` speak of f at `point`, not of a lucky draw.

    `verdict` is `good` (the value reaches the target), `none` (no point reaches it, by proof), `unlikely` (given up) or `open`;
    `interval` holds f with the search's confidence and `probability` is that of the point being good, both by the model;
    `certificate` says why a point is called good. `hope` is the model's probability that some point is good. A search that has
    lost hope draws settings at random; `share` is what they say of the share of good settings, whatever the function. It ends
    as `unlikely` when the model had predicted them well. `proven` says that every point was evaluated without noise; `none`
    without that rests on the confidence bounds of a kernel that was stated.
    """

    verdict: Verdict
    point: Array | None = None  # in the user's units
    value: float | None = None
    interval: tuple[float, float] | None = None
    probability: float | None = None
    hope: float | None = None
    evaluations: int = 0
    failures: int = 0
    certificate: Certificate | None = None
    repeats: int | None = None  # about how many fresh evaluations of the point would certify it
    needed: int | None = None  # about how many evaluations are needed still
    notes: tuple[str, ...] = ()
    confidence: float = 0.95  # what was asked for
    params: dict[str, Any] | None = None  # the point by the names of its parameters, where they have names
    proven: bool = False
    share: ShareBound | None = None  # what settings drawn at random say of the share of good ones

    @property
    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, as (what, text)."""
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
            said.append(("good with probability", f"{probability(self.probability)}, by the model"))
        if self.hope is not None and self.verdict != "good" and not self.proven:
            judged = "by the model" + (", which predicted random settings well" if self.verdict == "unlikely" else "")
            said.append(("hope that some setting is good", f"{probability(self.hope)}, {judged}"))
        if self.share is not None:
            said.append(("share of good settings", str(self.share)))
        if self.proven:
            said.append(("rests on", "every setting was evaluated, without noise"))
        elif self.verdict == "none":
            error = probability(1 - self.confidence)
            said.append(("rests on", f"the confidence bounds of the stated kernel, which all hold but for {error}"))
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


def probability(p: float) -> str:
    """A probability as a percentage that never reads as certain when it is not."""
    if 0 <= p < 0.001:
        return "below 0.1 %"
    if 0.999 < p < 1:
        return "above 99.9 %"
    return f"{100 * p:.3g} %"


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
