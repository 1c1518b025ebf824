"""The clients of the examples, in a shell and in JavaScript, against a real server."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from satisfice import open_search
from serving import Server

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CLIENTS = {"client.sh": (["sh"], ["curl", "sed", "awk"]), "client.mjs": (["node"], ["node"])}


def test_the_shell_client_is_short():
    assert len((EXAMPLES / "client.sh").read_text().splitlines()) <= 30


def test_every_client_is_run():
    assert {path.name for path in EXAMPLES.iterdir() if path.suffix in (".sh", ".mjs")} == set(CLIENTS)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_asks_and_tells_until_the_verdict_is_in(name, tmp_path):
    command, needed = CLIENTS[name]
    missing = [each for each in needed if not shutil.which(each)]
    if missing:
        pytest.skip(f"A CLIENT OF THE EXAMPLES IS NOT RUN: {' and '.join(missing)} not installed")
    open_search("demo", tmp_path / "lab.db", {"x": (0.0, 1.0), "y": (0.0, 1.0)}, 0.99, noise=0, seed=1)
    with Server(tmp_path / "lab.db") as server:
        done = subprocess.run(
            [*command, str(EXAMPLES / name)], cwd=tmp_path, capture_output=True, text=True, timeout=120,
            env={**os.environ, "SATISFICE_URL": f"http://127.0.0.1:{server.port}", "SATISFICE_TOKEN": server.token},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "good" in done.stdout.splitlines()[-1]
    found = open_search("demo", tmp_path / "lab.db")
    assert found.answer().verdict == "good"
    assert found.waiting() == []
