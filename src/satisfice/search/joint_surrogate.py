"""`JointSurrogate`: what the models make of several requirements, a `Surrogate` for each."""

from itertools import combinations

import numpy as np
from numpy.random import default_rng

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.joint import JointBelief
from satisfice.acquisition.scores import probability_score
from satisfice.certificates.hope import Outlook, joint_outlook
from satisfice.certificates.replicates import Prospect, ReplicationPlan, cheapest_plan, costs_of, even, key_of
from satisfice.certificates.shape import rescaled
from satisfice.errors import NumericalFailure
from satisfice.gp.models import Model, Note
from satisfice.search.answer import probability
from satisfice.search.joint_draws import JointDraws
from satisfice.search.joint_observations import JointObservations
from satisfice.search.specification import Specification
from satisfice.search.surrogate import BEST, Estimate, Surrogate, is_long, may_draw
from satisfice.types import Array


class JointSurrogate:
    """The models of several requirements.

    Parameters
    ----------
    observations
        What the search has been told.
    model
        What turns the values of each requirement into posteriors.
    """

    def __init__(self, observations: JointObservations, model: Model) -> None:
        self.observations, self.config, self.model = observations, observations.config, model
        self.specification: Specification = observations.specification
        self.parts = tuple(Surrogate(part, model) for part in observations.parts)
        self.draws = JointDraws(observations.parts, self.specification, model)
        self.memory: object = None
        self._outlook: tuple[tuple[int, ...], Outlook] | None = None
        self._plan: tuple[tuple[int, ...], ReplicationPlan] | None = None

    @property
    def ready(self) -> bool:
        """Whether there are enough values for the models; a deferred requirement may have none yet."""
        return len(self.observations.U) >= max(self.model.starting_points, 1)

    @property
    def _modelled(self) -> list[int]:
        """The requirements that have enough values for a model; a known kernel needs none, except of a deferred requirement."""
        deferred = [each.deferred for each in self.specification]
        return [k for k, part in enumerate(self.parts) if part.ready or not (deferred[k] or self.model.starting_points)]

    def remarks(self) -> tuple[Note, ...]:
        """The remarks about the fits, each with the name of its requirement; nothing of one that is always met."""
        found = []
        for k in self._modelled:
            part, name = self.parts[k], self.specification.names[k]
            always = bool((part.observations.y >= part.config.goal).all())
            for note in part.fit().notes:
                if not (note.kind == "constant" and always):
                    found.append(Note(f"{note.kind} {name}", f"{name}: {note.text}", note.serious))
        return tuple(found)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the data."""
        return tuple(f"{name}: {text}" for part, name in zip(self.parts, self.specification.names, strict=True)
                     for text in part.notes)  # fmt: skip

    def belief(self, step: int = 1, margin: float = 0.0) -> JointBelief:
        """The belief before evaluation number `step`; every target is higher by a margin, in units of its noise."""
        seen = self.observations
        parts = tuple(
            self.parts[k].belief(step, 0.0 if self.parts[k].observations.deterministic else margin)
            for k in self._modelled
        )
        smallest = np.min(
            [self._means(k, part) - part.target for k, part in zip(self._modelled, parts, strict=True)], axis=0
        )
        if not (inside := seen.inside).all():
            smallest = np.where(inside, smallest, -np.inf)
        order = np.argsort(-smallest, kind="stable")[: min(BEST, int(inside.sum()))]
        return JointBelief(
            parts=parts,
            best=seen.U[order],
            avoid=seen.U[:0] if seen.deterministic is False else seen.U,
            may_repeat=seen.deterministic is False,
            shortfall=-float(smallest.max()) if len(smallest) else np.inf,
            stale=len(smallest) - 1 - int(np.argmax(smallest)) if len(smallest) else 0,
        )

    def _means(self, k: int, belief: Belief) -> Array:
        """The values of a requirement at the evaluated points (n,), by its model where there is noise or none was measured."""
        seen, part = self.observations, self.observations.parts[k]
        if not len(seen.U):
            return np.empty(0)
        if part.deterministic and len(part.y) == len(seen.U):
            return belief.seen.values
        return belief.marginal(seen.U).mean

    def outlook(self) -> Outlook | None:
        """The outlook for all requirements together; None where there is no model or it fails."""
        seen, config = self.observations, self.config
        if seen.complete:
            return Outlook(*2 * [float(seen.y[seen.inside].max() >= 0)])
        if not self.ready:
            return None
        counts = len(seen.U), len(seen.failed)
        if self._outlook is None or self._outlook[0] != counts:
            step = sum(counts) + 1
            try:
                now = self._joint_outlook(self.belief(step), self._modelled, step)
            except NumericalFailure:
                return None
            if config.specification is not None:
                self._outlook = counts, now
            return now
        return self._outlook[1]

    def _joint_outlook(self, belief: JointBelief, chosen: list[int], step: int) -> Outlook:
        learned_from = [self.parts[k].learned_from() for k in chosen]
        return joint_outlook(belief, default_rng([self.config.seed, step, 2]), learned_from=learned_from)

    def improvement_outlook(self) -> Outlook | None:
        """The outlook for a point that the user prefers to the best certified one; None where the model fails."""
        seen = self.observations
        if seen.improvement is None or not self.ready:
            return None
        step = len(seen.U) + len(seen.failed) + 1
        learned_from = [self.parts[k].learned_from() for k in self._modelled]
        try:
            return seen.improvement.outlook(self.belief(step), self.config.seed, step, learned_from)
        except NumericalFailure:
            return None

    def hope_of(self, chosen: tuple[int, ...]) -> float:
        """The hope that some point meets the chosen requirements, whatever the others; 1 where there is no model."""
        modelled = self._modelled
        seen = self.observations
        if seen.complete:
            return float((seen.margins[:, chosen] >= 0).all(axis=1).any())
        if not all(k in modelled for k in chosen):
            return 1.0
        step = len(seen.U) + len(seen.failed) + 1
        belief = self.belief(step).only([modelled.index(k) for k in chosen])
        return self._joint_outlook(belief, list(chosen), step).hope

    @property
    def lost_hope(self) -> bool:
        """Whether the search has lost hope, and now draws settings at random, if it may give up."""
        now = self.outlook() if self._may_draw else None
        return now is not None and now.hope < self.config.error_rate

    @property
    def long_in_vain(self) -> bool:
        """Whether the search has evaluated so many settings in vain that it now draws every second one at random.

        It has not as long as the model is sure that there is a good one, as while a setting is repeated that is barely good.
        """
        seen = self.observations
        if not (self._may_draw and is_long(len(seen.replicates.first), seen.domain)):
            return False
        now = self.outlook()
        return now is not None and now.hope < self.config.confidence

    @property
    def _may_draw(self) -> bool:
        return may_draw(self.config, self.observations.certificate is not None, self.model, self.observations.domain)

    def plan(self) -> ReplicationPlan | None:
        """Which point to replicate, if any: each repeat feeds the e-processes of all requirements, so the slowest one counts."""
        seen = self.observations
        if not self.ready or seen.deterministic is not False:
            return None
        counts = len(seen.U), seen.tested, seen.replicates.entries
        if self._plan is not None and self._plan[0] == counts:
            return self._plan[1]
        error, tested = self.config.error_rate, seen.tested
        try:
            costs = [self._costs(k, error, tested) for k in range(len(self.parts))]
        except NumericalFailure:
            return None
        total: dict[Prospect, float] = {}
        log = seen.replicates
        for key in dict.fromkeys(map(key_of, seen.U)):
            found = [each.get(key) for each in costs]
            priced = [cost for cost in found if cost is not None]
            if len(priced) == len(found) and not any(key in part.replicates.dropped for part in seen.parts):
                index, current = seen.trunk.index_of(key), key == log.current
                if seen.improvement is not None and not seen.improvement.worthwhile(index):
                    continue
                total[Prospect(index, 0.0, 0.0, 0.0, key in log.fresh, current)] = max(1.0, *priced)
        spent, worth = (len(seen.U), len(seen.U) - seen.explored), even
        if seen.improvement is not None and seen.improvement.going_on:
            spent, worth = (0, 0), seen.improvement.worth  # a saving is worth few repeats
        plan = cheapest_plan(total, error, tested, *spent, worth)
        self._plan = counts, plan
        return plan

    def _costs(self, k: int, error: float, tested: int) -> dict[bytes, float]:
        """What it costs to certify one requirement at each point where it seems to be met; nothing without noise."""
        surrogate, part = self.parts[k], self.observations.parts[k]
        if part.deterministic is not False:
            return {key_of(u): 0.0 for u, y in zip(part.U, part.y, strict=True) if y >= part.config.goal}
        if not surrogate.ready:
            return {}
        fit = surrogate.fit()
        target = float(fit.scaler.standardise(part.config.goal))
        prospects = surrogate.prospects(fit, target)
        costs = costs_of(rescaled(part.test, fit.scaler), prospects, target, error, tested)
        return {key_of(part.U[prospect.index]): cost for prospect, cost in costs.items()}

    def promising(self) -> int:
        """The index of the evaluation whose point is most likely to meet all requirements."""
        seen = self.observations
        if seen.deterministic or not self.ready:
            return seen.best
        try:
            belief = self.belief()
            return int(np.argmax(np.where(seen.inside, probability_score(belief, belief.target)(seen.U), -np.inf)))
        except NumericalFailure:
            return seen.best

    def probability_good(self, index: int) -> float | None:
        """The probability that the point of an evaluation meets all requirements; None where the model fails."""
        seen = self.observations
        if seen.deterministic:
            return float(seen.y[index] >= 0)
        if not self.ready:
            return None
        try:
            return float(self.belief().probability_good(seen.U[index : index + 1])[0])
        except NumericalFailure:
            return None

    def critical(self, index: int) -> int:
        """The requirement that decides at the point of an evaluation: the least evidence, or the least likely one before any."""
        seen = self.observations
        key = key_of(seen.U[index])
        if seen.deterministic is False and key not in seen.candidates:
            likely = [
                1.0 if each is None or each.probability is None else each.probability for each in self.estimates(index)
            ]
            return int(np.argmin(likely))
        return seen.critical(key)

    def estimates(self, index: int) -> list[Estimate | None]:
        """The estimate of each requirement at the point of an evaluation; None where it has not been measured."""
        places = (self.observations.place(k, index) for k in range(len(self.parts)))
        return [
            None if place is None else self._estimate(part, place)
            for part, place in zip(self.parts, places, strict=True)
        ]

    def _estimate(self, part: Surrogate, place: int) -> Estimate:
        if part.ready or part.observations.deterministic:
            return part.estimate(place)
        return Estimate(place, float(part.observations.y[place]), -np.inf, np.inf, None)


def conflicts(surrogate: JointSurrogate) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """The hope for each requirement alone, and which of them cannot be met together, in words.

    Parameters
    ----------
    surrogate
        The models of a search that has found no setting.

    Returns
    -------
    hopes, texts
        The probability that some setting meets each requirement; sentences.
    """
    requirements, error = surrogate.specification.requirements, surrogate.config.error_rate
    try:
        alone = tuple(surrogate.hope_of((k,)) for k in range(len(requirements)))
        pairs = {pair: surrogate.hope_of(pair) for pair in combinations(range(len(requirements)), 2)}
    except NumericalFailure:
        return (), ()
    proven = surrogate.observations.complete
    sure = "" if proven else ", by the model"
    found = [
        f"{requirements[k]} {'is' if proven else 'seems'} out of reach even alone: hope {probability(hope)}{sure}"
        for k, hope in enumerate(alone)
        if hope < error
    ]
    for (a, b), hope in pairs.items():
        if hope < error <= min(alone[a], alone[b]):
            each = f"hope {probability(alone[a])} and {probability(alone[b])}"
            found.append(
                f"{requirements[a]} and {requirements[b]} {'cannot' if proven else 'can hardly'} be met together: "
                f"hope {probability(hope)}; alone {each}{sure}"
            )
    if not found:
        found.append(
            "each pair of the requirements can be met, but not all of them together"
            if proven
            else f"no pair of the requirements is out of reach, but all of them together are{sure}"
        )
    return alone, tuple(found)
