"""The command line, as users run it: real processes, real studies, real signals."""

import contextlib
import csv
import html
import io
import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from satisfice.cli import main
from satisfice.cli.studies import hidden
from satisfice.study.workers.storage import open_storage

HILL = "import sys; x, y = map(float, sys.argv[1:3]); print('value:', -(x - 0.3) ** 2 - (y - 0.6) ** 2)"
SPACE = ["--param", "x=0.0:1.0", "--param", "y=0.0:1.0"]
COMMAND = ["--", sys.executable, "-c", HILL, "{x}", "{y}"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "satisfice", *words], capture_output=True, text=True, timeout=120, check=False, **options
    )


def trials(storage: str = "satisfice.db", name: str = "study") -> list[optuna.trial.FrozenTrial]:
    return optuna.load_study(study_name=name, storage=open_storage(storage)).get_trials()


def read_csv(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def wait_for(path: Path, count: int = 1, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while (not path.exists() or len(path.read_text().splitlines()) < count) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(path.read_text().splitlines()) >= count


def test_a_good_setting_is_found_told_and_reported():
    found = run("find", "--target", "-0.01", "--noise", "0", "--seed", "1", *SPACE, *COMMAND)
    assert found.returncode == 0
    first = trials()[0].value
    assert found.stderr == f"satisfice: note: the first value is {first!r}, read from: value: {first!r}\n"
    assert "good: the target is met" in found.stdout
    assert "'study' in satisfice.db" in found.stdout
    assert "satisfice report" in found.stdout
    shown = next(line for line in found.stdout.splitlines() if line.startswith("command")).removeprefix("command")
    printed = subprocess.run(shlex.split(shown), capture_output=True, text=True, check=True).stdout
    assert float(printed.split()[-1]) >= -0.01  # the command that is shown can be run, and is good
    again = run("find", "--target", "-0.01", "--noise", "0", "--seed", "1", "--json", *SPACE, *COMMAND)
    answer = json.loads(again.stdout)
    assert answer["verdict"] == "good"
    assert answer["evaluations"] == len(trials())  # nothing was evaluated again
    assert -((answer["params"]["x"] - 0.3) ** 2) - (answer["params"]["y"] - 0.6) ** 2 == answer["value"] >= -0.01
    status = run("status", "--json", "--csv", "all.csv")
    assert {**answer, "running": 0, "waiting": []} == json.loads(status.stdout)
    rows = read_csv("all.csv")
    assert [float(row["value"]) for row in rows] == [trial.value for trial in trials()]
    assert [float(row["x"]) for row in rows] == [trial.params["x"] for trial in trials()]
    assert run("report", "--out", "page.html").returncode == 0
    assert "the target is met" in Path("page.html").read_text()


def test_the_report_of_an_open_study_says_how_to_continue():
    words = ["find", "--target", "0", "--noise", "0", "--budget", "3", "--quiet", *SPACE, *COMMAND]
    assert main(words) == 3
    assert main(["report"]) == 0
    shown = Path("report.html").read_text().partition("run <code>")[2].partition("</code>")[0]
    assert shlex.split(html.unescape(shown)) == ["satisfice", *words]


def test_the_exit_code_tells_the_verdict():
    assert main(["find", "--target", "0", "--noise", "0", "--budget", "3", "--quiet", *SPACE, *COMMAND]) == 3
    table = ["--param", "x=0.1,0.5,0.9", "--param", "y=1.0"]
    words = ["find", "--target", "5", "--noise", "0", "--name", "small", "--quiet", *table, *COMMAND]
    assert main(words) == 4
    assert len(trials(name="small")) == 3  # every choice was tried


def test_minimising_and_negative_targets(capsys):
    hill = [*COMMAND[:3], HILL.replace("-(x", "(x").replace("- (y", "+ (y"), *COMMAND[4:]]
    assert main(["find", "--minimize", "--target", "1e-2", "--noise", "0", "--quiet", "--json", *SPACE, *hill]) == 0
    assert json.loads(capsys.readouterr().out)["value"] <= 0.01
    bounded = ["--target", "-1e-2", "--range", "-2:0", "--budget", "2", "--name", "bounded"]
    assert main(["find", *bounded, "--quiet", *SPACE, *COMMAND]) == 3


def test_noise_is_seen_and_the_setting_confirmed(capsys):
    noisy = HILL.replace("import sys", "import random, sys").replace("-(x", "random.gauss(0, 0.01) - (x")
    words = ["find", "--target", "-0.1", "--seed", "2", "--quiet", "--json", *SPACE, *COMMAND[:3], noisy, *COMMAND[4:]]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["certificate"]["repeats"] >= 3
    assert answer["certificate"]["bound"] >= -0.1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["find", "--target", "1", "--param", "x=1:", *COMMAND], "--param x=1:"),
        (["find", "--target", "1", "--param", "x=2:1", "--", "echo", "{x}"], "`space['x']` must have"),
        (["find", "--target", "1", "--param", "x=0:1", "--", "echo"], "does not use the parameter 'x'"),
        (
            ["find", "--target", "1", "--param", "x=0:1", "--", "echo", "{x}{y}"],
            "contains {y}, which is not a parameter",
        ),
        (["find", "--target", "1", "--param", "x=0:1"], "after --"),
        (["find", "--target", "1", "--param", "x=0:1", "--", "no-such-program", "{x}"], "no program"),
        (["find", "--target", "much", *SPACE, *COMMAND], "--target"),
        (["find", "--target", "nan", *SPACE, *COMMAND], "--target"),
        (["find", "--target", "1", "--range", "1:0", *SPACE, *COMMAND], "--range"),
        (["find", "--target", "1", "--noise", "-1", *SPACE, *COMMAND], "--noise"),
        (["find", "--target", "1", "--budget", "0", *SPACE, *COMMAND], "--budget"),
        (["find", "--target", "1", "--confidence", "2", *SPACE, *COMMAND], "confidence"),
        (["find", "--target", "2", "--range", "0:1", *SPACE, *COMMAND], "target"),
        (
            ["find", "--target", "1", "--storage", "no/such/directory.db", *SPACE, *COMMAND],
            "must lie in a directory that exists",
        ),
        (["find", "--target", "1", "--storage", "http://secret:word@x/y", *SPACE, *COMMAND], "storage"),
        (["find", *SPACE, *COMMAND], "--target"),
        (["find", "--target", "1", "--history", "none.csv", *SPACE, *COMMAND], "none.csv"),
        (["status"], "no file satisfice.db"),
        (["report"], "no file satisfice.db"),
        (["dance"], "dance"),
        ([], "COMMAND"),
    ],
)
def test_wrong_input_is_named_with_code_2(words, said, capsys):
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    assert code == 2
    assert said in captured.err
    assert "Traceback" not in captured.err
    assert "word" not in captured.err
    assert captured.out == ""


WORDS = [
    "find",
    "status",
    "report",
    "--target",
    "--param",
    "--storage",
    "--name",
    "--json",
    "--range",
    "x=0:1",
    "1",
    "-1e-3",
    "a.db",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS) | st.text(st.characters(exclude_characters="-/.~"), max_size=8), max_size=8))
def test_any_words_without_a_command_are_wrong_input(words):
    assume(not {"-h", "--help", "--version", "reproduce", "bench"} & set(words))
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            code = main(words)
        except SystemExit as end:
            code = end.code
    assert code == 2, words
    assert printed.getvalue() == ""
    assert "Traceback" not in said.getvalue()


def test_a_study_takes_one_command_only(capsys):
    words = ["find", "--target", "0", "--noise", "0", "--budget", "2", "--quiet", *SPACE]
    assert main([*words, *COMMAND]) == 3
    assert main([*words, "--", "echo", "x{x}", "{y}"]) == 2
    assert "Use the same command, or choose another `--name`" in capsys.readouterr().err
    assert main([*words, "--name", "another", "--", "echo", "x{x}", "{y}"]) == 0
    assert main(["status", "--name", "third"]) == 2
    assert "'study', 'another'" in capsys.readouterr().err


def test_failures_are_kept_with_their_reasons_and_too_many_end_it(capsys):
    broken = [sys.executable, "-c", "import sys; sys.exit('disk {x} is full')".replace("{x}", "{{x}}"), "{x}", "{y}"]
    assert main(["find", "--target", "1", "--quiet", *SPACE, "--", *broken]) == 1
    assert "disk {x} is full" in capsys.readouterr().err
    assert main(["status", "--csv", "all.csv"]) == 0
    rows = read_csv("all.csv")
    assert {row["state"] for row in rows} == {"failed"}
    assert "exit code 1: disk {x} is full" in rows[0]["error"]
    assert "\nthe first evaluation that failed: trial 0, x = " in capsys.readouterr().out


def test_a_decimal_comma_is_no_success_but_a_failure_that_says_what_to_print(capsys):
    words = ["find", "--target", "0.9", "--noise", "0", "--quiet", "--param", "x=0.0:1.0"]
    assert main([*words, "--", sys.executable, "-c", "print('accuracy: 0,93')", "{x}"]) == 1
    said = capsys.readouterr().err
    assert "'accuracy: 0,93' is ambiguous" in said
    assert 'print the value on a line of its own, as "value: 0.93"' in said
    assert {trial.state.name for trial in trials()} == {"FAIL"}


def test_a_program_may_be_corrected_as_long_as_nothing_has_succeeded(capsys):
    words = ["find", "--target", "-0.01", "--noise", "0", "--seed", "1", "--quiet", *SPACE]
    assert main([*words, "--", sys.executable, "-c", "print('nothing')", "{x}", "{y}"]) == 1
    assert main([*words, *COMMAND]) == 0
    assert main([*words, "--", "echo", "{x}", "{y}"]) == 2
    assert "was made with the command" in capsys.readouterr().err
    wrong = ["--history", "no.csv", "--name", "other"]
    assert main([*words, *wrong, *COMMAND]) == 2
    assert "'study'" in capsys.readouterr().err or main(["status", "--name", "other"]) == 2


def test_what_cannot_be_read_ends_the_search_at_the_first_run(capsys):
    words = ["find", "--target", "0.9", "--noise", "0", "--quiet", "--param", "x=0.0:1.0"]
    assert main([*words, "--", "echo", "trained on {x}, saved"]) == 1
    assert "no printed line ends with a number: trained on" in capsys.readouterr().err
    assert [trial.state.name for trial in trials()] == ["FAIL"]


def test_a_pattern_finds_the_value_and_the_line_is_echoed(capsys):
    words = ["find", "--target", "-1", "--noise", "0", "--budget", "1", *SPACE]
    prints = "import sys; print('rmse=-%se-9 (3 s)' % sys.argv[1]); print('epoch 7')"
    program = ["--", sys.executable, "-c", prints, "{x}", "{y}"]
    assert main([*words, "--regex", r"rmse=(\S+)", *program]) == 0
    told = capsys.readouterr().err
    assert f"read from: rmse=-{trials()[0].params['x']}e-9 (3 s)" in told
    for wrong, message in [("rmse=(", "--regex"), ("(r)(m)", "--regex"), ("nothing=(.*)", "matches no printed line")]:
        assert main([*words, "--name", "other", "--regex", wrong, *program]) in (1, 2)
        assert message in capsys.readouterr().err
    assert main([*words, "--name", "third", "--regex", "rmse(.*)", *program]) == 1
    assert "must be a number" in capsys.readouterr().err
    assert main([*words, "--regex", "x", "--value", "y", *program]) == 2


def test_runs_that_are_not_needed_any_more_are_ended(tmp_path):
    program = "import os, sys, time; time.sleep(1 if os.path.exists('first') else open('first', 'w').close() or 600); print(1)"
    words = ["find", "--target", "0.5", "--noise", "0", "--jobs", "2", "--cancel-running", "--seed", "1", *SPACE]
    assert run(*words, "--", sys.executable, "-c", program, "{x}", "{y}").returncode == 0
    assert sorted(trial.state.name for trial in trials()) == ["COMPLETE", "FAIL"]


def test_one_run_may_take_only_so_long(capsys):
    slow = [sys.executable, "-c", "import sys, time; time.sleep(60 * (float(sys.argv[1]) > 0)); print(1)", "{x}", "{y}"]
    assert (
        main(["find", "--target", "5", "--each", "0.3", "--budget", "2", "--quiet", "--json", *SPACE, "--", *slow]) == 3
    )
    assert json.loads(capsys.readouterr().out)["failures"] == 2


def test_earlier_data_teach_and_an_export_is_read_back(capsys):
    words = ["find", "--target", "-0.3", "--noise", "0", "--budget", "4", "--quiet", *SPACE]
    assert main([*words, "--csv", "out.csv", *COMMAND]) in (0, 3)
    known = len(trials())
    assert (
        main([*words, "--target", "5", "--budget", "1", "--name", "b", "--history", "out.csv", "--json", *COMMAND]) == 3
    )
    assert len(trials(name="b")) == known + 1


@pytest.mark.parametrize(
    "command", [["status"], ["find", "--target", "-0.3", "--noise", "0", "--quiet", *SPACE, *COMMAND]]
)
def test_a_dash_prints_the_table_and_nothing_else(command, capsys):
    words = [command[0], "--csv", "-", *command[1:]]
    assert (
        main(
            ["find", "--target", "-0.3", "--noise", "0", "--seed", "1", "--quiet", "--csv", "out.csv", *SPACE, *COMMAND]
        )
        == 0
    )
    capsys.readouterr()
    assert main(words) == 0
    assert capsys.readouterr().out == Path("out.csv").read_text()
    assert not Path("-").exists()
    assert main([words[0], "--json", *words[1:]]) == 2
    assert "`--csv -` and `--json` both print to the standard output" in capsys.readouterr().err


def test_cells_that_a_spreadsheet_would_run_are_texts_and_nothing_is_lost(capsys):
    words = ["find", "--target", "5", "--noise", "0", "--quiet", "--param", "a==1+1,@SUM,-x,plain", "--csv", "out.csv"]
    assert main([*words, "--", sys.executable, "-c", "print(-1.5)", "{a}"]) == 4
    assert (
        capsys.readouterr().err == "satisfice: note: all values so far are equal: there is nothing to learn from yet\n"
    )
    rows = read_csv("out.csv")
    assert {row["a"] for row in rows} == {"'=1+1", "'@SUM", "'-x", "plain"}
    assert {row["value"] for row in rows} == {"-1.5"}


SLOW = """
import os, sys, time
open('begun', 'a').write(f'{{os.getpid()}}\\n')
time.sleep(0 if len(open('begun').readlines()) <= 2 or os.path.exists('fast') else 60)
print(-(float(sys.argv[1]) - 0.3) ** 2)
"""


IGNORING = """
import os, signal, sys
for number in sys.argv[1].split(","):
    signal.signal(int(number), signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "satisfice", *sys.argv[2:]])
"""


def interrupted(
    *numbers: int, options: tuple[str, ...] = (), runs: int = 1, ignored: tuple[int, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """A search whose third run and later ones take long, sent signals when so many of them are under way.

    It is started with some signals ignored, as background jobs of a script and `nohup` are; a second passes between two signals.
    """
    words = ["find", "--target", "0", "--noise", "0", "--budget", "5", "--quiet", *options, *SPACE]
    words += ["--", sys.executable, "-c", SLOW, "{x}", "{y}"]
    start = ["-c", IGNORING, ",".join(str(int(each)) for each in ignored)] if ignored else ["-m", "satisfice"]
    process = subprocess.Popen(
        [sys.executable, *start, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        wait_for(Path("begun"), 2 + runs)
        for number in numbers:
            process.send_signal(number)
            if number != numbers[-1]:
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(1)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def command_of(pid: str) -> str:
    """The words of a running process; an empty text for one that has ended. A busy machine soon gives its id to another."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def check_ended_by(number: int, ended: subprocess.CompletedProcess[str]) -> None:
    assert (ended.returncode, ended.stdout) == (128 + number, "")
    assert ended.stderr.startswith("Stopped. All evaluations so far are kept in satisfice.db. To continue:")
    assert [words for pid in Path("begun").read_text().split() if "begun" in (words := command_of(pid))] == []
    states = [trial.state.name for trial in trials()]
    assert states.count("COMPLETE") == 2
    assert "RUNNING" not in states


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_everything_and_the_command_it_prints_goes_on(jobs, capsys):
    ended = interrupted(signal.SIGINT, options=("--jobs", str(jobs)), runs=jobs)
    check_ended_by(signal.SIGINT, ended)
    before = [(trial.state.name, trial.params) for trial in trials()]
    printed = ended.stderr.partition("To continue:\n")[2]
    assert shlex.split(printed) == ["satisfice", *ended.args]
    Path("fast").touch()
    assert main(shlex.split(printed)[1:]) == 3
    after = [(trial.state.name, trial.params) for trial in trials()]
    assert after[: len(before)] == before
    assert [state for state, _ in after].count("COMPLETE") == 5


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("ignored", [(), (signal.SIGINT,)], ids=["foreground", "background"])
def test_a_request_to_end_is_like_ctrl_c_in_the_background_too(ignored, number, jobs):
    ended = interrupted(number, options=("--jobs", str(jobs)), runs=jobs, ignored=ignored)
    check_ended_by(number, ended)


def test_a_signal_that_was_ignored_at_the_start_stays_ignored():
    ignored = (signal.SIGINT, signal.SIGHUP)
    check_ended_by(signal.SIGTERM, interrupted(*ignored, signal.SIGTERM, ignored=ignored))


def test_a_password_is_not_shown(capsys):
    words = ["find", "--target", "5", "--storage", "mysql://user:secret@host/x.db", *SPACE, *COMMAND]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert "secret" not in captured.err + captured.out
    assert hidden("postgresql://user:secret@host/x?password=secret") == "postgresql://user:***@host/x"
    assert hidden("postgresql://user:secret@host:port/x") == "postgresql://..."
