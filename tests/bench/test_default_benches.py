"""The benches of the default run, and their tables are right: ablations, trust regions, batches and the price of learning."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import ablations
import batches
import bootstrap
import luck
import numpy as np
import price_of_learning
import trust_regions
import write_tables
from interactions import Interacting
from numpy.random import default_rng
from scipy.optimize import approx_fprime
from scipy.stats import norm

from satisfice.acquisition.belief import Belief
from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import Fit
from satisfice.gp.posterior import Posterior
from satisfice.gp.scaling import OutputScaler
from satisfice.paper.experiments.records import Records, pack, resume, unpack
from satisfice.rules.aspiration import Aspiration


@pytest.mark.parametrize("variant", ablations.VARIANTS)
def test_every_variant_finds_a_good_value(variant):
    found = ablations.run_variant(variant, "forrester", 0)
    assert found["good"]
    assert found["lever"] == variant


@pytest.mark.parametrize(("base", "variant"), [("default", "pg"), ("today", "simple")])
def test_the_ablation_tables_have_the_ratio_of_means_on_common_runs(base, variant):
    counts = {base: {0: 10, 1: 20}, variant: {0: 30, 1: 60, 2: 1}}
    records = [
        {"lever": name, "problem": p, "seed": s, "evaluations": n}
        for name, runs in counts.items()
        for p in ("a", "b")
        for s, n in runs.items()
    ]
    text = ablations.VARIANTS[variant][0]
    rows = [row for row in ablations.table(records).splitlines() if row.startswith(f"| {text} |")]
    assert len(rows) == 1
    assert "| 2 | 45.0 | 3.00 (3.00 to 3.00) |" in rows[0]


def test_the_weights_by_values_left_out_are_those_of_posteriors_without_them():
    rng = default_rng(0)
    U, y = rng.random((9, 2)), rng.standard_normal(9)
    kernels = [Stationary("se", 0.5), Stationary("matern52", [0.3, 0.9], 2.0)]
    fit = Fit(9, 9, OutputScaler(), tuple(Posterior.given(k, 0.1, U, y) for k in kernels), np.ones(2) / 2, np.arange(9))
    expected = []
    for kernel in kernels:
        others = [Posterior.given(kernel, 0.1, np.delete(U, i, axis=0), np.delete(y, i)) for i in range(9)]
        laws = [other.marginal(U[i : i + 1]) for i, other in enumerate(others)]
        expected.append(sum(norm(m[0], np.hypot(s[0], 0.1**0.5)).logpdf(v) for (m, s), v in zip(laws, y, strict=True)))
    assert ablations.left_out_values(fit) == pytest.approx(expected, rel=1e-8)


def test_the_kernel_of_interactions_is_the_mean_over_coordinates_and_pairs():
    rng = default_rng(1)
    A, B = rng.random((4, 3)), rng.random((5, 3))
    kernel = Interacting("matern52", np.array([0.4]), 1.3)
    along = [Stationary("matern52", 0.4)(A[:, [j]], B[:, [j]]) for j in range(3)]
    pairs = [along[j] * along[k] for j in range(3) for k in range(j)]
    expected = 1.3**2 / 2 * (np.mean(along, axis=0) + np.mean(pairs, axis=0))
    assert kernel(A, B) == pytest.approx(expected)
    assert np.diagonal(kernel(A, A)) == pytest.approx(np.full(4, kernel.variance))


def test_the_kernel_of_interactions_has_the_derivatives_of_its_values():
    rng = default_rng(2)
    U, X, weights = rng.random((4, 3)), rng.random((5, 3)), rng.standard_normal((4, 5))
    kernel = Interacting("matern52", np.array([0.4]), 1.3)

    def by_points(u):
        return float((weights * kernel(u.reshape(4, 3), X)).sum())

    pulled = kernel.cross(U, X).vjp(weights)
    assert pulled.ravel() == pytest.approx(approx_fprime(U.ravel(), by_points, 1e-7), abs=1e-5)
    symmetric = weights[:, :4] + weights[:, :4].T

    def by_parameters(p):
        return float((symmetric * kernel.with_parameters(p)(U, U)).sum())

    expected = approx_fprime(kernel.parameters, by_parameters, 1e-7)
    assert kernel.gram(U).vjp_parameters(symmetric) == pytest.approx(expected, abs=1e-5)


def test_length_scales_that_are_expected_alike_in_every_dimension_are_those_of_one_dimension():
    families = ablations.same_in_every_dimension(4)
    for family in families:
        named = zip(family.kernel.names, family.prior.centre, family.kernel.parameters, strict=False)
        lengths = [(centre, start) for name, centre, start in named if name.startswith("length-scale")]
        assert lengths == [(pytest.approx(np.log(0.5)),) * 2] * len(lengths)
        assert lengths
    assert len(families) == len(ablations.exact_families(4))


def test_a_variant_is_run_beside_the_default_and_an_unknown_one_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablations, "PATH", tmp_path / "levers.jsonl")
    monkeypatch.setattr(ablations, "KEPT", tmp_path / "levers.jsonl.xz")
    monkeypatch.setattr(ablations, "NAMES", ["forrester"])
    monkeypatch.setattr(ablations, "HELD_OUT", ["griewank5"])
    for only, title in (("pg", "`pg` instead of `aspire`"), ("simple", "four kernels, no warping, weights by BIC")):
        monkeypatch.setattr(sys, "argv", ["ablations.py", "--runs", "1", "--jobs", "1", "--only", only])
        ablations.main()
        titles = [row.split(" | ")[0] for row in capsys.readouterr().out.splitlines() if row.startswith("| ")]
        base = "the default without sweeps" if only == "pg" else "the default"
        assert titles[titles.index(f"| {title}") - 1] == f"| {base}"
    assert {record["key"] for record in unpack(tmp_path / "levers.jsonl.xz")} == {
        *(f"{variant}/forrester/0" for variant in ("default", "pg", "today", "simple")),
        *(f"{variant}/griewank5/0" for variant in ("today", "simple")),
    }
    monkeypatch.setattr(sys, "argv", ["ablations.py", "--only", "nosuch"])
    with pytest.raises(SystemExit):
        ablations.main()
    assert "got nosuch" in capsys.readouterr().err


def test_the_sides_of_a_trust_region_double_after_three_rises_and_halve_after_d_failures():
    assert trust_regions.side(np.arange(4.0), 5) == 1.6
    assert trust_regions.side(np.arange(20.0), 5) == 1.6  # at most
    assert trust_regions.side(np.array([1.0, 2, 0, 3, 4]), 5) == 0.8  # not in a row
    assert trust_regions.side(np.array([1.0, *[0] * 5]), 5) == 0.4
    assert trust_regions.side(np.array([1.0, *[0] * 4, 2, *[0] * 4]), 5) == 0.8
    assert trust_regions.side(np.array([1.0, *[0] * 35]), 5) == 0.8  # 0.8 / 2^7 is too short


def test_a_question_in_a_trust_region_lies_within_it():
    rng = default_rng(0)
    U = rng.random((8, 16))
    y = np.array([3.0, *[0] * 7])  # no rise yet, 7 failures: the sides are 0.8
    belief = Belief(
        members=((1.0, Posterior.given(Stationary("matern52", 2.0), 1e-6, U, y)),), domain=Box([(0, 1)] * 16),
        target=5.0, step=9, seed=0, incumbent=3.0, best=U[:1], avoid=U,
    )  # fmt: skip
    asked = trust_regions.Trusting().propose(belief, rng)
    assert (np.abs(asked - U[0]) <= 0.4 + 1e-9).all()
    assert ((asked >= 0) & (asked <= 1)).all()
    outside = np.abs(Aspiration().propose(belief, rng) - U[0]).max()
    assert outside > 0.4


@pytest.mark.parametrize("variant", trust_regions.VARIANTS)
def test_every_variant_with_a_trust_region_finds_a_good_value(variant):
    found = trust_regions.run_variant(variant, "styblinski20 476.433", 12)
    assert found["good"]
    assert found["evaluations"] > 3  # not a starting point
    assert "| the default without sweeps | 1 |" in trust_regions.table([found | {"lever": "default"}])


@pytest.mark.parametrize("q", [1, 4])
def test_a_batch_is_told_before_the_next_one_is_asked(q):
    found = batches.run_batches("auto", q, "forrester", 0)
    assert found["good"]
    assert 1 <= found["rounds"] <= 1 + 200 / q
    table = batches.table([found | {"contestant": "auto", "q": 1, "rounds": 12}, found | {"q": 4, "rounds": 3}])
    assert "| auto | 12.0 (1.00) | 3.0 (0.25) | - |" in table


def test_new_runs_are_added_to_the_kept_ones(tmp_path):
    path, kept = tmp_path / "new.jsonl", tmp_path / "kept.jsonl.xz"
    resume(kept, path)
    assert not path.exists()
    Records(path).append({"key": "b"}, {"key": "a"})
    pack(path, kept)
    path.unlink()
    resume(kept, path)
    assert Records(path).keys() == {"a", "b"}
    path.write_text("")  # records of its own: none
    resume(kept, path)
    assert Records(path).keys() == set()


def test_a_table_is_written_into_the_one_page_with_its_marker(tmp_path, monkeypatch):
    monkeypatch.setattr(write_tables, "ROOT", tmp_path)
    page, other = tmp_path / "docs" / "evidence" / "speed.md", tmp_path / "README.md"
    page.parent.mkdir(parents=True)
    page.write_text("a\n<!-- times -->\nold\n<!-- end -->\nb\n")
    other.write_text("<!-- sizes -->\nkept\n<!-- end -->\n")
    write_tables.write("times", r"| new \d |")
    assert page.read_text() == "a\n<!-- times -->\n\n| new \\d |\n\n<!-- end -->\nb\n"
    assert "kept" in other.read_text()
    with pytest.raises(SystemExit, match="0 do"):
        write_tables.write("lengths", "")
    other.write_text(page.read_text())
    with pytest.raises(SystemExit, match="2 do"):
        write_tables.write("times", "")


@pytest.mark.parametrize(("factor", "said"), [(1.2, "they stay"), (1.0, "they can go")])
def test_the_ablation_of_the_simpler_model_says_whether_the_parts_stay(factor, said):
    records = [
        {"lever": name, "problem": p, "seed": s, "evaluations": n}
        for name, n in (("today", 100), ("simple", 100 * factor))
        for p in ("a", "b")
        for s in range(3)
    ]
    records += [{"lever": name, "problem": "c", "seed": 0, "evaluations": 100} for name in ("today", "simple")]
    assert said in ablations.table(records)


def test_a_ratio_of_means_is_resampled_by_pairs():
    pairs = np.array([[10.0, 1.0], [20.0, 2.0], [60.0, 6.0]])
    figure, draws = bootstrap.ratio(pairs, default_rng(0), 500)
    assert figure == pytest.approx(10)
    assert draws == pytest.approx(np.full(500, 10.0))  # what changes from run to run changes both alike
    _, draws = bootstrap.ratio(np.array([[1.0, 1.0], [3.0, 1.0]]), default_rng(0))
    assert set(draws) == {1.0, 2.0, 3.0}
    assert bootstrap.interval(draws) == (1.0, 3.0)


def test_the_benches_share_one_branin():
    for place in ((-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)):
        assert luck.branin(*place) == pytest.approx(luck.LOWEST, abs=1e-6)


def test_the_price_is_the_ratio_of_the_mean_evaluations():
    found = price_of_learning.run_price("matern52", 2, 0)
    assert (
        1 <= min(found["known"], found["default"]) <= max(found["known"], found["default"]) <= price_of_learning.BUDGET
    )
    table = price_of_learning.table([{"kernel": "se", "dimension": 2, "known": 10, "default": n} for n in (10, 14)])
    assert "| se | 2 | 2 | 10.0 | 12.0 | 1.20 (1.00 to 1.40) |" in table
    assert "Geometric mean of the ratios: 1.20 (1.00 to 1.40)." in table
