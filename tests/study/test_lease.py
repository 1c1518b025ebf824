"""The trials of dead workers are given up, those of living ones never; and no trial is left running by a `with` block."""

import threading
import time

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from satisfice.errors import BadValue, LeaseLost
from satisfice.study.proposal import ERROR, WORKER_LOST
from satisfice.study.workers.lease import LEASE, Lease, reclaim
from satisfice.study.workers.storage import open_study


@pytest.fixture
def study(tmp_path):
    return open_study("leases", tmp_path / "study.db", direction="maximize")


def trial_of(lease):
    return lease.study._storage.get_trial(lease.trial_id)


class Clock:
    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


def looks(study, times, period=10.0, between=lambda: None):
    """What was lost at each of these times, in periods."""
    clock, seen, lost = Clock(), {}, []
    for at in times:
        clock.time = 1000.0 + at * period
        lost.append(reclaim(study, seen, clock))
        between()
    return lost


def test_a_trial_is_born_with_its_lease(study):
    trial = trial_of(Lease.begin(study))
    assert trial.state == TrialState.RUNNING
    assert trial.system_attrs[LEASE]["beat"] == 1
    assert trial.datetime_start is not None


def test_a_short_evaluation_writes_no_second_beat(study):
    with Lease.begin(study) as lease:
        lease.tell(1.5)
    trial = trial_of(lease)
    assert (trial.state, trial.value) == (TrialState.COMPLETE, 1.5)
    assert trial.system_attrs[LEASE]["beat"] == 1


def test_a_long_evaluation_beats_until_it_ends(study):
    with Lease.begin(study, period=0.1) as lease:
        time.sleep(1.0)
        lease.tell(1.0)
    beats = trial_of(lease).system_attrs[LEASE]["beat"]
    assert 3 < beats <= 11
    time.sleep(0.3)
    assert trial_of(lease).system_attrs[LEASE]["beat"] == beats


def test_one_thread_renews_all_leases(study):
    leases = [Lease.begin(study, period=0.2).__enter__() for _ in range(5)]
    threads = [thread for thread in threading.enumerate() if thread.name == "satisfice-leases"]
    time.sleep(1.0)
    assert len(threads) == 1
    assert all(trial_of(lease).system_attrs[LEASE]["beat"] > 1 for lease in leases)
    for lease in leases:
        lease.__exit__(None, None, None)


def test_in_memory_there_is_no_lease_but_the_same_ways():
    study = open_study(None, None, direction="maximize")
    with Lease.begin(study, period=0.01) as lease:
        time.sleep(0.1)
        assert LEASE not in trial_of(lease).system_attrs
        lease.tell(2.0)
    assert study.best_value == 2.0
    assert reclaim(study, {}) == []
    with pytest.raises(LeaseLost):
        lease.tell(3.0)


def test_a_waiting_trial_gets_its_lease_when_it_is_taken(study):
    study.enqueue_trial({"x": 0.5})
    with Lease.pop(study) as lease:
        trial = trial_of(lease)
        assert (trial.state, trial.system_attrs[LEASE]["beat"]) == (TrialState.RUNNING, 1)
        lease.tell(1.0)
    assert Lease.pop(study) is None


def test_a_waiting_trial_is_taken_in_memory_and_from_storages_of_others_too(tmp_path):
    journal = JournalStorage(JournalFileBackend(str(tmp_path / "study.log")))
    for storage, leased in ((None, False), (journal, True)):
        study = open_study("leases", storage, direction="maximize")
        study.enqueue_trial({"x": 0.5})
        with Lease.pop(study) as lease:
            assert (LEASE in trial_of(lease).system_attrs) == leased
            lease.tell(1.0)
        assert Lease.pop(study) is None


def test_a_trial_whose_taking_was_acknowledged_in_vain_is_ours(postgres, proxy):
    study = open_study("leases", proxy.url(postgres), direction="maximize")
    study.enqueue_trial({"x": 0.5})
    proxy.armed = True
    assert Lease.pop(study).trial_id == study.trials[0]._trial_id
    assert proxy.cut == 1


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


RAISED = [
    ValueError("bad"),
    MemoryError(),
    RecursionError("deep"),
    AssertionError(),
    SystemExit(3),
    GeneratorExit(),
    KeyboardInterrupt(),
    Unspeakable(),
    ValueError("x" * 100_000),
]


@pytest.mark.parametrize("problem", RAISED, ids=lambda problem: type(problem).__name__)
def test_whatever_is_raised_fails_the_trial_and_goes_on(study, problem):
    with pytest.raises(type(problem)) as raised, Lease.begin(study) as lease:
        raise problem
    assert raised.value is problem
    trial = study.trials[0]
    assert trial.state == TrialState.FAIL
    assert trial.system_attrs[ERROR].startswith(type(problem).__name__)
    assert len(trial.system_attrs[ERROR]) <= 500
    assert lease.trial_id == trial._trial_id


def test_a_bad_value_fails_the_trial_with_a_reason(study):
    with pytest.raises(BadValue), Lease.begin(study) as lease:
        lease.tell("1,5")
    assert (
        trial_of(lease)
        .system_attrs[ERROR]
        .startswith("WrongType: The objective must return a finite number; it returned '1,5'")
    )


def test_a_block_without_a_value_fails_its_trial(study):
    with Lease.begin(study) as lease:
        pass
    assert trial_of(lease).state == TrialState.FAIL
    assert trial_of(lease).system_attrs[ERROR] == "no value was told"


def test_telling_wrongly_is_a_named_error_and_changes_nothing(study):
    with Lease.begin(study) as lease:
        lease.tell(1.0)
        with pytest.raises(
            LeaseLost, match=r"Trial 0 is COMPLETE already \(it has its value\); the new result was not"
        ):
            lease.tell(2.0)
    with pytest.raises(LeaseLost, match="Trial 0 is COMPLETE"):
        lease.fail("late")
    assert study.trials[0].value == 1.0


def test_a_silent_trial_is_dead_after_three_periods(study):
    lease = Lease.begin(study)
    assert looks(study, [0, 1, 2, 2.9, 3.0, 4]) == [[], [], [], [], [lease.trial_id], []]
    trial = trial_of(lease)
    assert trial.state == TrialState.FAIL
    assert trial.system_attrs[ERROR] == WORKER_LOST
    with pytest.raises(LeaseLost, match=r"Trial 0 is FAIL already \(worker lost\)"):
        lease.tell(1.0)
    assert trial_of(lease).value is None


def test_one_long_gap_proves_no_death(study):
    Lease.begin(study)
    assert looks(study, [0, 100, 200, 200.5]) == [[]] * 4


def test_a_beating_trial_is_never_dead(study):
    lease = Lease.begin(study)
    assert looks(study, range(20), between=lease.renew) == [[]] * 20


def test_the_period_is_the_one_of_the_owner(study):
    slow, fast = Lease.begin(study, period=100.0), Lease.begin(study, period=1.0)
    assert looks(study, range(6), period=1.0) == [[], [], [], [fast.trial_id], [], []]
    assert trial_of(slow).state == TrialState.RUNNING


def test_trials_of_others_are_left_alone(study):
    foreign = study.ask()
    study.enqueue_trial({"x": 0.5})
    assert looks(study, range(10)) == [[]] * 10
    states = [trial.state for trial in study.trials]
    assert states == [TrialState.RUNNING, TrialState.WAITING]
    study.tell(foreign, 1.0)


def test_what_was_seen_is_forgotten_when_the_trial_ends(study):
    lease, seen = Lease.begin(study), {}
    reclaim(study, seen)
    assert list(seen) == [lease.trial_id]
    lease.tell(1.0)
    reclaim(study, seen)
    assert seen == {}


def test_the_sampler_hears_of_the_end_as_by_optuna(tmp_path):
    heard = []

    class Listening(optuna.samplers.RandomSampler):
        def after_trial(self, study, trial, state, values):
            heard.append((trial.number, state, values))

    study = open_study("leases", tmp_path / "study.db", direction="maximize", sampler=Listening())
    with Lease.begin(study) as lease:
        lease.tell(1)
    with Lease.begin(study) as lease:
        lease.fail("no")
    assert heard == [(0, TrialState.COMPLETE, [1.0]), (1, TrialState.FAIL, None)]


def test_a_trial_that_was_made_twice_by_a_lost_answer_is_given_up(postgres, proxy):
    study = open_study("leases", proxy.url(postgres), direction="maximize")
    proxy.armed = True
    lease = Lease.begin(study)
    assert proxy.cut == 1
    orphan, ours = study.trials
    assert ours._trial_id == lease.trial_id
    lost = looks(study, range(5), between=lease.renew)
    assert lost == [[], [], [], [orphan._trial_id], []]
    assert trial_of(lease).state == TrialState.RUNNING
