"""The bench of agreement between processors, and the agreement itself, on a few short searches."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import cpu_agreement
import cpus

SCRIPT = "from threadpoolctl import threadpool_info; import scipy.linalg; print({i['architecture'] for i in threadpool_info()})"


@pytest.mark.parametrize("processor", cpus.processors(), ids=lambda processor: processor.name)
def test_a_process_passes_for_the_processor_or_it_is_said_why_not(processor):
    if processor.missing:
        pytest.skip(processor.missing)
    command = [sys.executable, str(Path(cpus.__file__)), "--only", processor.name, "--", sys.executable, "-c", SCRIPT]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"=== {processor.name}\n")
    if processor.name in ("Haswell", "SkylakeX", "Sandybridge"):
        assert said.endswith(f"{{'{processor.name}'}}\n")


def test_a_command_that_fails_as_one_processor_fails():
    command = [
        sys.executable,
        str(Path(cpus.__file__)),
        "--only",
        "Haswell",
        "--",
        sys.executable,
        "-c",
        "import nosuch",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "failed as Haswell" in done.stderr
    done = subprocess.run([*command[:3], "Nosuch", *command[4:]], capture_output=True, text=True, check=False)
    assert "--only must be some of Haswell, SkylakeX, " in done.stderr


def test_steps_that_agree_are_counted_until_searches_part_and_after():
    name = next(iter(cpu_agreement.PROBLEMS))
    runs = {(name, 0): [[0.1], [0.2], [0.3]], (name, 1): [[0.1], [0.2], [0.3]]}
    others = {(name, 0): [[0.1], [0.25], [0.3]], (name, 1): [[0.1], [0.2], [0.3 + 1e-9]]}
    exact, near = cpu_agreement.shared(runs, others), cpu_agreement.shared(runs, others, 1e-6)
    assert (cpu_agreement.share(exact), cpu_agreement.share(near)) == pytest.approx((4 / 6, 5 / 6))
    assert cpu_agreement.cell(exact, name) == "4 of 6 (2, 3)"
    assert cpu_agreement.cell(near, name) == "5 of 6 (2, -)"


def test_searches_ask_the_same_questions_on_two_processors():
    """Of 72 searches on 12 problems 95 to 98 % of the questions are the same; of unrounded ones a quarter of these here."""
    first, second = (cpus.chosen(name)[0] for name in ("Haswell", "Sandybridge"))
    if first.missing:
        pytest.skip(first.missing)
    names = ["branin, 2", "waves, 3", "levy, 5", "waves, 6"]
    runs = [cpu_agreement.as_processor(processor, names, 1) for processor in (first, second)]
    assert cpu_agreement.share(cpu_agreement.shared(*runs)) >= 0.6
