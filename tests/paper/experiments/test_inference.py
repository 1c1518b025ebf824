"""The tests and estimates behind the verdicts, against enumeration, SciPy, tables worked by hand, and simulated truths."""

from itertools import product

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import CensoredData, ecdf, permutation_test, ttest_1samp

from satisfice.paper.experiments.blocks import evaluations
from satisfice.paper.experiments.inference import (
    DRAWS,
    EXACT,
    LEVEL,
    holm,
    least_p,
    p_below,
    p_least_above,
    p_share,
    pseudo_values,
)
from satisfice.paper.experiments.judge import Part, below, judge
from satisfice.paper.experiments.spec import Panel

PANEL = Panel("eggholder", 900.0, "eta = 900")


def waits(rng, chance, size):
    """Evaluations until the first success, cut off at 200."""
    return np.minimum(rng.geometric(chance, size), 200.0)


@pytest.mark.parametrize("n", [1, 3, 6, 9])
def test_the_sign_flip_test_enumerates_all_signs_of_a_few_blocks(n):
    values = default_rng(n).normal(-0.3, 1, n)
    flipped = [np.dot(signs, np.abs(values)) for signs in product((-1, 1), repeat=n)]
    assert p_below(values) == pytest.approx(np.mean(np.array(flipped) <= values.sum() + 1e-12))
    assert p_below(-np.abs(values)) == least_p(n) == 0.5**n


def test_scipys_permutation_test_gives_the_same_p_value():
    values = np.round(default_rng(5).normal(-0.4, 1, 11), 1)
    theirs = permutation_test((values,), np.mean, permutation_type="samples", alternative="less", n_resamples=np.inf)
    assert p_below(values) == pytest.approx(theirs.pvalue)


def test_of_many_blocks_it_is_near_the_t_test_and_never_zero():
    for n in (EXACT + 1, 50, 250):
        values = default_rng(n).normal(-0.12, 1, n)
        assert p_below(values) == pytest.approx(ttest_1samp(values, 0, alternative="less").pvalue, abs=0.02)
        assert 2 / DRAWS**0.5 > p_below(values - 10) >= least_p(n) == 1 / (DRAWS + 1)
        assert p_below(values - 10) + p_below(10 - values) > 1


def test_equal_runs_or_none_decide_nothing():
    assert p_below(np.zeros(40)) == p_below(np.zeros(3)) == p_below(np.empty(0)) == 1.0
    assert p_below(np.full(4, -50.0)) > LEVEL >= p_below(np.full(5, -50.0))


def test_holms_correction_is_that_worked_out_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.2]) == [0.2]
    assert holm([0.5, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


def test_shares_are_tested_by_exact_binomial_sums():
    above, under = p_share(8, 10, 0.5)
    assert above == pytest.approx(56 / 1024)
    assert under == pytest.approx(1013 / 1024)
    assert p_share(10, 10, 0.9)[0] == pytest.approx(0.9**10)


@pytest.mark.parametrize("chance", [0.002, 0.01, 0.2])
def test_evaluations_are_the_restricted_mean_of_the_kaplan_meier_curve(chance):
    """The naive way: the product-limit estimate step by step, and the area below it; and SciPy's curve of censored data."""
    found = default_rng(3).geometric(chance, 60)
    records = [{"rises": [[1, 0.0], *([[int(t), 901.0]] if 1 < t <= 200 else [])]} for t in found]
    for record, t in zip(records, found, strict=True):
        if t == 1:
            record["rises"] = [[1, 901.0]]
    ours = np.mean([evaluations(record, PANEL) for record in records])
    survival, area = 1.0, 0.0
    for t in range(1, 201):
        area += survival  # between t - 1 and t
        at_risk = np.sum(found >= t)
        survival *= 1 - np.sum(found == t) / at_risk if at_risk else 1.0
    assert ours == pytest.approx(area)
    seen = found <= 200
    curve = ecdf(CensoredData(uncensored=found[seen], right=np.full(np.sum(~seen), 200))).sf
    assert ours == pytest.approx(np.sum(curve.evaluate(np.arange(200))))


def test_pseudo_values_of_a_mean_are_the_values_and_those_of_a_spread_have_no_bias():
    rng = default_rng(0)
    rows = rng.normal(size=(30, 2))
    assert pseudo_values(lambda means: means[:, 0], rows) == pytest.approx(rows[:, 0])
    assert len(pseudo_values(lambda means: means[:, 0], rows[:1])) == 0

    def variance(means):
        return means.var(axis=1)

    noisy = rng.normal([0, 1, 2, 3], 4.0, (4000, 20, 4))
    plain = np.mean([variance(rows.mean(axis=0, keepdims=True))[0] for rows in noisy])
    corrected = np.mean([pseudo_values(variance, rows).mean() for rows in noisy])
    assert plain > 1.7
    assert corrected == pytest.approx(1.25, abs=0.05)


def test_two_minima_are_compared_without_choosing_a_column():
    rng = default_rng(2)
    high, low = rng.normal([3.0, 2.0], 1, (40, 2)), rng.normal([5.0, 0.0, 9.0], 1, (40, 3))
    assert p_least_above(high, low) < LEVEL
    assert p_least_above(low, high) == 1.0
    assert p_least_above(high, high) == 1.0


def test_two_equal_minima_are_rarely_told_apart():
    """However many columns there are: the best of them is the smallest by chance."""
    rng = default_rng(4)
    calls = [p_least_above(rng.normal(size=(12, 3)), rng.normal(size=(12, 5))) <= LEVEL for _ in range(400)]
    assert np.mean(calls) <= LEVEL


@pytest.mark.parametrize(("n", "runs"), [(6, 2000), (12, 2000), (40, 1000)])
def test_a_part_at_the_border_is_shown_or_refuted_by_chance_in_five_percent_at_most(n, runs):
    """Censored and skewed as waiting times are: E[a] = 1.5 E[b] exactly, and the part says that it is below that."""
    rng = default_rng(n)
    chance_b = 0.02
    mean = 1.5 * (1 - (1 - chance_b) ** 200) / chance_b
    chances = np.linspace(0.001, chance_b, 200_001)
    chance_a = np.interp(-mean, -(1 - (1 - chances) ** 200) / chances, chances)
    values = waits(rng, chance_a, (runs, n)) - 1.5 * waits(rng, chance_b, (runs, n))
    allowed = LEVEL + 2.5 * np.sqrt(LEVEL * (1 - LEVEL) / runs)
    assert np.mean([p_below(each) <= LEVEL for each in values]) <= allowed
    assert np.mean([p_below(-each) <= LEVEL for each in values]) <= allowed


def simulated_verdict(rng, chances, n):
    """Of a claim with one part for each rival: that the first rule is faster. Runs from the same starting points are alike."""
    luck = rng.uniform(0.5, 1.5, (n, 1))
    found = waits(rng, np.minimum(1, np.array(chances) * luck), (n, len(chances)))
    parts = [below("faster", "", found[:, 0] - found[:, rival]) for rival in range(1, len(chances))]
    return judge("best", [("all", parts)])[0].verdict


@pytest.mark.parametrize("n", [8, 30])
def test_a_claim_with_one_part_at_the_border_seldom_holds(n):
    """All other parts are true: the claim is false by a hair."""
    rng = default_rng(10 + n)
    verdicts = [simulated_verdict(rng, [0.05, 0.05, 0.004, 0.004, 0.004], n) for _ in range(600)]
    assert verdicts.count("holds") / 600 <= LEVEL + 2.5 * np.sqrt(LEVEL * (1 - LEVEL) / 600)


@pytest.mark.parametrize("n", [8, 30])
def test_a_claim_whose_parts_are_all_at_the_border_is_seldom_refuted(n):
    rng = default_rng(20 + n)
    verdicts = [simulated_verdict(rng, [0.02] * 8, n) for _ in range(600)]
    assert verdicts.count("refuted") / 600 <= LEVEL
    assert verdicts.count("holds") / 600 <= LEVEL


def test_true_claims_hold_and_false_ones_are_refuted_with_enough_runs_and_nothing_is_decided_by_few():
    rng = default_rng(30)
    true, false = [0.08, 0.03, 0.03, 0.02], [0.02, 0.08, 0.03, 0.02]
    assert [simulated_verdict(rng, true, 200) for _ in range(20)].count("holds") >= 19
    assert [simulated_verdict(rng, false, 200) for _ in range(20)].count("refuted") >= 19
    assert {simulated_verdict(rng, chances, 4) for chances in (true, false) for _ in range(50)} == {"undecided"}


def test_one_procedure_makes_every_verdict():
    good, poor = Part("a", "", 9, 0.04, 0.99), Part("b", "", 9, 0.99, 0.03)
    open_, missing = Part("c", "", 9, 0.3, 0.7), Part("d")
    assert judge("", [("x", [good, good])])[0].verdict == "holds"  # each by itself: no correction is needed
    assert judge("", [("x", [good, open_])])[0].verdict == "undecided"
    assert judge("", [("x", [poor])])[0].verdict == "refuted"
    assert judge("", [("x", [poor, good])])[0].verdict == "undecided"  # two were looked at: 0.03 is not enough
    assert judge("", [("x", [good, missing])])[0].verdict == "undecided"
    assert judge("", [])[0].verdict == "undecided"
    strong = Part("e", "", 9, 1.0, 0.001)
    whole, (first, second) = judge("", [("x", [good]), ("y", [strong, open_])])
    assert (whole.verdict, first.verdict, second.verdict) == ("refuted", "holds", "refuted")
    assert second.open == (open_,)
    assert [len(whole.parts), len(whole.shown), len(whole.refuted)] == [3, 1, 1]
