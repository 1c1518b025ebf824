"""The test that suits the values that come: Gaussian where nothing speaks against it, else bets within the range that was seen.

The Gaussian e-process is wrong far too often where the noise is a pass or a fail, piles up at a cap, or has a tail towards bad
values: a few repeats of one setting look alike and good, until the tail shows. The repeats of *all* settings show it much
earlier, so the choice looks at their residuals pooled. What nobody has seen nobody can exclude: the guarantee says from how
many values it was judged, and how rare a disaster may be that they would have missed.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtri

from satisfice.certificates.eprocess import BETS, Bounded, EProcess, LearnedNoise
from satisfice.gp.scaling import OutputScaler
from satisfice.types import Array

Shape = Literal["stated", "rate", "unknown", "coarse", "pile", "skewed", "few", "gaussian"]
SKEWED = 1.28  # standard errors of the pooled skewness towards bad values; Gaussian noise shows them in one case of ten
UNUSUAL = 0.02  # so rarely is the largest of all Gaussian residuals as large
TIED = 0.15  # share of the pairs of values at one setting that are equal, beyond which values are coarse
PILED = 3  # so many values at the upper end of all are a pile
WIDER = 2.0  # the range seen is widened by this factor: its ends are where the next value may lie beyond
FEW = 20  # degrees of freedom below which the residuals do not show a shape
NARROW = 3.0  # standard deviations below its mean that a value may fall as long as they are few
UNSEEN = 0.05  # a disaster that n values would have missed with a smaller probability is excluded


@dataclass(frozen=True)
class Residuals:
    """What the repeats of all settings show of the noise.

    Parameters
    ----------
    values, settings : int
        How many values there are at settings that have several, and how many such settings.
    freedom : int
        `values` less `settings`.
    sd : float
        The pooled standard deviation.
    skewness : float
        The pooled third moment in its standard errors under Gaussian noise; negative with a tail towards bad values.
    shortfall : float
        The largest distance of a value below the mean of the others at its setting.
    farthest : float
        The largest distance of a residual from zero in standard deviations.
    tied : float
        The share of the pairs of values at one setting that are equal.
    """

    values: int
    settings: int
    freedom: int
    sd: float
    skewness: float
    shortfall: float
    farthest: float
    tied: float

    @property
    def unusual(self) -> bool:
        """Whether a residual is larger than the largest of so many Gaussian ones."""
        return self.values > 0 and self.farthest > -float(ndtri(0.5 * UNUSUAL / self.values))

    @property
    def missed(self) -> float:
        """The largest probability of a disaster that so many values would have missed once in twenty times."""
        return float(1 - UNSEEN ** (1 / max(self.values, 1)))


def pooled(settings: npt.ArrayLike, values: npt.ArrayLike) -> Residuals:
    """The residuals of all settings that have several values.

    With r a residual from the mean of its setting's n values, the unbiased third moment of a setting is
    n sum r^3 / ((n - 1) (n - 2)), of variance 6 sigma^6 n / ((n - 1) (n - 2)) under Gaussian noise; they are averaged with
    the reciprocals of these as weights, and the sum is divided by its standard error.

    Parameters
    ----------
    settings : array of int of shape (n,)
        Which values are of one setting.
    values : array of shape (n,)
        The values, to be maximised.
    """
    y = np.asarray(values, dtype=np.float64)
    _, group = np.unique(np.asarray(settings), return_inverse=True)
    sizes = np.bincount(group)
    kept = sizes[group] > 1
    if not kept.any():
        return Residuals(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
    y, group = y[kept], np.unique(group[kept], return_inverse=True)[1]
    sizes = np.bincount(group)
    n = sizes[group]
    pairs = float((sizes * (sizes - 1) / 2).sum())
    order = np.lexsort((y, group))
    new = np.append(True, (np.diff(y[order]) != 0) | (np.diff(group[order]) != 0))
    runs = np.diff(np.append(np.flatnonzero(new), len(y)))
    tied = float((runs * (runs - 1) / 2).sum()) / pairs
    size = float(np.abs(y).max()) or 1.0
    y = y / size  # so that powers neither over- nor underflow
    r = y - (np.bincount(group, y) / sizes)[group]
    freedom = len(y) - len(sizes)
    sd = float(np.sqrt((r**2).sum() / freedom))
    if sd <= 1e-14:
        return Residuals(len(y), len(sizes), freedom, 0.0, 0.0, 0.0, 0.0, tied)
    z = r / sd
    weight = float(((sizes - 1) * (sizes - 2) / sizes).sum())
    skewness = float((z**3).sum()) / np.sqrt(6 * weight) if weight else 0.0
    farthest = float(np.abs(z * np.sqrt(n / (n - 1))).max())
    shortfall = float((-r * n / (n - 1)).max())
    return Residuals(len(y), len(sizes), freedom, sd * size, skewness, shortfall * size, farthest, tied)


@dataclass(frozen=True)
class RangeSeen:
    """Bets against H0: f < target, of any distribution of values that fall at most `depth` short of f.

    A bet of the share b turns the capital into 1 + b (y - target) / depth times itself, and the bets are averaged over b, as for
    `Bounded`. At f = target - g the factor is at most 1 in expectation: its mean is 1 - b g / depth, and cutting it off at zero
    where y lies below target - depth adds at most b g / depth.
    """

    depth: float
    seen: int = 0  # so many values tell the depth
    gaussian = False
    sigma = 0.0
    credit: ClassVar[float] = 0.0

    @property
    def guarantee(self) -> str:
        """What the certificate rests on, in words."""
        return (
            f"valid for any noise in which no value falls more than {self.depth:.3g} short of its setting's mean, judged by "
            f"{self.seen} repeated values"
        )

    def log_evidence(self, values: Array, target: float) -> float:
        """log of the mean over b of prod max(0, 1 + b (y - target) / depth)."""
        factors = np.maximum(1 + BETS[:, None] * ((values - target) / self.depth), 0.0)
        with np.errstate(divide="ignore"):
            return float(logsumexp(np.log(factors).sum(axis=1)) - np.log(len(BETS)))

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """log(1 + gap^2 / sigma^2) / 2, about what the best bet earns, or what the largest one does if that is less."""
        return float(min(0.5 * np.log1p((gap / sigma) ** 2), np.log1p(gap / self.depth)))


@dataclass(frozen=True)
class Rate(Bounded):
    """Passes and fails: bets between the two."""

    guarantee = "valid for independent passes and fails"


@dataclass(frozen=True)
class Cautious:
    """Gaussian noise of any standard deviation, and bets that hold without that: the smaller evidence of the two counts."""

    bets: RangeSeen
    residuals: Residuals
    gaussian = True
    sigma = 0.0
    credit: ClassVar[float] = 0.0

    @property
    def guarantee(self) -> str:
        """What the certificate rests on, in words."""
        return _gaussian_words(self.residuals)

    def log_evidence(self, values: Array, target: float) -> float:
        """The smaller log E_m of the two."""
        return min(LearnedNoise().log_evidence(values, target), self.bets.log_evidence(values, target))

    def rate(self, gap: float, sigma: float, target: float) -> float:
        """The smaller rate of the two."""
        return min(LearnedNoise().rate(gap, sigma, target), self.bets.rate(gap, sigma, target))


@dataclass(frozen=True)
class Gaussian(LearnedNoise):
    """`LearnedNoise`, with words for what speaks for it."""

    residuals: Residuals

    @property
    def guarantee(self) -> str:  # type: ignore[override]
        """What the certificate rests on, in words."""
        return _gaussian_words(self.residuals)


def _gaussian_words(seen: Residuals) -> str:
    return (
        f"valid for Gaussian noise of any standard deviation: {seen.values} repeated values at {seen.settings} "
        f"{'setting' if seen.settings == 1 else 'settings'} show nothing else; disasters in fewer than "
        f"{100 * seen.missed:.2g} % of the evaluations would not have shown and are not covered"
    )


@dataclass(frozen=True)
class Choice:
    """The test to use, None where no test could hold, and why.

    `enough` says whether the test may certify: as long as few repeats were seen, nobody knows how deep a tail goes.
    """

    shape: Shape
    test: EProcess | None
    reason: str
    enough: bool = True


def rescaled(test: EProcess, scaler: OutputScaler) -> EProcess:
    """The same test in the model's units."""
    if isinstance(test, Bounded):
        return Bounded(*scaler.standardise([test.low, test.high]))
    if isinstance(test, RangeSeen):
        return replace(test, depth=max(scaler.standardise_std(test.depth), 1e-12))
    if isinstance(test, Cautious):
        return replace(test, bets=replace(test.bets, depth=max(scaler.standardise_std(test.bets.depth), 1e-12)))
    return test


def choose(settings: npt.ArrayLike, values: npt.ArrayLike, target: float) -> Choice:
    """The test of H0: f < target that holds for values like these, as far as they show what they are like.

    Parameters
    ----------
    settings : array of int of shape (n,)
        Which values are of one setting.
    values : array of shape (n,)
        All own values of the study, the first at each setting as well, to be maximised.
    target : float
        What a good setting reaches.

    Returns
    -------
    Choice
        - "rate": only 0 and 1 (or -1 and 0, to be maximised) were seen, passes and fails: bets between them;
        - "pile": values pile up at the best of all: bets down to the lowest value seen, or wider;
        - "coarse": values at one setting are often equal: bets within the widened range of the residuals;
        - "skewed": the residuals have a tail towards bad values, or one far out: likewise;
        - "few": fewer than `FEW` degrees of freedom, and nothing yet speaks against Gaussian noise: `Cautious`;
        - "gaussian": nothing speaks against it;
        - "unknown": no two values at one setting differ, or no number of passes would show the target: no test.
    """
    y = np.asarray(values, dtype=np.float64)
    ends = ends_of_a_rate(y, target)
    if ends is not None:
        if target >= ends[1]:
            return Choice("unknown", None, "no number of passes shows that every evaluation would pass")
        return Choice("rate", Rate(*ends), "the values are passes and fails")
    seen = pooled(settings, y)
    if seen.sd == 0:
        return Choice("unknown", None, "no two values at one setting differ: nothing shows how far a value may fall")
    depth, enough = max(WIDER * seen.shortfall, NARROW * seen.sd), seen.freedom >= FEW
    top = float(y.max())
    piled = int((y == top).sum())
    if piled >= PILED and seen.tied > 0 and piled >= 0.1 * seen.values and _repeated(settings, y, top):
        return Choice(
            "pile",
            RangeSeen(max(depth, target - float(y.min())), seen.values),
            f"{piled} of {len(y)} values equal the best one, as at a bound",
            enough,
        )
    if seen.tied > TIED:
        distinct = np.unique(y)
        step = float(np.diff(distinct).min())
        return Choice(
            "coarse", RangeSeen(max(depth, 3 * step), seen.values), "values at one setting are often equal", enough
        )
    if seen.skewness < -SKEWED or seen.unusual:
        return Choice(
            "skewed", RangeSeen(depth, seen.values), "the residuals have a tail that Gaussian noise has not", enough
        )
    if seen.freedom < FEW:
        bets = RangeSeen(NARROW * seen.sd, seen.values)
        return Choice("few", Cautious(bets, seen), "too few repeats to show a shape")
    return Choice("gaussian", Gaussian(seen), "the residuals show nothing but Gaussian noise")


def ends_of_a_rate(y: Array, target: float) -> tuple[float, float] | None:
    """The values of a fail and a pass, if nothing else was seen."""
    if ((y == 0) | (y == 1)).all() and ((y == 1).any() or target > 0):
        return 0.0, 1.0
    if ((y == 0) | (y == -1)).all() and target <= 0:
        return -1.0, 0.0
    return None


def _repeated(settings: npt.ArrayLike, y: Array, top: float) -> bool:
    """Whether the best value was seen twice at one setting."""
    at_top = np.asarray(settings)[y == top]
    return len(np.unique(at_top)) < len(at_top)
