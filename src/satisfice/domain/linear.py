"""Sums of parameters as texts, and linear constraints: they are parsed by hand, never evaluated as code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from satisfice.domain.parameters import Categorical, Parameter, is_number
from satisfice.errors import BadInput

ROUNDING = 1e-12  # a sum may exceed its bound by this share of its terms: 0.1 + 0.2 is more than 0.3
RELATION = re.compile(r"<=|>=|=<|=>|==|!=|<|>|=")
NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
EXAMPLE = "a linear constraint such as 'a + 2 b <= 1'"


@dataclass(frozen=True)
class Linear:
    """sum of weight * parameter <= bound.

    Parameters
    ----------
    text : str
        The constraint as it was written.
    weights : mapping of names to float
        The parameters that it is about.
    bound : float
        The largest value of the sum.
    """

    text: str
    weights: Mapping[str, float]
    bound: float

    def __str__(self) -> str:
        return repr(self.text)

    def holds(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
        """Whether it holds for each row of a table, up to the rounding of floats."""
        terms = [weight * np.asarray(columns[name], dtype=np.float64) for name, weight in self.weights.items()]
        size = np.sum(np.abs(terms), axis=0) + abs(self.bound)
        return np.asarray(np.sum(terms, axis=0) <= self.bound + ROUNDING * size)


def linear_constraints(text: str, parameters: Mapping[str, Parameter]) -> list[Linear]:
    """Read a text such as "a + 2 b <= 1": one constraint, or two of low <= sum <= high; BadInput if it is none."""
    relations = RELATION.findall(text)
    if any(relation in ("=", "==", "!=") for relation in relations):
        raise BadInput(
            f"`constraints`: {text!r} must be an inequality with <= or >=. For parts of a whole use Mixture; for any other "
            "equality leave one parameter out of the space and compute it from the others in the objective."
        )
    if len(relations) not in (1, 2) or any(len(relation) != 2 or relation[1] != "=" for relation in relations):
        raise BadInput(f"`constraints`: {text!r} must be {EXAMPLE}, with <= or >=.")
    if len(set(relations)) > 1:
        raise BadInput(f"`constraints`: {text!r} must have both of its relations in one direction.")
    sides = [linear_form(side, parameters, f"`constraints`: {text!r}") for side in RELATION.split(text)]
    found = []
    for (left, a), (right, b) in pairwise(sides):
        sign = 1.0 if relations[0] == "<=" else -1.0
        weights = {name: sign * (left.get(name, 0.0) - right.get(name, 0.0)) for name in {**left, **right}}
        weights = {name: weight for name, weight in weights.items() if weight != 0}
        if not weights:
            raise BadInput(f"`constraints`: {text!r} must depend on a parameter, of {list(parameters)}.")
        found.append(Linear(text, weights, sign * (b - a)))
    return found


def linear_form(text: str, parameters: Mapping[str, Parameter], what: str) -> tuple[dict[str, float], float]:
    """Read a sum such as "a + 2 b - 0.5": the weight of each parameter, and the constant.

    Parameters
    ----------
    text
        The sum. A term is a number, a parameter, a number times a parameter (the `*` may be left out), or one divided by a
        number.
    parameters
        The parameters of the space.
    what
        How an error begins.

    Returns
    -------
    tuple
        The weights by name, and the constant.

    Raises
    ------
    BadInput
        If it is no such sum. It is parsed, never evaluated.
    """
    tokens = _tokens(text, parameters, what)
    weights: dict[str, float] = {}
    constant, place = 0.0, 0
    if not tokens:
        raise BadInput(f"{what} must have a sum of parameters and numbers on each side.")
    while place < len(tokens):
        signs = 0
        while place < len(tokens) and tokens[place].kind in "+-":
            signs, place = signs + (tokens[place].kind == "-"), place + 1
        factor, name, before = (-1.0) ** signs, "", "*" if place or signs else "start"
        while place < len(tokens) and tokens[place].kind not in "+-":
            token = tokens[place]
            if token.kind in "*/" and before in ("number", "name"):
                before = token.kind
            elif token.kind == "number" and before == "/" and token.number != 0:
                factor, before = factor / token.number, "number"
            elif token.kind == "number" and before in ("*", "start"):
                factor, before = factor * token.number, "number"
            elif token.kind == "name" and not name and before in ("*", "start", "number"):
                name, before = token.name, "name"
            else:
                raise BadInput(
                    f"{what} must be a sum of terms such as 2 a, and may divide by numbers only, not by 0; cannot read "
                    f"{token.rest!r:.40}."
                )
            place += 1
        if before not in ("number", "name"):
            raise BadInput(f"{what} must be a sum of terms such as 2 a; it ends too early.")
        if not name:
            constant += factor
        elif isinstance(parameters[name], Categorical) and not _is_constant_number(parameters[name]):
            raise BadInput(
                f"{what} must be about numbers; {name!r} is a choice. Write a function of the parameters instead."
            )
        else:
            weights[name] = weights.get(name, 0.0) + factor
    if not np.isfinite([constant, *weights.values()]).all():
        raise BadInput(f"{what} must have finite numbers.")
    return weights, constant


class _Token(NamedTuple):
    """A piece of a sum, and the text from there on."""

    kind: str  # "number", "name", or one of + - * /
    rest: str
    number: float = 0.0
    name: str = ""


def _tokens(text: str, parameters: Mapping[str, Parameter], what: str) -> list[_Token]:
    names = sorted(parameters, key=len, reverse=True)  # the longest one that fits
    found, rest = list[_Token](), text.strip()
    while rest:
        number = NUMBER.match(rest)
        name = next((each for each in names if rest.startswith(each) and not _goes_on(rest, each)), None)
        if name is not None:
            found.append(_Token("name", rest, name=name))
            end = len(name)
        elif number:
            found.append(_Token("number", rest, number=float(number.group())))
            end = number.end()
        elif rest[0] in "+-*/":
            found.append(_Token(rest[0], rest))
            end = 1
        else:
            raise BadInput(
                f"{what} must be a sum of numbers and numeric parameters, of {list(parameters)}; cannot read {rest!r:.40}. "
                "Multiply out brackets; for anything else write a function of the parameters."
            )
        rest = rest[end:].lstrip()
    return found


def _is_constant_number(parameter: Parameter) -> bool:
    return isinstance(parameter, Categorical) and parameter.constant and is_number(parameter.choices[0])


def _goes_on(rest: str, name: str) -> bool:
    """Whether the text begins with a longer word than the name."""
    after = rest[len(name) : len(name) + 1]
    return bool(after) and (name[-1].isalnum() or name[-1] == "_") and (after.isalnum() or after == "_")
