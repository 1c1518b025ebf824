"""Constraints on the parameters that are known before an evaluation: linear ones, functions, and parts of a whole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.domain.linear import EXAMPLE, Linear, linear_constraints
from satisfice.domain.parameters import Integer, Parameter, Real, is_number
from satisfice.errors import BadInput

WHOLE = 1e-6  # the parts of a whole may miss their total by this share of it


@dataclass(frozen=True)
class Mixture:
    """Parts of a whole: the values of these parameters sum to `total`.

    Parameters
    ----------
    names : sequence of str
        The parameters, two or more. Each one is a range of real numbers, its bounds in the space.
    total : float
        What they sum to.

    Raises
    ------
    BadInput
        If there are not two names or more, each once, or the total is not a number above 0.

    Examples
    --------
    >>> from satisfice import Space
    >>> parts = {"water": (0.2, 1.0), "salt": (0.0, 0.3), "sugar": (0.0, 0.5)}
    >>> space = Space.of(parts, constraints=[Mixture(["water", "salt", "sugar"])])
    """

    names: Sequence[str]
    total: float = 1.0

    def __post_init__(self) -> None:
        names = (self.names,) if isinstance(self.names, str) else tuple(self.names)
        if len(names) < 2 or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
            raise BadInput(f"`names` of a Mixture must be two or more different parameters; got {self.names!r:.80}.")
        if not is_number(self.total) or not 0 < self.total < np.inf:
            raise BadInput(f"`total` of a Mixture must be a finite number above 0; got {self.total!r:.80}.")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "total", float(self.total))

    def __str__(self) -> str:
        return f"Mixture({list(self.names)}, total={self.total:g})"

    def holds(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
        """Whether the parts of each row of a table sum to the total."""
        found = np.sum([np.asarray(columns[name], dtype=np.float64) for name in self.names], axis=0)
        return np.asarray(np.abs(found - self.total) <= WHOLE * self.total)


@dataclass(frozen=True)
class Predicate:
    """A function of the dict of parameters that says whether a setting is allowed.

    Parameters
    ----------
    function : callable or None
        The function; None for one of a stored study, which keeps its name only. Nothing can be asked then.
    name : str
        How errors call it.
    """

    function: Callable[[dict[str, Any]], object] | None
    name: str

    def __str__(self) -> str:
        return f"the function {self.name}"

    def allows(self, params: dict[str, Any]) -> bool:
        """Whether the setting is allowed; BadInput if the function raises or returns something else than True or False."""
        if self.function is None:
            return True
        try:
            found = self.function(params)
        except Exception as problem:  # whatever a user's function raises
            raise BadInput(
                f"`constraints`: {self} must return True or False; it raised {type(problem).__name__}: {problem!s:.120} for "
                f"{params!r:.300}."
            ) from problem
        if not isinstance(found, bool | np.bool_):
            raise BadInput(
                f"`constraints`: {self} must return True or False; it returned {found!r:.80} for {params!r:.200}. For a number "
                "that must not exceed 0, return `number <= 0`."
            )
        return bool(found)


Constraint = Linear | Mixture | Predicate


def constraints_of(given: Any, parameters: Mapping[str, Parameter]) -> tuple[Constraint, ...]:
    """Read the constraints that the user wrote: texts, functions and mixtures; BadInput if one does not suit the parameters."""
    if given is None:
        return ()
    if isinstance(given, str | Linear | Mixture | Predicate) or callable(given):
        given = [given]
    if not isinstance(given, Iterable):
        raise BadInput(f"`constraints` must be a list of texts, functions and mixtures; got {given!r:.80}.")
    found: list[Constraint] = []
    for place, each in enumerate(given):
        if isinstance(each, str):
            found += linear_constraints(each, parameters)
        elif isinstance(each, Linear | Predicate):
            found.append(each)
        elif isinstance(each, Mixture):
            found.append(_checked(each, parameters))
        elif callable(each):
            name = getattr(each, "__name__", type(each).__name__)
            found.append(Predicate(each, f"{name} (constraints[{place}])"))
        else:
            raise BadInput(
                f"`constraints[{place}]` must be {EXAMPLE}, a function of the dict of parameters, or a Mixture; got {each!r:.80}."
            )
    parts = [name for each in found if isinstance(each, Mixture) for name in each.names]
    twice = next((name for name in parts if parts.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"`constraints` must have each parameter in one Mixture at most; {twice!r} is in two.")
    return tuple(found)


def _checked(mixture: Mixture, parameters: Mapping[str, Parameter]) -> Mixture:
    """The mixture, if its parts are ranges of real numbers."""
    for name in mixture.names:
        part = parameters.get(name)
        if part is None:
            raise BadInput(
                f"`constraints`: {mixture} must name parameters of the space, {list(parameters)}; got {name!r}."
            )
        if not isinstance(part, Real) or part.step is not None or part.log:
            hint = (
                f" Write the range as ({part.low}.0, {part.high}.0)."
                if isinstance(part, Integer) and not part.log
                else ""
            )
            raise BadInput(
                f"`constraints`: the parts of {mixture} must be ranges of real numbers; {name!r} is {part!r:.80}.{hint}"
            )
    ranges = [part for name, part in parameters.items() if name in mixture.names and isinstance(part, Real)]
    low, high = sum(part.low for part in ranges), sum(part.high for part in ranges)
    if not low < mixture.total < high:
        raise BadInput(
            f"`constraints`: the parts of {mixture} must be able to sum to {mixture.total:g} in more than one way; their ranges "
            f"give sums from {low:g} to {high:g}."
        )
    return mixture


class Constraints:
    """The constraints of a space, for settings that are given as a table of columns.

    Parameters
    ----------
    every : tuple of constraints
        The constraints.
    """

    def __init__(self, every: tuple[Constraint, ...]) -> None:
        self.every = every
        self.linear = [each for each in every if isinstance(each, Linear)]
        self.mixtures = [each for each in every if isinstance(each, Mixture)]
        self.predicates = [each for each in every if isinstance(each, Predicate)]

    @property
    def forgotten(self) -> list[Predicate]:
        """The functions of a stored study, of which only the names are known."""
        return [each for each in self.predicates if each.function is None]

    def hold(self, columns: Mapping[str, Sequence[Any]], count: int) -> npt.NDArray[np.bool_]:
        """Whether all constraints hold for each of the `count` rows; functions see only rows for which the others do."""
        ok = self.linear_hold(columns, count)
        rows = np.flatnonzero(ok)
        ok[rows] = self.predicates_hold(
            {name: [each[int(k)] for k in rows] for name, each in columns.items()}, len(rows)
        )
        return ok

    def linear_hold(self, columns: Mapping[str, npt.ArrayLike], count: int) -> npt.NDArray[np.bool_]:
        """Whether the linear constraints and the mixtures hold for each of the `count` rows."""
        ok = np.ones(count, dtype=bool)
        for linear in self.linear:
            ok &= linear.holds(columns)
        for mixture in self.mixtures:
            ok &= mixture.holds(columns)
        return ok

    def predicates_hold(self, columns: Mapping[str, Sequence[Any]], count: int) -> npt.NDArray[np.bool_]:
        """Whether the functions allow each of the `count` rows."""
        asked = [each for each in self.predicates if each.function is not None]
        names = list(columns)
        if not asked:
            return np.ones(count, dtype=bool)
        rows = (dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return np.array([all(each.allows(row) for each in asked) for row in rows], dtype=bool)

    def broken(self, params: Mapping[str, Any]) -> Constraint | None:
        """The first constraint that the setting breaks, None if it is allowed."""
        columns: dict[str, Any] = {name: [value] for name, value in params.items()}
        for each in self.every:
            ok = each.allows(dict(params)) if isinstance(each, Predicate) else bool(each.holds(columns)[0])
            if not ok:
                return each
        return None

    def stored(self) -> list[dict[str, Any]]:
        """The constraints as JSON has them; of a function only its name."""
        texts = dict.fromkeys(each.text for each in self.linear)
        return [
            *({"linear": text} for text in texts),
            *({"mixture": list(each.names), "total": each.total} for each in self.mixtures),
            *({"function": each.name} for each in self.predicates),
        ]


def restored(stored: Iterable[Mapping[str, Any]], parameters: Mapping[str, Parameter]) -> tuple[Constraint, ...]:
    """The constraints that `stored` wrote; functions without their code."""
    found: list[Any] = []
    for each in stored:
        if "linear" in each:
            found.append(each["linear"])
        elif "mixture" in each:
            found.append(Mixture(each["mixture"], each["total"]))
        else:
            found.append(Predicate(None, each["function"]))
    return constraints_of(found, parameters)


def rows_that_hold(rows: Sequence[dict[str, Any]], constraints: Constraints) -> list[dict[str, Any]]:
    """The rows of a table for which all constraints hold; BadInput if there is none."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    kept = [row for row, ok in zip(rows, constraints.hold(columns, len(rows)), strict=True) if ok]
    if not kept:
        raise BadInput(f"`constraints` must leave a row of the table; none of its {len(rows)} rows satisfies them all.")
    return kept
