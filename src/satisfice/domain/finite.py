"""`Finite`: a table of points in place of a box; and the check that the points of every domain pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.errors import BadInput
from satisfice.types import Array


def checked_points(X: npt.ArrayLike, dimension: int, what: str) -> Array:
    """X as a float64 array (n, d) of finite numbers, or one clear error."""
    try:
        given = np.asarray(X)
        if given.dtype.kind not in "iuf":
            raise TypeError
        with np.errstate(over="ignore"):  # a longer float may become infinite here, which is refused below
            points = np.atleast_2d(given.astype(np.float64))
    except (TypeError, ValueError):
        raise BadInput(f"{what} must be a list or an array of {dimension} numbers; got {X!r:.200}.") from None
    if points.ndim != 2 or points.shape[1] != dimension or points.shape[0] == 0:
        raise BadInput(f"{what} must have {dimension} coordinates; got an array of shape {given.shape}.")
    if not np.isfinite(points).all():
        raise BadInput(f"{what} must have finite coordinates; got {X!r:.200}.")
    return points


@dataclass(frozen=True, eq=False)
class Finite:
    """A finite set of points, such as the rows of a table; the smallest box around them is scaled to the unit cube.

    Parameters
    ----------
    points : array (n, d)
        The points in the user's units, each once.

    Raises
    ------
    BadInput
        If the points are no such array, or one of them is there twice.

    Examples
    --------
    >>> table = Finite([[1.0, 10.0], [2.0, 90.0], [3.0, 30.0]])
    >>> table.from_unit(np.array([[0.9, 0.3]]))
    array([[ 3., 30.]])
    """

    points: npt.ArrayLike

    def __post_init__(self) -> None:
        wanted = "`points` must be an array of shape (points, coordinates)"
        try:
            given = np.asarray(self.points)
        except ValueError:
            raise BadInput(f"{wanted}; got rows of different lengths.") from None
        if given.ndim != 2 or given.size == 0:
            raise BadInput(f"{wanted}; got one of shape {given.shape}.")
        X = checked_points(given, given.shape[1], "A point of `points`").copy()
        points, counts = np.unique(X, axis=0, return_counts=True)
        if len(points) < len(X):
            raise BadInput(
                f"`points` must hold each point once; got {points[counts.argmax()].tolist()} more than once."
            )
        with np.errstate(over="ignore"):
            if not np.isfinite(np.ptp(X, axis=0)).all():
                raise BadInput("`points` must not lie further apart than the largest float. Scale them down.")
        X.flags.writeable = False
        object.__setattr__(self, "points", X)

    @cached_property
    def X(self) -> Array:
        """The points (n, d) in the user's units."""
        return np.asarray(self.points, dtype=np.float64)

    @cached_property
    def U(self) -> Array:
        """The points (n, d) in the unit cube; a coordinate with one value only sits at 1/2."""
        U = self.scaled(self.X)
        U.flags.writeable = False
        return U

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it is in the table or not."""
        low, width = self.X.min(axis=0), np.ptp(self.X, axis=0)
        return np.where(width > 0, (X - low) / np.where(width > 0, width, 1.0), 0.5 + X - low)

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""
        return self.X.shape[1]

    @property
    def size(self) -> int | None:
        """The number of points."""
        return len(self.X)

    @property
    def switches(self) -> Sequence[int]:
        """None: a table is asked as it is."""
        return ()

    def nearest(self, U: Array) -> npt.NDArray[np.intp]:
        """The index of the nearest point (of the unit cube) for each row of U."""
        return np.array([np.argmin(((self.U - u) ** 2).sum(axis=1)) for u in U], dtype=np.intp)

    @cached_property
    def _found(self) -> dict[bytes, npt.NDArray[np.intp]]:
        """The rows of single points that were looked for before."""
        return {}

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points of the table -> the unit cube; a point that is not in the table is an error."""
        points = checked_points(X, self.dimension, "A point of the finite domain")
        if points.tobytes() in self._found:
            return self.U[self._found[points.tobytes()]]
        with np.errstate(over="ignore"):  # infinitely far off is off
            U = self.scaled(points)
            index = self.nearest(U)
        off = np.abs(self.U[index] - U).max(axis=1) > 1e-9
        if off.any():
            row = int(np.argmax(off))
            raise BadInput(
                f"A point of the finite domain must be one of its points; got {points[row].tolist()}. "
                f"The nearest one is {self.X[index[row]].tolist()}."
            )
        if len(points) == 1:
            self._found[points.tobytes()] = index
        return self.U[index]

    def from_unit(self, U: Array) -> Array:
        """The nearest points of the table, in the user's units."""
        return self.X[self.nearest(U)]

    def snap(self, U: Array) -> Array:
        """The nearest points of the table, in the unit cube."""
        return self.U[self.nearest(U)]

    def candidates(self, n: int, rng: Generator) -> Array:
        """Every point of the table, in a random order when there are more than n (then n of them)."""
        return self.U if len(self.U) <= n else self.U[rng.permutation(len(self.U))[:n]]

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points of the table, drawn independently."""
        return self.U[rng.integers(len(self.U), size=n)]
