"""`TargetPruner`: stops a run whose learning curve will not reach the target."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna
from optuna.pruners import BasePruner
from optuna.trial import FrozenTrial, TrialState

from satisfice.checks import number, whole
from satisfice.errors import BadInput
from satisfice.search.curves import Curve, CurveModel
from satisfice.study.config import StudyConfig
from satisfice.study.proposal import Proposal


class TargetPruner(BasePruner):  # type: ignore[misc]
    """An Optuna pruner that stops a run whose final value is very unlikely to reach the target.

    It extrapolates the values that the run has reported, as a mixture of power laws and exponentials, with what the complete
    runs of the study tell about final values, shapes and noise. A run is stopped when the probability of a good end has fallen
    below (1 - `confidence`) times the share of good runs that the complete ones suggest, or a tenth if that is more. If the
    extrapolations are right, at most 1 - `confidence` of the good runs are stopped.

    A stopped run has no value: it never counts towards a certificate. Repeats that a `GoodActionSampler` asks for are never
    stopped, since under noise a setting must be judged by all of its repeats.

    Parameters
    ----------
    target
        The value that the objective must return. Leave it out beside a `GoodActionSampler`, which knows it.
    steps
        The step of the last report of a full run. None takes the last one of the complete runs.
    confidence
        At most 1 - `confidence` of the good runs may be stopped.
    startup
        The number of complete runs with reports before any run is stopped.

    Raises
    ------
    BadInput
        If an argument cannot be used; or, in use, if neither the pruner nor the study has a target.

    Examples
    --------
    >>> from satisfice import GoodActionSampler
    >>> sampler = GoodActionSampler(target=0.9, noise=0, seed=1)
    >>> study = optuna.create_study(direction="maximize", sampler=sampler, pruner=TargetPruner(steps=100))
    """

    def __init__(
        self, target: float | None = None, *, steps: int | None = None, confidence: float = 0.95, startup: int = 3
    ) -> None:
        self.target = None if target is None else number(target, "target", " or None")
        self.steps = None if steps is None else whole(steps, "steps", least=1)
        if not 0 < number(confidence, "confidence") < 1:
            raise BadInput(f"`confidence` must be a number between 0 and 1; got {confidence!r}.")
        self.confidence, self.startup = float(confidence), whole(startup, "startup", least=0)
        self._known: tuple[tuple[Any, ...], _Runs] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Whether Optuna should stop the trial: called by `trial.should_prune()`."""
        target = self._target_of(study)
        proposal = Proposal.of(trial)
        if proposal is not None and proposal.repeats is not None:
            return False
        sign = 1.0 if study.direction.name == "MAXIMIZE" else -1.0
        runs = self._runs(study, sign)
        if runs is None or len(runs.model.earlier) < self.startup:
            return False
        steps, values = _reports(trial, sign)
        if not len(values) or steps[0] < runs.first or values[-1] >= sign * target:
            return False
        return runs.model.is_hopeless(Curve(steps - runs.first + 1, values), sign * target, 1 - self.confidence)

    def _target_of(self, study: optuna.Study) -> float:
        stored = None if self.target is not None else StudyConfig.of(study)
        target = self.target if stored is None else stored.target
        if isinstance(target, bool) or not isinstance(target, int | float):
            raise BadInput("TargetPruner needs a `target`, since the study has none or several.")
        return float(target)

    def _runs(self, study: optuna.Study, sign: float) -> "_Runs | None":
        """The complete runs, read again when there are more of them; None before the last step is known."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        key = study.study_name, len(complete), sign
        if self._known is None or self._known[0] != key:
            found = _runs_of(complete, self.steps, sign)
            if found is None:
                return None
            self._known = key, found
        return self._known[1]


@dataclass(frozen=True)
class _Runs:
    """The complete runs of a study: their curves, and the number of the first step."""

    model: CurveModel
    first: float


def _runs_of(trials: list[FrozenTrial], steps: int | None, sign: float) -> _Runs | None:
    found = []
    for trial in trials:
        at, values = _reports(trial, sign)
        if len(values) and trial.value is not None and math.isfinite(trial.value):
            found.append((at, np.append(values[:-1], sign * trial.value)))  # what was returned is what counts
    if not found and steps is None:
        return None
    last = float(max(at[-1] for at, _ in found)) if steps is None else float(steps)
    first = min((float(at[0]) for at, _ in found), default=1.0)
    if last <= first:
        return None
    curves = [Curve(at - first + 1, values) for at, values in found if at[-1] == last]
    return _Runs(CurveModel(curves, last - first + 1), first)


def _reports(trial: FrozenTrial, sign: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The steps at which the trial has reported a finite number, in order, and the numbers; larger ones are better."""
    reported = sorted((step, value) for step, value in trial.intermediate_values.items() if math.isfinite(value))
    pairs = np.array(reported, dtype=float).reshape(-1, 2)
    return pairs[:, 0], sign * pairs[:, 1]


class Report:
    """What an objective reports its progress with: `report(step, value)` ends a hopeless run.

    Parameters
    ----------
    trial
        The trial that is being evaluated.
    """

    def __init__(self, trial: optuna.Trial) -> None:
        self._trial = trial

    def __call__(self, step: int, value: float) -> None:
        """Report a value of the same kind as the objective returns; raises `optuna.TrialPruned` if the run is hopeless."""
        self._trial.report(float(value), int(step))
        if self._trial.should_prune():
            raise optuna.TrialPruned(f"stopped after step {step}: it will not reach the target")
