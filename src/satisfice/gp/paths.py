"""Draws from the posterior as functions that can be evaluated and differentiated anywhere (pathwise conditioning).

A prior draw f0(x) = sum_i a_i (c_i cos(w_i'x) + b_i sin(w_i'x)) from random Fourier features is corrected by the data
(Matheron's rule; Wilson et al. 2020): f(x) = f0(x) + k(x, X)(K + lam I)^-1 (y - f0(X) - e), e ~ N(0, lam I). Since the
frequencies are drawn anew for every path, mean and covariance over paths are exactly those of the posterior.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.linalg import lapack

from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Posterior
from satisfice.types import Array

FEATURES = 512


@dataclass(frozen=True)
class Path:
    """One draw of f, as a function of points U (m, d)."""

    kernel: Kernel
    frequencies: Array  # (features, d)
    cosines: Array  # (features,)
    sines: Array  # (features,)
    X: Array  # (n, d)
    weights: Array  # (n,)

    def __call__(self, U: Array) -> Array:
        """f(U), shape (m,)."""
        phase = U @ self.frequencies.T
        prior = np.cos(phase) @ self.cosines + np.sin(phase) @ self.sines
        return prior + self.kernel(U, self.X) @ self.weights if len(self.X) else prior

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """f(U) (m,) and its derivative in U (m, d)."""
        phase = U @ self.frequencies.T
        cosine, sine = np.cos(phase), np.sin(phase)
        value = cosine @ self.cosines + sine @ self.sines
        gradient = (cosine * self.sines - sine * self.cosines) @ self.frequencies
        if len(self.X):
            cross = self.kernel.cross(U, self.X)
            value = value + cross.value @ self.weights
            gradient = gradient + cross.pull(self.weights)
        return value, gradient


def draw_path(posterior: Posterior, rng: Generator, features: int = FEATURES) -> Path:
    """One draw from the posterior; every call draws frequencies, coefficients and noise of its own."""
    kernel, X = posterior.kernel, posterior.X
    frequencies, amplitudes = kernel.features(features, X.shape[1], rng)
    cosines, sines = amplitudes * rng.standard_normal((2, features))
    prior = Path(kernel, frequencies, cosines, sines, X[:0], np.empty(0))
    if len(X) == 0:
        return prior
    noise = np.sqrt(posterior.noise_variances) * rng.standard_normal(len(X))
    weights, _ = lapack.dpotrs(posterior.L, (posterior.y - prior(X) - noise)[:, None], lower=1)
    return Path(kernel, frequencies, cosines, sines, X, weights[:, 0])
