"""`Box`: ranges of coordinates, some of them whole numbers."""

import math
import operator
from collections.abc import Sequence
from numbers import Integral

import numpy as np

from satisfice.domain.finite import Finite
from satisfice.domain.parameters import Integer, Real
from satisfice.domain.product import Product
from satisfice.errors import BadInput


class Box(Product):
    """A box [low, high]^d in the user's units, in which some coordinates may be whole numbers.

    Parameters
    ----------
    bounds : sequence of (low, high)
        The ends of each coordinate.
    integers : sequence of int
        The coordinates, counted from 0, that hold whole numbers.
    switches : sequence of int
        The coordinates of which the low end means something of its own, as where 0 is "no limit".

    Raises
    ------
    BadInput
        If a coordinate has not two different finite ends, or whole numbers have ends that are not whole.

    Examples
    --------
    >>> box = Box([(0.01, 0.3), (2, 15)], integers=[1])
    >>> box.from_unit(np.array([[0.5, 0.5]]))
    array([[0.155, 8.   ]])
    """

    def __init__(
        self, bounds: Sequence[tuple[float, float]], integers: Sequence[int] = (), switches: Sequence[int] = ()
    ) -> None:
        ends = _checked_bounds(bounds)
        whole = _indices("integers", integers, len(ends))
        for index in whole:
            low, high = ends[index]
            if not (low.is_integer() and high.is_integer()):
                raise BadInput(
                    f"The bounds of the integer coordinate {index} must be whole numbers; got ({low}, {high})."
                )
        parameters = [
            Integer(int(low), int(high)) if k in whole else Real(low, high) for k, (low, high) in enumerate(ends)
        ]
        super().__init__(parameters, _indices("switches", switches, len(ends)))

    def grid(self, n: int) -> Finite:
        """Make a finite domain of evenly spaced values, ends included.

        Parameters
        ----------
        n : int
            The number of values of each coordinate, so that there are n^d points. An integer coordinate keeps its own values
            where it has fewer than n.

        Returns
        -------
        Finite
        """
        if not isinstance(n, Integral) or n < 2:
            raise BadInput(f"`n` must be a whole number, 2 or more; got {n!r:.80}.")
        axes = []
        for index, (low, high) in enumerate(self.bounds):
            axis = np.linspace(low, high, n)
            axes.append(np.unique(np.round(axis)) if index in self.integers else axis)
        mesh = np.meshgrid(*axes, indexing="ij")
        return Finite(np.stack([axis.ravel() for axis in mesh], axis=1))


def _checked_bounds(given: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The ends of each coordinate as floats, or one clear error."""
    try:
        array = np.asarray(given)
        bounds = array.astype(np.float64) if array.dtype.kind in "iuf" else np.empty(0)
    except (TypeError, ValueError):
        bounds = np.empty(0)
    if bounds.ndim != 2 or bounds.shape[1] != 2 or bounds.shape[0] == 0:
        raise BadInput(
            f"`bounds` must be a list of (low, high) pairs of numbers, one for each coordinate; got {given!r}."
        )
    for index, (low, high) in enumerate(bounds):
        if not (low < high and math.isfinite(float(high) - float(low))):
            raise BadInput(
                f"The bounds of coordinate {index} must be finite numbers low < high; got ({low:g}, {high:g}). "
                "Leave out a coordinate that has one value only."
            )
    return [(float(low), float(high)) for low, high in bounds]


def _indices(name: str, given: Sequence[int], dimension: int) -> tuple[int, ...]:
    """The coordinates that are listed, in order and each once, or one clear error."""
    try:
        indices = sorted({operator.index(index) for index in given})
    except TypeError:
        indices = [-1]
    if indices and not (0 <= indices[0] and indices[-1] < dimension):
        raise BadInput(f"`{name}` must list coordinates from 0 to {dimension - 1}; got {given!r}.")
    return tuple(indices)
