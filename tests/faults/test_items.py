"""Every promise has a test, and every test that is named exists."""

import ast
from pathlib import Path

from items import GROUPS, ITEMS

TESTS = Path(__file__).parents[1]


def names_of(file: Path) -> set[str]:
    """The functions and classes at the top of a file, and the names that are given to something there."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def test_every_item_has_tests_that_exist():
    assert sorted(ITEMS) == list(range(1, 51)) == sorted(number for group in GROUPS.values() for number in group)
    for number, item in ITEMS.items():
        assert item.tests, number
        for test in item.tests:
            file, name = test.split("::")
            assert name in names_of(TESTS / file), f"item {number}: there is no {test}"


def test_no_two_items_show_the_same_figures():
    long = [test for item in ITEMS.values() for test in item.tests if test.startswith("faults/test_")]
    assert sorted(set(long)) == sorted(long)


def test_every_fault_test_belongs_to_an_item():
    named = {test for item in ITEMS.values() for test in item.tests}
    for file in Path(__file__).parent.glob("test_[a-f]_*.py"):
        tests = {name for name in names_of(file) if name.startswith("test_")}
        assert not {f"faults/{file.name}::{name}" for name in tests} - named
