"""The page: what it says, what it draws, that it is whole."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest
from studies import SPACE, score, study

from satisfice.certificates.share import ShareBound
from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.report import page, slices
from satisfice.study.find import find
from satisfice.study.snapshot import Evaluation, snapshot


@pytest.fixture(scope="module")
def good():
    return study(
        0.9, 400, noise=0.02, fails=0.05
    )  # of five such studies the longest has 63 evaluations; the third one fails


def kinds(text: str) -> list[str]:
    return re.findall(r'<figure class="(\w+)">', text)


def test_a_good_study_says_so_with_its_guarantee(good):
    assert good.answer.verdict == "good"
    text = page.html(good)
    certificate = good.answer.certificate
    assert "Good enough: the target is met." in text
    assert f"certified by {certificate.repeats} fresh evaluation" in text
    assert certificate.guarantee in text
    assert f"is at least {certificate.bound:.6g}" in text
    assert kinds(text) == ["history", "hope", "trace", "map", *["slice"] * 4, "parallel"]
    assert '<body class="good">' in text
    assert text.count('class="failed"') >= 2 * good.answer.failures > 0


def test_the_trace_ends_at_the_certificate(good):
    values = slices.fresh_values(good)
    bounds = slices.certified(good, values)
    assert len(values) == good.answer.certificate.repeats
    assert bounds[-1] == pytest.approx(good.answer.certificate.bound, rel=1e-9)
    assert bounds[-1] >= 0.9 > bounds[-2]  # it was certified when the bound crossed the target, not before


def test_minimising_turns_everything_around():
    seen = study(-0.85, 120, noise=0.02, f=lambda p: -score(p), direction="minimize")
    assert seen.answer.verdict == "good"
    bounds = slices.certified(seen, slices.fresh_values(seen))
    assert bounds[-1] == pytest.approx(seen.answer.certificate.bound, rel=1e-9)
    assert bounds[-1] <= -0.85
    text = page.html(seen)
    assert "target at most -0.85" in text
    assert f"is at most {seen.answer.certificate.bound:.6g}" in text


def test_an_open_study_says_what_is_known_and_needed():
    seen = study(2.0, 12, noise=0.05)
    assert seen.answer.verdict == "open"
    text = page.html(replace(seen, answer=replace(seen.answer, repeats=37)))
    assert "Not decided yet." in text
    assert "as good as estimated, about 37 repeats would certify it" in text
    assert "The budget of 12 evaluations is spent" in text


def test_none_says_what_it_rests_on():
    seen = study(0.99, 12, noise=0.01)
    basis = "the confidence bounds of the stated kernel, which all hold but for 5 %"
    text = page.html(replace(seen, answer=replace(seen.answer, verdict="none", basis=basis)))
    assert f"The verdict rests on {basis}. They rule out every setting." in text
    share = ShareBound(0.0493, 0.95, 59, 0)
    text = page.html(replace(seen, answer=replace(seen.answer, verdict="unlikely", hope=0.02, share=share)))
    assert "This is no proof" in text
    assert "some setting reaches it is 2 %" in text
    assert "With 95 % confidence at most 5 % of all settings are good; of 59 drawn at random none reached" in text
    whole = study(2.05, 3, space={"a": ["x", "y", "z"]}, f=lambda p: "xyz".index(p["a"]) + 0.0)
    text = page.html(replace(whole, answer=replace(whole.answer, verdict="none", proven=True, evaluations=3)))
    assert "All 3 settings were evaluated" in text
    assert "This is proof." in text
    part = study(2.05, 2, space={"a": ["x", "y", "z"]}, f=lambda p: "xyz".index(p["a"]) + 0.0)
    text = page.html(replace(part, answer=replace(part.answer, verdict="none", evaluations=3)))  # one of them repeated
    assert "This is proof." not in text


def test_what_is_taken_to_be_noise_free_is_not_called_a_fact():
    seen = study(0.8, 60)
    assert seen.answer.verdict == "good"
    text = page.html(seen)
    assert "identical; taken to be noise-free, but" in text.lower() or "`noise=0` was stated" in text
    assert "proof" not in text
    assert "trace" not in kinds(text)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_begun_studies_have_a_page(n):
    text = page.html(study(2.0, n, noise=0.1))
    assert "Not decided yet." in text
    assert ("Nothing has been evaluated yet." in text) == (n == 0)


def test_all_failed_is_a_page():
    text = page.html(study(0.9, 4, fails=1.0))
    assert "out of memory" in text
    assert kinds(text)[0] == "history"


def test_a_table_of_candidates_has_a_page():
    rows = [{"a": k, "b": 0.1 * k, "c": "xy"[k % 2]} for k in range(12)]
    text = page.html(study(40.0, 9, space=rows, f=lambda p: float(p["a"] ** 2)))
    assert "slice" not in kinds(text)
    assert "parallel" in kinds(text)


def test_parameters_of_every_kind_are_drawn():
    space = {
        "i": (1, 1000, "log"),
        "s": (0.0, 1.0, 0.1),
        "k": (0, 100, 5),
        "c": [None, True, 3, "x"],
        "one": [4],
        "f": (0, 2),
    }
    seen = study(9.0, 8, space=space, f=lambda p: p["s"] + 0.1 * p["f"])
    assert kinds(page.html(seen)).count("slice") == 5
    for name, distribution in seen.space.parameters.items():
        for value in slices.grid(distribution, 30):
            seen.space.encode({**seen.answer.params, name: value})  # each is allowed


@pytest.mark.parametrize("size", [1e300, 1e-300, -1.7e308])
def test_huge_and_tiny_values_are_drawn(size):
    seen = study(size / 2, 6, f=lambda p: size * (0.5 + 0.4 * p["dropout"]), known="learn")
    text = page.html(seen)
    assert "nan" not in "".join(re.findall(r'(?:points|d|x|y|cx|cy|y1|y2)="([^"]*)"', text))
    assert "inf" not in "".join(re.findall(r'(?:points|d|x|y|cx|cy|y1|y2)="([^"]*)"', text))


def test_five_thousand_evaluations_stay_small(good):
    rng = np.random.default_rng(1)
    error = "x" * 5000
    many = tuple(
        Evaluation(k, {"rate": 10 ** -rng.uniform(1, 5), "depth": int(rng.integers(2, 13)), "dropout": rng.uniform(0, 0.5),
                       "booster": "dart"}, rng.normal() if k % 7 else None, "complete" if k % 7 else "failed", None, rng.random(),
                   None if k % 7 else error, 1.0)
        for k in range(5000)
    )  # fmt: skip
    text = page.html(replace(good, evaluations=many))
    assert len(text.encode()) < 3_000_000
    assert "The last 1,000 of 5,000" in text
    assert "are drawn: the best, and an even part of the others" in text


def test_the_file_is_whole_and_leaves_nothing_beside(good, tmp_path):
    path = page.write(good, tmp_path / "report.html")
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text().rstrip().endswith("</html>")
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    for place in (tmp_path / "none" / "report.html", tmp_path, "a\0b"):
        with pytest.raises(BadInput, match="cannot be written"):
            page.write(good, place)
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_link_in_its_place_is_neither_replaced_nor_followed(good, tmp_path):
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "report.html").symlink_to(tmp_path / "mine")
    with pytest.raises(BadInput, match="symbolic link"):
        page.write(good, tmp_path / "report.html")
    assert (tmp_path / "mine").read_text() == "precious"
    assert (tmp_path / "report.html").is_symlink()


def current_umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now


def test_a_real_study_has_a_page_and_its_storage_is_not_on_it(tmp_path):
    answer = find(score, SPACE, 0.8, noise=0, storage=tmp_path / "studies.db", name="real", seed=1, progress=False)
    text = page.html(snapshot(answer.study))
    assert answer.verdict == "good"
    assert "studies.db" not in text
    assert str(tmp_path) not in text
    assert f"{answer.evaluations} of 100" in text


def test_the_trace_of_a_real_study_ends_at_its_certificate():
    rng = np.random.default_rng(3)
    space = {"rate": (1e-5, 1e-1, "log"), "depth": (2, 12)}
    f = lambda p: score({**p, "dropout": 0.0, "booster": "dart"}) + 0.02 * float(rng.standard_normal())  # noqa: E731
    answer = find(f, space, 0.85, noise="learn", seed=1, progress=False)
    seen = snapshot(answer.study)
    assert answer.verdict == "good"
    bounds = slices.certified(seen, slices.fresh_values(seen))
    assert len(bounds) == answer.certificate.repeats
    assert bounds[-1] == pytest.approx(answer.certificate.bound, rel=1e-9)
    assert 'class="chosen"' in page.html(seen)


def test_settings_that_depend_on_others_have_a_page():
    def space(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return {"x": trial.suggest_float("x", 0, 1), "y": trial.suggest_float("y", 0, 1) if kind == "a" else 0.5}

    answer = find(lambda p: p["x"] * p["y"], space, 5.0, budget=8, noise=0, seed=1, progress=False)
    assert "history" in kinds(page.html(snapshot(answer.study)))


def test_names_keep_their_place(good):
    assert list(Space.of(SPACE).parameters) == re.findall(r'<th scope="col"><bdi>(\w+)</bdi>', page.html(good))


def test_outliers_are_arrows_at_the_edge_and_squash_nothing():
    seen = study(0.9, 24, noise=0.02, known="learn")
    wild = replace(seen.evaluations[3], value=-1e9)
    text = page.html(replace(seen, evaluations=(*seen.evaluations[:3], wild, *seen.evaluations[4:])))
    history = text.partition('<figure class="history">')[2].partition("</figure>")[0]
    assert history.count('class="arrow dot"') == 2  # in the wide and in the narrow picture
    assert "beyond the edge" in history
    places = {float(place) for place in re.findall(r'class="dot" cx="[^"]*" cy="([^"]*)"', history)}
    assert max(places) - min(places) > 60  # pixels of 244


def test_the_command_that_continues_the_search_is_shown_until_a_good_setting_is_found(good):
    seen = study(2.0, 3, noise=0.1)
    command = "satisfice find --target 2 --param '<b>=0:1' -- python -c 'a\nb'"
    assert "satisfice find --target 2 --param &#39;&lt;b&gt;=0:1&#39; -- python -c &#39;a\nb&#39;" in page.html(
        seen, command
    )
    assert "To continue" not in page.html(seen)
    assert "To continue" not in page.html(good, command)
