"""The blocks of the page about other tools that need packages which not everybody has, and the OptunaHub package."""

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import optuna
import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "other-tools.md").read_text()
HUB = ROOT / "optunahub" / "package" / "samplers" / "satisfice"
BEGINNING = re.search(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)[1]
BLOCKS = re.findall(r"^```py\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def block(word):
    """The block that uses a package."""
    return next(each for each in BLOCKS if word in each)


@pytest.mark.parametrize("needs", ["ray.tune", "mlflow", "wandb", "optunahub"])
def test_a_block_that_needs_another_package(needs, tmp_path):
    """In a process of its own: these packages start threads, and warn of what others do."""
    pytest.importorskip(needs, reason=f"THE BLOCK FOR {needs.upper()} IS NOT RUN: the package is not installed")
    word = {"ray.tune": "OptunaSearch", "mlflow": "MLflowCallback", "wandb": "WeightsAndBiasesCallback"}.get(
        needs, needs
    )
    (tmp_path / "optunahub").symlink_to(ROOT / "optunahub")
    script = tmp_path / "block.py"
    script.write_text(f"{BEGINNING}\nfrom satisfice import find\n{block(word)}")
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert done.stdout.strip().splitlines()[-1:] == ["good"], done.stderr[-3000:]


def test_every_block_is_run():
    assert len(BLOCKS) == 4
    assert all(block(word) for word in ("OptunaSearch", "MLflowCallback", "WeightsAndBiasesCallback", "optunahub"))


def test_the_package_for_optunahub_has_what_the_registry_wants():
    assert {path.name for path in HUB.iterdir()} - {"__pycache__"} == {
        "__init__.py",
        "README.md",
        "LICENSE",
        "example.py",
    }
    front = yaml.safe_load((HUB / "README.md").read_text().split("---")[1])
    assert set(front) == {"author", "title", "description", "tags", "optuna_versions", "license"}
    assert front["license"] == "MIT License"
    assert (HUB / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    headings = re.findall(r"^## (.*)$", (HUB / "README.md").read_text(), flags=re.MULTILINE)
    assert headings == ["Abstract", "APIs", "Installation", "Example", "Others"]


def test_its_examples_run(monkeypatch, capsys):
    optunahub = pytest.importorskip(
        "optunahub", reason="THE OPTUNAHUB PACKAGE IS NOT LOADED: optunahub is not installed"
    )

    def load(package):
        return optunahub.load_local_module(package, registry_root=str(ROOT / "optunahub" / "package"))

    monkeypatch.setattr(optunahub, "load_module", load)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(HUB / "example.py"), run_name="__main__")
        code = re.search(r"^```python\n(.*?)^```$", (HUB / "README.md").read_text(), flags=re.DOTALL | re.MULTILINE)[1]
        exec(code, {})  # noqa: S102
    assert capsys.readouterr().out.count("good: the target is met") == 2
