"""The time of the whole reproduction is that of its parts over their shares."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import reproduction_time

from satisfice.paper.experiments.document import UNDISTURBED, document
from satisfice.paper.experiments.records import Records


def test_the_parts_are_scaled_to_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction_time, "ROOT", tmp_path)
    times = tmp_path / "records" / "paper" / "times"
    for name, title, seconds in (("a", "noisy: a", 36.0), ("b", "noisy: b", 36.0), ("c", "theory", 288.0)):
        spent = {"key": "1", "title": title, "runs": 40, "seconds": seconds, "processes": 2}
        Records(times / f"{name}.jsonl").append(spent)
    reproduction_time.keep(reproduction_time.gather(tmp_path), tmp_path)
    assert (tmp_path / "docs" / "records" / UNDISTURBED).exists()
    page = document(tmp_path, tmp_path / "docs")
    assert "On 2 cores all figures but 4c take 3.0 hours" in page  # 72 s of a fiftieth, 288 s of a twenty-fifth
    assert "on 120 of the runs" in page
    assert page.index("| `theory` | 2.00 |") < page.index("| `noisy` | 1.00 |")
