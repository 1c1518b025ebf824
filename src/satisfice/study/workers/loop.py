"""`Workers`: the threads of one process that evaluate, together with those of other processes on the same study."""

import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import FrozenTrial, TrialState

from satisfice.checks import as_objective
from satisfice.errors import LeaseLost, NoSurvivors, SatisficeWarning, SpaceExhausted, TooManyFailures, WrongType
from satisfice.study import _optuna
from satisfice.study.config import StudyConfig
from satisfice.study.corrections import by_hand
from satisfice.study.progress import Progress
from satisfice.study.proposal import CANCELLED, CUT
from satisfice.study.replay import StudyReplay
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.values import collected, stored_values
from satisfice.study.workers.interrupts import Interrupts
from satisfice.study.workers.lease import PERIOD, Lease, Look, lease_of, reclaim
from satisfice.study.workers.traces import reason_of, trace_of
from satisfice.types import Stoppable

FAILURES = 5  # so many failures, if they are more than half of the evaluations, mean that the objective is broken
PAUSE = 0.05  # seconds between two looks at the other workers
LOOK = 1.0  # seconds between two looks whether an evaluation is still wanted
DECIDED = "the study was decided"


class Workers:
    """Evaluates settings until the study is decided, or its budget or the time is spent.

    Parameters
    ----------
    study, sampler
        What is worked on, and what proposes settings.
    prepare
        Gives a trial its parameters and returns what the objective takes.
    objective
        Returns a number, or a dict of the required values.
    deadline
        The time of the monotonic clock after which no evaluation begins.
    callbacks
        Called with the study and each finished trial.
    progress, interrupts
        The progress bar, and the places where Ctrl-C takes effect.
    cancel_running
        Whether evaluations that run when the verdict is in are cancelled, those of other processes included.
    """

    def __init__(
        self,
        study: optuna.Study,
        sampler: GoodActionSampler,
        prepare: Callable[[optuna.Trial], Any],
        objective: Callable[[Any], object],
        deadline: float,
        callbacks: tuple[Callable[[optuna.Study, FrozenTrial], None], ...],
        progress: Progress,
        interrupts: Interrupts,
        cancel_running: bool = False,
    ) -> None:
        self._study, self._sampler = study, sampler
        self._prepare, self._objective = prepare, objective
        self._budget = sampler.config.budget or 0
        self._deadline, self._callbacks = deadline, callbacks
        self._progress, self._interrupts = progress, interrupts
        self._cancel_running = cancel_running
        self._looks: dict[int, Look] = {}  # at the leases of all workers
        self._last_look = 0.0
        self._since = 0  # the number of the first trial of this call
        self._lock = threading.Lock()
        self._evaluating: dict[int, Lease] = {}  # by thread
        self._stopped = False  # no thread begins an evaluation
        self._abandoned = False  # threads that still evaluate are ignored
        self._problem: BaseException | None = None  # what ended the work
        self._error: BaseException | None = None  # of the last evaluation that failed
        self.nothing_left: str | None = None  # why there was nothing left to evaluate, if that ended the work

    def run(self, n_jobs: int) -> None:
        """Work in `n_jobs` threads; in this one if that is 1."""
        _optuna.start(self._study)
        self._since = len(self._study.get_trials(deepcopy=False))
        if n_jobs == 1:
            self._work()
            return
        threads = [threading.Thread(target=self._work_aside, daemon=True) for _ in range(n_jobs)]
        for thread in threads:
            thread.start()
        try:
            with self._interrupts.allowed():
                while any(thread.is_alive() for thread in threads):
                    if self._problem is not None and not isinstance(self._problem, Exception):
                        raise self._problem
                    time.sleep(PAUSE)
        except BaseException:
            self._abandon(threads)
            raise
        if self._problem is not None:
            raise self._problem

    def _work_aside(self) -> None:
        try:
            self._work()
        except BaseException as problem:
            self._problem = self._problem or problem
            self._stopped = True

    def _abandon(self, threads: list[threading.Thread]) -> None:
        """Cancel what is being evaluated: objectives cannot be stopped, but what they return is not stored."""
        self._stopped = self._abandoned = True
        for thread in threads:
            while thread.is_alive():
                with self._lock:
                    lease = self._evaluating.get(thread.ident or 0)
                if lease is not None:
                    self._cancel(lease, "interrupted", TrialState.FAIL)
                    break
                thread.join(PAUSE)

    def _work(self) -> None:
        with _optuna.stoppable(self._study):
            while (ended := self._goes_on()) is not None and self._evaluate_one(ended):
                pass

    def _goes_on(self) -> int | None:
        """How many trials had ended when it was found that another evaluation is needed; None if none is."""
        with self._interrupts.allowed():
            pass
        self._reclaim()
        with self._sampler.replaying(self._study) as replay:
            answer, spent, ended = replay.answer(), replay.spent(), replay.endings
            self._progress.show(answer)
        if answer.done and self._cancel_running:
            self._cancel_others()
        if self._is_over() or answer.done:
            return None
        return ended if spent < self._budget or self._await_others(ended) else None

    def _is_over(self) -> bool:
        return self._stopped or _optuna.was_stopped(self._study) or time.monotonic() >= self._deadline

    def _reclaim(self) -> None:
        """From time to time, cancel the trials of workers that died."""
        with self._lock:
            if time.monotonic() - self._last_look >= PERIOD / 2:
                self._last_look = time.monotonic()
                reclaim(self._study, self._looks)

    def _await(self, ended: int, goes_on: Callable[[StudyReplay], bool]) -> bool:
        """Wait until more than `ended` trials have ended; False if `goes_on` says so, or it is over.

        A trial whose worker died is cancelled meanwhile.
        """
        while not self._is_over():
            with self._sampler.replaying(self._study) as replay:
                if replay.endings > ended:
                    return True
                if not goes_on(replay):
                    return False
            with self._interrupts.allowed():
                time.sleep(PAUSE)
            self._reclaim()
        return False

    def _await_others(self, ended: int) -> bool:
        """Wait until a trial of another process ends, or each has shown a sign of life; whether one has ended."""
        first: dict[int, Any] = {}

        def is_silent(replay: StudyReplay) -> bool:
            with self._lock:
                mine = {lease.trial_id for lease in self._evaluating.values()}
            running = {_optuna.id_of(trial): lease_of(trial) for trial in replay.running}
            leases = {trial_id: lease for trial_id, lease in running.items() if trial_id not in mine}
            if not first:
                first.update(leases)
            return any(lease is not None and lease == first.get(key) for key, lease in leases.items())

        return self._await(ended, is_silent)

    def _evaluate_one(self, ended: int) -> bool:
        """Evaluate one setting; False if there is none left to evaluate. The study was open when `ended` trials had ended."""
        lease = self._begin()
        try:
            with lease:
                try:
                    trial = optuna.trial.Trial(self._study, lease.trial_id)
                    with self._sampler.replaying(self._study) as replay:
                        if replay.spent(before=trial.number) >= self._budget:
                            return self._cancel(lease, "the budget was spent")
                        if replay.endings > ended and replay.answer().done:
                            return self._cancel(lease, DECIDED)
                    try:
                        with lease.refused_if_finished():  # it took longer than a lease lasts, as in a frozen process
                            given = self._prepare(trial)
                    except (SpaceExhausted, NoSurvivors) as problem:
                        self._cancel(lease, "nothing was left to ask for")
                        with self._sampler.replaying(self._study) as replay:
                            ended = replay.endings
                        goes_on = self._await(ended, lambda replay: not all(map(by_hand, replay.running)))
                        self.nothing_left = None if goes_on or self._is_over() else str(problem)
                        return goes_on
                    failed = self._evaluate(lease, given)
                except BaseException:
                    self._cancel(lease, "interrupted", TrialState.FAIL)
                    raise
        except LeaseLost as problem:
            if not self._abandoned and CUT not in _optuna.trial_of(self._study, lease.trial_id).system_attrs:
                warnings.warn(f"An evaluation ended too late: {problem}", SatisficeWarning, stacklevel=2)
            return True
        for callback in self._callbacks:
            callback(self._study, _optuna.trial_of(self._study, lease.trial_id))
        if failed:
            self._check_failures()
        return True

    def _cancel_others(self) -> None:
        """Cancel what is running, since the verdict is in. Who evaluates it learns of it within seconds."""
        with self._lock:
            mine = {lease.trial_id for lease in self._evaluating.values()}
        running = _optuna.trials_of(self._study, TrialState.RUNNING)
        for trial in running:
            trial_id = _optuna.id_of(trial)
            if trial_id in mine or lease_of(trial) is not None:  # what others than our workers run is theirs
                with suppress(UpdateFinishedTrialError):
                    _optuna.set_attribute(self._study, trial_id, CUT, len(self._study.get_trials(deepcopy=False)))
                    _optuna.set_attribute(self._study, trial_id, CANCELLED, DECIDED)
                    _optuna.set_state(self._study, trial_id, TrialState.FAIL)

    def _call(self, lease: Lease, given: Any) -> object:
        """Call the objective; one that can be ended is, when its trial is finished by others or the work has been stopped."""
        if not isinstance(self._objective, Stoppable):
            return self._objective(given)
        next_look = time.monotonic() + LOOK

        def look() -> None:
            nonlocal next_look
            if self._abandoned:
                raise KeyboardInterrupt
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + LOOK
                lease.check()

        return self._objective.run(given, look)

    def _evaluate(self, lease: Lease, given: Any) -> bool:
        """Evaluate, and store the value or why there is none; whether the evaluation failed."""
        thread = threading.get_ident()
        with self._lock:
            self._evaluating[thread] = lease
        try:
            if self._abandoned:
                raise KeyboardInterrupt
            with self._interrupts.allowed():
                returned = self._call(lease, given)
            values, others = self._read(returned, lease)
        except (KeyboardInterrupt, LeaseLost):
            raise
        except optuna.TrialPruned:
            lease.prune()
            return False
        except BaseException as problem:
            trace = trace_of(problem)
            lease.fail(reason_of(problem), trace)
            self._progress.fail(reason_of(problem), trace)
            self._error = problem
            if not isinstance(problem, Exception) or (isinstance(problem, WrongType) and self._has_no_value()):
                raise
            return True
        finally:
            with self._lock:
                del self._evaluating[thread]
        lease.tell_all(values, others)
        return False

    def _read(self, returned: object, lease: Lease) -> tuple[list[float], dict[str, Any]]:
        """The values of the objectives in what the objective returned, and the others."""
        config = self._sampler.config
        if not isinstance(config, StudyConfig) or config.specification is None:  # a gate reads its runs itself
            return [as_objective(returned, config.value_range)], {}

        def wants(values: dict[str, float]) -> tuple[str, ...]:
            with self._sampler.replaying(self._study) as replay:
                return replay.wants(_optuna.trial_of(self._study, lease.trial_id), values)

        found, others = collected(returned, config.specification, wants)
        return stored_values(config, found), others

    def _has_no_value(self) -> bool:
        """Whether no evaluation of the study has given a value yet: then a wrong type is a mistake in the objective."""
        with self._sampler.replaying(self._study) as replay:
            ended, errors = replay.errors()
        return len(errors) == ended

    def _check_failures(self) -> None:
        """Raise TooManyFailures if more than half of this call's evaluations have failed, and at least five."""
        with self._sampler.replaying(self._study) as replay:
            ended, errors = replay.errors(self._since)
        if len(errors) >= FAILURES and 2 * len(errors) > ended:
            error, times = Counter(errors).most_common(1)[0]
            which = "the first error" if times == 1 else f"the most frequent error ({times} times)"
            raise TooManyFailures(
                f"{len(errors)} of {ended} evaluations failed; {which} was: {error.rstrip('.')}. Correct the objective and make "
                f"the same call again; a study that is kept in a storage continues. Another space needs another name than "
                f"{self._study.study_name!r}."
            ) from self._error

    def _begin(self) -> Lease:
        """Start a trial: one from the queue, else a new one."""
        with self._sampler.replaying(self._study, read=False) as replay:
            queued = Lease.pop(self._study, PERIOD) if replay.queued else None
        return queued or Lease.begin(self._study, PERIOD)

    def _cancel(self, lease: Lease, why: str, state: TrialState = TrialState.PRUNED) -> bool:
        """Cancel the trial, unless it is finished. True, since the work goes on."""
        with suppress(UpdateFinishedTrialError):
            _optuna.set_attribute(self._study, lease.trial_id, CANCELLED, why)
            _optuna.set_state(self._study, lease.trial_id, state)
        return True
