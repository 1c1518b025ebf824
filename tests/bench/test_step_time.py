"""The bench of the steps: what it keeps beside its figures."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import step_time


def test_only_versions_that_the_figures_depend_on_are_kept():
    found = step_time.versions()
    assert {"satisfice", "numpy", "scipy"} <= found.keys() <= set(step_time.PACKAGES)
    kept = json.loads((ROOT / "bench" / "results" / "step_time.json").read_text())
    assert {"satisfice", "numpy", "botorch"} <= kept["versions"].keys() <= set(step_time.PACKAGES)
