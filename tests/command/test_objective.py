"""A user's command as an objective: real processes, their outputs, their ends."""

import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes import is_alive, wait_until
from satisfice.command.objective import CommandFailed, CommandObjective, filled, placeholders
from satisfice.command.value import PrintedValue
from satisfice.errors import BadInput

PYTHON = sys.executable


def python(script: str, *words: str, **options) -> CommandObjective:
    return CommandObjective((PYTHON, "-c", script.replace("{", "{{").replace("}", "}}"), *words), **options)


@given(st.text(max_size=40), st.text(max_size=10))
def test_braces_written_twice_are_braces_and_values_are_not_looked_into(text, value):
    word = text.replace("{", "{{").replace("}", "}}")
    assert placeholders(word) == set()
    assert filled(word + "{a}", {"a": value}) == text + value


def test_the_parameters_must_appear_and_no_others():
    with pytest.raises(BadInput, match="does not use the parameter 'depth'"):
        CommandObjective(("echo", "{rate}")).check(["rate", "depth"])
    with pytest.raises(BadInput, match="contains \\{detph\\}"):
        CommandObjective(("echo", "{detph}{depth}")).check(["depth"])
    with pytest.raises(BadInput, match="single brace"):
        CommandObjective(("echo", "{depth} {")).check(["depth"])
    with pytest.raises(BadInput, match="no program"):
        CommandObjective(("no-such-program-here", "{depth}")).check(["depth"])
    with pytest.raises(BadInput, match="after --"):
        CommandObjective(()).check(["depth"])
    CommandObjective(("echo", "{depth}", "{{}}")).check(["depth"])


PAYLOADS = ["; touch marker", "$(touch marker)", "`touch marker`", "a\nb", "--flag", "%s%n", "'\"", "\u202egnp.exe", "| cat",
            "&& false", "> marker", "* ? ~ !", "\\x00 \\", "x" * 100_000]  # fmt: skip


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda payload: ascii(payload)[:20])
def test_arguments_arrive_byte_for_byte(payload, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = python("import os, sys; open('got', 'wb').write(os.fsencode(sys.argv[1])); print(1)", "{a}")
    assert command({"a": payload}) == 1
    assert Path("got").read_bytes() == payload.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["got"]


def test_numbers_arrive_exactly():
    value = 0.1 + 0.2
    assert python("import sys; print(repr(float(sys.argv[1])))", "{a}")({"a": value}) == value


def test_a_failure_says_why():
    with pytest.raises(CommandFailed, match="exit code 3: out of memory"):
        python("import sys; print(0.9); sys.stderr.write('out of memory'); sys.exit(3)")({})
    with pytest.raises(CommandFailed, match="ended by SIGKILL"):
        python("import os; os.kill(os.getpid(), 9)")({})
    with pytest.raises(CommandFailed, match="ends with a number: hello"):
        python("print('hello')")({})
    with pytest.raises(CommandFailed, match="could not be started"):
        CommandObjective(("/etc/passwd",))({})
    with pytest.raises(CommandFailed, match="could not be started"):
        CommandObjective(("echo", "{a}"))({"a": "a\0b"})


def test_the_first_value_is_told_with_its_line_and_only_the_first():
    told = []
    command = python("import sys; print('accuracy:', sys.argv[1]); print('done')", "{a}", on_first=told.append)
    assert [command({"a": 0.5}), command({"a": 0.75})] == [0.5, 0.75]
    assert told == [PrintedValue(0.5, "accuracy: 0.5")]


def test_a_reason_is_short_however_much_was_printed():
    with pytest.raises(CommandFailed) as caught:
        python("import sys; sys.stderr.write('x' * 10**6 + '\\n' + 'y' * 10**6); sys.exit(1)")({})
    assert len(str(caught.value)) < 500


def test_a_flood_of_output_costs_no_memory():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flood = "import os\nfor _ in range(3000): os.write(1, b'x' * 99999 + b'\\n')\nprint(7)"
    assert python(flood)({}) == 7
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes, of 300,000 that came


def test_a_number_cut_in_two_is_not_taken_for_one():
    with pytest.raises(CommandFailed, match="ends with a number"):
        python("print('1' * 10**6)")({})


def test_output_that_is_closed_early_or_binary_is_survived():
    assert python("import os, time; print(4, flush=True); os.close(1); os.close(2); time.sleep(0.3)")({}) == 4
    assert python("import os; os.write(1, bytes(range(256)) + b'\\n0.5\\n')")({}) == 0.5


GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
open('pid', 'w').write(str(child.pid))
print(0.5, flush=True)
"""


def test_a_timeout_ends_the_grandchildren_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = time.monotonic()
    with pytest.raises(CommandFailed, match=r"longer than 1\.5 s"):
        python(GRANDCHILD + "time.sleep(60)", timeout=1.5)({})
    assert time.monotonic() - start < 10
    assert wait_until(lambda: not is_alive(int(Path("pid").read_text())))


def test_a_command_that_ignores_the_request_to_end_is_killed():
    script = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    start = time.monotonic()
    with pytest.raises(CommandFailed, match="longer than"):
        python(script, timeout=0.5)({})
    assert time.monotonic() - start < 10


def test_a_child_left_in_the_background_is_ended_and_the_value_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = time.monotonic()
    assert python(GRANDCHILD)({}) == 0.5
    assert time.monotonic() - start < 10
    assert wait_until(lambda: not is_alive(int(Path("pid").read_text())))


def test_a_process_that_escapes_from_the_group_does_not_hold_us_up():
    sleep = "[sys.executable, '-c', 'import time; time.sleep(5)']"
    script = f"import subprocess, sys\nsubprocess.Popen({sleep}, start_new_session=True)\nprint(2)"
    start = time.monotonic()
    assert python(script)({}) == 2
    assert time.monotonic() - start < 4.5


def test_stop_ends_runs_in_other_threads():
    command, ends = python("import time; time.sleep(60)"), []

    def run():
        try:
            command({})
        except KeyboardInterrupt:
            ends.append(time.monotonic())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: command.running == 3)
    command.stop()
    for thread in threads:
        thread.join(10)
    assert len(ends) == 3
    assert command.running == 0
    with pytest.raises(KeyboardInterrupt):
        command({})


def test_ctrl_c_ends_the_group(tmp_path):
    script = f"""
import os, sys
from satisfice.command.objective import CommandObjective
try:
    CommandObjective((sys.executable, '-c', {(GRANDCHILD + "time.sleep(60)")!r}))({{}})
except KeyboardInterrupt:
    sys.exit(77)
"""
    process = subprocess.Popen([PYTHON, "-c", script], cwd=tmp_path)
    pid = tmp_path / "pid"
    assert wait_until(lambda: pid.exists() and pid.read_text() != "", 30)
    process.send_signal(signal.SIGINT)
    assert process.wait(15) == 77
    assert wait_until(lambda: not is_alive(int(pid.read_text())))
