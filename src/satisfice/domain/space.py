"""`Space`: named parameters, or a table of candidates, and the domain that they make."""

import itertools
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from satisfice.domain.constraints import Constraint, Constraints, constraints_of, restored, rows_that_hold
from satisfice.domain.finite import Finite
from satisfice.domain.limits import SpaceLimits
from satisfice.domain.parameters import Categorical, Integer, Parameter, native
from satisfice.domain.product import Product
from satisfice.domain.region import Region
from satisfice.domain.shorthand import FORMS, doubt, number, parameter_of, rows_of, table_of
from satisfice.errors import BadInput, SatisficeWarning
from satisfice.types import Array, Domain

# of a study's table, beside the parameters
COLUMNS = ("number", "value", "state", "repeats", "hope", "error", "seconds")


@dataclass(frozen=True)
class Space:
    """What a user may set: parameters by name, or the rows of a table. `Space.of` reads short forms.

    Parameters
    ----------
    parameters : mapping of names to parameters
        In the order of their coordinates. A parameter of one value only is a constant: it is not searched, but `decode`
        returns it.
    rows : tuple of dicts or None
        The rows of a table, which are then the only candidates.
    constraints : tuple of constraints
        What every setting satisfies, as `Space.of` reads it. Of a table, the rows that satisfy all constraints are kept.

    Raises
    ------
    BadInput
        If a parameter cannot be searched, there is nothing to search, or the constraints leave nothing.

    Examples
    --------
    >>> space = Space.of({"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["adam", "sgd"]})
    >>> space.decode(space.encode({"rate": 1.0, "depth": 3, "solver": "sgd"}))
    {'rate': 1.0, 'depth': 3, 'solver': 'sgd'}
    """

    parameters: Mapping[str, Parameter]
    rows: tuple[dict[str, Any], ...] | None = None
    constraints: tuple[Constraint, ...] = ()

    def __post_init__(self) -> None:
        for name, parameter in self.parameters.items():
            if not isinstance(name, str) or not name:
                raise BadInput(f"A name of `space` must be a text that is not empty; got {name!r}.")
            if not isinstance(parameter, Parameter):
                raise BadInput(f"`space[{name!r}]` must be {FORMS}; got {parameter!r:.80}.")
            parameter.check(name)
        if not self._searched:
            raise BadInput(
                "`space` must have at least one parameter with more than one value: there is nothing to search."
            )
        if self.rows is not None and self.constraints:
            object.__setattr__(self, "rows", tuple(rows_that_hold(self.rows, self.limits)))
        domain = self.domain  # what it refuses is refused now
        if isinstance(domain, Region):
            self._domain_limits.check()
            domain.prepare()

    @classmethod
    def of(cls, given: Any, constraints: Any = None) -> "Space":
        """Read the space that the user wrote.

        Parameters
        ----------
        given : dict, table or Space
            A dict gives each name a short form: `(low, high)`, whole numbers if both are ints; `(low, high, "log")`;
            `(low, high, step)`, its high end lowered to a whole number of steps; a list of choices; an Optuna distribution; a
            frozen uniform, loguniform or randint of scipy.stats. A list of dicts or a pandas DataFrame is a table: only its
            rows are candidates. A column of numbers has an order, any other one holds choices.
        constraints : list
            What every setting must satisfy, known before it is evaluated: linear inequalities as texts such as
            `"a + 2 b <= 1"`, functions of the dict of parameters that return True where a setting is allowed, and `Mixture` for
            parts of a whole. No question breaks them.

        Returns
        -------
        Space

        Warns
        -----
        SatisficeWarning
            If a range holds two whole numbers only, such as (0, 1), since who writes that often means all numbers between.
        """
        if isinstance(given, Space):
            return given if constraints is None else given.constrained(constraints)
        if isinstance(given, Mapping):
            space = cls({name: parameter_of(name, form) for name, form in given.items()})
            for problem in filter(None, itertools.starmap(doubt, given.items())):
                warnings.warn(problem, SatisficeWarning, stacklevel=3)
        else:
            rows = rows_of(given)
            if not (isinstance(rows, Sequence) and len(rows) and all(isinstance(row, Mapping) for row in rows)):
                raise BadInput(
                    f"`space` must be a dict that gives each name {FORMS}; or a table as a list of dicts; got {given!r:.80}."
                )
            space = cls(*table_of(rows))
        for name in space.parameters:
            if name in COLUMNS:
                raise BadInput(
                    f"A name of `space` must not be a column of answer.table() and of CSV files; got {name!r}. Use another name."
                )
        return space if constraints is None else space.constrained(constraints)

    def constrained(self, constraints: Any) -> "Space":
        """Make a space of the same parameters with these constraints in place of its own.

        Parameters
        ----------
        constraints
            As in `Space.of`.

        Returns
        -------
        Space
        """
        return Space(self.parameters, self.rows, constraints_of(constraints, self.parameters))

    @cached_property
    def limits(self) -> Constraints:
        """The constraints."""
        return Constraints(self.constraints)

    @cached_property
    def _domain_limits(self) -> SpaceLimits:
        return SpaceLimits(self.parameters, self._searched, self.limits, self.columns)

    @cached_property
    def domain(self) -> Domain:
        """The domain that `Search` works on: a Product, or a Finite for a table."""
        if self.rows is not None:
            return Finite([self._coordinates(row) for row in self.rows])
        searched = [self.parameters[name] for name in self._searched]
        starts = itertools.accumulate((len(each.bounds) for each in searched), initial=0)
        # 0 often means "none" or "no limit", and so does -1
        switches = [
            j for j, each in zip(starts, searched, strict=False) if isinstance(each, Integer) and each.low in (0, -1)
        ]
        if self.constraints:
            return Region(searched, switches, self._domain_limits)
        return Product(searched, switches)

    def encode(self, params: Mapping[str, Any]) -> Array:
        """Write parameters as a point of the domain.

        Parameters
        ----------
        params
            The value of each parameter by its name, constants included.

        Returns
        -------
        Array
            The point (d,).

        Raises
        ------
        BadInput
            If a parameter is unknown, missing or outside its range.
        """
        for name in [*params, *self.parameters]:
            if name not in params or name not in self.parameters:
                problem = "is missing" if name not in params else "is unknown"
                raise BadInput(f"`params` must have the names {list(self.parameters)}; {name!r:.80} {problem}.")
        x = self._coordinates(params)
        if self.rows is not None and tuple(native(params[name]) for name in self.parameters) not in self._listed:
            raise BadInput(f"`params` must be one of the {len(self.rows)} rows of the table; got {dict(params)!r}.")
        return np.array(x)

    def decode(self, x: Array) -> dict[str, Any]:
        """Read the parameters of a point of the domain.

        Parameters
        ----------
        x
            The point (d,).

        Returns
        -------
        dict
            The value of each parameter by its name, as Python's own ints, floats and choices.

        Raises
        ------
        BadInput
            If the point has another number of coordinates.
        """
        if np.shape(x) != (self.domain.dimension,):
            raise BadInput(f"`x` must be one point of {self.domain.dimension} coordinates; got shape {np.shape(x)}.")
        if self.rows is not None and isinstance(self.domain, Finite):
            return dict(self.rows[self.domain.nearest(self.domain.scaled(x[None]))[0]])
        params, coordinates, start = {}, x.tolist(), 0
        for name, parameter, width in self._widths:
            own = coordinates[start : start + width] or parameter.bounds[0][:1]  # a constant has no coordinate
            params[name] = parameter.decode(own)
            start += width
        return params

    def columns(self, X: Array) -> dict[str, list[Any]]:
        """The values of all parameters, by name, at points (n, d) of the domain."""
        columns: dict[str, list[Any]] = {}
        start = 0
        for name, parameter, width in self._widths:
            own = X[:, start : start + width] if width else np.full((len(X), 1), parameter.bounds[0][0])
            columns[name] = parameter.column(own)
            start += width
        return columns

    def to_json(self) -> str:
        """Write the space as a JSON text that `from_json` reads; of a function among the constraints only its name."""
        stored = {name: parameter.stored() for name, parameter in self.parameters.items()}
        limits = {"constraints": self.limits.stored()} if self.constraints else {}
        return json.dumps({"distributions": stored, "rows": self.rows, **limits})

    @classmethod
    def from_json(cls, text: str) -> "Space":
        """Read the space that `to_json` wrote."""
        try:
            stored = json.loads(text)
            parameters = {
                name: _restored(each["name"], each["attributes"]) for name, each in stored["distributions"].items()
            }
            rows = stored["rows"]
            constraints = restored(stored.get("constraints", ()), parameters)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise BadInput(f"`text` must be what `Space.to_json` gives; got {text!r:.80}.") from None
        return cls(parameters, None if rows is None else tuple(rows), constraints)

    @cached_property
    def _searched(self) -> list[str]:
        """The names of the parameters that have more than one value."""
        return [name for name, parameter in self.parameters.items() if not parameter.constant]

    @cached_property
    def _widths(self) -> list[tuple[str, Parameter, int]]:
        """Each name with its parameter and the number of its coordinates, none for a constant."""
        return [(name, each, 0 if each.constant else len(each.bounds)) for name, each in self.parameters.items()]

    @cached_property
    def _listed(self) -> set[tuple[Any, ...]]:
        """The rows of a table."""
        return {tuple(row[name] for name in self.parameters) for row in self.rows or ()}

    def _coordinates(self, params: Mapping[str, Any]) -> list[float]:
        """The coordinates of the searched parameters; the constants are checked too."""
        coordinates: list[float] = []
        for name, parameter in self.parameters.items():
            cells = parameter.encode(name, native(params[name]))
            coordinates += [] if parameter.constant else cells
        return coordinates


def _restored(kind: str, attributes: dict[str, Any]) -> Parameter:
    """The parameter that `stored` wrote."""
    if kind == "CategoricalDistribution":
        return Categorical(attributes["choices"])
    if kind not in ("FloatDistribution", "IntDistribution"):
        raise ValueError(kind)
    return number(**attributes)
