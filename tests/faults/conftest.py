"""What each fault test held is printed and written down, one line of JSON each; a skip is written down as well."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECORDS = Path(os.environ.get("FAULT_RECORDS", Path(__file__).parents[2] / "out" / "faults.jsonl"))
FIGURES = pytest.StashKey[dict[str, Any]]()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A dict for the figures of a test: the load held, the faults survived, the bad inputs tried, what was lost."""
    return request.node.stash.setdefault(FIGURES, {})


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
        reason = report.longrepr[2] if report.outcome == "skipped" and isinstance(report.longrepr, tuple) else None
        found = item.stash.get(FIGURES, {})
        line = {"test": item.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 1), "figures": found}
        print("figures:", ", ".join(f"{name} {value}" for name, value in found.items()) or reason)
        RECORDS.parent.mkdir(exist_ok=True)
        with RECORDS.open("a") as file:
            file.write(json.dumps(line if reason is None else {**line, "reason": reason}) + "\n")
    return report


@pytest.fixture(scope="session")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that ends a process at its k-th write, lets that fail, or sets the time of day wrong."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip(
            "NO WRITE IS INTERRUPTED AND NO CLOCK IS WRONG: there is no C compiler for the library that does it"
        )
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", made, source, "-ldl"], check=True)
    return made
