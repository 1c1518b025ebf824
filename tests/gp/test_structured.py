"""Directional and WithNugget against sums over pairs, central differences and many draws of their random features."""

import math

import numpy as np
import pytest
from gp_oracle import FORM_NAMES, correlation
from numpy.random import default_rng

from satisfice.gp.evidence import log_evidence_with_gradient
from satisfice.gp.kernels import Directional, Stationary, WithNugget
from satisfice.gp.posterior import Posterior

W = np.array([1.5, -2.0, 0.3])
RIDGES = [Directional(form, 0.8, W, 1.3) for form in FORM_NAMES]
RIPPLED = [WithNugget(Stationary(form, np.array([0.6]), 0.7), 0.4) for form in FORM_NAMES]
ARD = WithNugget(Stationary("se", np.array([0.3, 0.6, 0.9]), 0.7), 0.4)
ALL = pytest.mark.parametrize("kernel", [*RIDGES, *RIPPLED, ARD], ids=lambda k: f"{type(k).__name__}-{k.form}")
SMOOTH = [k for k in [*RIDGES, *RIPPLED, ARD] if k.form != "matern12"]


def points(n, seed=0):
    return default_rng(seed).random((n, 3))


def pair(kernel, x, z):
    """k(x, z) as the docstrings print it."""
    steps = [float(a - b) for a, b in zip(x, z, strict=True)]
    if isinstance(kernel, Directional):
        across = sum(w * step for w, step in zip(kernel.direction, steps, strict=True))
        r = math.sqrt(sum(step**2 for step in steps) / kernel.lengthscale**2 + across**2)
        return kernel.scale**2 * correlation(kernel.form, r, math)
    lengths = np.broadcast_to(kernel.trend.lengthscale, 3)
    r = math.sqrt(sum((step / length) ** 2 for step, length in zip(steps, lengths, strict=True)))
    return kernel.trend.scale**2 * (correlation(kernel.form, r, math) + (kernel.ripple if r == 0 else 0))


@ALL
def test_the_matrix_is_the_formula_pair_by_pair(kernel):
    A, B = points(6), points(5, seed=1)
    B[2] = A[3]
    expected = np.array([[pair(kernel, a, b) for b in B] for a in A])
    assert kernel(A, B) == pytest.approx(expected, rel=1e-12)
    assert kernel.cross(A, B).value == pytest.approx(expected, rel=1e-12)
    assert np.diagonal(kernel.gram(A).value) == pytest.approx(np.full(6, kernel.variance), rel=1e-12)


@pytest.mark.parametrize("kernel", SMOOTH, ids=lambda k: f"{type(k).__name__}-{k.form}")
def test_vjp_equals_central_differences(kernel):
    U, X, weights, step = points(4), points(7, seed=1), default_rng(2).standard_normal((4, 7)), 1e-6
    pulled = kernel.cross(U, X).vjp(weights)
    for j in range(3):
        shift = step * np.eye(3)[j]
        difference = (weights * (kernel(U + shift, X) - kernel(U - shift, X))).sum(axis=1) / (2 * step)
        assert pulled[:, j] == pytest.approx(difference, rel=1e-6, abs=1e-7)


@ALL
def test_the_gradient_of_the_evidence_equals_central_differences(kernel):
    """The values are at fifteen points, two of them asked twice."""
    X = np.vstack([points(15), points(2)])
    y, lam, step = default_rng(3).standard_normal(17), 0.05, 1e-5
    _, gradient = log_evidence_with_gradient(kernel, lam, X, y)
    parameters = kernel.parameters
    for j in range(len(parameters)):
        shift = step * np.eye(len(parameters))[j]
        up, down = (
            log_evidence_with_gradient(kernel.with_parameters(parameters + s), lam, X, y)[0] for s in (shift, -shift)
        )
        assert gradient[j] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


@ALL
def test_parameters_round_trip_and_have_names(kernel):
    again = kernel.with_parameters(kernel.parameters)
    assert again.parameters == pytest.approx(kernel.parameters)
    assert again(points(3), points(2, 1)) == pytest.approx(kernel(points(3), points(2, 1)))
    assert len(kernel.names) == len(kernel.parameters)
    assert (kernel.names[-1], kernel.names[0][:12]) == ("scale", "length-scale")


@ALL
def test_the_covariance_of_features_is_the_kernel(kernel):
    """E[sum_i a_i^2 cos(w_i'(x - x'))] over 4,000 sets of 16; the bound is 4.5 standard errors of that mean."""
    A, rng = points(4), default_rng(5)
    differences = (A[:, None] - A).reshape(-1, 3)
    sums = []
    for _ in range(4000):
        frequencies, amplitudes = kernel.features(16, 3, rng)
        sums.append(np.cos(differences @ frequencies.T) @ amplitudes**2)
    error = np.std(sums, axis=0) / np.sqrt(len(sums)) + 1e-12
    assert (np.abs(np.mean(sums, axis=0) - kernel(A, A).ravel()) < 4.5 * error).all()


def test_the_guess_is_the_slope_of_a_plane():
    X = points(200)
    kernel = Directional("se", 1.0, np.zeros(3)).towards(X, X @ np.array([3.0, -1.0, 0.0]) + 7)
    assert kernel.direction == pytest.approx([3.0, -1.0, 0.0], abs=0.05)


def test_a_nugget_is_known_only_at_its_point():
    """At a point with a value the std is 0; next to it that of the ripple is back."""
    kernel = WithNugget(Stationary("se", np.array([0.5])), 0.25)
    X = points(30)
    posterior = Posterior.given(kernel, 1e-8, X, np.sin(X.sum(axis=1)))
    assert posterior.marginal(X[:1]).std[0] < 1e-3
    assert posterior.marginal(X[:1] + 1e-9).std[0] > 0.5
