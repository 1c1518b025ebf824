"""The posterior on a finite set against the dense posterior."""

import numpy as np
import pytest
from gp_oracle import dense_posterior, kernels, relative, with_gradients

from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior

ALL = pytest.mark.parametrize("kernel", [k for _, k in kernels(2)], ids=[name for name, _ in kernels(2)])


def lattice(side=12):
    axis = np.linspace(0, 1, side)
    return np.stack([a.ravel() for a in np.meshgrid(axis, axis, indexing="ij")], axis=1)


def asked(points, n, seed=0):
    """n points of the grid, some of them replicated, and values."""
    rng = np.random.default_rng(seed)
    X = points[rng.integers(len(points), size=n)]
    X[-5:] = X[0]
    return X, np.sin(6 * X[:, 0]) + 0.1 * rng.standard_normal(n)


def grow(grid, X, y):
    for x, value in zip(X, y, strict=True):
        grid = grid.extend(x, value)
    return grid


@ALL
def test_extending_one_by_one_equals_the_explicit_inverse(kernel):
    points = lattice()
    X, y = asked(points, 40)
    grid = GridPosterior.on(points, kernel, 1e-2, points[:0], np.empty(0))
    assert np.allclose(grid.marginal(points).std, 0.8, rtol=1e-15)
    assert not grid.marginal(points).mean.any()
    grid = grow(grid, X, y)
    mean, covariance, evidence = dense_posterior(kernel, 1e-2, X, y, points[:50])
    found = grid.marginal(points)
    # condition number 40 * 0.64 / 1e-2 = 2560
    assert relative(found.mean[:50], mean) < 1e-8
    assert relative(found.std[:50], np.sqrt(np.diagonal(covariance))) < 1e-8
    assert grid.log_evidence == pytest.approx(evidence, rel=1e-8)


@ALL
def test_at_every_step_the_grid_equals_the_posterior_from_scratch(kernel):
    points = lattice()
    X, y = asked(points, 30)
    grid = GridPosterior.on(points, kernel, 1e-4, X[:3], y[:3])
    for n in range(4, 31):
        grid = grid.extend(X[n - 1], y[n - 1])
        expected = Posterior.given(kernel, 1e-4, X[:n], y[:n]).marginal(points)
        # condition number 30 * 0.64 / 1e-4 = 2e5
        assert relative(grid.marginal(points).mean, expected.mean) < 1e-8
        assert relative(grid.marginal(points).std, expected.std) < 1e-8
    assert isinstance(grid, GridPosterior)


def test_other_values_at_the_same_points_change_the_mean_only():
    points = lattice()
    X, y = asked(points, 30)
    kernel = Stationary("matern52", 0.3)
    grid = grow(GridPosterior.on(points, kernel, 1e-3, points[:0], np.empty(0)), X, y)
    before = grid.marginal(points)  # fills what is cached
    other = grid.with_values(3 * y**2 - 1)
    expected = Posterior.given(kernel, 1e-3, X, 3 * y**2 - 1).marginal(points)
    assert relative(other.marginal(points).mean, expected.mean) < 1e-8
    assert np.array_equal(other.marginal(points).std, before.std)
    assert np.array_equal(grid.marginal(points).mean, before.mean)
    grown = other.extend(points[7], 0.5)
    expected = Posterior.given(kernel, 1e-3, np.vstack([X, points[7]]), np.append(3 * y**2 - 1, 0.5)).marginal(points)
    assert relative(grown.marginal(points).mean, expected.mean) < 1e-8
    assert relative(grown.marginal(points).std, expected.std) < 1e-8


def test_a_value_with_its_own_noise_updates_the_grid():
    points = lattice()
    X, y = asked(points, 15)
    kernel = Stationary("matern32", 0.4)
    grid = GridPosterior.on(points, kernel, 1e-2, X[:14], y[:14]).extend(X[14], y[14], lam=0.5)
    mean, covariance, _ = dense_posterior(kernel, np.append(np.full(14, 1e-2), 0.5), X, y, points)
    assert relative(grid.marginal(points).mean, mean) < 1e-8
    assert relative(grid.marginal(points).std, np.sqrt(np.diagonal(covariance))) < 1e-8


def test_points_off_the_grid_and_gradients_are_those_of_the_plain_posterior():
    points, U = lattice(), np.random.default_rng(1).random((6, 2))
    X, y = asked(points, 20)
    kernel = Stationary("se", 0.4)
    grid = grow(GridPosterior.on(points, kernel, 1e-2, X[:1], y[:1]), X[1:], y[1:])
    plain = Posterior.given(kernel, 1e-2, X, y)
    backwards = points[::-1].copy()  # as many points as the grid has
    assert relative(grid.marginal(backwards).mean, plain.marginal(points).mean[::-1]) < 1e-8
    assert relative(grid.marginal(U).mean, plain.marginal(U).mean) < 1e-8
    for actual, expected in zip(with_gradients(grid, U), with_gradients(plain, U), strict=True):
        assert relative(actual, expected) < 1e-8
    assert relative(grid.covariance(U, points), plain.covariance(U, points)) < 1e-8


def test_a_grid_that_needs_jitter_stays_right_after_a_new_factorisation():
    points = lattice(5)
    kernel = Stationary("se", 50.0)
    X, y = points, np.sin(points[:, 0])
    grid = GridPosterior.on(points, kernel, 0.0, X[:1], y[:1])
    jitters = []
    for x, value in zip(X[1:], y[1:], strict=True):
        grid = grid.extend(x, value)
        jitters.append(grid.jitter)
        # V = L^-1 k(X, D) is what the class keeps; L V must give the kernel back, up to rounding
        assert np.abs(grid.L @ grid.V - kernel(grid.X, points)).max() < 1e-14
        assert np.abs(grid.reduction - (grid.V**2).sum(axis=0)).max() < 1e-14
        assert np.isfinite(grid.marginal(points)).all()
    assert jitters[0] == 0
    assert jitters[-1] > 0
