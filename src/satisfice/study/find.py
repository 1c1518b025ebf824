"""`find`: a setting of an objective that reaches the target, in as few evaluations as possible."""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import optuna
from optuna.pruners import BasePruner
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial

from satisfice.checks import drawn_seed, number, whole
from satisfice.domain.box import Box
from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.search.specification import Target
from satisfice.study import _optuna
from satisfice.study.config import VERDICT, StudyConfig
from satisfice.study.distributions import distributions_of
from satisfice.study.progress import Progress
from satisfice.study.pruner import Report, TargetPruner
from satisfice.study.sampler import GoodActionSampler
from satisfice.study.snapshot import StudyAnswer, study_answer
from satisfice.study.values import directions_of
from satisfice.study.warm_start import add_earlier, read_earlier
from satisfice.study.workers.interrupts import Interrupts
from satisfice.study.workers.isolated import Isolated
from satisfice.study.workers.loop import Workers
from satisfice.study.workers.storage import open_study
from satisfice.types import Noise, Stoppable


def find(
    objective: Callable[..., float | Mapping[str, Any]],
    space: Any,
    target: float | Target,
    *,
    constraints: Any = None,
    prefer: Any = None,
    budget: int = 100,
    timeout: float | None = None,
    direction: str = "maximize",
    noise: Noise = None,
    confidence: float = 0.95,
    value_range: tuple[float, float] | None = None,
    rule: str | Rule = "auto",
    model: str | Model = "auto",
    n_jobs: int = 1,
    each: float | None = None,
    memory: float | None = None,
    cancel_running: bool = False,
    storage: str | os.PathLike[str] | BaseStorage | None = None,
    name: str | None = None,
    history: Any = None,
    give_up: bool = True,
    seed: int | None = None,
    report: bool | BasePruner = False,
    callbacks: Iterable[Callable[[optuna.Study, FrozenTrial], None]] = (),
    progress: bool | Literal["log"] | None = None,
) -> StudyAnswer:
    """Find a setting whose value reaches the target, in as few evaluations as possible.

    With a `storage` and a `name` the study is kept: the same call goes on where it ended, and calls in several processes work on
    it together. The arguments of the current call take precedence, the target included; the space and the direction must be
    those of the study.

    Parameters
    ----------
    objective
        A function that takes a dict of parameters and returns a number, or anything that `float` takes; with requirements as
        target, a dict of the required values, in which others may stand as well. If it raises, or a value is missing or no finite
        number, the evaluation failed, and the search avoids its neighbourhood. A first evaluation that returns no number at all,
        such as None, or no dict, ends the search. The value of a deferred requirement may be a function without arguments: it is
        called only where the other requirements pass.
    space
        What `Space.of` takes: a dict such as `{"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["adam", "sgd"]}`, or a
        table of candidates. For parameters that depend on others: a function that takes an Optuna trial and returns the dict.
    target
        The value to reach, or requirements such as `{"yield": ">= 80", "impurity": "<= 2"}`; see `Specification.of`. These have
        directions, noises and ranges of their own.
    constraints
        What every setting must satisfy, known before it is evaluated, as in `Space.of`: texts such as `"a + 2 b <= 1"`, functions
        of the dict of parameters that return True or False, and `Mixture` for parts of a whole. A stored study keeps texts and
        mixtures; functions must be passed again.
    prefer
        Which of the good settings you would rather have: a cost of the parameters, smaller is better. A sum as a text such as
        `"a + 2 b"`, a function of the dict of parameters, or a setting, to which the distance counts. After the first good
        setting the search goes on for a more preferred one within the budget, and ends when the hope of one is lost.
    budget
        The largest number of evaluations of the study, by all workers and all earlier calls.
    timeout
        No new evaluation begins after so many seconds.
    direction
        "maximize" or "minimize".
    noise
        0 for an objective without noise, the standard deviation of one evaluation, "learn" if it is unknown, or None if you do
        not know whether there is any: then the first setting that reaches the target is evaluated again.
    confidence
        The probability that a verdict is right.
    value_range
        The range (low, high) that no value can leave. With it, certificates hold for any noise, and `noise=None` means "learn".
    rule
        The name of a rule, or a rule of your own.
    model
        "auto", "paper" or a model of your own.
    n_jobs
        The number of threads that evaluate; -1 for one a core.
    each
        The number of seconds that one evaluation may take, or `math.inf`. With it each evaluation has a process of its own: one
        that hangs, crashes or uses up the memory fails, with the reason, and the search goes on. What an evaluation changes in
        memory is lost with its process.
    memory
        With `each`: the number of bytes that one evaluation may allocate.
    cancel_running
        With `each`: whether evaluations that still run when the verdict is in are ended, those of other workers included.
    storage
        The path of an SQLite file, the URL of a database or an Optuna storage; None keeps the study in memory.
    name
        The name of the study in the storage; None for a new one.
    history
        A table of earlier evaluations with the column "value", or one for each requirement. The model trains on them, but they
        never count towards a certificate.
    give_up
        Whether a search that has lost hope draws settings at random, to say how rare good ones are at most, and then ends with
        the verdict "unlikely". False goes on until the budget is spent.
    seed
        The seed of all random numbers; without one a stored study keeps its own.
    report
        True if the objective takes a second argument, a function `report(step, value)` that it calls after each step of a long
        run: a run that will not reach the target is stopped there. A `TargetPruner` or another Optuna pruner sets how.
    callbacks
        Functions that are called with the study and each finished trial. They may call `study.stop()`.
    progress
        False shows nothing. None or "log" shows a progress bar in terminals and notebooks, and elsewhere prints a line at most
        once a minute on stderr; True shows the bar anywhere. The first failure is shown in full.

    Returns
    -------
    StudyAnswer
        The best setting, the verdict, and how sure it is.

    Raises
    ------
    BadInput
        If an argument cannot be used, or does not fit the stored study.
    WrongType
        If the first evaluation returns no number at all.
    TooManyFailures
        If most evaluations fail.
    StorageFailed
        If the database cannot be read or written.

    Examples
    --------
    >>> answer = find(lambda p: -((p["x"] - 0.3) ** 2), {"x": (0.0, 1.0)}, target=-0.01, noise=0, seed=1)
    >>> answer.verdict, abs(answer.params["x"] - 0.3) < 0.1
    ('good', True)
    """
    if not callable(objective):
        raise BadInput(f"`objective` must be a function of a dict of parameters; got {objective!r:.80}.")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise BadInput(f"`n_jobs` must be a number of threads, or -1 for one a core; got {n_jobs!r:.80}.")
    if timeout is not None and number(timeout, "timeout") <= 0:
        raise BadInput(f"`timeout` must be a number of seconds above 0, or None; got {timeout!r}.")
    if each is not None and not (each == math.inf or number(each, "each", ", math.inf or None") > 0):
        raise BadInput(f"`each` must be a number of seconds above 0, math.inf, or None; got {each!r}.")
    if memory is not None and (number(memory, "memory", " or None") <= 0 or each is None):
        raise BadInput(f"`memory` must be a number of bytes above 0, and needs `each`; got {memory!r}.")
    if cancel_running and each is None and not isinstance(objective, Stoppable):
        raise BadInput(
            "`cancel_running` needs `each`, which may be math.inf: what runs in this process cannot be ended."
        )
    if not isinstance(callbacks, Iterable) or not all(map(callable, called := tuple(callbacks))):
        raise BadInput(f"`callbacks` must be a list of functions of a study and a trial; got {callbacks!r:.80}.")
    if not isinstance(report, bool | BasePruner):
        raise BadInput(f"`report` must be True, False or an Optuna pruner such as TargetPruner(); got {report!r:.80}.")
    if report and (each is not None or isinstance(objective, Stoppable)):
        raise BadInput("`report` needs an objective that runs in this process; leave out `each`.")
    if history is not None and callable(space):
        raise BadInput("`history` needs a space with the ranges of its parameters; got a function as `space`.")
    if constraints is not None and callable(space):
        raise BadInput("`constraints` needs a space with the ranges of its parameters; got a function as `space`.")
    if prefer is not None and callable(space):
        raise BadInput("`prefer` needs a space with the ranges of its parameters; got a function as `space`.")
    named = None if callable(space) else Space.of(space, constraints)
    config = StudyConfig(
        target,
        direction,
        noise,
        confidence,
        value_range,
        rule,
        model,
        drawn_seed(seed),
        give_up=give_up,
        budget=whole(budget, "budget", least=1),
        space=named,
        prefer=prefer,
    )
    if each is not None and config.specification is not None and any(part.deferred for part in config.specification):
        raise BadInput(
            "`each` cannot be used with a deferred requirement, whose function would stay in the other process."
        )
    if report and config.specification is not None:
        raise BadInput("`report` needs a target that is one number: a run reports one value, not several requirements.")
    config.search(Box([(0.0, 1.0)]) if named is None else named.domain)  # what it refuses is refused now
    if history is not None:
        read_earlier(config, history)  # what is wrong with it is said before there is a study
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        evaluate: Callable[[Any], object] = objective
        if each is not None:  # before anything starts a thread
            evaluate = stack.enter_context(Isolated(objective, float(each), memory))
        shown = stack.enter_context(Progress(progress, config))
        study = open_study(name, storage, direction=directions_of(config))
        config = agreed(study, config, seed)
        config.store(study)
        study.sampler = sampler = GoodActionSampler.from_config(config)
        if config.space is None:
            prepare: Callable[[optuna.Trial], Any] = _unchanged
            evaluate = _with_space(evaluate, space, reports=bool(report))
        else:
            suggest = partial(_optuna.suggest, distributions=distributions_of(config.space))
            prepare = suggest
            if report:
                prepare, evaluate = _with_trial(suggest), _reporting(objective)
            if history is not None:
                add_earlier(study, config, history)
        if report:
            study.pruner = TargetPruner(confidence=confidence) if report is True else report
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)
        workers = Workers(
            *(study, sampler, prepare, evaluate, deadline, called, shown, interrupts),
            cancel_running=cancel_running,
        )
        workers.run((os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
        with sampler.replaying(study) as replay:
            answer = study_answer(study, replay)
        if workers.nothing_left is not None and answer.verdict == "open":
            answer = replace(
                answer, notes=(*answer.notes, f"ended before the budget was spent: {workers.nothing_left}")
            )
        shown.show(answer)
        study.set_user_attr(VERDICT, answer.verdict)
    return answer


def _unchanged(trial: optuna.Trial) -> optuna.Trial:
    return trial


def _with_trial(prepare: Callable[[optuna.Trial], Any]) -> Callable[[optuna.Trial], Any]:
    """The parameters of a trial together with what reports its progress."""
    return lambda trial: (prepare(trial), Report(trial))


def _reporting(objective: Callable[..., object]) -> Callable[[Any], object]:
    """An objective that takes such a pair."""
    return lambda given: objective(*given)


def _with_space(
    objective: Callable[..., object], space: Callable[[optuna.Trial], Any], reports: bool
) -> Callable[[Any], object]:
    """The objective as a function of a trial."""
    if reports:
        return lambda trial: objective(space(trial), Report(trial))
    return _OfTrial(objective, space) if isinstance(objective, Stoppable) else lambda trial: objective(space(trial))


@dataclass(frozen=True)
class _OfTrial:
    """The same for an objective of which an evaluation can be ended."""

    objective: Stoppable
    space: Callable[[optuna.Trial], Any]

    def __call__(self, trial: optuna.Trial) -> object:
        return self.run(trial, lambda: None)

    def run(self, trial: optuna.Trial, look: Callable[[], None]) -> object:
        """Evaluate."""
        return self.objective.run(self.space(trial), look)


def agreed(study: optuna.Study, given: StudyConfig, seed: int | None) -> StudyConfig:
    """The config of the call, with the seed and the space (and its order) of the study if it has them; they must fit."""
    stored = StudyConfig.of(study)
    if stored is None:
        return given
    if given.space is not None and stored.space is not None:
        _check_same(given.space, stored.space, study.study_name)
    elif given.space != stored.space:
        ways = ["a function", "ranges by name"] if given.space is None else ["ranges by name", "a function"]
        raise BadInput(
            f"`space` must be that of the study {study.study_name!r}, which was made with {ways[1]}; got {ways[0]}. "
            "Use another name."
        )
    space = stored.space
    if given.space is not None and space is not None and given.space.constraints:  # their functions are not stored
        same = list(given.space.parameters) == list(space.parameters)
        space = given.space if same else replace(space, constraints=given.space.constraints)
    return replace(given, space=space, seed=stored.seed if seed is None else given.seed)


def _check_same(given: Space, stored: Space, name: str) -> None:
    for each in [*given.parameters, *stored.parameters]:
        came, known = given.parameters.get(each), stored.parameters.get(each)
        if came != known:
            raise BadInput(
                f"`space[{each!r}]` must be {known}, as in the study {name!r}; got {came}. Use another name."
            )
    limits = [
        sorted(
            json.dumps({**each, "function": "function"} if "function" in each else each) for each in one.limits.stored()
        )
        for one in (given, stored)
    ]
    if limits[0] != limits[1]:
        raise BadInput(
            f"`constraints` must be those of the study {name!r}, {_in_words(stored)}; got {_in_words(given)}. Use another name."
        )
    if given.rows != stored.rows:
        raise BadInput(f"`space` must be the table of the study {name!r}; got another one. Use another name.")


def _in_words(space: Space) -> str:
    return ", ".join(map(str, space.constraints)) or "none"
