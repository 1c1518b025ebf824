"""Inputs are checked once, here: an error says what came, what was wanted and what to do."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import TypeVar

import numpy as np

from satisfice.errors import BadInput
from satisfice.types import Noise

T = TypeVar("T")


def number(value: object, what: str, hint: str = "") -> float:
    """A finite float, or one clear error."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise BadInput(f"{what}: {value!r} of type {type(value).__name__} came; a finite number was wanted{hint}")
    try:
        converted = float(value)
    except (OverflowError, ValueError, TypeError):
        converted = np.nan
    if not np.isfinite(converted):
        raise BadInput(f"{what}: {value!r} came; a finite number was wanted{hint}")
    return converted


def checked_direction(direction: str) -> str:
    """The direction, or one clear error."""
    if direction not in ("maximize", "minimize"):
        raise BadInput(f"direction: {direction!r} came; 'maximize' or 'minimize' was wanted")
    return direction


def sign_of(direction: str) -> float:
    """What values are multiplied by so that larger ones are better."""
    return 1.0 if direction == "maximize" else -1.0


def whole(value: object, what: str, *, least: int) -> int:
    """A whole number of at least so much, or one clear error."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise BadInput(f"{what}: {value!r:.80} came; a whole number, {least} or more, was wanted")
    return int(value)


def drawn_seed(seed: int | None) -> int:
    """The seed, or a new one where none was given."""
    return int(np.random.default_rng().integers(2**31)) if seed is None else whole(seed, "seed", least=0)


def stated_noise(noise: object) -> Noise:
    """A standard deviation, "learn" or None."""
    if noise is None:
        return None
    if isinstance(noise, str) and noise == "learn":  # an array would be compared entry by entry
        return "learn"
    stated = number(noise, "noise", ", or 'learn', or None")
    if stated < 0:
        raise BadInput(f"noise: {noise!r} came; a standard deviation, 0 or more, was wanted")
    return stated


def named(given: str | T, table: Mapping[str, Callable[[], T]], what: str, *, method: str) -> T:
    """An entry of a table by its name, or the thing itself, if it has the method that makes it one."""
    if isinstance(given, str) and given in table:
        return table[given]()
    if isinstance(given, str | type) or not callable(getattr(given, method, None)):
        names = ", ".join(sorted(table))
        raise BadInput(f"{what}: {given!r:.80} came; one of {names} was wanted, or an object that can {method}")
    return given
