"""The imports of the package have no cycle, and the trace of `find` reads them right."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from trace_find import imports, longest_chain, traced


def test_the_longest_chain_and_a_cycle_are_found():
    assert longest_chain({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == (["a", "b", "c"], [])
    assert longest_chain({"a": {"b"}, "b": {"a"}})[1] == ["a", "b", "a"]


def test_the_package_has_no_import_cycle():
    chain, cycle = longest_chain(imports())
    assert not cycle
    assert len(chain) > 5


def test_a_trace_names_what_find_passes():
    calls, deepest, evaluations = traced()
    assert evaluations == calls["study/workers/loop.py", "Workers._evaluate"]
    assert calls["search/search.py", "Search.ask"] == evaluations
    assert deepest[-1] == "find"
