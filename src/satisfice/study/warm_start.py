"""Earlier evaluations become trials of a study: the model trains on them, but they never count towards a certificate."""

import csv
import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState, create_trial

from satisfice.checks import as_objective
from satisfice.domain.parameters import Categorical, Integer, Parameter, native
from satisfice.domain.shorthand import rows_of
from satisfice.errors import BadInput, BadValue
from satisfice.search.specification import Specification
from satisfice.study.config import StudyConfig
from satisfice.study.distributions import distributions_of
from satisfice.study.proposal import ERROR, HISTORY
from satisfice.study.values import Result, stored_values

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet would run a text that begins with one of them
NOTHING = ("", "nan", "na", "none", "null", "inf", "-inf")  # texts of a table that are no value


def add_earlier(study: optuna.Study, config: StudyConfig, given: Any) -> None:
    """Add the rows of a table to the study, except those that were added before.

    The table is a list of dicts, a pandas DataFrame or the path of a CSV file, with a column for each parameter and the column
    "value", or one for each requirement; other columns are ignored. A row without a value, or without that of a requirement that
    is not deferred, is a failed evaluation.
    """
    space = config.space
    if space is None:
        raise BadInput("`history` needs a space with the ranges of its parameters.")
    present = {trial.system_attrs.get(HISTORY) for trial in study.get_trials(deepcopy=False)}
    equal: Counter[str] = Counter()  # so many rows have had this text: a table may grow, or come in another order
    for params, value in read_earlier(config, given):
        text = json.dumps([params, value], default=str)
        equal[text] += 1
        digest = f"row {hashlib.sha256(text.encode()).hexdigest()[:16]} {equal[text]}"
        if digest not in present:
            failed = {} if value is not None else {ERROR: "the table has no value"}
            study.add_trial(
                create_trial(
                    state=TrialState.FAIL if value is None else TrialState.COMPLETE,
                    values=None if value is None else stored_values(config, value),
                    params=params,
                    distributions=distributions_of(space),
                    system_attrs={HISTORY: digest, **failed},
                )
            )


def read_earlier(config: StudyConfig, given: Any) -> list[tuple[dict[str, Any], Result | None]]:
    """Read such a table: the parameters and the value of each row; BadInput if a cell cannot be used."""
    rows = enumerate(_rows(given))
    return [(_params(row, config, number), _result(row, config.specification, number)) for number, row in rows]


def _result(row: Mapping[str, Any], specification: Specification | None, number: int) -> Result | None:
    """The value, or those of the requirements; None if one is missing that is not deferred."""
    if specification is None:
        return _value(row, "value", number)
    found = {each: _value(row, each.name, number) for each in specification}
    if any(value is None and not each.deferred for each, value in found.items()):
        return None
    for each, value in found.items():
        if value is not None:
            try:
                each.reading(value)
            except BadInput as problem:
                raise BadInput(f"Row {number} of `history`: {problem}") from None
    return {each.name: value for each, value in found.items() if value is not None}


def _rows(given: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(given, str | os.PathLike):
        try:
            with Path(given).open(newline="", encoding="utf-8-sig") as file:
                return [{unquoted(name): unquoted(cell) for name, cell in row.items()} for row in csv.DictReader(file)]
        except (OSError, UnicodeDecodeError, csv.Error) as problem:
            raise BadInput(
                f"`history` must be the path of a CSV file; {os.fspath(given)!r} cannot be read as one: {problem}"
            ) from None
    rows = rows_of(given)
    if not isinstance(rows, Sequence) or not all(isinstance(row, Mapping) for row in rows):
        raise BadInput(f"`history` must be a list of dicts, a DataFrame or the path of a CSV file; got {given!r:.80}.")
    return rows


def unquoted(text: Any) -> Any:
    """Undo the apostrophe that an export puts before a text, so that no spreadsheet runs it."""
    return text[1:] if isinstance(text, str) and text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


def _params(row: Mapping[str, Any], config: StudyConfig, number: int) -> dict[str, Any]:
    space, specification = config.space, config.specification
    if space is None:
        return {}
    values = ["value"] if specification is None else [each.name for each in specification if not each.deferred]
    missing = [name for name in [*space.parameters, *values] if name not in row]
    if missing:
        column = "the column 'value'" if specification is None else "one for each requirement"
        raise BadInput(
            f"`history` must have a column for each parameter and {column}; row {number} has no {missing[0]!r}."
        )
    params = {name: _cell(row[name], parameter) for name, parameter in space.parameters.items()}
    try:
        space.encode(params)
    except BadInput as problem:
        raise BadInput(f"Row {number} of `history`: {problem} Widen the space or leave the row out.") from None
    return params


def _cell(cell: Any, parameter: Parameter) -> Any:
    """A parameter's value; a text is read as what the parameter takes."""
    if isinstance(parameter, Categorical):
        if isinstance(cell, str) and cell not in parameter.choices:
            meant = [choice for choice in parameter.choices if str(choice) == cell or (choice is None and not cell)]
            return meant[0] if meant else cell
        return native(cell)
    if isinstance(cell, str):
        try:
            cell = float(cell)
        except ValueError:
            return cell
    cell = native(cell)
    whole = isinstance(parameter, Integer) and isinstance(cell, float) and cell.is_integer()
    return int(cell) if whole else cell


def _value(row: Mapping[str, Any], column: str, number: int) -> float | None:
    value = row.get(column)
    if value is None or (isinstance(value, str) and value.strip().lower() in NOTHING):
        return None
    try:
        value = float(value) if isinstance(value, str) else value
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return as_objective(value)
    except (ValueError, BadValue):
        raise BadInput(f"A value of `history` must be a number, or nothing; row {number} has {value!r:.80}.") from None
