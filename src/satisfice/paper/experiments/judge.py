"""One procedure for every claim: from tested parts to holds, refuted or undecided.

A claim is a list of statements, a statement a list of parts, and a part says that one number is below 0. Each part is tested
twice, once for it and once against it.

- A claim holds where every part is shown by itself at the level (an intersection-union test, which needs no correction).
- It is refuted where the opposite of one part is shown, after Holm's correction for the number of its parts.
- Otherwise it is undecided: "not significant" is evidence for nothing.

The parts are fixed before the runs. One without runs counts like the others, and is shown by nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from satisfice.paper.experiments.blocks import Archive
from satisfice.paper.experiments.inference import LEVEL, holm, least_p, p_below
from satisfice.types import Array

Verdict = Literal["holds", "refuted", "undecided"]


@dataclass(frozen=True)
class Part:
    """What is said, what was found, the blocks of runs it rests on, and the p-values of the part and of its opposite."""

    says: str
    found: str = "no runs"
    blocks: int = 0
    p: float = 1.0
    p_opposite: float = 1.0


def below(says: str, found: str, values: Array) -> Part:
    """The part that the mean of the blocks' values (n,) is below 0."""
    if len(values) == 0:
        return Part(says)
    return Part(says, found, len(values), p_below(values), p_below(-values))


@dataclass(frozen=True)
class Statement:
    """One sentence of a claim, and its parts in an archive."""

    says: str
    parts: Callable[[Archive], list[Part]]


@dataclass(frozen=True)
class Judged:
    """A part or more with their verdict. The p-values are adjusted for the number of parts of the claim."""

    says: str
    verdict: Verdict
    parts: tuple[Part, ...]
    shown: tuple[Part, ...]
    refuted: tuple[Part, ...]

    @property
    def open(self) -> tuple[Part, ...]:
        """The parts that are neither."""
        return tuple(part for part in self.parts if part not in (*self.shown, *self.refuted))


def judge(says: str, statements: Sequence[tuple[str, Sequence[Part]]]) -> tuple[Judged, tuple[Judged, ...]]:
    """The verdict on the whole claim, and on each of its statements, which are given with their parts."""
    parts = [part for _, each in statements for part in each]
    adjusted = holm([part.p for part in parts])
    against = holm([part.p_opposite for part in parts])
    whole_holds = bool(parts) and all(part.p <= LEVEL for part in parts)
    judged, start = [], 0
    for sentence, mine in statements:
        places = range(start, start + len(mine))
        start += len(mine)
        shown = tuple(parts[i] for i in places if whole_holds or adjusted[i] <= LEVEL)
        refuted = tuple(parts[i] for i in places if against[i] <= LEVEL)
        holds = bool(mine) and all(part.p <= LEVEL for part in mine)
        verdict: Verdict = "refuted" if refuted else "holds" if holds else "undecided"
        judged.append(Judged(sentence, verdict, tuple(mine), tuple(mine) if holds else shown, refuted))
    shown = tuple(part for each in judged for part in each.shown)
    refuted = tuple(part for each in judged for part in each.refuted)
    verdict = "refuted" if refuted else "holds" if whole_holds else "undecided"
    return Judged(says, verdict, tuple(parts), shown, refuted), tuple(judged)


def undecidable(judged: Judged) -> tuple[Part, ...]:
    """The open parts with so few blocks that no outcome of theirs could have been shown or refuted."""
    return tuple(part for part in judged.open if least_p(part.blocks) > LEVEL)
