"""What our trials carry: the proposal, and why a trial stands for something else than an evaluation."""

import json
from dataclasses import dataclass
from typing import Literal

import optuna
from optuna.trial import FrozenTrial, TrialState

from satisfice.study._optuna import set_attribute

ASKED = "satisfice:asked"  # the system attribute of a trial that our sampler proposed: the proposal
CANCELLED = "satisfice:cancelled"  # the system attribute of a trial that was given up before it had a value: why
CUT = (
    "satisfice:cut"  # the system attribute of a trial that was cancelled while it ran: so many trials had begun by then
)
HISTORY = "satisfice:history"  # the system attribute of a trial that stands for a row of an earlier table: which row
ERROR = "satisfice:error"  # the system attribute of a failed trial: why
TRACE = "satisfice:trace"  # the system attribute of a failed trial: where, the traceback
WORKER_LOST = "worker lost"  # such a reason
LONGEST = 2045  # characters of an attribute that every database takes

State = Literal["complete", "failed", "pruned", "infeasible", "running", "waiting", "history", "cancelled"]
ENDED = ("complete", "failed", "pruned", "infeasible")  # the states of evaluations that were made


@dataclass(frozen=True)
class Proposal:
    """What our sampler proposed for a trial."""

    x: list[float]
    repeats: int | None  # the number of the trial of which this one is a replicate
    hope: float | None

    def write(self, study: optuna.Study, trial_id: int) -> None:
        """Store the proposal in the trial."""
        write_text(study, trial_id, ASKED, json.dumps({"x": self.x, "repeats": self.repeats, "hope": self.hope}))

    @classmethod
    def of(cls, trial: FrozenTrial) -> "Proposal | None":
        """The proposal of a trial, None if it has none."""
        text = read_text(trial, ASKED)
        return None if text is None else cls(**json.loads(text))


def write_text(study: optuna.Study, trial_id: int, key: str, text: str) -> None:
    """Store a text in the trial, in pieces if it is long; the first piece comes last, so that no part is read alone."""
    pieces = [text[start : start + LONGEST] for start in range(0, len(text), LONGEST)]
    for number in reversed(range(len(pieces))):
        set_attribute(study, trial_id, f"{key}:{number}" if number else key, pieces[number])


def read_text(trial: FrozenTrial, key: str) -> str | None:
    """Read such a text; None if there is none."""
    text, number = trial.system_attrs.get(key), 1
    if text is None:
        return None
    while (piece := trial.system_attrs.get(f"{key}:{number}")) is not None:
        text, number = text + piece, number + 1
    return str(text)


def broken(trial: FrozenTrial) -> str | None:
    """The name of a constraint that a trial breaks, None if there is none."""
    return next((name for name, value in trial.constraints.items() if value > 0), None)


def was_cancelled(trial: FrozenTrial) -> bool:
    """Whether a trial was given up. One that was told its value at that very moment has its value."""
    return CANCELLED in trial.system_attrs and trial.state != TrialState.COMPLETE


def error_of(trial: FrozenTrial) -> str:
    """Why a trial has no usable value, in words."""
    constraint = broken(trial)
    if constraint is not None:
        return f"the constraint {constraint!r} must be at most 0; it is {trial.constraints[constraint]:g}"
    values = f"value {', '.join(map(repr, trial.values))}" if trial.values else "no reason is known"
    return str(trial.system_attrs.get(ERROR, values))
