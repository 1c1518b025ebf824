"""`Observations`: the values and failures that a search has seen, and what they certify by themselves, without a model."""

from collections.abc import Sized
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.certify.eprocess import Bounded, Certificate, EProcess, KnownNoise, LearnedNoise, checked_range
from satisfice.certify.replicates import ReplicateLog, certificate, key_of
from satisfice.checks import checked_direction, number, sign_of, stated_noise
from satisfice.domain.box import Box, Domain
from satisfice.domain.finite import Finite
from satisfice.domain.mixed import Mixed
from satisfice.errors import BadInput
from satisfice.types import Array, Noise


class Rows:
    """An array that grows by rows in amortised constant time; arrays handed out earlier never change."""

    def __init__(self, *shape: int) -> None:
        self._room = np.empty((16, *shape))
        self._count = 0

    def append(self, row: Array | float) -> None:
        """Add a row at the end."""
        if self._count == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._count] = row
        self._count += 1

    @property
    def array(self) -> Array:
        """All rows so far."""
        return self._room[: self._count]


class Observations:
    """All that was told of a domain and a target, as values to be maximised."""

    def __init__(
        self,
        domain: Domain,
        target: float,
        *,
        direction: str,
        noise: Noise,
        confidence: float,
        value_range: tuple[float, float] | None,
    ) -> None:
        if not isinstance(domain, Box | Mixed | Finite):
            raise BadInput(f"domain: {domain!r} came; a Box, a Mixed or a Finite was wanted")
        if not 0 < number(confidence, "confidence") < 1:
            raise BadInput(f"confidence: {confidence!r} came; a number between 0 and 1 was wanted, such as 0.95")
        self.domain = domain
        self.target = number(target, "target")
        self.direction = checked_direction(direction)
        self.confidence = float(confidence)
        self._sign = sign_of(direction)
        self.value_range = checked_range(value_range, self.target)
        self._stated_noise = "learn" if noise is None and value_range is not None else stated_noise(noise)
        best = None if self.value_range is None else max(self.value_range, key=lambda end: self._sign * end)
        if self.target == best and self._stated_noise != 0:
            raise BadInput(
                f"target: {self.target:g} came, the best end of value_range; under noise no number of values shows that the mean "
                "is not a little short of it: give a target short of it, or say noise=0 if there is none"
            )
        d = domain.dimension
        self._told, self._scaled, self._values = Rows(d), Rows(d), Rows()
        self._failures = Rows(d)
        self._failed_keys: list[bytes] = []
        self._replicates = ReplicateLog()
        self._certificate: tuple[int, Certificate] | None = None  # with the index of its point
        self.unseen = 0  # so many candidates may be under test elsewhere that nobody has told of yet

    @property
    def _X(self) -> Array:
        """The points (n, d) as they were told."""
        return self._told.array

    @property
    def _U(self) -> Array:
        """The points (n, d) in the unit cube."""
        return self._scaled.array

    @property
    def _y(self) -> Array:
        """The values (n,), to be maximised."""
        return self._values.array

    @property
    def _failed(self) -> Array:
        """The points (k, d) of the unit cube whose evaluation failed."""
        return self._failures.array

    @property
    def deterministic(self) -> bool | None:
        """Whether the objective is noise-free; None as long as nobody knows."""
        if self._stated_noise is not None:
            return self._stated_noise == 0
        return self._replicates.deterministic

    @property
    def exhausted(self) -> bool:
        """Whether every point of a finite domain has a value; how a point was written makes no difference."""
        size = self.domain.size
        return size is not None and len(self._U) >= size and len({key_of(u) for u in self._U}) == size

    def tell(self, x: npt.ArrayLike, value: float, *, fresh: bool = True, held: bool = False) -> None:
        """Record the value seen at x, whether x was asked for or not.

        `fresh=False` is for values that were perhaps chosen, such as those of an old table: they teach and certify nothing.
        A `held` value teaches, and counts towards a certificate when `count` is called.
        """
        u = self._point(x)
        if self.value_range is not None and isinstance(value, bool | np.bool_):
            value = float(value)  # a pass or a fail
        y = self._sign * number(value, "value", "; report a failed evaluation by fail(x)")
        if self.value_range is not None and not self.value_range[0] <= value <= self.value_range[1]:
            low, high = self.value_range
            raise BadInput(f"value: {value!r} came; one within the stated range, {low:g} to {high:g}, was wanted")
        self._told.append(np.asarray(x, dtype=np.float64) + 0.0)
        self._scaled.append(u)
        self._values.append(y)
        if self._replicates.add(key_of(u), y, fresh) and not held:
            self.count(x, value)

    def count(self, x: npt.ArrayLike, value: float) -> None:
        """Let a held value, not the first one at its point, count towards a certificate."""
        key = self.key(x)
        if (
            self._replicates.count(key, self._sign * value)
            and self._certificate is None
            and self.deterministic is False
        ):
            values = np.array(self._replicates.fresh[key])
            found = certificate(self.test, values, self._goal, self._delta, self.tested)
            if found is not None:
                self._certificate = next(k for k, u in enumerate(self._U) if key_of(u) == key), found

    def fail(self, x: npt.ArrayLike, *, bad: bool = False) -> None:
        """Record that the evaluation of x failed: it gave no value, and the search keeps away from there.

        `bad=True` says that it has none because it went badly: it was pruned, or broke a constraint. Such a point is never
        certified, since its other values are those that went better.
        """
        u = self._point(x)
        self._failures.append(u)
        self._failed_keys.append(key_of(u))
        self._replicates.fail(key_of(u), bad)

    @property
    def _hopeless(self) -> Array:
        """The points (k, d) that failed, without those that have values as well and may be asked again."""
        ledger = self._replicates
        chosen = [key not in ledger.first or key in ledger.dropped for key in self._failed_keys]
        return self._failed[np.array(chosen, dtype=bool)]

    def key(self, x: npt.ArrayLike) -> bytes:
        """What tells the point x from all others: 0.3 and 0.1 + 0.2 are one point where the domain has only one there."""
        return key_of(self._point(x))

    def is_candidate(self, x: npt.ArrayLike) -> bool:
        """Whether the point x is one that has been tested, or is being tested."""
        return self.key(x) in self._replicates.fresh

    def fresh_values(self, x: npt.ArrayLike) -> Array:
        """The fresh values (m,) seen at the point x, in the user's units."""
        return self._sign * np.array(self._replicates.fresh.get(self.key(x), []))

    @property
    def _delta(self) -> float:
        """The error that a verdict may have."""
        return 1 - self.confidence

    @property
    def _goal(self) -> float:
        """The target, to be reached from below."""
        return self._sign * self.target

    @property
    def tested(self) -> int:
        """How many candidates have been tested, or may have been."""
        return len(self._replicates.fresh) + self.unseen

    @property
    def test(self) -> EProcess:
        """The test that goes with what is known of the noise."""
        if self.value_range is not None:
            return Bounded(*sorted(self._sign * end for end in self.value_range))
        return KnownNoise(self._stated_noise) if isinstance(self._stated_noise, float) else LearnedNoise()

    @property
    def _explored(self) -> int:
        """How many of the values are not fresh ones of a candidate."""
        return len(self._y) - sum(len(values) for values in self._replicates.fresh.values())

    def _point(self, x: npt.ArrayLike) -> Array:
        U = self.domain.to_unit(x)
        if np.ndim(x) != 1:
            raise BadInput(f"x: shape {np.shape(x)} came; one point of {self.domain.dimension} coordinates was wanted")
        return U[0]

    def _pending(self, pending: Any) -> Array:
        if isinstance(pending, Sized) and len(pending) == 0:
            return np.empty((0, self.domain.dimension))
        return self.domain.to_unit(pending)
