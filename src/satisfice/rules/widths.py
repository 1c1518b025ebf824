"""Widths beta_t^{1/2} of confidence bounds; t = 1, 2, ... is the number of the evaluation.

The paper's heuristics promise nothing; the bounds of `BayesianWidth` hold if the kernel is the true one. Widths for functions of
bounded norm, which need the information gain, are in `satisfice.paper.theory.confidence`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, Protocol, runtime_checkable

from satisfice.errors import BadInput

Width = Callable[[int], float]


@runtime_checkable
class PosteriorWidth(Protocol):
    """A width that depends on the points asked so far, not only on their number."""

    def given(self, posterior: Any) -> float:
        """The width that goes with this posterior."""


def checked_round(t: int) -> int:
    """Return t; raise `BadInput` unless it is at least 1.

    Parameters
    ----------
    t
        The number of an evaluation.

    Returns
    -------
    int
        t.

    Raises
    ------
    BadInput
        If t < 1.
    """
    if t < 1:
        raise BadInput(f"`t` of a width must be the number of an evaluation, counted from 1; got {t!r}.")
    return t


def sqrt_log(t: int) -> float:
    """sqrt(log t), the width of the paper's search for a good action (section 5.2).

    Parameters
    ----------
    t
        The number of the evaluation, from 1.

    Returns
    -------
    float
        The width.
    """
    return sqrt(log(checked_round(t)))


def sqrt_log_cubed(t: int) -> float:
    """sqrt(log(2t)^3), the width of the paper's experiment on lenient regret (section 5.1).

    Parameters
    ----------
    t
        The number of the evaluation, from 1.

    Returns
    -------
    float
        The width.
    """
    return sqrt(log(2 * checked_round(t)) ** 3)


@dataclass(frozen=True)
class DoubledWidth:
    """Twice the width up to some round, then the width itself (paper, appendix A).

    Its bounds are meant to be intersected over time: a bad action whose upper bound stayed just above f* then drops below it.

    Parameters
    ----------
    width
        The width to double.
    rounds
        The last round of doubled width; N_max in the paper.
    """

    width: Width
    rounds: int

    def __call__(self, t: int) -> float:
        """2 beta_t^{1/2} for t <= rounds, beta_t^{1/2} afterwards."""
        return (2.0 if t <= self.rounds else 1.0) * self.width(t)


def checked_failure(failure: float) -> None:
    """Raise `BadInput` unless this is a probability with which bounds may fail."""
    if not 0 < failure < 1:
        raise BadInput(f"`failure` of a width must be a number between 0 and 1, such as 0.1; got {failure!r}.")


@dataclass(frozen=True)
class BayesianWidth:
    """beta_t = 2 log(|D| t^2 pi^2 / (6 failure)), for f ~ GP(0, k) on a finite domain D.

    With lam = sigma^2 the bounds hold for all t and x with probability >= 1 - failure (paper, section 3.4).

    Parameters
    ----------
    size
        |D|, the number of points.
    failure
        The probability with which some bound may fail.
    """

    size: int
    failure: float

    def __post_init__(self) -> None:
        checked_failure(self.failure)
        if self.size < 1:
            raise BadInput(f"`size` of a width must be the number of points of D, at least 1; got {self.size!r}.")

    def __call__(self, t: int) -> float:
        """beta_t^{1/2}."""
        return sqrt(2 * log(self.size * checked_round(t) ** 2 * pi**2 / (6 * self.failure)))
