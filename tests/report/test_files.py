"""Files that commands write: whole or not at all, and never in the place of a study, a device, a pipe or a link."""

import os
import pty
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import tty
from pathlib import Path

import pytest

from satisfice import find
from satisfice.cli import main
from satisfice.errors import BadInput
from satisfice.report import files
from satisfice.report.files import check_path, is_stream, write_file


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "o.db"
    find(lambda p: -abs(p["x"] - 0.3), {"x": (0.0, 1.0)}, 0.5, noise=0, budget=3, storage=path, name="study")
    return path


@pytest.fixture
def study(whole, tmp_path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "o.db"))


def spelled(study: Path) -> dict[str, str]:
    """The study's own file, by all the names that it may have."""
    Path("link.db").symlink_to(study)
    Path("hard.db").hardlink_to(study)
    Path("linked").symlink_to(study.parent, target_is_directory=True)
    return {
        "relative": "o.db",
        "dotted": f"../{study.parent.name}/./o.db",
        "absolute": str(study),
        "symbolic link": "link.db",
        "hard link": "hard.db",
        "linked directory": "linked/o.db",
        "journal": "o.db-journal",
        "write-ahead log": str(study) + "-wal",
        "shared memory": "linked/o.db-shm",
    }


@pytest.mark.parametrize("command", [["report", "--out"], ["status", "--csv"]])
@pytest.mark.parametrize("storage", ["o.db", "sqlite:///o.db"])
def test_a_report_or_table_never_replaces_the_study_whatever_it_is_called(command, storage, study, capsys):
    before = study.read_bytes()
    for name, path in spelled(study).items():
        assert main([command[0], "--storage", storage, command[1], path]) == 2, name
        assert f"satisfice: {command[1]}: " in capsys.readouterr().err
        assert study.read_bytes() == before, name
        assert not list(study.parent.glob("o.db-*")), name
    assert main(["report", "--storage", "o.db", "--out", "o.html"]) == 0


def test_find_refuses_its_own_study_before_it_runs_anything():
    words = ["find", "--target", "1", "--noise", "0", "--budget", "1", "--param", "x=0.0:1.0", "--storage", "new.db"]
    for path in ("new.db", "new.db-journal"):
        assert main([*words, "--csv", path, "--", "touch", "ran-{x}"]) == 2
    assert list(Path().iterdir()) == []


def test_no_database_is_replaced_even_of_another_program(study):
    sqlite3.connect("other").execute("CREATE TABLE precious (x)").connection.close()
    Path("journal").write_bytes(files.SQLITE[1] + b"rest")
    for path in ("other", "other-journal", "other-wal", "journal"):
        assert main(["report", "--storage", "o.db", "--out", path]) == 2
    with pytest.raises(BadInput, match="SQLite database"):
        write_file("other", b"page")  # from Python too
    tables = sqlite3.connect("other").execute("SELECT name FROM sqlite_master").fetchall()
    assert tables == [("precious",)]


def test_looking_at_a_database_leaves_the_locks_of_this_process(study):
    connection = sqlite3.connect(study, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(BadInput):
        check_path(study)
    script = "import sqlite3; sqlite3.connect('o.db', timeout=0, isolation_level=None).execute('BEGIN EXCLUSIVE')"
    other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    connection.close()
    assert "database is locked" in other.stderr


def test_a_named_pipe_is_written_into(study):
    os.mkfifo("pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert main(["report", "--storage", "o.db", "--out", "pipe"]) == 0
    reader.join(10)
    assert got[0].startswith(b"<!DOCTYPE html>")
    assert got[0].rstrip().endswith(b"</html>")
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)


def test_a_pipe_that_nobody_reads_is_an_error_and_not_a_hang(monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.2)
    os.mkfifo("pipe")
    check_path("pipe")
    start = time.monotonic()
    with pytest.raises(BadInput, match="'pipe' cannot be written: no process reads from this pipe"):
        write_file("pipe", b"x")
    assert time.monotonic() - start < 5
    assert stat.S_ISFIFO(os.lstat("pipe").st_mode)


def test_a_reader_that_leaves_is_an_error():
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    threading.Timer(0.3, os.close, [reader]).start()
    with pytest.raises(BadInput, match="Broken pipe"):
        write_file("pipe", b"x" * 10**6)  # more than the pipe holds


def test_a_terminal_is_written_into_and_stays():
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    name = os.ttyname(theirs)
    assert is_stream(name)
    write_file(name, b"a table\n")
    assert os.read(ours, 100) == b"a table\n"
    assert stat.S_ISCHR(os.lstat(name).st_mode)
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("name", "minor"), [("null", 3), ("full", 7)])
def test_a_device_is_written_into_and_stays(name, minor, study):
    try:
        os.mknod(name, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        os.close(os.open(name, os.O_WRONLY))
    except OSError as problem:
        pytest.skip(f"NO DEVICE IS TRIED: it cannot be made here ({problem}); root on a file system with devices can")
    code = main(["status", "--storage", "o.db", "--csv", name])
    assert code == (2 if name == "full" else 0)
    assert stat.S_ISCHR(os.lstat(name).st_mode)
    assert os.lstat(name).st_rdev == os.makedev(1, minor)


def test_links_are_refused_and_neither_they_nor_their_targets_change():
    Path("target").write_text("precious")
    Path("link").symlink_to("target")
    Path("dangling").symlink_to("nowhere")
    for name in ("link", "dangling"):
        with pytest.raises(BadInput, match=r"symbolic link; write to its target instead: '(target|nowhere)'"):
            write_file(name, b"page")
    assert Path("target").read_text() == "precious"
    assert Path("link").readlink() == Path("target")
    assert sorted(path.name for path in Path().iterdir()) == ["dangling", "link", "target"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".", "it is a directory"),
        ("no/such/page.html", "there is no directory 'no/such'; make it first"),
        ("a\0b", "null"),
        ("x" * 300, "too long"),
        ("/dev/fd/987654321", "Bad file descriptor"),
    ],
)
def test_what_cannot_be_written_is_one_clear_error_before_the_work(path, said, study, capsys):
    assert main(["report", "--storage", "o.db", "--out", path]) == 2
    error = capsys.readouterr().err
    assert error.startswith("satisfice: --out: ")
    assert said in error
    assert len(error.splitlines()) == 1
    assert main(["find", "--target", "1", "--csv", path, "--param", "x=0.0:1.0", "--", "touch", "ran-{x}"]) == 2
    assert [each.name for each in Path().iterdir()] == ["o.db"]


def test_the_mode_and_the_owner_of_an_old_file_are_kept_and_a_new_one_has_the_users_mask():
    Path("old").write_text("old")
    os.chmod("old", 0o640)
    if os.geteuid() == 0:
        os.chown("old", 1234, 1234)
    before, mask = os.stat("old"), os.umask(0o027)
    try:
        write_file("old", b"new")
        write_file("new", b"new")
    finally:
        os.umask(mask)
    after = os.stat("old")
    assert Path("old").read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert stat.S_IMODE(os.stat("new").st_mode) == 0o640


def test_a_file_that_is_read_only_is_not_replaced():
    if os.geteuid() == 0:
        pytest.skip("NO READ-ONLY FILE IS TRIED: root may write everything")
    Path("page").write_text("precious")
    os.chmod("page", 0o444)
    with pytest.raises(BadInput, match="Permission denied"):
        write_file("page", b"new")


def run(*words: str, **options) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "satisfice", *words], timeout=60, check=False, **options)


def test_the_standard_output_is_written_into_whether_it_is_a_pipe_or_a_file(study):
    words = ["report", "--storage", "o.db", "--out", "/dev/fd/1"]  # where no file can be made, whatever goes wrong
    piped = run(*words, capture_output=True)
    with Path("page.html").open("wb") as file:
        filed = run(*words, stdout=file, stderr=subprocess.PIPE)
    assert (piped.returncode, filed.returncode) == (0, 0)
    assert piped.stdout == Path("page.html").read_bytes()
    assert piped.stdout.rstrip().endswith(b"</html>")
    assert is_stream("/dev/stdout")
    assert is_stream("/dev/stderr")
    assert piped.stderr == filed.stderr == b"the report is /dev/fd/1\n"


def test_an_output_that_is_appended_to_the_study_is_refused(study):
    before = study.read_bytes()
    with study.open("ab") as file:
        refused = run("report", "--storage", "o.db", "--out", "/dev/fd/1", stdout=file, stderr=subprocess.PIPE)
    assert refused.returncode == 2
    assert study.read_bytes() == before
