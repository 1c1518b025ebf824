"""What the figures draw, and what the page says about them: from records that are made by hand."""

import re

import numpy as np
import pytest

from satisfice.paper.experiments import figures, lenient
from satisfice.paper.experiments.blocks import Archive
from satisfice.paper.experiments.curves import record_file
from satisfice.paper.experiments.document import document
from satisfice.paper.experiments.figure_text import coverage_text, figures_text, planned
from satisfice.paper.experiments.optimiser import effects, optimiser_text
from satisfice.paper.experiments.paper import FIGURES, panels
from satisfice.paper.experiments.records import Records
from satisfice.paper.experiments.spec import FLOOR, OPTIMISERS, VARIANTS, cells
from satisfice.paper.problems import PROBLEMS


def write(out, name, variant="paper", rules=None, trials=2, experiments=2, wait=lambda rule, panel: 40):
    """Records in which rule r of a figure needs about wait(r, panel) evaluations."""
    rng = np.random.default_rng(0)
    chosen = list(panels(name, variant))
    new = {}
    for panel in chosen:
        for cell in cells([panel], chosen, variant=variant, rules=rules, trials=trials, experiments=experiments):
            t = int(wait(cell.rule, panel) + rng.integers(-2, 3))
            best = PROBLEMS[panel.problem].maximum
            changes = [[1, best - 900.0], [t, best - 1e-6 * rng.random()]]
            runs = {"evaluations": 200, "rises": changes, "recommended": changes}
            new.setdefault(cell.key, {"key": cell.key, **cell.as_dict(), **runs})
    for problem in {record["problem"] for record in new.values()}:
        Records(record_file(out, variant, problem)).append(*(r for r in new.values() if r["problem"] == problem))


@pytest.fixture
def drawn(monkeypatch):
    """The figures, caught on their way to the disk."""
    seen = []
    monkeypatch.setattr(figures, "save", lambda figure, path: seen.append(figure))
    yield seen
    for figure in seen:
        figures.pyplot().close(figure)


def labels(axes):
    return [line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")]


@pytest.mark.parametrize(
    ("rules", "plots"),
    [
        (None, 2),
        (("pg", "eg", FLOOR), 1),
        (("ei", FLOOR), 1),
        (("pg", "ei"), 2),
    ],
)
def test_no_panel_is_empty_and_the_floor_is_in_each(tmp_path, drawn, rules, plots):
    write(tmp_path, "synthetic", rules=rules)
    (tmp_path / "records" / "paper" / "alpine.jsonl").unlink()
    figures.success_figure(list(panels("synthetic")), tmp_path, "paper", tmp_path / "x.png")
    (figure,) = drawn
    assert len(figure.axes) == plots
    for axes in figure.axes:
        assert set(labels(axes)) - {FLOOR}
        assert (FLOOR in labels(axes)) == (rules is None or FLOOR in rules)
        assert axes.get_title() == "eggholder, xi = 1/100; 4 runs a rule"


def test_simple_regret_has_a_column_for_each_target_and_bars(tmp_path, drawn):
    write(tmp_path, "none-good", trials=3)
    summary = figures.regret_figure(list(panels("none-good")), tmp_path, "paper", tmp_path / "x.png")
    (figure,) = drawn
    assert [axes.get_title().split(";")[0] for axes in figure.axes] == [
        f"{problem}, {column}"
        for problem in ("hartmann3", "robot3")
        for column in ("eta = f* + 0.1", "eta = f* + 0.5", "optimisers")
    ]
    for axes in figure.axes:
        assert FLOOR in labels(axes)
        assert len(axes.containers) == len(labels(axes)) - 1  # bars for every rule but the floor
    assert set(labels(figure.axes[2])) == {*OPTIMISERS, FLOOR}
    keys = {r["key"] for problem in ("hartmann3", "robot3") for r in Records(record_file(tmp_path, "paper", problem))}
    assert summary["runs"] == len(keys)


def test_the_floor_alone_is_drawn_too(tmp_path, drawn):
    write(tmp_path, "none-good", rules=(FLOOR,))
    summary = figures.regret_figure(list(panels("none-good")), tmp_path, "paper", tmp_path / "x.png")
    assert [labels(axes) for axes in drawn[0].axes] == [[FLOOR]] * 4
    assert summary["runs"] == 2 * 4
    figures.success_figure(list(panels("real")), tmp_path, "paper", tmp_path / "x.png")
    assert [labels(axes) for axes in drawn[1].axes] == [[FLOOR]]  # robot3 serves figure 4 as well


def test_lenient_regret_has_bars_and_the_authors_points(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(figures, "save", lambda figure, path: seen.append(figure))
    for problem in ("gp2d", "gp2d-published"):
        values = PROBLEMS[problem].maximum - np.linspace(2, 0, lenient.ROUNDS)
        records = [{"rule": rule, "seed": s, "values": (values - s).tolist()} for rule in lenient.RULES for s in (0, 1)]
        lenient.lenient_figure(records, tmp_path / "x.png", problem)
    for figure, theirs in zip(seen, (0, 4), strict=True):
        (axes,) = figure.axes
        assert len(axes.containers) == 8
        assert sum("authors" in label for label in labels(axes)) == theirs
        figures.pyplot().close(figure)


def test_the_authors_curves_lie_beside_those_of_the_published_code_only(tmp_path, drawn):
    for variant in ("paper", "published"):
        write(tmp_path, "real", variant, rules=("pg", "ei"))
        figures.success_figure(list(panels("real", variant)), tmp_path, variant, tmp_path / "x.png")
    ours, theirs = drawn
    assert not any("the authors'" in labels(axes) for axes in ours.axes)
    assert ["the authors'" in labels(axes) for axes in theirs.axes] == [False, False, True, True]


def test_a_rule_that_is_not_the_papers_has_a_colour_of_its_own():
    mine = ["pg", "mine", "yours"]
    looks = {figures.style_of(rule, mine) for rule in mine}
    assert len(looks) == 3
    assert figures.style_of("pg", mine) == figures.STYLES["pg"]


def test_the_page_has_the_papers_order_and_tells_what_the_bars_are(tmp_path):
    for name in ("none-good", "synthetic", "sts"):
        write(tmp_path, name, trials=2)
    text = document(tmp_path, tmp_path / "docs")
    numbers = [number.split("-")[0] for number in re.findall(r"^### Figure ([\d-]+)c?:", text, flags=re.MULTILINE)]
    assert numbers == ["1", "3", "4", "6", "7", "10"]  # optimisers on robot3 serve figures 4 and 7-9 as well
    captions = re.findall(r"^\*(.+?)\*$", text, flags=re.MULTILINE | re.DOTALL)
    drawn = [" ".join(caption.split()) for caption in captions if "runs" in caption]
    assert len(drawn) == 5
    assert all("Bars are half a standard deviation over the trials" in caption for caption in drawn)
    assert all("dotted is random search, the floor" in caption for caption in drawn)
    for place in re.findall(r"\(images/(.+?)\)", text):
        assert (tmp_path / "docs" / "images" / place).stat().st_size > 5000
    assert (tmp_path / "docs" / "claims.csv").exists()


def test_a_single_trial_has_no_bars_and_a_floor_without_runs_is_missed(tmp_path):
    write(tmp_path, "synthetic", rules=("pg", "ei"), trials=1)
    text = " ".join(figures_text(tmp_path, tmp_path).split())
    assert "random search has no runs yet. One trial only, so there are no bars" in text
    wanted = len(planned("synthetic", "paper"))
    assert wanted == 2 * 250 * 9
    assert f"`satisfice reproduce synthetic`: 8 of {wanted} runs" in text
    assert re.search(
        r"^\| 3, `synthetic` \| 2 of 250 \(± [\d.]+\) \| none \| none \| none \|$",
        coverage_text(tmp_path),
        re.MULTILINE,
    )


def test_the_interval_of_a_figure_is_that_of_the_differences_between_its_rules(tmp_path):
    write(tmp_path, "synthetic", rules=("pg", "ei"), trials=4)
    archive = Archive(tmp_path, "paper")
    halves = []
    for panel in panels("synthetic"):
        both = [archive.measured(panel)[rule] for rule in ("pg", "ei")]
        halves.append(1.96 * np.std([both[0][run] - both[1][run] for run in both[0]], ddof=1) / np.sqrt(8))
    assert f"8 of 250 (± {np.median(halves):.2g}) | none" in coverage_text(tmp_path)


def test_fewest_and_most_runs_are_said_and_random_search_does_not_count(tmp_path):
    write(tmp_path, "synthetic", rules=("pg", FLOOR), trials=4)
    write(tmp_path, "synthetic", rules=("eg",), trials=2)
    assert "4 to 8 of 250 (±" in coverage_text(tmp_path)


def test_a_caption_says_how_many_runs_a_trial_has_where_they_are_not_those_of_the_protocol(tmp_path):
    write(tmp_path, "synthetic", rules=("pg",), trials=3)
    assert "as in the paper (here trials of 2 runs)" in " ".join(figures_text(tmp_path, tmp_path).split())
    write(tmp_path, "synthetic", rules=("eg",), trials=3, experiments=1)
    assert "as in the paper (here trials of 1 to 2 runs)" in " ".join(figures_text(tmp_path, tmp_path).split())
    write(tmp_path, "sts", rules=("pg",), experiments=10)
    assert "as in the paper; " in " ".join(figures_text(tmp_path, tmp_path).split()).replace("paper. `", "paper; ")


def test_a_table_has_the_variants_side_by_side(tmp_path):
    write(tmp_path, "synthetic", rules=("pg",), wait=lambda rule, panel: 20, trials=3)
    write(tmp_path, "synthetic", "paper-local", rules=("pg", "ei"), wait=lambda rule, panel: 50, trials=2)
    text = figures_text(tmp_path, tmp_path)
    row = re.search(r"^\| pg \| ([\d.]+) ± [\d.]+, 1.00 \(6\) \| ([\d.]+) ± [\d.]+, 1.00 \(4\) \|$", text, re.MULTILINE)
    assert float(row[1]) == pytest.approx(20, abs=2)
    assert float(row[2]) == pytest.approx(50, abs=2)
    assert re.search(r"^\| ei \|  \| [\d.]+ ", text, re.MULTILINE)


def test_both_optimisers_are_compared_over_the_same_starting_points(tmp_path):
    assert "no runs yet" in optimiser_text(tmp_path, tmp_path)
    write(tmp_path, "synthetic", trials=5, wait=lambda rule, panel: {"pg": 20, "ei": 30}.get(rule, 60))
    write(tmp_path, "synthetic", "paper-local", trials=3, wait=lambda rule, panel: {"pg": 60, "ei": 30}.get(rule, 60))
    found = effects(tmp_path)
    assert {panel.problem for panel in found} == {"eggholder", "alpine"}
    pg = next(effect for effect in found[panels("synthetic")[0]] if effect.rule == "pg")
    assert len(pg.both) == 6  # three trials of two
    assert pg.factor == pytest.approx(3, rel=0.1)
    assert pg.interval[0] < 3 < pg.interval[1] < 3.5
    assert pg.p == pytest.approx(2 * 0.5**6)
    text = " ".join(optimiser_text(tmp_path, tmp_path).split())
    assert re.search(
        r"at most \(pg on (eggholder|alpine), xi = 1/100: [12]\d(\.\d)? in `paper`, [56]\d(\.\d)? in", text
    )
    assert "in 2 so that both orders are shown" in text  # ei and pg, on both problems
    assert "on 2 of 2 problems it changes which is fastest of all" in text
    assert f"{FLOOR} " not in text.partition("| problem |")[2]
    assert (tmp_path / "optimiser.png").stat().st_size > 10_000


def test_every_variant_and_figure_has_a_name():
    assert set(figures.VARIANT_NAMES) == set(VARIANTS)
    order = [int(re.match(r"\d+", figure.number)[0]) for figure in FIGURES.values()]
    assert order == sorted(order)
