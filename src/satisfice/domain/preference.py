"""`Preference`: which of the good settings the user would rather have, as a cost of the parameters that is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import default_rng

from satisfice.domain.finite import checked_points
from satisfice.domain.linear import linear_form
from satisfice.domain.parameters import Categorical, Number, is_number
from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.types import Array, Domain

STEP = 1e-5  # of a difference quotient, in the unit cube
SPREAD, ROUNDS, NEAR = (
    2048,
    8,
    256,
)  # points that are tried for the lowest cost: all over the domain, then near the best ones


@dataclass(frozen=True)
class Forgotten:
    """A function that a stored study keeps the name of.

    Parameters
    ----------
    name : str
        Its name.
    """

    name: str


class Preference:
    """A known cost of the settings: of two good ones the cheaper one is preferred.

    Parameters
    ----------
    given : str, callable, mapping or array
        A sum of parameters as a text, a function of the parameters, or a centre: then the cost is the distance to it in the unit
        cube.
    domain : Domain
        Where the search looks.
    space : Space or None
        The parameters, if they have names.

    Raises
    ------
    BadInput
        If it is nothing of these, or does not suit the parameters.
    """

    def __init__(self, given: Any, domain: Domain, space: Space | None = None) -> None:
        self._given, self._domain, self._space = given, domain, space
        self._weights: dict[str, float] = {}
        self._constant, self._centre = 0.0, np.empty(0)
        self._function: Callable[[Any], object] | None = None
        if isinstance(given, str):
            if space is None:
                raise BadInput(
                    f"`prefer` must be a function or a centre, since the parameters have no names; got {given!r:.80}."
                )
            self._weights, self._constant = linear_form(given, space.parameters, f"`prefer` {given!r:.80}")
            self.kind = "cost"
        elif callable(given):
            self._function, self.kind = given, "cost"
        elif isinstance(given, Mapping) and space is None:
            raise BadInput(
                f"`prefer` must be a function or a point, since the parameters have no names; got {given!r:.80}."
            )
        else:
            try:
                x = space.encode(given) if space is not None and isinstance(given, Mapping) else given
                x = checked_points(x, domain.dimension, "`prefer`")[0]
            except BadInput as problem:
                raise BadInput(
                    f"`prefer` must be a sum of parameters such as 'a + 2 b', a function of the parameters, or a setting as a "
                    f"centre; got {given!r:.80}. {problem}"
                ) from None
            self._centre, self.kind = domain.scaled(x), "distance"
        if self._function is not None or self.kind == "cost":
            self.costs(domain.from_unit(domain.uniform(1, default_rng(0))))  # what it refuses is refused now

    def costs(self, X: Array) -> Array:
        """The costs (m,) of points (m, d) of the domain, in the user's units."""
        if self.kind == "distance":
            return np.asarray(np.sqrt(((self._domain.scaled(X) - self._centre) ** 2).sum(axis=1)))
        if self._function is None and self._space is not None:
            columns = self._space.columns(X)
            found = [weight * np.asarray(columns[name], dtype=np.float64) for name, weight in self._weights.items()]
            return np.asarray(self._constant + np.sum(found, axis=0) + np.zeros(len(X)))
        return np.array([self._called(x) for x in X])

    def _called(self, x: Array) -> float:
        params = x.copy() if self._space is None else self._space.decode(x)
        name = getattr(self._given, "__name__", type(self._given).__name__)
        try:
            found = self._given(params)
        except Exception as problem:  # whatever a user's function raises
            raise BadInput(
                f"`prefer`: the function {name} must return a cost; it raised {type(problem).__name__}: {problem!s:.120} for "
                f"{params!r:.200}."
            ) from problem
        found = found.item() if isinstance(found, np.generic) else found
        if not is_number(found) or not np.isfinite(found):
            raise BadInput(
                f"`prefer`: the function {name} must return a finite number; it returned {found!r:.80} for {params!r:.200}."
            )
        return float(found)

    def at(self, U: Array) -> Array:
        """The costs (m,) of points (m, d) of the unit cube; sums of numbers are linear between the values of these."""
        if self.kind == "distance":
            return np.asarray(np.sqrt(((U - self._centre) ** 2).sum(axis=1)))
        if self._function is None and self._linear is not None:
            constant, slopes, logs = self._linear
            found = constant + U @ slopes
            for column, weight, low, high in logs:
                found = found + weight * np.exp(low + U[:, column] * (high - low))
            return np.asarray(found)
        return self.costs(self._domain.from_unit(U))

    @cached_property
    def _linear(self) -> tuple[float, Array, list[tuple[int, float, float, float]]] | None:
        """The sum in the unit cube: its constant, its slopes, and the terms of numbers on a log scale. None for a table."""
        space = self._space
        if space is None or space.rows is not None:
            return None
        constant, slopes, logs, start = self._constant, np.zeros(self._domain.dimension), [], 0
        for name, each in space.parameters.items():
            weight, width = self._weights.get(name, 0.0), 0 if each.constant else len(each.bounds)
            if isinstance(each, Categorical) or each.constant:
                value = each.choices[0] if isinstance(each, Categorical) else each.low
                constant += weight * float(value) if weight else 0.0
            elif isinstance(each, Number) and each.log:
                ((low, high),) = each.bounds
                logs.append((start, weight, low, high))
            else:
                constant += weight * each.low
                slopes[start] = weight * (each.high - each.low)
            start += width
        return constant, slopes, [term for term in logs if term[1]]

    def with_gradient(self, U: Array) -> tuple[Array, Array]:
        """The costs (m,) of points (m, d) of the unit cube and their derivatives (m, d), by difference quotients."""
        m, d = U.shape
        here = np.where(U < 0.5, STEP, -STEP)  # a step into the cube
        moved = np.repeat(U, d, axis=0)
        rows = np.arange(m * d)
        moved[rows, np.tile(np.arange(d), m)] += here.ravel()
        costs = self.at(np.vstack([U, moved]))
        return costs[:m], (costs[m:].reshape(m, d) - costs[:m, None]) / here

    @cached_property
    def lowest(self) -> float:
        """About the lowest cost in the domain, good or not."""
        rng, domain = default_rng(0), self._domain
        U = domain.candidates(SPREAD, rng)
        costs = self.at(U)
        radius = 0.25
        for _ in range(ROUNDS):
            best = U[np.argsort(costs, kind="stable")[:8]]
            near = np.repeat(best, NEAR // len(best), axis=0)
            near = domain.snap(np.clip(near + radius * rng.standard_normal(near.shape), 0.0, 1.0))
            U = np.vstack([best, near])
            costs = self.at(U)
            radius *= 0.5
        return float(costs.min())


def stored_preference(given: Any) -> Any:
    """A preference as JSON has it; of a function only its name."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Forgotten):
        return {"function": given.name}
    if callable(given):
        return {"function": getattr(given, "__name__", type(given).__name__)}
    return {"centre": dict(given) if isinstance(given, Mapping) else np.asarray(given).tolist()}


def restored_preference(stored: Any) -> Any:
    """What `stored_preference` wrote."""
    if isinstance(stored, Mapping):
        return Forgotten(stored["function"]) if "function" in stored else stored["centre"]
    return stored
