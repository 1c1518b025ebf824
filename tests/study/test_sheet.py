"""Sheets of experiments: written with empty cells, read back whole or not at all."""

import csv
import io

import optuna
import pytest

from satisfice import BadInput, open_search
from satisfice.study import workbook
from satisfice.study.sheet import excel_sheet, sheet, tell_sheet

SPACE = {"temperature": (20.0, 90.0), "solvent": ["=water", "ethanol, dry"], "flow": (1, 9)}


@pytest.fixture
def lab():
    search = open_search("lab", optuna.storages.InMemoryStorage(), SPACE, 80, value_range=(0, 100), seed=1)
    search.ask(3)
    return search


def filled(search, values, delimiter=",", **changed):
    """The sheet of all that waits, filled in; `changed` are cells by `column_row`."""
    rows = list(csv.reader(io.StringIO(sheet(search, search.waiting()))))
    for row, value in zip(rows[1:], values, strict=False):
        row[rows[0].index("value")] = value
    for where, text in changed.items():
        column, row = where.rsplit("_", 1)
        rows[int(row) - 1][rows[0].index(column)] = text
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def test_a_sheet_has_the_numbers_the_settings_and_empty_cells(lab):
    header, *rows = csv.reader(io.StringIO(sheet(lab, lab.waiting())))
    assert header == ["number", "temperature", "solvent", "flow", "value", "error"]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert all(row[4:] == ["", ""] for row in rows)
    for row, asked in zip(rows, lab.waiting(), strict=True):
        assert float(row[1]) == asked["temperature"]
        assert row[2].removeprefix("'") == asked["solvent"]
        assert not row[2].startswith("=")  # no spreadsheet runs it


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_filled_sheet_is_told_and_what_is_empty_goes_on_waiting(lab, delimiter):
    done = tell_sheet(lab, filled(lab, ["71.5", "", "failed"], delimiter))
    assert (done.told, done.known, done.corrected, done.empty) == ((0, 2), (), (), (1,))
    assert str(done) == "2 told, 1 without a result yet"
    assert [(row["state"], row["value"]) for row in lab.table()] == [
        ("complete", 71.5), ("waiting", None), ("failed", None)
    ]  # fmt: skip
    assert lab.table()[2]["error"] == "no reason was given"


def test_the_same_sheet_once_more_is_harmless_and_a_changed_one_needs_correct(lab):
    first, second = filled(lab, ["71.5", "70"], error_4="leak"), filled(lab, ["71.5", "70.5"], error_4="leak")
    tell_sheet(lab, first)
    before = lab.study.get_trials()
    assert str(tell_sheet(lab, first)) == "0 told, 3 known already"
    with pytest.raises(BadInput, match=r"row 3, column 'value': Trial 1 has a result already: 70\.0; got 70\.5"):
        tell_sheet(lab, second)
    assert lab.study.get_trials() == before
    assert tell_sheet(lab, second, correct=True).corrected == (1,)
    assert lab.table()[1]["value"] == 70.5


WRONG = {
    "a decimal comma": (["71,5"], {}, r"row 2, column 'value': .* got '71,5'\. Write a decimal point"),
    "a word": (["71", "good"], {}, r"row 3, column 'value': it must be a number, 'failed', or empty"),
    "a percentage": (["71 %"], {}, r"row 2, column 'value': .*Write the number alone"),
    "not a number": (["nan"], {}, r"row 2, column 'value': it must be a number"),
    "far too large": (["71", "", "1e999"], {}, r"row 4, column 'value': it must be a number"),
    "outside of the range": (["71", "101"], {}, r"row 3, column 'value': `value` must lie within the range 0 to 100; got 101"),
    "a value and an error": (["71"], {"error_2": "leak"}, r"row 2, column 'error': it must be empty where there is a value"),
    "another setting": (["71"], {"flow_2": "77"}, r"row 2, column 'flow': experiment 0 was asked for with \d; got '77'"),
    "another choice": (["71"], {"solvent_3": "wine"}, r"row 3, column 'solvent': experiment 1 was asked for with"),
    "an unknown number": (["71"], {"number_2": "17"}, r"row 2, column 'number': `trial` must be the number of an experiment"),
    "no number": (["71"], {"number_3": ""}, r"row 3, column 'number': it must be the number"),
    "a number twice": (["71", "72"], {"number_3": "0"}, r"row 3, column 'number': 0 stands in row 2 already"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "changed", "message"), WRONG.values(), ids=WRONG)
def test_one_wrong_cell_is_named_and_nothing_is_told(lab, values, changed, message):
    before = lab.study.get_trials()
    with pytest.raises(BadInput, match=f"the sheet, {message}"):
        tell_sheet(lab, filled(lab, values, **changed))
    assert lab.study.get_trials() == before
    assert len(lab.waiting()) == 3


BROKEN = {
    "nothing": (b"", "there is no 'number'"),
    "another table": (b"a,b\n1,2\n", "there is no 'number'"),
    "no column for the results": (b"number,temperature,solvent,flow\n", "there is no 'value'"),
    "a column twice": (b"number,temperature,solvent,flow,value,value\n", "'value' appears twice"),
    "bytes": (b"\xff\xfe\x00", "must be a CSV file in UTF-8"),
    "an open quote": (b'number,temperature,solvent,flow,value\n"0,1', "must be a CSV file"),
    "a spreadsheet": (b"PK\x03\x04\x00\x00", "must be a CSV file"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_no_sheet_is_refused(lab, content, message):
    with pytest.raises(BadInput, match=message):
        tell_sheet(lab, content)
    assert len(lab.waiting()) == 3


def test_a_decimal_comma_without_quotes_is_noticed(lab):
    line = filled(lab, [""]).decode().splitlines()[:2]
    broken = f"{line[0]}\n{line[1].removesuffix(',,')},71,5,leak,\n"
    with pytest.raises(BadInput, match=r"row 2: it has 8 cells, the header 6\. A decimal comma splits a cell"):
        tell_sheet(lab, broken.encode())


def test_what_a_spreadsheet_rounds_and_reorders_is_the_same_setting(lab):
    asked = lab.waiting()[0]
    row = f"71.5;{asked['flow']}.0;0;{asked['temperature']:.2f};{asked['solvent']};x"
    text = f"value;flow;number;temperature;solvent;note\n{row}\n"
    assert tell_sheet(lab, text.encode()).told == (0,)


def test_a_path_that_cannot_be_read_is_named(lab, tmp_path):
    with pytest.raises(BadInput, match=r"none\.csv cannot be read: No such file"):
        tell_sheet(lab, tmp_path / "none.csv")
    (tmp_path / "huge.csv").write_bytes(b"x" * 2_000_001)
    with pytest.raises(BadInput, match=r"at most 2,000,000 bytes"):
        tell_sheet(lab, tmp_path / "huge.csv")


def excel(search, changes=(), **styles):
    """The Excel sheet of all that waits, with cells changed as a person does; bytes."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(excel_sheet(search, search.waiting())))
    for where, value in dict(changes).items():
        book.active[where] = value
    for where, style in styles.items():
        book.active[where].number_format = style
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_an_excel_sheet_has_the_same_cells_and_texts_stay_texts(lab):
    openpyxl = pytest.importorskip("openpyxl")
    page = openpyxl.load_workbook(io.BytesIO(excel_sheet(lab, lab.waiting()))).active
    header, *rows = page.iter_rows(values_only=True)
    assert header == ("number", "temperature", "solvent", "flow", "value", "error")
    assert [row[:4] for row in rows] == [(each.number, *each.values()) for each in lab.waiting()]
    assert all(row[4:] == (None, None) for row in rows)
    assert {cell.data_type for cell in page["C"]} == {"s"}  # "=water" is no formula


def test_a_filled_excel_sheet_is_told_whole_or_not_at_all(lab):
    done = tell_sheet(lab, excel(lab, {"E2": 71.5, "E3": "failed", "F3": "leak"}))
    assert (done.told, done.empty) == ((0, 1), (2,))
    assert lab.table()[1]["error"] == "leak"
    before = lab.study.get_trials()
    for changes, styles, message in (
        ({"E2": 0.81}, {"E2": "0.00%"}, r"row 2, column 'value': .* got '81 %'\. Write the number alone"),
        ({"E2": "71,5"}, {}, r"row 2, column 'value': .* got '71,5'"),
        ({"E2": "=70+1"}, {}, r"row 2, column 'value': .* got '=70\+1'"),  # a formula that nobody computed
        ({"D2": 77}, {}, r"row 2, column 'flow': experiment 2 was asked for with \d"),
        ({"E1": "yield"}, {}, "row 1: the columns must be .*; there is no 'value'"),
    ):
        with pytest.raises(BadInput, match=message):
            tell_sheet(lab, excel(lab, changes, **styles))
    assert lab.study.get_trials() == before


def test_a_workbook_that_unpacks_to_too_much_is_refused(lab, monkeypatch):
    monkeypatch.setattr(workbook, "UNPACKED", 100)
    with pytest.raises(BadInput, match="at most 100 bytes when it is unpacked"):
        tell_sheet(lab, excel(lab))
