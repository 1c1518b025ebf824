"""Imports point downwards only, and importing the package brings in nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import satisfice

PACKAGE = Path(satisfice.__file__).parent
LAYERS = [
    {"types", "threads", "widths", "border", "extras", "guardian", "output", "printed"},
    {"sobol", "acquisition", "regret"},
    {"finite"},
    {"domain"},
    {"mixed"},
    {"gp"},
    {"belief", "theory", "problems"},
    {"maximise"},
    {"rules"},
    {"certificate"},
    {"answer", "confirm", "hope"},
    {"told"},
    {"knowledge"},
    {"search"},
    {"study", "command", "adapters", "experiments"},
    {"report"},
    {"cli", "__main__", "__init__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ALLOWED_ONLY = {
    "theory": {"types", "widths", "gp", "theory"},
    "problems": {"types", "extras", "finite", "domain", "problems"},
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("satisfice"):
            parts = (node.module or "").split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("satisfice.")}
    return names


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for other in imported(path):
        assert LEVEL[other] <= LEVEL[own], f"{own} imports {other}, which lies above it"
        assert own not in ALLOWED_ONLY or other in ALLOWED_ONLY[own]


def test_the_package_imports_no_heavy_optional_part():
    heavy = ("torch", "matplotlib", "sklearn", "optuna", "pandas", "xgboost", "Box2D")
    script = f"import sys, satisfice; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_public_names_are_the_exported_ones():
    assert sorted(satisfice.__all__) == satisfice.__all__
    assert all(hasattr(satisfice, name) for name in satisfice.__all__)
