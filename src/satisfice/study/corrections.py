"""Results that people tell, and their corrections: an entry of the log is a trial that is no evaluation.

Optuna never changes a finished trial, and its caches rely on that. So a correction is a new trial, cancelled from the start, that
says what another trial is from now on. Everyone who reads the trials sees the same log, and nothing is ever deleted.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import optuna
from optuna.trial import FrozenTrial, TrialState, create_trial

from satisfice.study._optuna import id_of
from satisfice.study.proposal import CANCELLED, ERROR, was_cancelled

CORRECTS = "satisfice:corrects"  # the system attribute of such an entry: what it says
NOT_GIVEN = "no reason was given"
# the system attribute of a trial that a person evaluates: {"by": who, "key": of the request}
BY_HAND = "satisfice:by hand"
# the system attribute of a trial that a request with a key ended: {"key": ..., "state": ..., "value": ...}
TOLD = "satisfice:told"

Told = float | list[float] | None  # what a trial that is complete was told


@dataclass(frozen=True)
class Correction:
    """What a trial is from now on.

    Parameters
    ----------
    trial
        The number of the trial.
    state
        "complete", "failed", "cancelled" or "waiting": the result was told for another trial, and this one has none yet.
    value
        The value of a complete trial; with several objectives a list of theirs.
    error
        Why a trial failed or was cancelled.
    was
        What it was before, in words.
    by
        Who says so.
    key
        The key of the request that says so, if it has one: a request that comes twice counts once.
    """

    trial: int
    state: str
    value: Told = None
    error: str | None = None
    was: str = ""
    by: str = ""
    key: str = ""

    def log(self, study: optuna.Study) -> None:
        """Write the entry, in one step."""
        attributes = {CORRECTS: asdict(self), CANCELLED: f"corrects trial {self.trial}"}
        study.add_trial(create_trial(state=TrialState.FAIL, system_attrs=attributes))

    def applied(self, trial: FrozenTrial) -> FrozenTrial:
        """The trial as it is from now on."""
        states = {"complete": TrialState.COMPLETE, "waiting": TrialState.RUNNING}
        system = {key: each for key, each in trial.system_attrs.items() if key not in (ERROR, CANCELLED)}
        if self.error is not None:
            system[CANCELLED if self.state == "cancelled" else ERROR] = self.error
        return FrozenTrial(
            number=trial.number,
            state=states.get(self.state, TrialState.FAIL),
            value=None if isinstance(self.value, list) else self.value,
            values=self.value if isinstance(self.value, list) else None,
            datetime_start=trial.datetime_start,
            datetime_complete=None if self.state == "waiting" else trial.datetime_complete,
            params=trial.params,
            distributions=trial.distributions,
            user_attrs=trial.user_attrs,
            system_attrs=system,
            intermediate_values=trial.intermediate_values,
            trial_id=id_of(trial),
        )


def corrections(trials: Iterable[FrozenTrial]) -> dict[int, Correction]:
    """The last correction of each trial that has one, by its number."""
    return {each.trial: each for _, each in entries(trials)}


def entries(trials: Iterable[FrozenTrial]) -> list[tuple[datetime | None, Correction]]:
    """The log in its order: when, and what."""
    found: Iterable[tuple[FrozenTrial, Any]] = ((trial, trial.system_attrs.get(CORRECTS)) for trial in trials)
    return [(trial.datetime_complete, Correction(**said)) for trial, said in found if isinstance(said, Mapping)]


def corrected(study: optuna.Study) -> list[FrozenTrial]:
    """The trials of the study as they are after all corrections, not to be changed; their numbers are their places."""
    return with_corrections(study.get_trials(deepcopy=False))


def with_corrections(trials: list[FrozenTrial]) -> list[FrozenTrial]:
    """The same trials after all corrections."""
    changes = corrections(trials)
    if not changes:
        return trials
    return [changes[each.number].applied(each) if each.number in changes else each for each in trials]


def by_hand(trial: FrozenTrial) -> bool:
    """Whether a person was asked for the trial, or told it."""
    return BY_HAND in trial.system_attrs


def asked_with(trials: Iterable[FrozenTrial], key: str) -> list[int]:
    """The numbers of the trials that the request with this key asked for, or added."""
    return [each.number for each in trials if each.system_attrs.get(BY_HAND, {}).get("key") == key]


def told_with(trials: Iterable[FrozenTrial], key: str) -> str | None:
    """What became of the request with this key: "told" or "corrected", or None if it changed nothing so far."""
    for trial in trials:
        change, told = trial.system_attrs.get(CORRECTS, {}), trial.system_attrs.get(TOLD, {})
        if change.get("key") == key:
            return "told" if change["was"] == "waiting" else "corrected"
        if told.get("key") == key and outcome(trial)[:2] == (told["state"], told["value"]):  # else somebody was faster
            return "told"
    return None


def told_value(values: Sequence[float]) -> float | list[float]:
    """The values of a trial's objectives, as a correction keeps them."""
    return values[0] if len(values) == 1 else list(values)


def outcome(trial: FrozenTrial) -> tuple[str, Told, str | None]:
    """What a trial that a person was asked for is: its state, its value and why it has none."""
    if trial.state == TrialState.RUNNING:
        return "waiting", None, None
    if trial.state == TrialState.COMPLETE:
        return "complete", told_value(trial.values), None
    if was_cancelled(trial):
        return "cancelled", None, str(trial.system_attrs[CANCELLED])
    return "failed", None, str(trial.system_attrs.get(ERROR, NOT_GIVEN))


def in_words(state: str, value: Told, error: str | None) -> str:
    """An outcome in words."""
    if isinstance(value, list):
        return ", ".join("not measured" if math.isinf(each) else repr(each) for each in value)
    return f"{value!r}" if value is not None else state + (f": {error}" if error else "")
