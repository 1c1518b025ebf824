"""The posterior on hard data: repeats, near repeats, and matrices that are all but singular."""

import numpy as np
import pytest
from gp_oracle import relative, with_gradients
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import hilbert

from satisfice.errors import NumericalFailure
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.posterior import JITTERS, Posterior, cholesky, solve_lower

SE = Stationary("se", 0.3)


def data(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, np.sin(6 * X[:, 0]) + X[:, -1], rng.random((20, 2))


def test_extensions_at_the_smallest_lam_repeat_points_without_drift():
    X, y, U = data(60)
    X[30:] = X[:30]
    grown = Posterior.given(SE, 1e-6, X[:1], y[:1])
    for x, value in zip(X[1:], y[1:], strict=True):
        grown = grown.extend(x, value)
    scratch = Posterior.given(SE, 1e-6, X, y)
    assert grown.jitter == scratch.jitter == 0
    # condition number 60 / 1e-6: eight of sixteen digits are left
    assert relative(grown.marginal(U).mean, scratch.marginal(U).mean) < 1e-8
    assert relative(grown.marginal(U).std, scratch.marginal(U).std) < 1e-8


@settings(deadline=None, max_examples=100, derandomize=True)
@given(
    points=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=12),
    y=st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=12),
    lam=st.sampled_from([1e-6, 1e-3, 1.0]),
    form=st.sampled_from(["se", "matern12", "matern32", "matern52"]),
    kind=st.sampled_from([Stationary, Additive]),
)
def test_values_never_raise_the_std(points, y, lam, form, kind):
    X, U = np.array(points), np.random.default_rng(0).random((30, 2))
    posterior = Posterior.given(kind(form, 0.3), lam, X[:0], np.empty(0))
    variance = posterior.marginal(U).std ** 2
    for x, value in zip(X, y, strict=False):
        posterior = posterior.extend(x, value)
        found = posterior.marginal(U)
        assert np.isfinite(found.mean).all()
        # each variance is 1 minus a sum of squares, with a dozen roundings; and the floor is 1e-12
        assert (found.std**2 <= variance + 1e-12).all()
        variance = found.std**2
    assert (posterior.marginal(X).std ** 2 <= lam + 1e-6).all()


@pytest.mark.parametrize("lam", [1e-8, 1e-6, 1e-2])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_a_point_observed_two_hundred_times_is_known_up_to_the_noise(lam, spread):
    y = 0.7 + spread * np.random.default_rng(3).standard_normal(200)
    x = np.array([[0.3, 0.6]])
    scratch = Posterior.given(SE, lam, np.repeat(x, 200, axis=0), y)
    grown = Posterior.given(SE, lam, x, y[:1])
    for value in y[1:]:
        grown = grown.extend(x[0], value)
    for posterior in (scratch, grown):
        found = posterior.marginal(x)
        assert found.std[0] ** 2 <= lam + 1e-6
        # shrunk by 1 / (1 + lam / 200); the rest is eps times the condition number 200 / lam
        assert found.mean[0] == pytest.approx(y.mean() / (1 + lam / 200), abs=200 / lam * 1e-15)


@pytest.mark.parametrize("apart", [1e-12, 1e-15])
@pytest.mark.parametrize("form", ["se", "matern32", "matern52"])
def test_pairs_of_nearly_equal_points_act_like_their_means(apart, form):
    X, y, U = data(50)
    other = y + 0.1 * np.random.default_rng(4).standard_normal(50)
    kernel = Stationary(form, 0.2)
    pairs = Posterior.given(kernel, 1e-3, np.vstack([X, X + apart]), np.append(y, other))
    single = Posterior.given(kernel, 0.5e-3, X, (y + other) / 2)
    # the kernel moves by less than 1e-11, amplified by the condition number 1e5 at most
    assert relative(pairs.marginal(U).mean, single.marginal(U).mean) < 1e-6
    assert relative(pairs.marginal(U).std, single.marginal(U).std) < 1e-6


@pytest.mark.parametrize("n", [6, 8, 10, 12, 13, 14, 20, 50, 100])  # condition numbers from 1e7 beyond 1e20
def test_hilbert_matrices_are_factorised_with_a_reported_jitter(n):
    K = hilbert(n)
    L, jitter = cholesky(K)
    mean_diagonal = np.trace(K) / n
    assert any(jitter == pytest.approx(share * mean_diagonal, rel=1e-12) for share in JITTERS)
    assert (jitter > 0) == (n >= 13)  # from 13 on the condition number is beyond 1e17, more than a double holds
    assert jitter <= 1e-8 * mean_diagonal  # a rounding error of 1e-16 needs no more
    assert np.abs(L @ L.T - K - jitter * np.eye(n)).max() < 1e-15
    assert np.array_equal(L, np.tril(L))


@pytest.mark.parametrize("form", ["se", "matern12", "matern32", "matern52"])
@pytest.mark.parametrize("lengthscale", [1e3, 1e4, 1e5, 1e15])
def test_a_nearly_constant_kernel_without_lam_stays_finite(form, lengthscale):
    rng = np.random.default_rng(1)
    kernel = Stationary(form, lengthscale)
    for n in range(2, 42):
        X, y = rng.random((n, 2)), rng.standard_normal(n)
        grown = Posterior.given(kernel, 0.0, X[:1], y[:1])
        for x, value in zip(X[1:], y[1:], strict=True):
            grown = grown.extend(x, value)
        for posterior in (grown, Posterior.given(kernel, 0.0, X, y)):
            assert 0 <= posterior.jitter <= 1e-4  # k(x, x) = 1
            rebuilt = posterior.L @ posterior.L.T - kernel(X, X) - posterior.jitter * np.eye(n)
            assert np.abs(rebuilt).max() < 1e-13  # n roundings of numbers up to 1: the reported jitter is the true one
            assert posterior.jitter > 0 or lengthscale < 1e15  # a matrix of ones but for rounding
            assert all(np.isfinite(part).all() for part in with_gradients(posterior, rng.random((5, 2))))
            # at the data the mean is y, smoothed by the jitter; a factor of noise gives up to 100 times y
            assert np.abs(posterior.marginal(X).mean).max() < 4 * np.abs(y).max()


def test_a_matrix_of_rank_one_gets_the_first_jitter():
    assert cholesky(np.ones((30, 30)))[1] == 1e-10
    assert cholesky(np.outer(np.arange(1.0, 6.0), np.arange(1.0, 6.0)))[1] == pytest.approx(11e-10, rel=1e-12)


def test_a_healthy_matrix_gets_no_jitter():
    L, jitter = cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    assert jitter == 0
    assert np.array_equal(L, [[2.0, 0.0], [1.0, 2.0]])
    assert np.array_equal(solve_lower(L, np.array([[2.0], [5.0]])), [[1.0], [2.0]])
    assert np.array_equal(solve_lower(L, np.array([[4.0], [2.0]]), transposed=True), [[1.5], [1.0]])


@pytest.mark.parametrize(
    "K",
    [
        np.array([[1.0, 2.0], [2.0, 1.0]]),
        -np.eye(3),
        np.zeros((2, 2)),
        np.full((2, 2), np.nan),
        np.array([[1.0, np.nan], [np.nan, 1.0]]),
        np.array([[1.0, np.inf], [np.inf, 1.0]]),
        np.diag([np.inf, 1.0]),
    ],
    ids=["indefinite", "negative", "zero", "nan", "nan beside", "infinite beside", "infinite"],
)
def test_a_matrix_that_no_jitter_can_repair_raises_a_named_error(K):
    with pytest.raises(NumericalFailure, match=r"cannot be factorised, even with a jitter of 0\.0001"):
        cholesky(K)
