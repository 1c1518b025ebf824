"""`satisfice tell`, `fail`, `cancel` and `undo`: what became of experiments that were made by hand."""

from collections.abc import Callable
from pathlib import Path

import rich_click as click

from satisfice.cli.options import NUMBER, Value, command, study_options
from satisfice.cli.output import columns
from satisfice.cli.studies import stored_search
from satisfice.errors import BadInput
from satisfice.numerals import read_number
from satisfice.plaintext import plain

TRIAL = Value(
    "trial",
    "the number of an experiment",
    lambda text: n if isinstance(n := read_number(text), int) and n >= 0 else None,
)
correct_option = click.option(
    "--correct", is_flag=True, help="Replace a result that was told before; the log keeps both."
)
by_option = click.option("--by", default="", metavar="WHO", help="Who says so, for the log.")


@command(negative=True)
@click.argument("what", metavar="SHEET|NUMBER")
@click.argument("values", nargs=-1, metavar="[VALUE|NAME=VALUE...]")
@study_options
@correct_option
@by_option
def tell(what: str, values: tuple[str, ...], storage: str, name: str, correct: bool, by: str) -> int:
    """Tell results: a filled sheet (CSV or Excel), or the value of one experiment.

    A sheet with a wrong cell changes nothing, and the message names the cell. Rows that are still empty go on waiting.
    Telling the same results once more is harmless.

    Example
    -------
    satisfice tell sheet.csv
    satisfice tell 7 81.3
    satisfice tell 7 yield=81.3 impurity=1.2

    The cells of a sheet
    --------------------
    value                    81.3, with a decimal point; or the word failed;
                             a column for each requirement, if there are any
    error                    why an experiment failed; empty otherwise
    """
    from satisfice.study.sheet import tell_sheet

    if not values and read_number(what) is not None and not Path(what).exists():
        raise BadInput(f"`VALUE` must follow the number of the experiment, as in: satisfice tell {what} 81.3")
    number = TRIAL.convert(what, None, None) if values else None
    value = _told(values)
    search = stored_search(storage, name)
    if number is None:
        done = tell_sheet(search, Path(what), correct=correct, by=by)
        print(plain(f"{what}: {done}"))
    else:
        print(f"{number}: {search.tell(number, value, correct=correct, by=by)}")
    answer = search.answer()
    print(columns([*answer.lines[:2], *(line for line in answer.lines if line[0] == "evaluations")]))
    return 0


def _told(values: tuple[str, ...]) -> float | dict[str, float]:
    """The value on the command line, or the values by their names."""
    if len(values) == 1 and "=" not in values[0]:
        found: float = NUMBER.convert(values[0], None, None)
        return found
    named = dict(text.rpartition("=")[::2] for text in values)
    if len(named) < len(values) or "" in named:
        raise BadInput(
            f"`VALUE` must be one number, or NAME=NUMBER for each requirement; got {' '.join(values)!r:.80}."
        )
    return {name: NUMBER.convert(text, None, None) for name, text in named.items()}


def _ending(name: str, text: str) -> click.RichCommand:
    """A command that ends an experiment without a value."""

    @click.argument("number", type=TRIAL)
    @study_options
    @click.option("--why", default="", metavar="TEXT", help="The reason, to be shown.")
    @correct_option
    @by_option
    def end(number: int, storage: str, name: str, why: str, correct: bool, by: str) -> int:
        search = stored_search(storage, name)
        method: Callable[..., str] = getattr(search, command_name)
        print(f"{number}: {method(number, why, correct=correct, by=by)}")
        return 0

    command_name, end.__name__, end.__doc__ = name, name, text
    return command()(end)


fail = _ending(
    "fail",
    """Tell that an experiment was made and gave no result.

    The search avoids its neighbourhood, unless failures look like chance.

    Example
    -------
    satisfice fail 7 --why "the vessel leaked"
    """,
)
cancel = _ending(
    "cancel",
    """Tell that an experiment will not be made.

    That says nothing of its setting.

    Example
    -------
    satisfice cancel 7
    """,
)


@command()
@click.argument("number", type=TRIAL)
@study_options
@by_option
def undo(number: int, storage: str, name: str, by: str) -> int:
    """Take back what was told for an experiment: it waits for its result again.

    Example
    -------
    satisfice undo 7
    """
    print(f"{number}: {stored_search(storage, name).undo(number, by=by)}")
    return 0
