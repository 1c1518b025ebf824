"""Claims over records made by hand: each verdict comes out where it must."""

import numpy as np
import pytest

from satisfice.experiments import claims
from satisfice.experiments.claims import CLAIMS, judged, p_smaller, waiting
from satisfice.experiments.curves import record_file
from satisfice.experiments.document import _time, document, restore
from satisfice.experiments.paper import panels
from satisfice.experiments.records import Records, pack
from satisfice.experiments.spec import cells


def write(out, name, wait, seed=0, trials=6):
    """Records for a figure in which rule r needs about wait(r, panel) evaluations."""
    rng = np.random.default_rng(seed)
    chosen = list(panels(name))
    files = {}
    for panel in chosen:
        records = files.setdefault(panel.problem, Records(record_file(out, "paper", panel.problem)))
        done = records.keys()
        for cell in cells([panel], chosen, variant="paper", rules=None, trials=trials, experiments=2):
            if cell.key in done:
                continue
            t = int(np.clip(wait(cell.rule, panel) + rng.integers(0, 5), 4, panel.budget - 1))
            best = max(p.target for p in chosen if p.problem == panel.problem) + 1
            rises = [[1, panel.target - 100.0], [t, best]]
            records.append({"key": cell.key, **cell.as_dict(), "evaluations": t, "rises": rises, "recommended": rises})


def verdict(number, out):
    return next(claim for claim in CLAIMS if claim.number == number).check(out, "paper")


@pytest.mark.parametrize(
    ("wait", "expected"),
    [
        (lambda rule, panel: 20 if rule in ("pg", "eg") else 80, "holds"),
        (lambda rule, panel: 80 if rule in ("pg", "eg") else 20, "does not hold"),
        (lambda rule, panel: 50, "undecided"),
    ],
)
def test_who_is_faster_is_decided_by_the_trials(tmp_path, wait, expected):
    write(tmp_path, "synthetic", wait)
    outcome = verdict(2, tmp_path)
    assert outcome.verdict == expected
    assert any("eggholder" in figure for figure in outcome.figures)


def test_noisy_gain_must_be_there_on_keane_and_smaller_on_ackley(tmp_path):
    write(
        tmp_path,
        "noisy",
        lambda rule, panel: {"keane": 20, "ackley": 75}.get(panel.problem, 50) if rule == "pg" else 80,
    )
    assert verdict(4, tmp_path).verdict == "holds"
    other = tmp_path / "other"
    write(
        other, "noisy", lambda rule, panel: {"keane": 75, "ackley": 20}.get(panel.problem, 50) if rule == "pg" else 80
    )
    assert verdict(4, other).verdict == "does not hold"


def test_pg_must_be_best_on_the_robots_and_on_xgboost(tmp_path):
    write(tmp_path, "real", lambda rule, panel: 20 if rule == "pg" else 60)
    assert verdict(3, tmp_path).verdict == "holds"  # of what there is
    write(tmp_path, "xgboost", lambda rule, panel: 20 if rule == "ucb" else 60)
    assert verdict(3, tmp_path).verdict == "does not hold"
    assert verdict(3, tmp_path).figures[-1].startswith("xgboost (eta = 7), mean evaluations to a good action: ucb 2")


def test_sts_must_win_at_the_centre_and_lose_when_it_is_shifted(tmp_path):
    middle = {"dropwave": 10, "keane": 40, "dropwave-shifted": 120}
    write(tmp_path, "sts", lambda rule, panel: middle[panel.problem] if rule == "sts" else 40)
    assert verdict(7, tmp_path).verdict == "holds"
    other = tmp_path / "other"
    write(other, "sts", lambda rule, panel: 40 if rule != "sts" else 120)
    assert verdict(7, other).verdict == "does not hold"


def test_the_time_of_a_figure_is_told_with_the_processes_if_these_are_known(tmp_path):
    times = Records(tmp_path / "records" / "paper" / "times" / "keane.jsonl")
    times.append({"key": "1", "title": "sts: keane", "runs": 3, "seconds": 120.0, "processes": 4})
    assert _time(tmp_path, "paper", "sts") == "; 3 of them were made for it, in 2 minutes by 4 processes"
    for processes in ({}, {"processes": None}, {"processes": 8}):
        times.append({"key": "2", "title": "sts: keane", "runs": 1, "seconds": 60.0, **processes})
        assert _time(tmp_path, "paper", "sts").endswith(" minutes")
    assert _time(tmp_path, "paper", "noisy") == ""


def test_without_records_nothing_is_decided_and_the_document_says_so(tmp_path):
    assert {claim.check(tmp_path, "paper").verdict for claim in CLAIMS} == {"undecided"}
    text = document(tmp_path, tmp_path / "docs")
    assert text.count("**undecided**") == len(CLAIMS)
    assert (tmp_path / "docs" / "images" / "reproduction" / "phi.png").exists()


def test_kept_records_can_be_restored_and_gone_on_from(tmp_path):
    write(tmp_path / "out", "synthetic", lambda rule, panel: 30, trials=1)
    source = tmp_path / "out" / "records"
    for path in source.rglob("*.jsonl"):
        pack(path, tmp_path / "kept" / path.relative_to(source).with_suffix(".jsonl.xz"))
    some = record_file(tmp_path / "new", "paper", "eggholder")
    Records(some).append(next(iter(Records(record_file(tmp_path / "out", "paper", "eggholder")))))
    for _ in range(2):
        restore(tmp_path / "kept", tmp_path / "new" / "records")
        for problem in ("eggholder", "alpine"):
            old, new = (
                record_file(tmp_path / name, "paper", problem).read_text().splitlines() for name in ("out", "new")
            )
            assert sorted(old) == sorted(new)


def test_a_run_that_never_gets_there_waits_longer_than_the_budget():
    panel = panels("synthetic")[0]
    assert waiting({"rises": [[3, panel.target - 1]]}, panel) == panel.budget + 1
    assert waiting({"rises": [[3, panel.target]]}, panel) == 3


def test_p_values_and_verdicts():
    rng = np.random.default_rng(0)
    a = rng.normal(0, 1, 25)
    assert p_smaller(a, a + 1 + 0.1 * rng.standard_normal(25)) < 1e-6
    assert p_smaller(a, a) == 1.0
    assert p_smaller(a[:1], a[:1] + 1) == 1.0
    assert judged([], []) == "undecided"
    assert judged([True, False], [0.9, 0.04]) == "undecided"  # two were looked at: 0.04 is not enough
    assert judged([True, True], [0.9, 0.9]) == "holds"
    assert judged([True, False], [0.9, 0.02]) == "does not hold"
    assert 0 < claims.LEVEL < 0.1
