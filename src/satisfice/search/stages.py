"""The stages that choose the next point, in order; the first one that proposes a point wins.

Each stage takes the `Turn` and returns a point (d,) in the user's units, or None to leave the choice to the next stage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import taken
from satisfice.certificates.replicates import ReplicationPlan, key_of
from satisfice.errors import BadInput
from satisfice.rules import Rule
from satisfice.rules.baselines import Sobol
from satisfice.search.joint_observations import JointObservations
from satisfice.search.joint_surrogate import JointSurrogate
from satisfice.search.observations import Observations
from satisfice.search.surrogate import Surrogate
from satisfice.types import Array

LOOK_AROUND = 3  # under noise every third new point is a neighbour of the most promising one: the model may be wrong
NEIGHBOURHOOD = 0.1  # the largest scale of a step to a neighbour, in the unit cube


@dataclass(frozen=True)
class Turn:
    """What the stages know.

    Parameters
    ----------
    observations
        What the search has been told.
    surrogate
        What the model makes of it.
    rule
        The rule that applies now.
    pending
        The points (k, d) of the unit cube that are being evaluated.
    step
        The number of the evaluation to come, counted from 1.
    rng
        The random numbers of this turn.
    """

    observations: Observations | JointObservations
    surrogate: Surrogate | JointSurrogate
    rule: Rule
    pending: Array
    step: int
    rng: Generator

    @cached_property
    def plan(self) -> ReplicationPlan | None:
        """Which point to replicate; None without noise or a model, or with `confirm=False`."""
        return self.surrogate.plan() if self.observations.config.confirm else None

    @property
    def improving(self) -> bool:
        """Whether a setting is certified, and one that the user prefers is searched for."""
        return self.observations.improvement is not None and self.observations.improvement.going_on

    @property
    def asked(self) -> Array:
        """All points of the unit cube that were asked before."""
        return np.vstack([self.observations.U, self.observations.failed, self.pending])

    def waiting_at(self, index: int) -> int:
        """How many evaluations are pending at the point of an observation."""
        return self.waiting_for(self.observations.U[index])

    def waiting_for(self, u: Array) -> int:
        """How many evaluations are pending at the point u (d,) of the unit cube."""
        return int((self.pending == u).all(axis=1).sum())

    def noise_check(self) -> tuple[bool, Array | None]:
        """Whether a repeat would tell if there is noise, and the point of that; None if it is pending."""
        for seen in self.observations.undecided:
            ask = seen.replicates.exactness.ask
            if ask is not None:
                index = np.flatnonzero(seen.own)[ask]
                return True, None if self.waiting_for(seen.U[index]) else seen.X[index]
        return False, None

    def restored(self, u: Array) -> Array:
        """The point u (d,) of the unit cube in the user's units."""
        return self.observations.domain.from_unit(u[None])[0]


Stage = Callable[[Turn], Array | None]


def check_noise(turn: Turn) -> Array | None:
    """Replicate what tells whether there is noise, once an own value is good or no other point is left.

    Where no setting would tell, because all values are at an end of what was seen, another one is drawn.
    """
    seen = turn.observations
    own = np.flatnonzero(seen.own)
    if not seen.undecided or not len(own):
        return None
    if seen.y[own].max() < seen.config.goal and not seen.exhausted:
        return None
    found, point = turn.noise_check()
    if found:
        return point
    if seen.exhausted:
        best = own[np.argmax(seen.y[own])]
        return None if turn.waiting_at(best) else seen.X[best]
    return turn.restored(seen.domain.uniform(1, turn.rng)[0])


def verify_table(turn: Turn) -> Array | None:
    """Evaluate the setting of a value out of a table that is good, or that is all that is left: it certifies nothing itself."""
    seen = turn.observations
    if seen.deterministic is False:
        return None
    left = [k for k in seen.unverified if not turn.waiting_at(k)]
    return seen.X[left[0]] if left and (seen.y[left[0]] >= seen.config.goal or seen.exhausted) else None


def draw_at_random(turn: Turn) -> Array | None:
    """Once hope is lost, draw settings uniformly: they bound the share of good ones, and judge the model that lost hope.

    Before, find out whether there is noise, since without noise the same draws say more. Where the draws show that the model is
    not to be trusted, the rule takes every other turn.
    """
    seen, draws = turn.observations, turn.surrogate.draws
    nothing_left = seen.exhausted and seen.deterministic is not False
    if not turn.surrogate.lost_hope or nothing_left or (draws.enough and (draws.calibrated() or turn.step % 2)):
        return None
    _, point = turn.noise_check()
    return draws.next(turn.pending) if point is None else point


def draw_every_second(turn: Turn) -> Array | None:
    """Once a search is long in vain, draw every second setting uniformly: what no model expects is found by chance."""
    due = turn.surrogate.long_in_vain and turn.step % 2 and not turn.surrogate.draws.enough
    return turn.surrogate.draws.next(turn.pending) if due else None


def try_failed_again(turn: Turn) -> Array | None:
    """Evaluate a setting that failed again, once a finite domain has no other one left."""
    index = turn.observations.second_chance(turn.pending)
    return None if index is None else turn.restored(turn.observations.failed[index])


def initial_design(turn: Turn) -> Array | None:
    """Fill the space until the model has enough values."""
    enough = len(turn.observations.y) >= turn.surrogate.model.starting_points
    return None if enough else fill_space(turn)


def replicate(turn: Turn) -> Array | None:
    """Replicate the most promising point, unless enough replicates are pending.

    One is enough for a second look. Afterwards replicates take at most half of what is pending, since a clearer point may be
    cheaper, or all of it where that is about what the certificate still needs.
    """
    seen, plan = turn.observations, turn.plan
    if plan is None or plan.repeat is None:
        return None
    waiting, batch = turn.waiting_at(plan.repeat), len(turn.pending) + 1
    if key_of(seen.U[plan.repeat]) not in seen.replicates.looked:
        wanted = waiting < 1
    else:
        wanted = waiting < plan.cost and (plan.cost <= batch or 2 * waiting < batch)
    return seen.X[plan.repeat] if wanted else None


def probe_nearby(turn: Turn) -> Array | None:
    """Evaluate a neighbour of the most promising point from time to time: the model may be wrong there."""
    seen, plan = turn.observations, turn.plan
    if plan is None or plan.cheapest is None or seen.explored % LOOK_AROUND or turn.improving:
        return None
    u = seen.U[plan.cheapest]
    step = NEIGHBOURHOOD * turn.rng.random() * turn.rng.standard_normal(len(u))
    near = seen.domain.snap(np.clip(u + step, 0.0, 1.0)[None])
    return None if taken(near, turn.asked, seen.domain)[0] else turn.restored(near[0])


def apply_rule(turn: Turn) -> Array:
    """Follow the rule's proposal; failed and pending points count as bad, and under noise the target includes the margin."""
    seen, surrogate = turn.observations, turn.surrogate
    belief = surrogate.belief(turn.step, margin=0.0 if turn.plan is None else turn.plan.margin)
    if len(bad := seen.written_off):
        belief = belief.assuming_failed(bad)
    belief = belief.assuming_bad(turn.pending)
    if seen.improvement is not None and seen.improvement.going_on:
        belief = seen.improvement.focused(belief)
    proposal = turn.rule.propose(belief, turn.rng)  # type: ignore[arg-type]  # `Search` refuses rules that take no JointBelief
    return turn.restored(_checked_proposal(proposal, turn.rule, seen.domain.dimension))


def fill_space(turn: Turn) -> Array:
    """Take the next point of a space-filling sequence; needs no model."""
    seen = turn.observations
    belief = Belief(
        members=(),
        domain=seen.domain,
        target=0.0,
        step=turn.step,
        seed=seen.config.seed,
        incumbent=0.0,
        best=seen.U[:0],
        avoid=turn.asked,
        may_repeat=seen.deterministic is False,
    )
    return turn.restored(Sobol().propose(belief, turn.rng))


def _checked_proposal(proposal: object, rule: Rule, dimension: int) -> Array:
    """The proposal as a point (d,) of the unit cube; a custom rule may return anything."""
    try:
        u = np.asarray(proposal)
    except ValueError:  # rows of different lengths
        u = np.empty(0)
    if u.shape != (dimension,) or u.dtype.kind not in "iuf" or not ((u >= -1e-9) & (u <= 1 + 1e-9)).all():
        raise BadInput(
            f"rule {type(rule).__name__}: `propose` must return a point of the unit cube, an array of {dimension} numbers from 0 "
            f"to 1; got {proposal!r:.80}."
        )
    return u.astype(np.float64)


WITHOUT_MODEL: tuple[Stage, ...] = (check_noise, verify_table, try_failed_again, initial_design)
WITH_MODEL: tuple[Stage, ...] = (draw_at_random, replicate, draw_every_second, probe_nearby, apply_rule)


def first_proposal(stages: tuple[Stage, ...], turn: Turn) -> Array | None:
    """The point of the first stage that proposes one, None if none does.

    Parameters
    ----------
    stages
        The stages, in order.
    turn
        What they know.

    Returns
    -------
    Array or None
        The point (d,) in the user's units.
    """
    return next((point for stage in stages if (point := stage(turn)) is not None), None)
