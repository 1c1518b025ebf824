"""E: hostile contents of a study: nothing is unpickled, no name is run, no secret is shown, no connection opened."""

# ruff: noqa: PT017, S607, S608

import ast
import contextlib
import json
import os
import pickle
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import optuna
import pytest

from processes import BLIND
from satisfice import find
from satisfice.cli import main
from satisfice.errors import BadInput, SatisficeError
from satisfice.report.files import write_file
from satisfice.study.snapshot import snapshot
from satisfice.study.workers.storage import open_storage, open_study

pytestmark = pytest.mark.faults
SRC = Path(__file__).parents[2] / "src"


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
        model=BLIND,
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
                snapshot(study)
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
    monkeypatch.setattr("satisfice.study.workers.storage.OPENING", 0.5)
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
        with pytest.raises(BadInput, match="symbolic link"):
            write_file(shared / "page.html", b"page")
        write_file(shared / "other.html", b"page")
    finally:
        os.umask(before)
    modes = {path.name: oct(stat.S_IMODE(path.lstat().st_mode)) for path in shared.iterdir() if not path.is_symlink()}
    figures |= {"links planted": 2, "followed": int(victim.read_text() != "precious"), "modes": modes}
    assert victim.read_text() == "precious"
    assert modes == {"s.db": "0o644", "other.html": "0o644"}
    assert (shared / "page.html").readlink() == victim  # refused, and left as it was
    assert "://" not in json.dumps(study.user_attrs)


AUDITED = """
import sys
seen = []
def hear(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        seen.append((event, str(arguments[1:])))
sys.addaudithook(hear)
from satisfice.cli import main
from satisfice.report.files import write_file
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
