"""`JointObservations`: the values of several requirements, and what they certify without a model.

Each requirement has `Observations` of its own (noise, e-process), over the same points. Together they look like those of one
number to the stages: the smallest margin of a point, which must be at least 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.certificates.eprocess import Certificate
from satisfice.certificates.replicates import ReplicateLog, key_of
from satisfice.certificates.shape import Rate
from satisfice.errors import BadInput
from satisfice.search.config import SearchConfig
from satisfice.search.improvement import Improvement
from satisfice.search.observations import Observations
from satisfice.types import Array, Domain

SHORT = -1e-300  # the margin of a point that passes as far as it was measured


@dataclass(frozen=True)
class JointCertificate:
    """Why a point meets all requirements.

    The test is one of intersections and unions: a point that misses a requirement is called good only if the e-process of just
    that requirement passes, so each of them is tested at the full level of the candidate.

    Parameters
    ----------
    index
        The index of an evaluation of the point.
    parts
        The certificate of each requirement.
    critical
        The requirement with the least evidence, or without noise with the smallest margin.
    """

    index: int
    parts: tuple[Certificate, ...]
    critical: int


class JointObservations:
    """All evaluations so far, each of several values.

    Parameters
    ----------
    domain
        Where the search looks.
    config
        What it looks for.
    """

    def __init__(self, domain: Domain, config: SearchConfig) -> None:
        if config.specification is None:
            raise BadInput("`target` must have requirements here.")
        self.domain, self.config, self.specification = domain, config, config.specification
        self.parts = tuple(Observations(domain, config.alone(each)) for each in self.specification)
        self.trunk = next(part for part, each in zip(self.parts, self.specification, strict=True) if not each.deferred)
        self.unseen = 0  # candidates that may be under test elsewhere, not yet told
        self._places: list[list[int]] = [[] for _ in self.parts]  # the index of each evaluation among a part's, or -1
        self._held: dict[bytes, list[tuple[bool, ...]]] = {}  # which values of a held evaluation will count
        self._certified: dict[int, JointCertificate] = {}  # under noise; several only where some points are preferred
        self.improvement: Improvement | None = None  # the preference, if there is one
        self._rates: tuple[Observations, ...] = ()  # the parts whose certificate is that of a rate

    @property
    def X(self) -> Array:
        """The evaluated points (n, d) as they were told."""
        return self.trunk.X

    @property
    def U(self) -> Array:
        """The evaluated points (n, d) in the unit cube."""
        return self.trunk.U

    @property
    def margins(self) -> Array:
        """How far each value is good (n, requirements), in standard deviations of its requirement; nan if not measured."""
        found = np.full((len(self.U), len(self.parts)), np.nan)
        for k, part in enumerate(self.parts):
            if len(part.y):
                unit = float(part.y.std()) or abs(part.config.goal) or 1.0
                places = np.array(self._places[k])
                found[places >= 0, k] = (part.y[places[places >= 0]] - part.config.goal) / unit
        return found

    @property
    def y(self) -> Array:
        """The smallest margin of each evaluation (n,), at least 0 where it meets all requirements."""
        margins = self.margins
        if not len(margins):
            return np.empty(0)
        smallest = np.nanmin(margins, axis=1)
        return np.where(np.isnan(margins).any(axis=1), np.minimum(smallest, SHORT), smallest)

    @property
    def own(self) -> npt.NDArray[np.bool_]:
        """Which evaluations (n,) are fresh: asked for by this search, not out of a table."""
        return self.trunk.own

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which evaluations (n,) are of points that satisfy the constraints: earlier data may not be."""
        return self.trunk.inside

    def allows(self, x: npt.ArrayLike) -> bool:
        """Whether the point x satisfies the constraints of the domain."""
        return self.trunk.allows(x)

    @property
    def best(self) -> int:
        """The index of the best own evaluation if it is good, else of the best one of all."""
        y = np.where(self.inside, self.y, -np.inf)
        own = int(np.argmax(np.where(self.own, y, -np.inf)))
        return own if self.own[own] and y[own] >= 0 else int(np.argmax(y))

    @property
    def contradicted(self) -> dict[int, float]:
        """The first requirement's values of a table that differ from the first own value at their point, with that."""
        return self.trunk.contradicted

    @property
    def unverified(self) -> list[int]:
        """The indices of evaluations out of a table at points without an own one, the best first."""
        y = self.y
        return sorted(self.trunk.unverified, key=lambda k: (-y[k], k))

    @property
    def failed(self) -> Array:
        """The points (k, d) of the unit cube whose evaluation failed."""
        return self.trunk.failed

    @property
    def written_off(self) -> Array:
        """The points (k, d) where evaluations fail, rather than failed by chance."""
        return self.trunk.written_off

    @property
    def deterministic(self) -> bool | None:
        """Whether all values are free of noise; None as long as that is unknown."""
        found = {part.deterministic for part in self.parts}
        return False if False in found else None if None in found else True

    @property
    def undecided(self) -> list[Observations]:
        """The requirements of which it is not known whether they have noise."""
        return [part for part in self.parts if part.deterministic is None and len(part.y)]

    @property
    def exhausted(self) -> bool:
        """Whether every point of a finite domain has a value."""
        return self.trunk.exhausted

    @property
    def complete(self) -> bool:
        """Whether every point of a finite domain was evaluated, and all values are taken to be noise-free."""
        size = self.domain.size
        return self.deterministic is True and size is not None and len(self.trunk.replicates.own) >= size

    @property
    def replicates(self) -> ReplicateLog:
        """Which evaluations are fresh."""
        return self.trunk.replicates

    @property
    def candidates(self) -> dict[bytes, None]:
        """The points that have been tested in any requirement, in their order."""
        return {key: None for part in (self.trunk, *self.parts) for key in part.replicates.fresh}

    @property
    def tested(self) -> int:
        """The number of candidates that have been tested, or may have been; they share the error, the requirements do not."""
        return len(self.candidates) + self.unseen

    @property
    def explored(self) -> int:
        """The number of evaluations that are not fresh ones of a candidate."""
        return self.trunk.explored

    @property
    def certificates(self) -> JointCertificate | None:
        """Why a point meets all requirements; None as long as none is certified."""
        if not self.deterministic or not len(self.U):
            certified = list(self._certified)
            if self.improvement is not None:
                certified = [k for k in certified if k == self.improvement.best]
            return self._certified[certified[0]] if certified else None
        best = self.best
        if self.improvement is not None and self.improvement.best is not None:
            best = self.improvement.best
        if not self.own[best] or self.y[best] < 0:
            return None
        return self._certify(key_of(self.U[best]))

    @property
    def all_certified(self) -> list[int]:
        """An index of each certified point, in the order in which they were certified."""
        if not self.deterministic:
            return list(self._certified)
        return [int(k) for k in np.flatnonzero(self.own & (self.y >= 0))] if len(self.U) else []

    @property
    def certificate(self) -> tuple[int, Certificate] | None:
        """The certificate of the critical requirement, with the index of an evaluation of its point."""
        found = self.certificates
        return None if found is None else (found.index, found.parts[found.critical])

    def second_chance(self, pending: Array) -> int | None:
        """The failed evaluation to repeat where a finite domain has no other point left."""
        return self.trunk.second_chance(pending)

    def own_at(self, key: bytes) -> list[int]:
        """The indices of the own evaluations of a point, in their order."""
        return self.trunk.own_at(key)

    def has_failed(self, key: bytes) -> bool:
        """Whether an evaluation of the point failed."""
        return self.trunk.has_failed(key)

    def key(self, x: npt.ArrayLike) -> bytes:
        """Identify the point x."""
        return self.trunk.key(x)

    def pending(self, X: Any) -> Array:
        """The points that are being evaluated now, in the unit cube (k, d)."""
        return self.trunk.pending(X)

    def is_candidate(self, x: npt.ArrayLike) -> bool:
        """Whether the point x has been tested, or is being tested."""
        return self.key(x) in self.candidates

    def place(self, part: int, index: int) -> int | None:
        """The index of an evaluation among the values of a requirement, or of another value there; None if there is none."""
        key = key_of(self.U[index])
        places = self._places[part]
        if places[index] >= 0:
            return places[index]
        return next((k for k, u in enumerate(self.parts[part].U) if key_of(u) == key), None)

    def wants(self, x: npt.ArrayLike, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the values that are still needed at the point x; see `Search.wants`."""
        first = tuple(each.name for each in self.specification if not each.deferred and values.get(each.name) is None)
        deferred = [each.name for each in self.specification if each.deferred and values.get(each.name) is None]
        if first or not deferred:
            return first
        return tuple(deferred) if self._others_pass(self.key(x), self.specification.readings(values)) else ()

    def _others_pass(self, key: bytes, values: Mapping[str, float]) -> bool:
        """Whether the requirements that are not deferred pass: by their earlier values at the point, if there are any.

        There the values of this evaluation must not decide: noise that they share with the deferred ones would select these.
        """
        for part, each in zip(self.parts, self.specification, strict=True):
            if each.deferred and part.own_at(key):
                return True
        for part, each in zip(self.parts, self.specification, strict=True):
            if not each.deferred:
                before = part.own_at(key)
                mean = part.y[before].mean() if before else part.config.sign * values[each.name]
                if mean < part.config.goal:
                    return False
        return True

    def check_complete(self, x: npt.ArrayLike, values: Any) -> None:
        """Raise BadInput if a deferred value is missing where it is wanted."""
        self.specification.readings(values)
        missing = self.wants(x, values)
        if missing:
            raise BadInput(
                f"The value {missing[0]!r} is needed here, since the other requirements pass: `wants` says so. Measure it, and "
                "tell all values together."
            )

    def tell(self, x: npt.ArrayLike, values: Any, *, fresh: bool = True, held: bool = False) -> None:
        """Record an evaluation; see `Search.tell`."""
        readings = self.specification.readings(values)
        if fresh:
            self.trunk.refuse_outside(x)
        counts = []
        for k, (part, each) in enumerate(zip(self.parts, self.specification, strict=True)):
            there = each.name in readings
            counts.append(there and part.tell(x, readings[each.name], fresh=fresh, held=True))
            self._places[k].append(len(part.y) - 1 if there else -1)
        if any(counts):
            self._held.setdefault(self.key(x), []).append(tuple(counts))
            if not held:
                self.count(x, values)
        if any(not isinstance(part.test, Rate) for part in self._rates):
            self._certified, self._rates = {}, ()  # the values are no passes and fails after all
            self._certify_candidates()

    def count(self, x: npt.ArrayLike, values: Any) -> None:
        """Let a held evaluation count towards a certificate; it must not be the first one at its point."""
        key, readings = self.key(x), self.specification.readings(values)
        for part, each, counts in zip(self.parts, self.specification, self._held[key].pop(0), strict=True):
            if counts:
                part.replicates.count(key, part.config.sign * readings[each.name])
        self._certify_candidates()

    def _certify_candidates(self) -> None:
        """Certify the first candidate at which all requirements pass; each one where some are preferred."""
        if self.deterministic is not False:
            return
        for key in self.candidates:
            if self._certified and (self.improvement is None or self.trunk.index_of(key) in self._certified):
                continue
            found = self._certify(key)
            if found is not None:
                self._certified[found.index] = found
                self._rates = tuple(part for part in self.parts if isinstance(part.test, Rate))

    def _certify(self, key: bytes) -> JointCertificate | None:
        """The certificate of a point, if every requirement passes at the level of the candidate."""
        if any(key in part.replicates.dropped for part in self.parts):
            return None
        found = []
        for part in self.parts:
            certificate = part.certified(key, max(self.tested, 1))
            if certificate is None:
                return None
            found.append(certificate)
        return JointCertificate(self.trunk.index_of(key), tuple(found), self.critical(key))

    def critical(self, key: bytes) -> int:
        """The requirement with the least evidence at a point, or without noise with the smallest margin."""
        evidence = []
        for part in self.parts:
            values = np.array(part.replicates.fresh.get(key, []))
            exact = part.deterministic or not len(values)
            evidence.append(np.inf if exact else part.test.log_evidence(values, part.config.goal))
        if min(evidence) < np.inf:
            return int(np.argmin(evidence))
        return int(np.nanargmin(self.margins[self.trunk.index_of(key)]))

    def fail(self, x: npt.ArrayLike, *, bad: bool = False) -> None:
        """Record a failed evaluation; see `Search.fail`."""
        for part in self.parts:
            part.fail(x, bad=bad)
