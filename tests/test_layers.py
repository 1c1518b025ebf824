"""Imports point downwards only, and importing the package brings in nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import satisfice

PACKAGE = Path(satisfice.__file__).parent
LAYERS = [
    {"errors", "types", "blas", "numerals", "plaintext"},
    {"checks", "command", "extras"},
    {"domain"},
    {"gp"},
    {"acquisition"},
    {"rules"},
    {"certificates"},
    {"search"},
    {"study", "sklearn"},
    {"report"},
    {"paper", "serve"},
    {"cli", "__main__", "__init__", "pytest_plugin"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ALLOWED_ONLY = {
    "paper/theory": {"errors", "types", "checks", "rules", "gp", "paper"},
    "paper/problems": {"errors", "types", "checks", "extras", "domain", "paper"},
}
DOORS = {"paper": "cli/reproduce.py", "serve": "cli/serve.py"}  # the leaves, and the one command that imports each


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
    parts = path.relative_to(PACKAGE).parts
    own = parts[0].removesuffix(".py")
    allowed = ALLOWED_ONLY.get("/".join(parts[:2]))
    for other in imported(path):
        assert LEVEL[other] <= LEVEL[own], f"{own} imports {other}, which lies above it"
        assert allowed is None or other in allowed
        assert other not in DOORS or own == other or "/".join(parts) == DOORS[other], f"nothing imports {other}"


def private_names(path: Path) -> list[str]:
    """What a file takes of others' private names: imports of `_names`, and attributes `x._name` unless x is self or cls."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("optuna"):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            found += [name for name in names if name.startswith("_")]
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "lease", "sampler", "os")
            found += [] if own else [node.attr]
    return found


STUDY = sorted(path for path in (PACKAGE / "study").rglob("*.py") if path.name != "_optuna.py")


@pytest.mark.parametrize("path", STUDY, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_one_file_touches_what_optuna_keeps_private(path):
    assert private_names(path) == []


def test_only_the_studies_know_optuna():
    assert private_names(PACKAGE / "study/_optuna.py") != []
    knows = {
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if "import optuna" in path.read_text() or "from optuna" in path.read_text()
    }
    assert {path.parts[0] for path in knows} == {"study", "report", "serve", "cli"}


def test_the_package_imports_no_heavy_optional_part():
    heavy = ("torch", "matplotlib", "sklearn", "optuna", "pandas", "xgboost", "Box2D", "starlette", "openpyxl")
    script = f"import sys, satisfice; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_public_names_are_the_exported_ones():
    assert sorted(satisfice.__all__) == satisfice.__all__
    assert all(hasattr(satisfice, name) for name in satisfice.__all__)
