"""What the commands' options share: the types of their values, the study they mean, the panels of the help."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import rich_click as click

from satisfice.errors import BadInput
from satisfice.numerals import read_number

HELP = {
    "help_option_names": ["-h", "--help"],
    "rich_help_config": {"theme": "default-box", "max_width": 110, "text_markup": "ansi"},
}
STORAGE, NAME = "satisfice.db", "study"


@dataclass(frozen=True)
class Invocation:
    """The words of a command line: all of them, and those after `--`, which are the user's program."""

    words: list[str]
    program: list[str]


class PanelCommand(click.RichCommand):
    """A command whose docstring may have sections with underlined headings: panels at the end of the help."""

    def __init__(self, *arguments: Any, help: str | None = None, **options: Any) -> None:
        text, *parts = re.split(r"^(.+)\n-{3,}\n", inspect.cleandoc(help or ""), flags=re.MULTILINE)
        super().__init__(*arguments, help=text, **options)
        self._sections = list(zip(parts[::2], parts[1::2], strict=True))

    def format_epilog(self, context: click.Context, formatter: Any) -> None:
        """Write the panels."""
        from rich.box import HORIZONTALS  # without sides, so that an example can be copied
        from rich.panel import Panel
        from rich.text import Text

        for title, text in self._sections:
            formatter.write(Panel(Text(text.strip()), HORIZONTALS, title=title, title_align="left", border_style="dim"))


def command(usage: str = "[OPTIONS]", negative: bool = False) -> Callable[[Callable[..., int]], click.RichCommand]:
    """Decorate a function as a command.

    Parameters
    ----------
    usage
        What the usage line shows after the name.
    negative
        Whether an argument may be a negative number, which would otherwise be an option.

    Returns
    -------
    Callable[[Callable[..., int]], click.RichCommand]
        The decorator.
    """
    return click.command(
        cls=PanelCommand,
        options_metavar=usage,
        context_settings=HELP | ({"ignore_unknown_options": True} if negative else {}),
    )


class Value(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    """The value of an option: `read` returns it, or None where the text is not `what` is wanted."""

    def __init__(self, name: str, what: str, read: Callable[[str], Any]) -> None:
        self.name, self._what, self._read = name, what, read

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Read the text; values that are none, such as defaults, pass."""
        if not isinstance(value, str):
            return value
        found = self._read(value)
        if found is None:
            option = parameter.opts[0] if parameter else self.name
            raise BadInput(f"`{option}` must be {self._what}; got {value!r}.")
        return found


class File(click.Path):
    """A path; shells complete it. Whether it can be read or written is checked where it is."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        """Make it a `Path`."""
        return Path(value)


def _positive(text: str) -> float | None:
    number = read_number(text)
    return number if number is not None and number > 0 else None


def _whole(text: str, least: int = 0) -> int | None:
    number = read_number(text)
    return number if isinstance(number, int) and number >= least else None


def _noise(text: str) -> float | str | None:
    number = read_number(text)
    return text if text == "learn" else number if number is not None and number >= 0 else None


def _gate_noise(text: str) -> float | str | None:
    return text if text == "gaussian" else _noise(text)


def _range(text: str) -> tuple[float, float] | None:
    ends = [read_number(part) for part in text.split(":")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
        return None
    return ends[0], ends[1]


def _regex(text: str) -> re.Pattern[str] | None:
    try:
        pattern = re.compile(text)
    except re.error:
        return None
    return pattern if pattern.groups <= 1 else None


NUMBER = Value("number", "a finite number", read_number)
SECONDS = Value("seconds", "a number greater than 0", _positive)
WHOLE = Value("integer", "a whole number, 0 or more", _whole)
COUNT = Value("count", "a whole number, 1 or more", lambda text: _whole(text, least=1))
NOISE = Value("noise", "0, a standard deviation or 'learn'", _noise)
GATE_NOISE = Value("noise", "0, a standard deviation, 'gaussian' or 'learn'", _gate_noise)
RANGE = Value("range", "LOW:HIGH, such as 0:1", _range)
REGEX = Value("pattern", "a regular expression with at most one group, as in 'rmse=([0-9.]+)'", _regex)
FILE = File()


def study_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that name the study."""
    help_text = "An SQLite file or a database URL."
    storage = click.option("--storage", default=STORAGE, show_default=True, metavar="PATH|URL", help=help_text)
    name = click.option("--name", default=NAME, show_default=True, metavar="TEXT", help="The name of the study.")
    return storage(name(function))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")


def target_of(given: SimpleNamespace) -> Any:
    """The target of the command line, a number or requirements.

    Parameters
    ----------
    given
        The values of the options.

    Returns
    -------
    float or Specification
        What `find` takes as `target`.
    """
    if bool(given.requires) == (given.target is not None):
        raise BadInput("Give either `--target`, the value that is good enough, or `--require` once or several times.")
    if not given.requires:
        return given.target
    from satisfice.search.specification import Specification

    wrong = {"--minimize": given.minimize, "--noise": given.noise is not None, "--range": given.value_range is not None}
    for option, used in {**wrong, "--value": getattr(given, "key", None) is not None}.items():
        if used:
            raise BadInput(f"`{option}` belongs to `--target`; leave it out beside `--require`.")
    return Specification.of(list(given.requires))


def problem_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that say what is searched for."""
    given = (
        click.option("--target", type=NUMBER, metavar="T", help="The value that is good enough."),
        click.option(
            "--require",
            "requires",
            multiple=True,
            metavar="NAME>=T",
            help="A requirement, in place of --target; repeatable.",
        ),
        click.option(
            "--param", "params", multiple=True, required=True, metavar="NAME=...", help="A parameter; see below."
        ),
        click.option(
            "--constraint",
            "constraints",
            multiple=True,
            metavar="TEXT",
            help='What every setting satisfies, such as "a + 2 b <= 1".',
        ),
        click.option(
            "--mixture", "mixtures", multiple=True, metavar="A,B=TOTAL", help="Parameters that are parts of a whole."
        ),
        click.option(
            "--prefer",
            metavar="COST",
            help='A cost of the parameters, smaller is better, such as "a + 2 b"; or a setting.',
        ),
        click.option("--minimize", is_flag=True, help="Small values are good."),
        click.option("--noise", type=NOISE, metavar="0|SD|learn", help="No noise, its standard deviation, or unknown."),
        click.option("--range", "value_range", type=RANGE, metavar="LOW:HIGH", help="Bounds that no value can exceed."),
        click.option("--confidence", type=NUMBER, default=0.95, show_default=True, help="Confidence in a verdict."),
        click.option(
            "--history", type=FILE, metavar="FILE.csv", help="A table of earlier data: parameters and `value`."
        ),
        click.option("--seed", type=WHOLE, help="Seed of all random numbers; by default drawn once and kept."),
    )
    for option in reversed(given):
        function = option(function)
    return function
