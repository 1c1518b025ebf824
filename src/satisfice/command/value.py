"""Read the value in what a command printed; strictly, because a misread number would be certified like any other."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from satisfice.errors import EvaluationFailed, WrongType

SAID = 400  # characters of an output that an error shows
LINES = 3  # lines of an output that an error shows
SHOWN = 80  # characters of a line
NUMBER = re.compile(
    r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf|infinity)", re.IGNORECASE
)
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
AFTER = "%)]}>.,;!|*\"'`° \t"  # what may follow a number at the end of a line
BEFORE = re.compile(r"[\s=:(\[{<]")  # what may precede a number
HINT = (
    'print the value on a line of its own, as "value: 0.93", or in a JSON object on the last line, as {"value": 0.93}'
)


class CommandFailed(EvaluationFailed):
    """A run of the command returned no value; the message says why, and `trace` has the end of its standard error."""


class Unreadable(CommandFailed, WrongType):
    """A run of the command ended well, but no value can be read in what it printed."""


@dataclass(frozen=True)
class PrintedValue:
    """A value, or several by their names, and the line it was read from."""

    value: float | dict[str, Any]
    line: str


def read_value(
    out: bytes, key: str | None = None, cut: bool = False, pattern: re.Pattern[str] | None = None
) -> PrintedValue:
    """Return the value in what a command printed.

    It is the entry `key` (by default "value") of a JSON object on the last line, or the number at the end of the last line that
    ends with one, if that line has one of the forms

    - `0.93`: the number alone;
    - `..., name: 0.93` or `name = 0.93`: the number after a colon or an equals sign;
    - `words 0.93`: the number after words, without a comma or semicolon between them or another number just before.

    Lines that do not end with a number, such as `done`, may follow. A last number in any other form is a failure, and no earlier
    line is read instead: `0,93` and `1,234.5` (which separator is the decimal point?), `12:30`, `93 %`, `[0.93]`,
    `0.93 ± 0.02`, `done, elapsed 12`.

    Parameters
    ----------
    out
        The standard output.
    key
        The entry of the JSON object. Without it, lines of text are read as well.
    cut
        Whether the beginning of the output is missing; the rest of the first line then does not count.
    pattern
        With it, the value is what the last match in the output has in its group, or the whole match if there is no group.

    Returns
    -------
    PrintedValue
        The value and its line.

    Raises
    ------
    Unreadable
        If there is no value, or if it is ambiguous.
    CommandFailed
        If it is not finite.
    """
    text = COLOURS.sub("", out.decode(errors="replace"))
    lines = [line.strip() for line in text.splitlines()[1 if cut else 0 :]]
    lines = [line for line in lines if line]
    if pattern is not None:
        return _match(lines, pattern, out)
    entry = _object(lines[-1]) if lines else None
    if entry is not None or key is not None:
        return PrintedValue(_entry(entry, key, (lines or ["nothing"])[-1]), lines[-1] if lines else "")
    for line in reversed(lines):
        number = _last_number(line)
        if number is not None:
            return PrintedValue(_finite(number), line)
    raise Unreadable(f"no printed line ends with a number{last_words(out)}; {HINT}")


def read_values(out: bytes, names: Sequence[str], cut: bool = False) -> PrintedValue:
    """Return the values in the JSON object on the last line that a command printed.

    Parameters
    ----------
    out
        The standard output.
    names
        The entries that must be numbers; the others are kept as they are.
    cut
        Whether the beginning of the output is missing.

    Returns
    -------
    PrintedValue
        All entries, and the line.

    Raises
    ------
    CommandFailed
        If there is no such object, or an entry is missing or no finite number.
    """
    text = COLOURS.sub("", out.decode(errors="replace"))
    lines = [line.strip() for line in text.splitlines()[1 if cut else 0 :]]
    line = next((line for line in reversed(lines) if line), "nothing")
    entry = _object(line)
    return PrintedValue({**(entry or {}), **{name: _entry(entry, name, line) for name in names}}, line)


def last_words(output: bytes) -> str:
    """Return the last lines of an output, short enough for a table.

    Parameters
    ----------
    output
        The output.

    Returns
    -------
    str
        A colon and the lines, or nothing.
    """
    lines = [line.strip() for line in COLOURS.sub("", output.decode(errors="replace")).splitlines() if line.strip()]
    return ": " + " | ".join(lines[-LINES:])[-SAID:] if lines else ""


def _match(lines: list[str], pattern: re.Pattern[str], out: bytes) -> PrintedValue:
    """Return the value in the last line that matches."""
    for line in reversed(lines):
        found = list(pattern.finditer(line))
        if found:
            text = (found[-1][pattern.groups] or "").strip()
            if NUMBER.fullmatch(text) is None:
                raise Unreadable(f"`--regex` found {text[:SHOWN]!r} in the line {line[-SHOWN:]!r}; it must be a number")
            return PrintedValue(_finite(float(text)), line)
    raise Unreadable(f"`--regex` matches no printed line{last_words(out)}")


def _last_number(line: str) -> float | None:
    """Return the number at the end of the line, None if there is none; fail if it is ambiguous."""
    token = re.split(r"[\s=:]", line)[-1]
    if NUMBER.fullmatch(token):
        if _introduces(line.removesuffix(token)):
            return float(token)
    else:
        if not _is_numeric(BEFORE.split(line.rstrip(AFTER))[-1]):
            return None
    raise Unreadable(f"the line {line[-SHOWN:]!r} is ambiguous; {HINT}")


def _introduces(label: str) -> bool:
    """Return whether a number after this beginning of a line can only be the value."""
    before = label.rstrip()
    if not before:
        return True
    if before.endswith((":", "=")):
        return not re.search(r"[0-9]:\Z", label)  # as in 12:30
    words = [word for word in before.split() if any(map(str.isalnum, word))]  # without signs, such as ±
    return not (re.search(r"[,;]\s", label) or (words and _is_numeric(words[-1])))


def _is_numeric(word: str) -> bool:
    """Return whether a word is a number in any notation: with digits and without letters."""
    return NUMBER.fullmatch(word) is not None or (any(map(str.isdigit, word)) and not any(map(str.isalpha, word)))


def _object(line: str) -> dict[str, Any] | None:
    """Return the JSON object in a line, if there is one."""
    if not line.startswith("{"):
        return None
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _entry(entry: dict[str, Any] | None, key: str | None, line: str) -> float:
    """Return the value in the JSON object of the last line."""
    name = "value" if key is None else key
    if entry is None:
        raise Unreadable(f"the last printed line is not a JSON object with {name!r}: {line[-SHOWN:]}")
    if name not in entry:
        names = ", ".join(map(repr, entry))[:SHOWN]
        raise Unreadable(
            f"the JSON object on the last line has no {name!r}; it has {names or 'nothing'}: see --value and --require"
        )
    value = entry[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"{name!r} must be a number; got {json.dumps(value):.80}")
    return _finite(value)


def _finite(value: float) -> float:
    """Return the value as a finite float, or fail."""
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if number - number != 0:
        raise CommandFailed(f"the value must be a finite number; got {number}")
    return number
