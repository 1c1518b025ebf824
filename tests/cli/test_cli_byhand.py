"""Experiments by hand on the command line: new, ask, tell, fail, cancel, undo and status."""

import json
from pathlib import Path

import pytest

from satisfice import open_search
from satisfice.cli import main

WHERE = ["--storage", "lab.db", "--name", "lab"]
NEW = [
    "new",
    *WHERE,
    "--target",
    "80",
    "--noise",
    "1.5",
    "--seed",
    "1",
    "--param",
    "t=20:90:step=5",
    "--param",
    "s=water,ethanol",
]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def call(*words, code=0):
        assert main([*words, *([] if words[0] == "new" else WHERE)]) == code, capsys.readouterr().err
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    main(NEW)
    assert capsys.readouterr().out.splitlines() == [
        "study    'lab' in lab.db",
        "target   at least 80",
        "command  satisfice ask -n 4 --storage lab.db --name lab",
    ]
    return call


def test_three_days_in_a_lab(run):
    run("ask", "-n", "3", "--csv", "day1.csv", "--by", "Ada")
    sheet = Path("day1.csv").read_text().splitlines()
    assert sheet[0] == "number,t,s,value,error"
    assert "waiting for a result: 3" in run("status")
    Path("day1.csv").write_text("\n".join([sheet[0], sheet[1][:-1] + "71.5,", sheet[2], sheet[3] + "leak"]))
    assert run("tell", "day1.csv").startswith("day1.csv: 2 told, 1 without a result yet\nverdict      open")
    assert run("tell", "day1.csv").startswith("day1.csv: 0 told, 2 known already, 1 without")
    assert run("tell", "1", "-2.5").startswith("1: told\n")  # a negative value is no option
    assert "has a result already: -2.5; got 2.5" in run("tell", "1", "2.5", code=2)
    assert run("tell", "1", "2.5", "--correct").startswith("1: corrected\n")
    assert run("undo", "1") == "1: corrected\n"
    asked = json.loads(run("ask", "--waiting", "--json"))["asked"]
    assert [each["number"] for each in asked] == [1]
    assert json.loads(run("status", "--json"))["waiting"] == asked
    assert run("cancel", "1", "--why", "no time") == "1: told\n"
    assert run("ask", "--waiting") == "no experiment waits for its result\n"
    assert [(row["state"], row["error"]) for row in open_search("lab", "lab.db").table()] == [
        ("complete", None), ("cancelled", None), ("failed", "leak")
    ]  # fmt: skip


def test_a_wrong_sheet_changes_nothing_and_names_the_cell(run):
    run("ask", "-n", "2", "--csv", "s.csv")
    header, first, second = Path("s.csv").read_text().splitlines()
    Path("s.csv").write_text(f'{header}\n{first[:-1]}70,\n{second[:-1]}"81,3",\n')
    assert run("tell", "s.csv", code=2).startswith("satisfice: s.csv, row 3, column 'value': it must be a number")
    assert len(open_search("lab", "lab.db").waiting()) == 2


def test_a_sheet_never_replaces_another_one(run):
    Path("s.csv").write_text("my results")
    assert "there is a file s.csv already, which may hold results" in run("ask", "--csv", "s.csv", code=2)
    assert Path("s.csv").read_text() == "my results"
    assert open_search("lab", "lab.db").waiting() == []


def test_wrong_words_are_refused(run):
    assert "`VALUE` must follow the number" in run("tell", "7", code=2)
    assert "the number of an experiment that was asked for; got 7" in run("tell", "7", "3", code=2)
    assert "`number` must be the number of an experiment; got 'x'" in run("fail", "x", code=2)
    assert "leave out `-n`" in run("ask", "--waiting", "-n", "2", code=2)
    assert "there is a study 'lab' already" in run(*NEW, code=2)
    assert "nothing.csv cannot be read" in run("tell", "nothing.csv", code=2)


def test_earlier_data_is_taken_in(capsys):
    Path("old.csv").write_text("t,s,value\n20,water,61.0\n40,ethanol,66.5\n")
    assert main([*NEW, "--history", "old.csv"]) == 0
    assert "earlier data  2 rows" in capsys.readouterr().out
    Path("bad.csv").write_text("t,s,value\n20,wine,61.0\n")
    assert main([*NEW, "--name", "other", "--history", "bad.csv"]) == 2
    assert "Row 0 of `history`" in capsys.readouterr().err
    assert main([*NEW, "--name", "other"]) == 0  # what was refused made no study


def test_a_sheet_may_be_an_excel_file(run):
    openpyxl = pytest.importorskip("openpyxl")
    assert "write one by --excel" in run("ask", "--csv", "s.xlsx", code=2)
    assert "use one of them" in run("ask", "--csv", "s.csv", "--excel", "s.xlsx", code=2)
    assert "the sheet is s.xlsx: fill in" in run("ask", "-n", "2", "--excel", "s.xlsx")
    assert "there is a file s.xlsx already" in run("ask", "--excel", "s.xlsx", code=2)
    book = openpyxl.load_workbook("s.xlsx")
    book.active["D2"] = 71.5
    book.save("s.xlsx")
    assert run("tell", "s.xlsx").startswith("s.xlsx: 1 told, 1 without a result yet")


def test_status_answers_before_anything_was_asked(run):
    assert run("status").splitlines()[0] == "verdict      open: not decided yet"
