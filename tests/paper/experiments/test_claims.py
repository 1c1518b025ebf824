"""Claims over records made by hand: each verdict comes out where it must, and every word of the page comes from the records."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest

from satisfice.paper.experiments import claim_parts, theory
from satisfice.paper.experiments.blocks import Archive
from satisfice.paper.experiments.claim_parts import MUCH, PAPER_RULES
from satisfice.paper.experiments.claims import CLAIMS
from satisfice.paper.experiments.claims_text import COMPARED, all_verdicts, claims_csv, claims_text
from satisfice.paper.experiments.curves import record_file
from satisfice.paper.experiments.document import document, restore
from satisfice.paper.experiments.figure_text import _time
from satisfice.paper.experiments.lenient import ROUNDS
from satisfice.paper.experiments.paper import panels
from satisfice.paper.experiments.records import Records, pack
from satisfice.paper.experiments.regret_parts import EARLY
from satisfice.paper.experiments.spec import OPTIMISERS, cells
from satisfice.paper.problems import PROBLEMS


def write(out, name, rises, trials=6, experiments=2, variant="paper", seed=0):
    """Records for a figure; rises(rule, panel, rng) is a list of (evaluation, value)."""
    rng = np.random.default_rng(seed)
    chosen = list(panels(name, variant))
    new = {}
    for panel in chosen:
        work = cells([panel], chosen, variant=variant, rules=None, trials=trials, experiments=experiments)
        for cell in (cell for cell in work if cell.key not in new):
            found = rises(cell.rule, panel, rng)
            changes = {"rises": found, "recommended": found, "evaluations": found[-1][0]}
            new[cell.key] = {"key": cell.key, **cell.as_dict(), **changes}
    for problem in {record["problem"] for record in new.values()}:
        mine = [record for record in new.values() if record["problem"] == problem]
        Records(record_file(out, variant, problem)).append(*mine)


def after(wait):
    """Rises to a value that is good for every target of the problem, about wait(rule, panel) evaluations after the start."""

    def rises(rule, panel, rng):
        t = int(np.clip(wait(rule, panel) + rng.integers(-2, 3), 2, 199))
        return [[1, panel.target - 100.0], [t, max(PROBLEMS[panel.problem].maximum, panel.target)]]

    return rises


def verdict(number, out, variant="paper"):
    return claim(number).check(out, variant)[0].verdict


def statements(number, out):
    return [each.verdict for each in claim(number).check(out, "paper")[1]]


def claim(number):
    return next(claim for claim in CLAIMS if claim.number == number)


def test_who_is_faster_is_decided_by_the_runs(tmp_path):
    waits = {"pg": 20, "eg": 22, "gs": 27}
    write(tmp_path / "true", "synthetic", after(lambda rule, panel: waits.get(rule, 60)))
    assert verdict(2, tmp_path / "true") == "holds"
    write(tmp_path / "false", "synthetic", after(lambda rule, panel: {**waits, "ei": 8}.get(rule, 60)))
    assert statements(2, tmp_path / "false") == ["refuted", "holds"]
    write(tmp_path / "even", "synthetic", after(lambda rule, panel: 40))
    assert verdict(2, tmp_path / "even") == "undecided"
    write(tmp_path / "few", "synthetic", after(lambda rule, panel: waits.get(rule, 60)), trials=2)
    assert verdict(2, tmp_path / "few") == "undecided"


def test_gs_may_be_a_little_slower_and_no_more(tmp_path):
    write(tmp_path, "synthetic", after(lambda rule, panel: {"pg": 20, "eg": 20, "gs": 20 * 2 * MUCH}.get(rule, 90)))
    assert statements(2, tmp_path) == ["holds", "refuted"]


def test_in_the_published_code_a_trial_counts_once(tmp_path):
    waits = {"pg": 20, "eg": 22, "gs": 27}
    for trials, expected in ((4, "undecided"), (8, "holds")):
        out = tmp_path / str(trials)
        write(out, "synthetic", after(lambda rule, panel: waits.get(rule, 60)), trials, 10, variant="published")
        assert verdict(2, out, "published") == expected
        assert verdict(2, out) == "undecided"  # there are no runs of the text


def test_pg_must_be_best_of_all_on_the_robots_and_on_xgboost(tmp_path):
    write(tmp_path, "real", after(lambda rule, panel: 20 if rule == "pg" else 60))
    assert statements(3, tmp_path) == ["holds", "undecided"]  # xgboost has no runs
    write(tmp_path, "xgboost", after(lambda rule, panel: 20 if rule == "gs" else 60))
    assert statements(3, tmp_path) == ["holds", "refuted"]


def test_a_gain_that_is_not_noticeable_is_not_noticeable(tmp_path):
    write(tmp_path, "real", after(lambda rule, panel: 97 if rule == "pg" else 100), trials=25)
    assert statements(3, tmp_path)[0] == "refuted"


def test_a_noisy_gain_must_be_there_on_both_and_larger_on_keane(tmp_path):
    for gains, expected in {
        (50, 8): ["holds", "holds", "holds"],
        (8, 50): ["undecided", "holds", "refuted"],
        (50, -20): ["holds", "refuted", "holds"],
        (50, 50): ["holds", "holds", "undecided"],
    }.items():
        gain = dict(zip(("keane", "ackley"), gains, strict=True))
        out = tmp_path / str(gains)
        write(out, "noisy", after(lambda rule, p, gain=gain: 80 - (rule == "pg") * gain.get(p.problem, 0)), trials=10)
        assert statements(4, out) == expected


def test_a_lower_target_must_make_every_rule_faster_and_bring_them_together(tmp_path):
    def wait(slope, spread):
        def time(rule, panel, rng):
            hard = {**dict(zip(panel_targets(panel), range(3), strict=True))}
            levels = [
                [int(60 + slope * k + spread * k * PAPER_RULES.index(rule) + rng.integers(0, 3)), value]
                for value, k in hard.items()
                if rule in PAPER_RULES
            ]
            return [[1, min(hard) - 100.0], *sorted(levels)]

        return time

    def panel_targets(panel):
        return sorted(p.target for p in panels("threshold") if p.problem == panel.problem)

    write(tmp_path / "true", "threshold", wait(20, 4))
    assert statements(5, tmp_path / "true") == ["holds", "holds"]
    write(tmp_path / "apart", "threshold", wait(40, 0))
    first, second = claim(5).check(tmp_path / "apart", "paper")[1]
    assert first.verdict == "holds"
    assert second.verdict != "holds"


def regrets(by_rule):
    """Rises such that the simple regret is (early, final) of the rule."""

    def rises(rule, panel, rng):
        early, final = by_rule(rule, panel, rng)
        best = PROBLEMS[panel.problem].maximum
        return [[1, best - 9.0], [EARLY - 5, best - early], [panel.budget - 5, best - final]]

    return rises


def test_regret_must_vanish_and_gs_and_a_few_runs_of_pi_must_be_worse(tmp_path):
    def as_told(rule, panel, rng):
        if rule == "pi":
            return 1.0, 3.0 if rng.random() < 0.1 else 0.02
        return 1.0, rng.uniform(0.02, 0.05) * (5 if rule == "gs" else 1)

    write(tmp_path / "true", "none-good", regrets(as_told), trials=15, experiments=10)
    assert statements(6, tmp_path / "true") == ["holds", "holds", "holds"]

    def otherwise(rule, panel, rng):
        return 1.0, rng.uniform(0.2, 0.5) if rule != "pi" else rng.uniform(0.5, 3.0)

    write(tmp_path / "false", "none-good", regrets(otherwise), trials=15)
    first, second, third = claim(6).check(tmp_path / "false", "paper")[1]
    assert [first.verdict, second.verdict, third.verdict] == ["refuted", "undecided", "refuted"]
    assert any("never reach" in part.says for part in third.refuted)


def test_sts_must_win_at_the_centre_be_level_on_keane_and_lose_when_it_is_shifted(tmp_path):
    middle = {"dropwave": 10, "keane": 40, "dropwave-shifted": 120}
    write(tmp_path, "sts", after(lambda rule, panel: middle[panel.problem] if rule == "sts" else 40))
    assert verdict(7, tmp_path) == "holds"
    write(tmp_path / "other", "sts", after(lambda rule, panel: 40 if rule != "sts" else 120))
    assert statements(7, tmp_path / "other") == ["refuted", "refuted", "holds"]


def write_regret(out, bad, variant="paper", runs=10):
    """Runs of gp2d in which a rule's action in round t is bad where bad(rule, t) says so, and otherwise a little off."""
    problem = {"paper": "gp2d", "published": "gp2d-published"}[variant]
    maximum = PROBLEMS[problem].maximum
    rng = np.random.default_rng(0)
    records = Records(record_file(out, variant, problem))
    for rule in ("ucb", "elimination"):
        for seed in range(runs):
            drawn = np.array([bad(rule, t) for t in range(ROUNDS)]) | (rng.random(ROUNDS) < 0.002)
            values = maximum - np.where(drawn, 2.0, 0.1)
            key = {"key": f"{rule}/{seed}", "rule": rule, "seed": seed, "rounds": ROUNDS}
            records.append({**key, "values": values.tolist()})


def test_elimination_must_stop_and_be_slightly_better(tmp_path):
    late = {"ucb": lambda t: t < 100 or t % 20 == 0, "elimination": lambda t: t < 100}
    write_regret(tmp_path / "true", lambda rule, t: late[rule](t))
    assert verdict(1, tmp_path / "true") == verdict(1, tmp_path / "true", "paper-local") == "holds"
    worse = {"ucb": lambda t: t < 100 or t % 20 == 0, "elimination": lambda t: t < 140}
    write_regret(tmp_path / "worse", lambda rule, t: worse[rule](t))
    assert statements(1, tmp_path / "worse") == ["holds", "holds", "holds", "holds", "refuted"]
    never = {"ucb": lambda t: t < 100 or t % 20 == 0, "elimination": lambda t: t < 90 or t % 25 == 0}
    write_regret(tmp_path / "never", lambda rule, t: never[rule](t))
    assert statements(1, tmp_path / "never")[1] == "refuted"


def test_runs_of_the_published_code_with_the_same_starting_points_count_once(tmp_path):
    late = {"ucb": lambda t: t < 100 or t % 20 == 0, "elimination": lambda t: t < 100}
    write_regret(tmp_path / "few", lambda rule, t: late[rule](t), "published", runs=20)
    assert verdict(1, tmp_path / "few", "published") == "undecided"
    write_regret(tmp_path / "more", lambda rule, t: late[rule](t), "published", runs=30)
    assert verdict(1, tmp_path / "more", "published") == "holds"


def test_the_theorems_must_hold_in_nine_runs_of_ten(tmp_path):
    def written(out, broken):
        records = Records(record_file(out, "paper", "theory"))
        for kernel in theory.KERNELS:
            for rule in theory.RULES:
                for seed in range(60):
                    bad = 10_000.0 if seed < broken else 3.0
                    numbers = {"indicator": bad, "gap": 2 * bad, "hinge": bad, "bad_at_half_time": bad}
                    named = {"kernel": kernel, "rule": rule, "seed": seed}
                    records.append({"key": f"{kernel}/{rule}/{seed}", **named, **numbers})

    written(tmp_path / "true", broken=0)
    assert statements(8, tmp_path / "true") == ["holds", "holds"]
    written(tmp_path / "close", broken=6)
    assert statements(8, tmp_path / "close") == ["undecided", "holds"]
    written(tmp_path / "false", broken=20)
    assert statements(8, tmp_path / "false") == ["refuted", "holds"]


def test_every_rival_is_compared_and_none_is_chosen(tmp_path):
    archive = Archive(tmp_path, "paper")
    said = [part.says for part in claim_parts.leaders_faster(archive)]
    assert len(said) == len(set(said)) == 2 * 2 * len(OPTIMISERS)
    said = [part.says for part in claim_parts.pg_clearly_best_on_robots(archive)]
    assert len(said) == 2 * (len(PAPER_RULES) - 1)
    assert len(claim_parts.lower_is_faster(archive)) == 3 * 2 * len(PAPER_RULES)


def test_without_records_nothing_is_decided_and_the_page_says_so(tmp_path):
    verdicts = all_verdicts(tmp_path)
    assert {each.verdict(variant) for each in verdicts for variant in COMPARED} == {"undecided", "–"}
    text = claims_text(verdicts)
    assert text.count("There are no runs yet.") == len(CLAIMS)
    assert "holds**" not in text.partition("|---")[2]


def test_the_page_and_the_table_say_what_the_kept_records_say(tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    restore(docs / "records", tmp_path / "records")
    verdicts = all_verdicts(tmp_path)
    assert claims_text(verdicts) in (docs / "reproduction.md").read_text(encoding="utf-8")
    assert claims_csv(verdicts) == (docs / "claims.csv").read_text(encoding="utf-8")


def test_the_page_tells_the_reasons_of_a_verdict_with_their_figures(tmp_path):
    write(tmp_path, "real", after(lambda rule, panel: {"pg": 50, "ei": 20}.get(rule, 90)))
    verdicts = all_verdicts(tmp_path)
    text = " ".join(claims_text(verdicts).split())
    found = re.search(
        r"`paper`: \*\*refuted\*\*. Of its 21 parts 2 are refuted and 12 are shown. Refuted: that pg needs fewer evaluations "
        r"than 0.9 times those of ei on robot\d, eta = 4.75 \(([\d.]+) against ([\d.]+); p < 0.001 against it\);",
        text,
    )
    assert found
    assert float(found[1]) == pytest.approx(50, abs=2)
    assert float(found[2]) == pytest.approx(20, abs=2)
    assert "It rests on 12 runs a rule." in text
    rows = list(csv.DictReader(io.StringIO(claims_csv(verdicts))))
    mine = [row for row in rows if (row["claim"], row["variant"]) == ("3", "paper")]
    assert [row["is"] for row in mine].count("refuted") == 2
    assert [row["is"] for row in mine].count("open") == 7  # xgboost has no runs
    assert {row["blocks"] for row in mine} == {"12", "0"}


def test_runs_that_are_too_few_are_told_apart_from_a_difference_that_is_small(tmp_path):
    write(tmp_path, "sts", after(lambda rule, panel: 40), trials=2, experiments=2)
    text = " ".join(claims_text(all_verdicts(tmp_path)).split())
    assert "`paper`: **undecided**. Of its 11 parts 0 are shown and none is refuted. 11 parts have too few runs" in text
    nine_tenths = after(lambda rule, panel: 50 if (rule, panel.problem) == ("sts", "dropwave-shifted") else 45)
    write(tmp_path, "sts", nine_tenths, trials=6, experiments=2, seed=1, variant="paper-local")
    text = " ".join(claims_text(all_verdicts(tmp_path)).split())
    assert "`paper-local`: **undecided**. Of its 11 parts 2 are shown and none is refuted. Open: that " in text


def test_only_runs_that_both_rules_have_are_compared(tmp_path):
    write(tmp_path, "real", after(lambda rule, panel: 30 if rule == "pg" else 60), trials=6)
    path = record_file(tmp_path, "paper", "robot3")
    kept = [record for record in Records(path) if record["rule"] != "ei" or record["trial"] < 3]
    path.unlink()
    Records(path).append(*kept)
    whole, _ = claim(3).check(tmp_path, "paper")
    blocks = {part.says.split(" of ")[-1].split(",")[0]: part.blocks for part in whole.parts}
    assert blocks["ei on robot3"] == 6
    assert blocks["ts on robot3"] == 12


def test_the_time_of_a_figure_is_told_with_the_processes_if_these_are_known(tmp_path):
    times = Records(tmp_path / "records" / "paper" / "times" / "keane.jsonl")
    times.append({"key": "1", "title": "sts: keane", "runs": 3, "seconds": 120.0, "processes": 4})
    assert _time(tmp_path, "paper", "sts") == ", 3 of them made for it in 2 minutes by 4 processes"
    for processes in ({}, {"processes": None}, {"processes": 8}):
        times.append({"key": "2", "title": "sts: keane", "runs": 1, "seconds": 60.0, **processes})
        assert _time(tmp_path, "paper", "sts").endswith(" minutes")
    assert _time(tmp_path, "paper", "noisy") == ""


def test_a_page_without_records_is_written(tmp_path):
    text = document(tmp_path, tmp_path / "docs")
    assert text.count("There are no runs yet.") == len(CLAIMS)
    assert (tmp_path / "docs" / "images" / "reproduction" / "phi.png").exists()


def test_kept_records_can_be_restored_and_gone_on_from(tmp_path):
    write(tmp_path / "out", "synthetic", after(lambda rule, panel: 30), trials=1)
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
