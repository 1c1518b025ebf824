"""Replicates under noise: which values may certify a point, and whether to replicate a point or to explore.

A point becomes a candidate at its third evaluation; the first two selected it and are therefore biased. The first value made the
point promising, the second one, its second look, decided whether it was pursued. All later values are *fresh*: only they count
towards a certificate. What is a candidate and what is fresh follows from the history alone. A disappointing second look costs
nothing of the error that the candidates share.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from satisfice.certificates.eprocess import Certificate, EProcess, bar, level, look_skewed, lower_bound
from satisfice.certificates.exactness import Exactness, exactness
from satisfice.types import Array

PATIENCE = 20  # replicates that are always affordable
SHARE = 4.0  # replicates that each other evaluation pays for
LOYALTY = 3.0  # leave the current candidate only for one that is this many times cheaper to certify
DOUBT = 0.75  # posterior standard deviations subtracted from a gap: the best of many estimates is biased upwards
TRIES = 3  # a point is given up after this many failures in a row
OWN = 5.0  # the model's estimate of the noise weighs as much as this many replicates


def key_of(u: npt.ArrayLike) -> bytes:
    """Identify a point of the unit cube.

    Parameters
    ----------
    u
        The point (d,).

    Returns
    -------
    bytes
        The same for equal points, also for 0.0 and -0.0.
    """
    return (np.asarray(u, dtype=np.float64) + 0.0).tobytes()


@dataclass
class ReplicateLog:
    """Which values are fresh, and whether replicates agree.

    Parameters
    ----------
    first
        The first value at each point.
    looked
        The points that had their second look.
    fresh
        The fresh values of each candidate.
    current
        The point that was replicated last.
    failures
        The number of failures in a row at each point.
    dropped
        The points that are neither replicated nor certified.
    own
        The first value at each point that is not from a table.
    entries
        The number of changes to this log.
    target
        What a good value reaches.
    size
        How many settings there are; None for a domain that has no end of them.
    """

    first: dict[bytes, float] = field(default_factory=dict)
    looked: set[bytes] = field(default_factory=set)
    fresh: dict[bytes, list[float]] = field(default_factory=dict)
    current: bytes | None = None
    failures: Counter[bytes] = field(default_factory=Counter)
    dropped: set[bytes] = field(default_factory=set)
    own: dict[bytes, float] = field(default_factory=dict)
    entries: int = 0
    target: float = np.inf
    size: int | None = None
    _numbers: dict[bytes, int] = field(default_factory=dict)  # of the points with own values
    _settings: list[int] = field(default_factory=list)  # that number for each own value
    _values: list[float] = field(default_factory=list)  # the own values
    _exactness: tuple[tuple[int, int], Exactness] | None = None  # with the counts of own values and dropped points

    def add(self, key: bytes, value: float, fresh: bool) -> bool:
        """Record a value.

        Values from tables may be rounded or duplicated, so they do not show whether there is noise.

        Returns
        -------
        bool
            Whether the value may count towards a certificate: it is fresh and not the first one at its point.
        """
        self.entries += 1
        del self.failures[key]
        known = key in self.first
        self.first.setdefault(key, value)
        if fresh:
            self.own.setdefault(key, value)
            self._settings.append(self._numbers.setdefault(key, len(self._numbers)))
            self._values.append(value)
        return known and fresh

    def count(self, key: bytes, value: float) -> bool:
        """Count a value for which `add` returned True; return whether it is a fresh value of a candidate."""
        if self.replicate(key) and key not in self.dropped:
            self.fresh[key].append(value)
            return True
        return False

    def replicate(self, key: bytes) -> bool:
        """Record that a point is evaluated again; return whether it is a candidate now."""
        self.entries += 1
        if key not in self.first:
            return False
        self.current = key
        if key not in self.looked:
            self.looked.add(key)
            return False
        self.fresh.setdefault(key, [])
        return True

    def fail(self, key: bytes, bad: bool, tries: int = TRIES) -> None:
        """Record an evaluation without a value.

        `bad` drops the point, since its other values are a biased selection, and so do `tries` failures in a row.
        """
        self.replicate(key)
        self.failures[key] += 1
        if bad or self.failures[key] >= tries:
            self.dropped.add(key)

    @property
    def exactness(self) -> Exactness:
        """What the own values show of the noise."""
        counts = len(self._values), len(self.dropped)
        if self._exactness is None or self._exactness[0] != counts:
            skip = frozenset(self._numbers[key] for key in self.dropped if key in self._numbers)
            more = self.size is None or len(self._numbers) < self.size
            found = exactness(self._settings, self._values, target=self.target, skip=skip, may_explore=more)
            self._exactness = counts, found
        return self._exactness[1]

    @property
    def own_values(self) -> tuple[list[int], list[float]]:
        """The number of the setting of each own value, and the values, in their order."""
        return self._settings, self._values


def certificate(test: EProcess, values: Array, target: float, delta: float, tested: int) -> Certificate | None:
    """Certify a point from its fresh values, if they suffice.

    Parameters
    ----------
    test
        The e-process that suits the noise.
    values
        The fresh values (m,) of the point.
    target
        What the mean must reach.
    delta
        The error that all candidates share.
    tested
        The number of candidates so far, this one included.

    Returns
    -------
    Certificate or None
        None as long as the evidence is too weak.
    """
    share = level(delta, tested)
    if test.log_evidence(values, target) < bar(test, share):
        return None
    skewed = test.gaussian and look_skewed(values)
    return Certificate(test.guarantee, 1 - delta, len(values), lower_bound(test, values, share), tested, skewed)


@dataclass(frozen=True)
class Prospect:
    """A point that might be certified; values in the model's units.

    Parameters
    ----------
    index
        The index of an observation at the point.
    gap
        The posterior mean - `DOUBT` posterior standard deviations - the target.
    spread
        The standard deviation of the noise at the point.
    evidence
        log E_m of its fresh values.
    tested
        Whether it is a candidate.
    current
        Whether it was the last point to be replicated.
    """

    index: int
    gap: float
    spread: float
    evidence: float
    tested: bool
    current: bool


@dataclass(frozen=True)
class ReplicationPlan:
    """Which point to replicate, if any, and what certifying it would cost.

    Parameters
    ----------
    repeat
        The index of an observation at the point to replicate; None: explore.
    cheapest
        Likewise, of the point that is cheapest to certify.
    cost
        The expected number of fresh values that certify it.
    margin
        How far above the target a point must lie to be affordable, in units of the noise.
    """

    repeat: int | None
    cheapest: int | None
    cost: float
    margin: float


Worth = Callable[[int], float]


def even(index: int) -> float:
    """What certifying a point is worth where all good points are: one."""
    return 1.0


def plan_replication(
    test: EProcess,
    prospects: list[Prospect],
    target: float,
    delta: float,
    tested: int,
    evaluations: int,
    repeats: int,
    worth: Worth = even,
) -> ReplicationPlan:
    """Compare what it would cost to certify each prospect.

    The cheapest one is replicated if that is affordable; otherwise the search explores for a better one.

    Parameters
    ----------
    test
        The e-process, in the model's units.
    prospects
        The points that may be certified.
    target
        The target in the model's units.
    delta
        The error that all candidates share.
    tested
        The number of candidates so far.
    evaluations, repeats
        The number of evaluations so far, and how many of them are fresh values.
    worth
        What certifying the point of an observation is worth: the price is the cost divided by that.

    Returns
    -------
    ReplicationPlan
        The point to replicate, if one is affordable.
    """
    costs = costs_of(test, prospects, target, delta, tested)
    return cheapest_plan(costs, delta, tested, evaluations, repeats, worth, credit=test.credit)


def costs_of(
    test: EProcess, prospects: list[Prospect], target: float, delta: float, tested: int
) -> dict[Prospect, float]:
    """The expected number of fresh values that certify each prospect; the parameters are those of `plan_replication`.

    A prospect that lacks evidence e, to which each fresh value adds about `test.rate`, needs e / rate values.
    """
    to_start, to_continue = (bar(test, level(delta, max(k, 1))) for k in (tested + 1, tested))
    costs = {}
    for prospect in prospects:
        if prospect.gap > 0:
            missing = (to_continue if prospect.tested else to_start) - prospect.evidence
            costs[prospect] = max(missing / max(test.rate(prospect.gap, prospect.spread, target), 1e-300), 1.0)
    return costs


def cheapest_plan(
    costs: dict[Prospect, float],
    delta: float,
    tested: int,
    evaluations: int,
    repeats: int,
    worth: Worth = even,
    *,
    credit: float = 0.0,
) -> ReplicationPlan:
    """The plan for what each prospect costs; `credit` is the test's, the rest as for `plan_replication`."""
    affordable = max(PATIENCE, SHARE * (evaluations - repeats) - repeats)
    margin = float(np.sqrt(2 * (-np.log(level(delta, tested + 1)) - credit) / affordable))
    if not costs:
        return ReplicationPlan(None, None, np.inf, margin)
    prices = {prospect: cost / worth(prospect.index) for prospect, cost in costs.items()}
    chosen = min(prices, key=lambda prospect: prices[prospect])
    for prospect, price in prices.items():
        if prospect.current and price <= LOYALTY * prices[chosen]:
            chosen = prospect
    return ReplicationPlan(
        chosen.index if costs[chosen] <= affordable else None, chosen.index, float(costs[chosen]), margin
    )


def own_spread(values: Array, sigma: float) -> float:
    """Estimate the noise at a point from its fresh values and the model's estimate, sqrt((OWN sigma^2 + S) / (OWN + m - 1)).

    Parameters
    ----------
    values
        The fresh values (m,), with sum of squared deviations S.
    sigma
        The model's estimate of the standard deviation.

    Returns
    -------
    float
        The standard deviation.
    """
    if len(values) < 2:
        return sigma
    squares = float(((values - values.mean()) ** 2).sum())
    return float(np.sqrt((OWN * sigma**2 + squares) / (OWN + len(values) - 1)))
