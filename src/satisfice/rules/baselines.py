"""Rules that explore without a target, to compare others with: random, sobol, etc."""

from dataclasses import dataclass
from typing import ClassVar

from numpy.random import Generator, default_rng

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.joint import AnyBelief
from satisfice.acquisition.optimise import first_free, maximise, taken, unasked
from satisfice.acquisition.scores import bound_score
from satisfice.errors import SpaceExhausted
from satisfice.rules.requirements import Requirements, single
from satisfice.types import Array


@dataclass(frozen=True)
class Random:
    """Uniform over the domain."""

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """A point drawn uniformly, but not one to avoid."""
        point = belief.domain.uniform(1, rng)
        return _unasked(belief, rng, point[0]) if taken(point, belief.avoid, belief.domain)[0] else point[0]


@dataclass(frozen=True)
class Sobol:
    """One scrambled Sobol sequence, point by point; on a small domain, all points in a random order."""

    joint: ClassVar = True

    def propose(self, belief: AnyBelief, rng: Generator) -> Array:
        """Point number `step` of the sequence that belongs to the seed, or the next one that need not be avoided."""
        same_for_every_step = default_rng([belief.seed, 0])
        count = max(64, 1 << belief.step.bit_length())
        sequence = belief.domain.candidates(count, same_for_every_step)
        if belief.points is not None:
            sequence = belief.points
        if len(sequence) == belief.domain.size:  # all points, in the order of their coordinates
            sequence = sequence[same_for_every_step.permutation(len(sequence))]
        rest = sequence[(belief.step - 1) % len(sequence) :]
        free = first_free(rest, belief.avoid, belief.domain)
        if free is not None:
            return rest[free]
        return _unasked(belief, rng, rest[0])


def _unasked(belief: AnyBelief, rng: Generator, instead: Array) -> Array:
    """A random point that need not be avoided; under noise, if there is none, `instead`."""
    try:
        return unasked(belief.domain, belief.avoid, rng)
    except SpaceExhausted:
        if not belief.may_repeat:
            raise
        return instead


@dataclass(frozen=True)
class ExploreThenCommit:
    """Evaluate the point of largest std for some rounds, then that of highest mean (appendix A).

    Parameters
    ----------
    rounds
        How many rounds explore.
    """

    rounds: int = 30

    requirements: ClassVar = Requirements(single=True)

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The most uncertain point, and after `rounds` rounds the one of highest mean."""
        single(belief)
        explore = belief.step <= self.rounds
        return maximise(bound_score(belief, by_mean=float(not explore), by_std=float(explore)), belief, rng)
