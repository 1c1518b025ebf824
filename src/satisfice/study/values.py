"""What an objective returned becomes a float here, or one error that says why not."""

from fractions import Fraction
from reprlib import Repr

import numpy as np

from satisfice.checks import number
from satisfice.errors import SatisficeError

SHOWN = 80  # characters of a refused value that the message shows


class BadValue(SatisficeError):
    """An objective returned something that is not a finite number; the message shows what came."""


def as_objective(value: object) -> float:
    """The finite float that an objective returned, 1 for a pass and 0 for a fail.

    Everything else is a `BadValue`, even a value that raises when looked at.
    """
    try:
        if isinstance(value, bool | np.bool_):
            return float(value)
        # exact numbers and lengths of time are real numbers to Python and numpy, but hardly what was meant
        if not isinstance(value, Fraction | np.timedelta64):
            return number(value, "value")
    except Exception:  # noqa: S110  the value's own methods may raise anything; whatever it was, the value is refused
        pass
    raise BadValue(
        f"the objective returned {_shown(value)} of type {type(value).__name__}; a finite number was wanted: "
        "return one by float(...), or raise an exception if the evaluation failed"
    )


def _shown(value: object) -> str:
    """A value in one line of at most 80 characters, even one that is huge or cannot be shown."""
    short = Repr()
    short.maxstring = short.maxlong = short.maxother = SHOWN
    try:
        return " ".join(short.repr(value).split())[:SHOWN]
    except Exception:
        return "something that cannot be shown"
