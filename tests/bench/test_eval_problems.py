import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import early_cutoff
import eval_functions
import eval_page
import eval_problems
import eval_runs
import evaluations
from bootstrap import interval
from eval_peers import CONTESTANTS
from eval_problems import DRAWS_SEED, PROBLEMS, SEARCH, TARGETS, moved, targets
from eval_tasks import TASKS

from satisfice.domain.space import Space

CHEAP = [name for name in PROBLEMS if name not in TASKS and name not in ("robot3", "robot4", "xgboost")]


def test_the_problems_cover_what_they_should():
    ours = [problem for problem in PROBLEMS.values() if "paper" not in problem.tags]
    assert len(ours) >= 16
    assert {len(problem.space) for problem in ours} >= {1, 2, 3, 4, 5, 6, 8, 10, 20}
    assert len(TASKS) >= 4
    held_out = [problem for problem in ours if problem.held_out]
    assert len(held_out) >= 6
    tags = {tag for problem in held_out for tag in problem.tags}
    assert tags >= {"smooth", "rugged", "separable", "rotated", "mixed", "tuning task", "heavy tail", "near maximum"}
    assert not any(problem.held_out for problem in PROBLEMS.values() if "paper" in problem.tags)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_uniform_setting_is_one_of_the_space(name):
    problem, rng = PROBLEMS[name], default_rng(1)
    space = Space.of(problem.space)
    for params in problem.settings(20, rng):
        assert space.decode(space.encode(params)) == pytest.approx(params)


@pytest.mark.parametrize("name", CHEAP)
def test_a_setting_has_the_value_of_its_row(name):
    problem = PROBLEMS[name]
    rows, settings = problem.uniform(10, default_rng(2)), problem.settings(10, default_rng(2))
    assert [problem.value(params) for params in settings] == pytest.approx(problem.function(rows).tolist())


def test_ends_of_a_log_scale_of_whole_numbers_are_drawn():
    width = PROBLEMS["network"].uniform(20_000, default_rng(3))[:, 2]
    assert (width.min(), width.max()) == (8, 1024)
    assert (width == np.rint(width)).all()
    assert np.mean(width < math.sqrt(8 * 1024)) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("name", ["ackley", "branin", "levy5", "network", "recipe", "tail3"])
def test_a_stored_target_is_the_one_computed(name):
    assert targets([name]) == {name: pytest.approx(TARGETS[name], rel=3e-6)}


@pytest.mark.parametrize("name", [name for name in CHEAP if name in TARGETS])
def test_the_share_of_good_settings_is_small_and_not_nothing(name):
    problem, draws = PROBLEMS[name], 400_000
    good = (problem.function(problem.uniform(draws, default_rng(4))) >= problem.target).mean()
    xi = eval_problems._OTHERS[name][2]
    if name == "steps4":
        assert xi < good < 2 * xi  # the next plateau would be too small
    elif xi is not None:
        assert good == pytest.approx(xi, abs=5 * math.sqrt(2 * xi / draws))
    else:
        assert good < 2e-3
        assert name == "hartmann6" or good > 0  # there one in a million is good


def test_no_centre_of_a_box_is_good():
    for name in CHEAP:
        problem = PROBLEMS[name]
        if "mixed" not in problem.tags:
            ends = np.array([np.log(form[:2]) if len(form) == 3 else form[:2] for form in problem.space.values()])
            logs = np.array([len(form) == 3 for form in problem.space.values()])
            middle = np.where(logs, np.exp(ends.mean(axis=1)), ends.mean(axis=1))
            assert problem.function(middle[None])[0] < problem.target, name


def test_a_moved_function_keeps_its_shape():
    def bowl(X):
        return -(X**2).sum(axis=1)

    X = default_rng(5).uniform(-1, 3, (50, 4))
    np.testing.assert_allclose(moved(bowl, -1, 3, 4, 9, turned=True)(X), moved(bowl, -1, 3, 4, 9)(X))
    assert 4 * 0.4**2 <= -moved(bowl, -1, 3, 4, 9)(np.zeros((1, 4)))[0] <= 4 * 1.2**2
    line = moved(lambda X: X[:, 0], -1, 3, 4, 9, turned=True)
    slopes = line(np.eye(4)) - line(np.zeros((4, 4)))
    assert (np.abs(slopes) > 1e-3).all()
    assert (slopes**2).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("function", "point", "value"),
    [
        ("branin", [math.pi, 2.275], -0.397887),
        ("hartmann6", [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573], 3.32237),
        ("rastrigin", [0, 0, 0, 0], 0),
        ("rosenbrock", [1, 1, 1, 1], 0),
        ("levy", [0, 0, 0, 0, 0], 0),
        ("styblinski", [-2.903534] * 8, 39.16617 * 8),
        ("forrester", [0.757249], 0.00602074),
        ("michalewicz", [2.202906, 1.570796, 1.284992, 1.923058, 1.720470], 4.687658),
        ("griewank", [0, 0, 0], 0),
        ("schwefel", [420.9687] * 4, 0),
        ("zakharov", [0] * 10, 0),
    ],
)
def test_a_known_function_has_its_published_maximum(function, point, value):
    assert getattr(eval_functions, function)(np.array([point]))[0] == pytest.approx(
        value, rel=2e-6, abs=1e-3 * (not value)
    )


@pytest.mark.parametrize(("name", "row"), [("svc-digits", 38), ("ridge-diabetes", 44)])
def test_the_recorded_search_reached_the_target_of_a_tuning_task(name, row):
    problem = PROBLEMS[name]
    settings = problem.settings(SEARCH, default_rng(DRAWS_SEED))
    assert problem.value(settings[row]) >= problem.target > problem.value(settings[0])


@pytest.mark.parametrize("name", TASKS)
def test_a_tuning_task_has_one_finite_value_for_a_setting(name):
    problem = PROBLEMS[name]
    corners = ({name: form[k] for name, form in problem.space.items()} for k in (0, 1))
    for params in corners:
        assert math.isfinite(problem.value(params))
        assert problem.value(params) == problem.value(params)


@pytest.mark.parametrize("contestant", ["auto", "paper", "tpe", "random"])
@pytest.mark.parametrize("name", ["levy5", "network"])
def test_a_contestant_runs_to_the_budget_or_to_the_target(contestant, name):
    problem = replace(PROBLEMS[name], target=1e6)
    assert evaluations.run(problem, CONTESTANTS[contestant], seed=0, budget=6)[:2] == (6, False)
    told = evaluations.starting_points(problem, seed=0)
    second = sorted(value for _, value in told)[1]
    first_good = next(k for k, (_, value) in enumerate(told, start=1) if value >= second)
    assert evaluations.run(replace(problem, target=second), CONTESTANTS[contestant], seed=0)[:2] == (first_good, True)


def test_a_contestant_that_breaks_down_has_a_record(monkeypatch):
    def broken(problem, seed, told):
        raise ValueError("no such thing")
        yield

    monkeypatch.setitem(evaluations.CONTESTANTS, "random", broken)
    record = evaluations.record("rastrigin4", "random", 0)
    assert (record["evaluations"], record["good"], record["error"]) == (200, False, "ValueError: no such thing")


def test_ratios_are_paired():
    figure, samples = eval_runs.ratio({0: 10, 1: 30, 2: 7, 3: 20}, {0: 20, 1: 60, 2: 14})
    assert figure == 0.5
    assert interval(samples) == pytest.approx((0.5, 0.5))


def test_the_best_peer_is_found_by_the_runs_it_shares_and_not_by_two_of_them():
    contestants = {
        "auto": {0: 4, 1: 50, 2: 50, 3: 4},
        "tpe": {0: 4, 1: 40, 2: 40, 3: 200},
        "gp": {0: 8, 1: 60, 3: 8},  # a small mean, for want of the hard run
        "cmaes": {0: 1, 3: 1},
        "paper": {0: 1, 1: 1, 2: 1},
    }
    assert eval_runs.best_peer(contestants, "auto") == "gp"  # 58 / 76, and tpe 108 / 284
    assert eval_runs.best_peer({"auto": {0: 4}, "gp": {0: 4}}, "auto") is None


@pytest.mark.parametrize("seed", range(30))
def test_a_peer_can_be_best_just_where_the_runs_that_it_lacks_may_make_it_so(seed):
    rng = default_rng(seed)
    contestants = {name: dict(enumerate(rng.integers(4, 60, 20).tolist())) for name in ("auto", "tpe", "gp")}
    contestants["auto"][19] = 2  # the second starting point is good, for whomever
    known = dict(enumerate(rng.integers(4, 120, rng.integers(3, 19)).tolist()))
    least = known | {s: 4 if s < 19 else 2 for s in range(len(known), 20)}
    lucky = eval_runs.best_peer(contestants | {"ax": least}, "auto") == "ax"
    assert eval_runs.can_be_best(contestants | {"ax": known}, "auto", "ax") == lucky
    assert lucky or eval_runs.best_peer(contestants | {"ax": known}, "auto") != "ax"


def test_runs_in_turns_are_those_that_run_alone(monkeypatch):
    def by_the_one_generator(problem, seed, told):
        np.random.seed(seed)  # noqa: NPY002 - as BoTorch seeds torch
        while True:
            yield {name: np.random.uniform(*bounds) for name, bounds in problem.space.items()}  # noqa: NPY002

    monkeypatch.setitem(early_cutoff.CONTESTANTS, "random", by_the_one_generator)
    records = early_cutoff.settle("keane", "random", {})
    alone = [evaluations.record("keane", "random", seed) for seed in range(50)]
    assert [(r["key"], r["evaluations"], r["good"]) for r in records] == [
        (r["key"], r["evaluations"], r["good"]) for r in alone
    ]
    assert sum(r["good"] for r in records) > 5


@pytest.mark.parametrize("best", [30, 5])
def test_runs_are_cut_off_when_they_cannot_make_a_peer_the_best_any_more(best):
    known = {"auto": dict.fromkeys(range(50), 10), "tpe": dict.fromkeys(range(50), best), "random": {0: 200, 2: 200}}
    records = early_cutoff.settle("branin", "random", known)
    assert [r["seed"] for r in records] == [1, *range(3, 50)]
    (level,) = {r["evaluations"] for r in records if "cut" in r}
    assert all(r["good"] and r["evaluations"] <= level for r in records if "cut" not in r)
    assert level >= early_cutoff.LEAST
    sums = [400 + sum(min(r["evaluations"], n) for r in records) for n in (level - 1, level)]
    assert sums[1] >= 50 * best
    assert sums[0] < 50 * best or level == early_cutoff.LEAST


def test_a_run_in_which_a_peer_breaks_down_is_not_cut_off(monkeypatch):
    def breaks(problem, seed, told):
        if seed == 3:
            raise ValueError("no such thing")
        while True:
            yield problem.settings(1, default_rng(0))[0]

    monkeypatch.setitem(early_cutoff.CONTESTANTS, "random", breaks)
    known = {"auto": dict.fromkeys(range(50), 10), "tpe": dict.fromkeys(range(50), 5)}
    records = early_cutoff.settle("rastrigin4", "random", known)
    assert (records[3]["evaluations"], records[3]["error"]) == (200, "ValueError: no such thing")
    assert records[4]["cut"]


def test_pairs_are_settled_once_and_kept(tmp_path):
    common = {"problem": "forrester", "good": True, "target": PROBLEMS["forrester"].target}
    for contestant, count in (("auto", 10), ("tpe", 30)):
        rows = [common | {"contestant": contestant, "seed": s, "evaluations": count} for s in range(50)]
        lines = [json.dumps(row | {"key": f"forrester/{contestant}/{row['seed']}"}) + "\n" for row in rows]
        (tmp_path / f"{contestant}.jsonl").write_text("".join(lines))
    for _ in range(2):
        early_cutoff.settle_all(["auto", "tpe", "random"], ["forrester"], tmp_path, tmp_path / "none", 1)
    records = evaluations.load(tmp_path, tmp_path / "none")
    assert [r["seed"] for r in records if r["contestant"] == "random"] == list(range(50))
    assert len(records) == 150
    runs = eval_runs.by_problem(records)
    assert eval_runs.best_peer(runs["forrester"], "auto") == "tpe"
    assert eval_runs.cuts(records)["forrester", "random"] == max(runs["forrester"]["random"].values())


def test_the_page_is_written_from_records_and_can_be_restored(tmp_path):
    rng, out, docs = default_rng(6), tmp_path / "out", tmp_path / "docs"
    out.mkdir()
    for contestant, mean in (("auto", 20), ("paper", 30), ("tpe", 60), ("random", 40)):
        records = [
            {
                "key": f"{problem}/{contestant}/{seed}",
                "problem": problem,
                "contestant": contestant,
                "seed": seed,
                "target": PROBLEMS[problem].target,
                "evaluations": int(mean + rng.integers(-5, 6)),
                "good": True,
                "seconds": 1.0,
                "version": "some 1.0",
            }
            for problem in ("branin", "recipe")
            for seed in range(5)
        ]
        (out / f"{contestant}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    kept = docs / "records" / "evaluations.jsonl.xz"
    eval_page.write(evaluations.keep(out, kept), docs)
    page = (docs / "evidence" / "benchmarks.md").read_text()
    assert "| random | 0.5" in page  # a ratio of about 20 / 40
    assert "on 2 of 2 problems: **branin**, **recipe**" in page  # TPE
    assert page.count("satisfice `auto`: on 0 of 2 problems") == 1
    assert {path.name for path in (docs / "images" / "benchmarks").iterdir()} == {
        "profile.png",
        "tuned-on.png",
        "held-out.png",
    }
    evaluations.restore(kept, tmp_path / "again")
    first, again = (
        {r["key"]: r for r in evaluations.load(folder, tmp_path / "none")} for folder in (out, tmp_path / "again")
    )
    assert first == again


def test_a_bound_is_never_the_best_of_a_row_and_nobody_is_behind_a_bound_of_chance():
    counts = {"auto": 9, "paper": 50, "ax": 5, "random": 20}
    runs = {"branin": {contestant: dict.fromkeys(range(3), count) for contestant, count in counts.items()}}
    row = eval_page.means_table(runs, ["branin"], {("branin", "ax"): 5}).splitlines()[-1]
    assert "**9**" in row
    assert "≥ 5°" in row
    assert "`paper`: on 1 of 1 problems: **branin**" in eval_page.behind_random(runs, {})
    lines = eval_page.behind_random(runs, {("branin", "random"): 20})
    assert "`auto`: on 0 of 1 problems" in lines
    assert "paper" not in lines
