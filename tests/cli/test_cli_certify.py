"""`satisfice certify`: commands are judged, with exit codes, JSON, JUnit XML and a page."""

import json
import sys
from xml.etree import ElementTree as Xml

import pytest

from satisfice.cli import main

SCRIPT = """
import random, sys
seed = int(sys.argv[1])
kind, p = sys.argv[2], float(sys.argv[3])
draw = random.Random(seed)
if kind == "exit":
    sys.exit(0 if draw.random() < p else "a test failed")
if kind == "json":
    print('{"accuracy": %r, "seconds": 3.0}' % min(draw.gauss(p, 0.02), 1.0))
else:
    print("accuracy:", min(draw.gauss(p, 0.02), 1.0))
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.py").write_text(SCRIPT)
    return lambda kind, p: [sys.executable, "run.py", "{seed}", kind, str(p)]


def run(*words):
    return main(["certify", "--quiet", "--seed", "1", *words])


@pytest.mark.parametrize(("p", "code", "verdict"), [(0.99, 0, "good"), (0.6, 4, "bad")])
def test_the_exit_code_says_the_verdict(script, capsys, p, code, verdict):
    assert run("--target", ">= 0.85", "--range", "0:1", "--oneline", "--", *script("print", p)) == code
    said = capsys.readouterr().out
    assert said.startswith(f"{verdict}: value >= 0.85 (")
    assert said.count("\n") == 1


def test_a_spent_budget_is_open(script, capsys):
    assert run("--target", ">= 0.95", "--range", "0:1", "--budget", "2", "--", *script("print", 0.96)) == 3
    assert "verdict  open: not decided yet" in capsys.readouterr().out


@pytest.mark.parametrize(("p", "code"), [(1.0, 0), (0.3, 4)])
def test_a_rate_counts_exit_codes(script, capsys, p, code):
    assert run("--target", ">= 0.8", "--rate", "--json", "--", *script("exit", p)) == code
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == {0: "good", 4: "bad"}[code]
    part = said["requirements"][0]
    assert part["requirement"] == "rate of value >= 0.8"
    assert part["passed"] == (part["values"] if code == 0 else part["values"] - said["failures"])
    if code == 4:
        assert "a test failed" in said["notes"][0]
        assert "exit code 1" in said["notes"][0]


def test_a_quantile_a_key_and_gaussian_noise(script):
    assert run("--target", "<= 1", "--quantile", "0.5", "--value", "accuracy", "--", *script("json", 0.9)) == 0
    assert run("--target", ">= 0.8", "--noise", "gaussian", "--value", "accuracy", "--", *script("json", 0.9)) == 0
    assert run("--target", "<= 0.8", "--noise", "0.02", "--regex", "accuracy: (.*)", "--", *script("print", 0.9)) == 4


def test_several_requirements_are_read_from_one_object(script, capsys):
    words = ["--require", "accuracy >= 0.8", "--require", "seconds <= 4", "--budget", "30", "--json"]
    assert run(*words, "--", *script("json", 0.9)) == 3  # the seconds never vary, and nothing is stated about them
    said = json.loads(capsys.readouterr().out)
    assert [each["requirement"] for each in said["requirements"]] == ["accuracy >= 0.8", "seconds <= 4"]
    assert "seconds: all 20 values are 3" in said["notes"][0]


def test_two_commands_are_compared_with_the_same_seeds(script, capsys):
    other = " ".join(script("print", 0.9))
    assert run("--against", other, "--noise", "gaussian", "--", *script("print", 0.95)) == 0
    assert "difference >= 0" in capsys.readouterr().out
    assert run("--against", other, "--margin", "0.01", "--range", "0:1", "--", *script("print", 0.5)) == 4
    assert run("--against", other, "--minimize", "--noise", "gaussian", "--", *script("print", 0.95)) == 4


def test_runs_are_kept_only_if_that_is_wanted(script, tmp_path, capsys):
    words = ["--target", ">= 0.8", "--range", "0:1", "--storage", "gate.db", "--", *script("print", 0.99)]
    assert run("--budget", "3", *words) == 3
    assert "run the same command with a larger --budget" in capsys.readouterr().out
    assert run("--json", *words) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "gate"
    assert main(["status", "--storage", "gate.db", "--name", "gate"]) == 0
    assert "verdict      good" in capsys.readouterr().out
    assert main(["report", "--storage", "gate.db", "--name", "gate"]) == 0
    assert "Good enough" in (tmp_path / "report.html").read_text()
    other = ["--target", ">= 0.8", "--range", "0:1", "--storage", "gate.db", "--", *script("print", 0.5)]
    assert run(*other) == 2
    assert "Use the same command" in capsys.readouterr().err


def test_what_is_not_stored_leaves_nothing(script, tmp_path):
    assert run("--target", ">= 0.8", "--range", "0:1", "--", *script("print", 0.99)) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["run.py"]


@pytest.mark.parametrize(("p", "failures"), [(0.99, "0"), (0.7, "1")])
def test_a_junit_file_and_a_page_are_written(script, tmp_path, p, failures):
    run(
        "--target",
        ">= 0.9",
        "--range",
        "0:1",
        "--junit",
        "gate.xml",
        "--report",
        "gate.html",
        "--",
        *script("print", p),
    )
    suite = Xml.parse(tmp_path / "gate.xml").getroot()[0]  # noqa: S314
    assert suite.attrib["failures"] == failures
    assert suite[0].attrib["name"] == "value >= 0.9"
    if failures == "1":
        assert suite[0][0].tag == "failure"
        assert suite[0][0].attrib["message"].startswith("bad: value >= 0.9")
    page = (tmp_path / "gate.html").read_text()
    assert ("Good enough" if failures == "0" else "Not good enough") in page
    assert page.count("<svg") >= 2
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give one of `--target`"),
        (["--target", "0.95"], "must be"),
        (["--target", ">= 0.95", "--noise", "abc"], "`--noise` must be 0, a standard deviation, 'gaussian' or 'learn'"),
        (["--target", ">= 0.95", "--minimize"], "`--minimize` must come with"),
        (["--target", ">= 0.95", "--rate", "--value", "x"], "looks at exit codes"),
        (["--target", ">= 0.95", "--value", "x", "--regex", "y"], "use one of them"),
        (["--target", ">= 0.95", "--json", "--oneline"], "use one of them"),
        (["--against", "'"], "`--against` must be a command"),
        (["--target", ">= 0.95", "--against", "echo 1"], "Give one of `--target`"),
        (["--require", "a >= 1", "--value", "a"], "leave out `--value`"),
        (["--require", "a >= 1", "--range", "0:1"], "stated for each requirement"),
        (["--target", ">= 0.95", "--junit", "missing/x.xml"], "--junit: "),
        (["--target", ">= 0.95", "--range", "0:0.5"], "within `value_range`"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_wrong_options_are_refused(capsys, words, message):
    assert main(["certify", *words, "--", "echo", "1"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "message"), [([], "The command is missing"), (["echo", "{x}"], "only {seed} and {run}")]
)
def test_wrong_commands_are_refused(capsys, program, message):
    assert main(["certify", "--target", ">= 1", "--", *program]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_program_ends_it(script, capsys):
    assert run("--target", ">= 0.95", "--range", "0:1", "--", sys.executable, "missing.py") == 1
    assert "missing.py" in capsys.readouterr().err
