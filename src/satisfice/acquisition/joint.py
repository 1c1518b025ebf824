"""`JointBelief`: what a rule sees of several requirements, a belief about each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.types import Array, Domain


@dataclass(frozen=True)
class JointBelief:
    """What is known of several requirements before an evaluation; a point is good if it meets all of them.

    The requirements are taken to be independent given the evaluations: P(good) is the product over them.

    Parameters
    ----------
    parts
        The belief about each requirement, in the units of its own model.
    best
        The most promising points so far (k, d), best first.
    avoid
        Points (k, d) that must not be proposed.
    may_repeat
        Whether a point may be evaluated again if no other is left, as under noise.
    shortfall
        The smallest amount, over the evaluated points, by which all targets would have to be lowered for a point to be good.
    stale
        The number of evaluations since that became so small.
    """

    parts: tuple[Belief, ...]
    best: Array
    avoid: Array
    may_repeat: bool
    shortfall: float = np.inf
    stale: int = 0

    @property
    def domain(self) -> Domain:
        """Where to look."""
        return self.parts[0].domain

    @property
    def step(self) -> int:
        """The number of the coming evaluation."""
        return self.parts[0].step

    @property
    def seed(self) -> int:
        """The seed of the search."""
        return self.parts[0].seed

    @property
    def target(self) -> tuple[float, ...]:
        """What each requirement must reach."""
        return tuple(part.target for part in self.parts)

    @property
    def points(self) -> Array | None:
        """All points of a finite domain (|D|, d), None for any other domain."""
        return self.parts[0].points

    @cached_property
    def _places(self) -> Belief:
        """A belief about nothing that has the promising points."""
        return replace(self.parts[0], members=(), best=self.best, avoid=self.avoid)

    def candidates(self, rng: Generator) -> tuple[Array, Array]:
        """Points all over the domain (m, d), and perturbed copies of the best points (k, d), both snapped."""
        return self._places.candidates(rng)

    def probability_good(self, U: Array) -> Array:
        """P(f_i >= target_i for all i) = prod_i P(f_i >= target_i) at each of the points U (m, d), (m,)."""
        return np.asarray(np.prod([part.probability_good(U) for part in self.parts], axis=0))

    def only(self, chosen: Sequence[int]) -> "JointBelief":
        """The belief about some of the requirements."""
        return replace(self, parts=tuple(self.parts[k] for k in chosen))

    def assuming_bad(self, U: Array) -> "JointBelief":
        """The belief if the points U (k, d) were clearly bad, each in the requirement that it is most likely to miss."""
        return self._assuming(U, failed=False)

    def assuming_failed(self, U: Array) -> "JointBelief":
        """The same for points that gave no values: they are no better than the median."""
        return self._assuming(U, failed=True)

    def _assuming(self, U: Array, failed: bool) -> "JointBelief":
        if len(U) == 0:
            return self
        worst = np.argmin([part.probability_good(U) for part in self.parts], axis=0)
        parts = []
        for k, part in enumerate(self.parts):
            chosen = U[worst == k]
            if len(chosen):
                part = part.assuming_failed(chosen) if failed else part.assuming_bad(chosen)
            parts.append(part)
        return replace(self, parts=tuple(parts), avoid=np.vstack([self.avoid, U]))


AnyBelief = Belief | JointBelief
