"""`Answer`: what a search knows."""

from dataclasses import dataclass
from typing import Literal

from satisfice.types import Array

Verdict = Literal["good", "none", "open"]


@dataclass(frozen=True)
class Answer:
    """What a search knows now. `value`, `interval` and `probability` speak of f at `point`, not of a lucky draw.

    `verdict` is `good` (the value reaches the target), `none` (no point reaches it) or `open`; `interval` holds f with the
    search's confidence, and `probability` is the model's probability that the point is good.
    """

    verdict: Verdict
    point: Array | None  # in the user's units
    value: float | None
    interval: tuple[float, float] | None
    probability: float | None
    evaluations: int
    failures: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        spent = f"{self.verdict} after {self.evaluations} evaluations"
        if self.point is None or self.value is None or self.interval is None:
            return spent
        place = ", ".join(f"{coordinate:.6g}" for coordinate in self.point)
        low, high = self.interval
        sure = "" if low == high else f" (between {low:.6g} and {high:.6g})"
        chance = "" if self.probability is None else f", good with probability {self.probability:.3g}"
        return f"{spent}: value {self.value:.6g}{sure}{chance}, at [{place}]"
