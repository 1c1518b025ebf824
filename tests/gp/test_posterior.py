"""The posterior against dense algebra, 50 digits and scikit-learn."""

import math

import mpmath
import numpy as np
import pytest
from gp_oracle import dense_posterior, fifty_digit_posterior, gram, kernels, relative, with_gradients
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import SMALL, Posterior

ALL = pytest.mark.parametrize("kernel", [k for _, k in kernels(3)], ids=[name for name, _ in kernels(3)])
SE = Stationary("se", 0.3)


def data(n, seed=0, dimension=3):
    rng = np.random.default_rng(seed)
    X = rng.random((n, dimension))
    return X, np.sin(6 * X[:, 0]) + X[:, -1] + 0.1 * rng.standard_normal(n), rng.random((20, dimension))


def assert_same(actual, expected, U, tolerance):
    """Mean, std, covariance and evidence agree, each relative to its largest entry."""
    assert relative(actual.marginal(U).mean, expected.marginal(U).mean) < tolerance
    assert relative(actual.marginal(U).std, expected.marginal(U).std) < tolerance
    assert relative(actual.covariance(U, U), expected.covariance(U, U)) < tolerance
    assert actual.log_evidence == pytest.approx(expected.log_evidence, rel=tolerance)


@ALL
def test_the_posterior_equals_the_explicit_inverse(kernel):
    X, y, U = data(100)
    posterior = Posterior.given(kernel, 1e-2, X, y)
    mean, covariance, evidence = dense_posterior(kernel, 1e-2, X, y, U)
    # the condition number is at most n s^2 / lam = 6400, so 1e-8 leaves four digits of room
    assert relative(posterior.marginal(U).mean, mean) < 1e-8
    assert relative(posterior.marginal(U).std, np.sqrt(np.diagonal(covariance))) < 1e-8
    assert relative(posterior.joint(U)[0], mean) < 1e-8
    assert relative(posterior.joint(U)[1], covariance) < 1e-8
    assert relative(posterior.covariance(U[:3], U[3:]), covariance[:3, 3:]) < 1e-8
    assert relative(posterior.covariance(U[:9], U[9:18]), covariance[:9, 9:18]) < 1e-8
    assert posterior.log_evidence == pytest.approx(evidence, rel=1e-8)
    assert posterior.jitter == 0


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, math.inf])
@pytest.mark.parametrize("lengthscale", [[0.4], [0.2, 0.5, 1.1]])
def test_the_posterior_equals_that_of_scikit_learn(nu, lengthscale):
    X, y, U = data(80)
    shape = np.array(lengthscale)
    other = GaussianProcessRegressor(
        ConstantKernel(1.3**2) * (RBF(shape) if math.isinf(nu) else Matern(shape, nu=nu)),
        alpha=1e-3,
        optimizer=None,
    ).fit(X, y)
    form = "se" if math.isinf(nu) else f"matern{round(2 * nu)}2"
    posterior = Posterior.given(Stationary(form, shape, 1.3), 1e-3, X, y)
    mean, covariance = other.predict(U, return_cov=True)
    _, std = other.predict(U, return_std=True)
    # condition number below 80 * 1.69 / 1e-3 = 1.4e5, on both sides
    assert relative(posterior.marginal(U).mean, mean) < 1e-8
    assert relative(posterior.marginal(U).std, std) < 1e-8
    assert relative(posterior.covariance(U, U), covariance) < 1e-8
    assert posterior.log_evidence == pytest.approx(other.log_marginal_likelihood(), rel=1e-8)


@ALL
def test_the_gradients_equal_fifty_digit_derivatives(kernel):
    X, y, U = data(6)
    found = with_gradients(Posterior.given(kernel, 1e-3, X, y), U[:2])
    with mpmath.workdps(50):
        mean, std = fifty_digit_posterior(kernel, 1e-3, X, y)
        for m, u in enumerate(U[:2]):
            units = [tuple(int(i == j) for i in range(3)) for j in range(3)]
            mean_gradient = [float(mpmath.diff(mean, tuple(u), unit)) for unit in units]
            std_gradient = [float(mpmath.diff(std, tuple(u), unit)) for unit in units]
            # condition number below 6 * 0.64 / 1e-3 = 4e3
            assert float(mean(*u)) == pytest.approx(found.mean[m], rel=1e-10)
            assert float(std(*u)) == pytest.approx(found.std[m], rel=1e-10)
            assert relative(found.mean_gradient[m], mean_gradient) < 1e-10
            assert relative(found.std_gradient[m], std_gradient) < 1e-10


@ALL
def test_the_gradients_equal_central_differences_among_many_values(kernel):
    X, y, U = data(60)
    posterior, step = Posterior.given(kernel, 1e-2, X, y), 1e-5
    found = with_gradients(posterior, U)
    assert relative(found.mean, posterior.marginal(U).mean) < 1e-12
    assert relative(found.std, posterior.marginal(U).std) < 1e-12
    for j in range(3):
        above, below = (posterior.marginal(U + sign * step * np.eye(3)[j]) for sign in (1, -1))
        # truncation step^2 times a third derivative below 1e4; rounding 1e-14 / step
        assert np.abs(found.mean_gradient[:, j] - (above.mean - below.mean) / (2 * step)).max() < 1e-6
        assert np.abs(found.std_gradient[:, j] - (above.std - below.std) / (2 * step)).max() < 1e-6


@ALL
@pytest.mark.parametrize("n", [SMALL, SMALL + 1])  # beyond SMALL another way is taken
def test_the_gradients_of_a_large_posterior_equal_the_explicit_inverse(kernel, n):
    X, y, U = data(n)
    found = with_gradients(Posterior.given(kernel, 1e-2, X, y), U)
    inverse, cross = np.linalg.inv(kernel(X, X) + 1e-2 * np.eye(n)), kernel.cross(U, X)
    std = np.sqrt(0.64 - np.einsum("mi,ij,mj->m", cross.value, inverse, cross.value))
    # condition number 250 * 0.64 / 1e-2 = 1.6e4, and a variance of 1e-3 is a difference of numbers of size 1
    assert relative(found.std, std) < 1e-8
    assert relative(found.mean_gradient, cross.vjp(np.tile(inverse @ y, (20, 1)))) < 1e-8
    assert relative(found.std_gradient, -cross.vjp(cross.value @ inverse) / std[:, None]) < 1e-8


def test_the_gradient_of_the_std_is_zero_at_its_floor():
    posterior = Posterior.given(SE, 1e-13, np.array([[0.5]]), np.array([1.0]))
    found = with_gradients(posterior, np.array([[0.5], [0.5 + 1e-7], [0.6]]))
    # the true std at 1e-7 is sqrt(lam + (1e-7 / 0.3)^2) = 5e-7, below the floor of 1e-6
    assert found.std[:2] == pytest.approx([1e-6, 1e-6], rel=1e-12)
    assert found.std_gradient[:2].tolist() == [[0.0], [0.0]]
    assert found.std_gradient[2, 0] > 1


@ALL
def test_vjp_is_the_chain_rule(kernel):
    X, y, U = data(30)
    found = with_gradients(Posterior.given(kernel, 1e-2, X, y), U)
    by_mean, by_std = np.random.default_rng(1).standard_normal((2, 20))
    expected = by_mean[:, None] * found.mean_gradient + by_std[:, None] * found.std_gradient
    assert relative(Posterior.given(kernel, 1e-2, X, y).marginal_with_vjp(U).vjp(by_mean, by_std), expected) < 1e-10


@ALL
def test_the_diagonal_of_the_joint_is_the_marginal(kernel):
    X, y, U = data(30)
    posterior = Posterior.given(kernel, 1e-2, X, y)
    mean, covariance = posterior.joint(U)
    assert np.array_equal(mean, posterior.marginal(U).mean)
    assert np.allclose(np.diagonal(covariance), posterior.marginal(U).std ** 2, rtol=0, atol=1e-14)
    assert np.allclose(posterior.covariance(U, U.copy()), covariance, rtol=0, atol=1e-14)


@ALL
def test_without_values_the_posterior_is_the_prior(kernel):
    X, y, U = data(0)
    empty = Posterior.given(kernel, 1e-3, X, y)
    found = with_gradients(empty, U)
    assert np.array_equal(found.mean, np.zeros(20))
    assert np.allclose(found.std, 0.8, rtol=1e-15)
    assert not found.mean_gradient.any()
    assert not found.std_gradient.any()
    assert np.allclose(empty.joint(U)[1], gram(kernel, U, U, math), rtol=0, atol=1e-15)
    assert empty.log_evidence == 0
    assert_same(empty.extend(U[0], 2.0), Posterior.given(kernel, 1e-3, U[:1], np.array([2.0])), U, 1e-15)


@ALL
@pytest.mark.parametrize("lam", [1e-2, 1e-4])
def test_many_extensions_equal_a_fit_from_scratch(kernel, lam):
    X, y, U = data(80)
    X[40:50] = X[:10]  # repeats
    X[50:60] = X[10:20] + 1e-12  # and nearly repeats
    grown = Posterior.given(kernel, lam, X[:5], y[:5])
    for x, value in zip(X[5:], y[5:], strict=True):
        grown = grown.extend(x, value)
    # backward stable updates: condition number (below 80 * 0.64 / 1e-4 = 5e5) times eps is 1e-10
    assert_same(grown, Posterior.given(kernel, lam, X, y), U, 1e-8)
    assert_same(grown.with_values(y**2), Posterior.given(kernel, lam, X, y**2), U, 1e-8)


@ALL
@pytest.mark.parametrize("first", [0, 12])
def test_a_value_may_have_its_own_noise(kernel, first):
    X, y, U = data(20)
    lams = np.where(np.arange(20) < first, 1e-2, np.linspace(1e-3, 1.0, 20))
    grown = Posterior.given(kernel, 1e-2, X[:first], y[:first])
    for x, value, lam in zip(X[first:], y[first:], lams[first:], strict=True):
        grown = grown.extend(x, value, lam=lam)
    grown = grown.extend(U[0], 0.3)  # and the next one has the usual noise again
    lams = np.append(lams, 1e-2)
    mean, covariance, evidence = dense_posterior(kernel, lams, np.vstack([X, U[:1]]), np.append(y, 0.3), U)
    # condition number below 21 * 0.64 / 1e-3 = 1.4e4
    assert relative(grown.marginal(U).mean, mean) < 1e-8
    assert relative(grown.covariance(U, U), covariance) < 1e-8
    assert grown.log_evidence == pytest.approx(evidence, rel=1e-8)
    assert np.allclose(grown.noise_variances, lams, rtol=0, atol=1e-14)
    assert grown.lam == 1e-2


def test_the_noise_of_each_value_survives_a_new_factorisation():
    X, y, _ = data(8)
    grown = Posterior.given(SE, 0.0, X[:1], y[:1])
    for x, value, lam in zip(X[1:], y[1:], np.linspace(0.1, 0.7, 7), strict=True):
        grown = grown.extend(x, value, lam=lam)
    assert grown.jitter == 0
    again = grown.extend(X[0], 1.0)  # the exact value once more: singular, so the matrix gets a jitter
    assert again.jitter > 0
    expected = np.append(np.append(0.0, np.linspace(0.1, 0.7, 7)), 0.0)
    assert np.allclose(again.noise_variances - again.jitter, expected, rtol=0, atol=1e-14)
