"""Cells, records, curves: what an experiment asks for, keeps and reads back."""

import json
import os
import signal
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import nursery
from satisfice.cli import main
from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.paper.experiments.curves import load, over_time, record_file, success, success_by_trial
from satisfice.paper.experiments.document import restore
from satisfice.paper.experiments.paper import FIGURES, demanding, panels
from satisfice.paper.experiments.records import Records, pack, unpack
from satisfice.paper.experiments.reproduce import IDS, having, needed, work_of
from satisfice.paper.experiments.run import run_cell, run_tasks, starting_points, tasks_of
from satisfice.paper.experiments.spec import VARIANTS, Cell, Panel, cells
from satisfice.paper.problems import PROBLEMS
from satisfice.paper.problems.problem import Problem
from satisfice.search.search import Search

PANEL = Panel("keane", 0.92, "eta = 0.92", rules=("pg", "ei"), budget=12)


def work(panels_, everything=None, trials=2, experiments=2, rules=None):
    return cells(panels_, everything or panels_, variant="paper", rules=rules, trials=trials, experiments=experiments)


def test_a_rule_that_does_not_read_the_target_runs_once_and_as_far_as_the_most_demanding_panel():
    easy, hard = (Panel("robot3", eta, f"eta = {eta}", rules=("pg", "ei")) for eta in (4.0, 4.75))
    found = work([easy, hard], trials=1, experiments=1)
    assert sorted((cell.rule, cell.target, cell.stop) for cell in found if cell.rule == "pg") == [
        ("pg", 4.0, 4.0),
        ("pg", 4.75, 4.75),
    ]
    assert [(cell.target, cell.stop) for cell in found if cell.rule == "ei"] == [(None, 4.75)]
    endless = Panel("robot3", 5.5, "none", to_the_end=True)
    assert [cell.stop for cell in work([easy], [easy, endless], 1, 1) if cell.rule == "ei"] == [None]


def test_every_figure_has_panels_on_problems_that_exist_and_shared_runs_agree():
    stops = {}
    shared = 0
    for name in FIGURES:
        assert panels(name)
        if name == "xgboost":
            continue
        for cell in work(list(panels(name)), demanding(name), 1, 1):
            shared += cell.key in stops
            assert stops.setdefault(cell.key, cell.stop) == cell.stop
    assert shared > 10


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "EXPERIMENT must be one of phi, "),
        (["synthetic", "--only", "nosuch"], "`--only` must be one of alpine, eggholder; got 'nosuch'."),
        (["all", "--only", "nosuch"], "`--only` must be one of ackley, "),
        (["synthetic", "--rules", "pg,nosuch"], "`--rules` must be some of eg,ei,"),
        (["synthetic", "--rules", "auto"], "got 'auto'."),
        (["phi", "--only", "alpine"], "do not apply to phi, which has one problem and its own rules"),
        (["synthetic", "--trials", "0"], "`--trials` must be a whole number, 1 or more; got '0'."),
        (["synthetic", "--experiments", "-3"], "`--experiments` must be a whole number, 1 or more; got '-3'."),
        (["synthetic", "--jobs", "many"], "`--jobs` must be a whole number, 1 or more; got 'many'."),
    ],
)
def test_wrong_words_are_refused_before_anything_is_run_or_drawn(words, said, tmp_path, capsys):
    try:
        code = main(["reproduce", *words, "--out", str(tmp_path / "out")])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


FEW = ["--trials", "1", "--experiments", "1", "--jobs", "1"]


@pytest.mark.parametrize(
    ("packages", "extras", "words"),
    [
        ("matplotlib", "experiments", ["phi"]),
        ("matplotlib", "experiments", ["lenient"]),
        ("matplotlib", "experiments", ["synthetic", "--only", "alpine", "--rules", "pg"]),
        ("joblib", "experiments", ["theory"]),
        ("joblib", "experiments", ["lenient"]),
        ("Box2D", "push", ["real"]),
        ("Box2D", "push", ["threshold", "--only", "robot3"]),
        ("xgboost", "tuning", ["xgboost"]),
        ("distributed", "cluster", ["lenient", "--cluster", "tcp://127.0.0.1:1"]),
        ("matplotlib, joblib, Box2D, xgboost", "experiments,push,tuning", ["all"]),
        ("xgboost", "tuning", ["all"]),
    ],
)
def test_what_is_not_installed_is_named_with_its_extra_before_anything_runs(
    packages, extras, words, tmp_path, capsys, monkeypatch
):
    for package in packages.split(", "):
        monkeypatch.setitem(sys.modules, package, None)
    assert main(["reproduce", *words, *FEW, "--out", str(tmp_path / "out")]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    are = "are" if "," in packages else "is"
    assert said.startswith(f"satisfice: {packages} {are} not installed: run pip install '.[{extras}]'")
    assert not (tmp_path / "out").exists()


def test_what_an_experiment_does_not_use_may_be_missing(tmp_path):
    options = {"variant": "paper", "out": tmp_path, "trials": 1, "experiments": 1, "rules": None}
    drawn, joblib, cluster = ("matplotlib", "experiments"), ("joblib", "experiments"), ("distributed", "cluster")
    assert needed("threshold", work_of("threshold", **options, only="ackley"), None) == [drawn, joblib]
    assert needed("theory", work_of("theory", **options, only=None), None) == [joblib]
    assert needed("phi", work_of("phi", **options, only=None), None) == [drawn]
    assert needed("real", work_of("real", **options, only=None), "tcp://host:1") == [drawn, cluster]


def test_a_problem_whose_runs_are_all_done_needs_no_package(tmp_path):
    options = {"variant": "paper", "out": tmp_path, "trials": 1, "experiments": 1, "rules": ("pg",), "only": "robot3"}
    (work,) = work_of("real", **options)
    assert ("Box2D", "push") in needed("real", [work], None)
    for task in work.tasks:
        Records(work.path).append({"key": task.key})
    assert needed("real", [work], None) == [("matplotlib", "experiments"), ("joblib", "experiments")]


def test_out_must_be_a_directory(tmp_path, capsys):
    (tmp_path / "file").write_text("precious")
    for out in ("file", "file/below"):
        assert main(["reproduce", "phi", "--out", str(tmp_path / out)]) == 2
        assert f"`--out`: '{tmp_path / 'file'}' is not a directory" in capsys.readouterr().err
    assert (tmp_path / "file").read_text() == "precious"


def test_without_a_terminal_progress_is_told_in_lines(tmp_path, capsys):
    run_tasks(tasks_of(work([PANEL])), tmp_path / "x.jsonl", jobs=1, title="here")
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" runs, ")[0] for line in said] == [f"here: {k} of 8" for k in range(1, 9)]
    run_tasks(tasks_of(work([PANEL], trials=4)), tmp_path / "x.jsonl", jobs=1, title="more")
    said = capsys.readouterr().err.splitlines()
    assert len(said) <= 10
    assert said[-1].startswith("more: 16 of 16 runs, ")


def test_all_cores_are_used_unless_another_number_is_given(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("satisfice.paper.experiments.run._on_cores", lambda tasks, jobs: asked.append(jobs) or iter(()))
    for words in ([], ["--jobs", "3"]):
        main(["reproduce", "theory", *words, "--out", str(tmp_path)])
    run_tasks([], tmp_path / "x.jsonl")
    assert asked == [-1, 3, -1]


def test_of_all_experiments_those_are_run_that_have_what_was_asked_for():
    assert having(IDS, "paper", None, None) == IDS
    assert having(IDS, "paper", "robot3", None) == ("real", "none-good", "threshold")
    assert having(IDS, "paper", None, ("sts",)) == ("sts",)
    assert having(("synthetic",), "auto", None, ("auto",)) == ("synthetic",)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_panel_has_the_floor_and_its_problem_only_once(variant):
    for name in FIGURES:
        drawn = panels(name, variant)
        assert all("random" in panel.rules_as(variant) for panel in drawn)
        assert len({(panel.problem, panel.target, panel.noise) for panel in drawn}) == len(drawn)


def test_the_published_variant_has_the_functions_of_the_published_code():
    assert [(panel.problem, panel.label) for panel in panels("noisy", "published")] == [
        ("keane-published", "eta = 0.85"),
        ("ackley", "xi = 1/100"),
    ]
    assert [panel.problem for panel in panels("sts", "published")] == [
        "dropwave",
        "keane-published",
        "dropwave-shifted",
    ]
    assert [panel.problem for panel in panels("xgboost", "published")] == ["xgboost-published"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_asks_the_same_points_whatever_it_is_compared_with(variant):
    one, other = (run_cell(Cell(variant, "keane", "random", target, None, 0.0, 20, 1, 4)) for target in (None, 0.5))
    assert one["rises"] == other["rises"]
    assert len(one["rises"]) > 1


def test_as_the_text_says_whole_numbers_are_rounded_for_the_evaluation_only(monkeypatch):
    evaluated = []

    def steps(X):
        evaluated.append(X[0].copy())
        return -((X[:, 0] - 3.0) ** 2) - (X[:, 1] - 0.4) ** 2

    box = Box([(0.0, 9.0), (0.0, 1.0)], integers=[0])
    monkeypatch.setitem(PROBLEMS, "steps", Problem("steps", box, steps, maximum=0.0, etas=(-0.01,)))
    cell = Cell("paper", "steps", "pg", -1e-9, None, 0.0, 12, 0, 0)
    starts = starting_points(cell)
    assert (starts[:, 0] != np.round(starts[:, 0])).all()
    run_cell(cell)
    points = np.array(evaluated)
    assert len(points) == 12
    assert (points[:, 0] == np.round(points[:, 0])).all()
    assert (points[:3, 0] == np.round(starts[:, 0])).all()
    local = starting_points(replace(cell, variant="paper-local"))
    assert (local[:, 0] == np.round(local[:, 0])).all()


def test_paper_local_is_a_search_with_the_library_s_own_rule_and_model():
    cell = Cell("paper-local", "keane", "ei", None, None, 0.0, 15, 2, 7)
    search = Search(PROBLEMS["keane"].domain, 0.0, "ei", model="paper", noise=0, confirm=False, seed=2007)
    values = []
    for step in range(15):
        x = starting_points(cell)[step] if step < 3 else search.ask()
        values.append(PROBLEMS["keane"].value(x))
        search.tell(x, values[-1])
    assert run_cell(cell)["rises"][-1][1] == float(f"{max(values):.8g}")


def test_starting_points_are_the_same_for_every_rule_and_fresh_for_every_experiment():
    one, other, third = (
        Cell("paper", "keane", rule, None, None, 0.0, 10, 3, experiment)
        for rule, experiment in (("pg", 0), ("ei", 0), ("pg", 1))
    )
    assert (starting_points(one) == starting_points(other)).all()
    assert (starting_points(one) != starting_points(third)).all()


def test_a_record_depends_on_its_cell_alone_and_holds_the_run():
    cell = work([PANEL])[0]
    record = run_cell(cell)
    assert record == run_cell(cell)
    assert json.loads(json.dumps(record)) == record
    best = over_time(record["rises"], PANEL.budget)
    assert (np.diff(best) >= 0).all()
    assert record["evaluations"] == PANEL.budget or best[record["evaluations"] - 1] >= PANEL.target


def test_the_published_code_is_not_run_on_a_finite_domain_under_its_name():
    with pytest.raises(BadInput, match="boxes only"):
        run_cell(Cell("published", "gp2d", "ucb", None, None, 0.0, 5, 0, 0))


def test_under_noise_the_recommended_point_counts():
    noisy = Panel("keane", 0.5, "eta = 0.5", rules=("pg",), noise=0.05, budget=15, to_the_end=True)
    record = run_cell(work([noisy], trials=1, experiments=1)[0])
    assert record["evaluations"] == 15
    fraction = success(record, noisy)
    assert fraction.shape == (15,)
    assert set(fraction) <= {0.0, 1.0}
    rises_and_falls = {**record, "recommended": [[1, 0.1], [4, 0.7], [9, 0.2]]}
    assert success(rises_and_falls, noisy).tolist() == [0.0] * 3 + [1.0] * 5 + [0.0] * 7


def test_fractions_are_means_over_the_experiments_of_a_trial(tmp_path):
    records = run_tasks(tasks_of(work([PANEL])), record_file(tmp_path, "paper", "keane"), jobs=1)
    found = load(tmp_path, "paper", PANEL)
    assert {rule: len(runs) for rule, runs in found.items()} == {"pg": 4, "ei": 4}
    by_trial = success_by_trial(found["pg"], PANEL)
    first = [success(record, PANEL) for record in records if record["rule"] == "pg" and record["trial"] == 0]
    assert (by_trial[0] == np.mean(first, axis=0)).all()
    (spent,) = Records(tmp_path / "records" / "paper" / "times" / "keane.jsonl")
    assert (spent["runs"], spent["processes"]) == (8, 1)


def test_a_line_that_a_killed_process_left_unfinished_is_cut_off(tmp_path):
    path = tmp_path / "records.jsonl"
    records = Records(path)
    for key in "abc":
        records.append({"key": key, "value": 1.5})
    whole = path.read_bytes()
    for cut in range(1, len(whole.splitlines()[-1]) + 1):
        path.write_bytes(whole[:-cut])
        again = Records(path)
        assert again.keys() == {"a", "b"}
        again.append({"key": "c", "value": 1.5})
        assert path.read_bytes() == whole


def test_packed_records_come_back_sorted_and_are_the_same_bytes(tmp_path):
    orders = ("abc", "cab")
    for order in orders:
        records = Records(tmp_path / f"{order}.jsonl")
        for key in order:
            records.append({"key": key})
        pack(tmp_path / f"{order}.jsonl", tmp_path / f"{order}.gz")
    assert (tmp_path / "abc.gz").read_bytes() == (tmp_path / "cab.gz").read_bytes()
    assert [record["key"] for record in unpack(tmp_path / "abc.gz")] == ["a", "b", "c"]


def test_packed_records_are_written_again_only_where_they_have_changed(tmp_path):
    records, packed = Records(tmp_path / "a.jsonl"), tmp_path / "a.xz"
    records.append({"key": "a"})
    pack(records.path, packed)
    os.utime(packed, (0, 0))
    pack(records.path, packed)
    assert packed.stat().st_mtime == 0
    records.append({"key": "b"})
    pack(records.path, packed)
    assert packed.stat().st_mtime > 0
    assert [record["key"] for record in unpack(packed)] == ["a", "b"]


def test_kept_records_are_restored_with_one_flush_a_file(tmp_path, monkeypatch):
    kept, out = tmp_path / "docs" / "records", tmp_path / "out" / "records"
    for variant in ("paper", "paper-local"):
        records = Records(tmp_path / "made" / f"{variant}.jsonl")
        records.append(*({"key": f"{variant}/{k}"} for k in range(100)))
        pack(records.path, kept / variant / "keane.jsonl.xz")
    Records(out / "paper" / "keane.jsonl").append({"key": "paper/7"}, {"key": "paper/new"})
    flushed, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: flushed.append(file) or fsync(file))
    restore(kept, out)
    assert len(flushed) == 2
    assert len(list(Records(out / "paper-local" / "keane.jsonl"))) == 100
    mine = [record["key"] for record in Records(out / "paper" / "keane.jsonl")]
    assert len(mine) == len(set(mine)) == 101
    assert mine[:2] == ["paper/7", "paper/new"]


def reproduce(out):
    words = ["reproduce", "synthetic", "--only", "eggholder", "--rules", "pg,ei", "--trials", "2", "--experiments", "3"]
    script = "import sys; from satisfice.cli import main; sys.exit(main(sys.argv[1:]))"
    return nursery.fork(script, *words, "--jobs", 1, "--out", out)


def test_a_run_killed_again_and_again_ends_with_the_records_of_an_undisturbed_one(tmp_path):
    calm, stormy = (record_file(tmp_path / name, "paper", "eggholder") for name in ("calm", "stormy"))
    running = reproduce(tmp_path / "calm")
    running.communicate(timeout=120)
    assert running.returncode == 0
    ends = []
    for records in (0, 1, 4):  # killed before the first record, and in the midst of the others
        running = reproduce(tmp_path / "stormy")
        while running.poll() is None and (stormy.read_bytes().count(b"\n") if stormy.exists() else 0) < records:
            time.sleep(0.001)
        running.kill()
        running.communicate(timeout=120)
        ends.append(running.returncode)
    assert ends == [-signal.SIGKILL] * 3
    assert 4 <= stormy.read_bytes().count(b"\n") < 12
    running = reproduce(tmp_path / "stormy")
    running.communicate(timeout=120)
    assert running.returncode == 0
    assert sorted(calm.read_text().splitlines()) == sorted(stormy.read_text().splitlines())
    assert len(calm.read_text().splitlines()) == 12


def test_a_dask_cluster_makes_the_same_records(tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    tasks = tasks_of(work([PANEL], trials=1))
    here = list(run_tasks(tasks, tmp_path / "here.jsonl", jobs=1))
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False
    ) as cluster:
        there = list(run_tasks(tasks, tmp_path / "there.jsonl", cluster=cluster.scheduler_address))
    assert sorted(here, key=lambda r: r["key"]) == sorted(there, key=lambda r: r["key"])


def test_json_prints_the_fractions_and_nothing_else(tmp_path, capsys):
    arguments = ["reproduce", "synthetic", "--only", "alpine", "--rules", "pg", "--trials", "1", "--experiments", "2",
                 "--jobs", "1", "--out", str(tmp_path), "--json"]  # fmt: skip
    assert main(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["runs"] == 2
    assert len(printed["success"]["alpine"]["pg"]) == 10
    with Image.open(tmp_path / "figures" / "synthetic-paper.png") as picture:
        assert min(picture.size) > 300
        assert len(picture.convert("RGB").getcolors()) > 20


def test_an_unknown_figure_is_named_with_those_that_there_are(capsys):
    assert main(["reproduce", "nothing"]) == 2
    assert "one of phi, real" in capsys.readouterr().err
