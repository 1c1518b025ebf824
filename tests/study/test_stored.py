"""Searches whose evaluations people make: asked and told by name, in a storage, over days and by several processes."""

import random

import optuna
import pytest

import nursery
from satisfice import BadInput, Box, Search, SpaceExhausted, answer_of, find, open_search
from satisfice.study.corrections import TOLD
from satisfice.study.replay import StudyReplay
from satisfice.study.workers.lease import Look, reclaim

SPACE = {"temperature": (20, 90, 5), "solvent": ["water", "ethanol"], "conc": (0.1, 1.0)}


def opened(where, **more):
    return open_search("lab", where, SPACE, 80, **{"noise": 1.5, "seed": 3, **more})


@pytest.fixture
def lab():
    return opened(optuna.storages.InMemoryStorage())


@pytest.fixture
def kept(tmp_path):
    return opened(tmp_path / "lab.db")


def reopened(search, **more):
    return open_search("lab", search.study._storage, **more)


def test_a_batch_is_named_spread_and_waits(kept, tmp_path):
    lab = kept
    batch = lab.ask(4, by="Ada")
    assert [each.number for each in batch] == [0, 1, 2, 3]
    assert all(set(each) == set(SPACE) for each in batch)
    assert len({tuple(each.values()) for each in batch}) == 4  # without values there is nothing to repeat
    again = open_search("lab", tmp_path / "lab.db")  # as another process does, days later
    assert again.waiting() == batch
    assert [(each.number, each.by) for each in again.waiting()] == [(k, "Ada") for k in range(4)]
    assert [row["state"] for row in again.table()] == ["waiting"] * 4


def test_results_are_told_by_number_by_dict_and_by_what_was_asked(lab):
    first, second, third = lab.ask(3)
    assert [lab.tell(first, 71.5), lab.tell(dict(second), 72), lab.tell(third.number, 73.25)] == ["told"] * 3
    assert [row["value"] for row in reopened(lab).table()] == [71.5, 72.0, 73.25]
    own = {"temperature": 40, "solvent": "water", "conc": 0.5}
    assert lab.tell(own, 66.0) == "told"
    assert lab.table()[-1] == lab.table()[-1] | own | {"value": 66.0, "state": "complete"}
    assert lab.answer().evaluations == 4


def test_telling_once_more_is_harmless_and_another_value_is_refused(lab):
    (asked,) = lab.ask()
    lab.tell(asked, 71.5)
    assert lab.tell(asked, 71.5) == "known"
    assert lab.fail(lab.ask()[0], "leak") == "told"
    assert lab.fail(1) == lab.fail(1, "leak") == "known"
    before = lab.study.get_trials()
    for refused in (
        lambda: lab.tell(asked, 71.6),
        lambda: lab.fail(asked),
        lambda: lab.tell(1, 3.0),
        lambda: lab.fail(1, "broke"),
    ):
        with pytest.raises(BadInput, match=r"has a result already: .*pass `correct=True`"):
            refused()
    assert lab.study.get_trials() == before


@pytest.mark.parametrize("value", [float("nan"), None, "71.5", [71.5], {"value": 3}, 1e400])
def test_a_bad_value_changes_nothing(lab, value):
    lab.ask()
    with pytest.raises(BadInput, match="`value` must be a finite number"):
        lab.tell(0, value)
    assert len(lab.waiting()) == 1


@pytest.mark.parametrize("trial", [1, -1, True, 0.0, "0", None])
def test_a_number_that_nobody_was_asked_for_is_refused(lab, trial):
    lab.ask()
    with pytest.raises(BadInput, match="`trial` must be"):
        lab.tell(trial, 3.0)


def test_a_value_outside_of_the_range_is_refused():
    lab = opened(optuna.storages.InMemoryStorage(), noise=None, value_range=(0, 100))
    lab.ask()
    with pytest.raises(BadInput, match="`value` must lie within the range 0 to 100; got 101"):
        lab.tell(0, 101)


def test_a_correction_counts_at_once_and_for_everyone_and_is_logged(lab):
    lab.ask(6)
    for each in (0, 1, 2, 3):
        lab.tell(each, 6000.0 + each)
    assert lab.tell(0, 60.0, correct=True, by="Bob") == "corrected"
    assert lab.fail(1, "leak", correct=True) == "corrected"
    assert lab.undo(2) == "corrected"
    assert lab.cancel(3, correct=True) == "corrected"
    again = reopened(lab)
    for each in (lab, again):
        states = {row["number"]: (row["state"], row["value"]) for row in each.table()}
        assert states == {
            0: ("complete", 60.0), 1: ("failed", None), 2: ("waiting", None), 3: ("cancelled", None),
            4: ("waiting", None), 5: ("waiting", None),
        }  # fmt: skip
        assert (each.answer().evaluations, each.answer().failures) == (1, 1)
        assert "results that were corrected by hand: 4" in each.answer().notes
    assert [(row["trial"], row["was"], row["now"], row["by"]) for row in again.log()] == [
        (0, "6000.0", "60.0", "Bob"),
        (1, "6001.0", "failed: leak", ""),
        (2, "6002.0", "waiting", ""),
        (3, "6003.0", "cancelled: no reason was given", ""),
    ]
    assert again.tell(2, 62.0) == "told"  # it waits as any other does
    assert again.undo(2) == "corrected"
    assert again.undo(2) == "known"


def test_the_searches_after_a_correction_know_the_same_values():
    storages = [optuna.storages.InMemoryStorage() for _ in range(2)]
    wrong, right = map(opened, storages)
    batch = right.ask(5)
    assert wrong.ask(5) == batch
    for k, each in enumerate(batch):
        wrong.tell(each, 10.0 * k if k != 2 else 1e6)
        right.tell(each, 10.0 * k)
    assert wrong.answer().value != right.answer().value  # it has read the wrong value before that is corrected
    wrong.tell(batch[2], 20.0, correct=True)
    for answer in (wrong.answer(), open_search("lab", storages[0]).answer(), answer_of(wrong.study)):
        assert (answer.value, answer.params, answer.probability) == (
            right.answer().value, right.answer().params, right.answer().probability
        )  # fmt: skip


def test_what_waits_is_never_taken_for_dead(kept):
    lab = kept
    lab.ask(2)
    looks: dict[int, Look] = {}
    assert [reclaim(lab.study, looks, now=lambda at=10.0 * k: at) for k in range(100)] == [[]] * 100
    assert len(lab.waiting()) == 2


def test_a_program_does_not_wait_for_people(lab):
    """`find` on the same study goes on beside experiments that wait, and ends when its budget is spent."""
    lab.ask(2)
    found = find(lambda p: 1.0, SPACE, 80, noise=1.5, storage=lab.study._storage, name="lab", budget=4)
    assert found.evaluations == 2
    assert found.verdict == "open"


def test_an_interrupted_ask_leaves_nothing_waiting(lab, monkeypatch):
    monkeypatch.setattr(StudyReplay, "ask", lambda self, number: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        lab.ask()
    assert [row["state"] for row in lab.table()] == ["cancelled"]
    assert lab.answer().failures == 0


def test_an_empty_table_gives_fewer_and_then_says_so():
    table = open_search("t", optuna.storages.InMemoryStorage(), [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}], 9.0, noise=0)
    assert len(table.ask(5)) == 3
    with pytest.raises(SpaceExhausted):
        table.ask(2)
    for k in range(3):
        table.tell(k, float(k))
    assert table.answer().verdict == "none"


def test_what_is_opened_without_a_space_must_exist(lab):
    with pytest.raises(BadInput, match="`name` must be that of a study in the storage, which holds 'lab'; got 'lob'"):
        open_search("lob", lab.study._storage)
    with pytest.raises(BadInput, match="`noise` must come with a `space`"):
        reopened(lab, noise=2.0)
    with pytest.raises(BadInput, match="`target` must be given with a `space`"):
        open_search("new", lab.study._storage, SPACE)
    with pytest.raises(BadInput, match=r"`space\['conc'\]` must be"):
        open_search("lab", lab.study._storage, {**SPACE, "conc": (0.0, 1.0)}, 80)
    assert reopened(lab, target=90).config.target == 90
    assert reopened(lab).config.target == 90
    optuna.create_study(study_name="other", storage=lab.study._storage)
    with pytest.raises(BadInput, match="must have its parameters stored"):
        open_search("other", lab.study._storage)


def test_a_request_with_a_key_counts_once_however_often_it_comes(kept):
    asked = kept.ask(3, by="Ada", key="a")
    assert kept.ask(3, key="a") == reopened(kept).ask(3, key="a") == asked
    assert len(kept.waiting()) == 3
    assert [each.number for each in kept.ask(5, key="a")] == [0, 1, 2, 3, 4]  # as after a crash in the middle
    assert kept.tell(0, 70.0, key="b") == "told"
    assert kept.tell(0, 71.0, correct=True, by="Bob") == "corrected"
    assert kept.tell(0, 70.0, key="b") == reopened(kept).tell(0, 70.0, key="b") == "told"  # its answer was lost
    assert kept.tell(0, 72.0, correct=True, key="c") == "corrected"
    assert kept.tell(0, 73.0, correct=True) == "corrected"
    assert kept.tell(0, 72.0, correct=True, key="c") == "corrected"
    assert kept.table()[0]["value"] == 73.0
    own = {"temperature": 40, "solvent": "water", "conc": 0.5}
    assert [kept.tell(own, 66.0, key="d") for _ in range(2)] == ["told"] * 2
    assert kept.fail(dict(asked[1]), "leak", key="e") == kept.fail(dict(asked[1]), "leak", key="e") == "told"
    assert kept.cancel(dict(asked[2]), key="f") == kept.cancel(dict(asked[2]), key="f") == "told"
    assert kept.undo(1, key="g") == "corrected"
    assert kept.fail(1, "broke") == "told"
    assert kept.undo(1, key="g") == "corrected"
    assert [row["state"] for row in kept.table()] == [
        "complete", "failed", "cancelled", "waiting", "waiting", "complete"
    ]  # fmt: skip


def test_a_key_whose_result_lost_the_race_is_no_proof(kept):
    """Two people tell at once: the one who was slower had left her key in the trial, but not her result."""
    kept.ask(1)
    trial_id = kept.study.get_trials()[0]._trial_id
    kept.study._storage.set_trial_system_attr(trial_id, TOLD, {"key": "slow", "state": "complete", "value": 70.0})
    kept.tell(0, 75.0)
    with pytest.raises(BadInput, match=r"has a result already: 75\.0; got 70\.0"):
        kept.tell(0, 70.0, key="slow")


WORKER = """
import sys
from satisfice.study.open_search import open_search
lab = open_search("lab", sys.argv[1])
for each in lab.ask(3, by=sys.argv[2]):
    lab.tell(each, 50.0 + int(sys.argv[2]))
"""


def test_several_people_ask_and_tell_at_once(kept, tmp_path):
    people = [nursery.fork(WORKER, str(tmp_path / "lab.db"), str(k)) for k in range(3)]
    for each in people:
        _, errors = each.communicate(timeout=120)
        assert each.returncode == 0, errors
    rows = reopened(kept).table()
    assert sorted(row["value"] for row in rows) == [50.0] * 3 + [51.0] * 3 + [52.0] * 3
    first = [tuple(row[name] for name in SPACE) for row in rows[:3]]
    assert len(set(first)) == 3


@pytest.mark.parametrize("seed", range(4))
def test_the_log_holds_against_a_model_of_it(seed):
    """Random asks, results, corrections and reopenings: the table is what a dict that is simply overwritten says."""
    rng, storage = random.Random(seed), optuna.storages.InMemoryStorage()  # noqa: S311
    lab = open_search("m", storage, {"x": (0.0, 1.0)}, 5.0, noise=0, rule="sobol", seed=seed)
    states = {
        "tell": ("complete", 1.0),
        "fail": ("failed", None),
        "cancel": ("cancelled", None),
        "undo": ("waiting", None),
    }
    expected: dict[int, tuple[str, float | None]] = {}
    for _ in range(40):
        act = rng.choice(["ask", "tell", "tell", "fail", "cancel", "undo", "reopen"])
        if act == "ask" or not expected:
            expected |= {each.number: ("waiting", None) for each in lab.ask(rng.choice([1, 2]))}
        elif act == "reopen":
            lab = open_search("m", storage)
        else:
            number, correct, value = rng.choice(sorted(expected)), rng.random() < 0.6, rng.choice([1.0, 2.0])
            value += number
            new = ("complete", value) if act == "tell" else states[act]
            words = {} if act == "undo" else {"correct": correct}
            if expected[number] in (new, ("waiting", None)) or correct or act == "undo":
                getattr(lab, act)(number, *([value] if act == "tell" else []), **words)
                expected[number] = new
            else:
                with pytest.raises(BadInput, match="has a result already"):
                    getattr(lab, act)(number, *([value] if act == "tell" else []), **words)
        assert {row["number"]: (row["state"], row["value"]) for row in lab.table()} == expected
        assert [each.number for each in lab.waiting()] == sorted(
            k for k, was in expected.items() if was[0] == "waiting"
        )


def test_a_search_in_memory_asks_for_several_at_once():
    search = Search(Box([(0, 1), (0, 1)]), target=5.0, noise=0)
    batch = search.ask(n=4)
    assert len({tuple(x) for x in batch}) == 4
    assert search.ask(pending=batch[:3]).tolist() == batch[3].tolist()
    with pytest.raises(BadInput, match=r"For several points at once write ask\(n=4\)"):
        search.ask(4)
    with pytest.raises(BadInput, match="`n` must be a whole number, 1 or more"):
        search.ask(n=0)
