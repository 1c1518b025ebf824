"""`Answer`: what a search knows."""

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from satisfice.certify.eprocess import Certificate
from satisfice.types import Array

Verdict = Literal["good", "none", "open"]
MANY = 10_000  # evaluations, beyond which a number says nothing any more
WORDS = {"good": "the target is met", "none": "no setting reaches the target", "open": "not decided yet"}


@dataclass(frozen=True, repr=False)
class Answer:
    """What a search knows now. `value`, `interval` and `probability` speak of f at `point`, not of a lucky draw.

    `verdict` is `good` (the value reaches the target), `none` (no point reaches it) or `open`; `interval` holds f with the
    search's confidence and `probability` is that of the point being good, both by the model; `certificate` says why a point is
    called good. `hope` is the model's probability that some point is good; below 1 - confidence the verdict is `none`. Each of
    `good` and `none` is wrong with probability 1 - confidence at most (`none` as far as the model goes), together at most twice
    that. `proven` says that `none` needs no model: every point was evaluated without noise, and `hope` is 0.
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
