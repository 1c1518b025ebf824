"""Settings drawn uniformly by a search for several requirements, and what they show of the share of good settings."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from satisfice.certificates.share import ShareBound, joint_share_bound
from satisfice.gp.models import Model
from satisfice.search.draws import Draws
from satisfice.search.observations import Observations
from satisfice.search.specification import Specification
from satisfice.types import Array


class JointDraws:
    """The uniform draws of a search for several requirements: the same settings for all of them.

    Parameters
    ----------
    parts
        What was seen of each requirement.
    specification
        The requirements.
    model
        The model whose predictions are judged.
    """

    def __init__(self, parts: Sequence[Observations], specification: Specification, model: Model) -> None:
        self._draws = [Draws(part, model) for part in parts]
        self._measured = [k for k, each in enumerate(specification) if not each.deferred]
        self._first = self._draws[self._measured[0]]
        self._specification = specification

    def next(self, pending: Array) -> Array | None:
        """The first draw that was neither evaluated, nor failed, nor is pending."""
        return self._first.next(pending)

    @property
    def found(self) -> list[int]:
        """The index of the evaluation of each draw, up to the first that has none; -1 where it failed."""
        return self._first.found

    @property
    def enough(self) -> bool:
        """Whether the search has drawn as many as it takes to give up."""
        return self._first.enough

    def calibrated(self) -> bool:
        """Whether the models predicted the latest draws; that of a requirement which all of them met does not matter."""
        return all(self._draws[k].calibrated() for k in self._measured if not self._always_met(k))

    def _always_met(self, k: int) -> bool:
        seen = self._draws[k].observations
        return bool((seen.y >= seen.config.goal).all())

    def bound(self) -> ShareBound:
        """What the draws say of the share of settings that meet all requirements.

        Deferred requirements are left out: a setting that meets all of them meets the others.
        """
        values, readings, goals = [], [], []
        for k in self._measured:
            seen = self._draws[k].observations
            values.append(seen.y[[index for index in self.found if index >= 0]])
            readings.append(self._draws[k].reading())
            goals.append(seen.config.goal)
        error = self._first.observations.config.error_rate
        bound = joint_share_bound(np.array(values).T.reshape(-1, len(goals)), np.array(goals), readings, error=error)
        return replace(bound, failed=len(self.found) - len(values[0]))
