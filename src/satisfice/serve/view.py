"""What a study's page and the protocol show of it at one moment."""

from datetime import datetime
from typing import Any

from optuna.trial import TrialState

from satisfice.report import text
from satisfice.serve.studies import Opened
from satisfice.study.corrections import BY_HAND, by_hand, corrected
from satisfice.study.sheet import result_columns
from satisfice.study.snapshot import StudySnapshot, snapshot

SIDES = {">=": "at least", "<=": "at most"}


def look(opened: Opened) -> StudySnapshot:
    """Return the study as it is now; BadInput if there is nothing to see yet."""
    _ = opened.config  # a gate has none
    return snapshot(opened.study) if opened.search is None else opened.search.snapshot()


def waiting(opened: Opened) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the experiments that people make, and those that programs make: who, what, since when."""
    found: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for trial in corrected(opened.study):
        if trial.state == TrialState.RUNNING:
            hand = by_hand(trial)
            by = trial.system_attrs.get(BY_HAND, {}).get("by", "")
            found[not hand].append(
                {"number": trial.number, "params": dict(trial.params), "by": by, "since": trial.datetime_start}
            )
    return found


def status(opened: Opened) -> dict[str, Any]:
    """Return what the protocol says of a study."""
    seen = look(opened)
    answer = seen.answer
    people, programs = waiting(opened)
    return {
        "name": seen.name,
        "verdict": answer.verdict,
        "sentences": [text.headline(answer), *text.sentences(seen)],
        "params": answer.params,
        "requirements": requirements(opened, seen),
        "probability": answer.probability,
        "hope": answer.hope,
        "evaluations": answer.evaluations,
        "failures": answer.failures,
        "repeats": answer.repeats,
        "certificate": None if answer.certificate is None else dict(vars(answer.certificate)),
        "waiting": [{**each, "since": _iso(each["since"])} for each in people],
        "running": len(programs),
        "notes": list(answer.notes),
    }


def requirements(opened: Opened, seen: StudySnapshot) -> list[dict[str, Any]]:
    """Return each requirement with what is known of it at the best setting; one target is a single requirement."""
    config, answer = seen.config, seen.answer
    if config.specification is not None:
        return [
            {"name": each.requirement.name, "side": SIDES[each.requirement.sense], "threshold": each.requirement.threshold,
             "value": each.value, "interval": _ends(each.interval), "probability": each.probability}
            for each in answer.requirements
        ]  # fmt: skip
    return [
        {"name": result_columns(config)[0], "side": "at least" if config.direction == "maximize" else "at most",
         "threshold": config.threshold, "value": answer.value, "interval": _ends(answer.interval),
         "probability": answer.probability}
    ]  # fmt: skip


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _iso(when: datetime | None) -> str | None:
    return None if when is None else when.astimezone().isoformat(timespec="seconds")


def experiments(opened: Opened) -> set[int]:
    """Return the numbers of the experiments that people were asked for or told, which they may correct."""
    return {each.number for each in opened.study.get_trials(deepcopy=False) if by_hand(each)}
