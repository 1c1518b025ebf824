"""The kernels against double loops, 50-digit derivatives and the averages of their random features."""

import math

import mpmath
import numpy as np
import pytest
from gp_oracle import FORM_NAMES, correlation, gram, kernels, pair, relative

from satisfice.errors import BadInput
from satisfice.gp.kernels import CORRELATIONS, Additive, Stationary

ALL = pytest.mark.parametrize("kernel", [k for _, k in kernels(3)], ids=[name for name, _ in kernels(3)])
NU = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


def points(n, seed=0, dimension=3):
    return np.random.default_rng(seed).random((n, dimension))


@ALL
def test_the_matrix_equals_a_double_loop(kernel):
    A, B = points(7, 1), points(5, 2)
    B[0] = A[0]
    # the entries are below 1 and take about ten roundings each
    assert np.abs(kernel(A, B) - gram(kernel, A, B, math)).max() < 1e-12
    assert np.abs(kernel.cross(A, B).value - kernel(A, B)).max() < 1e-15
    assert np.abs(kernel.gram(A).value - kernel(A, A)).max() < 1e-15


@pytest.mark.parametrize("form", NU)
@pytest.mark.parametrize("r", [1e-6, 0.3, 1.0, 4.0, 30.0])
def test_a_matern_form_is_the_bessel_function_of_its_smoothness(form, r):
    with mpmath.workdps(50):
        nu = mpmath.mpf(NU[form])
        a = mpmath.sqrt(2 * nu) * mpmath.mpf(r)
        expected = float(2 ** (1 - nu) / mpmath.gamma(nu) * a**nu * mpmath.besselk(nu, a))
    # the exponential of a = 67 costs 67 roundings
    assert CORRELATIONS[form].rho(np.array([r * r]))[0] == pytest.approx(expected, rel=1e-13)


@ALL
def test_vjp_equals_fifty_digit_derivatives(kernel):
    U, X = points(2, 3), points(4, 4)
    weights = np.random.default_rng(5).standard_normal((2, 4))
    pulled = kernel.cross(U, X).vjp(weights)
    with mpmath.workdps(50):
        lengthscales, scale = [mpmath.mpf(float(v)) for v in kernel.lengthscale], mpmath.mpf(kernel.scale)

        def weighted(m, j, t):
            u = [*U[m, :j], mpmath.mpf(t), *U[m, j + 1 :]]
            return sum(
                w * pair(type(kernel), kernel.form, lengthscales, scale, u, x, mpmath)
                for w, x in zip(weights[m], X, strict=True)
            )

        expected = [
            [float(mpmath.diff(lambda t, m=m, j=j: weighted(m, j, t), U[m, j])) for j in range(3)] for m in range(2)
        ]
    # a dozen roundings, grown by the cancellation in u - x (about ten times)
    assert relative(pulled, expected) < 1e-13


@ALL
def test_vjp_equals_central_differences(kernel):
    U, X, step = points(6, 3), points(9, 4), 1e-5
    weights = np.random.default_rng(5).standard_normal((6, 9))
    pulled = kernel.cross(U, X).vjp(weights)
    for j in range(3):
        shift = step * np.eye(3)[j]
        difference = ((kernel(U + shift, X) - kernel(U - shift, X)) * weights).sum(axis=1) / (2 * step)
        # truncation step^2 k''' (third derivatives stay below 1e2) and rounding 1e-16 / step: 1e-8 and 1e-11
        assert np.abs(pulled[:, j] - difference).max() < 1e-6


@ALL
def test_one_row_of_weights_serves_every_point(kernel):
    U, X, weights = points(6, 3), points(9, 4), np.random.default_rng(5).standard_normal(9)
    cross = kernel.cross(U, X)
    assert relative(cross.vjp(weights), cross.vjp(np.tile(weights, (6, 1)))) < 1e-14


@ALL
def test_the_derivative_of_a_point_with_itself_is_zero(kernel):
    X = points(4)
    pulled = kernel.cross(X, X).vjp(np.eye(4))
    # the slope of Matérn 1/2 is 1e8 there and meets a difference of rounding size
    assert np.abs(pulled).max() < (1e-6 if kernel.form == "matern12" else 1e-13)


def parameter_derivatives(kernel, X, weights):
    """sum_ij weights_ij dk(x_i, x_j)/dparameter with 50 digits."""
    with mpmath.workdps(50):
        start = [mpmath.log(mpmath.mpf(float(v))) for v in (*kernel.lengthscale, kernel.scale)]
        X = [[mpmath.mpf(float(v)) for v in row] for row in X]

        def weighted(index, t):
            values = [mpmath.exp(t if index == i else p) for i, p in enumerate(start)]
            return sum(
                mpmath.mpf(float(weights[i, j]))
                * pair(type(kernel), kernel.form, values[:-1], values[-1], X[i], X[j], mpmath)
                for i in range(len(X))
                for j in range(len(X))
            )

        return [float(mpmath.diff(lambda t, i=i: weighted(i, t), start[i])) for i in range(len(start))]


@ALL
def test_vjp_parameters_equals_fifty_digit_derivatives(kernel):
    X = points(5, 6)
    weights = np.random.default_rng(7).standard_normal((5, 5))
    weights += weights.T
    # 25 terms of a dozen roundings each; in the ARD form a difference of two sums
    assert relative(kernel.gram(X).vjp_parameters(weights), parameter_derivatives(kernel, X, weights)) < 1e-13


@ALL
@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_vjp_parameters_survives_repeated_points_with_large_weights(kernel, apart):
    X = points(4, 6)
    X[3] = X[0] + apart
    weights = np.random.default_rng(7).standard_normal((4, 4))
    weights += weights.T
    weights[np.ix_([0, 3], [0, 3])] += 1e6 * np.array([[1, -1], [-1, 1]])  # what the evidence has at lam = 1e-6
    expected = np.array(parameter_derivatives(kernel, X, weights))
    # rounding of the weights 1e6; or, since Matérn 1/2 treats r < 1e-8 as its kink, the slope of such a pair
    tolerance = 1e-8 if kernel.form == "matern12" and apart else 1e-15
    assert np.abs(kernel.gram(X).vjp_parameters(weights) - expected).max() < tolerance * 1e6


@ALL
def test_a_gram_matrix_is_symmetric_and_positive_semidefinite(kernel):
    X = points(60, 8)
    X[50:] = X[:10]
    K = kernel(X, X)
    assert np.array_equal(K, K.T)
    assert np.allclose(np.diagonal(K), kernel.variance, rtol=1e-15)
    # an eigenvalue is off by at most the norm of the rounding errors, n eps s^2
    assert np.linalg.eigvalsh(K).min() > -60 * np.finfo(float).eps * kernel.variance


@ALL
def test_random_features_have_the_kernel_as_their_mean(kernel):
    rng, draws, X = np.random.default_rng(9), 2000, points(6, 10)
    differences = (X[:, None] - X)[np.triu_indices(6, 1)]
    sums = np.empty((draws, len(differences)))
    for row in sums:
        frequencies, amplitudes = kernel.features(50, 3, rng)
        assert frequencies.shape == (50, 3)
        assert amplitudes @ amplitudes == pytest.approx(kernel.variance, rel=1e-14)  # k(x, x) in every draw
        row[:] = amplitudes**2 @ np.cos(frequencies @ differences.T)
    expected = kernel(X, X)[np.triu_indices(6, 1)]
    z = (sums.mean(axis=0) - expected) / (sums.std(axis=0, ddof=1) / math.sqrt(draws))
    # 15 averages in 16 kernels: 240 draws of |z| > 4.5 have a chance of 0.2 %, and the seed is fixed
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("kind", [Stationary, Additive])
def test_parameters_are_logs_and_round_trip(kind):
    kernel = kind("matern32", np.array([0.2, 0.5]), 1.5)
    assert np.allclose(np.exp(kernel.parameters), [0.2, 0.5, 1.5], rtol=1e-15)
    other = kernel.with_parameters(np.log([0.3, 0.7, 2.0]))
    assert isinstance(other, kind)
    assert other.form == "matern32"
    assert np.allclose([*other.lengthscale, other.scale], [0.3, 0.7, 2.0], rtol=1e-15)


def test_a_kernel_copies_its_lengthscales():
    lengthscales = np.array([0.2, 0.5])
    kernel = Stationary("se", lengthscales)
    lengthscales[0] = 9.0
    assert kernel.lengthscale[0] == 0.2
    with pytest.raises(ValueError, match="read-only"):
        kernel.lengthscale[0] = 9.0


@pytest.mark.parametrize("kind", [Stationary, Additive])
@pytest.mark.parametrize(
    ("form", "lengthscale", "scale", "message"),
    [
        ("rbf", 1.0, 1.0, r"`form` .* one of se, matern12, matern32, matern52; got 'rbf'"),
        *[
            ("se", bad, 1.0, r"`lengthscale` .* positive numbers; got")
            for bad in (0.0, -1.0, np.nan, np.inf, [[1.0]], [1.0, 0.0])
        ],
        *[("se", 1.0, bad, r"`scale` .* a positive number; got") for bad in (0.0, -1.0, np.nan, np.inf)],
    ],
)
def test_impossible_hyperparameters_are_refused(kind, form, lengthscale, scale, message):
    with pytest.raises(BadInput, match=message):
        kind(form, lengthscale, scale)


@pytest.mark.parametrize("form", FORM_NAMES)
def test_one_dimension_makes_both_kinds_equal(form):
    A, B, weights = points(5, 1, 1), points(4, 2, 1), np.random.default_rng(3).standard_normal((5, 4))
    one, other = Stationary(form, 0.3, 0.7), Additive(form, 0.3, 0.7)
    assert np.allclose(one(A, B), other(A, B), rtol=1e-14)
    assert np.allclose(one.cross(A, B).vjp(weights), other.cross(A, B).vjp(weights), rtol=1e-11)


def test_the_oracle_refuses_an_unknown_form():
    with pytest.raises(NotImplementedError, match="'matern72' has no formula"):
        correlation("matern72", 1.0, math)
