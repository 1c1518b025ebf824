"""What a user may write for a parameter or a table of candidates, and the Optuna distributions that it means."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from satisfice.errors import BadInput
from satisfice.types import LARGEST

FORMS = (
    'a range (low, high), (low, high, "log") or (low, high, step), a list of choices, an Optuna distribution, or '
    "uniform, loguniform or randint of scipy.stats"
)
FINEST = 10**7  # a step that is a smaller part of the largest value drowns in the rounding of floats
Rows = tuple[dict[str, Any], ...]


def native(value: Any) -> Any:
    """A numpy scalar as Python's own type; everything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def is_number(value: Any) -> bool:
    """Whether the value is an int or a float, and not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_finite(value: float) -> bool:
    """Whether a number fits into a finite float."""
    return abs(value) <= LARGEST  # an int may be too long for math.isfinite


def is_choice(value: Any) -> bool:
    """Whether the value may be a choice: a text, a number, a boolean or None, but not nan."""
    return value is None or (isinstance(value, str | int | float) and value == value)


def distribution_of(name: str, form: Any) -> BaseDistribution:
    """The Optuna distribution that a short form means; the name is for the error."""
    if isinstance(form, BaseDistribution):
        return form
    if isinstance(form, np.ndarray) and form.ndim == 1:
        form = form.tolist()
    if isinstance(form, list):
        return choices_of(name, form)
    if isinstance(form, tuple):
        return _of_tuple(name, tuple(native(part) for part in form))
    kind = getattr(getattr(form, "dist", None), "name", None)
    if kind in ("uniform", "loguniform", "reciprocal", "randint"):
        low, high = (float(end) for end in form.support())
        if kind == "randint":
            return range_of(name, int(low), int(high))
        return range_of(name, low, high, None if kind == "uniform" else "log")
    raise BadInput(f"space: {name}: {form!r:.80} came; {FORMS} was wanted; a constant is a list of one value")


def _of_tuple(name: str, parts: tuple[Any, ...]) -> BaseDistribution:
    """A range where the tuple starts with two numbers and nothing but a step or a text follows; else choices, if clear."""
    numbers = [is_number(part) for part in parts]
    if numbers[:2] == [True, True] and (
        len(parts) == 2 or (len(parts) == 3 and (numbers[2] or isinstance(parts[2], str)))
    ):
        return range_of(name, *parts)
    if any(part is None or isinstance(part, str) for part in parts) or (parts and not any(numbers)):
        return choices_of(name, parts)
    raise BadInput(f"space: {name}: {parts!r:.80} came; {FORMS} was wanted; write choices as a list")


def range_of(name: str, low: float, high: float, third: float | str | None = None) -> BaseDistribution:
    """The distribution of a range, of whole numbers if all its entries are; `third` is a step, "log" or None."""
    what = f"space: {name}: ({low!r:.40}, {high!r:.40}{'' if third is None else f', {third!r:.40}'}) came"
    if not (is_finite(low) and is_finite(high) and low <= high):
        raise BadInput(f"{what}; finite numbers low <= high were wanted")
    whole = isinstance(low, int) and isinstance(high, int)
    if isinstance(third, str):
        if third != "log":
            raise BadInput(f'{what}; a third entry is a step or "log"; write choices as a list')
        if low <= 0:
            raise BadInput(f"{what}; a log scale wants low > 0")
        return IntDistribution(low, high, log=True) if whole else FloatDistribution(low, high, log=True)
    if third is None:
        return IntDistribution(low, high) if whole else FloatDistribution(low, high)
    if not (is_finite(third) and third > 0):
        raise BadInput(f"{what}; a step greater than 0 was wanted")
    if Decimal(str(third)) > Decimal(str(high)) - Decimal(str(low)) > 0:
        raise BadInput(f"{what}; a step within the range was wanted; write choices as a list")
    if whole and isinstance(third, int):
        return IntDistribution(low, low + (high - low) // third * third, step=third)
    if max(abs(low), abs(high)) / third > FINEST:
        raise BadInput(f"{what}; a coarser step was wanted, or none")
    start, step = Decimal(str(low)), Decimal(str(third))
    steps = math.floor((Decimal(str(high)) - start) / step)  # Optuna would warn about a rest
    return FloatDistribution(low, float(start + steps * step), step=third)


def doubt(name: str, form: Any) -> str | None:
    """What to warn of: a range of two whole numbers, since who writes (0, 1) often means all numbers between."""
    if not (isinstance(form, tuple) and len(form) == 2):
        return None
    low, high = map(native, form)
    if type(low) is not int or type(high) is not int or high != low + 1:
        return None
    return (
        f"space: {name}: ({low}, {high}) means the whole numbers {low} and {high} only; for all numbers between them write the "
        f"ends as {low}.0 and {high}.0, and for these two a list of choices"
    )


def choices_of(name: str, values: Sequence[Any]) -> CategoricalDistribution:
    """The distribution of a list of choices."""
    natives = [native(value) for value in values]
    check_choices(name, natives)
    return CategoricalDistribution(natives)


def check_choices(name: str, values: Sequence[Any]) -> None:
    """BadInput unless there is a value, and all are different texts, numbers, booleans or None."""
    if len(values) == 0:
        raise BadInput(f"space: {name}: an empty list came; at least one choice was wanted")
    for value in values:
        if not is_choice(value):
            raise BadInput(
                f"space: {name}: the choice {value!r:.80} came; a text, a number, True, False or None was wanted; name other "
                "things by a text and look them up in the objective"
            )
    if len(set(values)) < len(values):
        raise BadInput(
            f"space: {name}: {list(values)!r:.80} came; different choices were wanted (1, 1.0 and True are equal)"
        )


def rows_of(frame: Any) -> list[dict[str, Any]]:
    """The rows of a pandas DataFrame, which writes nan for the None of a column of texts."""
    rows: list[dict[str, Any]] = frame.to_dict("records")
    texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
    return [{name: None if name in texts and value != value else value for name, value in row.items()} for row in rows]


def table_of(given: Sequence[Mapping[str, Any]]) -> tuple[dict[str, BaseDistribution], Rows]:
    """The columns of a table as distributions, and its rows: a column of numbers is a range, any other one a choice."""
    names = list(given[0])
    for number, row in enumerate(given):
        if set(row) != set(names):
            raise BadInput(f"space: row {number} has the keys {list(row)}; the keys of row 0 were wanted: {names}")
    rows = tuple({name: native(row[name]) for name in names} for row in given)
    distributions = {name: _of_column(name, [row[name] for row in rows]) for name in names}
    seen: dict[tuple[Any, ...], int] = {}
    for number, row in enumerate(rows):
        before = seen.setdefault(tuple(row.values()), number)
        if before != number:
            raise BadInput(f"space: rows {before} and {number} are equal; pass each row once")
    return distributions, rows


def _of_column(name: str, column: list[Any]) -> BaseDistribution:
    """A range over the numbers of a column (short to store, and a dashboard draws an axis), or its values as choices."""
    if not all(map(is_number, column)):
        odd = [value for value in column if not is_choice(value)]
        if odd:
            check_choices(name, odd)  # raises
        return choices_of(name, list(dict.fromkeys(column)))
    if not all(map(is_finite, column)):
        raise BadInput(f"space: {name}: a column with nan or infinite numbers came; finite numbers were wanted")
    whole = all(isinstance(value, int) for value in column)
    return (IntDistribution if whole else FloatDistribution)(min(column), max(column))
