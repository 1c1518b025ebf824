"""The experiments on the theory: functions, bounds, coverage, a wrong length-scale, and the text made of them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from satisfice.paper.experiments import coverage, misspecified, scaling, scaling_text, theory_text
from satisfice.paper.experiments.curves import record_file
from satisfice.paper.experiments.records import Records, unpack
from satisfice.paper.theory.hard_class import narrow_class

SMALL = scaling.Setting(per_axis=21, delta=0.16, T=1500)
TRUTH = misspecified.TRUTHS[0]


def test_every_task_has_a_key_of_its_own_and_makes_the_record_of_that_key():
    for tasks in theory_text.THEORY.values():
        keys = [task.key for task in tasks()]
        assert len(keys) == len(set(keys))
    assert scaling.run_bounds("delta", scaling.SETTINGS["delta"][0])["key"] == scaling.tasks()[0].key
    task = coverage.tasks()[0]
    assert task.function(*task.arguments, 2)["key"] == task.key
    task = misspecified.tasks()[0]
    assert task.function(*task.arguments, 2)["key"] == task.key
    task = next(task for task in scaling.tasks() if task.arguments[-1] == "elimination")
    assert task.function(*task.arguments, 2)["key"] == task.key


@pytest.mark.parametrize("experiment", scaling.SETTINGS)
def test_a_hidden_bump_is_two_delta_high_and_of_a_third_of_the_norm(experiment):
    for setting in scaling.SETTINGS[experiment]:
        values = scaling.draw_values(setting, "bump", 4, np.random.default_rng(0))
        assert narrow_class(setting.kernel, setting.delta, scaling.B, setting.d).norm <= scaling.B / 3
        np.testing.assert_allclose(values.max(axis=1), 2 * setting.delta)
        bad = values < setting.delta
        assert bad.any(axis=1).all()
        assert not bad.all(axis=1).any()


def test_steep_and_random_functions_have_the_norm_that_the_theorems_ask_for():
    rng = np.random.default_rng(1)
    points = SMALL.points
    K = SMALL.kernel(points, points)
    for family in ("steep", "random"):
        values = scaling.draw_values(SMALL, family, 5, rng)
        for f in values:  # the least norm of a function with these values is not above its norm
            assert f @ np.linalg.solve(K + 1e-10 * np.eye(len(K)), f) <= 1 + 1e-3
        assert np.ptp(values, axis=1).min() > 0.3


def test_regrets_are_ordered_within_the_bounds_and_the_same_again():
    bounds = scaling.run_bounds("delta", SMALL)["bounds"]["paper sum"]
    for rule in scaling.THEOREMS:
        record = scaling.run_cell("delta", SMALL, "steep", rule, runs=4)
        assert record == scaling.run_cell("delta", SMALL, "steep", rule, runs=4)
        limit, gap_limit = bounds[rule]
        for bad, gap, hinge in zip(record["bad"], record["gap"], record["hinge"], strict=True):
            assert 0 < bad <= min(limit, record["rounds"])
            assert hinge <= gap <= gap_limit
            assert SMALL.delta * bad <= gap
            assert hinge == pytest.approx(gap - SMALL.delta * bad, rel=1e-4, abs=1e-3)


def test_a_curve_counts_what_the_end_counts_and_elimination_ends_when_nothing_bad_is_left():
    ucb = scaling.run_cell("horizon", SMALL, "bump", "ucb", runs=3)
    assert [point[0] for point in ucb["curve"]] == scaling.checkpoints(SMALL.T).tolist()
    assert ucb["curve"][-1] == [SMALL.T, *ucb["bad"]]
    assert (np.diff(np.array(ucb["curve"])[:, 1:], axis=0) >= 0).all()
    elimination = scaling.run_cell("horizon", SMALL, "bump", "elimination", runs=3)
    longer = scaling.run_cell("horizon", replace(SMALL, T=5000), "bump", "elimination", runs=3)
    assert elimination["rounds"] == longer["rounds"] < scaling.LONGEST
    assert elimination["bad"] == longer["bad"]


def test_explore_then_commit_explores_for_the_bound_of_theorem_2_and_then_chooses_well():
    coarse = scaling.Setting(lengthscale=0.5, per_axis=11, delta=1.0, sigma=0.02, T=300)
    record = scaling.run_cell("delta", coarse, "steep", "etc", runs=3)
    explored = scaling.run_bounds("horizon", replace(coarse, delta=0.15))["bounds"]["paper sum"]["elimination"][0]
    assert explored > scaling.explored_rounds(coarse)
    assert record["rounds"] == scaling.explored_rounds(coarse) + scaling.COMMITTED
    assert record["bad_after_commit"] == 0


def test_every_bound_is_larger_for_a_smaller_delta_and_the_sharp_constant_is_never_larger():
    for lam in (0.1, 1.0, 5.0):
        easy, hard = (
            scaling.run_bounds("lambda", replace(SMALL, lam=lam, delta=delta))["bounds"] for delta in (0.16, 0.08)
        )
        for name, rules in easy.items():
            for rule, (indicator, gap) in rules.items():
                assert indicator < hard[name][rule][0]
                assert gap < hard[name][rule][1]
        for formula in ("sum", "root"):
            for rule in scaling.THEOREMS:
                assert easy[f"sharp {formula}"][rule][0] <= easy[f"paper {formula}"][rule][0]
                assert easy["paper root"][rule][0] <= easy["paper sum"][rule][0]


def test_the_widths_hold_for_functions_of_their_norm_and_for_hardly_any_of_twice_the_norm():
    for case in coverage.CASES[:2]:
        rows = coverage.coverage_table([coverage.run_case(case, "ucb", 40)])["rows"]
        promised = [row for row in rows if row["width"] != "fixed design"]
        assert all(row["held"] >= 36 for row in promised)
        assert all(row["ratios"][-1] <= 1 for row in promised)
    broken = coverage.coverage_table([coverage.run_case(coverage.CASES[0], "random", 40, factor=2.0)])["rows"]
    assert all(row["held"] < 20 for row in broken)


@pytest.mark.parametrize(("successes", "runs"), [(0, 20), (20, 20), (7, 50), (199, 200)])
def test_an_interval_is_that_of_clopper_and_pearson(successes, runs):
    expected = binomtest(successes, runs).proportion_ci(0.95, "exact")
    assert coverage.interval(successes, runs) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_elimination_keeps_the_best_point_with_the_true_length_scale_and_loses_it_with_a_much_longer_one():
    right, wrong = (misspecified.run_truth(TRUTH, ratio, "Bayesian", 60) for ratio in (1.0, 8.0))
    assert right["lost"] <= 3
    assert wrong["lost"] >= 20
    assert len(wrong["lost_by"]) == wrong["lost"]
    assert max(wrong["lost_by"]) <= misspecified.T
    assert wrong["good_lost"] <= wrong["lost"]


def test_a_draw_has_the_covariance_of_the_true_kernel():
    draws = misspecified.draw_values(TRUTH, 4000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(draws[:, ::15].T), TRUTH.prior("se", 1.0)[::15, ::15], atol=0.1)


def test_a_slope_is_that_of_a_power_and_a_ratio_that_of_the_means():
    samples = [(x, [0.9 * x**1.7, 1.1 * x**1.7]) for x in (1.0, 2.0, 4.0)]
    middle, low, high = scaling_text.slope(samples)
    assert middle == pytest.approx(1.7)
    assert low <= middle <= high
    assert scaling_text.ratio([2.0, 4.0], [1.0, 2.0]) == pytest.approx((2.0, 2.0, 2.0))


def rows_of(uppers):
    return [{"ratio": ratio, "interval": (0.0, upper)} for ratio, upper in uppers.items()]


def test_the_range_that_keeps_the_best_point_is_the_one_around_the_true_length_scale():
    assert theory_text.kept_between(rows_of({0.5: 0.01, 1.0: 0.02, 2.0: 0.2})) == (0.5, 1.0)
    assert theory_text.kept_between(rows_of({0.25: 0.01, 0.5: 0.3, 1.0: 0.02, 2.0: 0.04, 4.0: 0.5})) == (1.0, 2.0)
    assert theory_text.kept_between(rows_of({0.5: 0.01, 1.0: 0.2})) is None


def lost(truth, ratio, share, runs=400, width="sqrt(log(2t)^3)"):
    count = round(share * runs)
    return {
        "key": f"{truth.key}/{ratio}/{width}", **truth.__dict__, "ratio": ratio, "width": width, "runs": runs, "lost": count,
        "lost_by": [3] * count, "good_lost": 0, "left": 1.0,
    }  # fmt: skip


def test_the_sentence_on_wrong_length_scales_follows_the_records():
    shares = {0.5: 0.0, 1.0: 0.0, 2.0**0.5: 0.01, 2.0: 0.3}
    records = [lost(truth, ratio, share) for truth in misspecified.TRUTHS[:3] for ratio, share in shares.items()]
    assert "between 0.5 and 1.41 times the true one" in theory_text.conclusion(records)
    assert "loses it in 30% to 30% of the runs at twice" in theory_text.conclusion(records)
    records[1] = lost(misspecified.TRUTHS[0], 1.0, 0.2)
    assert "even where the length-scale is the true one (SE draws, d = 1)" in theory_text.conclusion(records)


def test_the_section_and_the_summaries_are_made_of_records_alone(tmp_path):
    assert theory_text.section(tmp_path, tmp_path) == ""
    made = {
        "theory-scaling": [
            record
            for delta in (0.16, 0.12)
            for record in (
                scaling.run_bounds("delta", replace(SMALL, delta=delta)),
                *(scaling.run_cell("delta", replace(SMALL, delta=delta), "bump", rule, 3) for rule in scaling.THEOREMS),
            )
        ],
        "theory-coverage": [coverage.run_case(coverage.CASES[0], plan, 5) for plan in coverage.PLANS],
        "theory-misspecified": [
            misspecified.run_truth(truth, ratio, "sqrt(log(2t)^3)", 5)
            for truth in misspecified.TRUTHS[:1]
            for ratio in (1.0, 2.0)
        ],
    }
    for name, records in made.items():
        file = Records(record_file(tmp_path, "paper", name))
        for record in records:
            file.append(record)
        found, picture = theory_text.summary(name, records, tmp_path / "figures")
        assert json.loads(json.dumps(found))["runs"] > 0
        assert picture is None or picture.exists()
    text = theory_text.section(tmp_path, tmp_path / "docs")
    assert "12 of 12 runs of ucb and elimination stay within the bounds" in text
    assert "| SE, 1, 0.1 | log det, root | 5 of 5 |" in text
    assert (tmp_path / "docs/images/reproduction/theory-misspecified.png").exists()


def test_the_page_says_what_the_kept_records_say():
    docs = Path(__file__).parents[3] / "docs"
    page = (docs / "reproduction.md").read_text(encoding="utf-8")
    written = {
        "theory-scaling": scaling_text.scaling_text,
        "theory-coverage": theory_text.coverage_text,
        "theory-misspecified": theory_text.misspecified_text,
    }
    for name, text in written.items():
        records = unpack(docs / "records" / "paper" / f"{name}.jsonl.xz")
        assert {record["key"] for record in records} == {task.key for task in theory_text.THEORY[name]()}
        assert text(records) in page
