"""`Surrogate`: what the model makes of the observations."""

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.special import ndtri

from satisfice.acquisition.belief import Belief, Seen
from satisfice.certificates.hope import Outlook, doubt_of, is_hopeful, outlook
from satisfice.certificates.replicates import (
    DOUBT,
    Prospect,
    ReplicationPlan,
    even,
    key_of,
    own_spread,
    plan_replication,
)
from satisfice.certificates.shape import rescaled
from satisfice.domain.finite import Finite
from satisfice.errors import NumericalFailure
from satisfice.gp.models import Dataset, Fit, FixedModel, Model, Note
from satisfice.search.config import SearchConfig
from satisfice.search.draws import Draws
from satisfice.search.observations import Observations
from satisfice.types import Domain

BEST = 5  # the number of best points whose neighbourhoods are searched
LONG = 33  # a search in vain is long from LONG (d + 1) different settings on
SILENT, LOUD = 1e-9, 1e3  # limits of the noise in the model's units: below there is none, above there is nothing else


@dataclass(frozen=True)
class Estimate:
    """The model's view of f at an evaluated point; values to be maximised.

    Parameters
    ----------
    index
        The index of an observation at the point.
    value
        The posterior mean.
    low, high
        The interval of the search's confidence.
    probability
        The probability of being good; None where the model fails.
    """

    index: int
    value: float
    low: float
    high: float
    probability: float | None


def may_draw(config: SearchConfig, certified: bool, model: Model, domain: Domain) -> bool:
    """Whether a search that gets nowhere draws settings at random: it may give up, and no bounds of a known kernel prove more."""
    known = isinstance(model, FixedModel) and isinstance(domain, Finite)
    return config.give_up and config.confirm and not certified and not known


def is_long(settings: int, domain: Domain) -> bool:
    """Whether so many different settings in vain are many."""
    return settings >= LONG * (domain.dimension + 1)


class Surrogate:
    """The model of a search, fitted to its observations as far as needed.

    Parameters
    ----------
    observations
        What the search has been told.
    model
        What turns it into posteriors.
    """

    def __init__(self, observations: Observations, model: Model) -> None:
        self.observations, self.config, self.model = observations, observations.config, model
        self.memory: object = None  # of a rule that remembers
        self.draws = Draws(observations, model)
        self.notes: tuple[str, ...] = ()
        # with the noise it assumes, and the values of a table that are replaced
        self._fit: tuple[tuple[float | None, dict[int, float]], Fit] | None = None
        self._outlook: tuple[tuple[int, int], Outlook] | None = None  # with the counts of values and failures
        self._lost: tuple[tuple[int, int], bool] | None = None  # with the same, whether hope is lost
        self._plan: tuple[tuple[int, ...], ReplicationPlan] | None = None  # with counts of values, candidates, entries

    @property
    def ready(self) -> bool:
        """Whether there are enough values for the model."""
        return len(self.observations.y) >= max(self.model.starting_points, 1)

    def fit(self) -> Fit:
        """The fit to all observations, which starts from the last one where possible."""
        seen, noise = self.observations, self.config.noise
        assumed = 0.0 if seen.deterministic else noise if isinstance(noise, float) else None
        basis = assumed, seen.contradicted
        fit = self._fit[1] if self._fit is not None and self._fit[0] == basis else None
        if fit is None or fit.n < len(seen.y):
            data = Dataset(seen.domain, seen.U, seen.y, self.config.goal, assumed, self.config.seed)
            fit = self.model.fit(data, fit)
        self._fit = (basis, fit)
        self.notes = tuple({note.kind: note.text for note in reversed(fit.notes)}.values())[::-1]  # one of each kind
        return fit

    def belief(self, step: int = 1, margin: float = 0.0) -> Belief:
        """The belief before evaluation number `step`, about a target that is higher by a margin, in units of the noise."""
        fit, seen = self.fit(), self.observations
        values = fit.scaler.standardise(seen.y)
        means = values[fit.kept] if seen.deterministic else fit.means
        if not (inside := seen.inside[fit.kept]).all():
            means = np.where(inside, means, -np.inf)
        order = np.argsort(-means, kind="stable")[: min(BEST, int(inside.sum()))]
        return Belief(
            members=fit.members,
            domain=seen.domain,
            target=float(fit.scaler.standardise(self.config.goal)) + (margin * self.sigma() if margin else 0.0),
            step=step,
            seed=self.config.seed,
            incumbent=float(means.max()) if inside.any() else 0.0,
            best=seen.U[fit.kept[order]],
            avoid=seen.U[:0] if seen.deterministic is False else seen.U,
            may_repeat=seen.deterministic is False,
            memory=self.memory,
            stale=len(means) - 1 - int(np.argmax(means)) if len(means) else 0,
            error_rate=self.config.error_rate,
            seen=Seen(seen.U, values, self._noise_scale(fit)),
        )

    def sigma(self) -> float:
        """The standard deviation of the noise in the model's units, as stated or learned."""
        fit, noise = self.fit(), self.config.noise
        if isinstance(noise, float):
            return float(np.clip(fit.scaler.standardise_std(noise), SILENT, LOUD))
        return float(np.sqrt(sum(weight * posterior.lam for weight, posterior in fit.members)))

    def _noise_scale(self, fit: Fit) -> float:
        """The sub-Gaussian scale of the noise in the model's units: the std, or half of the stated range."""
        limits, noise = self.observations.limits, self.config.noise
        if self.observations.deterministic:
            return 0.0
        if isinstance(noise, float):
            return float(fit.scaler.standardise_std(noise))
        if limits is not None:
            return float(fit.scaler.standardise_std(limits[1] / 2 - limits[0] / 2))
        return self.sigma()

    def outlook(self) -> Outlook | None:
        """The model's outlook, or the truth where it is known; None where there is no model or it fails."""
        seen, config = self.observations, self.config
        if seen.complete:
            return Outlook(*2 * [float(seen.y[seen.inside].max() >= config.goal)])
        if not self.ready:
            return None
        counts = len(seen.y), len(seen.failed)
        if self._outlook is None or self._outlook[0] != counts:
            step = sum(counts) + 1
            try:
                now = outlook(self.belief(step), default_rng([config.seed, step, 2]), learned_from=self.learned_from())
            except NumericalFailure:
                return None
            self._outlook = (counts, now)
        return self._outlook[1]

    @property
    def lost_hope(self) -> bool:
        """Whether the search has lost hope, and now draws settings at random, if it may give up.

        A known kernel on a finite domain needs no draws: its confidence bounds prove more.
        """
        if not self._may_draw:
            return False
        seen, config = self.observations, self.config
        counts = len(seen.y), len(seen.failed)
        if seen.complete or not self.ready or (self._outlook is not None and self._outlook[0] == counts):
            now = self.outlook()
            return now is not None and now.hope < config.error_rate
        if self._lost is None or self._lost[0] != counts:
            step = sum(counts) + 1
            rng = default_rng([config.seed, step, 2])
            try:
                n = self.learned_from()
                hopeful = doubt_of(seen.domain.dimension, n) >= config.error_rate or is_hopeful(
                    self.belief(step), rng, config.error_rate, learned_from=n
                )
            except NumericalFailure:
                hopeful = True
            self._lost = (counts, not hopeful)
        return self._lost[1]

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

    def learned_from(self) -> int | None:
        """The number of points that the model was learned from, as `outlook` needs it."""
        seen = self.observations
        if isinstance(self.model, FixedModel):
            return None
        if self.fit().scaler.constant:  # nothing was learned
            return 0
        return len(seen.y) if seen.exhausted else len(seen.replicates.first)  # once all points are known, repeats count

    def improvement_outlook(self) -> Outlook | None:
        """The outlook for a point that the user prefers to the best certified one; None where the model fails."""
        seen = self.observations
        if seen.improvement is None or not self.ready:
            return None
        step = len(seen.y) + len(seen.failed) + 1
        try:
            return seen.improvement.outlook(self.belief(step), self.config.seed, step, [self.learned_from()])
        except NumericalFailure:
            return None

    def plan(self) -> ReplicationPlan | None:
        """Which point to replicate, if any; None without noise or a model, or where the model fails to fit."""
        if not self.ready or self.observations.deterministic is not False:
            return None
        try:
            fit = self.fit()
        except NumericalFailure:
            return None
        seen = self.observations
        counts = len(seen.y), seen.tested, seen.replicates.entries
        if self._plan is None or self._plan[0] != counts:
            n, target, test = (
                len(seen.y),
                float(fit.scaler.standardise(self.config.goal)),
                rescaled(seen.test, fit.scaler),
            )
            prospects = self.prospects(fit, target)
            error = self.config.error_rate
            spent, worth = (n, n - seen.explored), even
            if seen.improvement is not None and seen.improvement.going_on:
                spent, worth = (0, 0), seen.improvement.worth  # a saving is worth few repeats
            plan = plan_replication(test, prospects, target, error, seen.tested, *spent, worth)
            self._plan = (counts, plan)
        return self._plan[1]

    def prospects(self, fit: Fit, target: float) -> list[Prospect]:
        """The points whose posterior mean exceeds the target, each once."""
        seen, log, sigma, means = self.observations, self.observations.replicates, self.sigma(), fit.means
        keys = {int(k): key_of(seen.U[fit.kept[k]]) for k in np.flatnonzero(means > target)}
        latest = {key: k for k, key in keys.items() if key not in log.dropped}
        rows = fit.kept[list(latest.values())]
        stds = self.belief().marginal(seen.U[rows]).std if len(rows) else np.empty(0)
        prospects = []
        improvement = seen.improvement
        for (key, k), std in zip(latest.items(), stds, strict=True):
            if improvement is not None and not improvement.worthwhile(int(fit.kept[k])):
                continue
            values = np.array(log.fresh.get(key, []))
            prospects.append(
                Prospect(
                    index=int(fit.kept[k]),
                    gap=float(means[k] - DOUBT * std) - target,
                    spread=own_spread(fit.scaler.standardise(values), sigma),
                    evidence=seen.test.log_evidence(values, self.config.goal) if len(values) else 0.0,
                    tested=key in log.fresh,
                    current=key == log.current,
                )
            )
        return prospects

    def promising(self) -> int:
        """The index of the observation at the point of the best value, or posterior mean under noise."""
        return self.estimate().index

    def remarks(self) -> tuple[Note, ...]:
        """The remarks about the fit."""
        return self.fit().notes

    def estimate(self, chosen: int | None = None) -> Estimate:
        """The estimate at the point of a chosen observation, by default at that of the best value or posterior mean."""
        seen = self.observations
        best = seen.best if chosen is None else chosen
        value = float(seen.y[best])
        if seen.deterministic:
            return Estimate(best, value, value, value, float(value >= self.config.goal))
        try:
            fit = self.fit()
        except NumericalFailure:
            return Estimate(best, value, -np.inf, np.inf, None)
        inside = seen.inside[fit.kept]
        means = np.where(inside, fit.means, -np.inf) if inside.any() else fit.means
        index = int(fit.kept[np.argmax(means)]) if chosen is None else chosen
        belief = self.belief()
        u = seen.U[index : index + 1]
        mean, std = (float(part[0]) for part in belief.marginal(u))
        half = float(ndtri(0.5 + 0.5 * self.config.confidence)) * std
        value, low, high = (float(fit.scaler.restore(z)) for z in (mean, mean - half, mean + half))
        if seen.limits is not None:
            bottom, top = seen.limits
            value, low, high = (min(max(part, bottom), top) for part in (value, low, high))
            own = seen.y[(seen.U == u).all(axis=1)]
            if (own == own[0]).all():
                # Equal values, such as passes, look exact to the model. A row of m of them has the chance p^m where one has p;
                # we allow any mean whose p makes that chance half of the error rate.
                chance = (self.config.error_rate / 2) ** (1 / len(own))
                low = min(low, bottom + (own[0] - bottom) * chance)
                high = max(high, top - (top - own[0]) * chance)
        return Estimate(index, value, low, high, float(belief.probability_good(u)[0]))
