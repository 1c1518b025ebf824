"""The commands beside `find`: help, bench, Ctrl-C."""

import subprocess
import sys

import pytest

from satisfice.cli import main


@pytest.mark.parametrize("command", ["bench", "reproduce phi", "report", "status"])
def test_ctrl_c_is_one_line_in_the_other_commands_too(command, capsys, monkeypatch):
    def interrupt(*arguments, **named):
        raise KeyboardInterrupt

    for place in (
        "cli.bench.step_time",
        "paper.experiments.reproduce.reproduce",
        "cli.status.stored_study",
        "cli.report.stored_study",
    ):
        monkeypatch.setattr(f"satisfice.{place}", interrupt)
    assert main(command.split()) == 130
    assert capsys.readouterr().err == "satisfice: stopped\n"


def test_help_has_an_example_and_the_version_is_told(capsys):
    for words in (
        ["find", "--help"],
        ["status", "--help"],
        ["report", "--help"],
        ["bench", "--help"],
        ["reproduce", "--help"],
    ):
        assert main(words) == 0
        assert "Example ─" in (shown := capsys.readouterr().out)
        assert f"satisfice {words[0]}" in shown.partition("Example ─")[2]
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("satisfice 0.")


def test_bench_prints_a_table(capsys, monkeypatch):
    monkeypatch.setattr("satisfice.cli.bench.SIZES", (10, 20))
    assert main(["bench"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert "n = 20" in table[0]
    assert [line.split()[:2] for line in table[1:]] == [["model", "paper"], ["model", "auto"]]


def test_a_shell_can_complete_commands_and_options(capsys, monkeypatch):
    monkeypatch.setenv("_SATISFICE_COMPLETE", "bash_complete")
    for words, offered in (("satisfice fi", "plain,find\n"), ("satisfice find --sto", "plain,--storage\n")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert main([]) == 0
        assert capsys.readouterr().out == offered


def test_help_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "optuna", "jinja2", "sqlalchemy")
    script = "import sys; from satisfice.cli import main; main(['find', '--help']); "
    script += f"print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
