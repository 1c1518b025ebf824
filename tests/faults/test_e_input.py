"""E: hostile words, names and values: nothing runs, and nothing leaves its place."""

# ruff: noqa: PT017, S108

import contextlib
import io
import resource
import sys
from pathlib import Path

import numpy as np
import pytest

from processes import BLIND
from satisfice import find
from satisfice.cli import main
from satisfice.command.objective import CommandFailed, CommandObjective
from satisfice.errors import BadInput
from satisfice.study.workers.storage import open_study

pytestmark = pytest.mark.faults
SHELL = [
    "; touch marker", "$(touch marker)", "`touch marker`", "| touch marker", "|| touch marker", "& touch marker",
    "&& touch marker", "> marker", ">> marker", "< /dev/null", "2>marker", "\n touch marker", "\r\ntouch marker", "a\nb", "\t",
    " ", "  two  spaces  ", "'", '"', "''", '""', "'\"'\"'", "';touch marker;'", '";touch marker;"', "\\", "\\\\", "\\n", "\\'",
    "--flag", "-c", "-", "--", "--storage=/etc/passwd", "%s%n%d", "%(x)s",
    "{0}", "{x}", "{{x}}", "${HOME}", "$HOME", "~", "~root",
    "*", "?", "[a-z]", "!!", "!x", "#", "# comment", "${IFS}", "$((1+1))", "<(touch marker)", "\u202egnp.exe",
    "\u2400",
    "日本語", "é", "\x1b[31m", "\x07", "\ufeff", "x" * 100_000,
]  # fmt: skip


def test_sixty_payloads_arrive_byte_for_byte_and_start_nothing(tmp_path, monkeypatch, figures):
    monkeypatch.chdir(tmp_path)
    script = "import os, sys; open('got', 'wb').write(os.fsencode(sys.argv[1])); print(1)"
    command, arrived = CommandObjective((sys.executable, "-c", script, "{a}")), 0
    for payload in SHELL:
        assert command({"a": payload}) == 1
        arrived += Path("got").read_bytes() == payload.encode()
        open_study(payload[:500], tmp_path / "s.db", direction="maximize")
    for impossible in ("a\0b", "x" * 10**6):  # the system itself has no such arguments
        with pytest.raises(CommandFailed, match="could not be started"):
            command({"a": impossible})
    figures |= {"payloads": len(SHELL), "byte for byte": arrived, "refused by name (NUL, 1 MB)": 2, "markers made": 0}
    assert arrived == len(SHELL) == 60
    assert sorted(path.name for path in tmp_path.iterdir()) == ["got", "s.db"]


def test_a_gigabyte_on_the_output_costs_no_memory(figures):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    command = CommandObjective(("sh", "-c", "head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo 7"))
    assert command({}) == 7
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    figures |= {"bytes printed": 10**9, "memory grown by (kB)": grown}
    assert grown < 100_000


def mutated(text: str, rng: np.random.Generator) -> str:
    """The text with some of its characters changed, doubled, dropped or replaced by difficult ones."""
    odd = [
        "\0",
        "\ufeff",
        "\n",
        '"',
        "'",
        ",",
        ":",
        "=",
        "{",
        "}",
        "nan",
        "inf",
        "1e999",
        "-",
        "\ud800",
        "\x1b",
        "9" * 400,
        "log",
        "",
    ]
    letters = list(text)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(letters) + 1))
        letters[at : at + int(rng.integers(0, 3))] = [str(rng.choice(odd))]
    return "".join(letters)


def test_two_hundred_mutated_parameters_and_two_hundred_tables_give_no_traceback(tmp_path, monkeypatch, figures):
    monkeypatch.chdir(tmp_path)
    rng, codes = np.random.default_rng(4), []
    for text in [mutated("rate=1e-5:0.1:log", rng) for _ in range(200)]:
        words = [
            "find",
            "--target",
            "1",
            "--budget",
            "1",
            "--quiet",
            "--param",
            text,
            "--name",
            "n",
            "--",
            "false",
            "{rate}",
        ]
        with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
            try:
                codes.append(main(words))
            except SystemExit as end:
                codes.append(end.code)
        assert "Traceback" not in said.getvalue()
        assert codes[-1] != 2 or len(said.getvalue()) > 20
    refused = read = 0
    table = "x,c,value\n0.5,a,1.5\n0.25,b,2.5\n1.0,a,\n"
    for number in range(200):
        file = tmp_path / "h.csv"
        file.write_bytes(mutated(table, rng).encode(errors="surrogatepass"))
        try:
            find(lambda params: 0.0, {"x": (0.0, 1.0), "c": ["a", "b"]}, 9.0, noise=0, budget=1, history=file, seed=number,
                 model=BLIND)  # fmt: skip
            read += 1
        except BadInput as problem:
            assert "`history`" in str(problem)
            refused += 1
    figures |= {"parameters": 200, "refused with code 2": codes.count(2), "tables": 200, "tables refused": refused}
    figures["tracebacks"] = 0
    assert set(codes) <= {2, 3}
    assert codes.count(2) > 100
    assert read + refused == 200
    assert refused > 50


PATHS = [
    "../x",
    "/tmp/x-of-satisfice",
    "a/../../b",
    "CON",
    "x" * 300,
    "..",
    ".",
    "~/x",
    "\\..\\x",
    "a/b",
    "%2e%2e%2fx",
    "-rf",
]


def test_names_lead_nowhere(tmp_path, monkeypatch, figures):
    room = tmp_path / "deep" / "room"
    room.mkdir(parents=True)
    monkeypatch.chdir(room)
    for name in PATHS:
        words = ["--name", name] if not name.startswith("-") else [f"--name={name}"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
            asked = [
                "find",
                "--target",
                "9",
                "--noise",
                "0",
                "--budget",
                "1",
                "--quiet",
                *words,
                "--param",
                "x=0.0:1.0",
            ]
            assert main([*asked, "--", "echo", "{x}"]) == 3, said.getvalue()
            assert main(["report", *words, "--out", "page.html"]) == 0
            assert main(["status", *words, "--csv", "all.csv"]) == 0
    everything = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    figures |= {"names": len(PATHS), "files outside of the directory": sum("room" not in name for name in everything)}
    assert everything == [f"deep/room/{name}" for name in ("all.csv", "page.html", "satisfice.db")]
    assert not Path("/tmp/x-of-satisfice").exists()
    with pytest.raises(BadInput):
        open_study("a\0b", room / "satisfice.db", direction="maximize")
