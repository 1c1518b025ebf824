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

from satisfice.errors import NoSurvivors, SatisficeError, SatisficeWarning, SpaceExhausted
from satisfice.study.interrupt import Interrupts
from satisfice.study.lease import LEASE, PERIOD, Lease, LeaseLost, Look, reason_of, reclaim
from satisfice.study.progress import Progress
from satisfice.study.proposal import CANCELLED
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.values import BadValue, as_objective

FAILURES = 5  # so many at least, and more than half of the evaluations: then it is the objective that is broken
PAUSE = 0.05  # seconds between two looks at what others do


class TooManyFailures(SatisficeError):
    """Most evaluations fail, so it is the objective that is broken; the study is kept, and the same call goes on with it."""


class Workers:
    """Evaluates settings until the study is decided, or its budget or the time is spent."""

    def __init__(
        self,
        study: optuna.Study,
        sampler: GoodActionSampler,
        prepare: Callable[[optuna.Trial], Any],
        objective: Callable[[Any], object],
        budget: int,
        timeout: float,
        value_range: tuple[float, float] | None,
        callbacks: tuple[Callable[[optuna.Study, FrozenTrial], None], ...],
        progress: Progress,
        interrupts: Interrupts,
    ) -> None:
        self._study, self._sampler = study, sampler
        self._prepare, self._objective = prepare, objective
        self._budget, self._deadline = budget, time.monotonic() + timeout
        self._value_range = value_range
        self._callbacks = callbacks
        self._progress, self._interrupts = progress, interrupts
        self._looks: dict[int, Look] = {}  # at the leases of all workers
        self._last_look = 0.0
        self._since = 0  # the number of the first trial of this call
        self._lock = threading.Lock()
        self._evaluating: dict[int, Lease] = {}  # by thread
        self._stopped = False  # no thread begins anything new
        self._abandoned = False  # what threads still bring is not wanted
        self._problem: BaseException | None = None
        self.nothing_left: str | None = None  # why there was nothing left to ask for, if that ended the work

    def run(self, n_jobs: int) -> None:
        """Work in so many threads, in this one if it is one."""
        self._study._stop_flag = False
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
        """Give up what is being evaluated; the objectives cannot be ended, but what they return is not stored."""
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
        self._study._thread_local.in_optimize_loop = True  # so that callbacks may call study.stop()
        try:
            while self._goes_on() and self._evaluate_one():
                pass
        finally:
            self._study._thread_local.in_optimize_loop = False

    def _goes_on(self) -> bool:
        """Whether another evaluation is wanted."""
        with self._interrupts.allowed():
            pass
        self._reclaim()
        with self._sampler.replaying(self._study) as replay:
            answer, spent = replay.answer(), replay.spent()
            self._progress.show(answer)
        if self._is_over() or answer.verdict != "open":
            return False
        return spent < self._budget or self._await_others(replay.endings)

    def _is_over(self) -> bool:
        return self._stopped or self._study._stop_flag or time.monotonic() >= self._deadline

    def _reclaim(self) -> None:
        """Now and then, give up the trials of workers that died."""
        with self._lock:
            if time.monotonic() - self._last_look >= PERIOD / 2:
                self._last_look = time.monotonic()
                reclaim(self._study, self._looks)

    def _await_others(self, ended: int) -> bool:
        """Wait for the trials of other processes to end or to show a sign of life; whether one has ended.

        A trial whose worker died is given up then, and may be made again.
        """
        first: dict[int, Any] = {}
        while not self._is_over():
            with self._sampler.replaying(self._study) as replay:
                if replay.endings > ended:
                    return True
                with self._lock:
                    mine = {lease.trial_id for lease in self._evaluating.values()}
                leases = {t._trial_id: t.system_attrs.get(LEASE) for t in replay.running if t._trial_id not in mine}
            first = first or leases
            if not any(lease is not None and lease == first.get(key) for key, lease in leases.items()):
                return False
            with self._interrupts.allowed():
                time.sleep(PAUSE)
            self._reclaim()
        return False

    def _evaluate_one(self) -> bool:
        """Evaluate one setting; False when there is none left to ask for."""
        lease = self._begin()
        try:
            with lease:
                try:
                    trial = optuna.trial.Trial(self._study, lease.trial_id)
                    with self._sampler.replaying(self._study) as replay:
                        if replay.spent(before=trial.number) >= self._budget:
                            return self._cancel(lease, "the budget was spent")
                        if replay.answer().verdict != "open":
                            return self._cancel(lease, "the study was decided")
                    try:
                        given = self._prepare(trial)
                    except (SpaceExhausted, NoSurvivors) as problem:
                        self._cancel(lease, "nothing was left to ask for")
                        goes_on = self._await_any()
                        self.nothing_left = None if goes_on or self._is_over() else str(problem)
                        return goes_on
                    failed = self._evaluate(lease, given)
                except BaseException:
                    self._cancel(lease, "interrupted", TrialState.FAIL)
                    raise
        except LeaseLost as problem:
            if not self._abandoned:
                warnings.warn(f"an evaluation came too late: {problem}", SatisficeWarning, stacklevel=2)
            return True
        for callback in self._callbacks:
            callback(self._study, self._study._storage.get_trial(lease.trial_id))
        if failed:
            self._check_failures()
        return True

    def _evaluate(self, lease: Lease, given: Any) -> bool:
        """Evaluate and store the value, or why there is none; whether it failed."""
        thread = threading.get_ident()
        with self._lock:
            self._evaluating[thread] = lease
        try:
            if self._abandoned:
                raise KeyboardInterrupt
            with self._interrupts.allowed():
                returned = self._objective(given)
            value = as_objective(returned)
            if self._value_range is not None and not self._value_range[0] <= value <= self._value_range[1]:
                low, high = self._value_range
                raise BadValue(
                    f"the objective returned {value!r}; one within the stated range, {low:g} to {high:g}, was wanted"
                )
        except KeyboardInterrupt:
            raise
        except optuna.TrialPruned:
            lease.prune()
            return False
        except BaseException as problem:
            lease.fail(reason_of(problem))
            if not isinstance(problem, Exception):
                raise
            return True
        finally:
            with self._lock:
                del self._evaluating[thread]
        lease.tell(value)
        return False

    def _check_failures(self) -> None:
        """An error when more than half of the evaluations since the beginning of this call have failed, and at least five."""
        with self._sampler.replaying(self._study) as replay:
            ended, errors = replay.errors(self._since)
        if len(errors) >= FAILURES and 2 * len(errors) > ended:
            error, times = Counter(errors).most_common(1)[0]
            which = "the first error" if times == 1 else f"the most frequent error ({times} times)"
            raise TooManyFailures(
                f"{len(errors)} of {ended} evaluations failed; {which} was: {error}. Correct the objective or the space, then "
                f"make the same call again: it goes on with the study {self._study.study_name!r} if that has a storage."
            )

    def _await_any(self) -> bool:
        """Wait for a running trial to end; False if there is none, for then there will never be anything to ask for."""
        with self._sampler.replaying(self._study) as replay:
            ended = replay.endings
        while not self._is_over():
            with self._sampler.replaying(self._study) as replay:
                if replay.endings > ended:
                    return True
                if not replay.running:
                    return False
            with self._interrupts.allowed():
                time.sleep(PAUSE)
            self._reclaim()
        return False

    def _begin(self) -> Lease:
        """A running trial: one that was put into the queue, else a new one."""
        with self._sampler.replaying(self._study, read=False) as replay:
            queued = Lease.pop(self._study, PERIOD) if replay.queued else None
        return queued or Lease.begin(self._study, PERIOD)

    def _cancel(self, lease: Lease, why: str, state: TrialState = TrialState.PRUNED) -> bool:
        """Give the trial up, unless it is finished: it counts for nothing. True, for the work goes on."""
        storage = self._study._storage
        with suppress(UpdateFinishedTrialError):
            storage.set_trial_system_attr(lease.trial_id, CANCELLED, why)
            storage.set_trial_state_values(lease.trial_id, state)
        return True
