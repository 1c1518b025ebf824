"""`compare`: own rules and problems, the same records whatever the number of processes, and one clear error for a wrong word."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from satisfice import Box
from satisfice.errors import BadInput, MissingExtra
from satisfice.paper.experiments import compare, define_problem
from satisfice.paper.experiments.records import Records
from satisfice.paper.problems import PROBLEMS, Problem
from satisfice.rules.baselines import Random


@dataclass(frozen=True)
class Centre:
    """A rule of the user's: the centre first, then at random."""

    at: float = 0.5

    def propose(self, belief, rng):
        if belief.step == 4:
            return np.full(belief.domain.dimension, self.at)
        return Random().propose(belief, rng)


def bowl(x):
    return -float(np.sum((x - 1.0) ** 2))


BOWL = define_problem(bowl, [(-3.0, 5.0), (0.0, 2.0)], -0.05)
LINE = Problem("line", Box([(0.0, 1.0)]), lambda X: X[:, 0], maximum=1.0, etas=(0.9,))


def lines(result):
    return [json.dumps(record, sort_keys=True) for record in result.records]


def test_an_own_rule_on_an_own_problem_gives_the_same_records_on_two_processes():
    here = compare([Centre(), "pg"], [BOWL, LINE], runs=3, budget=8, jobs=1)
    there = compare([Centre(), "pg"], [BOWL, LINE], runs=3, budget=8, jobs=2)
    assert lines(here) == lines(there)
    assert here.rules == ("Centre", "pg", "random")
    assert len(here.records) == 2 * 3 * 3
    assert lines(compare([Centre(), "pg"], [BOWL, LINE], runs=3, budget=8, seed=1, jobs=1)) != lines(here)


def test_every_rule_starts_from_the_same_points_and_random_search_is_always_there():
    result = compare({"mine": Centre(0.9), "pg": "pg"}, BOWL, runs=4, budget=5, jobs=1)
    assert result.rules == ("mine", "pg", "random")
    for run in range(4):
        first = {str([c for c in r["rises"] if c[0] <= 3]) for r in result.records if r["run"] == run}
        assert len(first) == 1
    assert compare(["random", "pg"], BOWL, runs=1, budget=4, jobs=1).rules == ("random", "pg")


def test_curves_and_table_agree_with_the_records():
    result = compare([Centre()], BOWL, runs=6, budget=12, jobs=1)
    hits = [r["evaluations"] for r in result.records if r["rule"] == "Centre"]
    assert max(hits) <= 4  # the centre of the box is its best point
    row = result.table()[0]
    assert (row.problem, row.rule, row.runs, row.success) == ("bowl", "Centre", 6, 1.0)
    assert row.evaluations == pytest.approx(np.mean(hits))
    curve = result.success()["Centre"]
    assert curve.shape == (12,)
    assert curve[3:].tolist() == [1.0] * 9
    floor = result.table()[1]
    assert floor.evaluations == pytest.approx(1 + np.sum(1 - result.success("bowl")["random"][:-1]))
    assert str(result).splitlines()[1].split()[:3] == ["bowl", "Centre", "6"]


def test_under_noise_a_run_goes_to_the_end():
    noisy = define_problem(bowl, [(-3.0, 5.0), (0.0, 2.0)], -0.5, name="noisy", noise=0.1)
    result = compare(["pg"], noisy, runs=2, budget=7, jobs=1)
    assert {record["evaluations"] for record in result.records} == {7}
    assert all(record["recommended"] for record in result.records)


def test_records_on_disk_are_gone_on_from(tmp_path):
    out = tmp_path / "records.jsonl"
    some = compare([Centre()], BOWL, runs=2, budget=6, jobs=1, out=out)
    written = out.read_text()
    more = compare([Centre()], BOWL, runs=4, budget=6, jobs=1, out=out)
    assert out.read_text().startswith(written)
    assert len(list(Records(out))) == 8
    assert lines(more) == lines(compare([Centre()], BOWL, runs=4, budget=6, jobs=1))
    assert set(lines(some)) < set(lines(more))


def test_the_plot_has_a_line_for_each_rule_the_floor_included(tmp_path):
    result = compare([Centre(), "pg"], [BOWL, LINE], runs=2, budget=6, jobs=1)
    figure = result.plot(tmp_path / "plot.png")
    assert len(figure.axes) == 2
    for axes in figure.axes:
        said = [line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")]
        assert said == ["Centre", "pg", "random"]
    assert (tmp_path / "plot.png").stat().st_size > 5000
    sys.modules["matplotlib.pyplot"].close(figure)


@pytest.mark.parametrize(
    ("rules", "problems", "options", "said"),
    [
        (["nosuch"], "keane", {}, r"`rules` must .* \(.*aspire, .*\); got 'nosuch'\."),
        ("nosuch", "keane", {}, "got 'nosuch'"),
        ([Centre], "keane", {}, "got <class"),
        ([3], "keane", {}, "got 3"),
        ([Centre(0.1), Centre(0.2)], "keane", {}, "'Centre' twice. Pass a dict"),
        (["pg"], "nosuch", {}, r"`problems` must .* \(gp2d, .*\); got 'nosuch'\."),
        (["pg"], [bowl], {}, "see `define_problem`"),
        (["pg"], [], {}, "at least one problem"),
        (["pg"], ["keane", "keane"], {}, "'keane' twice"),
        (["elimination"], "keane", {}, "elimination"),
        (["pg"], "keane", {"runs": 0}, "runs"),
        (["pg"], "keane", {"budget": 3}, "budget"),
        (["pg"], "keane", {"model": "nosuch"}, "model"),
    ],
)
def test_wrong_words_are_one_clear_error_before_anything_runs(rules, problems, options, said, tmp_path):
    with pytest.raises(BadInput, match=said):
        compare(rules, problems, out=tmp_path / "x.jsonl", **options)
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"function": 3}, "`function` must take a point"),
        ({"noise": -1.0}, "`noise` must be a standard deviation"),
        ({"target": np.nan}, "target"),
        ({"bounds": [(1.0, 0.0)]}, "bounds of coordinate 0 must be finite numbers low < high"),
    ],
)
def test_a_problem_that_cannot_be_one_is_refused(arguments, said):
    with pytest.raises(BadInput, match=said):
        define_problem(**{"function": bowl, "bounds": [(0.0, 1.0)], "target": 0.5} | arguments)


def test_a_function_that_returns_no_number_is_named():
    broken = define_problem(lambda x: np.nan, [(0.0, 1.0)], 0.5, name="broken")
    with pytest.raises(BadInput, match="function of 'broken' must return finite numbers; got nan at"):
        compare([], broken, runs=1, budget=4, jobs=1)


@pytest.mark.parametrize("package", ["joblib", "matplotlib"])
def test_a_missing_package_is_named_before_anything_runs(package, monkeypatch):
    asked = []
    watched = define_problem(lambda x: asked.append(x) or 0.0, [(0.0, 1.0)], 0.5)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=f"{package} is not installed"):
        compare(["pg"], watched, runs=1, budget=4, jobs=1)
    assert asked == []


def test_a_problem_whose_package_is_missing_is_named_before_anything_runs(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "Box2D", None)
    with pytest.raises(MissingExtra, match="Box2D is not installed"):
        compare(["pg"], ["keane", PROBLEMS["robot3"]], runs=1, budget=4, jobs=1, out=tmp_path / "x.jsonl")
    assert not (tmp_path / "x.jsonl").exists()
