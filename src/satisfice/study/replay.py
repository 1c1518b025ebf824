"""`StudyReplay`: the trials of a study, told to a `Search`."""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import optuna
from optuna.trial import FrozenTrial, TrialState

from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.search.answer import Answer
from satisfice.search.search import Search
from satisfice.study.config import StudyConfig
from satisfice.study.corrections import Correction, corrections
from satisfice.study.distributions import LearnedSpace
from satisfice.study.proposal import (
    ASKED,
    CUT,
    ENDED,
    ERROR,
    HISTORY,
    WORKER_LOST,
    Proposal,
    State,
    broken,
    error_of,
    was_cancelled,
)
from satisfice.study.values import Result, result_of
from satisfice.types import Array

DEADLY = 3  # a setting at which so many workers died is a failure; two may meet the same fate by chance


class Pending(NamedTuple):
    """A running trial: its point, None as long as it has none, and whether it is a replicate."""

    number: int
    point: Array | None
    repeated: bool


class Held(NamedTuple):
    """A replicate that has ended: its point and its value."""

    point: Array
    value: Result


class StudyReplay:
    """A search that follows a study: `catch_up` tells it of the trials that have finished since the last time.

    A new replay that reads the whole study has the same search: values count in the order of the trials' numbers, that in which
    evaluations were begun, however they arrive. Where one arrives after another of a larger number, the search starts anew.
    Towards a certificate a replicate that arrives early is held until those of its setting before it have ended, since bad
    evaluations may be the slow ones.

    Parameters
    ----------
    config
        What the study is looking for.
    """

    def __init__(self, config: StudyConfig) -> None:
        self.config = config
        self._learned = LearnedSpace()  # where the parameters are only known from the trials
        self._finished: dict[int, FrozenTrial] = {}
        self._corrections: dict[int, Correction] = {}  # of trials, by their numbers
        self._settled = 0  # so many trials, from the first one on, have all finished
        self._running: list[FrozenTrial] = []
        self.queued = False  # whether trials wait to be run
        self._silent: set[int] = set()  # trials that were waited for in vain
        self._start(config.space)

    def _start(self, space: Space | None) -> None:
        self.space = space
        self.search: Search | None = None if space is None else self.config.search(space.domain)
        self._middle: dict[str, Any] = {}  # the value that stands for a parameter that a trial does not have
        if space is not None and self.config.space is None:
            self._middle = space.decode(space.domain.from_unit(np.full((1, space.domain.dimension), 0.5))[0])
        self.states: dict[int, State] = {}
        self._answered: tuple[tuple[int, ...], Answer] | None = None  # the last answer, and what it was based on
        self._ended: list[int] = []  # the numbers of the trials of evaluations that were made, in order,
        self._failed: list[int] = []  # and of those that failed
        self._first: dict[bytes, FrozenTrial] = {}  # at each point
        self._cut: dict[
            bytes, list[tuple[int, int]]
        ] = {}  # at each point, the trials that were cancelled while they ran
        self._held: dict[int, Held] = {}  # replicates whose value is known and does not count yet, by their number
        self.endings = 0  # so many trials have ended, without those that were cancelled before they had begun
        self._lost: Counter[bytes] = Counter()  # how many workers died at a point
        self._rows: set[str] = set()  # of an earlier table
        self._skipped = 0
        self._conditional = False  # whether trials have different parameters

    def catch_up(self, study: optuna.Study) -> None:
        """Tell the search of the trials that have finished since the last time, in the order of their numbers."""
        trials = study.get_trials(deepcopy=False)
        changes = corrections(each for each in trials[self._settled :] if each.number not in self._finished)
        if changes:  # what was told before is no longer true
            self._corrections.update(changes)
            self._finished, self._settled = {}, 0
            self._start(self.space)
        trials = trials[self._settled :]  # their numbers are their places
        if self._corrections:
            known = self._corrections
            trials = [known[each.number].applied(each) if each.number in known else each for each in trials]
        new = {t.number: t for t in trials if t.state.is_finished() and t.number not in self._finished}
        self._running = [trial for trial in trials if trial.state == TrialState.RUNNING]
        self.queued = any(trial.state == TrialState.WAITING for trial in trials)
        self._finished.update(new)
        while self._settled in self._finished:
            self._settled += 1
        begun = (trial for trial in new.values() if not was_cancelled(trial))
        if self.config.space is None and self._learned.widen(begun):
            self._start(self._learned.space)
            new = self._finished
        elif new and self.states and min(new) < max(self.states):  # late: verdicts depend on the order of numbers
            self._start(self.space)
            new = self._finished
        pending = self._pending()
        for number in sorted(new):
            self._count_unseen([each for each in pending if each.number < number])
            state = self.states[number] = self._tell(new[number])
            self.endings += not was_cancelled(new[number]) or new[number].state != TrialState.PRUNED
            self._count_held(number, pending)
            if state in ENDED:
                insort(self._ended, number)
            if state == "failed":
                insort(self._failed, number)
        for number in sorted(self._held):
            self._count_held(number, pending)
        self._count_unseen(pending)

    def _count_held(self, number: int, pending: list[Pending]) -> None:
        """Count a replicate, unless one of the same setting with a smaller number is running or held itself."""
        if self.search is None or number not in self._held:
            return
        held = self._held[number]
        before = [each.point for each in pending if each.number < number and each.point is not None]
        before += [each.point for other, each in self._held.items() if other < number]
        key = self._key(held.point)
        if any(first < number < after for first, after in self._cut.get(key, ())):
            del self._held[
                number
            ]  # one that began before it was cancelled while it ran, perhaps since bad ones take longer
        elif key not in map(self._key, before):
            self._count_unseen([each for each in pending if each.number < number])
            self.search.count(held.point, held.value)
            del self._held[number]

    def ask(self, number: int) -> tuple[Proposal, dict[str, Any]]:
        """Propose the setting of trial `number`; with its parameters, those of the other trial if it is a replicate."""
        if self.search is None or self.space is None:
            raise BadInput("The study has no finished trial yet, so its parameters are not known.")
        pending = self._pending(but=number)
        self._count_unseen(pending)
        points = [each.point for each in pending if each.point is not None]
        x = self.search.ask([*points, *(held.point for held in self._held.values())])
        again = self._first.get(self._key(x))
        hope = self.search.hope() if len(self._first) else None
        proposal = Proposal(x.tolist(), None if again is None else again.number, hope)
        return proposal, self.space.decode(x) if again is None else dict(again.params)

    def asking_before(self, number: int) -> list[int]:
        """The running trials with a smaller number that may be about to get their parameters."""
        return [each.number for each in self._pending(but=number) if each.point is None and each.number < number]

    def ignore(self, numbers: Iterable[int]) -> None:
        """Stop waiting for these trials: nobody gives them parameters."""
        self._silent.update(numbers)

    def spent(self, before: int | None = None) -> int:
        """The number of evaluations that were made or are running, by all workers; with `before`, of trials before that one."""
        if before is None:
            return len(self._ended) + len(self._running)
        return bisect_left(self._ended, before) + sum(trial.number < before for trial in self._running)

    @property
    def running(self) -> list[FrozenTrial]:
        """The trials that are running."""
        return self._running

    def errors(self, since: int = 0) -> tuple[int, list[str]]:
        """The number of evaluations that have ended since trial number `since`, and the errors of those that failed."""
        failed = self._failed[bisect_left(self._failed, since) :]
        return len(self._ended) - bisect_left(self._ended, since), [error_of(self._finished[n]) for n in failed]

    def wants(self, trial: FrozenTrial, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the values that are still wanted of a trial, given those that were measured; see `Search.wants`."""
        specification, point = self.config.specification, self._point(trial)
        if specification is None:
            return ()
        if self.search is None or point is None:
            return tuple(name for name in specification.names if values.get(name) is None)
        return self.search.wants(point, values)

    def params_of(self, number: int) -> dict[str, Any]:
        """The parameters of a finished trial, empty if there is no such trial."""
        return dict(self._finished[number].params) if number in self._finished else {}

    def answer(self) -> Answer:
        """The answer of the search, with the setting by its names and the evaluations of this study counted."""
        known = (
            len(self.states),
            len(self._corrections),
            len(self._held),
            0 if self.search is None else self.search.observations.unseen,
        )
        if self._answered is not None and self._answered[0] == known:
            return self._answered[1]
        answer = self._without_model() if self.search is None else self.search.answer()
        failures, evaluations = len(self._failed), len(self._ended) - len(self._failed)
        notes = list(answer.notes)
        if self._skipped:
            notes.append(f"trials left out, since they have other parameters or lie outside the space: {self._skipped}")
        if self._rows:
            notes.append(f"earlier evaluations taken into account: {len(self._rows)}")
        if self._corrections:
            notes.append(f"results that were corrected by hand: {len(self._corrections)}")
        if failures:
            errors = self.errors()[1]
            notes.append(f"evaluations that failed: {failures}, most often by: {max(errors, key=errors.count)}")
        made = Counter(self.states.values())
        if made["pruned"]:
            notes.append(f"evaluations that were pruned, and count: {made['pruned']}")
        if made["infeasible"]:
            notes.append(f"evaluations that broke a constraint, and count: {made['infeasible']}")
        if answer.verdict in ("none", "unlikely") and self._conditional:
            hope = None if answer.proven else answer.hope
            answer = replace(answer, verdict="open", hope=hope, proven=False, basis="", share=None)
            notes.append("whether no setting is good cannot be told where the parameters differ from trial to trial")
        params = answer.params
        if answer.point is not None:
            params = dict(self._first[self._key(answer.point)].params)
        answer = replace(answer, params=params, evaluations=evaluations, failures=failures, notes=tuple(notes))
        self._answered = known, answer
        return answer

    def _without_model(self) -> Answer:
        """The answer if no parameter can be searched: without noise a value can still be good."""
        sign = self.config.sign
        done = [self._finished[number] for number, state in self.states.items() if state == "complete"]
        if self.config.noise != 0 or not done:
            return Answer("open")
        if self.config.specification is not None:
            return Answer("open", evaluations=len(done))
        best = max(done, key=lambda trial: sign * trial.value)
        good = sign * best.value >= self.config.goal
        return Answer(
            "good" if good else "open", value=best.value, interval=(best.value, best.value), params=dict(best.params)
        )

    def _tell(self, trial: FrozenTrial) -> State:
        """Tell the search of a finished trial; its state."""
        if was_cancelled(trial):
            if CUT in trial.system_attrs and (cut := self._point(trial)) is not None:
                self._cut.setdefault(self._key(cut), []).append((trial.number, trial.system_attrs[CUT]))
            return "cancelled"
        row = trial.system_attrs.get(HISTORY)
        if row in self._rows:
            return "cancelled"  # two workers have added the same table
        if row is not None:
            self._rows.add(row)
        point = self._point(trial)
        if trial.state == TrialState.FAIL and trial.system_attrs.get(ERROR) == WORKER_LOST:
            self._lost.update([] if point is None else [self._key(point)])
            if point is None or self._lost[self._key(point)] < DEADLY:  # not the setting's fault, unless it goes on
                return "cancelled"
        elif point is None and self.search is not None:
            self._skipped += 1
        state: State = "pruned" if trial.state == TrialState.PRUNED else "failed"
        if broken(trial) is not None:
            state = "infeasible"
        elif trial.state == TrialState.COMPLETE and (result := result_of(self.config, trial.values)) is not None:
            state = "complete" if self._tell_value(trial, point, result) else "failed"
        if state != "complete" and point is not None and self.search is not None:
            self.search.fail(point, bad=state != "failed")
        return state if row is None else "history"

    def _tell_value(self, trial: FrozenTrial, point: Array | None, result: Result) -> bool:
        """Tell the search of a value; False if it lies outside of `value_range`."""
        if self.search is None or self.space is None or point is None:
            return True
        key = self._key(point)
        first = self._first.get(key)
        repeat = first is not None and ASKED in trial.system_attrs and trial.params == first.params
        inside = self.search.observations.allows(point)  # a trial of the user's own may break a constraint
        fresh = HISTORY not in trial.system_attrs and (first is None or repeat) and inside
        try:
            self.search.tell(point, result, fresh=fresh, held=repeat and inside, partial=True)
        except BadInput:
            return False
        if repeat and inside:
            self._held[trial.number] = Held(point, result)
        self._first.setdefault(key, trial)
        if self.config.space is None and not self._conditional:
            named = {name for name, distribution in trial.distributions.items() if not distribution.single()}
            self._conditional = named != set(self.space.parameters)
        return True

    def _key(self, point: Array) -> bytes:
        """The key of a setting, the same however it was written."""
        return b"" if self.search is None else self.search.observations.key(point)

    def _point(self, trial: FrozenTrial) -> Array | None:
        """The point of a trial: that of its proposal, to the last bit, if it has the proposed parameters."""
        if self.space is None or not trial.params:
            return None
        params = {name: trial.params.get(name, self._middle[name]) for name in self._middle} or trial.params
        proposal = Proposal.of(trial)
        if proposal is not None and len(proposal.x) == self.space.domain.dimension:
            x = np.array(proposal.x)
            asked = self.space.decode(x)
            if self._middle:  # the trial does not have some of the proposed parameters
                params = {name: trial.params.get(name, asked[name]) for name in asked}
            if asked == params:
                with suppress(BadInput):  # a proposal of another space may lie outside of this one
                    self.space.domain.to_unit(x)
                    return x
        with suppress(BadInput):
            return self.space.encode(params)
        return None

    def _pending(self, but: int | None = None) -> list[Pending]:
        """The running trials, except those that nobody gives parameters."""
        pending = []
        for trial in self._running:
            proposal, point = Proposal.of(trial), self._point(trial)
            if point is None and proposal is not None and self.space is not None:
                with suppress(BadInput):
                    self.space.domain.to_unit([proposal.x])
                    point = np.array(proposal.x)
            # a trial is not read at one moment: its parameters may be seen before its proposal
            unknown = (
                point is None
                and proposal is None
                and set(trial.params) <= set(self.space.parameters if self.space else ())
            )
            if trial.number != but and (point is not None or (unknown and trial.number not in self._silent)):
                pending.append(Pending(trial.number, point, proposal is not None and proposal.repeats is not None))
        return pending

    def _count_unseen(self, pending: list[Pending]) -> None:
        """Let the search know how many candidates may be under test that it was not told of.

        Before a trial is told, those of smaller numbers count: this is the order of candidates in which all workers agree.
        """
        if self.search is not None:
            points = {self._key(each.point): each.point for each in pending if each.repeated and each.point is not None}
            unknown = sum(each.point is None for each in pending)
            self.search.observations.unseen = unknown + sum(
                not self.search.observations.is_candidate(point) for point in points.values()
            )
