"""The benches of the default: levers, batches and the price of not knowing run, and their tables count right."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import batches
import bootstrap
import levers
import luck
import numpy as np
import price
from numpy.random import default_rng
from scipy.stats import norm

from satisfice.gp.fit import Fit
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.gp.units import Units


@pytest.mark.parametrize("lever", levers.LEVERS)
def test_every_lever_finds_a_good_value(lever):
    found = levers.run_lever(lever, "forrester", 0)
    assert found["good"]
    assert found["lever"] == lever


def test_the_table_of_levers_has_the_ratio_of_means_on_common_runs():
    counts = {"default": {0: 10, 1: 20}, "pg": {0: 30, 1: 60, 2: 1}}
    records = [
        {"lever": lever, "problem": p, "seed": s, "evaluations": n}
        for lever, runs in counts.items()
        for p in ("a", "b")
        for s, n in runs.items()
    ]
    rows = [row for row in levers.table(records).splitlines() if row.startswith("| pg")]
    assert len(rows) == 1
    assert "| 2 | 45.0 | 3.00 (3.00 to 3.00) |" in rows[0]


def test_the_weights_by_values_left_out_are_those_of_posteriors_without_them():
    rng = default_rng(0)
    U, y = rng.random((9, 2)), rng.standard_normal(9)
    kernels = [Stationary("se", 0.5), Stationary("matern52", [0.3, 0.9], 2.0)]
    fit = Fit(9, 9, Units(), tuple(Posterior.given(k, 0.1, U, y) for k in kernels), np.ones(2) / 2, np.arange(9))
    expected = []
    for kernel in kernels:
        others = [Posterior.given(kernel, 0.1, np.delete(U, i, axis=0), np.delete(y, i)) for i in range(9)]
        laws = [other.marginal(U[i : i + 1]) for i, other in enumerate(others)]
        expected.append(sum(norm(m[0], np.hypot(s[0], 0.1**0.5)).logpdf(v) for (m, s), v in zip(laws, y, strict=True)))
    assert levers.left_out_values(fit) == pytest.approx(expected, rel=1e-8)


def test_a_variant_is_run_beside_the_default_and_an_unknown_one_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(levers, "PATH", tmp_path / "levers.jsonl")
    monkeypatch.setattr(levers, "KEPT", tmp_path / "levers.jsonl.xz")
    monkeypatch.setattr(levers, "NAMES", ["forrester"])
    monkeypatch.setattr(sys, "argv", ["levers.py", "--runs", "1", "--jobs", "1", "--only", "pg"])
    levers.main()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| the default", "| pg in the place of aspire"]
    monkeypatch.setattr(sys, "argv", ["levers.py", "--only", "nosuch"])
    with pytest.raises(SystemExit):
        levers.main()
    assert "nosuch came; some of default, " in capsys.readouterr().err


@pytest.mark.parametrize("q", [1, 4])
def test_a_batch_is_told_before_the_next_one_is_asked(q):
    found = batches.run_batches("auto", q, "forrester", 0)
    assert found["good"]
    assert 1 <= found["rounds"] <= 1 + 200 / q
    table = batches.table([found | {"contestant": "auto", "q": 1, "rounds": 12}, found | {"q": 4, "rounds": 3}])
    assert "| auto | 12.0 (1.00) | 3.0 (0.25) | - |" in table


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
    found = price.run_price("matern52", 2, 0)
    assert 1 <= min(found["known"], found["default"]) <= max(found["known"], found["default"]) <= price.BUDGET
    table = price.table([{"kernel": "se", "dimension": 2, "known": 10, "default": n} for n in (10, 14)])
    assert "| se | 2 | 2 | 10.0 | 12.0 | 1.20 (1.00 to 1.40) |" in table
    assert "Geometric mean of the ratios: 1.20." in table
