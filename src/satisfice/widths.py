"""Widths beta_t^{1/2} for t = 1, 2, ..., the number of the evaluation: the paper's heuristics, which promise nothing.

Those with a guarantee are in `satisfice.theory.confidence`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt

from satisfice.types import BadInput

Width = Callable[[int], float]


def checked_round(t: int) -> int:
    """t, if it is the number of an evaluation."""
    if t < 1:
        raise BadInput(f"a width: t = {t!r} came; the number of an evaluation was wanted, counted from 1")
    return t


def sqrt_log(t: int) -> float:
    """sqrt(log t), the width of the paper's search for a good action (section 5.2)."""
    return sqrt(log(checked_round(t)))


def sqrt_log_cubed(t: int) -> float:
    """sqrt(log(2t)^3), the width of the paper's experiment on lenient regret (section 5.1)."""
    return sqrt(log(2 * checked_round(t)) ** 3)


@dataclass(frozen=True)
class DoubledWidth:
    """Twice the width up to round `rounds`, then the width itself (paper, appendix A, with rounds = N_max).

    Its bounds are to be intersected over time: then a bad action whose upper bound stayed just above f* drops
    below it.
    """

    width: Width
    rounds: int

    def __call__(self, t: int) -> float:
        """2 beta_t^{1/2} for t <= rounds, beta_t^{1/2} afterwards."""
        return (2.0 if t <= self.rounds else 1.0) * self.width(t)
