"""The paper's heuristic widths beta_t^{1/2}, t = 1, 2, ... the number of the evaluation; they promise nothing.

Those with a guarantee are in `satisfice.theory.confidence`.
"""

from math import log, sqrt

from satisfice.types import BadInput


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
