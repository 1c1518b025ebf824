"""The bumps of the lower bounds: hard classes of functions of known RKHS norm (paper, appendix B)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, floor, log, pi, prod, sqrt
from typing import Protocol

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betainc, gammaln, hyp0f1, logsumexp

from satisfice.errors import BadInput
from satisfice.gp.kernels import CORRELATIONS, Kernel, Stationary
from satisfice.types import Array


@dataclass(frozen=True)
class CountSE:
    """M = floor((c_1 sqrt(log(B (2 pi l^2)^{d/4} / eps)) / l)^d) (paper, eq. M_SE), 1 for the open c_1."""

    B: float
    lengthscale: float
    dimension: int
    c_1: float = 1.0

    def __call__(self, eps: float) -> int:
        """M for this eps; 0 where eps is too large for the formula."""
        d, lengthscale = self.dimension, self.lengthscale
        power = log(self.B / eps) + d / 4 * log(2 * pi * lengthscale**2)
        return floor((self.c_1 * sqrt(max(power, 0.0)) / lengthscale) ** d)


@dataclass(frozen=True)
class CountMatern:
    """M = floor((B c_3 / eps)^{d / nu}) (paper, eq. M_Matern), 1 for the open c_3."""

    B: float
    nu: float
    dimension: int
    c_3: float = 1.0

    def __call__(self, eps: float) -> int:
        """M for this eps."""
        return int((self.B * self.c_3 / eps) ** (self.dimension / self.nu))


class Profile(Protocol):
    """A bump's value at the distance r of its centre, 1 at r = 0; below 1/2 everywhere beyond `radius`."""

    @property
    def radius(self) -> float:
        """The distance where the value falls to 1/2, for good."""

    def __call__(self, r: Array) -> Array:
        """The values at the distances r."""


@dataclass(frozen=True)
class Section:
    """The profile of a kernel section, rho(r): the function of least norm with the value 1 at a point."""

    form: str

    def __call__(self, r: Array) -> Array:
        """The values at the distances r."""
        return CORRELATIONS[self.form].rho(np.atleast_1d(r * r)).reshape(np.shape(r))

    @property
    def radius(self) -> float:
        """rho(radius) = 1/2."""
        return float(brentq(lambda r: float(self(np.array(r))) - 0.5, 0.0, 2.0))


@cache
def _legendre() -> tuple[Array, Array]:
    """Nodes and weights of the quadrature on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(256)
    return nodes, weights


def _log_ball(d: int) -> float:
    """log of the volume of the unit ball in d dimensions."""
    return float(d / 2 * log(pi) - gammaln(d / 2 + 1))


def _log_density(form: str, frequency: Array, d: int) -> Array:
    """log S(|w|), rho = integral of S(w) cos(w'x) dw: normal for SE, Student-t of 2 nu degrees for Matérn."""
    nu = CORRELATIONS[form].nu
    if np.isinf(nu):
        return -0.5 * (frequency**2 + d * log(2 * pi))
    start = gammaln(nu + d / 2) - gammaln(nu) - d / 2 * log(2 * nu * pi)
    return np.asarray(start - (nu + d / 2) * np.log1p(frequency**2 / (2 * nu)), dtype=np.float64)


@dataclass(frozen=True)
class BandLimited:
    """The profile (Gamma(d/2 + 1) (2/z)^{d/2} J_{d/2}(z))^2, z = band r, in d dimensions: sinc^2 for d = 1.

    No frequency in it is above 2 band, so its norm is finite for every kernel, however narrow it is.
    """

    band: float
    dimension: int

    def _root(self, z: Array) -> Array:
        """Gamma(d/2 + 1) (2/z)^{d/2} J_{d/2}(z) = 0F1(d/2 + 1; -z^2/4)."""
        root: Array = hyp0f1(self.dimension / 2 + 1, -z * z / 4)
        return root

    def __call__(self, r: Array) -> Array:
        """The values at the distances r."""
        return self._root(self.band * r) ** 2

    @property
    def radius(self) -> float:
        """The distance where the main lobe falls to 1/2; the side lobes are below 0.05."""
        beyond = sqrt(2 * (self.dimension + 2))  # by the first terms of the series the root is <= 1/2 there
        z = brentq(lambda z: float(self._root(np.array(z))) - sqrt(0.5), 0.0, beyond)
        return float(z) / self.band

    def spectrum(self, frequency: Array) -> Array:
        """F(|w|), with profile(|x|) = integral of F(w) cos(w'x) dw: a uniform ball convolved with itself.

        With u = |w| / (2 band) it is I_{1 - u^2}((d + 1) / 2, 1/2) / (V_d band^d), 0 for u > 1; I is the
        regularised incomplete beta function, V_d the volume of the unit ball.
        """
        u = np.minimum(frequency / (2 * self.band), 1.0)
        overlap: Array = betainc((self.dimension + 1) / 2, 0.5, (1 - u) * (1 + u))
        return overlap * exp(-_log_ball(self.dimension) - self.dimension * log(self.band))

    def log_norm(self, form: str) -> float:
        """log of the RKHS norm for a kernel of that form with length-scale and scale 1.

        ||g||^2 = integral of F(w)^2 / S(w) dw, S the spectral density of the kernel; Gauss-Legendre in |w|.
        """
        nodes, weights = _legendre()
        frequency, d = self.band * (nodes + 1), self.dimension
        sphere = log(d) + _log_ball(d) + (d - 1) * np.log(frequency)  # the area of the sphere of that radius
        ratio = 2 * np.log(self.spectrum(frequency)) - _log_density(form, frequency, d)
        return 0.5 * float(logsumexp(sphere + ratio, b=self.band * weights))


@dataclass(frozen=True, eq=False)
class Bump:
    """f(x) = height profile(r), r the distance of x from the centre (d,) measured in length-scales."""

    profile: Profile
    height: float
    lengthscale: Array
    centre: Array

    def __call__(self, U: Array) -> Array:
        """f(U) (m,) at U (m, d)."""
        r = np.sqrt((((U - self.centre) / self.lengthscale) ** 2).sum(axis=1))
        return self.height * self.profile(r)


@dataclass(frozen=True, eq=False)
class HardClass:
    """M copies of one bump of height 2 eps, centred on a grid in the unit cube, each of RKHS norm <= `norm`.

    Two centres are more than 2 profile.radius length-scales apart, so that every x is eps-optimal for at most
    one copy. A copy is an item: `hard[m]`, `for f in hard`. Its maximum over a finite domain is 2 eps only if
    the centre is in that domain.
    """

    profile: Profile
    eps: float
    norm: float
    lengthscale: Array  # (d,)
    shape: tuple[int, ...]  # the number of centres along each coordinate

    @property
    def count(self) -> int:
        """M, which may be too large for `len`."""
        return prod(self.shape)

    def __len__(self) -> int:
        """M."""
        return self.count

    def __getitem__(self, m: int) -> Bump:
        """The m-th copy, m = 0, ..., M - 1."""
        if not 0 <= m < self.count:
            raise IndexError(f"The bumps are counted from 0, and there are {self.count}; got {m}.")
        places = np.unravel_index(m, self.shape)
        centre = [place / (n - 1) if n > 1 else 0.5 for place, n in zip(places, self.shape, strict=True)]
        return Bump(self.profile, 2 * self.eps, self.lengthscale, np.array(centre))

    def __iter__(self) -> Iterator[Bump]:
        """All copies."""
        return (self[m] for m in range(self.count))


def _spread(kernel: Stationary, profile: Profile, eps: float, norm: float, d: int) -> HardClass:
    """As many copies of the bump as a grid in the unit cube holds."""
    spacing = 2 * profile.radius * (1 + 1e-9)  # at twice the radius the middle would be eps-optimal for both
    lengthscale = np.broadcast_to(kernel.lengthscale, (d,))
    shape = tuple(floor(1 / (spacing * ell)) + 1 for ell in lengthscale)
    return HardClass(profile, eps, norm, lengthscale, shape)


def _check_bump(kernel: Kernel, eps: float, d: int) -> None:
    if not isinstance(kernel, Stationary):
        raise BadInput(f"`kernel` must be a Stationary kernel, whose bumps are round; got {kernel!r:.80}.")
    if len(kernel.lengthscale) not in (1, d):
        raise BadInput(f"`kernel` must have 1 or {d} length-scales; got {len(kernel.lengthscale)}.")
    if not (np.isfinite(eps) and eps > 0):
        raise BadInput(f"`eps` must be a positive number; got {eps!r}.")


def _check_norm(least: float, eps: float, B: float) -> None:
    if not least <= B / 3:
        raise BadInput(
            f"`B` must be at least {3 * least:g} for `eps` = {eps!r}: a bump of height 2 eps has at least the norm {least:g}, "
            f"but at most B / 3 = {B / 3:g} is allowed; got {B!r}. Take a smaller eps or a larger B."
        )


def section_class(kernel: Stationary, eps: float, B: float, d: int) -> HardClass:
    """The hard class of kernel sections 2 eps k(., c) / k(c, c): as wide as the kernel, of norm 2 eps / s.

    Parameters
    ----------
    kernel : Stationary
        The kernel of the space.
    eps : float
        Half the height of a bump.
    B : float
        Three times the largest norm that a bump may have.
    d : int
        The dimension of the cube.

    Returns
    -------
    HardClass
    """
    _check_bump(kernel, eps, d)
    norm = 2 * eps / kernel.scale
    _check_norm(norm, eps, B)
    return _spread(kernel, Section(kernel.form), eps, norm, d)


def narrow_class(kernel: Stationary, eps: float, B: float, d: int) -> HardClass:
    """The hard class of the narrowest band-limited bumps, 2 eps `BandLimited`, of norm at most B / 3.

    Their norm grows like exp(band^2) for SE and like band^nu for Matérn, so that the radius is of the order
    (log(B/eps))^{-1/2} or (B/eps)^{-1/nu}, and M grows as in the paper's eq. M_SE and M_Matern.

    Parameters
    ----------
    kernel : Stationary
        The kernel of the space.
    eps : float
        Half the height of a bump.
    B : float
        Three times the largest norm that a bump may have.
    d : int
        The dimension of the cube.

    Returns
    -------
    HardClass
    """
    _check_bump(kernel, eps, d)

    def log_norm(log_band: float) -> float:  # convex, so that the largest band lies right of the minimum
        return log(2 * eps / kernel.scale) + BandLimited(exp(log_band), d).log_norm(kernel.form)

    cheapest = minimize_scalar(log_norm, bounds=(-6.0, 6.0), method="bounded")
    _check_norm(exp(cheapest.fun), eps, B)
    low = high = float(cheapest.x)
    while log_norm(high) <= log(B / 3):
        low, high = high, high + 1
    for _ in range(60):  # bisection, and not a faster method, so that log_norm(low) is never above the limit
        middle = (low + high) / 2
        low, high = (middle, high) if log_norm(middle) <= log(B / 3) else (low, middle)
    return _spread(kernel, BandLimited(exp(low), d), eps, exp(log_norm(low)), d)
