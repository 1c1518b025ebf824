"""What a user writes after `--param`, and the short form of a parameter that it stands for."""

from collections.abc import Sequence
from typing import Any

from satisfice.errors import BadInput
from satisfice.numerals import read_number

FORMS = "name=low:high, name=low:high:log, name=low:high:step=0.5, name=a,b,c or name=value"
Parameter = tuple[float | str, ...] | list[float | str]  # a range, or choices


def read_params(texts: Sequence[str]) -> dict[str, Parameter]:
    """Return the parameters by name, in order.

    Parameters
    ----------
    texts
        Texts such as `depth=2:12`.

    Returns
    -------
    dict[str, Parameter]
        What `Space.of` takes.
    """
    space: dict[str, Parameter] = {}
    for text in texts:
        name, parameter = read_param(text)
        if name in space:
            raise BadInput(f"--param {text}: the parameter {name!r} is given twice.")
        space[name] = parameter
    return space


def read_param(text: str) -> tuple[str, Parameter]:
    """Return the name and the short form: a tuple for a range, a list for choices or a constant.

    Raises
    ------
    BadInput
        If the text has none of the forms.

    Examples
    --------
    >>> read_param("rate=1e-5:0.1:log")
    ('rate', (1e-05, 0.1, 'log'))
    >>> read_param("booster=gbtree,dart")
    ('booster', ['gbtree', 'dart'])
    """
    name, equals, written = text.partition("=")
    if not equals or not name.strip() or not written or "{" in name or "}" in name:
        raise BadInput(f"--param {text}: write {FORMS}; a name must not contain braces.")
    if "," in written:
        choices = written.split(",")
        if not all(choices):
            raise BadInput(f"--param {text}: a choice is empty; write {FORMS}.")
        return name, [_number_or_text(choice) for choice in choices]
    if ":" in written:
        return name, _range(text, written.split(":"))
    return name, [_number_or_text(written)]


def read_constraints(texts: Sequence[str], mixtures: Sequence[str]) -> list[Any] | None:
    """Return the constraints that `--constraint` and `--mixture` give, None if there are none.

    Parameters
    ----------
    texts
        Linear constraints.
    mixtures
        Parts of wholes, such as `a,b,c=1`.

    Returns
    -------
    list or None
        What `Space.of` takes.
    """
    if not (texts or mixtures):
        return None
    from satisfice.domain.constraints import Mixture  # numpy is slow to load, and --help should not be

    wholes = []
    for text in mixtures:
        names, equals, written = text.rpartition("=")
        total = read_number(written) if equals else None
        parts = [name.strip() for name in names.split(",")]
        if total is None or len(parts) < 2 or not all(parts):
            raise BadInput(f"--mixture {text}: write two or more parameters and their total, such as a,b,c=1.")
        wholes.append(Mixture(parts, total))
    return [*texts, *wholes]


def read_preference(text: str | None) -> str | dict[str, float | str] | None:
    """Return what `--prefer` gives: a sum of parameters, or a setting such as `a=0.3,b=2` as a centre.

    Parameters
    ----------
    text
        The text, None if there is none.

    Returns
    -------
    str or dict or None
        What `find` takes as `prefer`.
    """
    if text is None or "=" not in text:
        return text
    centre: dict[str, float | str] = {}
    for part in text.split(","):
        name, equals, written = part.partition("=")
        if not (equals and name.strip() and written.strip()):
            raise BadInput(f"--prefer {text}: write a cost such as 'a + 2 b', or a setting such as a=0.3,b=2.")
        centre[name.strip()] = _number_or_text(written.strip())
    return centre


def _number_or_text(text: str) -> float | str:
    number = read_number(text)
    return text if number is None else number


def _range(text: str, parts: list[str]) -> Parameter:
    """Return the short form of low:high, low:high:log or low:high:step=S."""
    low, high, *_ = [read_number(part) for part in parts]
    if low is None or high is None or len(parts) > 3:
        raise BadInput(f"--param {text}: write {FORMS}; put a constant that contains a colon into the command itself.")
    match parts[2:]:
        case []:
            return low, high
        case ["log"]:
            return low, high, "log"
        case [step] if step.startswith("step=") and (size := read_number(step[5:])) is not None:
            return low, high, size
    raise BadInput(f"--param {text}: a range may end with :log or :step=S; got {parts[2]!r}.")
