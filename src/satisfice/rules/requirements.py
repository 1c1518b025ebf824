"""What a rule needs of the domain and the model, and how it reads them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from satisfice.acquisition.belief import Belief
from satisfice.errors import BadInput, NoSurvivors
from satisfice.gp.posterior import Posterior
from satisfice.rules.widths import BayesianWidth, PosteriorWidth, Width
from satisfice.types import Array


@dataclass(frozen=True)
class Requirements:
    """What a rule cannot do without.

    Parameters
    ----------
    finite
        A finite domain.
    single
        One posterior, not a mixture.
    fixed
        A known kernel, in units that never change.
    """

    finite: bool = False
    single: bool = False
    fixed: bool = False

    def check(self, rule: str, *, finite: bool, mixture: bool, fixed: bool) -> None:
        """Raise `BadInput` if the domain or the model does not suit the rule."""
        if self.finite and not finite:
            raise BadInput(f"{rule} needs a finite domain; pass a Finite, which Box.grid(n) makes of a box.")
        if self.single and mixture:
            single_ones = "a FixedModel" if self.fixed else "a FixedModel or model='paper'"
            raise BadInput(f"{rule} needs one kernel, but the model is a mixture of kernels; pass {single_ones}.")
        if self.fixed and not fixed:
            raise BadInput(f"{rule} needs a known kernel, but the model learns its kernel; pass a FixedModel.")


def finite_points(belief: Belief) -> Array:
    """All points of a finite domain (m, d).

    Parameters
    ----------
    belief
        A belief over a finite domain.

    Returns
    -------
    Array
        The points (m, d).

    Raises
    ------
    BadInput
        If the domain is not finite.
    """
    if belief.points is None:
        raise BadInput("The rule needs a finite domain; pass a Finite, which Box.grid(n) makes of a box.")
    return belief.points


def seen_at(belief: Belief) -> npt.NDArray[np.intp]:
    """The index of the point of a finite domain at which each value was seen (n,).

    Parameters
    ----------
    belief
        A belief over a finite domain.

    Returns
    -------
    Array
        The indices (n,).
    """
    points = finite_points(belief)
    if len(belief.seen.values) == 0:
        return np.empty(0, dtype=np.intp)
    return np.asarray(cdist(belief.seen.points, points, "chebyshev").argmin(axis=1))


def nothing_is_good() -> NoSurvivors:
    """The error of a rule that has ruled out every point."""
    return NoSurvivors(
        "every point has been ruled out: by the confidence bounds no action is good, and there is nothing left to ask; "
        "lower the target, or widen the bounds if you doubt them"
    )


def promised_width(belief: Belief) -> Width:
    """The width with which bounds hold at all points of a finite domain and at all times, if the kernel is the true one.

    Parameters
    ----------
    belief
        The domain, and the error rate.

    Returns
    -------
    Width
        A function of the round.
    """
    return BayesianWidth(len(finite_points(belief)), belief.error_rate)


def width_of(width: Width | PosteriorWidth, belief: Belief) -> float:
    """The width in the coming round.

    Parameters
    ----------
    width
        A width.
    belief
        The round, and the posterior.

    Returns
    -------
    float
        Its value.
    """
    return width.given(single(belief)) if isinstance(width, PosteriorWidth) else width(belief.step)


def single(belief: Belief) -> Posterior:
    """The only posterior of a belief that is not a mixture.

    Parameters
    ----------
    belief
        A belief with one member.

    Returns
    -------
    Posterior
        That member.

    Raises
    ------
    BadInput
        If there are several.
    """
    if len(belief.members) != 1:
        raise BadInput("The rule needs one posterior, not a mixture of kernels; pass a FixedModel or model='paper'.")
    return belief.members[0][1]
