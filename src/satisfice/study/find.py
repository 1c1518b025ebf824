"""`find`: a setting of an objective that reaches the target, in as few evaluations as possible."""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial

from satisfice.checks import drawn_seed, number, whole
from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.fit import Model
from satisfice.rules import Rule
from satisfice.study.config import VERDICT, SearchConfig
from satisfice.study.interrupt import Interrupts
from satisfice.study.progress import Progress
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.snapshot import StudyAnswer, answer_of
from satisfice.study.space import Space
from satisfice.study.storage import open_study
from satisfice.study.warm_start import add_earlier
from satisfice.study.workers import TooManyFailures, Workers
from satisfice.types import Noise

__all__ = ["StudyAnswer", "TooManyFailures", "find"]


def find(
    objective: Callable[[dict[str, Any]], float],
    space: Any,
    target: float,
    *,
    budget: int = 100,
    timeout: float | None = None,
    direction: str = "maximize",
    noise: Noise = None,
    confidence: float = 0.95,
    value_range: tuple[float, float] | None = None,
    rule: str | Rule = "auto",
    model: str | Model = "auto",
    n_jobs: int = 1,
    storage: str | os.PathLike[str] | BaseStorage | None = None,
    name: str | None = None,
    history: Any = None,
    give_up: bool = True,
    seed: int | None = None,
    callbacks: Iterable[Callable[[optuna.Study, FrozenTrial], None]] = (),
    progress: bool | None = None,
) -> StudyAnswer:
    """The answer: a setting whose value reaches the target, or why there is none yet, and how sure that is.

    >>> answer = find(lambda p: -((p["x"] - 0.3) ** 2), {"x": (0.0, 1.0)}, target=-0.01, noise=0, seed=1)
    >>> answer.verdict, abs(answer.params["x"] - 0.3) < 0.1
    ('good', True)

    `objective` takes a dict of parameters and returns a number; what it raises, or a value that is no finite number, makes a
    failed evaluation, of which the search learns. `space` is what `Space.of` takes: a dict such as
    `{"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["adam", "sgd"]}` or a table of candidates; or a function that
    takes an Optuna trial and returns the dict, for parameters that depend on others. `noise`, `confidence`, `value_range`, `rule`
    and `model` are those of `satisfice.Search`; with a `value_range`, `noise=None` means "learn".

    `budget` bounds the evaluations of the study, by all workers and all earlier calls; no new one begins after `timeout` seconds.
    `storage` (a path or a URL) and `name` keep the study: the same call goes on where it ended, and calls in several processes
    work on it together, each with `n_jobs` threads. What is given in the call counts, for the target too; the space and the
    direction must be those of the study, and without a seed it keeps its own. `history` is a table of earlier evaluations with
    the column "value": they teach, but certify nothing. A search that
    has lost hope draws settings at random to say how rare good ones are at most, and ends as `unlikely`; `give_up=False` goes on
    instead until the budget is spent. `callbacks` are called with the study and the finished trial, and may
    call `study.stop()`. `progress` forces the line on stderr or forbids it.
    """
    if not callable(objective):
        raise BadInput(f"objective: {objective!r:.80} came; a function of a dict of parameters was wanted")
    budget = whole(budget, "budget", least=1)
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise BadInput(f"n_jobs: {n_jobs!r:.80} came; a number of threads was wanted, or -1 for one a core")
    if timeout is not None and number(timeout, "timeout") <= 0:
        raise BadInput(f"timeout: {timeout!r} came; a number of seconds above 0 was wanted, or None")
    if not isinstance(callbacks, Iterable) or not all(map(callable, called := tuple(callbacks))):
        raise BadInput(f"callbacks: {callbacks!r:.80} came; a list of functions of a study and a trial was wanted")
    if history is not None and callable(space):
        raise BadInput("history: a table came with a function as space; a space by its parameters' ranges was wanted")
    named = None if callable(space) else Space.of(space)
    config = SearchConfig(
        target, direction, noise, confidence, value_range, rule, model, drawn_seed(seed), budget, named, give_up
    )  # fmt: skip
    config.search(Box([(0.0, 1.0)]) if named is None else named.domain)  # what it refuses is refused now
    with Interrupts() as interrupts, Progress(progress, budget, config.target) as shown:
        study = open_study(name, storage, direction=direction)
        config = _agreed(study, config, seed)
        config.store(study)
        study.sampler = sampler = GoodActionSampler.from_config(config)
        if history is not None and config.space is not None:
            add_earlier(study, config.space, history)
        prepare = (lambda trial: trial) if config.space is None else _suggester(config.space)
        evaluate = (lambda trial: objective(space(trial))) if config.space is None else objective
        workers = Workers(
            study, sampler, prepare, evaluate, budget, math.inf if timeout is None else timeout, value_range,
            called, shown, interrupts,
        )  # fmt: skip
        workers.run((os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
        with sampler.replaying(study) as replay:
            answer = answer_of(study, replay)
        if workers.nothing_left is not None and answer.verdict == "open":
            answer = replace(
                answer, notes=(*answer.notes, f"ended before the budget was spent: {workers.nothing_left}")
            )
        shown.show(answer)
        study.set_user_attr(VERDICT, answer.verdict)
    return answer


def _suggester(space: Space) -> Callable[[optuna.Trial], dict[str, Any]]:
    """The function that gives a trial its parameters and returns them."""

    def suggest(trial: optuna.Trial) -> dict[str, Any]:
        return {name: trial._suggest(name, distribution) for name, distribution in space.distributions.items()}

    return suggest


def _agreed(study: optuna.Study, given: SearchConfig, seed: int | None) -> SearchConfig:
    """The settings of the call, with the seed and the space (and its order) of the study if it has them; they must fit."""
    stored = SearchConfig.of(study)
    if stored is None:
        return given
    if (given.space is None) != (stored.space is None):
        ways = ["a function", "ranges by name"] if given.space is None else ["ranges by name", "a function"]
        raise BadInput(
            f"space: {ways[0]} came, but the study {study.study_name!r} was made with {ways[1]}; use another name"
        )
    if given.space is not None and stored.space is not None:
        _check_same(given.space, stored.space, study.study_name)
    return replace(given, space=stored.space, seed=stored.seed if seed is None else given.seed)


def _check_same(given: Space, stored: Space, name: str) -> None:
    for each in [*given.distributions, *stored.distributions]:
        came, known = given.distributions.get(each), stored.distributions.get(each)
        if came != known:
            raise BadInput(f"space: {each}: {came} came, but the study {name!r} has {known}; use another name")
    if given.rows != stored.rows:
        raise BadInput(f"space: another table came than the one of the study {name!r}; use another name")
