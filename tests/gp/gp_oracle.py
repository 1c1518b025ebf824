"""The Gaussian process pair by pair in plain arithmetic: `math` for doubles, `mpmath` for 50 digits."""

import math
from typing import NamedTuple

import mpmath
import numpy as np

from satisfice.gp.kernels import CORRELATIONS, Additive, Stationary

FORM_NAMES = tuple(CORRELATIONS)


def correlation(form, r, lib):
    """rho(r), as Rasmussen and Williams (2006) print it in their section 4.2."""
    if form == "se":
        return lib.exp(-r * r / 2)
    if form == "matern12":
        return lib.exp(-r)
    if form == "matern32":
        return (1 + lib.sqrt(3) * r) * lib.exp(-lib.sqrt(3) * r)
    if form == "matern52":
        return (1 + lib.sqrt(5) * r + 5 * r * r / 3) * lib.exp(-lib.sqrt(5) * r)
    raise NotImplementedError(f"the form {form!r} has no formula here yet; write it, independently of the code")


def pair(kind, form, lengthscales, scale, x, z, lib):
    """k(x, z) for two points; `lengthscales` has one entry, or one a coordinate."""
    ls = [lengthscales[j if len(lengthscales) > 1 else 0] for j in range(len(x))]
    steps = [abs(a - b) / length for a, b, length in zip(x, z, ls, strict=True)]
    if kind is Additive:
        return scale**2 * sum(correlation(form, step, lib) for step in steps) / len(steps)
    return scale**2 * correlation(form, lib.sqrt(sum(step**2 for step in steps)), lib)


def gram(kernel, A, B, lib):
    """The matrix of k(a, b) as a list of rows, by a double loop."""
    number = mpmath.mpf if lib is mpmath else float
    lengthscales, scale = [number(v) for v in kernel.lengthscale], number(kernel.scale)
    A, B = ([[number(v) for v in row] for row in M] for M in (A, B))
    return [[pair(type(kernel), kernel.form, lengthscales, scale, a, b, lib) for b in B] for a in A]


def dense_posterior(kernel, lam, X, y, U):
    """Mean, covariance and log evidence from the explicit inverse of K + lam I (lam: one number, or one a value)."""
    K, C, P = (np.array(gram(kernel, A, B, math)) for A, B in ((X, X), (U, X), (U, U)))
    K += np.diag(np.broadcast_to(lam, len(X)))
    inverse = np.linalg.inv(K)
    log_determinant = np.linalg.slogdet(K)[1]
    evidence = -0.5 * (y @ inverse @ y + log_determinant + len(y) * math.log(2 * math.pi))
    return C @ inverse @ y, P - C @ inverse @ C.T, evidence


def fifty_digit_posterior(kernel, lam, X, y):
    """The functions mean(u_1, ..., u_d) and std(u_1, ..., u_d) in the working precision of mpmath."""
    K = mpmath.matrix(gram(kernel, X, X, mpmath)) + mpmath.mpf(lam) * mpmath.eye(len(X))
    inverse, values = K**-1, mpmath.matrix([mpmath.mpf(v) for v in y])

    def mean(*u):
        return (mpmath.matrix(gram(kernel, [u], X, mpmath)) * inverse * values)[0]

    def std(*u):
        k = mpmath.matrix(gram(kernel, [u], X, mpmath))
        return mpmath.sqrt(mpmath.mpf(kernel.scale) ** 2 - (k * inverse * k.T)[0])

    return mean, std


def kernels(dimension, scale=0.8):
    """Every kind and form, with one length-scale and with one a dimension, as (name, kernel) pairs."""
    shapes = {"one": [0.45], "ard": list(np.linspace(0.3, 0.9, dimension))}
    return [
        (f"{kind.__name__}-{form}-{shape}", kind(form, np.array(lengthscale), scale))
        for kind in (Stationary, Additive)
        for form in FORM_NAMES
        for shape, lengthscale in shapes.items()
    ]


def relative(actual, expected):
    """The largest error as a share of the largest expected number."""
    expected = np.asarray(expected, dtype=float)
    return float(np.max(np.abs(np.asarray(actual, dtype=float) - expected)) / np.max(np.abs(expected)))


class WithGradients(NamedTuple):
    """Mean and std (m,) and their derivatives in the points, (m, d)."""

    mean: np.ndarray
    std: np.ndarray
    mean_gradient: np.ndarray
    std_gradient: np.ndarray


def with_gradients(posterior, U):
    """The marginal of a posterior at U, and the vjp of the mean alone and of the std alone."""
    found, one, none = posterior.marginal_with_vjp(U), np.ones(len(U)), np.zeros(len(U))
    return WithGradients(found.mean, found.std, found.vjp(one, none), found.vjp(none, one))
