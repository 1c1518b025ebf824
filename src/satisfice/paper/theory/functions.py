"""Functions of known RKHS norm: sums of kernels."""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.random import Generator

from satisfice.errors import BadInput
from satisfice.gp.kernels import Kernel
from satisfice.types import Array


@dataclass(frozen=True, eq=False)
class KnownNorm:
    """f(x) = sum_i a_i k(x, c_i), with ||f||_k^2 = a'Ka, K = k(c, c).

    Parameters
    ----------
    kernel : Kernel
        The kernel of the space.
    centres : array (n, d)
        c.
    weights : array (n,)
        a.
    """

    kernel: Kernel
    centres: Array
    weights: Array

    def __post_init__(self) -> None:
        if self.centres.ndim != 2 or self.weights.shape != self.centres.shape[:1] or not len(self.weights):
            raise BadInput(
                "`centres` and `weights` must have the shapes (n, d) and (n,), with n of at least 1; "
                f"got {self.centres.shape} and {self.weights.shape}."
            )

    def __call__(self, U: Array) -> Array:
        """f(U) (m,) at U (m, d)."""
        return self.kernel(U, self.centres) @ self.weights

    @property
    def norm(self) -> float:
        """||f||_k = sqrt(a'Ka)."""
        return sqrt(max(float(self.weights @ self(self.centres)), 0.0))

    def scaled(self, norm: float) -> "KnownNorm":
        """The multiple of f that has this norm."""
        if self.norm == 0:
            raise BadInput("A function must have a positive norm to be scaled; got norm 0. Change its weights.")
        return replace(self, weights=self.weights * (norm / self.norm))


def draw_known_norm(kernel: Kernel, norm: float, d: int, rng: Generator, centres: int = 10) -> KnownNorm:
    """Draw a random function of a given norm: uniform centres in the unit cube, normal weights.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the space.
    norm : float
        The norm of the function.
    d : int
        The dimension of the cube.
    rng : Generator
        Draws centres and weights.
    centres : int, default 10
        How many kernels are summed.

    Returns
    -------
    KnownNorm
    """
    drawn = KnownNorm(kernel, rng.random((centres, d)), rng.standard_normal(centres))
    return drawn.scaled(norm)


def widest(kernel: Kernel, norm: float, high: Array, low: Array) -> KnownNorm:
    """Of all functions of a given norm, the one with the largest f(high) - f(low).

    It is a multiple of k(., high) - k(., low); the difference is norm sqrt(2 s^2 - 2 k(high, low)).

    Parameters
    ----------
    kernel : Kernel
        The kernel of the space.
    norm : float
        The norm of the function.
    high, low : array (d,)
        The two points.

    Returns
    -------
    KnownNorm
    """
    return KnownNorm(kernel, np.stack([high, low]), np.array([1.0, -1.0])).scaled(norm)
