"""Write docs/evidence/reliability.md from the figures recorded by the last run of each fault test."""

import json
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "out" / "faults.jsonl"
PAGE = ROOT / "docs" / "evidence" / "reliability.md"

HEAD = """# Reliability

The unit of loss is an *acknowledged* evaluation: once its value is stored, nothing may lose it. Each promise below is tested.
`make test-faults` runs the long tests, with real kills, real full disks, a real PostgreSQL server and a real browser, and writes
this page from the figures that they record. The other tests are part of `make test` or `make test-slow`.

What is not promised: a disk that acknowledges a write and loses it, and a study file on a network drive whose locks do not work.
"""


def last_records() -> dict[str, list[dict[str, Any]]]:
    """The last record of each test and of each of its cases, by the name of the test below tests/."""
    by_case: dict[str, dict[str, Any]] = {}
    if RECORDS.exists():
        for line in RECORDS.read_text().splitlines():
            record = json.loads(line)
            by_case[record["test"]] = record
    found: dict[str, list[dict[str, Any]]] = {}
    for case, record in by_case.items():
        found.setdefault(case.removeprefix("tests/").split("[")[0], []).append(record)
    return found


def said(record: dict[str, Any]) -> str:
    """The figures of one record as text."""
    if record["outcome"] == "skipped":
        return f"skipped: {record.get('reason', '')}"
    text = ", ".join(f"{name}: {_shown(value)}" for name, value in record["figures"].items())
    return text if record["outcome"] == "passed" else f"**failed** ({text})"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return "; ".join(f"{name} {_shown(each)}" for name, each in value.items())
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def page() -> str:
    """The page."""
    table = runpy.run_path(str(ROOT / "tests" / "faults" / "items.py"))
    records = last_records()
    lines = [HEAD]
    for group, numbers in table["GROUPS"].items():
        lines += [f"## {group}", "", "| | promise | figures of the last run |", "|---|---|---|"]
        for number in numbers:
            item = table["ITEMS"][number]
            long = [test for test in item.tests if test.startswith("faults/")]
            figures = [
                said(record)
                for test in long
                for record in records.get(test, [])
                if record["figures"] or record["outcome"] != "passed"
            ]
            missing = [test for test in long if test not in records and not test.endswith("TestHistories")]
            figures += ["not yet run here"] if missing and not figures else []
            quick = sum(not test.startswith("faults/") for test in item.tests)
            figures += [f"{quick} quick test{'s' * (quick > 1)}"] if quick else []
            lines.append(f"| {number} | {item.promise} | {'<br>'.join(figures)} |")
        lines.append("")
    for record in records.get("fuzz", []):
        lines += [
            "## Fuzzing",
            "",
            f"Inputs that a coverage-guided fuzzer tried in {record['seconds']} s: {said(record)}.",
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
