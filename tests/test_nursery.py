"""A process from the nursery ends as one does that was started anew."""

import signal
import subprocess
import sys

import pytest

import nursery

ENDS = {
    "well": "print(sys.argv[1:], sys.stdin.read())",
    "by an error": "print('before'); raise ValueError('wrong')",
    "by a warning": "import warnings; warnings.warn('odd', UserWarning)",
    "with a word": "sys.exit('enough')",
    "with a number": "sys.exit(7)",
    "by Ctrl-C": "os.kill(os.getpid(), signal.SIGINT); time.sleep(10)",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
}


@pytest.mark.parametrize("script", ENDS.values(), ids=ENDS)
def test_a_forked_process_ends_as_a_fresh_one(script, tmp_path):
    script = f"import os, signal, sys, time; {script}"
    command = [sys.executable, "-S", "-W", "error", "-c", script, "a b", "3"]
    fresh = subprocess.run(command, input="hello", capture_output=True, text=True, check=False)
    forked = nursery.fork(script, "a b", 3, cwd=tmp_path)
    out, err = forked.communicate("hello", timeout=60)
    assert (forked.returncode, out) == (fresh.returncode, fresh.stdout)
    assert err.splitlines()[-1:] == fresh.stderr.splitlines()[-1:]  # before it stands where, which differs


def test_a_forked_process_can_be_stopped_and_killed():
    process = nursery.fork("import time; print('begun', flush=True); time.sleep(100)")
    assert process.stdout.readline() == "begun\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(signal.SIGSTOP)
    process.kill()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    process.kill()  # which is nothing more
