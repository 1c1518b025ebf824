"""Excel workbooks: a table written as one sheet, and the first sheet of a workbook read back as texts."""

import io
import warnings
import zipfile
from collections.abc import Sequence
from typing import Any

from satisfice.errors import BadInput
from satisfice.extras import load_extra

BEGINS = b"PK\x03\x04"  # the bytes with which a workbook begins
UNPACKED = 50_000_000  # bytes: a small file may unpack to a huge one
ROWS, COLUMNS = 20_000, 500
WIDTHS = (8, 40)  # of a column, in characters


def write_workbook(header: Sequence[str], rows: Sequence[Sequence[Any]], fill_in: Sequence[str]) -> bytes:
    """Write a table as a workbook.

    Parameters
    ----------
    header
        The names of the columns.
    rows
        The cells; None leaves one empty.
    fill_in
        The columns that people fill in; they are marked by their colour.

    Returns
    -------
    bytes
        The file.

    Raises
    ------
    MissingExtra
        If openpyxl is not installed.
    """
    load_extra("openpyxl", "excel")
    from openpyxl import Workbook
    from openpyxl.styles import Font, PatternFill

    book = Workbook()
    page = book.active
    page.title = "experiments"
    for number, cells in enumerate([list(header), *rows], start=1):
        for place, value in enumerate(cells, start=1):
            cell = page.cell(number, place)
            if isinstance(value, str):
                cell.value, cell.data_type = _printable(value), "s"  # a text stays one, even if it begins with "="
            else:
                cell.value = value
            if number == 1:
                cell.font = Font(bold=True)
            if header[place - 1] in fill_in:
                cell.fill = PatternFill("solid", fgColor="FFF4D6")
    for place, name in enumerate(header, start=1):
        longest = max(len(str(cells[place - 1])) for cells in [list(header), *rows])
        letter = page.cell(1, place).column_letter
        page.column_dimensions[letter].width = min(max(longest + 2, len(name) + 2, WIDTHS[0]), WIDTHS[1])
    page.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_workbook(content: bytes, name: str) -> list[list[str]]:
    """Read the first sheet of a workbook, as the texts that a CSV file would have.

    A formula counts with the value that the spreadsheet last computed; one that was never computed is an error, as is one that
    went wrong. A percentage keeps its sign, so that 81 % is not taken for 0.81.

    Parameters
    ----------
    content
        The file.
    name
        What messages call it.

    Returns
    -------
    list of list of str
        The rows.

    Raises
    ------
    BadInput
        If it is no workbook, or too large.
    MissingExtra
        If openpyxl is not installed.
    """
    load_extra("openpyxl", "excel")
    from openpyxl import load_workbook

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            if sum(each.file_size for each in parts.infolist()) > UNPACKED:
                raise BadInput(f"{name} must be a workbook of at most {UNPACKED:,} bytes when it is unpacked.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and parts that it leaves out
            values, formulas = (
                load_workbook(io.BytesIO(content), data_only=each).worksheets[0] for each in (True, False)
            )
        if values.max_row > ROWS or values.max_column > COLUMNS:
            raise BadInput(f"{name} must have at most {ROWS:,} rows and {COLUMNS} columns.")
        pairs = zip(values.iter_rows(), formulas.iter_rows(), strict=True)
        return [[_text(*cells) for cells in zip(*each, strict=True)] for each in pairs]
    except BadInput:
        raise
    except Exception as problem:  # whatever a broken file makes of the reader
        raise BadInput(
            f"{name} must be a CSV file in UTF-8 or an Excel file (.xlsx); it cannot be read: {type(problem).__name__}."
        ) from None


def _text(cell: Any, formula: Any) -> str:
    value = cell.value
    if value is None:
        return str(formula.value) if formula.data_type == "f" else ""
    if isinstance(value, int | float) and not isinstance(value, bool) and "%" in str(cell.number_format):
        return f"{100 * value:.15g} %"
    return repr(value) if isinstance(value, float) else str(value)


def _printable(text: str) -> str:
    """The text without the characters that a workbook cannot hold."""
    return "".join(each if each >= " " and each not in "\ufffe\uffff" else "\ufffd" for each in text)
