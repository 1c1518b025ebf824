"""C: disks that are full, reports that cannot be written, files of other versions and damaged ones."""

# ruff: noqa: S607

import errno
import json
import os
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from workers import lost_of, run, running_of, seconds_until_quiet, start, trials_of

from satisfice import find
from satisfice.study.snapshot import snapshot
from satisfice.study.workers.storage import open_study

pytestmark = pytest.mark.faults
DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("NO FULL DISK IS TESTED: only root may mount a small one")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


FILLING = """
from satisfice import SatisficeError
try:
    search(sys.argv[2], int(sys.argv[3]))
except SatisficeError as problem:
    sys.exit(f"{type(problem).__name__}: {problem}")
"""


def fill(path: Path, leave: int) -> None:
    """Fill the disk but for so many bytes."""
    room = os.statvfs(path.parent)
    with path.open("wb") as file:
        file.write(bytes(max(room.f_bavail * room.f_frsize - leave, 0)))


def test_a_full_disk_is_a_named_error_and_nothing_acknowledged_is_lost(small_disk, tmp_path, figures):
    where, filler, page = small_disk / "s.db", small_disk / "filler", small_disk / "page.html"
    levels = [0, 4, 16, 64, 128, 192, 256, 288, 320, 384]  # kilobytes that are free
    codes, acknowledged_all, lost_all, budget = [], 0, 0, 10
    for level, free in enumerate(levels):
        told = tmp_path / f"told{level}"
        told.touch()
        for path in small_disk.iterdir():
            path.unlink()
        if free < 128:  # too little for a new study: it is there already
            run("search(sys.argv[2], 3)", where, told)
        page.write_bytes(b"old")
        fill(filler, 1024 * free)
        process = start(FILLING, where, told, 2000)
        _, err = process.communicate(timeout=120)
        codes.append(process.returncode)
        assert process.returncode == 1, (free, err)
        assert err.startswith(("StorageFailed: ", "BadInput: ")), err
        assert "Traceback" not in err
        report = (
            "from satisfice.report.files import write_file\n"
            "try:\n    write_file(sys.argv[2], b'x' * 10**6)\nexcept ValueError: pass"
        )
        run(report, where, page)
        assert page.read_bytes() == b"old"
        filler.unlink()  # there is room again: everything is there, and it goes on
        before = len(trials_of(str(where))) if where.exists() else 0
        run("search(sys.argv[2], int(sys.argv[3]))", where, told, before + budget)
        trials = trials_of(str(where))
        acknowledged, lost = lost_of(told, trials)
        acknowledged_all, lost_all = acknowledged_all + acknowledged, lost_all + lost
        seconds_until_quiet(str(where))
        assert running_of(trials_of(str(where))) == 0
        assert sorted(path.name for path in small_disk.iterdir()) == ["page.html", "s.db"]
    figures |= {"levels of a full disk": len(levels), "named errors": sum(code == 1 for code in codes)}
    figures |= {"acknowledged": acknowledged_all, "lost": lost_all, "half-written reports": 0}
    assert acknowledged_all >= 10 * len(levels)
    assert lost_all == 0


WRITING = """
import ctypes
from satisfice.report.files import write_file
from satisfice.errors import BadInput
shim, number, tried = ctypes.CDLL(None), int(sys.argv[2]), []
new = b"new" * 10**5
for at in range(1, 20):
    write_file(where, b"old")
    shim.shim_arm(ctypes.c_long(at), number)
    try:
        write_file(where, new)
        failed = False
    except BadInput:
        failed = True
    if shim.shim_disarm() < at:
        break
    with open(where, "rb") as file:
        content = file.read()
    assert content == (b"old" if failed else new), at
    assert os.listdir(os.path.dirname(where)) == ["page.html"]
    tried.append(failed)
print(json.dumps(tried))
"""


def test_a_report_that_cannot_be_written_leaves_the_old_one(shim, tmp_path, figures):
    failures = {}
    for name in ("EIO", "ENOSPC", "EINTR"):
        place = tmp_path / name
        place.mkdir()
        words = (place / "page.html", getattr(errno, name))
        failures[name] = json.loads(run(WRITING, *words, env={**os.environ, "LD_PRELOAD": str(shim)}))
        figures[f"calls that failed by {name}"] = len(failures[name])
    figures["half-written reports"] = 0
    assert all(len(failed) >= 2 for failed in failures.values())
    assert all(failures["EIO"][:2])


def test_a_study_file_of_each_released_version_opens_and_goes_on(tmp_path, figures):
    files = sorted(DATA.glob("study-*.db"))
    for file in files:
        copy = tmp_path / file.name
        shutil.copy(file, copy)
        before = snapshot(open_study("kept", copy, direction="maximize"))
        values = [each.value for each in before.evaluations]
        assert len(values) == 8
        answer = find(
            lambda params: -((params["x"] - 0.3) ** 2) - 0.01 * params["k"] - 0.1 * (params["c"] == "a"),
            {"x": (0.0, 1.0), "k": (1, 5), "c": ["a", "b"]}, -0.001, noise=0, budget=12, storage=copy, name="kept",
        )  # fmt: skip
        assert [row["value"] for row in answer.table()][:8] == values
        assert answer.evaluations == 12
    figures |= {"versions": [file.stem.removeprefix("study-") for file in files], "read and continued": len(files)}
    assert files


def test_threads_on_a_full_disk_end_with_its_error(small_disk, tmp_path, figures):
    where = small_disk / "s.db"
    open_study("n", where, direction="maximize")
    fill(small_disk / "filler", 8192)
    process = start(FILLING.replace("int(sys.argv[3])", "10**6, n_jobs=4"), where, tmp_path / "told")
    _, err = process.communicate(timeout=60)
    figures |= {"threads": 4, "exit code": process.returncode}
    assert process.returncode == 1
    assert err.startswith("StorageFailed")


def test_integrity_of_sqlite_is_what_is_checked(tmp_path):
    """The check that the kills rely on sees damage."""
    study = open_study("n", tmp_path / "s.db", direction="maximize")
    for k in range(50):
        study.set_user_attr(f"k{k}", "x" * 500)
    study._storage._backend.engine.dispose()
    whole = bytearray((tmp_path / "s.db").read_bytes())
    whole[8192:20480] = os.urandom(12288)
    (tmp_path / "s.db").write_bytes(whole)
    connection = sqlite3.connect(tmp_path / "s.db")
    try:
        said = connection.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.DatabaseError as problem:
        said = (str(problem),)
    connection.close()
    assert said != ("ok",)
