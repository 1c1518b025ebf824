"""What a user may write for a parameter or for a table of candidates, and the parameters that it means."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from satisfice.domain.parameters import (
    FINEST,
    Categorical,
    Integer,
    LogInteger,
    LogReal,
    Parameter,
    Real,
    is_choice,
    is_finite,
    is_number,
    native,
)
from satisfice.errors import BadInput

FORMS = (
    'a range (low, high), (low, high, "log") or (low, high, step), a list of choices, an Optuna distribution, or '
    "uniform, loguniform or randint of scipy.stats"
)
Rows = tuple[dict[str, Any], ...]


def parameter_of(name: str, form: Any) -> Parameter:
    """The parameter that a short form means; the name is for the error."""
    if isinstance(form, Parameter):
        return form
    if isinstance(form, np.ndarray) and form.ndim == 1:
        form = form.tolist()
    if isinstance(form, list):
        return categorical(name, form)
    if isinstance(form, tuple):
        return _of_tuple(name, tuple(native(part) for part in form))
    if isinstance(getattr(form, "choices", None), tuple):  # as Optuna's distributions have them
        return Categorical(form.choices)
    if all(hasattr(form, each) for each in ("low", "high", "log", "step")):
        return number(form.low, form.high, form.step, log=form.log)
    kind = getattr(getattr(form, "dist", None), "name", None)
    if kind in ("uniform", "loguniform", "reciprocal", "randint"):
        low, high = (float(end) for end in form.support())
        if kind == "randint":
            return range_of(name, int(low), int(high))
        return range_of(name, low, high, None if kind == "uniform" else "log")
    raise BadInput(f"`space[{name!r}]` must be {FORMS}; got {form!r:.80}. A constant is a list of one value.")


def number(low: float, high: float, step: float | None = None, *, log: bool = False) -> Real | Integer:
    """The parameter of the numbers from low to high, whole ones if both are ints."""
    if isinstance(low, int) and isinstance(high, int):
        return LogInteger(low, high) if log else Integer(low, high, 1 if step is None else int(step))
    return LogReal(low, high) if log else Real(low, high, step)


def _of_tuple(name: str, parts: tuple[Any, ...]) -> Parameter:
    """A range where the tuple starts with two numbers and nothing but a step or a text follows; else choices, if clear."""
    numbers = [is_number(part) for part in parts]
    if numbers[:2] == [True, True] and (
        len(parts) == 2 or (len(parts) == 3 and (numbers[2] or isinstance(parts[2], str)))
    ):
        return range_of(name, *parts)
    if len(parts) in (2, 3) and all(isinstance(part, str) and _is_numeric(part) for part in parts[:2]):
        raise BadInput(
            f"`space[{name!r}]` must have numbers as its ends; got the texts {parts!r:.80}. Write choices as a list."
        )
    if any(part is None or isinstance(part, str) for part in parts) or (parts and not any(numbers)):
        return categorical(name, parts)
    raise BadInput(f"`space[{name!r}]` must be {FORMS}; got {parts!r:.80}. Write choices as a list.")


def _is_numeric(text: str) -> bool:
    """Whether the text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def range_of(name: str, low: float, high: float, third: float | str | None = None) -> Parameter:
    """The parameter of a range, of whole numbers if all its entries are; `third` is a step, "log" or None."""

    def refused(wanted: str, hint: str = "") -> BadInput:
        got = f"({low!r:.40}, {high!r:.40}{'' if third is None else f', {third!r:.40}'})"
        return BadInput(f"`space[{name!r}]` must have {wanted}; got {got}.{hint}")

    if not (is_finite(low) and is_finite(high) and low <= high):
        raise refused("finite ends low <= high")
    whole = isinstance(low, int) and isinstance(high, int)
    if third is None:
        return number(low, high)
    if isinstance(third, str):
        if third != "log":
            raise refused('a step or "log" as its third entry', " Write choices as a list.")
        if low <= 0:
            raise refused("low > 0 on a log scale")
        return number(low, high, log=True)
    if not (is_finite(third) and third > 0):
        raise refused("a step greater than 0")
    if Decimal(str(third)) > Decimal(str(high)) - Decimal(str(low)) > 0:
        raise refused("a step within the range", " Write choices as a list.")
    if whole and isinstance(third, int):
        return Integer(int(low), int(low + (high - low) // third * third), third)
    if max(abs(low), abs(high)) / third > FINEST:
        raise refused("a coarser step, or none")
    start, step = Decimal(str(low)), Decimal(str(third))
    steps = math.floor((Decimal(str(high)) - start) / step)
    return Real(low, float(start + steps * step), third)


def doubt(name: str, form: Any) -> str | None:
    """What to warn of: (0, 1), which often means all numbers between, and a list of two floats, which often means a range."""
    if isinstance(form, list) and len(form) == 2 and all(type(native(part)) is float for part in form):
        low, high = sorted(form)
        return (
            f"`space[{name!r}]`: {form} means the two choices {form[0]} and {form[1]}. For all numbers between them write the "
            f"range ({low}, {high})."
        )
    if not (isinstance(form, tuple) and len(form) == 2):
        return None
    low, high = map(native, form)
    if type(low) is not int or type(high) is not int or high != low + 1:
        return None
    return (
        f"`space[{name!r}]`: ({low}, {high}) means the whole numbers {low} and {high} only. For all numbers between them write "
        f"the ends as {low}.0 and {high}.0; for these two, a list of choices."
    )


def categorical(name: str, values: Sequence[Any]) -> Categorical:
    """The parameter of a list of choices."""
    parameter = Categorical([native(value) for value in values])
    parameter.check(name)
    return parameter


def rows_of(given: Any) -> Any:
    """The rows of a pandas DataFrame, which writes nan for the None of a column of texts; anything else as it is."""
    if not hasattr(given, "to_dict"):
        return given
    rows: list[dict[str, Any]] = given.to_dict("records")
    texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    return [{name: None if name in texts and value != value else value for name, value in row.items()} for row in rows]


def table_of(given: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Parameter], Rows]:
    """The columns of a table as parameters, and its rows: a column of numbers is a range, any other one a choice."""
    names = list(given[0])
    for place, row in enumerate(given):
        if set(row) != set(names):
            raise BadInput(f"Row {place} of `space` must have the keys of row 0, {names}; got {list(row)}.")
    rows = tuple({name: native(row[name]) for name in names} for row in given)
    parameters = {name: _of_column(name, [row[name] for row in rows]) for name in names}
    seen: dict[tuple[Any, ...], int] = {}
    for place, row in enumerate(rows):
        before = seen.setdefault(tuple(row.values()), place)
        if before != place:
            raise BadInput(f"The rows of `space` must differ; rows {before} and {place} are equal.")
    return parameters, rows


def _of_column(name: str, column: list[Any]) -> Parameter:
    """A range over the numbers of a column (short to store, and a dashboard draws an axis), or its values as choices."""
    if not all(map(is_number, column)):
        odd = [value for value in column if not is_choice(value)]
        return categorical(name, odd or list(dict.fromkeys(column)))  # raises if there are odd ones
    if not all(map(is_finite, column)):
        raise BadInput(f"A column of numbers must be finite; the column {name!r} of `space` has nan or infinite ones.")
    whole = all(isinstance(value, int) for value in column)
    return (Integer if whole else Real)(min(column), max(column))
