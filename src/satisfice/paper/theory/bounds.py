"""Upper and lower bounds on the lenient regret (paper, section 3), as numbers and as rates.

delta is the paper's Delta, what a good action may lose against the maximum; failure is the paper's small
delta, the probability that a bound does not hold. Hinge <= gap always, so a bound on the gap regret is one on
the hinge regret.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log

import numpy as np

from satisfice.errors import BadInput
from satisfice.paper.theory.information import InformationGain, Rounds
from satisfice.rules.widths import Width
from satisfice.types import Array


def c_1(lam: float) -> float:
    """C_1 = 4 C_2 = 8 lam^-1 / log(1 + lam^-1) (paper, Theorem 1; see `c_2` for lam > 1)."""
    return 4 * c_2(lam)


def c_2(lam: float) -> float:
    """C_2 = 2 lam^-1 / log(1 + lam^-1): over any N rounds sum sigma_{t-1}^2(x_t) <= C_2 gamma_N (Lemma 2).

    For lam > 1 the lemma is false with this constant (take N = 1), and the larger `sharp_c_2` is returned.
    """
    return sharp_c_2(lam) * max(1.0, 1 / lam)


def sharp_c_1(lam: float) -> float:
    """4 `sharp_c_2`: what C_1 may be replaced by in Theorems 1 and 2."""
    return 4 * sharp_c_2(lam)


def sharp_c_2(lam: float) -> float:
    """2 / log(1 + lam^-1), the smallest constant with which Lemma 2 holds; it is lam C_2 for lam < 1.

    It comes from s <= log(1 + s / lam) / log(1 + 1 / lam) for 0 <= s <= 1, the logarithm being concave. The
    paper's factor lam^-1 belongs to a sum of sigma^2 / lam, not of sigma^2.
    """
    return float(2 / np.log1p(1 / lam))


Constant = Callable[[float], float]  # c_1 or sharp_c_1


@dataclass(frozen=True)
class RegretBounds:
    """What the regrets of a run of at most `horizon` rounds do not exceed as long as the width's bounds hold.

    `settled` is False where the inequality for N still holds at the end of the gain. Then N_max may be larger
    than `indicator`, which says no more than that there are that many rounds: compute the gain for more.
    """

    indicator: int  # N_max: how many actions are bad at most
    gap: float
    horizon: float
    settled: bool

    @property
    def hinge(self) -> float:
        """The bound on the hinge regret: that on the gap regret."""
        return self.gap


def _positive_delta(delta: float) -> None:
    if not (np.isfinite(delta) and delta > 0):
        raise BadInput(f"`delta` must be a positive number, in the units of f; got {delta!r}.")


def _largest(rounds: Rounds, limits: Array) -> tuple[int, int]:
    """max{N : N <= limit(N)}, and the place in `rounds` of the first one from it on; 0 and 0 where there is no such N.

    The limits (n,) at the rounds (n,) do not fall, so that the one at the end of a gap bounds those inside it.
    """
    holds = np.flatnonzero(rounds[:-1] + 1 <= limits[1:])
    if not len(holds):
        return 0, 0
    place = int(holds[-1]) + 1
    return int(min(rounds[place], limits[place])), place


def ucb_bounds(
    gain: InformationGain,
    width: Width,
    delta: float,
    T: int,
    constant: Constant = c_1,
) -> RegretBounds:
    """Theorem 1, for the rule ucb over T rounds with a width that does not fall.

    N_max = max{N : N <= C_1 gamma_N beta_T / delta^2}; indicator <= N_max,
    gap <= C_1 gamma_{N_max} beta_T / delta (paper, eq. Nmax).

    Parameters
    ----------
    gain : InformationGain
        The information gain, for T rounds or more. N is searched up to its end.
    width : callable
        beta_t^{1/2} of a round t, as the rule uses it.
    delta : float
        What a good action may lose against the maximum.
    T : int
        The rounds of the run.
    constant : callable, default c_1
        C_1 as a function of lambda: `c_1` as the paper prints it, or `sharp_c_1`.

    Returns
    -------
    RegretBounds
    """
    _positive_delta(delta)
    if not 1 <= T <= gain.horizon:
        raise BadInput(
            f"`T` must be from 1 to {gain.horizon}, the rounds of the information gain; got {T!r}. "
            "For more, compute the gain for T rounds or more."
        )
    limits = constant(gain.lam) * gain.upper * width(T) ** 2 / delta**2
    N, place = _largest(gain.rounds, limits)
    return RegretBounds(N, float(limits[place] * delta), T, gain.horizon > gain.rounds[place])


def elimination_bounds(
    gain: InformationGain, width: Width, delta: float, B: float, constant: Constant = c_1
) -> RegretBounds:
    """Theorem 2, for the rule elimination over any number of rounds and ||f||_k <= B.

    N'_max = max{N : N <= 4 C_1 gamma_N beta_N / delta^2}; indicator <= N'_max,
    gap <= 2 B + 8 C_1 gamma beta / delta at N'_max (paper, eq. Nmax'), and 0 where N'_max = 0.

    Parameters
    ----------
    gain : InformationGain
        The information gain. N is searched up to its end: once the inequality has failed, later rounds do not matter.
    width : callable
        beta_t^{1/2} of a round t, as the rule uses it.
    delta : float
        What a good action may lose against the maximum.
    B : float
        The bound on the norm of f.
    constant : callable, default c_1
        C_1 as a function of lambda: `c_1` as the paper prints it, or `sharp_c_1`.

    Returns
    -------
    RegretBounds
    """
    _positive_delta(delta)
    beta = np.array([width(max(N, 1)) ** 2 for N in gain.rounds.tolist()])
    limits = 4 * constant(gain.lam) * gain.upper * beta / delta**2
    N, place = _largest(gain.rounds, limits)
    settled = gain.horizon > int(gain.rounds[place])
    gap = 2 * B + 2 * float(limits[place]) * delta if N else 0.0
    return RegretBounds(N, gap, inf if settled else gain.horizon, settled)


@dataclass(frozen=True)
class Rate:
    """How a bound grows, with every constant 1; the upper ones leave out the log factors that O* hides."""

    indicator: float
    gap: float

    @property
    def hinge(self) -> float:
        """The rate of the hinge regret: that of the gap regret."""
        return self.gap


def _small_delta(delta: float, below: float) -> None:
    if not 0 < delta < below:
        raise BadInput(f"`delta` must be between 0 and {below:g} for a rate; got {delta!r}.")


def _lower_arguments(delta: float, failure: float) -> None:
    _small_delta(delta, 0.5)
    if not 0 < failure < 1 / 3:
        raise BadInput(f"`failure` must be between 0 and 1/3 for a lower bound; got {failure!r}.")


def _lower_rate(classes: float, T: float, delta: float, sigma: float, failure: float) -> Rate:
    """min{T, sigma^2 / delta^2 * classes * log(1 / failure)}, and delta times that."""
    bad = min(T, sigma**2 / delta**2 * classes * log(1 / failure))
    return Rate(bad, bad * delta)


@dataclass(frozen=True)
class SERates:
    """The rates for the SE kernel in d dimensions, constants 1."""

    dimension: int

    def gain(self, t: float) -> float:
        """gamma_t: (log t)^d."""
        return log(t) ** self.dimension

    def ucb(self, T: float, delta: float) -> Rate:
        """Theorem 1: N_max is (log T log(1/delta))^d / delta^2; the gap regret is delta times that."""
        _small_delta(delta, 1.0)
        bad = (log(T) * log(1 / delta)) ** self.dimension / delta**2
        return Rate(bad, bad * delta)

    def elimination(self, delta: float) -> Rate:
        """Theorem 2: N'_max is (log(1/delta))^{2d} / delta^2; the gap regret is delta times that."""
        _small_delta(delta, 1.0)
        bad = log(1 / delta) ** (2 * self.dimension) / delta**2
        return Rate(bad, bad * delta)

    def lower(self, T: float, delta: float, B: float, sigma: float, failure: float) -> Rate:
        """Theorem 3: min{T, sigma^2 / delta^2 (log(B/delta))^{d/2} log(1/failure)}, and delta times that."""
        _lower_arguments(delta, failure)
        _small_delta(delta, B)
        return _lower_rate(log(B / delta) ** (self.dimension / 2), T, delta, sigma, failure)


@dataclass(frozen=True)
class MaternRates:
    """The rates for the Matérn-nu kernel in d dimensions, constants 1; the upper ones ask for d < 2 nu."""

    dimension: int
    nu: float

    def _smooth(self) -> None:
        if self.dimension >= 2 * self.nu:
            raise BadInput(
                f"`dimension` must satisfy d < 2 nu, or the bound of the theorem is infinite; got {self.dimension} with nu = "
                f"{self.nu:g}. Take a smoother kernel."
            )

    def gain(self, t: float) -> float:
        """gamma_t: t^{d / (2 nu + d)}."""
        return float(t ** (self.dimension / (2 * self.nu + self.dimension)))

    def ucb(self, T: float, delta: float) -> Rate:
        """Theorem 1: N_max is T^{d / (2 nu)} / delta^{2 + d / nu}; the gap regret is delta times that."""
        _small_delta(delta, 1.0)
        self._smooth()
        d, nu = self.dimension, self.nu
        bad = float(T ** (d / (2 * nu)) * delta ** -(2 + d / nu))
        return Rate(bad, bad * delta)

    def elimination(self, delta: float) -> Rate:
        """Theorem 2: N'_max is delta^{-2 (1 + 2 d / (2 nu - d))}; the gap regret is delta times that.

        The paper prints 1 + d / (2 nu - d); with gamma_N and beta_N both of the order N^{d / (2 nu + d)},
        N <= N^{2 d / (2 nu + d)} / delta^2 gives the exponent that stands here.
        """
        _small_delta(delta, 1.0)
        self._smooth()
        d, nu = self.dimension, self.nu
        bad = float(delta ** (-2 * (1 + 2 * d / (2 * nu - d))))
        return Rate(bad, bad * delta)

    def lower(self, T: float, delta: float, B: float, sigma: float, failure: float) -> Rate:
        """Theorem 3: min{T, sigma^2 / delta^2 (B/delta)^{d/nu} log(1/failure)}, and delta times that."""
        _lower_arguments(delta, failure)
        _small_delta(delta, B)
        return _lower_rate((B / delta) ** (self.dimension / self.nu), T, delta, sigma, failure)


def hard_rounds(T: float, M: float, eps: float, sigma: float, failure: float, c_0: float = 1.0) -> float:
    """T~ = min{T, M sigma^2 / (4 c_0 eps^2) log(1 / (2.4 failure))} (paper, eq. Ttilde).

    The paper leaves the constant c_0 open; 1 stands for it.
    """
    return min(T, M * sigma**2 / (4 * c_0 * eps**2) * log(1 / (2.4 * failure)))


def lower_bounds(
    count: Callable[[float], float], T: float, delta: float, sigma: float, failure: float, c_0: float = 1.0
) -> Rate:
    """Theorem 3: for some f of a hard class any rule has at least this regret, with probability >= `failure`.

    Indicator >= T~ / 2 at eps = delta, and gap >= hinge >= T~ delta / 2 at eps = 2 delta (`hard_rounds`). The proof
    needs T~ to be below (M - 1) sigma^2 / (2 c_0 eps^2) log(1 / (2.4 failure)), so M <= 2 gives 0.

    Parameters
    ----------
    count : callable
        The number M of functions in the class for an eps: `CountSE`, `CountMatern`.
    T, delta, sigma, failure : float
        The rounds, what a good action may lose, the standard deviation of the noise, and the failure that is allowed.
    c_0 : float, default 1
        The constant that the paper leaves open.

    Returns
    -------
    Rate
        The bounds, up to the constants.
    """
    _lower_arguments(delta, failure)

    def half(eps: float) -> float:
        M = count(eps)
        return hard_rounds(T, M, eps, sigma, failure, c_0) / 2 if M > 2 else 0.0

    return Rate(half(delta), half(2 * delta) * delta)
