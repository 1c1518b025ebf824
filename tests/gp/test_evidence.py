"""The evidence and its gradient against 50 digits, and learning against grids and known optima."""

import math

import mpmath
import numpy as np
import pytest
from gp_oracle import kernels, pair

from satisfice.errors import NumericalFailure
from satisfice.gp.evidence import integrated, learn, log_evidence_with_gradient
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.posterior import Posterior
from satisfice.gp.priors import Prior

ALL = pytest.mark.parametrize("kernel", [k for _, k in kernels(3)], ids=[name for name, _ in kernels(3)])


def data(n, seed=0, dimension=3):
    rng = np.random.default_rng(seed)
    X = rng.random((n, dimension))
    return X, np.sin(6 * X[:, 0]) + X[:, -1] + 0.1 * rng.standard_normal(n)


def flat(low, high):
    """No prior but bounds, given as values and kept as logs."""
    low, high = np.log(low), np.log(high)
    return Prior(low, high, (low + high) / 2, np.full(len(low), np.inf))


def fifty_digit_evidence(kernel, X, y, parameters):
    """log N(y; 0, K + lam I) at the logs of length-scales, scale and lam."""
    *lengthscales, scale, lam = [mpmath.exp(p) for p in parameters]
    X, y = [[mpmath.mpf(v) for v in row] for row in X], mpmath.matrix([mpmath.mpf(v) for v in y])
    K = mpmath.matrix([[pair(type(kernel), kernel.form, lengthscales, scale, a, b, mpmath) for b in X] for a in X])
    K += lam * mpmath.eye(len(X))
    L = mpmath.cholesky(K)
    log_determinant = 2 * sum(mpmath.log(L[i, i]) for i in range(len(X)))
    return -(mpmath.fdot(y, mpmath.cholesky_solve(K, y)) + log_determinant + len(X) * mpmath.log(2 * mpmath.pi)) / 2


@ALL
@pytest.mark.parametrize(("n", "lam"), [(1, 0.1), (5, 1e-4), (8, 1e-2)])
def test_the_evidence_and_its_gradient_equal_fifty_digit_values(kernel, n, lam):
    X, y = data(n)
    value, gradient = log_evidence_with_gradient(kernel, lam, X, y)
    with mpmath.workdps(50):
        parameters = [mpmath.log(mpmath.mpf(v)) for v in (*kernel.lengthscale, kernel.scale, lam)]
        expected = fifty_digit_evidence(kernel, X, y, parameters)
        slopes = [
            mpmath.diff(
                lambda t, i=i: fifty_digit_evidence(kernel, X, y, [*parameters[:i], t, *parameters[i + 1 :]]),
                parameters[i],
            )
            for i in range(len(parameters))
        ]
    assert value == pytest.approx(float(expected), rel=1e-8)
    assert value == pytest.approx(Posterior.given(kernel, lam, X, y).log_evidence, rel=1e-12)
    # an entry of 0 (one point: no length-scale matters) has no relative error, so 1e-10 beside it
    assert gradient == pytest.approx([float(s) for s in slopes], rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("form", ["se", "matern12", "matern52"])
def test_the_gradient_is_exact_at_replicated_points(form):
    X, y = data(5)
    X[4] = X[0]
    kernel, lam = Stationary(form, np.array([0.3, 0.5, 0.9])), 1e-3
    gradient = log_evidence_with_gradient(kernel, lam, X, y)[1]
    with mpmath.workdps(50):
        start = [mpmath.log(mpmath.mpf(v)) for v in (0.3, 0.5, 0.9, 1.0, lam)]
        slopes = [
            float(
                mpmath.diff(
                    lambda t, i=i: fifty_digit_evidence(kernel, X, y, [*start[:i], t, *start[i + 1 :]]), start[i]
                )
            )
            for i in range(5)
        ]
    assert gradient == pytest.approx(slopes, rel=1e-8)


def test_the_prior_is_normal_where_its_spread_is_finite():
    prior = Prior(np.full(2, -5.0), np.full(2, 5.0), np.array([1.0, 0.0]), np.array([0.5, np.inf]))
    value, gradient = prior.log_density_with_gradient(np.array([2.0, 3.0]))
    # -(2 - 1)^2 / (2 * 0.25) = -2 and its derivative -(2 - 1) / 0.25 = -4; nothing from the flat coordinate
    assert value == -2.0
    assert gradient.tolist() == [-4.0, 0.0]


def test_draws_from_the_prior_follow_it_within_the_bounds():
    prior = Prior(
        np.array([-9.0, -1.0, 0.0]), np.array([9.0, 3.0, 0.1]), np.array([1.0, 0, 0]), np.array([0.5, np.inf, 9])
    )
    rng = np.random.default_rng(0)
    draws = np.array([prior.draw(rng) for _ in range(4000)])
    assert (draws >= prior.low).all()
    assert (draws <= prior.high).all()
    # z = 4 at 4000 draws: 4 / sqrt(4000) = 0.063 standard deviations (of 0.5 and of 4 / sqrt(12))
    assert draws[:, 0].mean() == pytest.approx(1.0, abs=0.063 * 0.5)
    assert draws[:, 1].mean() == pytest.approx(1.0, abs=0.063 * 4 / math.sqrt(12))
    # a standard deviation has the relative error 1 / sqrt(2 * 4000) = 0.011
    assert draws[:, :2].std(axis=0) == pytest.approx([0.5, 4 / math.sqrt(12)], rel=4 * 0.011)


@pytest.mark.parametrize("n", [2, 40])
def test_the_scale_of_a_repeated_block_has_a_known_optimum(n):
    """Points so far apart that K = s^2 I: the evidence is highest at s^2 + lam = mean(y^2)."""
    X, y = 100.0 * np.arange(n)[:, None], np.random.default_rng(1).standard_normal(n) + 2
    prior = flat([0.5, 1e-2], [1.0, 1e2])
    found = learn(Stationary("se", 0.7, 1.0), 0.3, X, y, prior, [np.log([0.7, 1.0])], tolerance=1e-14)
    # the slope of the objective in log s stops below 1e-4, and its curvature is of order n
    assert found.kernel.variance == pytest.approx(np.mean(y**2) - 0.3, rel=2e-4)
    assert found.lam == 0.3
    variance = np.mean(y**2)
    assert found.objective == pytest.approx(-0.5 * n * (1 + math.log(2 * math.pi * variance)), rel=1e-9)


def projected(prior, parameters, gradient):
    """The part of the gradient that points into the bounds."""
    upward = np.where(parameters >= prior.high - 1e-9, np.minimum(gradient, 0), gradient)
    return np.where(parameters <= prior.low + 1e-9, np.maximum(upward, 0), upward)


@ALL
@pytest.mark.parametrize("lam", [None, 1e-2])
@pytest.mark.parametrize("spread", [np.inf, 0.7])
def test_what_is_learned_is_a_local_maximum(kernel, lam, spread):
    X, y = data(25)
    size = len(kernel.parameters) + (lam is None)
    low, high = np.full(size, np.log(1e-2)), np.full(size, np.log(3.0))
    prior = Prior(low, high, np.full(size, np.log(0.3)), np.full(size, spread))
    start = np.append(kernel.parameters, np.log(0.05))[:size]

    def objective(parameters):
        chosen = parameters if lam is not None else parameters[:-1]
        chosen_lam = lam if lam is not None else float(np.exp(parameters[-1]))
        value, gradient = log_evidence_with_gradient(kernel.with_parameters(chosen), chosen_lam, X, y)
        z = 0 if math.isinf(spread) else (parameters - np.log(0.3)) / spread
        slope = 0 if math.isinf(spread) else -z / spread
        return value - 0.5 * np.sum(np.square(z)), gradient[:size] + slope

    found = learn(kernel, lam, X, y, prior, [start], tolerance=1e-15)
    parameters = np.append(found.kernel.parameters, np.log(found.lam))[:size]
    value, gradient = objective(parameters)
    assert found.objective == pytest.approx(value, rel=1e-12)
    assert value >= objective(start)[0]
    # L-BFGS-B stops at a projected slope of 1e-4, or where 16 digits of the objective (about 20) show no gain: 1e-3
    assert np.abs(projected(prior, parameters, gradient)).max() < 1e-3
    for nudge in np.random.default_rng(2).uniform(-0.02, 0.02, (30, size)):
        # what a slope of 1e-3 can still give over 0.02 in each of up to 5 coordinates
        assert objective(np.clip(parameters + nudge, low, high))[0] <= value + 1e-4


def test_more_starts_never_worsen_the_result():
    X, y = data(15, dimension=2)
    kernel, prior = Additive("matern52", np.array([0.3, 0.3])), flat([1e-2] * 4, [3.0] * 4)
    rng = np.random.default_rng(4)
    starts = [prior.draw(rng) for _ in range(6)]
    objectives = [learn(kernel, None, X, y, prior, starts[:count]).objective for count in range(1, 7)]
    assert objectives == sorted(objectives)
    alone = [learn(kernel, None, X, y, prior, [start]).objective for start in starts]
    assert objectives[-1] == max(alone)
    assert max(alone) > min(alone)  # else the starts would show nothing


def test_the_best_start_finds_the_optimum_of_a_fine_grid():
    X, y = data(20, dimension=1)
    prior = flat([1e-2, 5e-2], [1.0, 1.5])
    rng = np.random.default_rng(5)
    found = learn(Stationary("se", 0.3), 1e-2, X, y, prior, [prior.draw(rng) for _ in range(10)], tolerance=1e-12)
    grid = [
        Posterior.given(Stationary("se", lengthscale, scale), 1e-2, X, y).log_evidence
        for lengthscale in np.geomspace(1e-2, 1.0, 60)
        for scale in np.geomspace(5e-2, 1.5, 60)
    ]
    # at least the best of the grid (less the slope 1e-4), and at most what half a cell (4 %) can hide
    assert max(grid) - 1e-4 <= found.objective <= max(grid) + 0.1


def test_starts_outside_the_bounds_are_moved_to_them():
    X, y = data(10)
    prior = flat([0.1, 0.1], [0.5, 0.5])
    found = learn(Stationary("se", 0.3), 1e-2, X, 9 * y, prior, [np.array([50.0, -50.0])])
    # 9 y asks for a scale of 9: the bound, up to the rounding of exp(log(bound))
    assert found.kernel.scale == pytest.approx(0.5, rel=1e-12)
    assert 0.1 - 1e-12 <= found.kernel.lengthscale[0] <= 0.5 + 1e-12


def test_a_strong_prior_holds_the_hyperparameters():
    X, y = data(10)
    centre = np.log([0.2, 0.7])
    prior = Prior(centre - 2, centre + 2, centre, np.full(2, 1e-6))
    found = learn(Stationary("matern32", 0.3), 1e-2, X, y, prior, [centre + 1])
    # the evidence pulls with a slope of order 10 against a curvature of 1e12
    assert found.kernel.parameters == pytest.approx(centre, abs=1e-6)


@pytest.mark.parametrize("where", ["X", "y"])
def test_a_non_finite_evidence_raises_a_named_error(where):
    X, y = data(5)
    (X if where == "X" else y)[2] = np.nan
    with pytest.raises(NumericalFailure, match="evidence of 5 values is not finite anywhere that was tried"):
        learn(Stationary("se", 0.3), 1e-2, X, y, flat([0.1, 0.1], [1.0, 1.0]), [np.log([0.3, 0.3])])


def test_a_prior_without_its_last_parameter_keeps_the_others():
    prior = flat([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]).without_last()
    assert np.allclose(np.exp(prior.low), [0.1, 0.2])
    assert np.allclose(np.exp(prior.high), [1.0, 2.0])
    assert prior.centre.shape == prior.spread.shape == (2,)


def normal_prior(size, spread=1.0):
    return Prior(np.full(size, -7.0), np.full(size, 7.0), np.full(size, -1.0), np.full(size, spread))


@pytest.mark.parametrize("lam", [None, 1e-2])
def test_the_integrated_evidence_equals_a_sum_over_a_grid_of_hyperparameters(lam):
    """Laplace's method is exact for a normal posterior; of 40 values it is nearly one."""
    X, y = data(40, dimension=1)
    prior = normal_prior(2 + (lam is None))
    found = learn(Stationary("se", 0.3), lam, X, y, prior, [prior.centre, np.zeros(len(prior.low))], tolerance=1e-12)
    result = integrated(found, lam, X, y, prior)
    steps = np.linspace(-4.0, 4.0, 21) if lam is None else np.linspace(-4.0, 4.0, 81)
    total = 0.0
    for length in steps:
        for scale in steps:
            lams = [math.log(lam)] if lam is not None else np.linspace(-7.0, -1.0, 31)
            for log_lam in lams:
                at = np.array([length, scale, log_lam])[: len(prior.low)]
                kernel = Stationary("se", math.exp(length), math.exp(scale))
                evidence = Posterior.given(kernel, math.exp(log_lam), X, y).log_evidence
                density = np.exp(-0.5 * ((at + 1.0) ** 2)).prod() / (2 * math.pi) ** (len(at) / 2)
                total += math.exp(evidence) * density * (steps[1] - steps[0]) ** 2 * (0.2 if lam is None else 1.0)
    assert result.objective == pytest.approx(math.log(total), abs=0.25)
    assert result.objective - found.objective == pytest.approx(result.prior - found.prior)
    assert result.prior < found.prior


def test_an_irrelevant_hyperparameter_costs_nothing():
    X, y = data(20, dimension=2)
    X[:, 1] = 0.5  # nobody can learn the second length-scale
    plain, each = Stationary("matern52", 0.3), Stationary("matern52", np.array([0.3, 0.3]))
    results = []
    for kernel in (plain, each):
        prior = normal_prior(len(kernel.parameters))
        found = learn(kernel, 1e-4, X, y, prior, [prior.centre], tolerance=1e-12)
        results.append(integrated(found, 1e-4, X, y, prior).objective)
    assert results[1] == pytest.approx(results[0], abs=1e-3)


def test_the_volume_is_at_most_one_at_a_bound_and_under_a_narrow_prior():
    X, y = data(20, dimension=1)
    prior = Prior(np.array([-7.0, -7.0]), np.array([-3.0, 7.0]), np.array([-4.0, 0.0]), np.array([1e-3, 1e-3]))
    found = learn(Stationary("se", 0.3), 1e-4, X, y, prior, [prior.high], tolerance=1e-12)
    result = integrated(found, 1e-4, X, y, prior)
    assert found.objective - 0.1 <= result.objective <= found.objective
    wide = Prior(prior.low, prior.high, np.zeros(2), np.ones(2))
    at_bound = learn(Stationary("se", 0.3), 1e-2, X, y, wide, [wide.high], tolerance=1e-12)
    assert at_bound.kernel.parameters[0] == pytest.approx(wide.high[0])
    assert np.isfinite(integrated(at_bound, 1e-2, X, y, wide).objective)
