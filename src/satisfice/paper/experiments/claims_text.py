"""The verdicts on the paper's claims in words: every number and every sentence comes from the records."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from satisfice.paper.experiments import claim_parts, regret_parts
from satisfice.paper.experiments.claims import CLAIMS, Claim
from satisfice.paper.experiments.inference import LEVEL
from satisfice.paper.experiments.judge import Judged, Part, undecidable
from satisfice.paper.experiments.spec import Variant
from satisfice.paper.experiments.text import paragraph, table

COMPARED: tuple[Variant, ...] = ("paper", "paper-local", "published")
QUOTED = 3  # parts of a claim at most
NOT_TESTED = "–"


@dataclass(frozen=True)
class Verdicts:
    """A claim with what was found in each variant in which it can be tested."""

    claim: Claim
    found: dict[Variant, tuple[Judged, tuple[Judged, ...]]]

    def verdict(self, variant: Variant) -> str:
        """The verdict, or a dash where the variant has no such experiment."""
        return self.found[variant][0].verdict if variant in self.found else NOT_TESTED


def all_verdicts(out: Path) -> list[Verdicts]:
    """Every claim, judged in every variant."""
    return [
        Verdicts(claim, {variant: claim.check(out, variant) for variant in COMPARED if variant in claim.variants})
        for claim in CLAIMS
    ]


def claims_text(verdicts: Sequence[Verdicts]) -> str:
    """The procedure, the table of verdicts, and each claim with its statements and reasons."""
    columns = ["", "the paper says", *(f"`{variant}`" for variant in COMPARED)]
    rows = [[str(v.claim.number), v.claim.says, *(_bold(v.verdict(name)) for name in COMPARED)] for v in verdicts]
    return "\n".join(["## Claims\n", _procedure(), table(columns, rows), *map(_claim_text, verdicts)])


def _bold(verdict: str) -> str:
    return verdict if verdict == NOT_TESTED else f"**{verdict}**"


def _procedure() -> str:
    clear, much = claim_parts.CLEAR, claim_parts.MUCH
    return "\n".join(
        [
            paragraph(f"""
                Every claim is judged in the same way. It is split into parts, each of which says that one mean is below
                another; a rival is every rule that the claim speaks of, or the one that it names, and none is chosen by its
                outcome. A claim **holds** where every part is shown by itself at {LEVEL:.0%} (an intersection-union test). It
                is **refuted** where the opposite of a part is shown at {LEVEL:.0%} after Holm's correction for the number of
                parts. Otherwise it is **undecided**: that a difference is not significant is evidence for nothing. A part
                without runs is undecided, and so is the claim, unless another part is refuted.
            """),
            paragraph("""
                Rules are compared by their *evaluations*: the restricted mean of the number of evaluations up to the first
                good one, in which a run that finds nothing counts as the budget of 200. That is the area above the success
                curve; under noise, where a good recommendation may be lost again, it is the number of evaluations without
                one. Runs from the same starting points are compared with each other, and the p-value comes from flipping the
                signs of these differences. In `published`, as in the authors' code, the ten runs of a trial share their
                starting points: there a trial counts once.
            """),
            paragraph(f"""
                Words are given the same number everywhere. *Noticeable*, *considerable*, *clearly*: below {clear:g} times the
                other. *Alike*: within a tenth. *Level*, *slightly*, *a little*: by less than a factor of {much:g}. *Goes to
                zero*: below a tenth of the simple regret after {regret_parts.EARLY} evaluations. *Flattens out*: fewer than
                one bad action in {1 / regret_parts.STOPPED:.0f} rounds. *A few runs*: fewer than {regret_parts.FEW:.0%};
                *stuck*: never above {regret_parts.STUCK:g}, the lowest target on robot3. [All parts](claims.csv) with their
                figures and p-values are in a table of their own.
            """),
        ]
    )


def _claim_text(verdicts: Verdicts) -> str:
    claim = verdicts.claim
    tested = [variant for variant in COMPARED if variant in verdicts.found]
    rows = [
        [statement.says, *(_bold(verdicts.found[variant][1][place].verdict) for variant in tested)]
        for place, statement in enumerate(claim.statements)
    ]
    reasons: dict[str, list[str]] = {}
    for variant, (whole, _) in verdicts.found.items():
        reasons.setdefault(f"{_bold(whole.verdict)}. {why(whole)}{_rests_on(whole, variant)}", []).append(
            f"`{variant}`"
        )
    said = [paragraph(f"{', '.join(names)}: {reason}") for reason, names in reasons.items()]
    head = f"### Claim {claim.number}: {claim.says}\n"
    return "\n".join([head, table(["statement", *(f"`{variant}`" for variant in tested)], rows), *said])


def why(judged: Judged) -> str:
    """One or two sentences on what the verdict rests on."""
    parts = len(judged.parts)
    if judged.verdict == "holds":
        weakest = max(judged.parts, key=lambda part: part.p)
        return f"Each of its {parts} parts is shown, the weakest {_quoted([weakest])}."
    if judged.verdict == "refuted":
        strongest = sorted(judged.refuted, key=lambda part: part.p_opposite)
        return (
            f"Of its {parts} parts {_are(len(judged.refuted))} refuted and {_are(len(judged.shown))} shown. Refuted: "
            f"{_quoted(strongest)}."
        )
    missing = [part for part in judged.open if part.blocks == 0]
    if len(missing) == parts:
        return "There are no runs yet."
    hopeless = [part for part in undecidable(judged) if part.blocks]
    rest = [part for part in judged.open if part.blocks and part not in hopeless]
    said = [f"Of its {parts} parts {_are(len(judged.shown))} shown and none is refuted."]
    if rest:
        said.append(f"Open: {_quoted(sorted(rest, key=lambda part: -part.p))}.")
    if hopeless:
        said.append(f"{_rest(hopeless)} too few runs for any verdict.")
    if missing:
        said.append(f"{_rest(missing)} no runs yet.")
    return " ".join(said)


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def _rest(parts: Sequence[Part]) -> str:
    return "One part has" if len(parts) == 1 else f"{len(parts)} parts have"


def _quoted(parts: Sequence[Part]) -> str:
    """Some of the parts with what was found, and how many more there are."""
    said = [f"that {part.says} ({part.found}; {_p_value(part)})" for part in parts[:QUOTED]]
    more = len(parts) - QUOTED
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _p_value(part: Part) -> str:
    """The smaller of the two p-values, before any correction, and which it is."""
    p, side = min((part.p, "for it"), (part.p_opposite, "against it"))
    return f"p {'< 0.001' if p < 0.001 else f'= {p:.2g}'} {side}"


def _rests_on(judged: Judged, variant: Variant) -> str:
    counts = sorted({part.blocks for part in judged.parts if part.blocks})
    if not counts:
        return ""
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f" It rests on {number} {'sets of starting points' if variant == 'published' else 'runs'} a rule."


def claims_csv(verdicts: Sequence[Verdicts]) -> str:
    """Every part of every claim as a line."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["claim", "statement", "variant", "part", "found", "blocks", "p", "p of the opposite", "is"])
    for each in verdicts:
        for variant, (_, statements) in each.found.items():
            for statement in statements:
                for part in statement.parts:
                    state = "shown" if part in statement.shown else "refuted" if part in statement.refuted else "open"
                    p_values = (f"{part.p:.4g}", f"{part.p_opposite:.4g}") if part.blocks else ("", "")
                    writer.writerow(
                        [
                            each.claim.number,
                            statement.says,
                            variant,
                            part.says,
                            part.found,
                            part.blocks,
                            *p_values,
                            state,
                        ]
                    )
    return lines.getvalue()
