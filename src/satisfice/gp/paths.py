"""Paths: draws from the posterior as functions that can be evaluated and differentiated anywhere.

The data correct a prior draw f0(x) = sum_i a_i cos(w_i'x + b_i) from random Fourier features by Matheron's rule (Wilson et al.
2020): f(x) = f0(x) + k(x, X)(K + lam I)^-1 (y - f0(X) - e), e ~ N(0, lam I). Every path has frequencies of its own, so the mean
and the covariance over paths are exactly those of the posterior.
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
    """One draw of f, as a function of points U (m, d).

    Parameters
    ----------
    kernel
        The prior covariance.
    frequencies, phases, amplitudes
        w (features, d), b (features,) and a (features,) of the prior draw.
    X, weights
        The points (n, d) and weights (n,) of the correction by the data.
    """

    kernel: Kernel
    frequencies: Array
    phases: Array
    amplitudes: Array
    X: Array
    weights: Array

    def __call__(self, U: Array) -> Array:
        """f(U), shape (m,)."""
        prior = np.cos(U @ self.frequencies.T + self.phases) @ self.amplitudes
        return prior + self.kernel(U, self.X) @ self.weights if len(self.X) else prior

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """f(U) (m,) and its derivative in U (m, d)."""
        phase = U @ self.frequencies.T + self.phases
        value = np.cos(phase) @ self.amplitudes
        gradient = -(np.sin(phase) * self.amplitudes) @ self.frequencies
        if len(self.X):
            cross = self.kernel.cross(U, self.X)
            value = value + cross.value @ self.weights
            gradient = gradient + cross.vjp(self.weights)
        return value, gradient


def draw_path(posterior: Posterior, rng: Generator, features: int = FEATURES) -> Path:
    """Draw one path; every call draws new frequencies, coefficients and noise.

    Parameters
    ----------
    posterior
        The posterior to draw from.
    rng
        The random numbers.
    features
        The number of random Fourier features.

    Returns
    -------
    Path
        A function of points.
    """
    kernel, X = posterior.kernel, posterior.X
    frequencies, scales = kernel.features(features, X.shape[1], rng)
    cosines, sines = scales * rng.standard_normal(
        (2, features)
    )  # a cos(w'x + b) with a, b their polar form is as normal
    phases, amplitudes = -np.arctan2(sines, cosines), np.hypot(cosines, sines)
    prior = Path(kernel, frequencies, phases, amplitudes, X[:0], np.empty(0))
    if len(X) == 0:
        return prior
    noise = np.sqrt(posterior.noise_variances) * rng.standard_normal(len(X))
    weights, _ = lapack.dpotrs(posterior.L, (posterior.y - prior(X) - noise)[:, None], lower=1)
    return Path(kernel, frequencies, phases, amplitudes, X, weights[:, 0])
