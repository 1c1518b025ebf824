"""`compare`: rules on problems, the user's own among them, on all cores and beside random search."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.random import SeedSequence, default_rng

from satisfice.checks import number, whole
from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.extras import check_extras
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel, Model
from satisfice.paper.experiments.comparison import Comparison
from satisfice.paper.experiments.figures import MATPLOTLIB
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.run import JOBLIB, STARTING_POINTS, Task, results
from satisfice.paper.experiments.spec import FLOOR
from satisfice.paper.experiments.trace import trace
from satisfice.paper.problems import PROBLEMS, Problem
from satisfice.rules import RULES, Rule
from satisfice.search.search import Search
from satisfice.types import Array


def define_problem(
    function: Callable[[Array], float],
    bounds: Sequence[tuple[float, float]],
    target: float,
    *,
    name: str | None = None,
    noise: float = 0.0,
    integers: Sequence[int] = (),
) -> Problem:
    """Make a problem for `compare` from a function, its bounds and a target.

    Parameters
    ----------
    function : callable
        Takes a point, an array (d,), and returns its true value without noise. Larger values are better.
    bounds : sequence of (low, high)
        The range of each coordinate.
    target : float
        A point is good when its value is at least this.
    name : str, optional
        What tables and plots call the problem. By default the name of the function.
    noise : float, default 0.0
        The standard deviation of the Gaussian noise that `compare` adds to what the search is told.
    integers : sequence of int
        The coordinates that hold whole numbers.

    Returns
    -------
    Problem
        The same kind of object as in `satisfice.paper.problems.PROBLEMS`.
    """
    if not callable(function):
        raise BadInput(f"`function` must take a point and return a number; got {function!r:.80}.")
    spread = number(noise, "noise")
    if spread < 0:
        raise BadInput(f"`noise` must be a standard deviation, 0 or more; got {noise!r}.")
    return Problem(
        name or str(getattr(function, "__name__", "problem")),
        Box(bounds, integers=integers),
        lambda X: np.array([float(function(x)) for x in X]),
        maximum=np.inf,
        etas=(number(target, "target"),),
        noise=spread,
        exact=False,
    )


def compare(
    rules: Iterable[str | Rule] | Mapping[str, str | Rule],
    problems: str | Problem | Iterable[str | Problem],
    *,
    runs: int = 20,
    budget: int = 100,
    model: str | Model = "paper",
    seed: int = 0,
    jobs: int = -1,
    out: str | PathLike[str] | None = None,
) -> Comparison:
    """Run rules on problems and compare how fast they find a good point, beside random search.

    Each run starts from three uniform points, the same for every rule, and ends at its first good point; with noise it goes on to
    the end of the budget, and counts as a success while the recommended point is good.

    Parameters
    ----------
    rules : sequence or dict
        Names in `satisfice.rules.RULES` or "auto", and objects with `propose(belief, rng)`. A dict gives them other names.
        Random search is added if it is not among them.
    problems : str, Problem, or sequence of them
        Names in `satisfice.paper.problems.PROBLEMS`, and problems of your own: see `define_problem`.
    runs : int, default 20
        Runs of each rule on each problem.
    budget : int, default 100
        Evaluations of each run at most, the starting points included.
    model : str or model, default "paper"
        "paper", "auto", or a model such as `FixedModel`, the same for every rule.
    seed : int, default 0
        The same seed gives the same runs, whatever `jobs` is.
    jobs : int, default -1
        Processes; -1 uses all cores.
    out : path, optional
        A file for the records, one JSON line a run. Called again, `compare` only makes the runs that are not in it: it tells
        rules and problems apart by their names, so choose another file or name after changing one.

    Returns
    -------
    Comparison
        `print` it for the table; `plot()` draws the success curves; `records` are the runs themselves.

    Raises
    ------
    BadInput
        If a rule or a problem is not known, or does not fit: before anything runs.
    MissingExtra
        If a package is not installed, before anything runs.
    """
    chosen, places = _rules(rules), _problems(problems)
    whole(runs, "runs", least=1)
    whole(budget, "budget", least=STARTING_POINTS + 1)
    whole(seed, "seed", least=0)
    check_extras([JOBLIB, MATPLOTLIB, *(problem.needs for problem in places if problem.needs is not None)])
    tasks = []
    for problem in places:
        for name, rule in chosen.items():
            _search(problem, rule, model, seed)  # says now if they do not fit
            shared = (problem, name, rule, model, budget, seed)
            tasks += [Task(_key(problem, name, model, budget, seed, run), _run, (*shared, run)) for run in range(runs)]
    kept = Records(Path(out)) if out is not None else None
    found = {record["key"]: record for record in kept or ()}
    todo = [task for task in tasks if task.key not in found]
    for record in results(todo, jobs=jobs, title="compare", total=len(tasks)):
        found[record["key"]] = record
        if kept is not None:
            kept.append(record)
    return Comparison(tuple(chosen), tuple(places), budget, tuple(found[task.key] for task in tasks))


def _rules(given: Iterable[str | Rule] | Mapping[str, str | Rule]) -> dict[str, str | Rule]:
    """The rules by name, random search among them; or one clear error."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        given = [given]
    pairs = list(given.items()) if isinstance(given, Mapping) else [(_name(rule), rule) for rule in given]
    chosen: dict[str, str | Rule] = {}
    for name, rule in pairs:
        known = isinstance(rule, str) and rule in (*RULES, "auto")
        if not known and (isinstance(rule, str | type) or not callable(getattr(rule, "propose", None))):
            raise BadInput(
                "`rules` must contain objects with `propose(belief, rng)` or names of rules "
                f"({', '.join(sorted([*RULES, 'auto']))}); got {rule!r:.80}."
            )
        if name in chosen:
            raise BadInput(f"`rules` must have different names; got {name!r} twice. Pass a dict to name them.")
        chosen[name] = rule
    return chosen if FLOOR in chosen.values() else {**chosen, FLOOR: FLOOR}


def _name(rule: str | Rule) -> str:
    return rule if isinstance(rule, str) else type(rule).__name__


def _problems(given: str | Problem | Iterable[str | Problem]) -> list[Problem]:
    """The problems, or one clear error."""
    chosen: list[Problem] = []
    for problem in [given] if isinstance(given, str | Problem) else given:
        if isinstance(problem, str) and problem in PROBLEMS:
            problem = PROBLEMS[problem]
        if not isinstance(problem, Problem):
            raise BadInput(
                f"`problems` must contain problems (see `define_problem`) or their names ({', '.join(PROBLEMS)}); "
                f"got {problem!r:.80}."
            )
        if problem.name in [each.name for each in chosen]:
            raise BadInput(f"`problems` must have different names; got {problem.name!r} twice.")
        chosen.append(problem)
    if not chosen:
        raise BadInput("`problems` must contain at least one problem; got none.")
    return chosen


def _key(problem: Problem, name: str, model: str | Model, budget: int, seed: int, run: int) -> str:
    kind = model if isinstance(model, str) else type(model).__name__
    return f"{problem.name}/{problem.target:.8g}/{problem.noise:g}/{budget}/{kind}/{name}/{seed}/{run}"


def _starts(problem: Problem, seed: int, run: int) -> Array:
    return problem.domain.from_unit(problem.domain.uniform(STARTING_POINTS, default_rng([seed, run])))


def _search(problem: Problem, rule: str | Rule, model: str | Model, seed: int) -> Search:
    if rule == FLOOR and not problem.noise:  # nobody asks the model, so it need not learn
        model = FixedModel(Stationary("se", np.array([0.2])), 1e-6)
    return Search(problem.domain, problem.target, rule, model=model, noise=problem.noise, confirm=False, seed=seed)


def _run(problem: Problem, name: str, rule: str | Rule, model: str | Model, budget: int, seed: int, run: int) -> Record:
    """The record of one run; it depends on its arguments alone."""
    noise = problem.noise
    own_seed = int(SeedSequence([seed, run]).generate_state(1)[0])
    found = trace(
        _search(problem, rule, model, own_seed),
        lambda x: _true_value(problem, x),
        _starts(problem, seed, run),
        budget=budget,
        stop=None if noise else problem.target,
        noise=noise,
        rng=default_rng([seed, run, 1]),
    )
    named = {"problem": problem.name, "rule": name, "target": problem.target, "noise": noise, "budget": budget}
    return {"key": _key(problem, name, model, budget, seed, run), **named, "seed": seed, "run": run, **found}


def _true_value(problem: Problem, x: Array) -> float:
    value = problem.value(x)
    if not np.isfinite(value):
        raise BadInput(f"The function of {problem.name!r} must return finite numbers; got {value!r} at {x.tolist()}.")
    return value
