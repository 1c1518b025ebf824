"""Every example runs, in a process and a directory of its own, and says what it promises; warnings are errors there too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SAYS = {
    "ask_tell.py": r"verdict +good(?s:.)*failed",
    "candidates.py": r"verdict +good(?s:.)*base = chrome",
    "noisy_experiment.py": r"verdict +good(?s:.)*confidence 0\.95(?s:.)*really 8\d\.",
    "out_of_reach.py": r"verdict +unlikely(?s:.)*hope on the way: 1\.00(?s:.)*verdict +good",
    "recipe.py": r"verdict +good: all requirements are met(?s:.)*the parts sum to 1\n",
    "small_model.py": r"verdict +good: all requirements are met(?s:.)*preference",
    "push.py": r"without noise(?s:.)*with noise(?s:.)*The report is out/report\.html",
    "resume_csv.py": r"verdict +good(?s:.)*10 rows of the file(?s:.)*called again: good, 0 evaluations more",
    "sklearn_accuracy.py": r"verdict +good(?s:.)*confidence 0\.95",
    "workers.py": r"2 workers in 2 processes: good, good",
}
GIVEN = {"workers.py": ["--workers", "2"]}
NEEDS = {"push.py": "Box2D", "sklearn_accuracy.py": "sklearn", "small_model.py": "sklearn"}


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_and_says_what_it_promises(name, tmp_path):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *GIVEN.get(name, [])]
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(SAYS[name], done.stdout), done.stdout
