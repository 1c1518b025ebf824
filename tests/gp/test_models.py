"""OutputScaler and models: standardising, learning, weights, and that a cache never changes a result."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import multivariate_normal

from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.evidence import GRAIN
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.models import Dataset, FixedModel, auto_model, mixture, paper_model
from satisfice.gp.models.mixture import CHAIN, every_third, has_grown
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior
from satisfice.gp.scaling import QUANTUM, scaler_of


def seen(n, d=2, noise=0.0, seed=1, target=3.0):
    U = default_rng(seed).random((n, d))
    y = np.sin(6 * U[:, 0]) + U[:, 1] ** 2 + (noise or 0.0) * default_rng(seed + 1).standard_normal(n)
    return Dataset(Box([(0.0, 1.0)] * d), U, y, target, noise, 0)


def test_standardised_values_have_mean_zero_and_std_one_and_can_be_restored():
    y = default_rng(0).lognormal(3, 1, 50)
    units = scaler_of(y, 100.0)
    z = units.standardise(y)
    assert z.mean() == pytest.approx(0, abs=1e-9)
    assert z.std() == pytest.approx(1, abs=1e-9)
    assert units.restore(z) == pytest.approx(y, rel=1e-8)
    assert (z / QUANTUM == np.round(z / QUANTUM)).all()
    assert units.restore_std(units.standardise_std(0.7)) == pytest.approx(0.7)


@pytest.mark.parametrize("power", np.linspace(-300, 300, 13))
def test_standardised_values_do_not_depend_on_the_scale_of_the_values(power):
    y = default_rng(0).standard_normal(20)
    scale = 10.0**power
    assert (scaler_of(y * scale, 2.5 * scale).standardise(y * scale) == scaler_of(y, 2.5).standardise(y)).all()
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(scaler_of(np.array([-1.0, 1.0]) * 1.7e308, 1e308).standardise([1e308])).all()


def test_equal_values_are_scaled_by_their_distance_from_the_target():
    for y in (np.array([5.0]), np.full(7, 5.0)):
        units = scaler_of(y, 8.0)
        assert units.standardise([5.0, 8.0]) == pytest.approx([0.0, 1.0])
        assert units.constant == (len(y) > 1)
    assert np.isfinite(scaler_of(np.full(3, 5.0), 5.0).standardise(5.0))
    assert np.isfinite(scaler_of(np.empty(0), 5.0).standardise(5.0))
    assert scaler_of(1e16 + np.arange(5) * 2.0, 0.0).digits_lost or scaler_of(1e16 + np.arange(5) * 2.0, 0.0).constant
    assert not scaler_of(1e6 + np.arange(5.0), 0.0).digits_lost


def test_warping_compresses_values_below_the_median_and_leaves_the_others_alone():
    y = -default_rng(0).lognormal(3, 2, 51)
    target, median = -0.5, float(np.median(y))
    units = scaler_of(y, target, warp=True)
    z = units.standardise(y)
    assert z.mean() == pytest.approx(0, abs=1e-9)
    assert z.std() == pytest.approx(1, abs=1e-9)
    assert units.restore(z) == pytest.approx(y, rel=1e-6)
    assert (np.argsort(z) == np.argsort(y)).all()
    above = y >= median
    slope = np.diff(z[above]) / np.diff(y[above])
    assert slope == pytest.approx(units.standardise_std(1.0), rel=1e-6)
    low, width = float(y.min()), target - median
    drop = float(units.standardise(median) - units.standardise(low))
    assert drop == pytest.approx(units.standardise_std(1.0) * width * np.log1p((median - low) / width), rel=1e-6)
    edge = [median - 1e-6 * width, median + 1e-6 * width]  # smooth at the warp point
    assert float(np.diff(units.standardise(edge))[0]) == pytest.approx(units.standardise_std(2e-6 * width), rel=1e-3)


@pytest.mark.parametrize("power", [-300, -3, 3, 300])
def test_warped_values_do_not_depend_on_the_scale_of_the_values(power):
    y = default_rng(0).standard_normal(20)
    scale = 10.0**power
    warped = scaler_of(y * scale, 2.5 * scale, warp=True)
    assert warped.standardise(y * scale) == pytest.approx(scaler_of(y, 2.5, warp=True).standardise(y), abs=4 * QUANTUM)
    assert warped.restore(warped.standardise(y * scale)) == pytest.approx(y * scale, rel=1e-6)


def test_values_are_not_warped_if_the_median_reaches_the_target_or_all_are_equal():
    y = np.arange(5.0)
    assert scaler_of(y, 2.0, warp=True) == scaler_of(y, 2.0)
    assert scaler_of(np.full(4, 5.0), 8.0, warp=True) == scaler_of(np.full(4, 5.0), 8.0)
    far = scaler_of(np.array([1e-300, 2e-300, 3e-300]), 1e300, warp=True)
    assert np.isfinite(far.standardise([1e-300, 1e300])).all()


def test_the_default_warps_values_only_without_noise():
    for noise, warped in ((0.0, True), (0.1, False), (None, False)):
        data = seen(12, noise=noise)
        assert np.isfinite(auto_model().fit(data).scaler.warp_below) == warped
        assert np.isinf(paper_model().fit(data).scaler.warp_below)


def test_hyperparameters_are_learned_every_three_values_or_whenever_n_has_grown_by_a_tenth():
    at = [n for n in range(1, 1000) if every_third(n)]
    assert at[:66] == list(range(3, 199, 3))
    for late in (np.array(at[66:]), np.array([n for n in range(10, 1000) if has_grown(n)])):
        assert (late[1:] / late[:-1] < 1.21).all()
        assert (late[-1] / late[0]) ** (1 / (len(late) - 1)) == pytest.approx(1.1, abs=0.01)
    assert [n for n in range(1, 16) if not has_grown(n)] == [13]


@pytest.mark.parametrize("noise", [0.0, 0.1, None])
@pytest.mark.parametrize("make", [paper_model, auto_model])
def test_a_fit_does_not_depend_on_the_fits_before_it(make, noise):
    data, model = seen(14, noise=noise), make()
    step_by_step = None
    for n in range(1, 15):
        step_by_step = model.fit(data.first(n), step_by_step)
    jumping = model.fit(data, model.fit(data.first(8)))
    fresh = model.fit(data)
    for other in (step_by_step, jumping):
        assert (other.weights == fresh.weights).all()
        for mine, theirs in zip(other.posteriors, fresh.posteriors, strict=True):
            assert (mine.L == theirs.L).all()
            assert (mine.y == theirs.y).all()


@pytest.mark.parametrize("noise", [0.0, 0.05, None])
def test_beyond_two_hundred_values_the_posterior_is_extended_and_still_the_same(noise, monkeypatch):
    monkeypatch.setattr(mixture, "OFTEN", 12)
    data, model = seen(30, noise=noise), paper_model()
    step_by_step = None
    for n in range(9, 31):
        step_by_step = model.fit(data.first(n), step_by_step)
    fresh = model.fit(data)
    posterior = fresh.posteriors[0]
    assert (step_by_step.posteriors[0].L == posterior.L).all()
    dense = Posterior.given(posterior.kernel, posterior.lam, data.U, posterior.y)
    assert posterior.marginal(data.U[:5] + 0.01).mean == pytest.approx(dense.marginal(data.U[:5] + 0.01).mean, rel=1e-8)


def test_the_papers_model_keeps_the_papers_bounds_and_lambda():
    fit = paper_model().fit(seen(30))
    kernel, lam = fit.posteriors[0].kernel, fit.posteriors[0].lam
    assert kernel.form == "se"
    assert 1e-3 <= kernel.lengthscale[0] <= 1
    assert 5e-2 <= kernel.scale <= 1.5
    assert lam == 1e-6
    noisy = seen(30, noise=0.1)
    lam = paper_model().fit(noisy).posteriors[0].lam
    assert lam == pytest.approx((0.1 / noisy.y.std()) ** 2, rel=1e-9)
    assert paper_model().fit(seen(30, noise=None)).posteriors[0].lam >= 1e-6


def test_weights_are_the_evidences_with_a_bic_penalty():
    data = seen(24, noise=0.1)
    fit = auto_model().fit(data)
    scores = []
    for posterior, free in zip(fit.posteriors, [3, 3, 4, 3], strict=True):  # lambda counts for every member alike
        covariance = posterior.kernel(data.U, data.U) + posterior.lam * np.eye(24)
        log_evidence = multivariate_normal(np.zeros(24), covariance, allow_singular=True).logpdf(posterior.y)
        scores.append(log_evidence - 0.5 * free * np.log(24))
    expected = np.exp(np.array(scores) - max(scores))
    assert fit.weights == pytest.approx(expected / expected.sum(), rel=1e-3)
    assert sum(weight for weight, _ in fit.members) == pytest.approx(1.0)


def test_without_noise_the_weights_are_the_evidences_integrated_over_the_hyperparameters():
    """The Hessian is taken here from second differences of the dense evidence times the prior."""
    data = seen(24)
    fit = auto_model().fit(data)
    expected, ones = 0.5 * np.sqrt(2), np.ones(2)
    centres = [
        np.log([expected, 1]), np.log([expected, 1]), np.log([expected, expected, 1]), np.log([0.5, 1]),
        np.log([expected, 0.1, 1]), np.array([np.log(expected), 0, 0, 0]),
    ]  # fmt: skip
    spreads = [ones, ones, np.ones(3), ones, np.array([1.0, 2.0, 1.0]), np.array([1.0, 2.0, 2.0, 1.0])]
    assert fit.learned_at == fit.n == 24
    scores = []
    for posterior, centre, spread in zip(fit.posteriors, centres, spreads, strict=True):

        def log_product(parameters, posterior=posterior, centre=centre, spread=spread):
            covariance = posterior.kernel.with_parameters(parameters)(data.U, data.U) + posterior.lam * np.eye(24)
            evidence = multivariate_normal(np.zeros(24), covariance, allow_singular=True).logpdf(posterior.y)
            return evidence - 0.5 * (((parameters - centre) / spread) ** 2).sum()

        at = posterior.kernel.parameters
        steps = 0.02 * np.eye(len(at))
        H = np.array([
            [sum(a * b * log_product(at + a * s + b * t) for a in (1, -1) for b in (1, -1)) / -0.0016 for s in steps]
            for t in steps
        ])  # fmt: skip
        curvatures = np.maximum(np.linalg.eigvalsh(H * np.outer(spread, spread)), 1.0)
        scores.append(log_product(at) - 0.5 * np.log(curvatures).sum())
    weights = np.exp(np.array(scores) - max(scores))
    assert fit.weights[weights > 1e-4] == pytest.approx((weights / weights.sum())[weights > 1e-4], rel=0.05)
    assert (fit.weights[weights <= 1e-4] < 1e-3).all()


@pytest.mark.parametrize("noise", [0.0, None])
def test_learned_hyperparameters_are_rounded_and_do_not_depend_on_the_last_digits(noise):
    data = seen(20, noise=noise)
    shaken = Dataset(data.domain, data.U * (1 - 1e-13), data.y, data.target, noise, 0)
    learned_parameters = []
    for each in (data, shaken):
        kernels = [posterior.kernel.parameters for posterior in auto_model().fit(each).posteriors]
        for parameters in kernels:
            at_bound = np.abs(np.exp(parameters)[:, None] - [1e-2, 50.0, 5e-2, 20.0, 1e-4, 10.0]).min(axis=1) < 1e-12
            assert parameters[~at_bound] / GRAIN == pytest.approx(np.round(parameters[~at_bound] / GRAIN), abs=1e-9)
        learned_parameters.append(kernels)
    assert sum((a == b).all() for a, b in zip(*learned_parameters, strict=True)) >= len(learned_parameters[0]) - 1


def test_between_fresh_starts_a_kernel_far_behind_hardly_moves(monkeypatch):
    rounds = []
    plain = mixture.learn_together

    def watched(*args):
        rounds.append(args[-2])
        return plain(*args)

    monkeypatch.setattr(mixture, "learn_together", watched)
    data = seen(70)
    at_last = next(n for n in range(70, 60, -1) if has_grown(n))
    auto_model().fit(data.first(at_last))
    assert set(rounds[-1]) == {1, 50}
    assert set(rounds[0]) == {50}


@pytest.mark.parametrize(
    ("kernel", "member"),
    [
        (Stationary("se", np.array([0.3])), 0),
        (Stationary("matern52", np.array([0.15, 0.9, 5.0])), 2),
        (Additive("matern52", np.array([0.2])), 3),
    ],
)
def test_the_mixture_finds_the_kernel_that_made_the_values(kernel, member):
    wins = 0
    for seed in range(4):
        rng = default_rng(seed)
        U = rng.random((48, 3))
        y = draw_path(Posterior.given(kernel, 1e-6, U[:0], np.empty(0)), rng)(U)
        fit = auto_model().fit(Dataset(Box([(0.0, 1.0)] * 3), U, y, 3.0, 0.0, seed))
        wins += int(np.argmax(fit.weights)) == member
    assert wins >= 3


def test_learned_noise_is_near_the_true_one():
    data = seen(100, noise=0.3, seed=5)
    unknown = Dataset(data.domain, data.U, data.y, data.target, None, 0)
    fit = auto_model().fit(unknown)
    best = fit.posteriors[int(np.argmax(fit.weights))]
    assert fit.scaler.restore_std(np.sqrt(best.lam)) == pytest.approx(0.3, rel=0.25)


def test_means_are_the_posterior_means_at_the_observations():
    data = seen(40, noise=0.2)
    fit = auto_model().fit(data)
    expected = sum(weight * posterior.marginal(data.U).mean for weight, posterior in fit.members)
    assert fit.means == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_the_fixed_model_is_the_plain_posterior_of_the_raw_values():
    kernel, domain = Stationary("se", np.array([0.4])), Box([(0.0, 2.0)] * 2).grid(9)
    U, y = domain.U[::7], np.arange(12.0)[: len(domain.U[::7])]
    data = Dataset(domain, U, y, 3.0, 0.1, 0)
    model = FixedModel(kernel, 0.01)
    fit = model.fit(data, model.fit(data.first(4)))
    dense = Posterior.given(kernel, 0.01, U, y)
    assert fit.posteriors[0].marginal(domain.U).mean == pytest.approx(dense.marginal(domain.U).mean, rel=1e-9)
    assert fit.posteriors[0].marginal(domain.U).std == pytest.approx(dense.marginal(domain.U).std, rel=1e-8)
    assert fit.scaler.standardise(3.0) == 3.0
    with pytest.raises(BadInput, match="variance"):
        FixedModel(kernel, -1.0)
    with pytest.raises(BadInput, match=r"`kernel` of a FixedModel must be a kernel, such as Stationary.*; got 'se'"):
        FixedModel("se", 1e-6)


def test_a_full_model_keeps_the_best_observations_their_neighbours_and_a_spread(monkeypatch):
    monkeypatch.setattr(mixture, "CAPACITY", 60)
    data = seen(100)
    fit = paper_model().fit(data)
    kept = fit.kept
    assert len(kept) <= 60 + 2
    assert (np.diff(kept) > 0).all()
    assert set(np.argsort(-data.y[:99])[:10]) <= set(kept)
    assert any("keeps" in note.text for note in fit.notes)


def test_a_hyperparameter_at_its_bound_is_noted():
    U = np.linspace(0, 1, 12)[:, None]
    line = Dataset(Box([(0.0, 1.0)]), U, 3 * U[:, 0], 5.0, 0.0, 0)
    assert any("length-scale 0" in n.text and "upper bound" in n.text for n in paper_model().fit(line).notes)
    alternating = Dataset(Box([(0.0, 1.0)]), U, (-1.0) ** np.arange(12), 5.0, None, 0)
    fit = paper_model().fit(alternating)
    assert np.isfinite(fit.weights).all()


SCHEDULED = [m for m in range(1, 2001) if has_grown(m)]


@pytest.mark.parametrize("n", [1, 12, 25, 26, 50, 51, 99, 100, 230, 1000, 1999])
def test_a_history_of_any_length_is_replayed_by_few_learnings(n):
    counts = auto_model().exact.lineage(n)
    assert counts[-1] == max(m for m in SCHEDULED if m <= n)
    if counts[-1] <= CHAIN:
        assert counts == [m for m in SCHEDULED if m <= n]
    else:
        assert len(counts) <= 2
        assert counts[-1] <= 2 * counts[0]


def test_every_learning_starts_from_one_made_step_by_step():
    """The lineage of a count, without its end, is part of the lineage of the count before it or of its epoch's first one."""
    model = auto_model().exact
    for before, m in itertools.pairwise(SCHEDULED):
        made = {*model.lineage(before), before}
        assert set(model.lineage(m)[:-1]) <= made


@pytest.mark.parametrize(("noise", "n"), [(0.0, 70), (None, 60), (0.0, 215)])
def test_fitting_step_by_step_or_at_once_gives_the_same_bits(noise, n):
    data = seen(n, noise=0.1 if noise is None else noise)
    data = replace(data, noise=noise)
    fit = None
    for m in range(1 if n < 100 else 190, n + 1):
        fit = auto_model().fit(data.first(m), fit)
    at_once = auto_model().fit(data)
    assert fit.learned_at == at_once.learned_at
    for one, other in zip(fit.posteriors, at_once.posteriors, strict=True):
        assert (one.kernel.parameters == other.kernel.parameters).all()
        assert (one.L == other.L).all()
        assert (one.y == other.y).all()
    assert (fit.weights == at_once.weights).all()


def test_a_kernel_that_gets_no_posterior_would_have_had_no_weight():
    data = seen(208)
    fit = auto_model().fit(data)
    assert len(fit.posteriors) < len(fit.learned)
    z = fit.posteriors[0].y
    everyone = [Posterior.given(each.kernel, each.lam, data.U, z).log_evidence + each.prior for each in fit.learned]
    weights = np.exp(np.array(everyone) - max(everyone))
    assert np.sort(weights)[-len(fit.posteriors) :] == pytest.approx(np.sort(fit.weights / fit.weights.max()))
    assert np.sort(weights)[: -len(fit.posteriors)].max() < 1e-4
