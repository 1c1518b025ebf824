"""The types that all parts of the library share, and the largest number.

X are points in the user's units, U the same points in the unit cube [0, 1]^d. Only a domain converts.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

Array = npt.NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
Noise = float | Literal["learn"] | None  # its standard deviation, or to be learned, or not known whether there is any


@runtime_checkable
class Stoppable(Protocol):
    """An objective of which an evaluation can be ended, since it has a process of its own."""

    def run(self, given: Any, look: Callable[[], None]) -> object:
        """Evaluate, and call `look` several times a second; what it raises ends the evaluation."""


class Domain(Protocol):
    """What `Product`, `Box` and `Finite` have in common."""

    @property
    def dimension(self) -> int:
        """The number d of coordinates."""

    @property
    def size(self) -> int | None:
        """The number of different points, or None where there is a continuum."""

    @property
    def switches(self) -> Sequence[int]:
        """The coordinates of which the low end means something of its own, as where 0 is "no limit"."""

    def to_unit(self, X: npt.ArrayLike) -> Array:
        """Points (n, d) in the user's units -> points of the unit cube; a point outside is an error."""

    def scaled(self, X: Array) -> Array:
        """X in the coordinates of the unit cube, whether it lies in the domain or not."""

    def from_unit(self, U: Array) -> Array:
        """Points (n, d) of the unit cube -> the nearest points of the domain in the user's units."""

    def snap(self, U: Array) -> Array:
        """The nearest points of the unit cube that the domain really has."""

    def candidates(self, n: int, rng: Generator) -> Array:
        """At most n points (m, d) of the unit cube, spread over the domain."""

    def uniform(self, n: int, rng: Generator) -> Array:
        """n points (n, d) of the unit cube, independent and uniform over the domain."""
