"""The pytest plugin: flaky tests and measured values are run until it is clear whether they are good."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

FLAKY = """
import random

import pytest

made = []


@pytest.fixture(scope="module")
def server():
    made.append("server")
    yield
    made.append("closed")


@pytest.fixture
def fresh(server):
    made.append("fresh")
    yield
    made.append("torn down")


@pytest.mark.certify(rate=">= 0.95", budget=600)
@pytest.mark.parametrize("p", [0.90, 0.99, 1.0])
def test_flaky(p, certify_seed, fresh):
    assert random.Random(certify_seed).random() < p, "not this time"


@pytest.mark.certify(target="<= 200", quantile=0.9)
@pytest.mark.parametrize("mean", [50, 150])
def test_latency(mean, certify_seed, certify_value):
    certify_value(random.Random(certify_seed).expovariate(1 / mean))


def test_other(fresh):
    assert made.count("server") == 1
    assert made.count("fresh") == made.count("torn down") + 1 > 100
"""


def pytest_of(place, text, *words, code):
    (place / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "satisfice.pytest_plugin", "-p", "no:cacheprovider", "-W", "error"]
    command += ["-q", "--strict-markers", "-rA", "-c", "/dev/null", "--rootdir", str(place), *words, "test_it.py"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_flaky_tests_of_three_rates_and_measured_values_are_judged(tmp_path):
    said = pytest_of(tmp_path, FLAKY, "--certify-seed", "5", "--junitxml", "out.xml", code=1)
    assert "PASSED test_it.py::test_flaky[0.99]" in said
    assert "PASSED test_it.py::test_flaky[1.0]" in said
    assert "FAILED test_it.py::test_flaky[0.9]" in said
    assert "PASSED test_it.py::test_latency[50]" in said
    assert "FAILED test_it.py::test_latency[150]" in said
    assert "PASSED test_it.py::test_other" in said  # each run had a fixture of its own, all of them one server
    assert "2 failed, 4 passed" in said
    assert "test_it.py::test_flaky[0.9]: bad: rate of value >= 0.95" in said
    assert "The last run that failed:" in said
    assert "not this time" in said
    cases = {case.attrib["name"]: case for case in Xml.parse(tmp_path / "out.xml").iter("testcase")}  # noqa: S314
    assert len(cases) == 6
    assert cases["test_flaky[0.9]"].find("failure") is not None
    told = {each.attrib["name"]: each.attrib["value"] for each in cases["test_flaky[1.0]"].iter("property")}
    assert told["certify"].startswith("good: rate of value >= 0.95 (1, ")


def test_tests_may_run_in_several_processes(tmp_path):
    said = pytest_of(tmp_path, FLAKY.replace("def test_other", "def other"), "-n", "2", "--certify-seed", "5", code=1)
    assert "2 failed, 3 passed" in said
    assert "test_it.py::test_flaky[1.0]: good" in said


def test_a_budget_that_is_spent_fails_the_test_and_says_so(tmp_path):
    text = "import pytest\n\n@pytest.mark.certify(rate='>= 0.95')\ndef test_it():\n    pass\n"
    said = pytest_of(tmp_path, text, "--certify-budget", "4", code=1)
    assert "open: rate of value >= 0.95 (1, 4 of 4 passed" in said
    assert "1 passed" in pytest_of(tmp_path, text, code=0)


def test_a_test_that_is_skipped_or_broken_around_is_reported_as_ever(tmp_path):
    text = """
import pytest

@pytest.fixture
def broken():
    raise RuntimeError("no server")

@pytest.fixture
def unclean():
    yield
    raise RuntimeError("not closed")

@pytest.mark.certify(rate=">= 0.95")
def test_skipped():
    pytest.skip("not here")

@pytest.mark.certify(rate=">= 0.95")
def test_broken(broken):
    pass

@pytest.mark.certify(rate=">= 0.95")
def test_unclean(unclean):
    pass

@pytest.mark.certify(target=">= 0.95")
def test_without_value():
    pass

@pytest.mark.certify(target=">= 0.95", noise=1.0)
def test_always_raises(certify_value):
    raise RuntimeError("no value")
"""
    said = pytest_of(tmp_path, text, code=1)
    assert "1 skipped" in said
    assert "ERROR test_it.py::test_broken - RuntimeError: no server" in said
    assert "ERROR test_it.py::test_unclean - RuntimeError: not closed" in said
    assert "Each run must call certify_value(...) once; this one called it 0 times." in said
    assert "5 of 5 runs failed." in said


MARKS = {
    "": "needs a `rate` or a `target`",
    "rate='>= 0.9', target='>= 1'": "needs a `rate` or a `target`",
    "rate='> 0.9'": "must compare by >= or <=",
    "rate='>= 0.9', colour='red'": "takes budget, confidence",
    "rate='>= 0.9', budget=0": "must be a number of runs",
    "target={'a': '>= 1', 'b': '>= 1'}": "takes one target",
}


def test_a_wrong_mark_is_found_before_anything_runs(tmp_path):
    names = [f"test_{number}.py" for number in range(len(MARKS))]
    for name, mark in zip(names, MARKS, strict=True):
        text = f"import pytest\n\n@pytest.mark.certify({mark})\ndef test_it():\n    pass\n"
        (tmp_path / name).write_text(text)
    script = f"import pytest\nfor name in {names!r}:\n"
    script += (
        "    print(name, pytest.main(['-p', 'satisfice.pytest_plugin', '-c', '/dev/null', '--rootdir', '.', name]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    for name, message in zip(names, MARKS.values(), strict=True):
        assert f"{name} 4" in done.stdout
        assert message in done.stderr + done.stdout


def test_the_plugin_imports_nothing_heavy():
    heavy = ("numpy", "scipy", "optuna", "sqlalchemy", "rich", "jinja2")
    script = f"import sys, satisfice.pytest_plugin; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_marked_test_needs_no_optuna(tmp_path):
    text = "import sys\nimport pytest\n\n@pytest.mark.certify(rate='>= 0.5')\n"
    text += "def test_it():\n    assert 'optuna' not in sys.modules\n"
    assert "1 passed" in pytest_of(tmp_path, text, code=0)


EXAMPLES = Path(__file__).parents[1] / "examples" / "gate"


def test_the_flaky_tests_of_the_examples_are_judged():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "satisfice.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-q",
        "-c",
        "/dev/null",
    ]
    command += ["--rootdir", str(EXAMPLES), "--certify-seed", "1", str(EXAMPLES / "flaky.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "good: rate of value >= 0.95" in done.stdout
