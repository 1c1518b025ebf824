"""Numbers as they are written in texts: on the command line, in sheets, in JSON. Imports nothing heavy."""

import math
import re
from typing import Any

WHOLE = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,299})\Z")  # 007 is a text
REAL = re.compile(r"[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)\Z")


def read_number(text: str) -> int | float | None:
    """Return the number that is written, integer or real; None if it is none or not finite.

    Parameters
    ----------
    text
        The text.

    Returns
    -------
    int | float | None
        The number, or None.
    """
    if WHOLE.match(text):
        return int(text)
    if REAL.match(text) and math.isfinite(number := float(text)):
        return number
    return None


def finite(value: Any) -> Any:
    """Return the value with Python's numbers for numpy's, and None for those that JSON does not have.

    Parameters
    ----------
    value
        Dicts, lists, texts and numbers.

    Returns
    -------
    Any
        The value for `json.dumps`.
    """
    value = value.item() if hasattr(value, "dtype") else value
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
