"""`Observations`: the values and failures a search has been told, and what they certify without a model."""

from collections.abc import Sized
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.certificates.eprocess import Bounded, Certificate, EProcess, KnownNoise, LearnedNoise
from satisfice.certificates.replicates import ReplicateLog, certificate, key_of
from satisfice.certificates.shape import Choice, Rate, choose, ends_of_a_rate
from satisfice.checks import number
from satisfice.domain.region import Region
from satisfice.errors import BadInput
from satisfice.search.config import SearchConfig
from satisfice.search.failures import TRIES, poor, tries
from satisfice.search.improvement import Improvement
from satisfice.types import Array, Domain

IN_A_ROW = 2  # failures of a setting without a value, after which others are asked first


class _Rows:
    """An array that grows by rows in amortised constant time; arrays handed out earlier never change."""

    def __init__(self, *shape: int) -> None:
        self._room = np.empty((16, *shape))
        self._count = 0

    def append(self, row: Array | float) -> None:
        if self._count == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._count] = row
        self._count += 1

    @property
    def array(self) -> Array:
        return self._room[: self._count]


class Observations:
    """All values and failures so far, as values to be maximised.

    Parameters
    ----------
    domain
        Where the search looks.
    config
        What it looks for.
    """

    def __init__(self, domain: Domain, config: SearchConfig) -> None:
        d = domain.dimension
        self.domain, self.config = domain, config
        self.replicates = ReplicateLog(target=config.goal, size=domain.size)
        self.unseen = 0  # candidates that may be under test elsewhere, not yet told
        self._X, self._U, self._y, self._failed = _Rows(d), _Rows(d), _Rows(), _Rows(d)
        self._fresh: list[bool] = []  # whether each value is
        self._inside: list[bool] = []  # whether each value's point satisfies the constraints
        self._table: dict[bytes, list[int]] = {}  # the indices of the others at each point
        self._failed_keys: list[bytes] = []
        self._failed_set: set[bytes] = set()
        self._own_at: dict[bytes, list[int]] = {}
        self._certified: dict[int, Certificate] = {}  # under noise; several only where some points are preferred
        self.improvement: Improvement | None = None  # the preference, if there is one
        self._certified_by: EProcess | None = None
        self._contradicted: dict[int, float] = {}
        self._rate: tuple[int, bool] | None = None  # with the count of own values
        self._choice: tuple[int, Choice] | None = None  # likewise

    @property
    def X(self) -> Array:
        """The evaluated points (n, d) as they were told."""
        return self._X.array

    @property
    def U(self) -> Array:
        """The evaluated points (n, d) in the unit cube."""
        return self._U.array

    @property
    def y(self) -> Array:
        """The values (n,), to be maximised; those of a table that own values contradict are replaced by these."""
        if not self._contradicted or not (wrong := self.contradicted):
            return self._y.array
        y = self._y.array.copy()
        for index, value in wrong.items():
            y[index] = value
        return y

    @property
    def contradicted(self) -> dict[int, float]:
        """The values of a table (by index) that differ from the first own value at their point, with that."""
        return {} if self.deterministic is False else dict(self._contradicted)

    @property
    def own(self) -> npt.NDArray[np.bool_]:
        """Which values (n,) are fresh: asked for by this search, not out of a table. Only they certify anything."""
        return np.array(self._fresh, dtype=bool)

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which values (n,) belong to points that satisfy the constraints: earlier data may not."""
        return np.array(self._inside, dtype=bool)

    def allows(self, x: npt.ArrayLike) -> bool:
        """Whether the point x satisfies the constraints of the domain."""
        return not isinstance(self.domain, Region) or bool(self.domain.allows(np.atleast_2d(np.asarray(x)))[0])

    def refuse_outside(self, x: npt.ArrayLike) -> None:
        """Raise BadInput if the point x breaks a constraint."""
        if isinstance(self.domain, Region) and not self.allows(x):
            broken = self.domain.limits.broken(np.asarray(x))
            raise BadInput(
                f"`x` must satisfy the constraints; it breaks {broken}. The model may train on it as a value of earlier data: "
                "pass fresh=False."
            )

    def told(self, index: int) -> float:
        """The value as it was told, to be maximised."""
        return float(self._y.array[index])

    @property
    def unverified(self) -> list[int]:
        """The indices of values out of a table at points without an own value, the best first."""
        log = self.replicates
        keys = [key for key in self._table if key not in log.own and key not in log.dropped]
        return sorted((k for key in keys for k in self._table[key]), key=lambda k: (-self._y.array[k], k))

    @property
    def failed(self) -> Array:
        """The points (k, d) of the unit cube whose evaluation failed."""
        return self._failed.array

    @property
    def written_off(self) -> Array:
        """The points (k, d) where evaluations fail, rather than failed by chance; those with values may be evaluated again."""
        log = self.replicates
        if not len(self.failed):
            return self.failed
        rare = poor(self.U, self.failed)
        lost = [
            key in log.dropped or (key not in log.first and (few or log.failures[key] >= IN_A_ROW))
            for key, few in zip(self._failed_keys, rare, strict=True)
        ]
        return self.failed[np.array(lost, dtype=bool)]

    @property
    def certificate(self) -> tuple[int, Certificate] | None:
        """The certificate with the index of an observation at its point; None as long as there is none."""
        if self.improvement is not None:
            preferred = self.improvement.best
            return None if preferred is None else (preferred, self._certificate_of(preferred))
        if not self.deterministic or len(self.y) == 0:
            return next(iter(self._certified.items()), None)
        best = self.best
        if not self.own[best] or self.y[best] < self.config.goal:
            return None
        return best, self._exact_certificate(best)

    @property
    def all_certified(self) -> list[int]:
        """An index of each certified point, in the order in which they were certified."""
        if not self.deterministic:
            return list(self._certified)
        return [int(k) for k in np.flatnonzero(self.own & (self.y >= self.config.goal))]

    def _certificate_of(self, index: int) -> Certificate:
        return self._exact_certificate(index) if self.deterministic else self._certified[index]

    def _exact_certificate(self, index: int) -> Certificate:
        """The certificate of a good own value of an objective without noise."""
        stated = self.config.noise == 0
        why = "one value is enough: `noise=0` was stated" if stated else str(self.replicates.exactness)
        return Certificate(why, 1.0 if stated else None, 0, self.config.sign * float(self.y[index]), 0)

    @property
    def best(self) -> int:
        """The index of the best own value if it is good, else of the best one of all."""
        y = self.y
        if not all(self._inside) and any(self._inside):
            y = np.where(self.inside, y, -np.inf)
        own = int(np.argmax(np.where(self.own, y, -np.inf)))
        return own if self.own[own] and y[own] >= self.config.goal else int(np.argmax(y))

    @property
    def deterministic(self) -> bool | None:
        """Whether the objective is free of noise, or taken to be; None as long as that is unknown.

        Passes and fails are a rate as soon as one passes, if the target lies between: no repeats tell them from exact values.
        """
        if self.config.noise is not None:
            return self.config.noise == 0
        if self.rate_seen:
            return False
        return self.replicates.exactness.noise_free

    @property
    def rate_seen(self) -> bool:
        """Whether only passes and fails were seen, one of them a pass, and the target is a rate between the two."""
        values = self.replicates.own_values[1]
        if self._rate is None or self._rate[0] != len(values):
            ends = ends_of_a_rate(np.array(values), self.config.goal) if values else None
            seen = ends is not None and ends[0] < self.config.goal < ends[1] and max(values) >= self.config.goal
            self._rate = len(values), seen
        return self._rate[1]

    @property
    def limits(self) -> tuple[float, float] | None:
        """The range of values to be maximised, as stated, or that of the passes and fails that were seen."""
        test = self._chosen.test
        return (test.low, test.high) if isinstance(test, Rate) else self.config.limits

    @property
    def exhausted(self) -> bool:
        """Whether every point of a finite domain has a value."""
        size = self.domain.size
        return size is not None and len(self.U) >= size and len({key_of(u) for u in self.U[self.inside]}) == size

    @property
    def complete(self) -> bool:
        """Whether every point of a finite domain has an own value, and the objective is taken to be noise-free."""
        return (
            self.deterministic is True and self.domain.size is not None and len(self.replicates.own) >= self.domain.size
        )

    def second_chance(self, pending: Array) -> int | None:
        """The failed evaluation to repeat where a finite domain has no other point left: they may have failed by chance."""
        size, log = self.domain.size, self.replicates
        if size is None or not len(self.failed) or len(self.U) + len(self.failed) + len(pending) < size:
            return None
        waiting = {key_of(u) for u in pending}
        if len(log.first.keys() | self._failed_set | waiting) < size:
            return None
        closed = log.first.keys() | log.dropped | waiting
        left = [k for k, key in enumerate(self._failed_keys) if key not in closed and log.failures[key] < TRIES]
        return min(left, key=lambda k: (log.failures[self._failed_keys[k]], k), default=None)

    def own_at(self, key: bytes) -> list[int]:
        """The indices of the own values at a point, in their order."""
        return self._own_at.get(key, [])

    def has_failed(self, key: bytes) -> bool:
        """Whether an evaluation of the point failed."""
        return key in self._failed_set

    @property
    def tested(self) -> int:
        """The number of candidates that have been tested, or may have been."""
        return len(self.replicates.fresh) + self.unseen

    @property
    def explored(self) -> int:
        """The number of values that are not fresh values of a candidate."""
        return len(self.y) - sum(len(values) for values in self.replicates.fresh.values())

    @property
    def test(self) -> EProcess:
        """The e-process that suits what is known of the noise: stated, or seen in the values; also where it may not certify."""
        return self._chosen.test or LearnedNoise()

    @property
    def _chosen(self) -> Choice:
        """The test that what was stated calls for, else the one that the own values do."""
        if self.config.limits is not None:
            return Choice("stated", Bounded(*self.config.limits), "the range was stated")
        if isinstance(self.config.noise, float):
            return Choice("stated", KnownNoise(self.config.noise), "the noise was stated")
        settings, values = self.replicates.own_values
        if self._choice is None or self._choice[0] != len(values):
            self._choice = len(values), choose(np.array(settings), np.array(values), self.config.goal)
        return self._choice[1]

    def tell(self, x: npt.ArrayLike, value: float, *, fresh: bool = True, held: bool = False) -> bool:
        """Record a value, see `Search.tell`; whether it counts, as fresh and not the first one at its point."""
        u, limits = self._point(x), self.config.value_range
        if isinstance(value, bool | np.bool_):
            value = float(value)  # a pass or a fail
        y = self.config.sign * number(value, "value", hint=" Report a failed evaluation by fail(x).")
        if limits is not None and not limits[0] <= value <= limits[1]:
            raise BadInput(f"`value` must lie within the stated range, {limits[0]:g} to {limits[1]:g}; got {value!r}.")
        if fresh:
            self.refuse_outside(x)
        inside = fresh or self.allows(x)
        self._X.append(np.asarray(x, dtype=np.float64) + 0.0)
        self._inside.append(inside)
        if not inside:
            self.replicates.dropped.add(key_of(u))
        self._U.append(u)
        self._y.append(y)
        self._note_contradictions(key_of(u), y, fresh)
        counts = self.replicates.add(key_of(u), y, fresh)
        if isinstance(self._certified_by, Rate) and not isinstance(self.test, Rate):
            self._certified, self._certified_by = {}, None  # the values are no passes and fails after all
        if counts and not held:
            self.count(x, value)
        return counts

    def _note_contradictions(self, key: bytes, y: float, fresh: bool) -> None:
        """Note the values of a table at this point that differ from the first own value there."""
        own = self.replicates.own.get(key, y if fresh else None)
        self._fresh.append(fresh)
        if fresh:
            self._own_at.setdefault(key, []).append(len(self._fresh) - 1)
        if not fresh:
            self._table.setdefault(key, []).append(len(self._fresh) - 1)
        if own is not None:
            for k in self._table.get(key, []):
                if self._y.array[k] != own:
                    self._contradicted.setdefault(k, own)

    def count(self, x: npt.ArrayLike, value: float) -> None:
        """Let a held value count towards a certificate; it must not be the first one at its point."""
        key, config = self.key(x), self.config
        if not self.replicates.count(key, config.sign * value) or self.deterministic is not False:
            return
        if self._certified and (self.improvement is None or self.index_of(key) in self._certified):
            return
        found = self.certified(key, self.tested)
        if found is not None:
            self._certified[self.index_of(key)], self._certified_by = found, self._chosen.test

    def certified(self, key: bytes, tested: int) -> Certificate | None:
        """The certificate of a point: of its own value without noise, else of its fresh values, if they suffice.

        `tested` is the number of candidates that share the error.
        """
        config, chosen = self.config, self._chosen
        if self.deterministic:
            own = self.own_at(key)
            return self._exact_certificate(own[0]) if own and self.y[own[0]] >= config.goal else None
        values = np.array(self.replicates.fresh.get(key, []))
        if self.deterministic is None or not len(values) or chosen.test is None or not chosen.enough:
            return None
        found = certificate(chosen.test, values, config.goal, config.error_rate, tested)
        return None if found is None else replace(found, bound=config.sign * found.bound)

    def index_of(self, key: bytes) -> int:
        """The index of the first value at a point."""
        return next(k for k, u in enumerate(self.U) if key_of(u) == key)

    @property
    def undecided(self) -> "list[Observations]":
        """These observations, as long as it is not known whether they have noise."""
        return [self] if self.deterministic is None else []

    def fail(self, x: npt.ArrayLike, *, bad: bool = False) -> None:
        """Record a failed evaluation; see `Search.fail`."""
        u = self._point(x)
        self._failed.append(u)
        self._failed_keys.append(key_of(u))
        self._failed_set.add(key_of(u))
        self.replicates.fail(key_of(u), bad, tries(len(self.y), len(self.failed)))

    def key(self, x: npt.ArrayLike) -> bytes:
        """Identify the point x: 0.3 and 0.1 + 0.2 are one point where the domain has only one of them."""
        return key_of(self._point(x))

    def is_candidate(self, x: npt.ArrayLike) -> bool:
        """Whether the point x has been tested, or is being tested."""
        return self.key(x) in self.replicates.fresh

    def fresh_values(self, x: npt.ArrayLike) -> Array:
        """The fresh values (m,) at the point x, in the user's units."""
        return self.config.sign * np.array(self.replicates.fresh.get(self.key(x), []))

    def pending(self, X: Any) -> Array:
        """The points that are being evaluated now, in the unit cube (k, d)."""
        if isinstance(X, Sized) and len(X) == 0:
            return np.empty((0, self.domain.dimension))
        return self.domain.to_unit(X)

    def _point(self, x: npt.ArrayLike) -> Array:
        U = self.domain.to_unit(x)
        if np.ndim(x) != 1:
            raise BadInput(f"`x` must be one point of {self.domain.dimension} coordinates; got shape {np.shape(x)}.")
        return U[0]
