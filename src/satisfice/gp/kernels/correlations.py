"""Correlations rho(r) of two values at distance r, in units of the length-scale.

SE and Matérn-5/2, which the models learn, work in place: allocating an array takes longer than the operation.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from satisfice.types import Array

_SQRT3, _SQRT5 = np.sqrt(3.0), np.sqrt(5.0)


@dataclass(frozen=True)
class Correlation:
    """A correlation as a function of r^2.

    Parameters
    ----------
    rho
        r^2 -> rho; it may overwrite r^2.
    rho_and_slope
        r^2 -> rho and its slope rho'(r) / r.
    nu
        The smoothness; infinite for SE.
    """

    rho: Callable[[Array], Array]
    rho_and_slope: Callable[[Array], tuple[Array, Array]]
    nu: float

    def frequencies(self, shape: tuple[int, int], rng: Generator) -> Array:
        """Draw w (m, d) with E[cos(w'(x - x'))] = rho: normal for SE, Student-t with 2 nu degrees of freedom for Matérn."""
        normal = rng.standard_normal(shape)
        if np.isinf(self.nu):
            return normal
        return normal * np.sqrt(2 * self.nu / rng.chisquare(2 * self.nu, size=(shape[0], 1)))


# rho = exp(-r^2 / 2)
def _se_rho(r2: Array) -> Array:
    r2 *= -0.5
    return np.exp(r2, out=r2)


# slope = -rho
def _se(r2: Array) -> tuple[Array, Array]:
    rho = _se_rho(r2.copy())
    return rho, -rho


# rho = exp(-r), slope = -rho / r
def _matern12(r2: Array) -> tuple[Array, Array]:
    r = np.sqrt(r2)
    rho = np.exp(-r)
    return rho, -rho / np.maximum(r, 1e-8)  # a kink at r = 0; but there the difference x - x' is 0 too


# rho = (1 + a) exp(-a), slope = -3 exp(-a), a = sqrt(3) r
def _matern32(r2: Array) -> tuple[Array, Array]:
    a = _SQRT3 * np.sqrt(r2)
    decay = np.exp(-a)
    return (1 + a) * decay, -3 * decay


# rho = (1 + a + 5 r^2 / 3) exp(-a), a = sqrt(5) r
def _matern52_rho(r2: Array) -> Array:
    a = np.sqrt(r2)
    a *= _SQRT5
    r2 *= 5 / 3
    r2 += a
    r2 += 1
    np.negative(a, out=a)
    r2 *= np.exp(a, out=a)
    return r2


# rho = (1 + a + 5 r^2 / 3) exp(-a), slope = -5/3 (1 + a) exp(-a), a = sqrt(5) r
def _matern52(r2: Array) -> tuple[Array, Array]:
    a = np.sqrt(r2)
    a *= _SQRT5
    decay = np.negative(a)
    np.exp(decay, out=decay)
    a += 1
    a *= decay
    rho = r2 * (5 / 3)
    rho *= decay
    rho += a
    a *= -5 / 3
    return rho, a


CORRELATIONS: dict[str, Correlation] = {
    "se": Correlation(_se_rho, _se, np.inf),
    "matern12": Correlation(lambda r2: np.exp(-np.sqrt(r2)), _matern12, 0.5),
    "matern32": Correlation(lambda r2: _matern32(r2)[0], _matern32, 1.5),
    "matern52": Correlation(_matern52_rho, _matern52, 2.5),
}
