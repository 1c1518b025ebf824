"""A simulation of the whole study layer: processes, people, storage and clocks in one thread, all of it from one seed.

What runs is the library: `Workers` of `find`, leases and their renewals, the sampler, and the searches of people. Only the clock,
the storage and the scheduling are simulated. Each process is a greenlet that hands over at every call of the storage, before and
after it, so that others may come in between anywhere. The seed decides who goes on, how long calls and evaluations take, who is
killed or frozen and when, which calls fail before they take effect and which after, what people say twice, late or wrongly.

    python tests/simulation.py 0 10000      # the schedules 0 to 9,999
    python tests/simulation.py 4711         # one of them once more, with what happened
"""

import math
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import optuna
from greenlet import getcurrent, greenlet
from optuna.storages import BaseStorage, InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from satisfice.domain.space import Space
from satisfice.errors import BadInput, NoSurvivors, SpaceExhausted, StorageFailed, TooManyFailures
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.search.search import Search
from satisfice.study import _optuna, sampler, stored
from satisfice.study.config import StudyConfig
from satisfice.study.corrections import CORRECTS, corrected, outcome
from satisfice.study.distributions import distributions_of
from satisfice.study.progress import Progress
from satisfice.study.proposal import ASKED, CUT, ENDED, ERROR, WORKER_LOST, Proposal, was_cancelled
from satisfice.study.replay import DEADLY, StudyReplay
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.stored import StoredSearch
from satisfice.study.workers import heart, lease, loop
from satisfice.study.workers.interrupts import Interrupts
from satisfice.study.workers.lease import MISSED, PERIOD, lease_of, reclaim
from satisfice.study.workers.loop import Workers

ENOUGH = 60_000  # turns after which a schedule that goes on is taken to go on for ever
LONGEST = 200.0  # seconds that an evaluation takes: several leases
NAME = "simulated"
MODEL = FixedModel(Stationary("se", [0.3]), 0.01)


class Wrong(AssertionError):
    """Something happened that must not; the message begins with the seed."""


class Killed(BaseException):
    """Raised in what is left of a dead process, so that it does no more."""


@dataclass(eq=False)
class Process:
    """A process: its clock, and whether it lives."""

    name: str
    offset: float
    rate: float
    skew: float  # of its time of day
    dead: bool = False
    frozen_until: float = 0.0
    parts: list["Part"] = field(default_factory=list)


@dataclass(eq=False)
class Part:
    """A thread of a process."""

    process: Process
    run: greenlet
    wake: float = 0.0
    asking: int | None = None
    frozen: float = 0.0  # the longest that it was frozen since it began to ask


class World:
    """One schedule."""

    def __init__(self, seed: int, talk: Callable[[str], None] | None = None) -> None:
        self.seed, self.talk = seed, talk
        self.rng = np.random.default_rng([seed, 34])
        self.spot = np.random.default_rng([seed, 35])  # which moments are looked at
        self.now, self.turns = 0.0, 0
        self.replays: list[StudyReplay] = []  # of the workers that came to their end
        self.parts: list[Part] = []
        self.kept: list[greenlet] = []  # of dead processes: they must not be collected while the world exists
        self.main = getcurrent()
        self.over = False
        self.store = InMemoryStorage()
        self.counts: Counter[str] = Counter()
        self.draw_plan()
        self.acknowledged: dict[int, list[tuple[str, float | None]]] = defaultdict(list)
        self.contested: set[int] = set()
        self.begun: dict[int, list[tuple[str, float | None]]] = defaultdict(list)  # messages that nobody has answered
        self.proposed: dict[
            int, tuple[float, float]
        ] = {}  # when each trial got its setting; how long its asker was frozen
        self.ended: dict[int, float] = {}
        self.undone: set[int] = set()
        self.full: set[int] = set()  # trials that were asked for when all settings were taken

    # What is searched for, and what can go wrong

    def draw_plan(self) -> None:
        """Draw what this schedule is about."""
        rng = self.rng
        cells = int(rng.integers(3, 9))
        self.noise = [0, 0.3, 0.3, "learn", None][rng.integers(5)]
        self.spread = 0.0 if self.noise == 0 else 0.3
        self.truth = np.sort(rng.normal(0.0, 0.5, cells))
        target = float(self.truth[-1] + rng.choice([-1.0, -0.6, -0.3, -0.1, 0.05, 0.5]))
        self.space = Space.of({"x": (0, cells - 1)})
        self.budget = int(rng.integers(4, 24))
        self.config = StudyConfig(
            target, "maximize", self.noise, 0.9, None, "eg" if rng.random() < 0.5 else "random", MODEL, seed=self.seed,
            give_up=False, budget=self.budget, space=self.space,
        )  # fmt: skip
        self.workers, self.people = [(2, 0), (3, 0), (1, 0), (0, 1), (0, 2), (1, 1), (2, 1)][rng.integers(7)]
        calm = rng.random() < 0.2
        self.kills = 0.0 if calm else float(rng.choice([0.0, 0.002, 0.01]))
        self.freezes = 0.0 if calm else float(rng.choice([0.0, 0.002, 0.01]))
        self.broken = 0.0 if calm else float(rng.choice([0.0, 0.0, 0.001, 0.004]))
        self.failing = float(rng.choice([0.0, 0.0, 0.15]))
        self.slow = float(rng.choice([0.5, 5.0, 40.0]))
        self.slow_when_bad = bool(rng.random() < 0.5)
        self.cancel_running = bool(rng.random() < 0.3)

    # The scheduler

    def start(self, name: str, *bodies: Callable[[Process], None]) -> Process:
        """Start a process with some threads."""
        rng = self.rng
        process = Process(name, rng.uniform(1e3, 1e6), rng.uniform(0.98, 1.02), rng.normal(0.0, 86_400.0))
        for body in bodies:
            self.thread(process, body)
        return process

    def thread(self, process: Process, body: Callable[[Process], None]) -> None:
        """Start a thread of a process."""

        def run() -> None:
            with suppress(Killed):
                body(process)

        part = Part(process, greenlet(run), self.now)
        process.parts.append(part)
        self.parts.append(part)

    def run(self) -> None:
        """Let them all go on until none is left."""
        while self.parts:
            self.turns += 1
            if self.turns > ENOUGH:
                raise Wrong(
                    f"seed {self.seed}: does not end; still there: {[each.process.name for each in self.parts]}"
                )
            ready = [each for each in self.parts if max(each.wake, each.process.frozen_until) <= self.now]
            if not ready:
                self.now = min(max(each.wake, each.process.frozen_until) for each in self.parts)
                continue
            self.current = ready[self.rng.integers(len(ready))]
            self.current.run.switch()
            if self.current.run.dead:
                self.remove(self.current)

    def remove(self, part: Part) -> None:
        """Forget a thread that has ended; a process ends with its first one."""
        if part is part.process.parts[0]:
            self.end(part.process)
        elif part in self.parts:
            self.parts.remove(part)

    def end(self, process: Process) -> None:
        """End a process, with all that it is about to do."""
        process.dead = True
        for each in process.parts:
            if each in self.parts:
                self.parts.remove(each)
                self.kept.append(each.run)

    def close(self) -> None:
        """End what is left of dead processes now, rather than when Python happens to collect it."""
        self.over = True
        for each in [*self.kept, *(part.run for part in self.parts)]:
            while not each.dead:
                with suppress(Killed):  # one that has not begun hands it on
                    each.throw(Killed)

    def pause(self, seconds: float) -> None:
        """Let others go on for so many seconds, by nobody's clock."""
        part = self.current
        if part.process.dead or self.over:
            raise Killed
        part.wake = self.now + seconds
        self.main.switch()
        if part.process.dead or self.over:
            raise Killed

    def sleep(self, seconds: float) -> None:
        """As `time.sleep` of the process that runs."""
        self.pause(max(seconds, 0.0) / self.current.process.rate)

    def clock(self) -> float:
        """As `time.monotonic` of the process that runs."""
        process = self.current.process
        return process.offset + process.rate * self.now

    def wall(self) -> datetime:
        """As `datetime.now` of the process that runs."""
        return datetime(2026, 1, 1) + timedelta(seconds=self.now + self.current.process.skew)

    def mishap(self) -> None:
        """Before a call of the storage: perhaps the process is killed or frozen."""
        process = self.current.process
        if self.rng.random() < self.kills:
            self.note(f"{process.name} is killed")
            self.counts["kills"] += 1
            self.end(process)
            self.main.switch()
        if self.rng.random() < self.freezes:
            until = self.now + float(self.rng.exponential(4 * PERIOD))
            self.note(f"{process.name} is frozen for {until - self.now:.0f} s")
            self.counts["freezes"] += 1
            for part in process.parts:
                part.frozen = max(part.frozen, until - self.now)
            process.frozen_until = until

    def note(self, text: str) -> None:
        """Say what happens, if somebody listens."""
        if self.talk is not None:
            self.talk(f"{self.now:9.2f}  {text}")

    # What is evaluated

    def evaluation(self, trial: int, x: int) -> tuple[float, float, bool]:
        """The value of a trial, how long it takes, and whether it fails; the same whoever evaluates it."""
        rng = np.random.default_rng([self.seed, 1, trial])
        value = float(self.truth[x] + self.spread * rng.standard_normal())
        lasts = self.slow * float(rng.exponential(1.0))
        if self.slow_when_bad and value < self.config.target:
            lasts *= 10
        return value, min(lasts, LONGEST), bool(rng.random() < self.failing)


class View(BaseStorage):  # type: ignore[misc]
    """The storage as one process sees it: calls take time, may fail, and may fail after they took effect."""

    def __init__(self, world: World) -> None:
        self.world = world

    def remove_session(self) -> None:
        pass

    def check_trial_is_updatable(self, trial_id: int, trial_state: TrialState) -> None:
        self.world.store.check_trial_is_updatable(trial_id, trial_state)


def _through(name: str) -> Callable[..., Any]:
    def call(self: View, *args: Any, **kwargs: Any) -> Any:
        world = self.world
        world.pause(float(world.rng.exponential(0.005)))
        world.mishap()
        world.pause(0.0)
        fault = world.rng.random()
        if fault < world.broken / 2:
            world.counts["storage errors"] += 1
            raise StorageFailed("the storage is away")
        returned = getattr(world.store, name)(*args, **kwargs)
        _watch(world, name, args)
        world.counts["calls"] += 1
        world.mishap()
        world.pause(0.0)
        if fault > 1 - world.broken / 2:
            world.counts["storage errors"] += 1
            raise StorageFailed("the answer of the storage was lost")
        return returned

    return call


for _name in (*BaseStorage.__abstractmethods__, "get_trial_id_from_study_id_trial_number", "get_trial_number_from_id"):
    setattr(View, _name, _through(_name))
View.__abstractmethods__ = frozenset()


def _watch(world: World, name: str, args: tuple[Any, ...]) -> None:
    """Note when trials get their settings and when they end."""
    if name == "set_trial_system_attr" and args[1] == ASKED:
        number = world.store.get_trial_number_from_id(args[0])
        world.proposed[number] = (world.now, world.current.frozen)
        world.current.frozen = 0.0
        trials = world.store.get_all_trials(0, deepcopy=False)
        taken = {trial.params["x"] for trial in trials if "x" in trial.params and trial.number != number}
        taken |= {Proposal.of(trial).x[0] for trial in trials if ASKED in trial.system_attrs and trial.number != number}
        if len({float(each) for each in taken}) >= world.space.domain.size:
            world.full.add(number)
    if name == "set_trial_state_values" and args[1].is_finished():
        world.ended[world.store.get_trial_number_from_id(args[0])] = world.now
        if world.spot.random() < 0.25:
            check_what_counts(world)


class Lock:
    """A lock of threads that are greenlets."""

    def __init__(self, world: World) -> None:
        self.world, self.held = world, False

    def __enter__(self) -> None:
        while self.held:
            self.world.pause(0.001)
        self.held = True

    def __exit__(self, *problem: object) -> None:
        self.held = False


class Heart:
    """What renews the leases of a process: a thread of it for each."""

    def __init__(self, world: World) -> None:
        self.world, self.taken = world, set()

    def take(self, held: lease.Lease) -> None:
        self.taken.add(held)

        def beat(process: Process) -> None:
            while held in self.taken:
                self.world.sleep(held.period)
                with suppress(StorageFailed):
                    if held in self.taken and not held.renew():
                        return

        self.world.thread(self.world.current.process, beat)

    def drop(self, held: lease.Lease) -> None:
        self.taken.discard(held)


@contextmanager
def simulated(world: World) -> Iterator[None]:
    """The library within that world."""
    clock = SimpleNamespace(monotonic=world.clock, sleep=world.sleep)
    threads = SimpleNamespace(**{**vars(loop.threading), "Lock": lambda: Lock(world)})
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(mock.patch.object(loop, "PAUSE", 0.5))  # fewer turns
        for module in (loop, sampler):
            stack.enter_context(mock.patch.object(module, "time", clock))
        stack.enter_context(mock.patch("optuna.storages._in_memory.datetime", SimpleNamespace(now=world.wall)))
        stack.enter_context(mock.patch.object(lease, "threading", threads))
        stack.enter_context(mock.patch.object(reclaim, "__defaults__", (world.clock,)))
        stack.enter_context(mock.patch.object(heart, "HEART", Heart(world)))
        stack.enter_context(mock.patch.object(stored, "Interrupts", nullcontext))
        yield


class Objective:
    """The objective of a worker; one that can be ended if the schedule wants it."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, given: tuple[int, dict[str, Any]]) -> float:
        return self._evaluate(*given, lambda: None)

    def _evaluate(self, trial: int, params: dict[str, Any], look: Callable[[], None]) -> float:
        world = self.world
        value, lasts, fails = world.evaluation(trial, params["x"])
        until = world.now + lasts
        while world.now < until:
            world.pause(min(until - world.now, 1.0 + lasts / 20))
            look()
        if fails:
            raise ValueError("it did not work")
        return value


class Stoppable(Objective):
    """The same for `cancel_running`."""

    def run(self, given: tuple[int, dict[str, Any]], look: Callable[[], None]) -> float:
        return self._evaluate(*given, look)


def worker(world: World, process: Process) -> None:
    """What `find` does in one thread."""
    try:
        study = optuna.load_study(study_name=NAME, storage=View(world))
        study.sampler = sampler_ = GoodActionSampler.from_config(world.config)

        def acknowledge(study: optuna.Study, trial: FrozenTrial) -> None:
            if trial.state == TrialState.COMPLETE:
                world.acknowledged[trial.number].append(("complete", trial.value))
            elif trial.state == TrialState.FAIL:
                world.acknowledged[trial.number].append(("failed", None))
            world.note(f"{process.name} has ended trial {trial.number}: {trial.state.name} {trial.value}")

        suggested = partial(_optuna.suggest, distributions=distributions_of(world.space))
        objective = Stoppable(world) if world.cancel_running else Objective(world)
        workers = Workers(
            study, sampler_, lambda trial: (trial.number, suggested(trial)), objective, math.inf, (acknowledge,),
            Progress(False, world.config), Interrupts(), world.cancel_running,
        )  # fmt: skip
        workers.run(1)
        with sampler_.replaying(study, read=False) as replay:
            world.replays.append(replay)
        world.note(f"{process.name} ends")
    except (StorageFailed, TooManyFailures) as problem:
        world.note(f"{process.name} ends: {type(problem).__name__}")


def person(world: World, process: Process) -> None:
    """Somebody who asks, tells, makes mistakes and corrects them; all that was asked for is settled before the end."""
    mine: list[int] = []
    search = again(world, lambda: StoredSearch.of(optuna.load_study(study_name=NAME, storage=View(world))))
    rng = world.rng
    for _ in range(int(rng.integers(2, 14))):
        world.sleep(float(rng.exponential(20.0)))
        if rng.random() < 0.6 and len(mine) < 8:
            try:
                batch = again(world, lambda: search.ask(int(rng.integers(1, 4)), by=process.name))
            except (SpaceExhausted, NoSurvivors):
                batch = []
            mine += [each.number for each in batch]
            world.note(f"{process.name} asks: {[each.number for each in batch]}")
        for number in list(mine):
            if rng.random() < 0.5:
                settle(world, process, search, number)
                mine.remove(number)
        done = [number for number, told in world.acknowledged.items() if told and number not in world.contested]
        if done and rng.random() < 0.2:  # a correction, perhaps of somebody else's
            number = int(rng.choice(done))
            with suppress(BadInput):  # it was a worker's
                value = float(rng.normal())
                world.contested.add(number)
                with message(world, number, ("complete", value)):
                    again(world, partial(search.tell, number, value, correct=True, by=process.name))
                world.note(f"{process.name} corrects {number}: {value:.3f}")
        if rng.random() < 0.1:
            again(world, search.answer)
    world.kills = 0.0 if world.workers == 0 else world.kills
    for each in again(world, search.waiting):
        if each.number in mine or rng.random() < 0.5:
            if each.number not in mine:
                world.contested.add(each.number)
            settle(world, process, search, each.number)


def settle(world: World, process: Process, search: StoredSearch, number: int) -> None:
    """Tell, fail or cancel an experiment; perhaps twice, perhaps at the same time as somebody else with another value."""
    rng = world.rng
    value, lasts, fails = world.evaluation(number, again(world, lambda: search.trial(number)).params["x"])
    world.sleep(min(lasts, 100.0))
    kind = "failed" if fails else "cancelled" if rng.random() < 0.05 else "complete"
    told = value if kind == "complete" else None

    def say() -> Any:
        if kind == "complete":
            return search.tell(number, value, by=process.name)
        return (search.fail if kind == "failed" else search.cancel)(number, "so", by=process.name)

    def rival(other: Process) -> None:
        there = again(world, lambda: StoredSearch.of(optuna.load_study(study_name=NAME, storage=View(world))))
        with suppress(BadInput), message(world, number, ("complete", value + 1)):
            again(world, lambda: there.tell(number, value + 1, by=other.name))

    if rng.random() < 0.15:
        world.contested.add(number)
        world.start("a rival", rival)
    try:
        with message(world, number, (kind, told)):
            again(world, say)
    except BadInput:
        if number not in world.contested:
            raise
        return
    world.note(f"{process.name} tells {number}: {kind} {told}")
    if rng.random() < 0.2:  # the message comes twice
        with suppress(BadInput):
            known = again(world, say)
            if known not in ("known",) and number not in world.contested:
                raise Wrong(f"seed {world.seed}: trial {number} was told twice: {known}")
    if rng.random() < 0.05 and number not in world.contested:
        world.undone.add(number)
        again(world, lambda: search.undo(number, by=process.name))
        with message(world, number, (kind, told)):
            again(world, say)


@contextmanager
def message(world: World, number: int, told: tuple[str, float | None]) -> Iterator[None]:
    """While somebody waits for the answer, what was told may or may not have come; with the answer it has."""
    world.begun[number].append(told)
    try:
        yield
    except BadInput:
        world.begun[number].remove(told)
        raise
    world.begun[number].remove(told)
    world.acknowledged[number].append(told)


def again(world: World, call: Callable[[], Any]) -> Any:
    """What a person does whose call ended with an error of the storage: the same call again."""
    while True:
        try:
            return call()
        except StorageFailed:
            world.sleep(1.0)


# What must hold


def check(world: World) -> None:
    """Check the study as it was left."""
    study = optuna.load_study(study_name=NAME, storage=world.store)
    trials = corrected(study)
    for number, told in world.acknowledged.items():
        state, value, _ = outcome(trials[number])
        allowed = (told if number in world.contested else told[-1:]) + world.begun[number]
        if (state, value) not in allowed:
            fail(world, f"trial {number} was acknowledged as {allowed}, and is {state} {value}")
    replay = StudyReplay(world.config)
    replay.catch_up(study)
    running = [trial.number for trial in trials if trial.state == TrialState.RUNNING]
    if running:
        fail(world, f"trials {running} are left running")
    ended = sum(state in ENDED for state in replay.states.values())
    if world.people == 0 and ended > world.budget:
        fail(world, f"{ended} evaluations were made, of {world.budget}")
    for other in world.replays:
        other.catch_up(study)
        if str(other.answer()) != str(replay.answer()):
            fail(world, f"a worker says {other.answer()}, and one that reads the study anew {replay.answer()}")
    expected, values = oracle(world, trials)
    told = 0 if replay.search is None else len(replay.search.observations.y)
    if told != values:
        fail(world, f"{values} values were stored, and {told} counted")
    if replay.search is not None:
        got, want = replay.search.answer(), expected.answer()
        if (got.verdict, str(got.certificate)) != (want.verdict, str(want.certificate)):
            fail(world, f"the answer is {got}, but in the order begun it is {want}")
        fresh, wanted = replay.search.observations.replicates.fresh, expected.observations.replicates.fresh
        if fresh != wanted:
            fail(world, f"what counts is {fresh}, but in the order begun it is {wanted}")
        world.counts[f"verdict {got.verdict}"] += 1
    _check_settings(world, trials)
    world.counts["trials"] += len(trials)
    world.counts["acknowledged"] += sum(map(len, world.acknowledged.values()))


def check_what_counts(world: World) -> None:
    """While it goes on: towards certificates those count that no earlier one of their setting is missing from."""
    study = optuna.load_study(study_name=NAME, storage=world.store)
    replay = StudyReplay(world.config)
    replay.catch_up(study)
    expected, _ = oracle(world, corrected(study))
    got, want = (each.observations.replicates.fresh for each in (replay.search, expected))
    if got != want:
        fail(world, f"at {world.now:.2f} what counts is {got}, but in the order begun it is {want}")
    world.counts["looks at what counts"] += 1


def fail(world: World, text: str) -> None:
    """Raise `Wrong` with the seed."""
    raise Wrong(f"seed {world.seed}: {text}")


def oracle(world: World, trials: list[FrozenTrial]) -> tuple[Search, int]:
    """A search that was told the values one by one in the order in which they were begun, and how many."""
    search = world.config.search(world.space.domain)
    first: dict[int, FrozenTrial] = {}
    lost: Counter[int] = Counter()
    cut: list[tuple[int, int, int]] = []
    running: set[int] = set()  # settings of which one that began before is still running
    values = 0
    for trial in trials:
        if trial.state == TrialState.RUNNING and (proposal := Proposal.of(trial)) is not None:
            running.add(round(proposal.x[0]))
        if CORRECTS in trial.system_attrs or "x" not in trial.params or trial.state == TrialState.RUNNING:
            continue
        x = trial.params["x"]
        if was_cancelled(trial):
            if CUT in trial.system_attrs:
                cut.append((x, trial.number, trial.system_attrs[CUT]))
        elif trial.state == TrialState.COMPLETE:
            repeat = x in first and ASKED in trial.system_attrs
            held = any(at == x and start < trial.number < end for at, start, end in cut) or x in running
            search.tell(np.array([float(x)]), trial.value, fresh=x not in first or repeat, held=held)
            first.setdefault(x, trial)
            values += 1
        elif trial.system_attrs.get(ERROR) == WORKER_LOST:
            lost[x] += 1
            if lost[x] >= DEADLY:
                search.fail(np.array([float(x)]))
        else:
            search.fail(np.array([float(x)]))
    return search, values


def _check_settings(world: World, trials: list[FrozenTrial]) -> None:
    """No setting was given to two at once, except as a repeat, or where all were taken."""
    given = [
        (number, *world.proposed[number], trials[number].params.get("x"), Proposal.of(trials[number]))
        for number in world.proposed
        if number < len(trials) and "x" in trials[number].params
    ]
    spans = [(n, since, world.ended.get(n, math.inf), x, p) for n, since, _, x, p in given if p is not None]
    frozen = {n for n, _, longest, _, _ in given if longest >= sampler.PATIENCE}
    for k, (n, since, until, x, one) in enumerate(spans):
        for m, other_since, other_until, other_x, two in spans[:k]:
            if x == other_x and since < other_until and other_since < until:
                twice = one.repeats is None and two.repeats is None
                excused = {n, m} & (frozen | world.undone | world.contested | world.full)
                if twice and not excused:
                    fail(world, f"the setting {x} was given to trials {m} and {n} at once")
    world.counts["settings"] += len(spans)


def simulate(seed: int, talk: Callable[[str], None] | None = None) -> Counter[str]:
    """Run one schedule and check it; what happened, in numbers."""
    world = World(seed, talk)
    study = optuna.create_study(study_name=NAME, storage=world.store, direction="maximize")
    world.config.store(study)
    with simulated(world), closing(world):
        for k in range(world.workers):
            world.start(f"worker {k}", partial(worker, world))
        for k in range(world.people):
            world.start(f"person {k}", partial(person, world))
        world.run()
        world.kills = world.freezes = world.broken = 0.0

        def tidy(process: Process) -> None:
            """Whoever comes next gives up the trials of the dead, and tells what people who were killed had asked for."""
            study, looks = optuna.load_study(study_name=NAME, storage=View(world)), {}
            begun = world.now
            while any(lease_of(trial) for trial in _optuna.trials_of(study, TrialState.RUNNING)):
                reclaim(study, looks)
                world.sleep(PERIOD / 2)
                if world.now - begun > 2 * (MISSED + 1) * PERIOD:
                    fail(world, "a dead worker's trial is left running beyond two leases")
            search = StoredSearch.of(study)
            for each in search.waiting():
                search.cancel(each.number, "nobody is left")
                world.acknowledged[each.number].append(("cancelled", None))
                world.undone.add(each.number)

        world.start("whoever comes next", tidy)
        world.run()
    check(world)
    world.counts["turns"] += world.turns
    world.counts["schedules"] += 1
    world.counts["simulated hours"] += int(world.now // 3600)
    return world.counts


def main(first: int, last: int | None) -> int:
    """Run schedules and report; the first that fails ends it."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if last is None:
        print(dict(simulate(first, print)))
        return 0
    counts: Counter[str] = Counter()
    begun, wrong = time.monotonic(), 0
    for seed in range(first, last):
        try:
            counts += simulate(seed)
        except Exception as problem:
            wrong += 1
            print(f"seed {seed}: {type(problem).__name__}: {problem}"[:600], flush=True)
        if (seed + 1 - first) % 500 == 0:
            print(
                f"{seed + 1 - first} schedules, {wrong} wrong, {time.monotonic() - begun:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    print(dict(counts), f"wrong {wrong}, {time.monotonic() - begun:.0f} s")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))
