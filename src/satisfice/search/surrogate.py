"""`Surrogate`: what a search has been told, and what its model makes of that."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.random import default_rng
from scipy.special import ndtri

from satisfice.acquisition.belief import Belief, Seen
from satisfice.blas import one_blas_thread
from satisfice.certify.eprocess import Bounded
from satisfice.certify.hope import Outlook, outlook
from satisfice.certify.replicates import DOUBT, Prospect, ReplicationPlan, key_of, own_spread, plan
from satisfice.checks import whole
from satisfice.domain.box import Domain
from satisfice.errors import NumericalFailure
from satisfice.gp.fit import Dataset, Fit, Model
from satisfice.gp.models import FixedModel
from satisfice.gp.posterior import Marginal
from satisfice.search.observations import Observations
from satisfice.types import Array, Noise

BEST = 5  # so many of the best points are looked around
SILENT, LOUD = 1e-9, 1e3  # the noise's std in the model's units: less is as good as none, more as nothing to see


@dataclass(frozen=True)
class Estimate:
    """The model's view of f at a point that was evaluated; values to be maximised."""

    index: int  # of a value at the point
    value: float
    low: float
    high: float
    probability: float | None  # of being good; None where the model fails


class Surrogate(Observations):
    """All that was told, and the model's fit to it."""

    def __init__(
        self,
        domain: Domain,
        target: float,
        model: Model,
        *,
        direction: str,
        noise: Noise,
        confidence: float,
        value_range: tuple[float, float] | None,
        seed: int,
    ) -> None:
        super().__init__(
            domain, target, direction=direction, noise=noise, confidence=confidence, value_range=value_range
        )
        self.seed = whole(seed, "seed", least=0)
        self._model = model
        self._memory: object = None  # what a remembering rule has folded so far
        self._outlook: tuple[tuple[int, int], Outlook] | None = None  # with the counts of values and failures
        self._planned: tuple[tuple[int, ...], ReplicationPlan] | None = (
            None  # with counts of values, candidates and entries
        )
        self._fit: tuple[float | None, Fit] | None = None  # with the noise that it was made for
        self._notes: tuple[str, ...] = ()

    def hope(self) -> float:
        """The model's probability that some point of the domain reaches the target; 1 before there is a model."""
        with one_blas_thread():
            now = self._outlook_now()
        return 1.0 if now is None else now.hope

    def probability_good(self, X: npt.ArrayLike) -> Array:
        """The model's probability (m,) that each of the points X (m, d), in the user's units, reaches the target."""
        U = self.domain.to_unit(X)
        with one_blas_thread():
            return self._belief(self._fitted(), 1).probability_good(U)

    def predict(self, X: npt.ArrayLike) -> Marginal:
        """The model's mean and standard deviation (m,) of f at the points X (m, d), both in the user's units."""
        U = self.domain.to_unit(X)
        with one_blas_thread():
            fit = self._fitted()
            mean, std = self._belief(fit, 1).marginal(U)
        return Marginal(self._sign * fit.scaler.restore(mean), fit.scaler.restore_std(std))

    def _outlook_now(self) -> Outlook | None:
        """The model's outlook, or the truth where it is known; None before there is a model, or where it fails."""
        counts = len(self._y), len(self._failed)
        if self.deterministic and self.exhausted:
            return Outlook(*2 * [float(self._y.max() >= self._goal)])
        if len(self._y) < max(self._model.starting_points, 1):
            return None
        if self._outlook is None or self._outlook[0] != counts:
            try:
                fit = self._fitted()
                rng = default_rng([self.seed, sum(counts) + 1, 2])
                now = outlook(self._belief(fit, sum(counts) + 1), rng, learned_from=self._learned_from(fit))
            except NumericalFailure:
                return None
            self._outlook = (counts, now)
        return self._outlook[1]

    def _learned_from(self, fit: Fit) -> int | None:
        """The number of points that the model was learned from, as `outlook` wants it."""
        if isinstance(self._model, FixedModel):
            return None
        if fit.scaler.constant and self.deterministic is False:  # as of a row of fails: they hide the noise
            return 0
        return (
            len(self._y) if self.exhausted else len(self._replicates.first)
        )  # where all points are known, repeats do count

    def _plan(self) -> ReplicationPlan | None:
        """Whether a point should be asked again, under noise; None where there is no model. Indices are those of values."""
        if len(self._y) < max(self._model.starting_points, 1):
            return None
        try:
            fit = self._fitted()
        except NumericalFailure:
            return None
        counts = len(self._y), self.tested, self._replicates.entries
        if self._planned is None or self._planned[0] != counts:
            self._planned = (counts, self._plan_from(fit))
        return self._planned[1]

    def _plan_from(self, fit: Fit) -> ReplicationPlan:
        sigma = self._sigma(fit)
        target = float(fit.scaler.standardise(self._goal))
        means = fit.means
        # of each promising point one value will do
        keys = {int(k): key_of(self._U[fit.kept[k]]) for k in np.flatnonzero(means > target)}
        latest = {key: k for k, key in keys.items() if key not in self._replicates.dropped}
        rows = fit.kept[list(latest.values())]
        stds = self._belief(fit, 1).marginal(self._U[rows]).std if len(rows) else np.empty(0)
        prospects = []
        for (key, k), std in zip(latest.items(), stds, strict=True):
            fresh = self._replicates.fresh.get(key)
            values = np.array(fresh or [])
            prospects.append(
                Prospect(
                    index=int(fit.kept[k]),
                    gap=float(means[k] - DOUBT * std) - target,
                    spread=own_spread(fit.scaler.standardise(values), sigma),
                    evidence=self.test.log_evidence(values, self._goal) if len(values) else 0.0,
                    tested=fresh is not None,
                    present=key == self._replicates.current,
                )
            )
        test = self.test
        if isinstance(test, Bounded):
            test = Bounded(*fit.scaler.standardise([test.low, test.high]))
        return plan(test, prospects, target, self._delta, self.tested, len(self._y), len(self._y) - self._explored)

    def _sigma(self, fit: Fit) -> float:
        """The standard deviation of the noise in the model's units, as stated or learned."""
        if isinstance(self._stated_noise, float):
            return float(np.clip(fit.scaler.standardise_std(self._stated_noise), SILENT, LOUD))
        return float(np.sqrt(sum(weight * posterior.lam for weight, posterior in fit.members)))

    def _estimate(self, chosen: int | None = None) -> Estimate:
        """The estimate at the point of a chosen value, or at the evaluated point of highest posterior mean."""
        try:
            fit = self._fitted()
        except NumericalFailure:
            index = int(np.argmax(self._y)) if chosen is None else chosen
            return Estimate(index, float(self._y[index]), -np.inf, np.inf, None)
        index = int(fit.kept[np.argmax(fit.means)]) if chosen is None else chosen
        belief = self._belief(fit, 1)
        u = self._U[index : index + 1]
        mean, std = (float(part[0]) for part in belief.marginal(u))
        half = float(ndtri(0.5 + 0.5 * self.confidence)) * std
        value, low, high = (float(fit.scaler.restore(z)) for z in (mean, mean - half, mean + half))
        if self.value_range is not None:
            bottom, top = sorted(self._sign * end for end in self.value_range)
            value, low, high = (min(max(part, bottom), top) for part in (value, low, high))
            own = self._y[(self._U == self._U[index]).all(axis=1)]
            if self.deterministic is False and (own == own[0]).all():
                # Equal values, such as passes, look exact to the model. But m of them have a chance of p^m, p that of one, and a
                # p with which that chance is half of 1 - confidence allows a mean as far off as this, whatever the noise.
                chance = (self._delta / 2) ** (1 / len(own))
                low = min(low, bottom + (own[0] - bottom) * chance)
                high = max(high, top - (top - own[0]) * chance)
        return Estimate(index, value, low, high, float(belief.probability_good(u)[0]))

    @property
    def _noise(self) -> float | None:
        """The noise as the model is to see it: None means learn it."""
        if self.deterministic:
            return 0.0
        return self._stated_noise if isinstance(self._stated_noise, float) else None

    def _fitted(self) -> Fit:
        """The model's fit to all observations, made from the last one where that helps."""
        noise = self._noise
        previous = self._fit[1] if self._fit is not None and self._fit[0] == noise else None
        seen = Dataset(self.domain, self._U, self._y, self._goal, noise, self.seed)
        fit = self._model.fit(seen, previous) if previous is None or previous.n < len(self._y) else previous
        self._fit = (noise, fit)
        self._notes = tuple(note.text for note in fit.notes)
        return fit

    def _belief(self, fit: Fit, step: int) -> Belief:
        standardised = float(fit.scaler.standardise(self._goal))
        means = fit.scaler.standardise(self._y[fit.kept]) if self.deterministic else fit.means
        order = np.argsort(-means, kind="stable")[:BEST]
        return Belief(
            members=fit.members,
            domain=self.domain,
            target=standardised,
            step=step,
            seed=self.seed,
            incumbent=float(means.max()) if len(means) else 0.0,
            best=self._U[fit.kept[order]],
            avoid=self._U[:0] if self.deterministic is False else self._U,
            may_repeat=self.deterministic is False,
            memory=self._memory,
            stale=len(means) - 1 - int(np.argmax(means)) if len(means) else 0,
            error_rate=self._delta,
            seen=Seen(self._U, fit.scaler.standardise(self._y), self._noise_scale(fit)),
        )

    def _noise_scale(self, fit: Fit) -> float:
        """The scale of sub-Gaussian noise in the model's units: the stated std, half of the stated range, or the learned std."""
        if self.deterministic:
            return 0.0
        if isinstance(self._stated_noise, float):
            return float(fit.scaler.standardise_std(self._stated_noise))
        if self.value_range is not None:
            low, high = self.value_range
            return float(fit.scaler.standardise_std(high / 2 - low / 2))
        return self._sigma(fit)
