"""Trials are read with a few plain SELECTs, and are the ones that Optuna itself reads."""

import math

import optuna
import pytest
import sqlalchemy
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import RDBStorage
from optuna.trial import TrialState, create_trial

from satisfice.study import _optuna
from satisfice.study.workers.storage import open_storage

SPACE = {
    "rate": FloatDistribution(1e-5, 1.0, log=True),
    "depth": IntDistribution(2, 12),
    "share": FloatDistribution(0.0, 1.0, step=0.25),
    "solver": CategoricalDistribution(["adam", None, True, 3, 2.5]),
}
VALUES = [0.1, -0.0, 1e308, math.inf, -math.inf]


@pytest.fixture
def storage(where):
    """A storage with a study in which everything occurs that a trial can have, and another study beside it."""
    storage = open_storage(where)
    study = optuna.create_study(study_name="one", storage=storage)
    for k, value in enumerate(VALUES):
        params = {"rate": 10.0**-k, "depth": 2 + k, "share": 0.25 * (k % 5), "solver": SPACE["solver"].choices[k]}
        study.add_trial(create_trial(value=value, params=params, distributions=SPACE, user_attrs={"note": [k, None]}))
    study.add_trial(create_trial(state=TrialState.FAIL, system_attrs={"why": {"text": "ä\n"}, "more": 1}))
    steps = {0: 1.0, 5: math.nan, 7: math.inf, 9: -math.inf}
    study.add_trial(create_trial(state=TrialState.PRUNED, intermediate_values=steps))
    study.enqueue_trial({"depth": 3})
    running = study.ask()
    running.suggest_int("depth", 2, 12)
    optuna.create_study(study_name="two", storage=storage, directions=["minimize", "maximize"]).add_trial(
        create_trial(values=[1.0, 2.0])
    )
    return storage


def test_they_are_the_trials_that_optuna_reads(storage):
    for study_id in range(1, 3):
        ours = storage._get_trials(study_id, None, set(), -1)
        theirs = RDBStorage._get_trials(storage, study_id, None, set(), -1)
        assert len(ours) == len(theirs) > 0
        assert repr(ours) == repr(theirs)  # NaN is not equal to itself
        for one, other in zip(ours, theirs, strict=True):
            assert list(one.params) == list(other.params)
            assert [*map(type, one.params.values())] == [*map(type, other.params.values())]
            if one.state == TrialState.COMPLETE:
                assert one == other


@pytest.mark.parametrize("at_once", [2, 500])
def test_new_ones_and_those_that_were_unfinished_are_read_alone(storage, monkeypatch, at_once):
    monkeypatch.setattr(_optuna, "IDS_AT_ONCE", at_once)
    for wanted in ({1, 3, 4, 5, 7}, set(), {9}):
        ours = storage._get_trials(1, None, set(wanted), 6)
        assert [trial.number + 1 for trial in ours] == sorted({*wanted, 7, 8})[: len(ours)]
        assert repr(ours) == repr(RDBStorage._get_trials(storage, 1, None, set(wanted), 6))
    failed = storage._get_trials(1, (TrialState.FAIL,), set(), -1)
    assert [trial.state for trial in failed] == [TrialState.FAIL]
    with pytest.raises(KeyError):
        storage._get_trials(77, None, set(), -1)


def test_the_number_of_statements_does_not_grow_with_the_study(storage):
    said = []
    sqlalchemy.event.listen(storage.engine, "before_cursor_execute", lambda *args: said.append(args[2]))

    def statements():
        del said[:]
        found = storage._get_trials(1, None, set(), -1)
        return len(said), len(found)

    before, few = statements()
    more = [{"number": few + k, "study_id": 1, "state": TrialState.FAIL} for k in range(600)]
    with storage.engine.begin() as connection:
        connection.execute(sqlalchemy.insert(_optuna.Trial.__table__), more)
    after, many = statements()
    assert many == few + 600
    assert after == before <= 10
