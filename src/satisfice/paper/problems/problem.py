"""What a test problem is: a domain, a function to maximise, its maximum, and the targets it is used with."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.errors import BadInput
from satisfice.types import Array

ACTIONS = 10_000  # how many uniform actions `target_at` looks at
ACTIONS_SEED = 2021


@dataclass(frozen=True, eq=False)
class Problem:
    """A function to maximise over a domain, and the targets (the paper's eta) that it is used with.

    A target is given as a value (`etas`) or as the share xi of the domain that shall be good (`xis`); `target` is the
    first of the values, or the first of the shares where there are no values.

    >>> line = Problem("line", Box([(0.0, 2.0)]), lambda X: 3 * X[:, 0], maximum=6.0, etas=(5.0,))
    >>> line.value([1.5]), line.target
    (4.5, 5.0)
    """

    name: str
    domain: Box | Finite
    function: Callable[[Array], Array]  # (n, d) in the user's units -> (n,)
    maximum: float
    maximisers: tuple[tuple[float, ...], ...] = ()
    etas: tuple[float, ...] = ()
    xis: tuple[float, ...] = ()
    noise: float = 0.0  # the standard deviation of the noise that the paper adds wherever it uses the problem
    exact: bool = True  # False: `maximum` is an upper bound and `maximisers` are the best points found by search
    needs: tuple[str, str] | None = None  # a package that evaluations load, and the extra that brings it

    def __post_init__(self) -> None:
        if not (self.etas or self.xis):
            raise BadInput(f"Problem {self.name}: `etas` or `xis` must have at least one target; got none.")

    def values(self, X: npt.ArrayLike) -> Array:
        """The noise-free values (n,) at points X (n, d) in the user's units."""
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != self.domain.dimension:
            raise BadInput(
                f"Problem {self.name}: `X` must have the shape (n, {self.domain.dimension}); got {points.shape}."
            )
        return self.function(points)

    def value(self, x: npt.ArrayLike) -> float:
        """The noise-free value at one point x (d,) in the user's units."""
        point = np.asarray(x, dtype=np.float64)
        if point.ndim != 1:
            raise BadInput(f"Problem {self.name}: `x` must be one point of shape (d,); got {point.shape}.")
        return float(self.values(point[None])[0])

    @cached_property
    def _action_values(self) -> Array:
        U = self.domain.uniform(ACTIONS, np.random.default_rng(ACTIONS_SEED))
        return self.values(self.domain.from_unit(U))

    def target_at(self, xi: float) -> float:
        """The target that a share xi of the domain reaches: the (1 - xi) quantile of 10,000 uniform actions' values.

        The actions are always the same ones; they are evaluated at the first call (xgboost: an hour) and kept.
        """
        if not 0 < xi < 1:
            raise BadInput(f"Problem {self.name}: `xi` must be a share between 0 and 1; got {xi!r}.")
        return float(np.quantile(self._action_values, 1 - xi))

    @property
    def target(self) -> float:
        """The target that the problem is used with unless another is asked for."""
        return self.etas[0] if self.etas else self.target_at(self.xis[0])
