"""Pruners beside our sampler: they compare settings, and repeats of one setting are none."""

import optuna
from optuna.pruners import BasePruner, NopPruner
from optuna.trial import FrozenTrial

from satisfice.study._optuna import study_without
from satisfice.study.proposal import Proposal


class Unrepeated(BasePruner):  # type: ignore[misc]
    """A pruner that neither sees the repeats of a setting nor stops one.

    Repeats are of promising settings. In a median over all trials they would count many times, and a setting is certified only if
    none of its repeats was stopped.

    Parameters
    ----------
    pruner
        What decides about all other trials.
    """

    def __init__(self, pruner: BasePruner) -> None:
        self.pruner = pruner

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Whether to stop the trial: what the pruner says who sees the first trial of each setting only."""
        return not is_repeat(trial) and bool(self.pruner.prune(study_without(study, is_repeat), trial))


def is_repeat(trial: FrozenTrial) -> bool:
    """Whether our sampler proposed the trial as a replicate of an earlier one."""
    proposal = Proposal.of(trial)
    return proposal is not None and proposal.repeats is not None


def hide_repeats(study: optuna.Study) -> None:
    """Put `Unrepeated` around the pruner of a study, unless it prunes nothing."""
    if not isinstance(study.pruner, Unrepeated | NopPruner):
        study.pruner = Unrepeated(study.pruner)
