"""The commands beside `find`: help, bench, Ctrl-C."""

import pytest

from satisfice.cli import main


@pytest.mark.parametrize("command", ["bench", "reproduce phi", "report", "status"])
def test_ctrl_c_is_one_line_in_the_other_commands_too(command, capsys, monkeypatch):
    def interrupt(*arguments, **named):
        raise KeyboardInterrupt

    for place in ("cli.bench.step_time", "paper.experiments.reproduce.reproduce", "cli.show.stored_study"):
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
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0
        assert "example" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("satisfice 0.")


def test_bench_prints_a_table(capsys, monkeypatch):
    monkeypatch.setattr("satisfice.cli.bench.SIZES", (10, 20))
    assert main(["bench"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert "n = 20" in table[0]
    assert [line.split()[:2] for line in table[1:]] == [["model", "paper"], ["model", "auto"]]
