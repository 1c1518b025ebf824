"""What a user writes after `--param`, and the short form of a parameter that it means."""

import math
import re
from collections.abc import Sequence

from satisfice.errors import BadInput

WANTED = "name=low:high, name=low:high:log, name=low:high:step=0.5, name=a,b,c or name=value was wanted"
WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,299})\Z")  # 007 is a text
REAL = re.compile(r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)\Z")
Correlation = tuple[float | str, ...] | list[float | str]


def read_params(texts: Sequence[str]) -> dict[str, Correlation]:
    """The space that the texts write, by name and in order."""
    space: dict[str, Correlation] = {}
    for text in texts:
        name, form = read_param(text)
        if name in space:
            raise BadInput(f"--param {text}: the parameter {name!r} came twice; each was wanted once")
        space[name] = form
    return space


def read_param(text: str) -> tuple[str, Correlation]:
    """The name and the short form: a tuple for a range, a list for choices or a constant.

    >>> read_param("rate=1e-5:0.1:log")
    ('rate', (1e-05, 0.1, 'log'))
    >>> read_param("booster=gbtree,dart")
    ('booster', ['gbtree', 'dart'])
    """
    name, equals, written = text.partition("=")
    if not equals or not name.strip() or not written or "{" in name or "}" in name:
        raise BadInput(f"--param {text}: {WANTED}; a name holds no braces")
    if "," in written:
        choices = written.split(",")
        if not all(choices):
            raise BadInput(f"--param {text}: an empty choice came; {WANTED}")
        return name, [_plain(choice) for choice in choices]
    if ":" in written:
        return name, _range(text, written.split(":"))
    return name, [_plain(written)]


def read_number(text: str) -> int | float | None:
    """The number that is written, whole or real; None if it is none, or is not finite."""
    if WHOLE.match(text):
        return int(text)
    if REAL.match(text) and math.isfinite(number := float(text)):
        return number
    return None


def _plain(text: str) -> float | str:
    """A choice: a number where one is written, else the text as it is."""
    number = read_number(text)
    return text if number is None else number


def _range(text: str, parts: list[str]) -> Correlation:
    """The short form of low:high, low:high:log or low:high:step=S."""
    ends = [read_number(part) for part in parts[:2]]
    third = parts[2:]
    low, high = (ends[0], ends[1]) if len(ends) == 2 else (None, None)
    if low is None or high is None or len(third) > 1:
        raise BadInput(f"--param {text}: {WANTED}; a constant with a colon in it belongs into the command itself")
    if not third:
        return low, high
    if third == ["log"]:
        return low, high, "log"
    step = read_number(third[0].removeprefix("step=")) if third[0].startswith("step=") else None
    if step is None:
        raise BadInput(f"--param {text}: {third[0]!r} came after the range; log or step=S was wanted")
    return low, high, step
