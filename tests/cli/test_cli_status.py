"""`satisfice status` and `satisfice report`: in the first moments of a study, and as a table."""

import json
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

from satisfice.cli import main
from satisfice.domain.space import Space
from satisfice.study.config import StudyConfig
from satisfice.study.workers.storage import open_study

WHERE = ["--storage", "s.db", "--name", "n"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def study() -> optuna.Study:
    return open_study("n", "s.db", direction="minimize")


def test_a_study_that_was_only_just_opened_has_a_status(study, capsys):
    study.set_user_attr("satisfice:command", '["echo", "{x}"]')
    assert main(["status", *WHERE]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "verdict      open: not decided yet",
        "evaluations  0",
        "target       not known yet: the search is just starting",
    ]
    assert main(["status", "--json", *WHERE]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {name: said[name] for name in ("verdict", "name", "target", "evaluations", "running")} == {
        "verdict": "open",
        "name": "n",
        "target": None,
        "evaluations": 0,
        "running": 0,
    }
    assert main(["status", "--csv", "-", *WHERE]) == 0
    assert capsys.readouterr().out == "number,value,state,repeats,hope,error,seconds\n"


@pytest.mark.parametrize("space", [None, Space.of({"x": (0.0, 1.0)})], ids=["by a function", "by name"])
def test_before_the_first_evaluation_the_target_and_what_runs_are_told(space, study, capsys):
    StudyConfig(0.25, "minimize", space=space).store(study)
    assert main(["status", "--csv", "-", *WHERE]) == 0
    assert capsys.readouterr().out == f"number,{'' if space is None else 'x,'}value,state,repeats,hope,error,seconds\n"
    trial = study.ask()
    trial.suggest_float("x", 0.0, 1.0)
    assert main(["status", *WHERE]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "verdict      open: not decided yet",
        "evaluations  0",
        "target       at most 0.25",
        "running      1",
    ]
    assert main(["status", "--csv", "all.csv", *WHERE]) == 0
    header, row = Path("all.csv").read_text().splitlines()
    assert header == "number,x,value,state,repeats,hope,error,seconds"
    assert row == f"0,{trial.params['x']!r},,running,,,,"


def test_a_report_says_that_there_is_nothing_yet(study, capsys):
    assert main(["report", *WHERE]) == 2
    assert "Study 'n' has no evaluations yet, so there is nothing to report" in capsys.readouterr().err
    assert not Path("report.html").exists()
    StudyConfig(0.25, "minimize", space=Space.of({"x": (0.0, 1.0)})).store(study)
    assert main(["report", *WHERE]) == 0  # the space is known: a page without values
    assert "at most 0.25" in Path("report.html").read_text()


def test_a_study_of_another_program_is_not_asked_for_an_option_that_does_not_exist(study, capsys):
    trial = study.ask()
    study.tell(trial, trial.suggest_float("x", 0.0, 1.0))
    for command in ("status", "report"):
        assert main([command, *WHERE]) == 2
        said = capsys.readouterr().err
        assert "`target` must be given for the study 'n'" in said
        assert "`answer_of`" in said


def test_a_table_of_evaluations_needs_no_model_and_no_target(tmp_path):
    """Learning hyperparameters loads scipy.optimize; writing the table of a long study, of whatever sampler, does not."""
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(study_name="theirs", storage=storage, direction="maximize")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=12)
    script = (
        "import sys; from satisfice.cli import main; "
        f"main(['status', '--storage', {storage!r}, '--name', 'theirs', '--csv', '-']); "
        "print('scipy.optimize' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    header, *rows, loaded = printed.splitlines()
    assert header.startswith("number,x,value,state")
    assert [float(row.split(",")[2]) for row in rows] == [trial.value for trial in study.trials]
    assert loaded == "False"
