"""`Space`: named parameters, or a table of candidates, and the domain that they make."""

import itertools
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from satisfice.domain.finite import Finite
from satisfice.domain.parameters import Categorical, Integer, Parameter, native
from satisfice.domain.product import Product
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

    Raises
    ------
    BadInput
        If a parameter cannot be searched, or there is nothing to search.

    Examples
    --------
    >>> space = Space.of({"rate": (1e-4, 1.0, "log"), "depth": (2, 12), "solver": ["adam", "sgd"]})
    >>> space.decode(space.encode({"rate": 1.0, "depth": 3, "solver": "sgd"}))
    {'rate': 1.0, 'depth': 3, 'solver': 'sgd'}
    """

    parameters: Mapping[str, Parameter]
    rows: tuple[dict[str, Any], ...] | None = None

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
        _ = self.domain  # what it refuses is refused now

    @classmethod
    def of(cls, given: Any) -> "Space":
        """Read the space that the user wrote.

        Parameters
        ----------
        given : dict, table or Space
            A dict gives each name a short form: `(low, high)`, whole numbers if both are ints; `(low, high, "log")`;
            `(low, high, step)`, its high end lowered to a whole number of steps; a list of choices; an Optuna distribution; a
            frozen uniform, loguniform or randint of scipy.stats. A list of dicts or a pandas DataFrame is a table: only its
            rows are candidates. A column of numbers has an order, any other one holds choices.

        Returns
        -------
        Space

        Warns
        -----
        SatisficeWarning
            If a range holds two whole numbers only, such as (0, 1), since who writes that often means all numbers between.
        """
        if isinstance(given, Space):
            return given
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
        return space

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

    def to_json(self) -> str:
        """Write the space as a JSON text that `from_json` reads."""
        stored = {name: parameter.stored() for name, parameter in self.parameters.items()}
        return json.dumps({"distributions": stored, "rows": self.rows})

    @classmethod
    def from_json(cls, text: str) -> "Space":
        """Read the space that `to_json` wrote."""
        try:
            stored = json.loads(text)
            parameters = {
                name: _restored(each["name"], each["attributes"]) for name, each in stored["distributions"].items()
            }
            rows = stored["rows"]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise BadInput(f"`text` must be what `Space.to_json` gives; got {text!r:.80}.") from None
        return cls(parameters, None if rows is None else tuple(rows))

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
