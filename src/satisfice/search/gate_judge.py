"""`Judge`: one requirement of a gate, its values, and the evidence for and against it."""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaincinv

from satisfice.certificates.eprocess import look_skewed, lower_bound
from satisfice.certificates.gate import AnyGate, Bets, Course, GateTest, GaussianGate, Passes, StudentGate, gate_for
from satisfice.checks import sign_of
from satisfice.search.gate_answer import CertifiedRequirement, Evidence, GateVerdict
from satisfice.search.specification import Requirement
from satisfice.types import Array

DENSE = 200  # values up to which a gate that chooses its test by the values looks after each of them
SURPRISE = 0.001  # so rarely is the spread of the values as large if the stated noise is right
EXACT = "one value is enough: `noise=0` was stated"
NO_TEST = "no test could hold yet"


class Judge:
    """One requirement: its values, and the evidence for and against it."""

    def __init__(self, requirement: Requirement, bars: tuple[float, float], gaussian: bool, differences: bool) -> None:
        self.requirement, self.bars, self.differences = requirement, bars, differences
        self.sign = sign_of(requirement.direction)
        self.goal = self.sign * requirement.target
        self.exact = requirement.noise == 0 and requirement.noise is not None
        self.gaussian = gaussian
        self.test = self._stated()
        self.courses = None
        if self.test is not None:
            self.courses = Course(self.test, self.goal), Course(self.test.mirrored(), -self.goal)
        self.raw: list[float] = []  # as they came
        self.values: list[float] = []  # those that count, to be maximised
        self.evidence: list[Evidence] = []
        self.found: tuple[AnyGate | None, AnyGate | None] = (self.test, self.test and self.test.mirrored())
        self.why = ""
        self.verdict: GateVerdict = "open"

    def _stated(self) -> GateTest | None:
        """The test that was stated; None if the values must show it, or one value is enough."""
        requirement = self.requirement
        if requirement.limits is not None:
            low, high = sorted(self.sign * end for end in requirement.limits)
            return (Passes if requirement.counts_passes else Bets)(low, high)
        if isinstance(requirement.noise, float) and requirement.noise > 0:
            return GaussianGate(requirement.noise)
        return StudentGate() if self.gaussian and not self.exact else None

    @property
    def identical(self) -> int:
        """How many values there are, if all are equal and no end of a range; else 0."""
        if self.exact or isinstance(self.test, Passes | GaussianGate) or len(set(self.values)) != 1:
            return 0
        first, limits = self.raw[0], self.requirement.limits
        passes = first in (0.0, 1.0) and limits is None and not self.differences
        unlike = self.differences and first == 0 and limits == (-1.0, 1.0)  # as where both of a pair pass
        return 0 if passes or unlike or first in (limits or ()) else len(self.values)

    def add(self, value: float) -> None:
        """Take one value."""
        self.raw.append(value)
        self._count(self.sign * self.requirement.read(value))

    def fail(self) -> None:
        """Take a run without a value: a fail where only passes count."""
        if self.requirement.counts_passes:
            worst = np.inf if self.requirement.sense == "<=" else -np.inf
            if isinstance(self.requirement.statistic, tuple):
                self.raw.append(worst)
                self._count(0.0)
            else:  # for a rate that must be small, the pass is what must not happen
                self.raw.append(0.0 if self.requirement.sense == ">=" else 1.0)
                self._count(0.0 if self.requirement.sense == ">=" else -1.0)

    def _count(self, value: float) -> None:
        self.values.append(value)
        m = len(self.values)
        if self.exact:
            self.verdict = self.verdict if m > 1 else "good" if value >= self.goal else "bad"
            return
        if self.courses is not None:
            good, bad = self.courses[0].add(value), self.courses[1].add(-value)
        elif m <= DENSE or m % (m // 100) == 0:
            good, bad = self._look()
        else:
            return
        if self.identical > 1:
            good = bad = 0.0
        self.evidence.append(Evidence(m, good, bad))
        # once passed, a stated test has spoken; one that the values choose must still hold when the others are good
        if self.verdict == "open" or (self.verdict == "good" and self.test is None):
            self.verdict = "good" if good >= self.bars[0] else "bad" if bad >= self.bars[1] else "open"

    def _look(self) -> tuple[float, float]:
        """The evidence by the tests that suit the values so far; none as long as they may not certify."""
        y = np.array(self.values)
        found, said = [], []
        for sign in (1.0, -1.0):
            test, why, enough = gate_for(sign * y, sign * self.goal)
            found.append(test)
            said.append(test.log_evidence(sign * y, sign * self.goal) + test.credit if test and enough else 0.0)
            if sign == 1.0:
                self.why = why
        self.found = found[0], found[1]
        return said[0], said[1]

    @property
    def counted(self) -> Array:
        """The values that count, to be maximised."""
        return np.array(self.values)

    def answer(self, brief: bool) -> CertifiedRequirement:
        """What is known of the requirement."""
        m = len(self.values)
        passed = None
        if self.requirement.counts_passes or all(value in (0.0, 1.0) for value in self.raw):
            passes = sum(self.requirement.read(value) > 0 for value in self.raw)
            passed = int(passes) if m else None
        value, interval = self._estimate(brief)
        bars = (0.0, 0.0) if self.exact else self.bars
        needed, looks_missed = self._needed()
        return CertifiedRequirement(
            self.requirement, self.verdict, value, interval, passed, m, self._guarantee(),
            () if brief else tuple(self.evidence), bars, needed, looks_missed,
        )  # fmt: skip

    def _guarantee(self) -> str:
        if self.exact:
            return EXACT
        test = self.found[self.verdict == "bad"]
        return NO_TEST if test is None else test.guarantee

    def _estimate(self, brief: bool) -> tuple[float | None, tuple[float, float] | None]:
        """The estimate, and the targets that neither test rejects."""
        if not self.values:
            return None, None
        if isinstance(self.requirement.statistic, tuple):
            return self._quantile(self.requirement.statistic[1], brief)
        y = self.counted
        mean = float((y / len(y)).sum())
        if brief:
            return self.sign * mean, None
        if self.exact:
            return self.sign * mean, (self.sign * mean, self.sign * mean)
        ends = []
        for test, sign in zip(self.found, (1.0, -1.0), strict=True):
            usable = test is not None and self.identical < 2
            ends.append(sign * _bound(test, sign * y, self.bars[0]) if test and usable else -sign * np.inf)
        low, high = sorted(self.sign * end for end in ends)
        limits = self.requirement.limits or (-np.inf, np.inf)
        return self.sign * mean, (max(low, limits[0]), min(high, limits[1]))

    def _quantile(self, q: float, brief: bool) -> tuple[float, tuple[float, float] | None]:
        """The sample quantile, and the thresholds of which neither side is certified by the passes they would count.

        The quantile is at most t where P(y <= t) >= q is certified, and above t where P(y > t) > 1 - q is.
        """
        values = np.sort(self.raw)
        m, found = len(values), float(np.quantile(self.raw, q, method="inverted_cdf"))
        if brief:
            return found, None
        test = Passes(0.0, 1.0)

        def certified(passes: int, target: float) -> bool:
            counted = np.arange(m) < passes
            return test.log_evidence(counted.astype(float), target) >= self.bars[0]

        above = _least(lambda k: certified(k, q), m)  # so many values up to t put the quantile at most at t
        below = _least(lambda k: certified(k, 1 - q), m)  # so many values beyond t put it above t
        low = -np.inf if below is None else float(values[m - below])
        high = np.inf if above is None else float(values[above - 1])
        return found, (low, high)

    def _needed(self) -> tuple[int | None, bool]:
        """About how many more values the side needs that the estimate speaks for, and whether that is the bad one."""
        if self.exact:
            return (None if self.values else 1), False
        if len(self.values) < 2 or not self.evidence or self.verdict != "open":
            return None, False
        y = self.counted
        gap = float((y / len(y)).sum()) - self.goal
        missed = gap < 0
        test = self.found[missed]
        if test is None or gap == 0 or self.identical > 1:
            return None, missed
        sd = float(y.std(ddof=1)) or (test.high - test.low if isinstance(test, Bets) else 0.0) / len(y)
        sigma = test.sigma or sd
        sign = -1.0 if missed else 1.0
        rate = test.rate(abs(gap), sigma, sign * self.goal) if sigma > 0 else 0.0
        last = self.evidence[-1]
        left = self.bars[missed] - (last.bad if missed else last.good)
        return (None if rate <= 0 else max(1, int(min(np.ceil(left / rate), 10**9)))), missed

    def notes(self) -> list[str]:
        """Remarks about the values."""
        found, name = [], f"{self.requirement.name}: " if self.requirement.name != "value" else ""
        y = self.counted
        if self.identical > 1:
            found.append(
                f"{name}all {self.identical} values are {self.raw[0]:.6g}: if a run always gives the same value, pass `noise=0`; "
                "if runs share a seed or a cache, they say nothing of other runs"
            )
        elif isinstance(self.test, GaussianGate | StudentGate) and look_skewed(y):
            found.append(
                f"{name}the values look skewed, and Gaussian noise is assumed: state `value_range` for an answer without that"
            )
        elif self.test is None and not self.exact and len(y) > 1 and self.found[0] is None:
            found.append(f"{name}{self.why}")
        if isinstance(self.test, GaussianGate) and len(y) > 1:
            most = float(np.sqrt(2 * gammaincinv(0.5 * (len(y) - 1), 1 - SURPRISE) / (len(y) - 1)))
            spread = float(y.std(ddof=1))
            if spread > most * self.test.sigma:
                found.append(
                    f"{name}the standard deviation of the values is {spread:.3g}, the stated one {self.test.sigma:g}"
                )
        return found


def _bound(test: AnyGate, values: Array, bar: float) -> float:
    """The highest target that the values certify at the level exp(-bar)."""
    if isinstance(test, Bets):  # between the end of the range and the mean
        low, high = test.low, float(values.mean())
        for _ in range(60):
            middle = 0.5 * low + 0.5 * high
            low, high = (middle, high) if test.log_evidence(values, middle) >= bar else (low, middle)
        return low
    return lower_bound(test, values, float(np.exp(-bar)))


def _least(holds: Callable[[int], bool], m: int) -> int | None:
    """The smallest k of 1, ..., m for which `holds`, which goes on holding; None if there is none."""
    if not holds(m):
        return None
    low, high = 0, m
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
