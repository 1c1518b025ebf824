"""Gates: anytime-valid tests of H0: f < target for one given setting, made to need few values.

They are e-processes as in `eprocess`, with other mixtures: over many gaps between f and the target rather than one half-normal
law, and over all bets. For Gaussian noise the bar is lower than Ville's inequality asks for. Of the likelihood ratio E of a
mixture P over P0, the law at f = target, and the first time T at which E reaches a bar b,

    P0(T < infinity) = E_P[1 / E_T; T < infinity] = (1 / b) E_P[b / E_T],

and since E jumps over the bar, the last factor is below exp(-CREDIT) for every b. So b = exp(-CREDIT) / level is enough. If
f lies below the target, or the noise is smaller, the bar is reached more rarely still.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss
from scipy.special import gammaln, logsumexp

from satisfice.certificates.eprocess import FARTHEST, Bounded, KnownNoise, LearnedNoise
from satisfice.certificates.shape import WIDER, Cautious, Gaussian, RangeSeen, Rate, choose
from satisfice.types import Array

GAPS = np.geomspace(0.005, 8.0, 40)  # the gaps (f - target) / sigma that are mixed
CENTRE, WIDTH = 0.7, 0.7  # their weights follow a Cauchy law of the logarithm
NODES, NODE_WEIGHTS = leggauss(64)
REACH = 10.0  # standard deviations on each side over which sigma is integrated
LOGITS = np.linspace(-8.0, 6.0, 57)  # of the shares of the capital that are bet
CAREFUL = 4.0  # standard deviations below its mean that a value may fall where nothing is stated
ALL_IN = 0.1  # the weight of the bet of everything, the best one if every value is as good as can be


def _normalised(weights: Array) -> Array:
    return weights / weights.sum()


def _mixed(logs: Array) -> float:
    """log of the sum of exp; for few terms much faster than scipy's."""
    top = float(logs.max())
    return top + float(np.log(np.exp(logs - top).sum())) if np.isfinite(top) else top


LOG_WEIGHTS = np.log(_normalised(1 / (1 + ((np.log(GAPS) - np.log(CENTRE)) / WIDTH) ** 2)))
BETS = np.append(1 / (1 + np.exp(-LOGITS)), 1.0)
# uniform over the share b, as d b = b (1 - b) d logit(b)
BET_LOG_WEIGHTS = np.log(np.append((1 - ALL_IN) * _normalised(BETS[:-1] * (1 - BETS[:-1])), ALL_IN))


@dataclass(frozen=True)
class GaussianGate(KnownNoise):
    """Gaussian noise of known standard deviation: the likelihood ratio, mixed over `GAPS`.

    E_m = sum over d of w_d exp(d S - m d^2 / 2), S = sum (y - target) / sigma.
    """

    credit: ClassVar[float] = 0.42

    def log_evidence(self, values: Array, target: float) -> float:
        """log E_m of the values (m,)."""
        return self.of((len(values), float(self._above(np.asarray(values, dtype=np.float64), target).sum())))

    def start(self) -> tuple[int, float]:
        """The state before the first value: m and S."""
        return 0, 0.0

    def add(self, state: tuple[int, float], value: float, target: float) -> tuple[int, float]:
        """The state after one more value."""
        return state[0] + 1, state[1] + float(self._above(np.float64(value), target))

    def _above(self, values: Any, target: float) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.clip(np.nan_to_num((values - target) / self.sigma), -FARTHEST, FARTHEST)

    def of(self, state: tuple[int, float]) -> float:
        """log E_m of the state."""
        m, total = state
        return _mixed(LOG_WEIGHTS + GAPS * total - 0.5 * m * GAPS**2)

    def mirrored(self) -> "GaussianGate":
        """The test for values and target of the opposite sign."""
        return self


@dataclass(frozen=True)
class StudentGate(LearnedNoise):
    """Gaussian noise of unknown standard deviation: as `GaussianGate`, with the invariant prior d sigma / sigma.

    With S = sum (y - target), V = sum (y - target)^2 and u ~ chi_m,

        E_m = sum over d of w_d exp(-m d^2 / 2) E exp(d u S / sqrt(V)),

    integrated by 64 Gauss-Legendre nodes around the mode. Where S < 0 the expectation is replaced by Jensen's lower bound
    exp(d E[u] S / sqrt(V)), which can only lower the evidence. For f below the target E_m is a supermartingale as well; see
    `LearnedNoise`.
    """

    credit: ClassVar[float] = 0.23

    def log_evidence(self, values: Array, target: float) -> float:
        """log E_m of the values (m,)."""
        above = np.asarray(values, dtype=np.float64) / 2 - target / 2  # halves do not overflow
        size = float(np.abs(above).max(initial=0.0))
        shares = above / size if size else above
        return self.of((len(above), float(shares.sum()), float((shares**2).sum()), size))

    def start(self) -> tuple[int, float, float, float]:
        """The state before the first value: m, S / size, V / size^2, size."""
        return 0, 0.0, 0.0, 0.0

    def add(
        self, state: tuple[int, float, float, float], value: float, target: float
    ) -> tuple[int, float, float, float]:
        """The state after one more value."""
        m, total, squares, size = state
        above = value / 2 - target / 2  # halves do not overflow
        if abs(above) > size:  # the largest distance so far is the unit, so that squares neither over- nor underflow
            total, squares, size = total * (size / abs(above)), squares * (size / abs(above)) ** 2, abs(above)
        share = above / size if size else 0.0
        return m + 1, total + share, squares + share * share, size

    def of(self, state: tuple[int, float, float, float]) -> float:
        """log E_m of the state."""
        m, total, squares, _ = state
        x = total / np.sqrt(squares) if squares > 0 else 0.0
        return float(student_evidence(np.array([m]), np.array([x]))[0])

    def mirrored(self) -> "StudentGate":
        """The test for values and target of the opposite sign."""
        return self


def student_evidence(m: npt.ArrayLike, x: npt.ArrayLike) -> Array:
    """log E_m of `StudentGate` for counts m (k,) and statistics x = S / sqrt(V) (k,)."""
    m, x = np.asarray(m, dtype=np.float64)[:, None], np.asarray(x, dtype=np.float64)[:, None]
    n = np.maximum(m, 1.0)
    a = GAPS * x
    mode = 0.5 * (np.maximum(a, 0) + np.sqrt(np.maximum(a, 0) ** 2 + 4 * (n - 1)))
    low, high = np.maximum(mode - REACH, 0.0), mode + REACH
    half = 0.5 * (high - low)
    u = low[..., None] + half[..., None] * (NODES + 1)
    exponents = (n - 1)[..., None] * np.log(u) - 0.5 * u**2 + np.maximum(a, 0)[..., None] * u
    top = exponents.max(axis=-1)
    integral = top + np.log(half * (np.exp(exponents - top[..., None]) @ NODE_WEIGHTS))
    mean = np.sqrt(2) * np.exp(gammaln(0.5 * (n + 1)) - gammaln(0.5 * n))
    expected = np.where(a >= 0, integral - (0.5 * n - 1) * np.log(2) - gammaln(0.5 * n), a * mean)
    found = logsumexp(LOG_WEIGHTS - 0.5 * m * GAPS**2 + expected, axis=-1)
    return np.where(m[:, 0] == 0, 0.0, found)


@dataclass(frozen=True)
class Bets(Bounded):
    """Values of any distribution between two bounds: as `Bounded`, with a mixture over more bets.

    The shares b are uniform with probability 1 - `ALL_IN`, on a grid of their logits, and 1 otherwise. Where the target is the
    lower bound itself, one value above it proves that f lies above it.
    """

    credit: ClassVar[float] = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """log of the mean over b of prod (1 + b ((y - low) / (target - low) - 1))."""
        values = np.asarray(values, dtype=np.float64)
        if target <= self.low:
            return np.inf if (values > self.low).any() else 0.0
        with np.errstate(divide="ignore"):
            return _mixed(BET_LOG_WEIGHTS + np.log1p(BETS[:, None] * self._gains(values, target)).sum(axis=1))

    def start(self) -> Array:
        """The state before the first value: the log capital of each bet."""
        return np.zeros(len(BETS))

    def add(self, state: Array, value: float, target: float) -> Array:
        """The state after one more value."""
        if target <= self.low:  # one value above it is a proof
            return state + (np.inf if value > self.low else 0.0)
        with np.errstate(divide="ignore"):
            return state + np.log1p(BETS * self._gains(np.float64(value), target))

    def _gains(self, values: Any, target: float) -> Any:
        """(y - low) / (target - low) - 1, of halves where the range itself overflows."""
        unit = 1.0 if np.isfinite(self.high - self.low) else 0.5
        with np.errstate(over="ignore"):
            return (unit * values - unit * self.low) / (unit * target - unit * self.low) - 1

    def of(self, state: Array) -> float:
        """log E_m of the state."""
        return _mixed(BET_LOG_WEIGHTS + state)

    def mirrored(self) -> "Bets":
        """The test for values and target of the opposite sign."""
        return type(self)(-self.high, -self.low)


@dataclass(frozen=True)
class Passes(Bets):
    """Passes (1) and fails (0), or what they are after a change of sign."""

    guarantee = "valid for independent passes and fails"


GateTest = GaussianGate | StudentGate | Bets


@dataclass(frozen=True)
class CautiousGate(Cautious):
    """`Cautious` with `StudentGate`: the smaller evidence counts."""

    credit: ClassVar[float] = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """The smaller of the two, each beside its own bar."""
        student = StudentGate()
        return min(student.log_evidence(values, target) + student.credit, self.bets.log_evidence(values, target))


@dataclass(frozen=True)
class SeenGate(RangeSeen):
    """`RangeSeen` with the bets of a gate."""

    credit: ClassVar[float] = 0.0

    def log_evidence(self, values: Array, target: float) -> float:
        """log of the mean over b of prod max(0, 1 + b (y - target) / depth)."""
        factors = np.maximum(1 + BETS[:, None] * ((values - target) / self.depth), 0.0)
        with np.errstate(divide="ignore"):
            return _mixed(BET_LOG_WEIGHTS + np.log(factors).sum(axis=1))


AnyGate = GateTest | CautiousGate | SeenGate


def gate_for(values: Array, target: float) -> tuple[AnyGate | None, str, bool]:
    """The gate that suits the values (m,), as `shape.choose` finds it; why; and whether it may certify yet.

    A search judges the shape of the noise by the repeats of all its settings. Here there is one setting and few values, so bets
    that hold for values which fall at most `CAREFUL` standard deviations short of the mean must agree with the Gaussian gate.

    Parameters
    ----------
    values
        The values of the setting, to be maximised.
    target
        What f must reach.

    Returns
    -------
    tuple
        The gate, None where no test could hold; the reason; whether enough values were seen.
    """
    choice = choose(np.zeros(len(values), dtype=int), values, target)
    test = choice.test
    found: AnyGate | None = None
    if isinstance(test, Rate):
        found = Passes(test.low, test.high)
    elif isinstance(test, Gaussian | Cautious):
        seen = test.residuals
        depth = max(WIDER * seen.shortfall, CAREFUL * seen.sd)
        found = CautiousGate(SeenGate(depth, seen.values), seen)
    elif isinstance(test, RangeSeen):
        found = SeenGate(max(test.depth, CAREFUL * float(np.std(values, ddof=1))), test.seen)
    return found, choice.reason, choice.enough


class Course:
    """The evidence of a gate after each value.

    Parameters
    ----------
    test
        The gate.
    target
        What f must reach.
    """

    def __init__(self, test: GateTest, target: float) -> None:
        self.test, self.target = test, target
        self._state: Any = test.start()

    def add(self, value: float) -> float:
        """Take one more value; log E_m + credit, which reaches log(1 / level) with probability `level` at most."""
        self._state = self.test.add(self._state, value, self.target)
        return self.test.of(self._state) + self.test.credit
