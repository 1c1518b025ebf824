"""When a search is killed, its commands end too: real processes, real kills."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from processes import is_alive, wait_until
from satisfice.command.objective import WATCHDOG, CommandObjective
from satisfice.command.watchdog import Watchdog

SLEEPER = """
import os, signal, subprocess, sys, time
for number in {ignored}:
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
open(f'begun-{{os.getpid()}}', 'w').write(f'{{os.getpid()}} {{child.pid}}')
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def python(script: str) -> CommandObjective:
    return CommandObjective((sys.executable, "-c", script))


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that are still there."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(place.parent.name))
    return found


def begun() -> list[int]:
    return [int(pid) for path in Path().glob("begun-*") for pid in path.read_text().split()]


@pytest.mark.parametrize("ignored", [(), (signal.SIGTERM,)], ids=["obedient", "stubborn"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_search_that_is_killed_takes_its_commands_along(jobs, ignored):
    script = SLEEPER.format(ignored=[int(each) for each in ignored]).replace("{", "{{").replace("}", "}}")
    words = ["find", "--target", "1", "--noise", "0", "--quiet", "--jobs", str(jobs), "--param", "x=0.0:1.0", "--"]
    process = subprocess.Popen(
        [sys.executable, "-m", "satisfice", *words, sys.executable, "-c", script, "{x}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert wait_until(lambda: len(begun()) == 2 * jobs, 60)
        everybody = {*begun(), *children_of(process.pid)}  # commands, their children, and the watchdog
        start = time.monotonic()
        process.kill()
        assert wait_until(lambda: not any(map(is_alive, everybody)), 20), [each for each in everybody if is_alive(each)]
        print(f"ended after {time.monotonic() - start:.2f} s")
        assert process.communicate(timeout=20) == (b"", None)  # nobody holds the output open
    finally:
        process.kill()
        process.communicate()
        for pid in filter(is_alive, begun()):
            os.kill(pid, signal.SIGKILL)


def test_a_search_that_ends_leaves_no_watchdog():
    script = "import os; from satisfice.command.objective import CommandObjective; print(CommandObjective(('echo', '7'))({}))\n"
    script += "from satisfice.command.watchdog import WATCHDOG; print(WATCHDOG._process.pid)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    value, watchdog = done.stdout.split()
    assert (value, done.stderr) == ("7.0", "")
    assert not Path(f"/proc/{watchdog}").exists()


def test_there_is_one_watchdog_and_a_command_is_watched_as_long_as_it_runs():
    seen = []
    command = python("import os, time; print(os.getpid(), flush=True); time.sleep(0.5)")
    thread = threading.Thread(target=lambda: seen.append(command({})))
    thread.start()
    assert wait_until(lambda: len(WATCHDOG.watched) == 1)
    (watched,) = WATCHDOG.watched
    thread.join(30)
    assert (seen, WATCHDOG.watched) == ([watched], set())
    watchdog = WATCHDOG._process
    assert python("print(1)")({}) == 1
    assert WATCHDOG._process is watchdog
    assert os.getsid(watchdog.pid) == watchdog.pid  # no Ctrl-C of our terminal reaches it
    assert {os.readlink(f"/proc/{watchdog.pid}/fd/{number}") for number in (1, 2)} == {os.devnull}
    assert sorted(os.listdir(f"/proc/{watchdog.pid}/fd")) == ["0", "1", "2"]


def test_what_was_released_is_left_alone():
    watchdog = Watchdog()
    watchdog.start()
    released, kept = (subprocess.Popen(["sleep", "60"], start_new_session=True) for _ in range(2))  # noqa: S607
    for process in (released, kept):
        watchdog.watch(process.pid)
    watchdog.release(released.pid)
    watchdog._stop()
    assert kept.wait(5) == -signal.SIGTERM
    assert released.poll() is None
    released.kill()
    released.wait()


def test_requests_to_end_do_not_reach_the_watchdog():
    watchdog = Watchdog()
    sleeper = subprocess.Popen(["sleep", "60"], start_new_session=True)  # noqa: S607
    watchdog.start()
    process = watchdog._process
    watchdog.watch(sleeper.pid)
    status = Path(f"/proc/{process.pid}/status")
    assert wait_until(lambda: is_deaf(status))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    time.sleep(0.2)
    assert process.poll() is None
    assert sleeper.poll() is None
    watchdog._stop()
    assert process.poll() == 0
    assert sleeper.wait(5) == -signal.SIGTERM  # it had not been released


def is_deaf(status: Path) -> bool:
    """Whether a process ignores SIGHUP, SIGINT and SIGTERM."""
    ignored = int(status.read_text().partition("SigIgn:")[2].split()[0], 16)
    return all(ignored >> (number - 1) & 1 for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))


def test_without_a_watchdog_commands_run_as_well(monkeypatch):
    alone = Watchdog()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", "/no/such/python")
        alone.start()
    assert alone._process is None
    monkeypatch.setattr("satisfice.command.objective.WATCHDOG", alone)
    assert python("print(7)")({}) == 7


def test_a_watchdog_that_was_killed_is_done_without(monkeypatch):
    killed = Watchdog()
    killed.start()
    killed._process.kill()
    killed._process.wait()
    monkeypatch.setattr("satisfice.command.objective.WATCHDOG", killed)
    assert [python("print(7)")({}) for _ in range(2)] == [7, 7]


def test_a_watchdog_that_does_not_read_holds_nobody_up():
    frozen = Watchdog()
    frozen.start()
    os.kill(frozen._process.pid, signal.SIGSTOP)
    start = time.monotonic()
    for group in range(10**6, 10**6 + 20_000):  # more than the pipe holds
        frozen.watch(group)
    assert time.monotonic() - start < 10
    assert frozen._process is None
