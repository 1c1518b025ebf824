"""The versions that `make` installs are those that pyproject.toml allows, and the oldest of them are the lower bounds."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
INSTALLED = re.search(r"--editable '\.\[(dev,.*)\]'", (ROOT / "Makefile").read_text())[1].split(",")
NAMED = [
    Requirement(text) for text in (*PROJECT["dependencies"], *(line for extra in INSTALLED for line in EXTRAS[extra]))
]


def pinned(name: str) -> dict[str, Version]:
    """The versions of a file of constraints."""
    lines = [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(package): Version(version) for package, version in pairs}


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-lowest.txt"])
def test_everything_is_pinned_to_a_version_that_is_allowed(file):
    versions = pinned(file)
    for required in NAMED:
        assert versions[canonicalize_name(required.name)] in required.specifier, required


def test_the_oldest_versions_are_the_lower_bounds():
    versions = pinned("constraints-lowest.txt")
    for required in NAMED:
        (lowest,) = (Version(each.version) for each in required.specifier if each.operator == ">=")
        assert versions[canonicalize_name(required.name)] == lowest, required


def test_the_pythons_that_are_named_are_allowed_and_the_oldest_is_named():
    named = re.findall(r":: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named[0] == PROJECT["requires-python"].removeprefix(">=")
    assert named == [f"3.{11 + n}" for n in range(len(named))]
