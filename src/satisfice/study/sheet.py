"""Sheets of experiments: a table with empty cells for the results, and the filled one read back, whole or not at all."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.trial import TrialState

from satisfice.domain.parameters import Categorical, Parameter
from satisfice.domain.space import COLUMNS
from satisfice.errors import BadInput
from satisfice.numerals import read_number
from satisfice.study.config import StudyConfig
from satisfice.study.corrections import NOT_GIVEN, Correction, told_value
from satisfice.study.snapshot import column_of, listing, parameter_names, row_of, value_names
from satisfice.study.stored import Asked, StoredSearch
from satisfice.study.values import result_of, stored_values
from satisfice.study.warm_start import FORMULA, unquoted
from satisfice.study.workbook import BEGINS, read_workbook, write_workbook

LARGEST = 2_000_000  # bytes of a sheet
FAILED = "failed"  # what a cell says where an experiment was made and gave no result
DELIMITERS = (",", ";", "\t")  # spreadsheets write any of them


@dataclass(frozen=True)
class SheetDone:
    """What became of a sheet: the numbers of the trials whose results are new, were known, were corrected, are still missing."""

    told: tuple[int, ...]
    known: tuple[int, ...]
    corrected: tuple[int, ...]
    empty: tuple[int, ...]

    def __str__(self) -> str:
        parts = [f"{len(self.told)} told"]
        parts += [
            f"{len(each)} {word}"
            for word, each in (("known already", self.known), ("corrected", self.corrected))
            if each
        ]
        return ", ".join([*parts, *([f"{len(self.empty)} without a result yet"] if self.empty else [])])


def result_columns(config: StudyConfig) -> list[str]:
    """The columns that are filled in: one for each number that an experiment gives."""
    return ["value"] if config.specification is None else list(config.specification.names)


def header(search: StoredSearch) -> list[str]:
    """The columns of a sheet."""
    return ["number", *search.space.parameters, *result_columns(search.config), "error"]


def sheet(search: StoredSearch, asked: Iterable[Asked]) -> str:
    """Write experiments as a CSV text with empty cells for the results; an `error` says why there is none."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    names = header(search)
    table.writerow(map(cell, names))
    for each in asked:
        table.writerow([cell({"number": each.number, **each}.get(name)) for name in names])
    return text.getvalue()


def excel_sheet(search: StoredSearch, asked: Iterable[Asked]) -> bytes:
    """Write experiments as an Excel file, as `sheet` does; MissingExtra if openpyxl is not installed."""
    names = header(search)
    rows = [[{"number": each.number, **each}.get(name) for name in names] for each in asked]
    return write_workbook(names, rows, [*result_columns(search.config), "error"])


def table_text(study: optuna.Study) -> str:
    """Write all evaluations of a study as a CSV text; no model is fitted."""
    space, evaluations = listing(study)
    names = parameter_names(space, evaluations)
    values = value_names(evaluations)
    columns = ["number", *map(column_of, names), *values, *COLUMNS[2:]]
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(cell, columns))
    for each in evaluations:
        row = row_of(each, names, values)
        table.writerow([cell(row[column]) for column in columns])
    return text.getvalue()


def cell(value: Any) -> str:
    """A value as it stands in a table: numbers so that they can be read back exactly, texts so that no spreadsheet runs them."""
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.lstrip("'").startswith(FORMULA) else value
    return repr(value)


def tell_sheet(
    search: StoredSearch, where: str | os.PathLike[str] | bytes, *, correct: bool = False, by: str = "", name: str = ""
) -> SheetDone:
    """Tell the results of a filled sheet. It is checked first: one wrong cell, and nothing is told.

    Parameters
    ----------
    search
        The search that asked for the experiments.
    where
        The path of a CSV or an Excel file, or its bytes.
    correct, by
        As in `StoredSearch.tell`.
    name
        What messages call the sheet; by default its path.

    Returns
    -------
    SheetDone

    Raises
    ------
    BadInput
        If a cell cannot be used; the message names the file, the row and the column.
    """
    name = name or (str(os.fspath(where)) if not isinstance(where, bytes) else "the sheet")
    content = where if isinstance(where, bytes) else _content(Path(where), name)
    filled = _Filled(search, name, correct, by)
    told = filled.read(content)
    found: dict[str, list[int]] = {"told": [], "known": [], "corrected": []}
    for each in told:
        if each.value is not None:
            values = each.value if isinstance(each.value, list) else [each.value]
            result = result_of(search.config, values)
            if result is not None:
                found[search.tell(each.trial, result, correct=correct, by=by)].append(each.trial)
        else:
            found[search.fail(each.trial, each.error or "", correct=correct, by=by)].append(each.trial)
    return SheetDone(**{key: tuple(each) for key, each in found.items()}, empty=tuple(filled.empty))


class _Filled:
    """A filled sheet, while it is read."""

    def __init__(self, search: StoredSearch, name: str, correct: bool, by: str) -> None:
        self._search, self._name, self._correct, self._by = search, name, correct, by
        self.empty: list[int] = []  # the numbers of the rows without a result

    def read(self, content: bytes) -> list[Correction]:
        """What the rows tell; BadInput for the first cell that cannot be used."""
        seen: dict[int, int] = {}
        told = []
        for row, cells in self._rows(content):
            trial = self._number(row, cells["number"])
            if trial in seen:
                raise self._wrong(row, "number", f"{trial} stands in row {seen[trial]} already")
            seen[trial] = row
            self._compare(row, cells, trial)
            result = self._result(row, cells, trial)
            if result is None:
                self.empty += [trial] if self._search.trial(trial).state == TrialState.RUNNING else []
                continue
            try:
                self._search.judge(result, self._correct)
            except BadInput as problem:
                raise self._wrong(row, "value", str(problem)) from None
            told.append(result)
        return told

    def _rows(self, content: bytes) -> list[tuple[int, dict[str, str]]]:
        """The rows that are not empty, with their numbers in the file, the header's being 1."""
        wanted = header(self._search)
        tables = _tables(content, self._name)
        headers = [[unquoted(each.strip()) for each in rows[0]] if rows else [] for rows in tables]
        fitting = [k for k, names in enumerate(headers) if {*wanted} - {*names} <= {"error"}]
        if not fitting:
            names = next((each for each in headers if len(each) > 1), headers[0])
            missing = next(each for each in wanted if each not in names)
            raise BadInput(f"{self._name}, row 1: the columns must be {', '.join(wanted)}; there is no {missing!r}.")
        rows, names = tables[fitting[0]], headers[fitting[0]]
        doubled = next((each for each in names if names.count(each) > 1 and each in wanted), None)
        if doubled is not None:
            raise BadInput(f"{self._name}, row 1: the column {doubled!r} appears twice.")
        found = []
        for row, cells in enumerate(rows[1:], start=2):
            if not any(each.strip() for each in cells):
                continue
            if len(cells) > len(names) and any(each.strip() for each in cells[len(names) :]):
                raise BadInput(
                    f"{self._name}, row {row}: it has {len(cells)} cells, the header {len(names)}. A decimal comma splits a "
                    "cell: write decimal points. Nothing was told."
                )
            found.append(
                (row, dict(zip(names, [unquoted(each.strip()) for each in cells] + [""] * len(names), strict=False)))
            )
        return found

    def _number(self, row: int, text: str) -> int:
        number = read_number(text)
        if number is None or number != int(number):
            raise self._wrong(
                row, "number", f"it must be the number of an experiment that was asked for; got {text!r:.80}"
            )
        try:
            return self._search.trial(int(number)).number
        except BadInput as problem:
            raise self._wrong(row, "number", str(problem)) from None

    def _compare(self, row: int, cells: Mapping[str, str], trial: int) -> None:
        """Refuse a row whose setting is not the one that was asked for, up to what a spreadsheet rounds."""
        params = self._search.trial(trial).params
        for name, parameter in self._search.space.parameters.items():
            if not _agrees(cells[name], params[name], parameter):
                raise self._wrong(
                    row,
                    name,
                    f"experiment {trial} was asked for with {params[name]!r}; got {cells[name]!r:.80}. If another setting was "
                    "run, leave this row empty and tell that one by its parameters",
                )

    def _result(self, row: int, cells: Mapping[str, str], trial: int) -> Correction | None:
        columns = result_columns(self._search.config)
        filled, why = {each: cells[each] for each in columns if cells[each]}, cells.get("error", "")
        if any(text.lower() == FAILED for text in filled.values()) or (not filled and why):
            return Correction(trial, "failed", error=why or NOT_GIVEN, by=self._by)
        if not filled:
            return None
        if why:
            raise self._wrong(row, "error", f"it must be empty where there is a value; got {why!r:.80}")
        values = {column: self.number(row, column, text) for column, text in filled.items()}
        specification = self._search.config.specification
        for each in () if specification is None else specification:
            if each.name not in values and not each.deferred:
                raise self._wrong(row, each.name, "it is empty, and other values of the row are not")
        try:
            result = self._search.checked(values["value"] if specification is None else values)
            self._search.check_deferred(trial, result)
        except BadInput as problem:
            wrong = next(
                (each for each in filled if f"`{each}`" in str(problem) or repr(each) in str(problem)), columns[-1]
            )
            raise self._wrong(row, wrong, str(problem)) from None
        return Correction(trial, "complete", value=told_value(stored_values(self._search.config, result)), by=self._by)

    def number(self, row: int, column: str, text: str) -> float:
        """The number in a cell."""
        number = read_number(text)
        if number is None:
            hint = ""
            if "," in text:
                hint = " Write a decimal point, no comma."
            elif text.endswith("%"):
                hint = " Write the number alone."
            raise self._wrong(
                row,
                column,
                f"it must be a number, {FAILED!r}, or empty as long as there is no result; got {text!r:.80}.{hint}",
            )
        return number

    def _wrong(self, row: int, column: str, why: str) -> BadInput:
        return BadInput(f"{self._name}, row {row}, column {column!r}: {why.rstrip('.')}. Nothing was told.")


def _tables(content: bytes, name: str) -> list[list[list[str]]]:
    """The rows of a file: of a workbook, or of a CSV file by each of the delimiters."""
    if content.startswith(BEGINS):
        return [read_workbook(content, name)]
    try:
        text = content.decode("utf-8-sig")
        if "\0" in text:
            raise ValueError("it has NUL characters")
        return [list(csv.reader(io.StringIO(text, newline=""), delimiter=each, strict=True)) for each in DELIMITERS]
    except (csv.Error, ValueError) as problem:
        raise BadInput(
            f"{name} must be a CSV file in UTF-8 or an Excel file (.xlsx); it cannot be read: {problem}."
        ) from None


def _agrees(text: str, value: Any, parameter: Parameter) -> bool:
    """Whether a cell shows the value, perhaps rounded to the digits that it has."""
    if text == unquoted(cell(value)) or text == str(value):
        return True
    number = read_number(text)
    if isinstance(parameter, Categorical) and not isinstance(value, int | float):
        return False
    if number is None or isinstance(value, bool | str) or value is None:
        return False
    mantissa, _, exponent = text.lower().partition("e")
    places = len(mantissa.partition(".")[2])
    unit = 10.0 ** (int(exponent or 0) - places)
    return abs(float(number) - float(value)) <= 0.5000001 * unit


def _content(path: Path, name: str) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise BadInput(f"{name} must be a sheet of at most {LARGEST:,} bytes.")
        return path.read_bytes()
    except OSError as problem:
        raise BadInput(f"{name} cannot be read: {problem.strerror}.") from None


def rows_of_table(asked: Sequence[Asked]) -> list[list[str]]:
    """The experiments as rows of texts, for a terminal: the number, then the parameters."""
    return [
        [str(each.number), *(f"{v:.6g}" if isinstance(v, float) else str(v) for v in each.values())] for each in asked
    ]
