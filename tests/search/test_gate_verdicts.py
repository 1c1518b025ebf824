"""A gate: its verdicts over requirements, its interval, and what it says of failures, equal values and assumptions."""

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice.search.gate import SAME, Gate
from satisfice.search.specification import Requirement, Specification


def gate_of(*requirements, values=(), **options):
    gate = Gate(Specification(requirements), **options)
    for value in values:
        gate.tell(value if isinstance(value, dict) else {requirements[0].name: float(value)})
    return gate


def rate(target, sense=">="):
    return Requirement("value", sense, target, statistic="rate")


def test_passes_are_counted_up_to_the_verdict():
    gate = gate_of(rate(0.9), values=[1.0] * 60)
    answer = gate.answer()
    assert answer.verdict == "good"
    assert answer.evaluations + gate.late == 60
    assert answer.requirements[0].passed == answer.evaluations
    assert answer.value == 1
    assert answer.interval[0] == pytest.approx(0.9, abs=0.01)
    assert f"runs that ended after the verdict, and do not count: {gate.late}" in answer.notes
    assert "independent passes and fails" in answer.certificate


@pytest.mark.parametrize(("p", "sense", "verdict"), [(0.99, ">=", "good"), (0.6, ">=", "bad"), (0.6, "<=", "good")])
def test_a_rate_is_judged_in_both_directions(p, sense, verdict):
    rng = default_rng(1)
    assert gate_of(rate(0.85, sense), values=rng.random(300) < p).verdict == verdict


@pytest.mark.parametrize(
    "requirement",
    [
        Requirement("value", ">=", 0.0, noise=1.0),
        Requirement("value", ">=", 0.0, value_range=(-4, 4)),
        Requirement("value", ">=", 0.0),
        Requirement("value", "<=", 0.0, noise=1.0),
        Requirement("value", "<=", 0.0, value_range=(-4, 4)),
        Requirement("value", "<=", 0.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("truth", [-1.0, 1.0])
def test_a_mean_is_judged_in_both_directions_and_its_interval_agrees(requirement, truth):
    values = np.clip(default_rng(4).normal(truth, 1.0, 200), -4, 4)
    gate = gate_of(requirement, values=values)
    met = (truth >= 0) == (requirement.sense == ">=")
    assert gate.verdict == ("good" if met else "bad")
    answer = gate.answer()
    low, high = answer.interval
    assert low < answer.value < high
    assert low < truth < high
    assert (low > -1e-9) if truth > 0 else (high < 1e-9)  # the interval excludes what the verdict does


def test_gaussian_noise_may_be_stated_without_its_size():
    values = default_rng(4).normal(1.0, 1.0, 60)
    stated = gate_of(Requirement("value", ">=", 0.0), values=values, gaussian=True)
    shown = gate_of(Requirement("value", ">=", 0.0), values=values)
    assert stated.verdict == shown.verdict == "good"
    assert stated.evaluations < shown.evaluations
    assert stated.answer().requirements[0].guarantee == "valid for Gaussian noise of any standard deviation"
    assert "would not have shown and are not covered" in shown.answer().certificate


def test_a_quantile_counts_what_meets_the_target_and_bounds_the_quantile_itself():
    requirement = Requirement("value", "<=", 300.0, statistic=("quantile", 0.9))
    answer = gate_of(requirement, values=default_rng(0).exponential(100.0, 400)).answer()
    truth = -100 * np.log(0.1)  # 230
    assert answer.verdict == "good"
    assert answer.interval[0] < truth < answer.interval[1] <= 300
    assert answer.interval[0] < answer.value < answer.interval[1]


@pytest.mark.parametrize("sense", [">=", "<="])
def test_the_interval_of_a_quantile_covers_it_whenever_one_looks(sense):
    """At most 10 % of 100 sequences leave it at one of four looks, and three standard errors; it is the lognormal's median."""
    missed = 0
    for seed in range(100):
        values = default_rng([1, seed]).lognormal(0.0, 1.0, 80)
        gate = Gate(
            Specification((Requirement("value", sense, 1e-9 if sense == "<=" else 1e9, statistic=("quantile", 0.5)),))
        )
        side = gate._sides[0]
        side.bars = (side.bars[0], np.inf)
        outside = False
        for m, value in enumerate(values, 1):
            side.add(float(value))
            if m in (10, 30, 50, 80):
                low, high = side.answer(False).interval
                outside |= not low <= 1.0 <= high
        missed += outside
    assert missed / 100 <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 100)


def test_all_requirements_must_be_good_and_one_bad_one_is_enough():
    a, b = Requirement("a", ">=", 0.0, noise=1.0), Requirement("b", "<=", 1.0, noise=1.0)
    rng = default_rng(2)
    both = [{"a": rng.normal(1, 1), "b": rng.normal(0, 1)} for _ in range(100)]
    one = [{"a": rng.normal(1, 1), "b": rng.normal(2, 1)} for _ in range(100)]
    good, bad = gate_of(a, b, values=both), gate_of(a, b, values=one)
    assert good.verdict == "good"
    assert bad.verdict == "bad"
    assert [each.verdict for each in bad.answer().requirements][1] == "bad"
    assert good.bars == pytest.approx((np.log(20), np.log(40)))  # delta is shared for `bad` only
    assert good.evaluations >= max(gate_of(each, values=both).evaluations for each in (a,))
    shown = str(bad.answer())
    assert "b <= 1" in shown
    assert "bad;" in shown


def test_a_setting_with_many_requirements_on_the_boundary_is_rarely_called_bad():
    """150 gates of 5 requirements whose truths lie exactly at their targets: 5 % and three standard errors."""
    names = "abcde"
    requirements = [Requirement(name, ">=", 0.0, noise=1.0) for name in names]
    wrong = 0
    for seed in range(150):
        rows = default_rng([3, seed]).standard_normal((40, 5))
        gate = gate_of(*requirements, values=[dict(zip(names, row, strict=True)) for row in rows])
        wrong += gate.verdict == "bad"
    assert wrong / 150 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize(
    "requirement", [Requirement("value", ">=", 0.9), Requirement("value", ">=", 0.9, value_range=(0, 1))]
)
def test_values_that_never_vary_certify_nothing_unless_that_was_stated(requirement):
    gate = gate_of(requirement, values=[0.95] * 500)
    assert gate.verdict == "open"
    assert gate.ended == "the values do not vary"
    answer = gate_of(requirement, values=[0.95] * SAME).answer()
    assert answer.interval in ((-np.inf, np.inf), (0.0, 1.0))
    assert "pass `noise=0`" in answer.notes[0]
    stated = gate_of(Requirement("value", ">=", 0.9, noise=0), values=[0.95])
    assert stated.verdict == "good"
    assert stated.answer().certificate == "one value is enough: `noise=0` was stated"
    assert stated.answer().interval == (0.95, 0.95)
    assert gate_of(Requirement("value", ">=", 0.9, noise=0), values=[0.85]).verdict == "bad"


def test_gaussian_noise_that_never_shows_certifies_nothing():
    gate = gate_of(Requirement("value", ">=", 0.9), values=[0.95] * 50, gaussian=True)
    assert gate.verdict == "open"


def test_equal_passes_and_values_at_an_end_of_the_range_are_no_sign_of_a_fixed_value():
    assert gate_of(Requirement("value", ">=", 0.9), values=[1.0] * 60).verdict == "good"
    assert gate_of(Requirement("value", ">=", 90, value_range=(0, 100)), values=[100.0] * 60).verdict == "good"
    alike = Requirement("difference", ">=", -0.1, value_range=(-1, 1))
    assert gate_of(alike, values=[0.0] * 90, differences=True).verdict == "good"
    assert gate_of(Requirement("difference", ">=", -0.1), values=[0.0] * 90, differences=True).verdict == "open"


@pytest.mark.parametrize(("sense", "verdict"), [(">=", "bad"), ("<=", "bad")])
def test_a_run_that_fails_is_a_fail_of_a_rate_and_of_a_quantile(sense, verdict):
    for requirement in (rate(0.5, sense), Requirement("value", sense, 3.0, statistic=("quantile", 0.5))):
        gate = gate_of(requirement)
        for _ in range(20):
            gate.fail("RuntimeError: out of memory")
        assert gate.verdict == verdict
        assert any(
            "runs that failed count as fails" in note and "out of memory" in note for note in gate.answer().notes
        )


def test_a_run_that_fails_makes_a_verdict_about_a_mean_conditional():
    gate = gate_of(Requirement("value", ">=", 0.0, noise=1.0), values=[])
    gate.fail("RuntimeError: out of memory")
    for value in default_rng(0).normal(1, 1, 50):
        gate.tell({"value": float(value)})
    answer = gate.answer()
    assert answer.verdict == "good"
    assert answer.failures == 1
    assert answer.notes[0].startswith("the answer is about runs that give a value: 1 of ")


def test_what_speaks_against_an_assumption_is_said():
    skewed = -default_rng(0).exponential(1.0, 60)
    noted = gate_of(Requirement("value", ">=", -1.0, noise=1.0), values=skewed).answer().notes
    assert any("look skewed" in note for note in noted)
    sure = 1 - 1e-12  # so that there is no verdict before the spread shows
    wide = gate_of(
        Requirement("value", ">=", 0.0, noise=1.0), values=default_rng(0).normal(0.0, 3.0, 30), confidence=sure
    )
    wide = wide.answer().notes
    assert any("the stated one 1" in note for note in wide)
    even = (
        gate_of(Requirement("value", ">=", 0.0, noise=1.0), values=default_rng(0).normal(0.0, 1.0, 30)).answer().notes
    )
    assert even == ()


def test_about_how_many_more_runs_are_needed():
    """The estimate after 20 values, over 40 gates: its median within a factor of 2.5 of the median truth."""
    told, true = [], []
    for seed in range(40):
        values = default_rng([5, seed]).normal(0.5, 1.0, 400)
        gate = gate_of(Requirement("value", ">=", 0.0, noise=1.0), values=values[:15])
        if gate.verdict != "open":
            continue
        needed = gate.answer().needed
        for value in values[15:]:
            gate.tell({"value": float(value)})
        told.append(np.inf if needed is None else needed)
        true.append(gate.evaluations - 15)
    assert 0.4 < np.median(told) / np.median(true) < 2.5


def test_a_rate_nobody_reaches_is_refuted_by_one_fail():
    assert gate_of(Requirement("value", ">=", 1.0), values=[1.0, 1.0, 0.0]).verdict == "bad"
    assert gate_of(Requirement("value", ">=", 1.0, value_range=(0, 1)), values=[1.0] * 300).verdict == "open"


def test_an_answer_is_shown_in_lines_in_one_line_and_as_a_table():
    answer = gate_of(rate(0.9), values=[1.0] * 60).answer()
    assert str(answer).splitlines()[0] == "verdict      good: the target is met"
    assert answer.summary.startswith("good: rate of value >= 0.9 (1, ")
    assert "confidence 0.95" in answer.summary
    assert "<table>" in answer._repr_html_()
    empty = gate_of(rate(0.9)).answer()
    assert empty.value is None
    assert empty.certificate is None
    assert "no value yet" in str(empty)
