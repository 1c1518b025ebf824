"""`Space`: named parameters with their ranges and choices, or a table of candidates, and the domain they make.

A parameter is written as one or more coordinates of the domain: a number by its value (by its logarithm on a log scale, by the
number of steps from its low end where it has steps), a choice by a group of coordinates of which one is 1.
"""

import itertools
import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
    json_to_distribution,
)

from satisfice.domain.box import Box, Domain
from satisfice.domain.finite import Finite
from satisfice.domain.mixed import LARGEST_LOG, Mixed
from satisfice.errors import BadInput, SatisficeWarning
from satisfice.study.distributions import (
    FINEST,
    FORMS,
    check_choices,
    distribution_of,
    doubt,
    is_choice,
    is_finite,
    is_number,
    native,
    rows_of,
    table_of,
)
from satisfice.types import Array

# of a study's table, beside the parameters
COLUMNS = ("number", "value", "state", "repeats", "hope", "error", "seconds")
LARGEST_WHOLE = 2**53  # a float holds all whole numbers up to here


@dataclass(frozen=True)
class Space:
    """What a user may set: parameters by name, or the rows of a table.

    >>> space = Space.of({"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["adam", "sgd"]})
    >>> space.decode(space.encode({"rate": 1.0, "depth": 3, "solver": "sgd"}))
    {'rate': 1.0, 'depth': 3, 'solver': 'sgd'}

    `distributions` are Optuna's, by name and in order; `rows` are the rows of a table, else None. A parameter of one value only
    is a constant: it is not searched, but `decode` returns it.
    """

    distributions: Mapping[str, BaseDistribution]
    rows: tuple[dict[str, Any], ...] | None = None

    def __post_init__(self) -> None:
        for name, distribution in self.distributions.items():
            if not isinstance(name, str) or not name:
                raise BadInput(f"space: the name {name!r} came; a text that is not empty was wanted")
            _check(name, distribution)
        if not self._searched:
            raise BadInput("space: nothing to search came; at least one parameter with more than one value was wanted")
        _ = self.domain  # what it refuses is refused now

    @classmethod
    def of(cls, given: Any) -> "Space":
        """The space that the user wrote.

        A dict gives each name a short form: `(low, high)`, whole numbers if both are ints (with a warning where these are two
        only, such as (0, 1), since who writes that often means all numbers between); `(low, high, "log")`;
        `(low, high, step)`, its high end lowered to a whole number of steps; a list of choices; an Optuna distribution; a frozen
        uniform, loguniform or randint of scipy.stats. A list of dicts or a pandas DataFrame is a table: only its rows are
        candidates, where a column of numbers has an order and any other one holds choices.
        """
        if isinstance(given, Space):
            return given
        if isinstance(given, Mapping):
            space = cls({name: distribution_of(name, form) for name, form in given.items()})
            for problem in filter(None, itertools.starmap(doubt, given.items())):
                warnings.warn(problem, SatisficeWarning, stacklevel=3)
        else:
            rows = rows_of(given) if hasattr(given, "to_dict") else given
            if not (isinstance(rows, Sequence) and len(rows) and all(isinstance(row, Mapping) for row in rows)):
                wanted = f"a dict of name: {FORMS}; or a table as a list of dicts was wanted"
                raise BadInput(f"space: {given!r:.80} came; {wanted}")
            space = cls(*table_of(rows))
        for name in space.distributions:
            if name in COLUMNS:
                raise BadInput(
                    f"space: the name {name!r} came, which is a column of answer.table() and of CSV files; use another name"
                )
        return space

    @cached_property
    def domain(self) -> Domain:
        """What `Search` works on: a Box, a Mixed where there are choices or whole logs, a Finite for a table."""
        if self.rows is not None:
            return Finite([self._coordinates(row) for row in self.rows])
        bounds: list[tuple[float, float]] = []
        choices, integers, logs, switches = [], [], [], []
        for name in self._searched:
            distribution, column = self.distributions[name], len(bounds)
            if isinstance(distribution, CategoricalDistribution):
                choices.append(range(column, column + len(distribution.choices)))
                bounds += [(0.0, 1.0)] * len(distribution.choices)
                continue
            bounds.append(_bounds(distribution))
            if distribution.log and isinstance(distribution, IntDistribution):
                logs.append(column)
            elif distribution.step is not None:
                integers.append(column)
            if isinstance(distribution, IntDistribution) and distribution.low in (0, -1):
                switches.append(column)  # 0 often means "none" or "no limit", and so does -1
        if choices or logs:
            return Mixed(bounds, choices=choices, integers=integers, logs=logs, switches=switches)
        return Box(bounds, integers, switches)

    def encode(self, params: Mapping[str, Any]) -> Array:
        """The point (d,) of the domain; BadInput if a parameter is unknown, missing or outside its range."""
        for name in [*params, *self.distributions]:
            if name not in params or name not in self.distributions:
                problem = "is missing" if name not in params else "is unknown"
                raise BadInput(f"params: {name!r:.80} {problem}; {list(self.distributions)} were wanted")
        x = self._coordinates(params)
        if self.rows is not None and tuple(native(params[name]) for name in self.distributions) not in self._listed:
            raise BadInput(f"params: {dict(params)!r} came; one of the {len(self.rows)} rows of the table was wanted")
        return np.array(x)

    def decode(self, x: Array) -> dict[str, Any]:
        """The parameters of a point (d,) of the domain, as Python's own ints, floats and choices."""
        if np.shape(x) != (self.domain.dimension,):
            raise BadInput(f"x: shape {np.shape(x)} came; one point of {self.domain.dimension} coordinates was wanted")
        if self.rows is not None and isinstance(self.domain, Finite):
            return dict(self.rows[self.domain.nearest(self.domain.scaled(x[None]))[0]])
        params, coordinates, start = {}, x.tolist(), 0
        for name, distribution, ends in self._coded:
            if ends is None:
                params[name] = _first(distribution)
            elif isinstance(distribution, CategoricalDistribution):
                end = start + len(distribution.choices)
                params[name] = distribution.choices[int(np.argmax(coordinates[start:end]))]
                start = end
            else:
                params[name] = _value(distribution, coordinates[start], *ends)
                start += 1
        return params

    @cached_property
    def _coded(self) -> list[tuple[str, Any, tuple[float, float] | None]]:
        """Each name with its distribution and the ends of its coordinates, None for a constant, which has no coordinate."""
        return [(name, each, None if each.single() else _bounds(each)) for name, each in self.distributions.items()]

    def to_json(self) -> str:
        """The space as a JSON text that `from_json` reads."""
        distributions = {name: json.loads(distribution_to_json(d)) for name, d in self.distributions.items()}
        return json.dumps({"distributions": distributions, "rows": self.rows})

    @classmethod
    def from_json(cls, text: str) -> "Space":
        """The space that `to_json` wrote."""
        try:
            stored = json.loads(text)
            distributions = {name: json_to_distribution(json.dumps(d)) for name, d in stored["distributions"].items()}
            rows = stored["rows"]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise BadInput(f"space: {text!r:.80} came; the text that to_json gives was wanted") from None
        return cls(distributions, None if rows is None else tuple(rows))

    @cached_property
    def _searched(self) -> list[str]:
        """The names of the parameters that have more than one value."""
        return [name for name, distribution in self.distributions.items() if not distribution.single()]

    @cached_property
    def _listed(self) -> set[tuple[Any, ...]]:
        """The rows of a table."""
        return {tuple(row[name] for name in self.distributions) for row in self.rows or ()}

    def _coordinates(self, params: Mapping[str, Any]) -> list[float]:
        """The coordinates of the searched parameters; the constants are checked too."""
        coordinates = []
        for name, distribution in self.distributions.items():
            cells = _cells(name, distribution, native(params[name]))
            coordinates += [] if distribution.single() else cells
        return coordinates


def _check(name: str, distribution: Any) -> None:
    """BadInput unless the distribution is one that can be searched."""
    if isinstance(distribution, CategoricalDistribution):
        check_choices(name, distribution.choices)
        return
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        raise BadInput(f"space: {name}: {distribution!r:.80} came; {FORMS} was wanted")
    whole = isinstance(distribution, IntDistribution)
    largest = (LARGEST_LOG if distribution.log else LARGEST_WHOLE) if whole else math.inf
    fits = all(is_finite(end) and abs(end) <= largest for end in (distribution.low, distribution.high))
    if not fits or (whole and distribution.log and distribution.step != 1):
        wanted = f"numbers up to {largest:,}, and no step on a log scale," if whole else "finite numbers"
        raise BadInput(f"space: {name}: {distribution!r} came; {wanted} were wanted")
    size = max(abs(distribution.low), abs(distribution.high))
    if not whole and distribution.step is not None and size / distribution.step > FINEST:
        raise BadInput(f"space: {name}: {distribution!r} came; a coarser step was wanted, or none")
    low, high = _bounds(distribution)
    if not (distribution.single() or 0 < high - low < math.inf):
        raise BadInput(f"space: {name}: {distribution!r} came; its ends are too close together or too far apart")


def _counts_steps(distribution: Any) -> bool:
    """Whether the coordinate is the number of steps from the low end; whole numbers in a row stand for themselves."""
    return distribution.step is not None and not (isinstance(distribution, IntDistribution) and distribution.step == 1)


def _bounds(distribution: Any) -> tuple[float, float]:
    """The ends of the coordinates."""
    if isinstance(distribution, CategoricalDistribution):
        return 0.0, 1.0
    return _coordinate(distribution, distribution.low), _coordinate(distribution, distribution.high)


def _coordinate(distribution: Any, value: float) -> float:
    """The coordinate of a number: its logarithm, its number of steps, or itself."""
    if distribution.log:
        return math.log(value)
    if not _counts_steps(distribution):
        return float(value)
    return float(round((value - distribution.low) / distribution.step))


def _value(distribution: Any, z: float, first: float, last: float) -> int | float:
    """The number at a coordinate that lies between `first` and `last`, never outside its range."""
    low, high = distribution.low, distribution.high
    if z <= first or z >= last:  # so the ends come back exactly
        return low if z <= first else high
    if _counts_steps(distribution) and isinstance(distribution, FloatDistribution):
        return float(
            Decimal(str(low)) + round(z) * Decimal(str(distribution.step))
        )  # 0.3, where 3 * 0.1 is another float
    if _counts_steps(distribution):
        return low + round(z) * distribution.step
    value = math.exp(z) if distribution.log else z
    return min(max(round(value) if isinstance(distribution, IntDistribution) else value, low), high)


def _first(distribution: Any) -> Any:
    """The one value of a constant."""
    return distribution.choices[0] if isinstance(distribution, CategoricalDistribution) else distribution.low


def _cells(name: str, distribution: Any, value: Any) -> list[float]:
    """The coordinates of one parameter's value, or BadInput."""
    if isinstance(distribution, CategoricalDistribution):
        if not (is_choice(value) and value in distribution.choices):
            raise BadInput(f"params: {name}: {value!r:.80} came; one of {list(distribution.choices)!r:.200} was wanted")
        return [float(value == choice) for choice in distribution.choices]
    if not (is_number(value) and distribution.low <= value <= distribution.high):
        wanted = f"a number from {distribution.low!r} to {distribution.high!r} was wanted"
        raise BadInput(f"params: {name}: {value!r:.80} came; {wanted}")
    steps = 0.0 if distribution.step is None else (value - distribution.low) / distribution.step
    if abs(steps - round(steps)) > 1e-8:
        raise BadInput(
            f"params: {name}: {value!r} came; {distribution.low!r} and whole steps of {distribution.step!r} were wanted"
        )
    return [_coordinate(distribution, round(value) if isinstance(distribution, IntDistribution) else value)]


def is_searchable(name: str, distribution: BaseDistribution) -> bool:
    """Whether a space can have such a parameter."""
    try:
        Space({name: distribution})
    except BadInput:
        return False
    return True
