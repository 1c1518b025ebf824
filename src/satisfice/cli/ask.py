"""`satisfice ask`: the next experiments, as a table or a sheet to fill in."""

from pathlib import Path

import rich_click as click

from satisfice.cli.options import COUNT, FILE, command, study_options
from satisfice.cli.output import STDOUT, check_output, finite_json, grid
from satisfice.cli.studies import stored_search, study_line
from satisfice.errors import BadInput
from satisfice.plaintext import plain


@command()
@study_options
@click.option("-n", "count", type=COUNT, metavar="N", help="How many experiments; 1 by default.")
@click.option("--waiting", is_flag=True, help="Ask for nothing new; list those that wait for their results.")
@click.option("--csv", "table", type=FILE, metavar="SHEET.csv", help="Write a sheet to fill in; - prints it.")
@click.option("--excel", type=FILE, metavar="SHEET.xlsx", help="Write the sheet as an Excel file.")
@click.option("--by", default="", metavar="WHO", help="Who makes them, for the others to see.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def ask(
    storage: str,
    name: str,
    count: int | None,
    waiting: bool,
    table: Path | None,
    excel: Path | None,
    by: str,
    as_json: bool,
) -> int:
    """Ask for the next experiments.

    They wait for their results for as long as it takes. Under noise a setting may come several times, on purpose.

    Example
    -------
    satisfice ask -n 4 --csv sheet.csv
    """
    from satisfice.extras import load_extra
    from satisfice.report.files import write_file
    from satisfice.study.sheet import excel_sheet, result_columns, sheet

    if waiting and count is not None:
        raise BadInput("`--waiting` lists what was asked before and asks for nothing; leave out `-n`.")
    if table is not None and excel is not None:
        raise BadInput("`--csv` and `--excel` both write the sheet; use one of them.")
    if table is not None and table.suffix.lower() in (".xlsx", ".xls"):
        raise BadInput(f"--csv: {table} has the name of an Excel file; write one by --excel.")
    option, file = ("--excel", excel) if excel is not None else ("--csv", table)
    if excel is not None:
        load_extra("openpyxl", "excel")  # before anything is asked for
    check_output(storage, csv=table, as_json=as_json)
    if excel is not None:
        check_output(storage, out=excel)
    if file is not None and file.is_file() and file.stat().st_size:
        raise BadInput(
            f"{option}: there is a file {file} already, which may hold results. Write the sheet to another one."
        )
    search = stored_search(storage, name)
    asked = search.waiting() if waiting else search.ask(count or 1, by=by)
    if table == STDOUT:
        print(plain(sheet(search, asked), keep="\n\t"), end="")
        return 0
    if file is not None:
        try:
            content = sheet(search, asked).encode(errors="replace") if excel is None else excel_sheet(search, asked)
            write_file(file, content)
        except (OSError, BadInput) as problem:
            again = study_line("ask", storage, name, "--waiting", option, f"OTHER{file.suffix}")
            raise BadInput(f"{option}: {problem} The experiments are kept; write them elsewhere by: {again}") from None
    if as_json:
        print(finite_json({"name": name, "asked": [{"number": each.number, "params": dict(each)} for each in asked]}))
    elif asked:
        columns = " and ".join(f"`{each}`" for each in result_columns(search.config))
        columns = f"the column {columns}" if len(result_columns(search.config)) == 1 else f"the columns {columns}"
        words = ["VALUE"]
        if search.config.specification is not None:
            words = [f"{each}=VALUE" for each in search.config.specification.names]
        print(grid(["number", *asked[0]], [[each.number, *each.values()] for each in asked]))
        if file is not None:
            tell = study_line("tell", storage, name, str(file))
            print(plain(f"the sheet is {file}: fill in {columns}, then {tell}"))
        else:
            print(plain(f"then, for each: {study_line('tell', storage, name, 'NUMBER', *words)}"))
    else:
        print("no experiment waits for its result")
    return 0
