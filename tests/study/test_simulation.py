"""Seeded schedules of the whole study layer (see `simulation`), and that they notice what they are there for."""

from unittest import mock

import optuna
import pytest

import simulation
from satisfice.study.replay import StudyReplay
from satisfice.study.workers import lease

EACH = 30  # schedules in one test


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


@pytest.mark.parametrize("first", range(0, 7 * EACH, EACH))
def test_schedules_of_workers_and_people_that_are_killed_frozen_late_and_wrong(first):
    for seed in range(first, first + EACH):
        simulation.simulate(seed)  # raises `Wrong` with the seed


def test_a_seed_replays():
    told = [[], []]
    counts = [simulation.simulate(7, lines.append) for lines in told]
    assert told[0] == told[1] != []
    assert counts[0] == counts[1]


def count_at_once(self, number, pending):
    """Towards a certificate, in the order in which values arrive."""
    if self.search is not None and number in self._held:
        held = self._held.pop(number)
        self.search.observations.count(held.point, held.value)


def spent_by_then(self, before=None):
    """Without those that run."""
    return 0 if before is not None else len(self._ended)


FLAWS = {
    "values count as they arrive": lambda: mock.patch.object(StudyReplay, "_count_held", count_at_once),
    "nobody waits for those who choose": lambda: mock.patch.object(StudyReplay, "asking_before", return_value=[]),
    "the budget is not looked at again": lambda: mock.patch.object(StudyReplay, "spent", spent_by_then),
    "dead workers keep their trials": lambda: mock.patch.object(lease, "MISSED", 50),
}


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_flaw_is_noticed(flaw):
    with FLAWS[flaw](), pytest.raises(simulation.Wrong, match=r"seed \d+: "):
        all(map(simulation.simulate, range(200)))
