"""Settings drawn uniformly by a search that has lost hope, and what they show.

The draws are numbered, and follow from the seed and the number alone: neither from the objective nor from what the search did
before. So whoever reads the history knows which of its settings were drawn, and the bound on the share of good settings holds.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.random import default_rng
from scipy.special import ndtr

from satisfice.certificates.replicates import key_of
from satisfice.certificates.share import (
    Reading,
    ShareBound,
    gaussian_noise,
    noise_free,
    share_bound,
    symmetric_noise,
    values_within,
)
from satisfice.errors import NumericalFailure
from satisfice.gp.models import Dataset, Model
from satisfice.search.observations import Observations
from satisfice.types import Array

ENOUGH = 150  # draws before a search gives up: without noise at most 2 % of all settings are good then
MOST = 10_000  # draws that hit known settings, until there is taken to be no other
EACH = 10  # draws for each setting of a finite domain are enough
HIGH, HIGHEST = 0.9, 0.999  # quantiles of the predictions
ABOVE, FAR_ABOVE = (
    0.2,
    0.02,
)  # shares of the judged draws that may lie above them: calibrated predictions rarely show more


class Draws:
    """The uniform draws of a search.

    Parameters
    ----------
    observations
        What the search has been told.
    model
        The model whose predictions are judged.
    """

    def __init__(self, observations: Observations, model: Model) -> None:
        self.observations, self.model = observations, model
        self._points: list[Array] = []
        self._keys: list[bytes] = []
        self._found: tuple[tuple[int, int, int], list[int]] | None = None
        # with the number of draws, whether there is noise, and the values of a table that are replaced
        self._judged: tuple[tuple[int, bool | None, dict[int, float]], bool] | None = None

    def point(self, number: int) -> Array:
        """The point (d,) of a draw, in the user's units."""
        domain, seed = self.observations.domain, self.observations.config.seed
        while len(self._points) <= number:
            rng = default_rng([seed, len(self._points), 5])
            self._points.append(domain.from_unit(domain.uniform(1, rng))[0])
            self._keys.append(self.observations.key(self._points[-1]))
        return self._points[number]

    def next(self, pending: Array) -> Array | None:
        """The first draw that neither has a value, nor failed, nor is pending; None where a finite domain has no such setting."""
        seen = self.observations
        waiting = Counter(key_of(u) for u in pending)
        closed = {key_of(u) for u in seen.failed}
        if seen.deterministic:
            closed |= seen.replicates.own.keys() | waiting.keys()
        if seen.domain.size is not None and len(closed) >= seen.domain.size:
            return None
        number = len(self.found)
        last = number + MOST
        while number < last:
            x, key = self.point(number), self._keys[number]
            before = 0 if seen.deterministic else self._keys[:number].count(key)
            if key not in closed and before >= len(seen.own_at(key)) + waiting[key]:
                return x
            number += 1
        return None  # a region may have few settings, and not know how many

    def _index_of(self, number: int) -> int | None:
        """The index of the value that belongs to a draw; -1 where the evaluation failed, None where there is none yet.

        A draw that hits a setting again, as happens on a finite domain, takes the next own value there: under noise the same
        one would count twice.
        """
        seen, key = self.observations, self._keys[number]
        before = 0 if seen.deterministic else self._keys[:number].count(key)
        indices = seen.own_at(key)
        if before < len(indices):
            return indices[before]
        return -1 if seen.has_failed(key) else None

    @property
    def found(self) -> list[int]:
        """The index of the value of each draw, up to the first that has none; -1 where the evaluation failed."""
        seen = self.observations
        counts = len(seen.y), len(seen.failed), int(bool(seen.deterministic))
        if self._found is None or self._found[0] != counts:
            indices: list[int] = []
            while len(indices) < max(sum(counts), 2 * ENOUGH):  # a finite domain without noise may have all values
                self.point(len(indices))
                index = self._index_of(len(indices))
                if index is None:
                    break
                indices.append(index)
            self._found = counts, indices
        return self._found[1]

    @property
    def wanted(self) -> int:
        """How many draws it takes to give up: fewer where a finite domain has few settings."""
        size = self.observations.domain.size
        return ENOUGH if size is None else min(ENOUGH, EACH * size)

    @property
    def enough(self) -> bool:
        """Whether the search has drawn as many as it takes to give up."""
        return len(self.found) >= self.wanted

    def bound(self) -> ShareBound:
        """What the draws say of the share of good settings."""
        seen, config = self.observations, self.observations.config
        values = seen.y[[index for index in self.found if index >= 0]]
        bound = share_bound(values, config.goal, self.reading(), error=config.error_rate)
        return replace(bound, failed=len(self.found) - len(values))

    def reading(self) -> Reading:
        """What a value says of its setting."""
        seen, config = self.observations, self.observations.config
        if seen.deterministic:
            return noise_free(config.goal)
        if isinstance(config.noise, float):
            return gaussian_noise(config.goal, config.noise)
        if seen.limits is not None and seen.limits[0] < config.goal < seen.limits[1]:
            return values_within(config.goal, *seen.limits)
        return symmetric_noise(config.goal)

    def calibrated(self) -> bool:
        """Whether the model predicted the latest draws before it had seen them, as far as high values go.

        It is judged after each third of `wanted`, by twice as many draws; the model is fitted to all values before the first of
        these. Of calibrated predictions one value in ten lies above the quantile 0.9; twice as many are allowed.
        """
        found = [index for index in self.found if index >= 0]
        block = max(self.wanted // 3, 1)
        last = len(found) // block * block
        if last < 2 * block:
            return False
        basis = last, self.observations.deterministic, self.observations.contradicted
        if self._judged is None or self._judged[0] != basis:
            self._judged = basis, self._judge(np.array(found[last - 2 * block : last]))
        return self._judged[1]

    def _judge(self, judged: Array) -> bool:
        seen, config = self.observations, self.observations.config
        start = int(judged.min())
        if start == 0:
            return False
        noise = 0.0 if seen.deterministic else config.noise if isinstance(config.noise, float) else None
        data = Dataset(seen.domain, seen.U[:start], seen.y[:start], config.goal, noise, config.seed)
        try:
            fit = self.model.fit(data, None)
            z = fit.scaler.standardise(seen.y[judged])
            below = np.zeros(len(z))
            for weight, posterior in fit.members:
                mean, std = posterior.marginal(seen.U[judged])
                below += weight * ndtr((z - mean) / np.sqrt(std**2 + posterior.lam))
        except NumericalFailure:
            return False
        learned = not fit.scaler.constant
        return bool(learned and (below > HIGH).mean() <= ABOVE and (below > HIGHEST).mean() <= FAR_ABOVE)
