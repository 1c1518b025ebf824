"""Drawn paths: their moments against the posterior, their gradients against differences."""

import math

import numpy as np
import pytest
from gp_oracle import kernels

from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior

ALL = pytest.mark.parametrize("kernel", [k for _, k in kernels(2)], ids=[name for name, _ in kernels(2)])


def data(n, seed=0, dimension=2):
    rng = np.random.default_rng(seed)
    X = rng.random((n, dimension))
    return X, np.sin(6 * X[:, 0]) + X[:, -1], rng.random((5, dimension))


def largest_z(values, mean, covariance):
    """The largest |z| of sample mean and sample covariance of draws (rows) against what they should be.

    The standard error of a covariance is estimated from the products themselves: paths are not normal, since the
    few features make them a mixture.
    """
    draws = len(values)
    z_mean = (values.mean(axis=0) - mean) / (values.std(axis=0, ddof=1) / math.sqrt(draws))
    centred = values - mean
    products = centred[:, :, None] * centred[:, None, :]
    z_covariance = (products.mean(axis=0) - covariance) / (products.std(axis=0, ddof=1) / math.sqrt(draws))
    return max(np.abs(z_mean).max(), np.abs(z_covariance).max())


@ALL
@pytest.mark.parametrize("n", [0, 6])
def test_paths_have_the_mean_and_covariance_of_the_posterior(kernel, n):
    X, y, U = data(n)
    posterior = Posterior.given(kernel, 1e-2, X, y)
    rng = np.random.default_rng(1)
    values = np.array([draw_path(posterior, rng, features=16)(U) for _ in range(2000)])
    # 20 moments in 32 cases: a |z| above 4.5 has a chance of 640 * 7e-6 = 0.4 %, and the seed is fixed
    assert largest_z(values, *posterior.joint(U)) < 4.5


def test_paths_include_the_jitter_of_their_posterior():
    """The ladder's jitter is too small to be seen, so a large one is put in by hand."""
    X, y, U = data(6)
    kernel, jitter = Stationary("se", 0.4), 0.2
    posterior = Posterior(kernel, 0.0, X, y, np.linalg.cholesky(kernel(X, X) + jitter * np.eye(6)), jitter)
    rng = np.random.default_rng(2)
    values = np.array([draw_path(posterior, rng, features=16)(U) for _ in range(2000)])
    assert largest_z(values, *posterior.joint(U)) < 4.5


def test_paths_include_the_noise_of_each_value():
    X, y, U = data(6)
    posterior = Posterior.given(Stationary("se", 0.4), 1e-2, X[:4], y[:4])
    posterior = posterior.extend(X[4], y[4], lam=1.0).extend(X[5], y[5], lam=1e-4)
    rng = np.random.default_rng(3)
    values = np.array([draw_path(posterior, rng, features=16)(np.vstack([U, X[4:]])) for _ in range(2000)])
    assert largest_z(values, *posterior.joint(np.vstack([U, X[4:]]))) < 4.5


def test_the_statistic_detects_a_wrong_posterior():
    """The power of the test above: a std that is 10 % too small or a mean that is off by a tenth of it."""
    X, y, U = data(6)
    posterior = Posterior.given(Stationary("se", 0.4), 1e-2, X, y)
    rng = np.random.default_rng(1)
    values = np.array([draw_path(posterior, rng, features=16)(U) for _ in range(2000)])
    mean, covariance = posterior.joint(U)
    assert largest_z(values, mean, 0.81 * covariance) > 4.5
    assert largest_z(values, mean + 0.1 * np.sqrt(np.diagonal(covariance)), covariance) > 4.5


@pytest.mark.parametrize("kind", [Stationary, Additive])
@pytest.mark.parametrize("form", ["se", "matern32", "matern52"])
@pytest.mark.parametrize("n", [0, 8])
def test_the_gradient_of_a_path_equals_central_differences(kind, form, n):
    X, y, U = data(n)
    path = draw_path(Posterior.given(kind(form, 0.5), 1e-3, X, y), np.random.default_rng(3), features=64)
    value, gradient = path.with_gradient(U)
    assert np.allclose(value, path(U), rtol=0, atol=1e-12)
    step = 1e-5
    for j in range(2):
        shift = step * np.eye(2)[j]
        difference = (path(U + shift) - path(U - shift)) / (2 * step)
        # truncation step^2 w^3 / 6 with frequencies w up to about 100; rounding 1e-13 (weights of 100) / step
        assert np.abs(gradient[:, j] - difference).max() < 1e-4 * max(1.0, np.abs(gradient).max())


@pytest.mark.parametrize("kind", [Stationary, Additive])
def test_the_gradient_of_a_rough_path_equals_central_differences(kind):
    """Matérn 1/2 has Cauchy frequencies, of which some are huge: the step follows the largest."""
    X, y, U = data(8)
    path = draw_path(Posterior.given(kind("matern12", 0.5), 1e-3, X, y), np.random.default_rng(3), features=16)
    _, gradient = path.with_gradient(U)
    largest = np.abs(path.frequencies).max()
    step = 1e-4 / largest
    for j in range(2):
        shift = step * np.eye(2)[j]
        difference = (path(U + shift) - path(U - shift)) / (2 * step)
        # relative truncation (step w)^2 = 1e-8; rounding 1e-13 / step
        assert np.abs(gradient[:, j] - difference).max() < 1e-6 * np.abs(gradient).max() + 1e-13 / step


@ALL
def test_without_noise_a_path_interpolates_the_values(kernel):
    X, y, _ = data(8)
    path = draw_path(Posterior.given(kernel, 1e-8, X, y), np.random.default_rng(4))
    # the noise of a draw has the standard deviation 1e-4; 8 draws stay below 5 of them
    assert np.abs(path(X) - y).max() < 5e-4


def test_a_path_is_a_function_and_two_paths_differ():
    X, y, U = data(5)
    posterior = Posterior.given(Stationary("matern52", 0.3), 1e-4, X, y)
    one, same, other = (draw_path(posterior, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(one(U), one(U))
    assert np.array_equal(one(U), same(U))
    assert np.allclose(one(U), [one(u[None])[0] for u in U], rtol=0, atol=1e-12)  # point by point as together
    assert np.abs(one(U) - other(U)).max() > 1e-3
    assert not np.array_equal(one.frequencies, other.frequencies)
