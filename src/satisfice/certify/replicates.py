"""Confirming under noise: which points have been asked again, and whether to ask one again or to explore.

The first value at a point may have been luck, for it is why the point was chosen; so may the second, a second look, which is why
the point was pursued or left. A candidate is a point that has been asked again after that: all later values are fresh. What is
a candidate and what is fresh follows from the history alone. A look that disappoints costs nothing of the error that
the candidates share.
"""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, log

import numpy as np
import numpy.typing as npt

from satisfice.certify.eprocess import Certificate, EProcess, level, look_skewed, lower_bound
from satisfice.types import Array

PATIENCE = 20  # so many repeats are always affordable,
SHARE = 4.0  # and so many in all for each evaluation that was no repeat
LOYALTY = 3.0  # another candidate must look so much cheaper to confirm before the present one is left
DOUBT = 0.75  # posterior standard deviations taken off a gap: the best of many estimates is too good to be true
TRIES = 3  # a point where so many evaluations in a row failed is not asked again
BY_CHANCE = 0.02  # so rarely may coarse values under noise be taken for exact ones
COARSEST = 10_000  # a fraction with at most this denominator is coarse
OWN = 5.0  # the repeats at a point outweigh the model's estimate of the noise when there are more than this


def key_of(u: npt.ArrayLike) -> bytes:
    """What tells a point of the unit cube from all others, however it was written in the user's units; -0.0 is 0.0."""
    return (np.asarray(u, dtype=np.float64) + 0.0).tobytes()


@dataclass
class ReplicateLog:
    """Which values are fresh; the search writes it."""

    first: dict[bytes, float] = field(default_factory=dict)  # the first value at each point
    looked: set[bytes] = field(default_factory=set)  # the points that have had their second look
    fresh: dict[bytes, list[float]] = field(default_factory=dict)  # the later values, at the points that have some
    current: bytes | None = None  # the point that was asked again last
    failures: Counter[bytes] = field(default_factory=Counter)  # so many evaluations in a row failed at a point
    dropped: set[bytes] = field(default_factory=set)  # the points that are neither asked again nor certified
    own: dict[bytes, float] = field(default_factory=dict)  # the first value at each point that is not out of a table
    same: int = 0  # so many values were the same as the first one of our own at their point,
    different: int = 0  # and so many were not
    coarse: bool = True  # whether all values of our own are counts, grades or shares, as far as can be seen
    entries: int = 0  # so often was something entered

    def add(self, key: bytes, value: float, fresh: bool) -> bool:
        """Enter a value; whether it may count: it is fresh, and not the first one at its point.

        Tables may be rounded, or have the same row twice: they do not tell whether there is noise.
        """
        self.entries += 1
        del self.failures[key]
        known = key in self.first
        self.first.setdefault(key, value)
        if fresh and key in self.own:
            self.same += self.own[key] == value
            self.different += self.own[key] != value
        elif fresh:
            self.own[key] = value
            self.coarse = self.coarse and _is_coarse(value)
        return known and fresh

    def count(self, key: bytes, value: float) -> bool:
        """Let a value that may count do so; whether it is a fresh one of a candidate."""
        if self.ask_again(key) and key not in self.dropped:
            self.fresh[key].append(value)
            return True
        return False

    def ask_again(self, key: bytes) -> bool:
        """A point is being asked again: for its second look or, from now on at the latest, as a candidate; whether the latter."""
        self.entries += 1
        if key not in self.first:
            return False
        self.current = key
        if key not in self.looked:
            self.looked.add(key)
            return False
        self.fresh.setdefault(key, [])
        return True

    def fail(self, key: bytes, bad: bool) -> None:
        """Enter an evaluation without a value; where that is missing because it was bad, the others show too much."""
        self.ask_again(key)
        self.failures[key] += 1
        if bad or self.failures[key] >= TRIES:
            self.dropped.add(key)

    @property
    def deterministic(self) -> bool | None:
        """Whether repeats give identical values; None as long as too few were made.

        One identical repeat is enough, but not of counts, grades and shares, of which two may well be equal by chance: of those
        so many that chance would hardly do it, given how often different points have the same value, and many of 0 and 1, which
        are passes and fails.
        """
        if self.different:
            return False
        if self.same == 0:
            return None
        values, n = Counter(self.own.values()), len(self.own)
        wanted = 1
        if self.coarse or len(values) < n:
            pairs, equal = n * (n - 1) / 2, sum(count * (count - 1) / 2 for count in values.values())
            chance = 0.9 if values.keys() <= {0.0, 1.0} else (equal + 1) / (pairs + 8)
            wanted = max(3, ceil(log(BY_CHANCE) / log(chance)))
        return True if self.same >= wanted else None


def _is_coarse(value: float) -> bool:
    """Whether a value is a fraction of whole numbers with a small denominator, as are counts, grades and shares of few."""
    near = Fraction(value).limit_denominator(COARSEST)
    return abs(float(near) - value) <= 1e-12 * abs(value)


def certificate(test: EProcess, values: Array, target: float, delta: float, tested: int) -> Certificate | None:
    """The certificate that the fresh values give, if they give one."""
    share = level(delta, tested)
    if test.log_evidence(values, target) < -np.log(share):
        return None
    skewed = test.gaussian and look_skewed(values)
    return Certificate(test.guarantee, 1 - delta, len(values), lower_bound(test, values, share), tested, skewed)


@dataclass(frozen=True)
class Prospect:
    """A point that might be certified; values in the model's units."""

    index: int  # of a value at the point
    gap: float  # the posterior mean, less `DOUBT` standard deviations, less the target
    spread: float  # the standard deviation of the noise at the point
    evidence: float  # log E_m of its fresh values
    tested: bool  # whether it is a candidate
    present: bool  # whether it was asked again last


@dataclass(frozen=True)
class ReplicationPlan:
    """Whether to ask a point again, and what it would cost."""

    repeat: int | None  # the index of a value at the point to ask again; None: explore
    cheapest: int | None  # likewise of the point that is cheapest to certify
    cost: float  # about so many fresh values would certify that
    margin: float  # what a point must have above the target to be affordable, in units of the noise


def plan(
    test: EProcess,
    prospects: list[Prospect],
    target: float,
    delta: float,
    tested: int,
    evaluations: int,
    repeats: int,
) -> ReplicationPlan:
    """Compare what it would take to certify each of the points.

    `test` and `target` are in the model's units, as the prospects are. If evidence e is wanting and each fresh value brings
    `test.rate`, then e / rate values are needed. A point is asked again where that is affordable, given the numbers of
    evaluations and of repeats among them so far; if none is, the search explores for a point that would be.
    """
    affordable = max(PATIENCE, SHARE * (evaluations - repeats) - repeats)
    opening, going_on = (-np.log(level(delta, max(k, 1))) for k in (tested + 1, tested))
    costs = {}
    for prospect in prospects:
        if prospect.gap > 0:
            wanting = (going_on if prospect.tested else opening) - prospect.evidence
            costs[prospect] = max(wanting / max(test.rate(prospect.gap, prospect.spread, target), 1e-300), 1.0)
    margin = float(np.sqrt(2 * opening / affordable))
    if not costs:
        return ReplicationPlan(None, None, np.inf, margin)
    chosen = min(costs, key=lambda prospect: costs[prospect])
    for prospect, cost in costs.items():
        if prospect.present and cost <= LOYALTY * costs[chosen]:
            chosen = prospect
    return ReplicationPlan(
        chosen.index if costs[chosen] <= affordable else None, chosen.index, float(costs[chosen]), margin
    )


def own_spread(values: Array, sigma: float) -> float:
    """The standard deviation of the noise at a point: its own repeats, and the model's estimate as if from `OWN` of them."""
    if len(values) < 2:
        return sigma
    squares = float(((values - values.mean()) ** 2).sum())
    return float(np.sqrt((OWN * sigma**2 + squares) / (OWN + len(values) - 1)))
