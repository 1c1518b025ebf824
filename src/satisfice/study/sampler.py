"""`GoodActionSampler`: an Optuna sampler that looks for a target; `stop_when_certain`: the callback that ends the study."""

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
from satisfice.errors import BadInput, NoSurvivors, SpaceExhausted
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.study.config import VERDICT, SearchConfig
from satisfice.study.lease import Look, reclaim
from satisfice.study.proposal import Proposal
from satisfice.study.replay import StudyReplay
from satisfice.types import Noise

PATIENCE = 30.0  # seconds to wait until other workers have decided what to try, so that no two try the same
PAUSE = 0.01  # seconds until the second look at them; the next ones are rarer
RARELY = 0.2


class GoodActionSampler(BaseSampler):  # type: ignore[misc]
    """Proposes settings that reach the target in as few trials as possible; under noise it repeats a setting to confirm it.

    >>> study = optuna.create_study(direction="maximize", sampler=GoodActionSampler(target=0.9, noise=0, seed=1))
    >>> study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=30, callbacks=[stop_when_certain()])
    >>> study.best_value >= 0.9
    True

    `noise`, `confidence`, `value_range`, `rule` and `model` are those of `satisfice.Search`; the direction is the study's. The
    parameters are learned from the trials, conditional ones as well; those that no trial has had yet, and those whose range
    changes, are left to `independent_sampler` (random by default). Trials that fail, are pruned or break a constraint are not
    good, whatever their value, and teach it to keep away. Workers on one storage see each other's trials; a sampler keeps nothing
    that is not in the storage.
    """

    def __init__(
        self,
        target: float,
        *,
        noise: Noise = None,
        confidence: float = 0.95,
        value_range: tuple[float, float] | None = None,
        rule: str | Rule = "auto",
        model: str | Model = "auto",
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        config = SearchConfig(target, "maximize", noise, confidence, value_range, rule, model, drawn_seed(seed))
        config.search(Box([(0.0, 1.0)]))  # what it refuses is refused now
        self._set_up(config, independent_sampler)

    @classmethod
    def from_config(cls, config: SearchConfig) -> "GoodActionSampler":
        """The sampler of a study with these settings, in whose space it works from the first trial on."""
        sampler = cls.__new__(cls)
        sampler._set_up(config, None)
        return sampler

    def _set_up(self, config: SearchConfig, independent_sampler: BaseSampler | None) -> None:
        self._config = config
        self._independent = independent_sampler
        self._lock = threading.RLock()
        self._known: tuple[optuna.Study, StudyReplay] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"_settings": self._config, "_independent": self._independent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up(state["_settings"], state["_independent"])

    @contextmanager
    def replaying(self, study: optuna.Study, *, read: bool = True) -> Iterator[StudyReplay]:
        """The replay of the study, up to date unless `read` is False, for one thread at a time."""
        with self._lock:
            known = self._known
            if known is None or known[0]._storage is not study._storage or known[0]._study_id != study._study_id:
                self._raise_error_if_multi_objective(study)
                config = replace(self._config, direction=study.direction.name.lower())
                stored = SearchConfig.of(study)
                if stored is None or (stored.space is None and stored.budget is None):  # others belong to `find`
                    config.store(study)
                known = self._known = (study, StudyReplay(config))
            if read:
                known[1].catch_up(study)
            yield known[1]

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that are known, with their distributions, constants excepted."""
        self._raise_error_if_multi_objective(study)
        space = self._config.space
        if space is None:
            with self.replaying(study) as replay:
                space = replay.space
        if space is None:
            return {}
        return {name: each for name, each in space.distributions.items() if not each.single()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The values of the known parameters for this trial, which from now on carries a mark that tells them to all workers."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        until, pause = time.monotonic() + PATIENCE, PAUSE
        looks: dict[int, Look] = {}
        while True:
            with self.replaying(study) as replay:
                others = replay.asking_before(trial.number)
                if not others or time.monotonic() > until:
                    replay.ignore(others)
                    return self._propose(study, trial, search_space, replay)
            reclaim(study, looks)  # a worker that died decides nothing any more
            time.sleep(pause)
            pause = min(1.5 * pause, RARELY)

    def _propose(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution], replay: StudyReplay
    ) -> dict[str, Any]:
        try:
            mark, params = replay.ask(trial.number)
        except (NoSurvivors, SpaceExhausted):
            if self._config.space is not None or replay.space is None:
                raise
            space, rng = replay.space, default_rng([self._config.seed, trial.number])
            x = space.domain.from_unit(space.domain.uniform(1, rng))[0]
            mark, params = Proposal(x.tolist(), None, None), space.decode(x)  # Optuna wants some values
        mark.write(study, trial._trial_id)
        return {name: params[name] for name in search_space if name in params}

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value for a parameter that is not known yet: that of the trial which is repeated, else a random one."""
        self._raise_error_if_multi_objective(study)
        mark = Proposal.of(trial)
        if mark is not None and mark.repeats is not None:
            with self.replaying(study) as replay:
                params = replay.params_of(mark.repeats)
            if param_name in params and _contains(param_distribution, params[param_name]):
                return params[param_name]
        if self._independent is not None:
            return self._independent.sample_independent(study, trial, param_name, param_distribution)
        seed = default_rng([self._config.seed, trial.number, crc32(param_name.encode())]).integers(2**31)
        return RandomSampler(seed=int(seed)).sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """Draw a new seed."""
        with self._lock:
            self._config = replace(self._config, seed=drawn_seed(None))
            self._known = None
        if self._independent is not None:
            self._independent.reseed_rng()


def stop_when_certain(
    target: float | None = None,
    *,
    noise: Noise = None,
    confidence: float | None = None,
    value_range: tuple[float, float] | None = None,
    rule: str | Rule | None = None,
    model: str | Model | None = None,
) -> Callable[[optuna.Study, FrozenTrial], None]:
    """A callback for `study.optimize` that stops the study when the target is met, or cannot be met.

    Beside a `GoodActionSampler` it takes no arguments: the sampler knows. With any other sampler give the target, and the others
    as to a `GoodActionSampler`, whose defaults hold; such a sampler repeats nothing by itself, so under noise nothing gets
    certified. The callback looks at the trials of all workers,
    so the success of one stops each of them after the trial that it is at.
    """
    every = {"noise": noise, "confidence": confidence, "value_range": value_range, "rule": rule, "model": model}
    given: dict[str, Any] = {name: argument for name, argument in every.items() if argument is not None}
    if target is None and given:
        raise BadInput(
            f"stop_when_certain: {next(iter(given))} came without a target; beside a GoodActionSampler, which knows both, "
            "give no arguments, else give the target too"
        )
    own = None if target is None else GoodActionSampler(target, seed=0, **given)

    def look(study: optuna.Study, trial: FrozenTrial) -> None:
        sampler = own or study.sampler
        if not isinstance(sampler, GoodActionSampler):
            raise BadInput("stop_when_certain: no target came, and the study's sampler has none; give the target")
        with sampler.replaying(study) as replay:
            verdict = replay.answer().verdict
        if study.user_attrs.get(VERDICT) != verdict:
            study.set_user_attr(VERDICT, verdict)
        if verdict != "open":
            study.stop()

    return look


def _contains(distribution: BaseDistribution, value: Any) -> bool:
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (ValueError, TypeError):
        return False
