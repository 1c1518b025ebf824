"""Requirements on the command line."""

import json
import re
import sys
from pathlib import Path

import pytest

from satisfice.cli import main
from satisfice.command.value import CommandFailed, read_values

PROGRAM = (
    "import json, sys; a, b = map(float, sys.argv[1:]); print('done'); "
    "print(json.dumps({'accuracy': 1 - (a - 0.6) ** 2, 'p99': 100 + 200 * abs(b - 0.3), 'note': 'x'}))"
)
PARAMS = ["--param", "a=0.0:1.0", "--param", "b=0.0:1.0"]
REQUIRED = ["--require", "accuracy>=0.95", "--require", "p99<=160"]
COMMAND = ["--", sys.executable, "-c", PROGRAM.replace("{", "{{").replace("}", "}}"), "{a}", "{b}"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys):
    def call(*words, code=0):
        assert main(list(words)) == code, capsys.readouterr().err
        printed = capsys.readouterr()
        return printed.err if code == 2 else printed.out

    return call


def test_find_reads_all_values_from_the_json_on_the_last_line(run):
    printed = run("find", *REQUIRED, *PARAMS, "--seed", "1", "--quiet", "--json", "--csv", "all.csv", *COMMAND)
    answer = json.loads(printed)
    assert answer["verdict"] == "good"
    assert answer["target"] == ["accuracy >= 0.95", "p99 <= 160"]
    first, second = answer["requirements"]
    assert first["name"] == "accuracy"
    assert first["value"] >= 0.95
    assert second["value"] <= 160
    assert (
        Path("all.csv").read_text().splitlines()[0] == "number,a,b,accuracy,p99,note,state,repeats,hope,error,seconds"
    )
    status = run("status")
    assert "accuracy >= 0.95 and p99 <= 160" in status
    assert "all requirements are met" in status
    run("report", "--out", "page.html")
    page = Path("page.html").read_text()
    assert "Good enough: all requirements are met." in page
    assert "accuracy along a" in page


def test_by_hand_values_are_told_by_name(run):
    run("new", *REQUIRED, *PARAMS, "--seed", "1")
    asked = run("ask", "-n", "2")
    assert "satisfice tell NUMBER accuracy=VALUE p99=VALUE" in asked
    assert run("tell", "0", "accuracy=0.99", "p99=150").startswith("0: told\n")
    assert "The value 'p99' is required, and was not returned; got 'accuracy'" in run(
        "tell", "1", "accuracy=0.9", code=2
    )
    assert "must be a dict of the required values" in run("tell", "1", "0.9", code=2)
    assert "`VALUE` must be one number, or NAME=NUMBER" in run("tell", "1", "0.9", "0.8", code=2)
    assert "the columns `accuracy` and `p99`" in run("ask", "--waiting", "--csv", "sheet.csv")
    assert Path("sheet.csv").read_text().splitlines()[0] == "number,a,b,accuracy,p99,error"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give either `--target`, the value that is good enough, or `--require`"),
        (["--target", "1", *REQUIRED], "Give either `--target`"),
        ([*REQUIRED, "--minimize"], "`--minimize` belongs to `--target`"),
        ([*REQUIRED, "--noise", "1"], "`--noise` belongs to `--target`"),
        ([*REQUIRED, "--range", "0:1"], "`--range` belongs to `--target`"),
        ([*REQUIRED, "--value", "p99"], "`--value` belongs to `--target`"),
        (["--require", "accuracy>0.9"], "must compare by >= or <=.* Write >= instead"),
        (["--require", "accuracy"], "`requirement` must be such as 'yield >= 80'|`target` must be"),
        (["--require", "a>=1"], "must not have the name of a parameter; got 'a'"),
    ],
)
def test_wrong_words_are_refused_before_there_is_a_study(words, message, run):
    error = run("find", *words, *PARAMS, *COMMAND, code=2)
    assert re.search(message, error), error


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        (b"0.93", "the last printed line is not a JSON object with 'a': 0.93"),
        (b'{"a": 1}', "has no 'b'; it has 'a': see --value and --require"),
        (b'{"a": 1, "b": "high"}', "'b' must be a number; got \"high\""),
        (b"", "not a JSON object with 'a': nothing"),
    ],
)
def test_what_is_missing_is_named(printed, message):
    with pytest.raises(CommandFailed, match=message):
        read_values(printed, ["a", "b"])


def test_further_entries_are_kept():
    assert read_values(b'words\n{"b": 2, "a": 1, "c": "x"}\n', ["a", "b"]).value == {"a": 1.0, "b": 2.0, "c": "x"}
