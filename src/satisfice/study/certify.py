"""`certify`: whether one given setting is good enough, and not by luck."""

import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import optuna
from numpy.random import default_rng
from optuna.storages import BaseStorage

from satisfice.checks import as_objective, drawn_seed, number, whole
from satisfice.command.objective import CommandObjective, placeholders
from satisfice.errors import BadInput, BadValue, WrongType
from satisfice.search.gate_answer import CertifyAnswer
from satisfice.search.gate_config import GateConfig, gate_config
from satisfice.search.specification import Requirement
from satisfice.study.config import StudyConfig
from satisfice.study.gate_progress import GateProgress
from satisfice.study.gate_replay import FAILED, VALUES, GateSampler, store, stored
from satisfice.study.workers.interrupts import Interrupts
from satisfice.study.workers.lease import LONGEST_REASON
from satisfice.study.workers.loop import Workers
from satisfice.study.workers.storage import open_study
from satisfice.study.workers.traces import reason_of
from satisfice.types import Noise

FILLED = ("seed", "run")  # the names that a command may contain


@dataclass(frozen=True)
class Numbered:
    """A run that is told its number and a seed of its own; both of a pair get the same ones."""

    call: Callable[[int, int], object]

    @classmethod
    def of(cls, command: CommandObjective) -> "Numbered":
        """The runs of a command."""
        return cls(lambda number, seed: command({"run": number, "seed": seed}))


def certify(
    run: Callable[..., Any] | Sequence[str] | Numbered,
    target: Any = None,
    *,
    direction: str | None = None,
    rate: bool = False,
    quantile: float | None = None,
    against: Callable[..., Any] | Sequence[str] | Numbered | None = None,
    margin: float = 0.0,
    noise: Noise | Literal["gaussian"] = None,
    value_range: tuple[float, float] | None = None,
    params: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    budget: int = 1000,
    timeout: float | None = None,
    n_jobs: int = 1,
    storage: str | os.PathLike[str] | BaseStorage | None = None,
    name: str | None = None,
    seed: int | None = None,
    progress: bool | Literal["log"] | None = None,
) -> CertifyAnswer:
    """Run one given setting until it is clear whether it is good enough, and not by luck.

    It ends as `good`, `bad` or `open` (the budget is spent). `good` and `bad` are each wrong with probability at most 1 -
    `confidence`, though it looks after every run. With a `storage` and a `name` the runs are kept: the same call goes on where it
    ended, and calls in several processes work together. The arguments of the current call take precedence, the target included.

    Parameters
    ----------
    run
        A function that makes one run and returns its value: a number, True or False for a pass or a fail, or a dict of numbers
        for a specification. It takes no arguments, or `params` if these are given. If it raises, the run failed. Or a command
        as a list of words, in which {seed} and {run} are new in each run: it prints the value, as for `satisfice find`; of a
        rate its exit code counts.
    target
        A text such as ">= 0.95", a number with a `direction`, or a specification such as
        {"accuracy": ">= 0.9", "seconds": "<= 2"}, whose parts may be `Requirement` objects. Leave it out with `against`.
    direction
        "maximize" if large values are good, the default, or "minimize".
    rate
        Whether runs pass or fail, and the target is a share of them, such as ">= 0.99". A failed run then counts as a fail.
    quantile
        The target is about this quantile of the values rather than their mean: `target="<= 200", quantile=0.99` says that 99 % of
        the values are at most 200. Valid for any distribution. A failed run counts as a value beyond the target.
    against
        A second run like `run`: the answer is whether `run` is at least as good as it, less `margin`. The two are run in
        pairs, in alternating order, and their differences are judged.
    margin
        How much worse than `against` is still good.
    noise
        0 for a run that always gives the same value, the standard deviation of one value (of one difference, with `against`),
        "gaussian" for Gaussian noise of unknown standard deviation, or "learn" or None: the test is then chosen by the values.
    value_range
        The range (low, high) that no value can leave. With it, the answer holds for any distribution of values.
    params
        What `run` and `against` are called with.
    confidence
        The probability that a verdict is right, from 0.5 to 1.
    budget
        The largest number of runs, or pairs, in all calls.
    timeout
        No new run begins after so many seconds.
    n_jobs
        The number of threads that run; -1 for one a core. Values count in the order in which the runs began.
    storage, name
        Where to keep the runs, and under which name; as in `find`.
    seed
        The seed from which the seeds of commands follow; without one a stored gate keeps its own.
    progress
        As in `find`.

    Returns
    -------
    CertifyAnswer
        The verdict, the estimate with its interval, and what the verdict rests on.

    Raises
    ------
    BadInput
        If an argument cannot be used, or does not fit the stored gate.
    WrongType
        If the first run returns what is no value at all.
    TooManyFailures
        If most runs fail and a failed run does not count as a fail.
    StorageFailed
        If the database cannot be read or written.

    Examples
    --------
    >>> rng = default_rng(1)
    >>> answer = certify(lambda: rng.random() < 0.99, ">= 0.9", rate=True)
    >>> answer.verdict
    'good'
    >>> certify(lambda: rng.normal(3.0, 1.0), "<= 2", noise=1.0).verdict
    'bad'
    """
    if params is not None and not isinstance(params, Mapping):
        raise BadInput(f"`params` must be a dict of parameters; got {params!r:.80}.")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or (n_jobs < 1 and n_jobs != -1):
        raise BadInput(f"`n_jobs` must be a number of threads, or -1 for one a core; got {n_jobs!r:.80}.")
    if timeout is not None and number(timeout, "timeout") <= 0:
        raise BadInput(f"`timeout` must be a number of seconds above 0, or None; got {timeout!r}.")
    asked = gate_config(
        target, direction=direction, rate=rate, quantile=quantile, paired=against is not None, margin=margin, noise=noise,
        value_range=value_range, confidence=confidence,
    )  # fmt: skip
    names = asked.specification.names if len(asked.specification) > 1 else ()
    run = _as_run(run, "run", names, rate)
    against = None if against is None else _as_run(against, "against", names, rate)
    config = replace(asked, budget=whole(budget, "budget", least=1), seed=drawn_seed(seed))
    ways = _Runs(config, run, against, params, value_range, rate)
    with Interrupts() as interrupts, GateProgress(progress, config) as shown:
        first = config.specification.requirements[0]
        study = open_study(name, storage, direction="maximize" if first.sense == ">=" else "minimize")
        config = ways.config = _agreed(study, config, seed)
        store(config, study)
        sampler: Any = GateSampler(config)
        study.sampler = sampler
        deadline = time.monotonic() + (math.inf if timeout is None else timeout)

        def stop_where_useless(study: optuna.Study, trial: object) -> None:
            with sampler.replaying(study) as replay:
                if replay.ended is not None:
                    study.stop()

        workers = Workers(study, sampler, lambda trial: trial, ways, deadline, (stop_where_useless,), shown, interrupts)
        with sampler.replaying(study) as replay:
            useless = replay.ended is not None
        if not useless:
            workers.run((os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
        with sampler.replaying(study) as replay:
            answer: CertifyAnswer = replay.answer(brief=False)
        shown.show(answer)
    return answer


def _as_run(run: Any, argument: str, names: Sequence[str], rate: bool) -> Callable[..., Any] | Numbered:
    """A run that can be called, also of a command."""
    if isinstance(run, list | tuple) and run and all(isinstance(word, str) for word in run):
        return Numbered.of(command_of(list(run), names=names, by_exit_code=rate))
    if not callable(run) and not isinstance(run, Numbered):
        raise BadInput(
            f"`{argument}` must be a function that makes one run and returns its value, or a command as a list of words; got "
            f"{run!r:.80}."
        )
    return run


def command_of(words: list[str], **options: Any) -> CommandObjective:
    """The command of a gate, which may contain {seed} and {run}.

    Parameters
    ----------
    words
        The program and its arguments.
    **options
        As for `CommandObjective`.

    Returns
    -------
    CommandObjective

    Raises
    ------
    BadInput
        If there is no such program, or it contains another name in braces.
    """
    used = {name for word in words for name in placeholders(word)}
    if unknown := used - set(FILLED):
        raise BadInput(
            f"The command contains {{{min(unknown)}}}; only {{seed}} and {{run}} are filled in. Write {{{{ and }}}} for braces."
        )
    if not words:
        raise BadInput("The command is missing; write it after --, such as: -- python evaluate.py --seed {seed}")
    command = CommandObjective(words, **options)
    command.check(used)
    return command


def _agreed(study: optuna.Study, given: GateConfig, seed: int | None) -> GateConfig:
    """The config of the call with the seed of the study; the values must mean the same."""
    known = stored(study)
    if StudyConfig.of(study) is not None:
        raise BadInput(f"`name` must be that of a gate; the study {study.study_name!r} is a search. Use another name.")
    if known is None:
        return given
    if (known.paired, known.specification.names) != (given.paired, given.specification.names):
        values = "pairs" if known.paired else ", ".join(known.specification.names)
        raise BadInput(
            f"`target` must be about the values of the gate {study.study_name!r}, which are {values}. Use another name."
        )
    return given if seed is not None else replace(given, seed=known.seed)


class _Runs:
    """One run, or a pair of them, as the objective of a trial; each trial keeps what it needs to be told again."""

    def __init__(
        self,
        config: GateConfig,
        run: Callable[..., Any] | Numbered,
        against: Callable[..., Any] | Numbered | None,
        params: Mapping[str, Any] | None,
        value_range: tuple[float, float] | None,
        rate: bool,
    ) -> None:
        self.config, self._run, self._against, self._params = config, run, against, params
        self._pair_range = value_range
        self._rate = rate
        self._counts = config.gate().counts_failures

    def __call__(self, trial: optuna.Trial) -> float:
        """Make the run of a trial."""
        try:
            return self._pair(trial) if self._against is not None else self._single(trial)
        except Exception as problem:
            if not self._counts or isinstance(problem, WrongType):
                raise
            trial.set_user_attr(FAILED, reason_of(problem)[:LONGEST_REASON])
            return 0.0

    def _call(self, run: Callable[..., Any] | Numbered, trial: optuna.Trial) -> Any:
        if isinstance(run, Numbered):
            return run.call(trial.number, int(default_rng([self.config.seed, trial.number]).integers(2**31)))
        return run() if self._params is None else run(dict(self._params))

    def _single(self, trial: optuna.Trial) -> float:
        returned = self._call(self._run, trial)
        requirements = self.config.specification.requirements
        if len(requirements) == 1 and not isinstance(returned, Mapping):
            return _checked(returned, requirements[0])
        if not isinstance(returned, Mapping) or any(each.name not in returned for each in requirements):
            names = ", ".join(repr(each.name) for each in requirements)
            wrong = BadValue if isinstance(returned, Mapping) else WrongType
            raise wrong(f"A run must return a dict with {names}; it returned {returned!r:.80}.")
        values = {each.name: _checked(returned[each.name], each) for each in requirements}
        if len(values) > 1:
            trial.set_user_attr(VALUES, values)
        return values[requirements[0].name]

    def _pair(self, trial: optuna.Trial) -> float:
        """The difference of the two runs of a pair; the second one goes first in every other pair."""
        found = {}
        order = [("run", self._run), ("against", self._against)]
        for which, run in order if trial.number % 2 == 0 else order[::-1]:
            value = self._call(run, trial)  # type: ignore[arg-type]
            found[which] = _pass(value) if self._rate else as_objective(value, self._pair_range)
        trial.set_user_attr(VALUES, found)
        return as_objective(found["run"] - found["against"])


def _checked(value: object, requirement: Requirement) -> float:
    """The value of a run as a number; BadValue if it cannot be used."""
    return _pass(value) if requirement.statistic == "rate" else as_objective(value, requirement.value_range)


def _pass(value: object) -> float:
    found = as_objective(value)
    if found not in (0.0, 1.0):
        raise BadValue(
            f"A run must return True or False, or 1 or 0, where the target is a rate; it returned {value!r:.80}."
        )
    return found
