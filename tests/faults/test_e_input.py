"""E: hostile names, values, files and terminals: nothing runs, nothing leaves its place, no secret is shown."""

# ruff: noqa: PT017, S607, S608, S108

import ast
import contextlib
import csv
import io
import json
import os
import pickle
import re
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import optuna
import pytest

from satisfice import find
from satisfice.cli import main
from satisfice.command import Command, CommandFailed
from satisfice.report import page
from satisfice.study.storage import open_storage, open_study
from satisfice.study.view import view
from satisfice.types import BadInput, SatisficeError

pytestmark = pytest.mark.faults
SRC = Path(__file__).parents[2] / "src"

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
    command, arrived = Command((sys.executable, "-c", script, "{a}")), 0
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
    command = Command(("sh", "-c", "head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo 7"))
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
                 model=page_model())  # fmt: skip
            read += 1
        except BadInput as problem:
            assert str(problem).startswith("history: ")
            refused += 1
    figures |= {"parameters": 200, "refused with code 2": codes.count(2), "tables": 200, "tables refused": refused}
    figures["tracebacks"] = 0
    assert set(codes) <= {2, 3}
    assert codes.count(2) > 100
    assert read + refused == 200
    assert refused > 50


def page_model():
    """A model that never gets to work: only the reading counts."""
    from dataclasses import replace

    from satisfice.gp.models import MODELS

    return replace(MODELS["auto"](), starting_points=10**6)


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


def html_payloads() -> list[str]:
    run = "window.__pwned=1"
    wrapped = [
        "<script>{}</script>", "<img src=x onerror='{}'>", "\"><img src=x onerror='{}'>", "'><svg onload='{}'>",
        "<svg><script>{}</script></svg>", "</title><script>{}</script>", "</style><script>{}</script>",
        "</textarea><script>{}</script>", "</script><script>{}</script>",
        "<body onload='{}'>", "<iframe srcdoc='<script>{}</script>'>",
        "<a href='javascript:{}'>x</a>", "javascript:{}", "data:text/html,<script>{}</script>", "<details open ontoggle='{}'>",
        "<input autofocus onfocus='{}'>", "<video><source onerror='{}'></video>",
        "<math><mtext><script>{}</script></mtext></math>",
        "<style>@import 'http://example.com/x.css'</style>", "<link rel=stylesheet href=http://example.com/x.css>",
        "<meta http-equiv=refresh content='0;url=http://example.com'>", "<base href=http://example.com/>",
        "<object data=http://example.com/x></object>", "<embed src=http://example.com/x>",
        "<form action=http://example.com><button>",
        "url(http://example.com/x.png)", "{{{{ 7 * 7 }}}}", "{{% import 'os' %}}",
        "<!--", "-->", "]]>", "&lt;script&gt;{}&lt;/script&gt;",
        "&#60;script&#62;{}", "\u202e<script>{}</script>", "<scr\u0000ipt>{}</script>".replace("\0", ""), "' onmouseover='{}",
        "\" style=\"background:url(http://example.com/y)", "<marquee onstart='{}'>", "<template><script>{}</script></template>",
        "x\u2028{}", "<script src=http://example.com/x.js></script>",
    ]  # fmt: skip
    return [text.format(run) for text in wrapped]


def test_forty_payloads_in_every_text_of_a_report_run_nothing_in_chromium(tmp_path, figures):
    chromium = shutil.which("chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="NO PAGE IS OPENED IN A BROWSER: no playwright")
    if chromium is None:
        pytest.skip("NO PAGE IS OPENED IN A BROWSER: chromium is missing")
    payloads, heard, shown = html_payloads(), [], 0
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.on("console", lambda message: heard.append(message.text))
        tab.on("pageerror", lambda problem: heard.append(str(problem)))
        tab.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda each: None if each.url.startswith("file:") else heard.append(each.url))
        for number, payload in enumerate(payloads):
            calls = []

            def objective(params, calls=calls, payload=payload):
                calls.append(params)
                if len(calls) == 2:
                    raise ValueError(payload)
                return float(len(calls) % 3)

            space = {payload: (0.0, 1.0), "choice": [payload, "other"]}
            answer = find(objective, space, 9.0, noise=0, budget=5, name=payload, seed=1, model=page_model())
            answer.study.set_user_attr(payload, payload)
            tab.goto(page.write(view(answer.study), tmp_path / f"{number}.html").as_uri())
            assert tab.evaluate("window.__pwned") is None
            assert tab.locator("script, iframe, img, object, embed, link, base, form").count() == 0
            assert "default-src 'none'" in tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute(
                "content"
            )
            shown += 1
        browser.close()
    figures |= {"payloads": len(payloads), "pages opened": shown, "executed": 0}
    figures["dialogs, messages and requests"] = len(heard)
    assert heard == []
    assert shown == len(payloads) >= 40


class Bomb:
    """What unpickling it would run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_pickles_in_every_column_of_a_study_are_never_opened(tmp_path, figures):
    whole, marker = tmp_path / "s.db", tmp_path / "marker"
    find(
        lambda params: params["x"],
        {"x": (0.0, 1.0)},
        9.0,
        noise=0,
        budget=3,
        storage=whole,
        name="n",
        model=page_model(),
    )
    bomb = pickle.dumps(Bomb(marker), protocol=0)
    tried = refused = 0
    connection = sqlite3.connect(whole)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    columns = [(table, row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})")]
    connection.close()
    for table, column in columns:
        for content in (bomb.decode("latin-1"), bomb):
            copy = tmp_path / "copy.db"
            shutil.copy(whole, copy)
            connection = sqlite3.connect(copy)
            with contextlib.suppress(sqlite3.Error), connection:
                connection.execute(f"UPDATE {table} SET {column} = ?", (content,))
                tried += 1
            connection.close()
            try:
                study = open_study("n", copy, direction="maximize")
                view(study)
            except Exception as problem:
                refused += 1
                assert isinstance(problem, SatisficeError), (table, column, problem)
            assert not marker.exists(), (table, column)
    figures |= {"columns": len(columns), "pickles planted": tried, "named errors": refused, "run": 0}
    assert tried > 30


def test_the_sources_neither_unpickle_nor_evaluate_nor_call_a_shell(figures):
    forbidden, found, files = {"eval", "exec", "compile", "__import__"}, [], sorted(SRC.rglob("*.py"))
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [
                (file, name) for name in names if name.split(".")[0] in ("pickle", "marshal", "shelve", "yaml", "dill")
            ]
            if isinstance(node, ast.Call):
                called = node.func.id if isinstance(node.func, ast.Name) else ""
                found += [(file, called)] * (called in forbidden)
                found += [(file, "shell") for word in node.keywords if word.arg == "shell"]
                attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
                found += [(file, attribute)] * (attribute in ("system", "popen", "loads_pickle"))
    figures |= {"files read": len(files), "found": len(found)}
    assert not found
    assert len(files) > 50


SQL = [
    "'; DROP TABLE studies; --", '"; DROP TABLE trials; --', "x' OR '1'='1", "x'/*", "*/x", "%", "_", "\\'", "a;b", "NULL", "1=1",
    "') UNION SELECT 1 --", "{}", "%s", ":name", "?", "$1", "\u02bc", "x\ny", "n\u0308",
]  # fmt: skip


def test_twenty_names_that_attack_a_database_are_only_names(where, figures):
    for number, name in enumerate(SQL):
        study = open_study(name, where, direction="maximize")
        trial = study.ask()
        trial.set_user_attr(name, name)
        study.tell(trial, trial.suggest_categorical(name, [float(number), -1.0]))
    again = {name: open_study(name, where, direction="maximize") for name in SQL}
    intact = sum(len(study.trials) == 1 and study.trials[0].user_attrs == {name: name} for name, study in again.items())
    storage = "postgres" if "://" in where else "sqlite"
    figures |= {"storage": storage, "names": len(SQL), "studies intact": intact}
    assert intact == len(SQL) == 20
    assert sorted(optuna.get_all_study_names(open_storage(where))) == sorted(SQL)


def test_a_password_is_in_no_message_page_or_list_of_processes(tmp_path, monkeypatch, capsys, caplog, figures):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("satisfice.study.storage.OPENING", 0.5)
    pytest.importorskip("psycopg", reason="NO PASSWORD IS TRIED: psycopg is missing")
    urls = ["postgresql://u:hunter2@127.0.0.1:1/d", "postgresql://u@127.0.0.1:1/d?password=hunter2", "mysql://u:hunter2@h/d",
            "nosuch://u:hunter2@h/d", "postgresql://u:hunter2:x@h:port/d"]  # fmt: skip
    said, paths = [], 0
    for url in urls:
        for words in (["status"], ["report"], ["find", "--target", "1", "--param", "x=0.0:1.0"]):
            tail = ["--", "echo", "{x}"] if words[0] == "find" else []
            assert main([*words, "--storage", url, *tail]) in (1, 2)
            paths += 1
        with pytest.raises(SatisficeError) as failure:
            find(lambda params: 1.0, {"x": (0.0, 1.0)}, 0.0, noise=0, budget=1, storage=url, name="n")
        said.append(str(failure.value))
        paths += 1
    captured = capsys.readouterr()
    said += [captured.out, captured.err, caplog.text]
    shown = (
        subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=False).stdout
        if shutil.which("ps")
        else ""
    )
    lines = [line for line in shown.splitlines() if "hunter2" in line and "pytest" not in line]
    left = [path for path in tmp_path.rglob("*") if path.is_file() and b"hunter2" in path.read_bytes()]
    figures |= {
        "ways tried": paths,
        "passwords shown": sum("hunter2" in text for text in said) + len(lines) + len(left),
    }
    assert figures["passwords shown"] == 0


def test_files_are_made_with_the_users_mask_and_through_no_planted_link(tmp_path, figures):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (shared / "s.db.new").symlink_to(victim)
    (shared / "page.html").symlink_to(victim)
    before = os.umask(0o022)
    try:
        study = open_study("n", shared / "s.db", direction="maximize")
        page.put(shared / "page.html", b"page")
    finally:
        os.umask(before)
    modes = {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in shared.iterdir()}
    figures |= {"links planted": 2, "followed": int(victim.read_text() != "precious"), "modes": modes}
    assert victim.read_text() == "precious"
    assert modes == {"s.db": "0o644", "page.html": "0o644"}
    assert not (shared / "page.html").is_symlink()
    assert "://" not in json.dumps(study.user_attrs)


AUDITED = """
import sys
seen = []
def hear(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        seen.append((event, str(arguments[1:])))
sys.addaudithook(hear)
from satisfice.cli import main
words = ["find", "--target", "-0.01", "--noise", "0", "--quiet", "--param", "x=0.0:1.0"]
code = main([*words, "--", "sh", "-c", "echo -$1", "sh", "{x}"])
code += main(["report"]) + main(["status", "--csv", "all.csv"])
print("seen", code, seen)
"""


def test_a_search_its_report_and_its_status_open_no_connection(tmp_path, figures):
    done = subprocess.run([sys.executable, "-c", AUDITED], cwd=tmp_path, capture_output=True, text=True, check=True)
    figures |= {"commands": 3, "connections opened or awaited": 0}
    assert done.stdout.splitlines()[-1] == "seen 0 []"
    loaded = re.findall(r'(?:src|href)="(?!#)[^"]*', (tmp_path / "report.html").read_text())
    assert not loaded


CHOICES = ["=1+1", "+x", "-x", "@SUM", "\tx", "plain", "'quoted", "'=both", "a,b", 'a"b', "a\nb"]


def test_what_is_exported_is_harmless_and_comes_back_exactly(tmp_path, figures):
    values = iter([0.1 + 0.2, 1e-300, -1.7976931348623157e308, 5e-324, -0.0, 1 / 3, 7.0, 1e22, -2.5, 3.0, 4.0])
    space, out = {"=c": CHOICES, "x": [0.1 + 0.2]}, tmp_path / "out.csv"
    answer = find(lambda params: next(values), space, 1e9, noise=0, budget=11, seed=1, model=page_model())
    from satisfice.cli.show import as_json, write_csv

    write_csv(view(answer.study), out)
    with out.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    live = [
        cell
        for cell in cells
        if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not cell[1:2].isdigit())
    ]
    again = find(lambda params: 0.0, space, 1e9, noise=0, budget=1, history=out, seed=1, model=page_model())
    first, second = ([(t.params, t.value) for t in each.study.trials][:11] for each in (answer, again))
    figures |= {"cells": len(cells), "cells a spreadsheet would run": len(live)}
    figures["rows that came back exactly"] = sum(a == b for a, b in zip(first, second, strict=True))
    assert not live
    assert first == second
    text = as_json(answer, bad=float("nan"), worse=[float("inf")])
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["bad"] is None
