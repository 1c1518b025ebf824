"""`GoodActionSampler`, an Optuna sampler that looks for a target, and `stop_when_certain`, the callback that ends the study."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from zlib import crc32

import optuna
from numpy.random import default_rng
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.trial import FrozenTrial

from satisfice.checks import drawn_seed
from satisfice.domain.box import Box
from satisfice.domain.space import Space
from satisfice.errors import BadInput, NoSurvivors, SpaceExhausted
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.search.specification import Target
from satisfice.study import _optuna
from satisfice.study.config import VERDICT, StudyConfig
from satisfice.study.distributions import distribution_of
from satisfice.study.proposal import Proposal
from satisfice.study.replay import StudyReplay
from satisfice.study.unrepeated import hide_repeats
from satisfice.study.values import check_objectives
from satisfice.study.workers.lease import Look, reclaim
from satisfice.types import Noise

PATIENCE = 30.0  # seconds to wait until other workers have decided what to try, so that no two try the same
PAUSE = 0.01  # seconds until the second look at them; the next ones are rarer
RARELY = 0.2


class GoodActionSampler(BaseSampler):  # type: ignore[misc]
    """Proposes settings that reach a target in as few trials as possible; under noise it replicates a setting to certify it.

    The parameters are learned from the trials, conditional ones as well; those that no trial has had yet, and those whose range
    changes, are left to `independent_sampler`. Trials that fail, are pruned or break a constraint are not good, whatever their
    value, and the sampler avoids their neighbourhood. A pruner beside it neither sees repeats nor stops one. Workers on one
    storage see each other's trials: a sampler keeps nothing that is not in the storage. The direction is the study's.

    Parameters
    ----------
    target
        The value to reach.
    targets
        For a study of several objectives a requirement for each, in their order, such as
        `["accuracy >= 0.93", "latency <= 200"]`; a study of one objective takes one as well.
    noise, confidence, value_range, rule, model
        As in `satisfice.Search`; requirements have noises and ranges of their own.
    seed
        The seed of all random numbers.
    independent_sampler
        Samples what this sampler does not know yet; random by default.

    Raises
    ------
    BadInput
        If an argument cannot be used.

    Examples
    --------
    >>> study = optuna.create_study(direction="maximize", sampler=GoodActionSampler(target=0.9, noise=0, seed=1))
    >>> study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=30, callbacks=[stop_when_certain()])
    >>> study.best_value >= 0.9
    True
    """

    def __init__(
        self,
        target: float | Target | None = None,
        *,
        targets: Target | None = None,
        noise: Noise = None,
        confidence: float = 0.95,
        value_range: tuple[float, float] | None = None,
        rule: str | Rule = "auto",
        model: str | Model = "auto",
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        config = StudyConfig(
            either(target, targets), "maximize", noise, confidence, value_range, rule, model, drawn_seed(seed)
        )
        config.search(Box([(0.0, 1.0)]))  # what it refuses is refused now
        self._set_up(config, independent_sampler)

    @classmethod
    def from_config(cls, config: StudyConfig) -> "GoodActionSampler":
        """Make the sampler of a study with this config, which knows the space from the first trial on."""
        sampler = cls.__new__(cls)
        sampler._set_up(config, None)
        return sampler

    def _set_up(self, config: StudyConfig, independent_sampler: BaseSampler | None) -> None:
        self.config = config
        self._independent = independent_sampler
        self._lock = threading.RLock()
        self._known: tuple[optuna.Study, StudyReplay] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "independent": self._independent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(state["config"], state["independent"])

    @contextmanager
    def replaying(self, study: optuna.Study, *, read: bool = True) -> Iterator[StudyReplay]:
        """Give the replay of the study to one thread at a time, up to date unless `read` is False."""
        with self._lock:
            known = self._known
            if known is None or not _optuna.same_study(known[0], study):
                check_objectives(study, self.config)
                config = self.config
                if config.specification is None:
                    config = replace(config, direction=study.direction.name.lower())
                stored = StudyConfig.of(study)
                if stored is None or (stored.space is None and stored.budget is None):  # others belong to `find`
                    config.store(study)
                known = self._known = (study, StudyReplay(config))
            if read:
                known[1].catch_up(study)
            yield known[1]

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        """Hide repeats from the study's pruner: they would raise its median, and one that is stopped certifies nothing."""
        hide_repeats(study)

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the distributions of the parameters that are known, constants excepted."""
        check_objectives(study, self.config)
        space = self.config.space
        if space is None:
            with self.replaying(study) as replay:
                space = replay.space
        if space is None:
            return {}
        return {name: distribution_of(each) for name, each in space.parameters.items() if not each.constant}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose the known parameters of this trial, and write the proposal into it for all workers to see."""
        check_objectives(study, self.config)
        if not search_space:
            return {}
        until, pause = time.monotonic() + PATIENCE, PAUSE
        looks: dict[int, Look] = {}
        while True:
            with self.replaying(study) as replay:
                others = replay.asking_before(trial.number)
                if not others or time.monotonic() > until:
                    replay.ignore(others)
                    try:
                        proposal, params = replay.ask(trial.number)
                    except (NoSurvivors, SpaceExhausted):
                        if self.config.space is not None or replay.space is None:
                            raise
                        proposal, params = self._any(replay.space, trial)  # Optuna needs some values
                    proposal.write(study, _optuna.id_of(trial))
                    return {name: params[name] for name in search_space if name in params}
            reclaim(study, looks)  # a dead worker decides nothing
            time.sleep(pause)
            pause = min(1.5 * pause, RARELY)

    def _any(self, space: Space, trial: FrozenTrial) -> tuple[Proposal, dict[str, Any]]:
        """Any setting of the space."""
        x = space.domain.from_unit(space.domain.uniform(1, default_rng([self.config.seed, trial.number])))[0]
        return Proposal(x.tolist(), None, None), space.decode(x)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Sample a parameter that is not known yet: the value of the trial that is replicated, else a random one."""
        check_objectives(study, self.config)
        proposal = Proposal.of(trial)
        if proposal is not None and proposal.repeats is not None:
            with self.replaying(study) as replay:
                params = replay.params_of(proposal.repeats)
            if param_name in params and _optuna.contains(param_distribution, params[param_name]):
                return params[param_name]
        if self._independent is not None:
            return self._independent.sample_independent(study, trial, param_name, param_distribution)
        seed = default_rng([self.config.seed, trial.number, crc32(param_name.encode())]).integers(2**31)
        return RandomSampler(seed=int(seed)).sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """Draw a new seed."""
        with self._lock:
            self.config = replace(self.config, seed=drawn_seed(None))
            self._known = None
        if self._independent is not None:
            self._independent.reseed_rng()


def either(target: float | Target | None, targets: Target | None) -> float | Target:
    """The target, of which exactly one must be given: a number, or requirements."""
    if (target is None) == (targets is None):
        raise BadInput(
            "`target` must be given, the value to reach, or else `targets`, a requirement for each objective."
        )
    return targets if target is None else target  # type: ignore[return-value]


def stop_when_certain(
    target: float | Target | None = None,
    *,
    targets: Target | None = None,
    noise: Noise = None,
    confidence: float | None = None,
    value_range: tuple[float, float] | None = None,
    rule: str | Rule | None = None,
    model: str | Model | None = None,
) -> Callable[[optuna.Study, FrozenTrial], None]:
    """Make a callback for `study.optimize` that stops the study when the target is met, or cannot be met.

    The callback looks at the trials of all workers, so the success of one stops each of them after its current trial.

    Parameters
    ----------
    target
        Leave it out beside a `GoodActionSampler`, which knows it. Any other sampler repeats nothing by itself, so under noise it
        gets no certificate.
    targets
        For a study of several objectives a requirement for each, in place of `target`.
    noise, confidence, value_range, rule, model
        As in `satisfice.Search`, with a target only.

    Returns
    -------
    callable
        A function of a study and a trial.

    Raises
    ------
    BadInput
        If there is no target.
    """
    every = {"noise": noise, "confidence": confidence, "value_range": value_range, "rule": rule, "model": model}
    given: dict[str, Any] = {name: argument for name, argument in every.items() if argument is not None}
    target = targets if target is None else either(target, targets)
    if target is None and given:
        raise BadInput(
            f"`{next(iter(given))}` must come with a `target`. Beside a GoodActionSampler, which knows both, give no arguments."
        )
    own = None if target is None else GoodActionSampler(target, seed=0, **given)

    def look(study: optuna.Study, trial: FrozenTrial) -> None:
        sampler = own or study.sampler
        if not isinstance(sampler, GoodActionSampler):
            raise BadInput("stop_when_certain needs a `target`, since the study's sampler has none.")
        with sampler.replaying(study) as replay:
            answer = replay.answer()
        verdict = answer.verdict
        if study.user_attrs.get(VERDICT) != verdict:
            study.set_user_attr(VERDICT, verdict)
        if answer.done:
            study.stop()

    return look
