"""`SpaceLimits`: the constraints of a space as a region needs them, and what contradicts itself among them."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.domain.constraints import Constraints, Mixture
from satisfice.domain.linear import Linear
from satisfice.domain.parameters import Number, Parameter, Real
from satisfice.domain.polytope import THIN, Polytope
from satisfice.errors import BadInput
from satisfice.types import Array

TIGHTER = 1e-9  # in the unit cube: what the rounding of floats may break is kept


class SpaceLimits:
    """The constraints of a space.

    Parameters
    ----------
    parameters : mapping of names to parameters
        All parameters of the space.
    searched : sequence of str
        Those of more than one value, in the order of their coordinates.
    constraints : Constraints
        The constraints.
    columns : callable
        The values of all parameters, by name, at points (n, d) of the domain.
    """

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        searched: Sequence[str],
        constraints: Constraints,
        columns: Callable[[Array], dict[str, list[Any]]],
    ) -> None:
        self._parameters, self._searched, self._constraints = parameters, searched, constraints
        self._columns = columns

    @property
    def slow(self) -> bool:
        """Whether a function of the user's decides."""
        return any(each.function is not None for each in self._constraints.predicates)

    @property
    def forgotten(self) -> str:
        """The functions of a stored study that are not known; empty if there are none."""
        return ", ".join(each.name for each in self._constraints.forgotten)

    def holds(self, X: Array) -> npt.NDArray[np.bool_]:
        """Which points (n, d) in the user's units satisfy all constraints."""
        names = {name for each in self._constraints.linear for name in each.weights}
        names |= {name for each in self._constraints.mixtures for name in each.names}
        ok = self._constraints.linear_hold({name: self._numbers(name, X) for name in names}, len(X))
        if self._constraints.predicates and ok.any():
            ok[ok] = self._constraints.predicates_hold(self._columns(X[ok]), int(ok.sum()))
        return ok

    def _numbers(self, name: str, X: Array) -> Array:
        """The values of a number at points (n, d) of the domain, in one go."""
        low, high = self._range(name)
        if low == high:
            return np.full(len(X), low)
        each, z = self._parameters[name], X[:, self._starts[name]]
        if not isinstance(each, Number):
            raise TypeError(name)
        if each.log:
            z = np.rint(np.exp(z)) if each.step is not None else np.exp(z)
        elif each.step is not None and each.coordinate(each.low) == 0:  # it counts the steps
            z = low + np.rint(z) * each.step
        return np.clip(z, low, high)

    @cached_property
    def _starts(self) -> dict[str, int]:
        """The first coordinate of each parameter."""
        widths = [len(self._parameters[name].bounds) for name in self._searched]
        return {name: sum(widths[:k]) for k, name in enumerate(self._searched)}

    def broken(self, x: Array) -> str | None:
        """What the point (d,) breaks, in words; None if it is allowed."""
        found = self._constraints.broken({name: column[0] for name, column in self._columns(x[None]).items()})
        return None if found is None else str(found)

    def _even(self, each: Linear) -> bool:
        """Whether the constraint is linear in the unit cube: all that it is about are real numbers, or constants."""
        return all(
            self._parameters[name].constant
            or (type(self._parameters[name]) is Real and getattr(self._parameters[name], "step", None) is None)
            for name in each.weights
        )

    @property
    def polytope_is_all(self) -> bool:
        """Whether there are no other constraints than those of the polytope."""
        return not self._constraints.predicates and all(map(self._even, self._constraints.linear))

    @cached_property
    def wholes(self) -> list[tuple[list[int], float]]:
        """For each mixture the numbers of its searched parameters, and their total above their low ends."""
        found = []
        for mixture in self._constraints.mixtures:
            parts = [self._searched.index(name) for name in mixture.names if not self._parameters[name].constant]
            found.append((parts, mixture.total - sum(low for low, _ in map(self._range, mixture.names))))
        return found

    def _range(self, name: str) -> tuple[float, float]:
        each = self._parameters[name]
        if isinstance(each, Number):
            return float(each.low), float(each.high)
        return float(each.choices[0]), float(each.choices[0])  # a constant

    @cached_property
    def polytope(self) -> tuple[Polytope, list[int]] | None:
        """The linear constraints on real numbers, in the unit cube, and the numbers of the parameters that they are about."""
        linear = [each for each in self._constraints.linear if self._even(each)]
        named = {name for each in linear for name in each.weights}
        named |= {name for each in self._constraints.mixtures for name in each.names}
        names = [name for name in self._searched if name in named]
        if not names:
            return None
        low, high = np.array([self._range(name) for name in names]).T
        rows, bounds = [], []
        for each in linear:
            weights = np.array([each.weights.get(name, 0.0) for name in names])
            row = weights * (high - low)
            length = float(np.sqrt(row @ row))
            if length == 0:
                continue
            fixed = sum(w * self._range(name)[0] for name, w in each.weights.items())
            size = abs(each.bound) + sum(abs(w) * max(map(abs, self._range(n))) for n, w in each.weights.items())
            rows.append(row / length)
            bounds.append((each.bound - fixed - 1e-14 * size) / length - TIGHTER)
        evens, totals = [], []
        for parts, total in self.wholes:
            row = np.array(
                [b - a if self._searched.index(n) in parts else 0.0 for n, a, b in zip(names, low, high, strict=True)]
            )
            length = float(np.sqrt(row @ row))
            evens.append(row / length)
            totals.append(total / length)
        k = len(names)
        found = Polytope(
            np.array(rows).reshape(-1, k), np.array(bounds), np.array(evens).reshape(-1, k), np.array(totals)
        )
        if found.ball is None or found.ball[1] <= THIN:
            every: list[Linear | Mixture] = [*linear, *self._constraints.mixtures]
            raise BadInput(
                f"`constraints` must leave more than a face of the space; {_listed(every)} hold with equality only. Use "
                "Mixture for parts of a whole, or leave one parameter out of the space and compute it in the objective."
            )
        return found, [self._searched.index(name) for name in names]

    def check(self) -> None:
        """Raise BadInput if linear constraints contradict each other, and name a smallest set that does."""
        every: list[Linear | Mixture] = [*self._constraints.linear, *self._constraints.mixtures]
        if not every or self._solved(every) is not None:
            return
        for each in list(every):
            rest = [other for other in every if other is not each]
            if self._solved(rest) is None:
                every = rest
        if len(every) == 1:
            raise BadInput(
                f"`constraints`: {every[0]} must be possible within the ranges of the space; no setting satisfies it."
            )
        raise BadInput(
            f"`constraints` must not contradict each other; {_listed(every)} do within the ranges of the space."
        )

    def inner_point(self) -> Array | None:
        """A point (d,) of the domain, in the user's units, that satisfies the linear constraints and the mixtures."""
        values = self._solved([*self._constraints.linear, *self._constraints.mixtures])
        if values is None:
            return None
        x: list[float] = []
        for name in self._searched:
            each = self._parameters[name]
            x += [each.coordinate(values[name])] if isinstance(each, Number) else [1.0] + [0.0] * (len(each.bounds) - 1)
        return np.array(x)

    def _solved(self, every: list[Linear | Mixture]) -> dict[str, float] | None:
        """Values of the numbers that satisfy linear constraints and mixtures, None if there are none."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # not needed to import the package

        numbers = {name: each for name, each in self._parameters.items() if isinstance(each, Number)}
        low, high = np.array([self._range(name) for name in numbers]).reshape(-1, 2).T
        steps = np.array([float(each.step or 0.0) for each in numbers.values()])
        unit = np.where(steps > 0, steps, np.where(high > low, high - low, 1.0))
        rows, lows, highs = [], [], []
        for each in every:
            if isinstance(each, Mixture):
                weights, bottom, top = dict.fromkeys(each.names, 1.0), each.total, each.total
            else:
                weights, bottom, top = dict(each.weights), -np.inf, each.bound
            fixed = sum(w * self._range(name)[0] for name, w in weights.items())
            row = np.array([weights.get(name, 0.0) for name in numbers]) * unit
            size = max(float(np.abs(row).max(initial=0.0)), 1e-300)
            rows.append(row / size)
            lows.append((bottom - fixed) / size)
            highs.append((top - fixed) / size)
        if not rows:
            return {name: float(end) for name, end in zip(numbers, low, strict=True)}
        counts = np.where(steps > 0, np.round((high - low) / unit), np.where(high > low, 1.0, 0.0))
        found = milp(
            np.zeros(len(numbers)),
            constraints=LinearConstraint(np.array(rows), np.array(lows), np.array(highs)),
            bounds=Bounds(np.zeros(len(numbers)), counts),
            integrality=(steps > 0).astype(int),
        )
        if found.x is None:
            return None
        return {name: float(low[j] + found.x[j] * unit[j]) for j, name in enumerate(numbers)}


def _listed(every: list[Linear | Mixture]) -> str:
    return " and ".join(map(str, every))
