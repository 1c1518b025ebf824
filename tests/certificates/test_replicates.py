"""Replicates under noise: which values are fresh, what is tested, and when a point is replicated."""

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, Finite, Search
from satisfice.certificates.eprocess import Bounded, KnownNoise, LearnedNoise, bar
from satisfice.certificates.replicates import Prospect, ReplicateLog, certificate, own_spread, plan_replication
from satisfice.domain.parameters import Levels, LogInteger
from satisfice.domain.product import Product
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.search.draws import ENOUGH

LINE = Box([(0.0, 1.0)])
A, B, C = b"a", b"b", b"c"


def test_all_but_the_first_two_values_at_a_point_are_fresh():
    log = ReplicateLog()
    told = [(A, 1.0), (B, 2.0), (A, 3.0), (A, 4.0), (C, 0.0), (B, 6.0), (A, 5.0)]
    entered = [log.add(key, value, True) and log.count(key, value) for key, value in told]
    assert entered == [False, False, False, True, False, False, True]
    assert log.fresh == {A: [4.0, 5.0]}
    assert log.looked == {A, B}
    assert log.current == A
    assert log.add(B, 5.0, fresh=False) is False
    assert B not in log.fresh
    assert log.replicate(B)
    assert log.fresh == {A: [4.0, 5.0], B: []}
    assert not log.replicate(b"never seen")


def told(*values: tuple[bytes, float], fresh: bool = True) -> ReplicateLog:
    log = ReplicateLog()
    for key, value in values:
        log.add(key, value, fresh)
    return log


def noise_free(log: ReplicateLog) -> bool | None:
    return log.exactness.noise_free


def test_identical_replicates_of_ordinary_values_mean_noise_free():
    fine, other = 0.1 * np.pi, 0.01 * np.e
    three = [(A, 1.1 * np.pi), (B, fine), (C, other)]
    assert noise_free(told(*three)) is None
    assert noise_free(told(*three, (A, 1.1 * np.pi))) is None  # the best value may be a cap
    assert noise_free(told(*three, (A, 1.1 * np.pi), (B, fine), (C, other))) is True
    assert noise_free(told(*three, (A, 1.1 * np.pi), (B, fine), (C, other), (A, 0.3))) is False


@pytest.mark.parametrize("value", [0.92, 3.0, 28 / 30, -7.0])
def test_identical_counts_grades_and_shares_may_be_coincidence(value):
    others = [(bytes([k]), value + 1.5 - k) for k in range(5)]
    assert noise_free(told(*others, (A, value), *3 * [(A, value)])) is None
    assert (
        noise_free(told(*others, (A, value), *4 * [(A, value)])) is None
    )  # one setting may be far from where it changes
    assert noise_free(told(*others, (A, value), (A, value), *others)) is True
    grades = [(bytes([k]), value) for k in range(6)]  # a bound, as far as can be seen
    assert noise_free(told(*grades, *8 * [(A, value)])) is None


def test_equal_passes_do_not_mean_that_there_is_no_noise():
    assert noise_free(told(*30 * [(A, 1.0)])) is None
    assert noise_free(told((B, 0.0), *40 * [(A, 1.0)])) is True


def test_a_table_does_not_show_whether_there_is_noise():
    fine = 0.1 * np.pi
    assert noise_free(told((A, fine), (A, fine), (A, 0.5), fresh=False)) is None
    log = told((A, 0.31), (B, 5.0), fresh=False)  # rounded rows, then values of our own
    for key, value in [(A, fine), (B, 1.0 + fine), (B, 1.0 + fine), (A, fine), (A, fine)]:
        assert noise_free(log) is None
        log.add(key, value, True)
    assert noise_free(log) is True


def prospect(index, gap, **more):
    given = {"spread": 1.0, "evidence": 0.0, "tested": False, "current": False} | more
    return Prospect(index=index, gap=gap, **given)


def test_the_cheapest_point_is_replicated_if_it_is_affordable():
    test = KnownNoise(1.0)
    now = plan_replication(test, [prospect(0, -1.0), prospect(1, 1.0), prospect(2, 2.0)], 0.0, 0.05, 0, 8, 0)
    assert now.repeat == now.cheapest == 2
    assert now.cost == pytest.approx(2 * bar(test, 1 / 40) / 4)
    far = plan_replication(test, [prospect(0, 0.1)], 0.0, 0.05, 0, 8, 0)
    assert far.repeat is None
    assert far.cost == pytest.approx(2 * bar(test, 1 / 40) / 0.01)
    assert plan_replication(test, [prospect(0, -1.0)], 0.0, 0.05, 0, 8, 0).cheapest is None
    at_the_margin = plan_replication(test, [prospect(0, far.margin + 1e-9)], 0.0, 0.05, 0, 8, 0)
    assert at_the_margin.repeat == 0
    assert plan_replication(test, [prospect(0, far.margin - 1e-3)], 0.0, 0.05, 0, 8, 0).repeat is None


def test_the_current_candidate_is_kept_unless_another_is_much_cheaper():
    test = KnownNoise(1.0)
    present = prospect(0, 1.0, tested=True, current=True)
    assert plan_replication(test, [present, prospect(1, 1.05)], 0.0, 0.05, 1, 8, 0).repeat == 0
    assert plan_replication(test, [present, prospect(1, 3.0)], 0.0, 0.05, 1, 8, 0).repeat == 1
    nearly_there = prospect(0, 1.0, tested=True, current=True, evidence=3.0)
    assert plan_replication(test, [nearly_there, prospect(1, 3.0)], 0.0, 0.05, 1, 8, 0).repeat == 0


def test_at_most_four_replicates_are_affordable_per_other_evaluation():
    present = prospect(0, 0.4, tested=True, current=True)  # costs 2 log 40 / 0.16 = 46 repeats
    assert plan_replication(KnownNoise(1.0), [present], 0.0, 0.05, 1, 100, 20).repeat == 0
    assert plan_replication(KnownNoise(1.0), [present], 0.0, 0.05, 1, 100, 75).repeat is None


def test_the_noise_at_a_point_is_the_models_until_it_has_replicates():
    assert own_spread(np.array([1.0]), 2.0) == 2.0
    values = default_rng(0).normal(0, 0.5, 200)
    assert own_spread(values, 2.0) == pytest.approx(0.5, rel=0.25)


def test_the_level_falls_with_the_number_of_candidates():
    values = np.full(6, 1.0) + 0.1 * default_rng(0).standard_normal(6)
    assert certificate(LearnedNoise(), values, 0.0, 0.05, 1) is not None
    assert certificate(LearnedNoise(), values, 0.0, 0.05, 500) is None


def confirmed(search, f, sigma, seed, budget=200):
    rng = default_rng(seed)
    while search.answer().verdict == "open" and search.answer().evaluations < budget:
        x = search.ask()
        search.tell(x, f(x) + sigma * rng.standard_normal())
    return search.answer()


def test_each_e_process_states_whether_skewness_matters(monkeypatch):
    values = 2.0 - default_rng(0).exponential(0.1, 40)
    assert certificate(LearnedNoise(), values, 0.0, 0.05, 1).skewed
    assert not certificate(Bounded(-3.0, 3.0), values, 0.0, 0.05, 1).skewed
    monkeypatch.setattr(LearnedNoise, "guarantee", "valid as long as the bell curve is")  # whatever the words
    assert certificate(LearnedNoise(), values, 0.0, 0.05, 1).skewed


@pytest.mark.parametrize("noise", [0.3, "learn", None])
def test_a_good_point_is_certified_by_fresh_values(noise):
    search = Search(LINE, 0.5, noise=noise, seed=1)
    answer = confirmed(search, lambda x: 1 - 4 * (x[0] - 0.3) ** 2, 0.3, 1)
    assert answer.verdict == "good"
    assert 1 - 4 * (answer.point[0] - 0.3) ** 2 >= 0.5
    assert answer.certificate.bound >= 0.5
    assert answer.certificate.repeats >= 2
    assert answer.hope == 1.0
    assert "Gaussian" in answer.certificate.guarantee
    assert "fresh evaluations" in str(answer)


def test_minimising_certifies_on_the_other_side():
    search = Search(LINE, -0.5, direction="minimize", noise=0.3, seed=1)
    answer = confirmed(search, lambda x: 4 * (x[0] - 0.3) ** 2 - 1, 0.3, 1)
    assert answer.verdict == "good"
    assert answer.certificate.bound <= -0.5


def test_pass_and_fail_are_certified_by_their_range():
    rng = default_rng(0)
    search = Search(LINE, 0.8, value_range=(0, 1), seed=0)
    while (
        search.answer().verdict == "open" and search.answer().evaluations < 1000
    ):  # the longest of 8 searches took 195
        x = search.ask()
        search.tell(x, float(rng.random() < 0.97 - (x[0] - 0.6) ** 2))
    answer = search.answer()
    assert answer.verdict == "good"
    assert "any distribution" in answer.certificate.guarantee
    with pytest.raises(BadInput, match="within the stated range"):
        search.tell([0.5], 1.5)
    assert len(search.observations.y) == answer.evaluations


def test_a_bad_point_at_the_target_is_rarely_certified():
    """f lies just below the target: each of 60 searches may certify with probability at most 5 %; 8 or more with 1 %.

    A table and a known kernel: so many more points become candidates, and can be called good by chance, than on a line.
    """
    false, table = 0, Finite(np.linspace(0, 1, 21)[:, None])
    model = FixedModel(Stationary("se", np.array([0.3])), lam=1.0)
    for seed in range(60):
        search = Search(table, 0.0, noise="learn", model=model, seed=seed)
        rng = default_rng([7, seed])
        for _ in range(60):
            search.tell(search.ask(), -1e-9 + rng.standard_normal())
        false += search.answer().verdict == "good"
    assert false < 8


def test_values_that_are_not_fresh_certify_nothing():
    search = Search(LINE, 0.0, noise=1.0)
    for _ in range(50):
        search.tell([0.5], 5.0, fresh=False)
    assert search.answer().verdict == "open"
    assert search.observations.tested == 0
    search.tell([0.5], 5.0)
    assert search.observations.tested == 0
    search.tell([0.5], 5.0)
    assert search.observations.tested == 1


def test_unseen_candidates_raise_the_bar():
    alone, among_many = Search(LINE, 0.0, noise=1.0), Search(LINE, 0.0, noise=1.0)
    among_many.observations.unseen = 1000
    for value in (4.0, 4.0, 4.0, 4.0):
        for search in (alone, among_many):
            search.tell([0.5], value)
    assert alone.answer().verdict == "good"
    assert among_many.answer().verdict == "open"


def test_the_same_history_gives_the_same_replicates():
    first, second = (Search(LINE, 0.5, noise="learn", seed=3) for _ in range(2))
    rng = default_rng(3)
    for _ in range(40):
        x = first.ask()
        value = 1 - 4 * (x[0] - 0.3) ** 2 + 0.5 * rng.standard_normal()
        first.tell(x, value)
        second.tell(x, value)
    assert (first.ask() == second.ask()).all()
    assert str(first.answer()) == str(second.answer())


def test_pending_replicates_are_counted():
    search = Search(LINE, 0.0, noise=1.0, seed=0)
    for x in (0.1, 0.5, 0.9):
        search.tell([x], 3.0 - abs(x - 0.5))
    x = search.ask()
    assert x[0] in (0.1, 0.5, 0.9)
    assert (search.ask(pending=[x]) != x).all()  # one second look is enough
    search.tell(x, 3.0)
    assert (search.ask() == x).all()
    cost = search.answer().repeats
    assert (search.ask(pending=[x] * (cost - 1)) == x).all()
    assert (search.ask(pending=[x] * (cost + 1)) != x).all()


def test_confirm_false_leaves_every_question_to_the_rule():
    pure, confirming = (Search(LINE, 0.0, "random", noise=1.0, confirm=c, seed=0) for c in (False, True))
    for x in (0.1, 0.5, 0.9):
        pure.tell([x], 3.0)
        confirming.tell([x], 3.0)
    assert confirming.ask()[0] in (0.1, 0.5, 0.9)
    assert pure.ask()[0] not in (0.1, 0.5, 0.9)


def test_none_by_the_confidence_bounds_where_the_kernel_is_known():
    grid = LINE.grid(20)
    known = FixedModel(Stationary("se", np.array([0.3])), 0.01)
    unreachable, reachable = (Search(grid, target, model=known, noise=0.1) for target in (6.0, 0.9))
    rng = default_rng(0)
    for search in (unreachable, reachable):
        for _ in range(40):
            x = search.ask()
            search.tell(x, np.sin(3 * x[0]) + 0.1 * rng.standard_normal())
            if search.answer().verdict != "open":
                break
    assert unreachable.answer().verdict == "none"
    assert reachable.answer().verdict == "good"


def test_hope_starts_at_one_and_vanishes_for_an_unreachable_target():
    search = Search(LINE, 3.0, noise=0, seed=0)
    assert search.hope() == 1.0
    hopes = []
    while search.answer().verdict == "open":
        x = search.ask()
        search.tell(x, np.sin(3 * x[0]))
        hopes.append(search.hope())
    answer = search.answer()
    assert answer.verdict == "unlikely"
    assert answer.hope == hopes[-1] < 0.05
    assert hopes[3] > 0.5
    assert answer.evaluations < 100 + ENOUGH
    assert "hope" in str(answer)


def test_a_small_table_is_replicated_under_noise():
    search = Search(Finite([[0.0], [1.0]]), 0.5, noise="learn", seed=0)
    rng = default_rng(0)
    for _ in range(30):
        x = search.ask()
        search.tell(x, x[0] + 0.2 * rng.standard_normal())
        if search.answer().verdict == "good":
            break
    assert search.answer().verdict == "good"
    assert search.answer().point[0] == 1.0


def test_predictions_are_in_the_users_units():
    search = Search(LINE, 10.0, direction="minimize", noise=0, seed=0)
    for x in np.linspace(0, 1, 9):
        search.tell([x], 100.0 * (x - 0.4) ** 2 + 7.0)
    mean, std = search.predict([[0.4], [0.95]])
    assert mean == pytest.approx([7.0, 37.25], abs=1.5)
    assert (std >= 0).all()
    chances = search.probability_good([[0.4], [0.95]])
    assert chances[0] > 0.95
    assert chances[1] < 0.05


TABLE = [[0.0], [0.1], [0.2], [0.3]]
SPELLINGS = [[0.3], [0.1 + 0.2], [0.3]]


@pytest.mark.parametrize(
    ("domain", "spellings"),
    [
        (Finite(TABLE), SPELLINGS),
        (Product([Levels([0.0, 0.1, 0.2, 0.3])]), SPELLINGS),
        (Product([LogInteger(1, 9)]), [[np.log(3)], [np.nextafter(np.log(3), 2)], [np.log(3)]]),
        (Box([(0.0, 1.0)]), [[0.0], [-0.0], [0.0]]),
        (Box([(0, 3)], integers=[0]), [[3], [3.0], [np.float32(3)]]),
    ],
    ids=["table", "levels", "logs", "minus zero", "whole"],
)
def test_spellings_of_a_point_are_one_point(domain, spellings):
    search = Search(domain, 1.0, noise="learn")
    for k, x in enumerate(spellings):
        search.tell(x, float(k))
    assert search.observations.is_candidate(spellings[1])
    assert (
        search.observations.fresh_values(spellings[0]).tolist()
        == search.observations.fresh_values(spellings[1]).tolist()
        == [2.0]
    )
    assert search.observations.tested == 1
    search.fail(spellings[1], bad=True)
    assert len(search.observations.replicates.dropped) == 1
    assert search.observations.replicates.dropped == {search.observations.key(spellings[0])}


def test_points_that_differ_are_two_points():
    for domain, x, other in [(Finite(TABLE), [0.2], [0.3]), (LINE, [0.3], [np.nextafter(0.3, 1)])]:
        search = Search(domain, 1.0, noise="learn")
        assert search.observations.key(x) != search.observations.key(other)


def test_replicates_in_two_spellings_certify_their_point_together():
    rng = default_rng(1)
    search = Search(Finite(TABLE), 0.0, noise=0.1)
    for x in ([0.0], [0.1], [0.2]):
        search.tell(x, -1.0)
    for k in range(8):
        search.tell([0.3] if k % 2 else [0.1 + 0.2], 0.2 + 0.1 * rng.standard_normal())
    answer = search.answer()
    assert answer.verdict == "good"
    assert answer.certificate.candidates == 1
    assert search.observations.key(answer.point) == search.observations.key([0.3])
    assert len(search.observations.fresh_values([0.3])) == 6


def test_an_identical_replicate_in_another_spelling_means_noise_free():
    search = Search(Finite(TABLE), 0.0)
    for x, value in (([0.3], np.pi), ([0.1], np.e), ([0.1 + 0.2], np.pi), ([0.1], np.e), ([0.1], np.e)):
        assert search.deterministic is None
        search.tell(x, value)
    assert search.deterministic is True
