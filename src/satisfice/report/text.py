"""What the page says in words: the verdict, what it rests on, what it cost."""

from satisfice.report.svg import shown
from satisfice.search.answer import MANY, probability
from satisfice.study.config import SearchConfig
from satisfice.study.snapshot import StudySnapshot

HEADLINES = {
    "good": "Good enough: the target is met.",
    "none": "No setting reaches the target.",
    "unlikely": "Given up: a good setting is unlikely.",
    "open": "Not decided yet.",
}


def headline(snapshot: StudySnapshot) -> str:
    """The verdict in one sentence."""
    return HEADLINES[snapshot.answer.verdict]


def sentences(snapshot: StudySnapshot) -> list[str]:
    """The verdict, what it rests on and what is left to do, one sentence each."""
    return {"good": _good, "none": _none, "unlikely": _unlikely, "open": _open}[snapshot.answer.verdict](snapshot)


def goal(config: SearchConfig) -> str:
    """The target with its side."""
    return f"{'at least' if config.direction == 'maximize' else 'at most'} {shown(config.target)}"


def percent(share: float) -> str:
    """A probability as a percentage that never reads as certain when it is not."""
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def cost(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    """What the study has cost so far, as (what, text)."""
    answer, states = snapshot.answer, [each.state for each in snapshot.evaluations]
    taken = [each.seconds for each in snapshot.evaluations if each.seconds is not None]
    budget = snapshot.config.budget
    said = [("evaluations", f"{answer.evaluations:,}" + (f" of {budget:,}" if budget is not None else ""))]
    for state in ("history", "failed", "pruned", "infeasible", "running"):
        if count := states.count(state):
            said.append(("from earlier data" if state == "history" else state, f"{count:,}"))
    if taken:
        said.append(("time in evaluations", duration(sum(taken))))
    return said


def duration(seconds: float) -> str:
    """A length of time in two units at most."""
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def _good(snapshot: StudySnapshot) -> list[str]:
    certificate, confidence = snapshot.answer.certificate, snapshot.config.confidence
    if certificate is None or certificate.repeats == 0:
        value = "" if snapshot.answer.value is None else f"{shown(snapshot.answer.value)}; "
        why = "noise=0 was stated" if certificate is None else certificate.guarantee
        return [f"Its value is {value}the target is {goal(snapshot.config)}.", f"{why[0].upper()}{why[1:]}."]
    side = "at least" if snapshot.config.direction == "maximize" else "at most"
    said = [
        f"The value of this setting is {side} {shown(certificate.bound)}; the target is {goal(snapshot.config)}.",
        f"It is certified by {certificate.repeats} fresh evaluation{'s' * (certificate.repeats > 1)} of it, made after it had "
        f"been chosen. At {percent(confidence)} confidence no bad setting is ever called good, however many are tested "
        f"(this is candidate {certificate.candidates}) and whenever one looks.",
        f"The guarantee: {certificate.guarantee}.",
    ]
    if certificate.skewed:
        said.append(
            "But the fresh values look skewed, and the guarantee needs Gaussian noise: state the range of the values."
        )
    return said


def _none(snapshot: StudySnapshot) -> list[str]:
    size = snapshot.search.domain.size
    said = [f"The target is {goal(snapshot.config)}."]
    if snapshot.search.observations.proven:
        return [*said, f"All {size:,} settings were evaluated without noise, and none reaches it. This is proof."]
    rest = probability(1 - snapshot.config.confidence)
    return [*said, f"Every confidence bound of the stated kernel lies below it; they all hold but for {rest}."]


def _unlikely(snapshot: StudySnapshot) -> list[str]:
    answer = snapshot.answer
    said = [f"The target is {goal(snapshot.config)}."]
    if answer.hope is not None:
        said.append(
            f"The model's probability that some setting reaches it is {percent(answer.hope)}. The model had predicted settings "
            "drawn at random well, before it saw them."
        )
    if answer.share is not None:
        share = str(answer.share)
        said.append(f"{share[0].upper()}{share[1:]}. This bound needs no model.")
    said.append(
        "This is no proof: no search can exclude a narrow peak. A lower target, a wider space or a larger budget "
        "(with `give_up=False`) are what can be tried."
    )
    return said


def _open(snapshot: StudySnapshot) -> list[str]:
    answer = snapshot.answer
    said = [f"The target is {goal(snapshot.config)}."]
    if answer.value is not None and answer.probability is not None:
        said.append(
            f"The best setting so far has an estimated value of {shown(answer.value)} and reaches the target with probability "
            f"{percent(answer.probability)}, by the model."
        )
    if answer.hope is not None:
        said.append(f"The hope that some setting reaches it is {percent(answer.hope)}.")
    if answer.needed is not None and answer.needed > MANY:
        said.append(f"By the model more than {MANY:,} further evaluations would be needed: think about a lower target.")
    elif answer.needed is not None:
        confirming = "" if answer.repeats is None else ", to confirm the setting below"
        said.append(f"About {answer.needed:,} more evaluation{'s' * (answer.needed > 1)} are needed{confirming}.")
    if snapshot.config.budget is not None and answer.evaluations + answer.failures >= snapshot.config.budget:
        said.append(f"The budget of {snapshot.config.budget:,} evaluations is spent; a larger one goes on from here.")
    return said
