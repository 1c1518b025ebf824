"""`certify`: runs of one given setting, stored, resumed, in threads and processes."""

import sys
import threading
import time
from itertools import count

import optuna
import pytest
from numpy.random import default_rng
from optuna.storages import InMemoryStorage
from optuna.trial import TrialState

from satisfice import BadInput, TooManyFailures, WrongType, certify, find
from satisfice.search.specification import Requirement
from satisfice.study.certify import Numbered
from satisfice.study.gate_replay import GateReplay, gate_answer_of
from satisfice.study.proposal import ERROR, WORKER_LOST


def flaky(p, seed=0):
    rng = default_rng(seed)
    return lambda: bool(rng.random() < p)


@pytest.mark.parametrize(("p", "verdict"), [(1.0, "good"), (0.99, "good"), (0.7, "bad")])
def test_flaky_runs_are_judged(p, verdict):
    answer = certify(flaky(p), ">= 0.9", rate=True)
    assert answer.verdict == verdict
    assert answer.evaluations < 200


def test_a_budget_ends_it_and_a_larger_one_continues():
    storage, run = InMemoryStorage(), flaky(0.97)
    first = certify(run, ">= 0.9", rate=True, budget=10, storage=storage, name="gate")
    assert (first.verdict, first.evaluations) == ("open", 10)
    assert first.needed is None or first.needed > 0
    last = certify(run, ">= 0.9", rate=True, budget=500, storage=storage, name="gate")
    assert last.verdict == "good"
    again = certify(run, ">= 0.9", rate=True, budget=500, storage=storage, name="gate")
    assert (again.verdict, again.evaluations) == ("good", last.evaluations)
    assert str(gate_answer_of(again.study)) == str(again)


def test_runs_in_a_file_are_kept(tmp_path):
    run = flaky(0.97)
    certify(run, ">= 0.7", rate=True, budget=5, storage=tmp_path / "gate.db", name="gate")
    answer = certify(run, ">= 0.7", rate=True, budget=400, storage=tmp_path / "gate.db", name="gate")
    assert answer.verdict == "good"
    whole = certify(flaky(0.97), ">= 0.7", rate=True, budget=400)
    assert whole.evaluations == answer.evaluations  # as if it had never been interrupted


def test_the_target_of_the_current_call_counts():
    storage, run = InMemoryStorage(), flaky(0.9)
    assert certify(run, ">= 0.99", rate=True, storage=storage, name="gate").verdict == "bad"
    assert certify(run, ">= 0.5", rate=True, storage=storage, name="gate").verdict == "good"


def test_values_count_in_the_order_in_which_the_runs_began():
    """A slow run that began first holds back all others: a verdict from the fast ones would rest on a selection."""
    number, gate, seen = count(), threading.Event(), []

    def run():
        if next(number) == 0:
            gate.wait(5)
            return False
        seen.append(1)
        if len(seen) == 50:
            gate.set()
        return True

    answer = certify(run, ">= 0.8", rate=True, n_jobs=2, budget=70)
    assert len(seen) >= 50  # though thirty passes alone would have been enough
    assert answer.requirements[0].passed == answer.evaluations - 1


def test_a_pair_is_run_in_alternating_order_and_compared():
    called, rng = [], default_rng(0)

    def run(which, shift):
        called.append(which)
        return rng.normal(shift, 1.0)

    answer = certify(lambda: run("b", 1.0), against=lambda: run("a", 0.0), noise="gaussian")
    assert answer.verdict == "good"
    assert called[:6] == ["b", "a", "a", "b", "b", "a"]
    worse = certify(lambda: run("b", -1.0), against=lambda: run("a", 0.0), margin=0.2, noise="gaussian")
    assert worse.verdict == "bad"
    slower = certify(lambda: run("b", 1.0), against=lambda: run("a", 0.0), direction="minimize", margin=0.2, noise=2.0)
    assert slower.verdict == "bad"
    within = certify(flaky(0.95), against=flaky(0.95, 1), rate=True, margin=0.1)
    assert within.verdict == "good"
    trial = worse.study.trials[0]
    assert trial.user_attrs["satisfice:values"]["run"] - trial.user_attrs["satisfice:values"]["against"] == trial.value


def test_a_specification_takes_dicts():
    rng = default_rng(0)

    def run():
        return {"accuracy": min(rng.normal(0.95, 0.01), 1.0), "seconds": rng.normal(1.0, 0.2), "more": "text"}

    target = {"accuracy": Requirement("accuracy", ">=", 0.9, value_range=(0, 1)), "seconds": "<= 2"}
    storage = InMemoryStorage()
    answer = certify(run, target, storage=storage, name="gate")
    assert answer.verdict == "good"
    assert [each.requirement.name for each in answer.requirements] == ["accuracy", "seconds"]
    assert str(gate_answer_of(answer.study)) == str(answer)
    assert certify(run, "accuracy >= 0.9").verdict == "good"


def test_params_are_passed_on():
    rng, seen = default_rng(0), []

    def run(params):
        seen.append(params)
        return rng.normal(params["level"], 1.0)

    assert certify(run, ">= 2", params={"level": 5}, noise=1.0).verdict == "good"
    assert seen[0] == {"level": 5}


def test_a_numbered_run_gets_a_new_seed_each_time_and_the_same_ones_again():
    def seeds_of(storage, **more):
        seen = []

        def run(number, seed):
            seen.append((number, seed))
            return seed % 2

        certify(Numbered(run), ">= 0.9999", storage=storage, name="gate", rate=True, budget=1, **more)
        certify(Numbered(run), ">= 0.0001", storage=storage, name="gate", rate=True, budget=3)
        return seen

    one, two = seeds_of(InMemoryStorage(), seed=7), seeds_of(InMemoryStorage(), seed=7)
    assert one == two
    assert len({seed for _, seed in one}) == len(one) == len({number for number, _ in one})


def test_a_command_is_a_run():
    script = "import random, sys; draw = random.Random(int(sys.argv[1])); "
    value = [sys.executable, "-c", script + "print(draw.gauss(1, 0.1))", "{seed}"]
    assert certify(value, ">= 0.8", noise=0.1, seed=1).verdict == "good"
    exits = [sys.executable, "-c", script + "sys.exit(draw.random() > 0.4)", "{seed}"]
    assert certify(exits, ">= 0.9", rate=True, seed=1).verdict == "bad"
    both = [sys.executable, "-c", script + 'print(\'{{"a": %r, "b": 1}}\' % draw.random())', "{seed}"]
    assert (
        certify(both, {"a": Requirement("a", "<=", 0.99, value_range=(0, 1)), "b": "<= 2"}, budget=2).evaluations == 2
    )
    with pytest.raises(BadInput, match="are filled in"):
        certify([sys.executable, "{x}"], ">= 1")
    with pytest.raises(BadInput, match="There is no program 'no-such-program'"):
        certify(["no-such-program"], ">= 1")


def test_runs_that_fail_are_counted_and_a_broken_one_ends_it():
    number = count()

    def run():
        if next(number) % 5 == 0:
            raise RuntimeError("out of memory")
        return default_rng(next(number)).normal(1.0, 1.0)

    answer = certify(run, ">= 0", noise=1.0)
    assert answer.verdict == "good"
    assert answer.failures > 0
    assert "out of memory" in str(answer)

    def broken():
        raise RuntimeError("no such file")

    with pytest.raises(TooManyFailures, match="no such file"):
        certify(broken, ">= 0", noise=1.0)
    failed = certify(broken, ">= 0.9", rate=True)
    assert failed.verdict == "bad"
    assert "no such file" in str(failed)


def test_values_that_cannot_be_used_are_failures():
    with pytest.raises(TooManyFailures, match="within the range 0 to 1"):
        certify(lambda: 93.0, ">= 0.9", value_range=(0, 1))
    with pytest.raises(WrongType, match="must return a dict with 'a'"):
        certify(lambda: 93.0, {"a": ">= 0.9", "b": ">= 1"})
    with pytest.raises(TooManyFailures, match="must return a dict with 'a', 'b'"):
        certify(lambda: {"a": 1.0}, {"a": ">= 0.9", "b": ">= 1"})
    for asked in ({"rate": True}, {"noise": 1.0}):
        with pytest.raises(WrongType, match="A `return` may be missing"):
            certify(lambda: None, ">= 0.9", **asked)
    assert "must return True or False" in str(certify(lambda: 0.93, ">= 0.9", rate=True))


def test_a_fixed_value_stops_early_and_needs_to_be_stated():
    calls = []
    answer = certify(lambda: calls.append(1) or 3.5, "<= 4")
    assert answer.verdict == "open"
    assert len(calls) < 30
    assert certify(lambda: 3.5, "<= 4", noise=0).evaluations == 1
    assert certify(lambda: 3.5, "<= 3", noise=0).verdict == "bad"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"run": 3}, "`run` must be a function"),
        ({"target": None}, "`target` must be a finite number"),
        ({"target": "> 0.9"}, "must compare by >= or <="),
        ({"target": "0.9"}, "must be"),
        ({"confidence": 0.3}, "`confidence` must lie between 0.5 and 1"),
        ({"noise": "abc"}, "'gaussian', 'learn' or None; got 'abc'"),
        ({"noise": -1.0}, "0 or more"),
        ({"noise": "gaussian", "rate": True}, "`noise` must not be 'gaussian'"),
        ({"rate": True, "quantile": 0.9}, "must not be given together"),
        ({"rate": True, "target": ">= 1"}, "between 0 and 1"),
        ({"quantile": 1.5}, "between 0 and 1"),
        ({"value_range": (0, 0.5)}, "within `value_range`"),
        ({"margin": 0.1}, "`margin` must be left out without"),
        ({"against": lambda: 1.0}, "`target` must be left out with"),
        ({"against": lambda: 1.0, "target": None, "margin": -1}, "`margin` must be 0 or more"),
        ({"against": 3, "target": None}, "`against` must be a function"),
        ({"against": lambda: 1.0, "target": None, "value_range": (1, 0)}, "low < high"),
        ({"budget": 0}, "`budget` must be"),
        ({"n_jobs": 0}, "`n_jobs` must be"),
        ({"timeout": 0}, "`timeout` must be"),
        ({"params": 3}, "`params` must be"),
        ({"direction": "up"}, "`direction` must be"),
        ({"direction": "minimize"}, "`direction` must fit the target"),
        ({"target": {"a": ">= 1"}, "noise": 1.0}, "stated for each requirement"),
        ({"target": ["b >= 1", Requirement("a", ">=", 1, deferred=True)]}, "`deferred` must be left out"),
        ({"target": {"a": ">= 1"}, "direction": "maximize"}, "`direction` must be left out"),
    ],
    ids=lambda each: each if isinstance(each, str) else "given",
)
def test_bad_input_is_refused(given, message):
    call = {"run": lambda: 1.0, "target": ">= 0.9", **given}
    with pytest.raises(BadInput, match=message):
        certify(**call)


def test_another_gate_or_a_search_is_refused():
    storage = InMemoryStorage()
    certify(flaky(1.0), ">= 0.9", rate=True, storage=storage, name="gate", budget=2)
    with pytest.raises(BadInput, match="Use another name"):
        certify(lambda: {"a": 1.0, "b": 2.0}, {"a": ">= 0", "b": ">= 0"}, storage=storage, name="gate")
    with pytest.raises(BadInput, match="which are value"):
        certify(flaky(1.0), against=flaky(1.0), rate=True, storage=storage, name="gate")
    find(lambda p: p["x"], {"x": (0.0, 1.0)}, 0.0, noise=0, storage=storage, name="search")
    with pytest.raises(BadInput, match="is a search"):
        certify(flaky(1.0), ">= 0.9", rate=True, storage=storage, name="search")


def test_a_number_is_a_target_with_a_direction():
    rng = default_rng(0)
    assert certify(lambda: rng.normal(3, 1), 2.0, direction="minimize", noise=1.0).verdict == "bad"
    assert certify(lambda: rng.normal(3, 1), 2.0, noise=1.0).verdict == "good"


def test_time_may_end_it():
    answer = certify(lambda: time.sleep(0.05) or 1.0, ">= 0.5", value_range=(0, 1), timeout=0.2, budget=1000)
    assert answer.verdict == "open"
    assert answer.evaluations < 20


def test_a_replay_in_pieces_says_what_one_in_whole_does():
    storage = InMemoryStorage()
    answer = certify(flaky(0.93), ">= 0.9", rate=True, storage=storage, name="gate", budget=60)
    pieces, whole = GateReplay(answer.study.sampler.config), GateReplay(answer.study.sampler.config)
    part = optuna.create_study(direction="maximize")
    for trial in answer.study.trials:
        part.add_trial(trial)
        pieces.catch_up(part)
    whole.catch_up(answer.study)
    assert str(pieces.answer(brief=False)) == str(whole.answer(brief=False)) == str(answer)


def test_two_calls_at_once_work_on_one_gate():
    storage, answers = InMemoryStorage(), []

    def call(seed):
        run = flaky(0.95, seed)
        answers.append(certify(run, ">= 0.8", rate=True, storage=storage, name="gate", budget=300))

    threads = [threading.Thread(target=call, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.verdict for answer in answers] == ["good", "good"]
    assert answers[0].evaluations == answers[1].evaluations


def test_a_run_whose_worker_died_is_told_of_and_one_that_was_pruned_failed():
    storage = InMemoryStorage()
    rng = default_rng(0)
    answer = certify(lambda: rng.normal(1, 1), ">= 0", noise=1.0, storage=storage, name="gate", budget=2)
    lost = optuna.trial.create_trial(state=TrialState.FAIL, system_attrs={ERROR: WORKER_LOST})
    answer.study.add_trial(lost)
    answer.study.add_trial(optuna.trial.create_trial(state=TrialState.PRUNED))
    again = gate_answer_of(answer.study)
    assert (again.evaluations, again.failures) == (2, 1)
    assert "runs whose worker was lost, and that do not count: 1" in again.notes
    replay = answer.study.sampler
    with replay.replaying(answer.study) as known:
        assert (known.endings, known.spent(), known.spent(before=2), known.errors(3)[0]) == (3, 3, 2, 1)


def test_a_gate_suggests_nothing():
    study = certify(flaky(1.0), ">= 0.9", rate=True, budget=1).study
    with pytest.raises(BadInput, match="one setting"):
        study.ask().suggest_float("x", 0, 1)
