"""What is said while a search runs."""

import pytest

from satisfice.search.answer import Answer
from satisfice.study import progress
from satisfice.study.config import StudyConfig
from satisfice.study.progress import Progress


@pytest.mark.parametrize(("wanted", "count"), [("log", 2), (None, 2), (False, 0)])
def test_without_a_terminal_a_log_has_a_line_at_most_once_a_minute(wanted, count, capsys, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with Progress(wanted, StudyConfig(0.9, budget=100)) as shown:
        for done in range(9):  # evaluations of 20 seconds
            shown.show(Answer("open", value=0.5, hope=0.25, evaluations=done))
            now += 20
    lines = capsys.readouterr().err.splitlines()
    expected = [f"satisfice: {done}/100 evaluations, best 0.5, target 0.9, hope 0.25, open" for done in (3, 6)]
    assert lines == expected[:count]


def test_slow_evaluations_get_a_line_each(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with Progress("log", StudyConfig(0.9, budget=10)) as shown:
        for done in range(3):
            now += 3600
            shown.show(Answer("open", evaluations=done))
    assert len(capsys.readouterr().err.splitlines()) == 3
