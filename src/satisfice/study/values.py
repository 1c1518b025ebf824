"""The values of requirements in Optuna's trials: one objective for each, in their order; what else came is a user attribute.

Optuna then shows them as what they are: the dashboard plots each objective and their Pareto front. A deferred value that was not
measured is stored as an infinity, since a trial that is complete must have all values.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import optuna

from satisfice.checks import as_objective
from satisfice.domain.parameters import native
from satisfice.domain.space import COLUMNS, Space
from satisfice.errors import BadInput, BadValue, WrongType
from satisfice.search.config import SearchConfig
from satisfice.search.specification import Specification

Result = float | dict[str, float]  # the value of an evaluation, or those of the requirements by their names
LONGEST = 500  # characters of a further value that is a text


def directions_of(config: SearchConfig) -> list[str]:
    """The directions of a study's objectives."""
    if config.specification is None:
        return [config.direction]
    return ["maximize" if each.sense == ">=" else "minimize" for each in config.specification]


def check_objectives(study: optuna.Study, config: SearchConfig) -> None:
    """Raise BadInput if the study does not have one objective for a number, or one for each requirement in its direction."""
    found, specification = [each.name.lower() for each in study.directions], config.specification
    if specification is None:
        if len(found) > 1:
            raise BadInput(
                f"A study must have one objective; {study.study_name!r} has {len(found)} objectives. For several, `target` must "
                "have a requirement for each, in their order."
            )
        return
    wanted = directions_of(config)
    if found != wanted:
        each = ", ".join(f"{name} ({direction})" for name, direction in zip(specification.names, wanted, strict=True))
        raise BadInput(
            f"The study {study.study_name!r} must have an objective for each requirement, in their order: {each}; it has "
            f"{', '.join(found)}."
        )


def check_names(specification: Specification | None, space: Space | None) -> None:
    """Raise BadInput if a requirement has the name of a parameter or of another column of a table."""
    for name in () if specification is None else specification.names:
        if name in COLUMNS and name != "value":
            raise BadInput(f"A requirement must not have the name of another column of a table; got {name!r}.")
        if space is not None and name in space.parameters:
            raise BadInput(f"A requirement must not have the name of a parameter; got {name!r}. Rename one of them.")


def stored_values(config: SearchConfig, result: Result) -> list[float]:
    """The objectives' values of a trial."""
    if not isinstance(result, dict):
        return [result]
    worst = [-math.inf if direction == "maximize" else math.inf for direction in directions_of(config)]
    names = () if config.specification is None else config.specification.names
    return [result.get(name, bad) for name, bad in zip(names, worst, strict=True)]


def result_of(config: SearchConfig, values: Sequence[float] | None) -> Result | None:
    """What a trial with these values tells the search; None if they cannot be used."""
    specification = config.specification
    if values is None or len(values) != len(directions_of(config)):
        return None
    if specification is None:
        return values[0] if math.isfinite(values[0]) else None
    named = zip(specification, values, strict=True)
    found = {each.name: value for each, value in named if not (each.deferred and math.isinf(value))}
    return found if all(map(math.isfinite, found.values())) else None


def collected(
    returned: object, specification: Specification, wants: Callable[[dict[str, float]], Sequence[str]]
) -> tuple[dict[str, float], dict[str, Any]]:
    """The values of the requirements in what an objective returned, and the others.

    A deferred value may be a function without arguments, which is called if the value is wanted.

    Parameters
    ----------
    returned
        What the objective returned.
    specification
        The requirements.
    wants
        Which values are still wanted, given those so far.

    Returns
    -------
    values, others

    Raises
    ------
    BadInput, BadValue
        If a value is missing or cannot be used; the message names it.
    """
    if not isinstance(returned, Mapping):
        wanted = ", ".join(f"{name!r}: ..." for name in specification.names)
        raise WrongType(
            f"The objective must return a dict of the required values, {{{wanted}}}; it returned {returned!r:.80} of type "
            f"{type(returned).__name__}."
        )
    given = dict(returned)
    deferred = {each.name for each in specification if each.deferred}
    later = {name: given.pop(name) for name in deferred if callable(given.get(name))}
    values = _numbers(given, specification)
    specification.readings(values)
    for name in wants(dict(values)):
        if name not in later:
            raise BadValue(f"The value {name!r} is needed, since the other requirements pass, and was not returned.")
        given[name] = later[name]()
    values = _numbers(given, specification)
    specification.readings(values)
    return values, {str(name): storable(value) for name, value in given.items() if name not in specification.names}


def _numbers(given: Mapping[str, Any], specification: Specification) -> dict[str, float]:
    """The required values as numbers."""
    found = {}
    for each in specification:
        if given.get(each.name) is not None:
            try:
                found[each.name] = as_objective(given[each.name])
            except BadValue as problem:
                raise BadValue(f"The value {each.name!r}: {problem}") from None
    return found


def storable(value: Any) -> Any:
    """A value that no requirement names, as Optuna can store it."""
    value = native(value)
    if value is None or isinstance(value, bool | str | int):
        return value[:LONGEST] if isinstance(value, str) else value
    if isinstance(value, Real) and np.isfinite(float(value)):
        return float(value)
    return repr(value)[:LONGEST]


def sendable(value: Any) -> Any:
    """A value as it can be sent to another process: a number if it is one, else as Optuna can store it."""
    if value is None or isinstance(value, str):
        return value
    try:
        return as_objective(value)
    except BadValue:
        return storable(value)
