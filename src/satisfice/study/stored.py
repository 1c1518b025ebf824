"""`StoredSearch`: a search whose evaluations people make. It asks and is told by name, in a storage, over days."""

import math
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import wraps
from typing import Any, Literal, Self, TypeVar, cast

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState, create_trial

from satisfice.checks import as_objective, number, whole
from satisfice.domain.parameters import native
from satisfice.errors import BadInput, BadValue, LeaseLost, NoSurvivors, SpaceExhausted
from satisfice.study import _optuna
from satisfice.study.config import VERDICT, StudyConfig
from satisfice.study.corrections import (
    BY_HAND,
    NOT_GIVEN,
    TOLD,
    Correction,
    asked_with,
    by_hand,
    corrected,
    entries,
    in_words,
    outcome,
    told_value,
    told_with,
    with_corrections,
)
from satisfice.study.distributions import distributions_of
from satisfice.study.proposal import CANCELLED, ERROR
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.snapshot import StudyAnswer, StudySnapshot, snapshot_of, study_answer
from satisfice.study.values import Result, storable, stored_values
from satisfice.study.workers.interrupts import Interrupts
from satisfice.study.workers.lease import LONGEST_REASON, Lease

Told = Literal["told", "known", "corrected"]  # what became of a result


class Asked(dict[str, Any]):
    """The parameters of an experiment that was asked for, by their names; `number` is that of its trial.

    Parameters
    ----------
    params
        The parameters.
    number
        The number of the trial.
    since
        When it was asked for.
    by
        Who asked for it, if they said so.
    """

    def __init__(self, params: Mapping[str, Any], number: int, since: datetime | None = None, by: str = "") -> None:
        super().__init__(params)
        self.number, self.since, self.by = number, since, by


class UnknownTrial(BadInput):
    """Nobody was asked for a trial of that number."""


class _Look(threading.local):
    """What the current call of this thread has read of the trials: it looks at them for several reasons, and reads them once."""

    within = False
    raw: list[FrozenTrial] | None = None
    corrected: list[FrozenTrial] | None = None


F = TypeVar("F", bound=Callable[..., Any])


def _reads_once(method: F) -> F:
    """Let a call of the method read the trials once."""

    @wraps(method)
    def call(self: "StoredSearch", *args: Any, **kwargs: Any) -> Any:
        self._look.within = True
        try:
            return method(self, *args, **kwargs)
        finally:
            self._look.__dict__.clear()  # of this thread only

    return cast(F, call)


class StoredSearch:
    """A search in a storage; `open_search` opens it. Several people and processes may use it at once.

    Parameters
    ----------
    study
        The study.
    config
        What it looks for, with its space.
    """

    def __init__(self, study: optuna.Study, config: StudyConfig) -> None:
        if config.space is None:
            raise BadInput("`config` must have the parameters of the search.")
        self.study, self.config, self.space = study, config, config.space
        self._sampler = GoodActionSampler.from_config(config)
        self._look = _Look()
        study.sampler = self._sampler

    @classmethod
    def of(cls, study: optuna.Study) -> Self:
        """Open the search of a study as it is stored."""
        config = StudyConfig.of(study)
        if config is None or config.space is None:
            raise BadInput(
                f"The study {study.study_name!r} must have its parameters stored; open it by `open_search` with `space` and "
                "`target`, or choose another name."
            )
        return cls(study, config)

    def ask(self, n: int = 1, *, by: str = "", key: str = "") -> list[Asked]:
        """Ask for the next experiments, chosen together: each one keeps away from those that wait for their results.

        Under noise a setting may appear several times, on purpose: repeats certify it. What was asked waits for its result for
        as long as it takes; nothing expires.

        Parameters
        ----------
        n
            How many; fewer come back if a finite space has no more.
        by
            Who makes them, to be shown to the others.
        key
            A name for this request. The same request with the same key, once more, returns the same experiments.

        Returns
        -------
        list of Asked
            The parameters of each experiment, dicts with a `number`.

        Raises
        ------
        SpaceExhausted
            If nothing is left to ask.
        """
        whole(n, "n", least=1)
        asked = [_asked(self.trial(each)) for each in asked_with(self._trials(), key)] if key else []
        with Interrupts():
            for _ in range(n - len(asked)):
                try:
                    asked.append(self._ask(str(by)[:LONGEST_REASON], key))
                except (SpaceExhausted, NoSurvivors):
                    if not asked:
                        raise
                    break
        return asked

    @_reads_once
    def tell(
        self,
        trial: int | Mapping[str, Any],
        value: float | Mapping[str, Any],
        *,
        correct: bool = False,
        by: str = "",
        key: str = "",
    ) -> Told:
        """Tell the result of an experiment. Telling the same once more changes nothing.

        Parameters
        ----------
        trial
            The number of the trial, what `ask` returned, or a dict of parameters: then it is the result of the oldest experiment
            with these parameters that waits, or else of one of your own, which is added.
        value
            The result; of a target with requirements a dict of the values, in which others may stand as well. A deferred value
            may be missing unless the other requirements pass.
        correct
            Whether a result that was told before may be replaced. The log keeps both.
        by
            Who says so.
        key
            A name for this request. The same request with the same key, once more, changes nothing and returns the same,
            even if the result has been corrected in between.

        Returns
        -------
        str
            "told", "known" if it had this value already, or "corrected".

        Raises
        ------
        BadInput
            If the value cannot be used, or differs from what was told before.
        """
        result = self.checked(value)
        if (before := self._before(key)) is not None:
            return before
        found, kept = self._number(trial), told_value(stored_values(self.config, result))
        others = self._others(value)
        if found is None and isinstance(trial, Mapping):
            self.check_deferred(trial, result)
            self._add(trial, result, others, by, key)
            return "told"
        number = self._asked_for(trial)
        self.check_deferred(number, result)
        return self._end(Correction(number, "complete", value=kept, by=by, key=key), correct, others)

    def check_deferred(self, trial: int | Mapping[str, Any], result: Result) -> None:
        """Raise BadInput if a deferred value is missing where the other requirements pass; not where a result stands already."""
        if not isinstance(result, dict):
            return
        if not isinstance(trial, Mapping) and outcome(self.trial(trial))[0] != "waiting":
            return
        params = trial if isinstance(trial, Mapping) else self.trial(trial).params
        with self._sampler.replaying(self.study) as replay:
            search = replay.search or self.config.search(self.space.domain)
            missing = search.wants(self.space.encode(params), result)
        if missing:
            raise BadInput(
                f"The value {missing[0]!r} is needed here, since the other requirements pass: measure it, and tell all values "
                "together."
            )

    def _others(self, value: object) -> dict[str, Any]:
        """The values that no requirement names."""
        specification = self.config.specification
        if specification is None or not isinstance(value, Mapping):
            return {}
        return {str(name): storable(each) for name, each in value.items() if name not in specification.names}

    @_reads_once
    def fail(
        self, trial: int | Mapping[str, Any], why: str = "", *, correct: bool = False, by: str = "", key: str = ""
    ) -> Told:
        """Tell that an experiment was made and gave no result; the search avoids its neighbourhood.

        Parameters
        ----------
        trial
            As in `tell`; it must have been asked for.
        why
            The reason, to be shown.
        correct, by, key
            As in `tell`.

        Returns
        -------
        str
            As `tell` does.
        """
        if (before := self._before(key)) is not None:
            return before
        return self._end(Correction(self._asked_for(trial), "failed", error=_reason(why), by=by, key=key), correct)

    @_reads_once
    def cancel(
        self, trial: int | Mapping[str, Any], why: str = "", *, correct: bool = False, by: str = "", key: str = ""
    ) -> Told:
        """Tell that an experiment will not be made; that says nothing of its setting.

        Parameters
        ----------
        trial, why, correct, by, key
            As in `fail`.

        Returns
        -------
        str
            As `tell` does.
        """
        if (before := self._before(key)) is not None:
            return before
        return self._end(Correction(self._asked_for(trial), "cancelled", error=_reason(why), by=by, key=key), correct)

    @_reads_once
    def undo(self, trial: int | Mapping[str, Any], *, by: str = "", key: str = "") -> Told:
        """Take back what was told for an experiment, as when it belongs to another one: it waits for its result again.

        Parameters
        ----------
        trial, by, key
            As in `fail`.

        Returns
        -------
        str
            "known" if it waits anyway, else "corrected".
        """
        if (before := self._before(key)) is not None:
            return before
        return self._end(Correction(self._asked_for(trial), "waiting", by=by, key=key), True)

    def waiting(self) -> list[Asked]:
        """List the experiments that were asked for and have no result yet.

        Returns
        -------
        list of Asked
            The oldest first.
        """
        return [_asked(each) for each in self._corrected() if each.state == TrialState.RUNNING and by_hand(each)]

    def answer(self) -> StudyAnswer:
        """Report the verdict, the most promising setting, and how certain it is.

        Returns
        -------
        StudyAnswer
        """
        with self._sampler.replaying(self.study) as replay:
            answer = study_answer(self.study, replay)
        self._keep(answer)
        return answer

    def snapshot(self) -> StudySnapshot:
        """Look at the whole study, to show it; its `search` goes on with the study, so show it before anything else is asked."""
        with self._sampler.replaying(self.study) as replay:
            seen = snapshot_of(self.study, replay)
        self._keep(seen.answer)
        return seen

    def _keep(self, answer: StudyAnswer) -> None:
        """Store the verdict, for who lists the studies."""
        if self.study.user_attrs.get(VERDICT) != answer.verdict:
            self.study.set_user_attr(VERDICT, answer.verdict)

    def table(self) -> list[dict[str, Any]]:
        """List all experiments, those that wait included.

        Returns
        -------
        list of dict
            As `StudyAnswer.table` does.
        """
        return StudyAnswer("open", study=self.study).table()

    def log(self) -> list[dict[str, Any]]:
        """List the corrections.

        Returns
        -------
        list of dict
            A row for each: when, trial, was, now, by.
        """
        rows = []
        for when, each in entries(self._trials()):
            rows.append(
                {
                    "when": when,
                    "trial": each.trial,
                    "was": each.was,
                    "now": in_words(each.state, each.value, each.error),
                    "by": each.by,
                }
            )
        return rows

    def trial(self, trial_number: int) -> FrozenTrial:
        """The trial as it is after all corrections; BadInput if nobody was asked for it."""
        trials = self._corrected()
        known = isinstance(trial_number, int) and not isinstance(trial_number, bool)
        if not known or not 0 <= trial_number < len(trials) or not by_hand(trials[trial_number]):
            raise UnknownTrial(
                f"`trial` must be the number of an experiment that was asked for; got {trial_number!r:.80}. "
                "`waiting()` lists those without a result."
            )
        return trials[trial_number]

    def checked(self, value: object) -> Result:
        """The value as a number, or those of the requirements; BadInput if one is none, or lies outside of its range."""
        specification = self.config.specification
        if specification is not None:
            specification.readings(value)
            given = dict(value) if isinstance(value, Mapping) else {}
            return {name: float(given[name]) for name in specification.names if given.get(name) is not None}
        try:
            if isinstance(
                value, str | bytes
            ):  # of what a person types, "1,5" or "93 %", the form has to say what it is
                raise BadValue
            return as_objective(value, self.config.value_range)
        except BadValue:
            result = number(value, "value")
            low, high = self.config.value_range or (-math.inf, math.inf)
            raise BadInput(f"`value` must lie within the range {low:g} to {high:g}; got {result:g}.") from None

    def _trials(self) -> list[FrozenTrial]:
        """The trials as they were told first, not to be changed."""
        if not self._look.within:
            return self.study.get_trials(deepcopy=False)
        if self._look.raw is None:
            self._look.raw = self.study.get_trials(deepcopy=False)
        return self._look.raw

    def _corrected(self) -> list[FrozenTrial]:
        """The trials as they are after all corrections, not to be changed."""
        if not self._look.within:
            return corrected(self.study)
        if self._look.corrected is None:
            self._look.corrected = with_corrections(self._trials())
        return self._look.corrected

    def _before(self, key: str) -> Told | None:
        """What became of the request with this key, if it came before."""
        if not key:
            return None
        trials = self._trials()
        return "told" if asked_with(trials, key) else cast(Told | None, told_with(trials, key))

    def _ask(self, by: str, key: str) -> Asked:
        while True:
            with suppress(LeaseLost):  # this process stood still for so long that others took it for dead: once more
                return self._ask_once(by, key)

    def _ask_once(self, by: str, key: str) -> Asked:
        with Lease.begin(self.study) as lease:
            try:
                trial = optuna.trial.Trial(self.study, lease.trial_id)
                with lease.refused_if_finished():
                    _optuna.suggest(trial, distributions_of(self.space))
                lease.hand_over(by, key)
            except BaseException as problem:
                empty = isinstance(problem, SpaceExhausted | NoSurvivors)
                with suppress(UpdateFinishedTrialError):
                    _optuna.set_attribute(
                        self.study, lease.trial_id, CANCELLED, "nothing was left to ask for" if empty else "interrupted"
                    )
                    _optuna.set_state(self.study, lease.trial_id, TrialState.PRUNED if empty else TrialState.FAIL)
                raise
        return _asked(_optuna.trial_of(self.study, lease.trial_id))

    def _number(self, trial: int | Mapping[str, Any]) -> int | None:
        """The number of the trial that is meant, None if nobody was asked for these parameters."""
        if isinstance(trial, Asked):
            return trial.number
        if not isinstance(trial, Mapping):
            return self.trial(trial).number
        self.space.encode(trial)  # what it refuses is refused here
        wanted = {name: native(each) for name, each in trial.items()}
        return next((each.number for each in self.waiting() if each == wanted), None)

    def _asked_for(self, trial: int | Mapping[str, Any]) -> int:
        found = self._number(trial)
        if found is None:
            raise BadInput(f"`trial` must be an experiment that waits for its result; none has {trial!r:.200}.")
        return found

    def _add(self, params: Mapping[str, Any], result: Result, others: dict[str, Any], by: str, key: str) -> None:
        """Add an experiment of the user's own."""
        if (broken := self.space.limits.broken(params)) is not None:
            raise BadInput(
                f"`trial` must satisfy the constraints of the study; it breaks {broken}. Add it as earlier data instead."
            )
        self.study.add_trial(
            create_trial(
                values=stored_values(self.config, result),
                user_attrs=others,
                params={name: native(params[name]) for name in self.space.parameters},
                distributions=distributions_of(self.space),
                system_attrs={BY_HAND: {"by": by, "key": key} if key else {"by": by}},
            )
        )

    def judge(self, told: Correction, correct: bool) -> Told:
        """What telling this would do, without doing it; BadInput if a result stands against it."""
        before = self.trial(told.trial)
        state, value, error = outcome(before)
        if (state, value) == (told.state, told.value) and (state != "failed" or told.error in (error, NOT_GIVEN)):
            return "known"
        if state == "waiting":
            return "told"
        if not correct:
            raise BadInput(
                f"Trial {told.trial} has a result already: {in_words(*outcome(before))}; got "
                f"{in_words(told.state, told.value, told.error)}. If the first one was wrong, correct it: pass `correct=True` "
                "(on the command line, --correct)."
            )
        return "corrected"

    def _end(self, told: Correction, correct: bool, others: Mapping[str, Any] | None = None) -> Told:
        """End a trial that waits; or correct it, if that was asked for."""
        with Interrupts():
            change = self.judge(told, correct)
            if change == "told":
                try:
                    if self._finish(told, others or {}):
                        return "told"
                except UpdateFinishedTrialError:  # somebody else was faster
                    self._look.raw = self._look.corrected = None
                    change = self.judge(told, correct)
            if change != "known":
                was = in_words(*outcome(self.trial(told.trial)))
                replace(told, was=was, by=str(told.by)[:LONGEST_REASON]).log(self.study)
        return change

    def _finish(self, told: Correction, others: Mapping[str, Any]) -> bool:
        """End a trial that has had no result; False if it had one that was taken back, since it is finished for Optuna."""
        trial_id = _optuna.id_of(self.trial(told.trial))
        if _optuna.trial_of(self.study, trial_id).state.is_finished():
            return False
        if told.key:
            _optuna.set_attribute(
                self.study, trial_id, TOLD, {"key": told.key, "state": told.state, "value": told.value}
            )
        if told.value is not None:
            for name, each in others.items():
                _optuna.set_user_attribute(self.study, trial_id, name, each)
            values = told.value if isinstance(told.value, list) else [told.value]
            _optuna.set_state(self.study, trial_id, TrialState.COMPLETE, values)
        else:
            _optuna.set_attribute(self.study, trial_id, CANCELLED if told.state == "cancelled" else ERROR, told.error)
            _optuna.set_state(self.study, trial_id, TrialState.FAIL)
        return True


def _asked(trial: FrozenTrial) -> Asked:
    return Asked(trial.params, trial.number, trial.datetime_start, trial.system_attrs[BY_HAND].get("by", ""))


def _reason(why: str) -> str:
    return str(why).strip()[:LONGEST_REASON] or NOT_GIVEN
