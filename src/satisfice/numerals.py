"""Numbers as they are written in texts: on the command line and in sheets. Imports nothing heavy."""

import math
import re

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
