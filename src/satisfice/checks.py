"""The checks of inputs: an error names the argument, what it must be, what it was, and what to do."""

from collections.abc import Callable, Mapping
from numbers import Complex, Integral, Real
from reprlib import Repr
from typing import Any, TypeVar

import numpy as np

from satisfice.errors import BadInput, BadValue, WrongType
from satisfice.types import Noise

T = TypeVar("T")
SHOWN = 80  # characters of a refused value that the message shows


def number(value: object, name: str, alternatives: str = "", hint: str = "") -> float:
    """Convert a real number to a finite float; `alternatives` and `hint` go into the error."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        got = f"{value!r:.80} of type {type(value).__name__}"
        raise BadInput(f"`{name}` must be a finite number{alternatives}; got {got}.{hint}")
    try:
        converted = float(value)
    except (OverflowError, ValueError, TypeError):
        converted = np.nan
    if not np.isfinite(converted):
        raise BadInput(f"`{name}` must be a finite number{alternatives}; got {value!r:.80}.{hint}")
    return converted


def checked_direction(direction: str) -> str:
    """Check that the direction is one."""
    if direction not in ("maximize", "minimize"):
        raise BadInput(f"`direction` must be 'maximize' or 'minimize'; got {direction!r:.80}.")
    return direction


def sign_of(direction: str) -> float:
    """What values are multiplied by so that larger ones are better."""
    return 1.0 if direction == "maximize" else -1.0


def whole(value: object, name: str, *, least: int) -> int:
    """Convert a whole number that is not less than `least` to an int."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise BadInput(f"`{name}` must be a whole number, {least} or more; got {value!r:.80}.")
    return int(value)


def drawn_seed(seed: int | None) -> int:
    """Check the seed; draw one if it is None."""
    return int(np.random.default_rng().integers(2**31)) if seed is None else whole(seed, "seed", least=0)


def stated_noise(noise: object) -> Noise:
    """Check that the noise is a standard deviation, "learn" or None."""
    if noise is None:
        return None
    if isinstance(noise, str) and noise == "learn":  # an array would be compared entry by entry
        return "learn"
    stated = number(noise, "noise", ", 'learn' or None")
    if stated < 0:
        raise BadInput(f"`noise` must be a standard deviation, 0 or more, 'learn' or None; got {noise!r}.")
    return stated


def named(given: str | T, table: Mapping[str, Callable[[], T]], argument: str, *, method: str) -> T:
    """Look up an entry of a table by its name; an object with the method is returned as it is."""
    if isinstance(given, str) and given in table:
        return table[given]()
    if isinstance(given, str | type) or not callable(getattr(given, method, None)):
        names = ", ".join(sorted(table))
        raise BadInput(
            f"`{argument}` must be one of {names}, or an object with a method `{method}`; got {given!r:.80}."
        )
    return given


def as_objective(value: object, value_range: tuple[float, float] | None = None) -> float:
    """Convert what an objective returned by `float`; a pass or a fail counts as 1 or 0.

    Texts are taken as well: `float` knows one notation, and all of the text must be the number, so none is misread.

    Raises
    ------
    WrongType
        If `float` does not take it.
    BadValue
        If it is not finite, raises when it is looked at, or lies outside of the range.
    """
    converted, refused = np.nan, BadValue
    try:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        if not np.ma.is_masked(value):
            converted = _as_float(value)
    except (TypeError, ValueError):
        refused = WrongType
    except Exception:  # noqa: S110  the value's own methods may raise anything; whatever it was, the value is refused
        pass
    if not np.isfinite(converted):
        shown = f"{_shown(value)} of type {type(value).__name__}"
        hint = "A `return` may be missing" if value is None else "Convert it by float(...)"
        raise refused(
            f"The objective must return a finite number; it returned {shown}. {hint}, or raise an exception if the evaluation "
            "failed."
        )
    if value_range is not None and not value_range[0] <= converted <= value_range[1]:
        low, high = value_range
        raise BadValue(
            f"The objective must return a number within the range {low:g} to {high:g}; it returned {converted!r}."
        )
    return converted


def _as_float(value: Any) -> float:
    if isinstance(value, Complex) and not isinstance(value, Real):
        raise TypeError  # numpy would drop the imaginary part
    return float(value)


def _shown(value: object) -> str:
    """Show a value in one line of at most 80 characters, even one that is huge or cannot be shown."""
    short = Repr()
    short.maxstring = short.maxlong = short.maxother = SHOWN
    try:
        return " ".join(short.repr(value).split())[:SHOWN]
    except Exception:
        return "something that cannot be shown"
