"""What the model says around the recommended setting, as numbers for the plots."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import ndtri

from satisfice.certificates.eprocess import level, lower_bound
from satisfice.domain.parameters import Categorical, Parameter
from satisfice.errors import NumericalFailure
from satisfice.report.plots import Slice
from satisfice.report.scales import Scale, scale_of
from satisfice.search.observations import Observations
from satisfice.study.snapshot import StudySnapshot
from satisfice.types import Array

FINE = 61  # points along a slice
CELLS = 26  # cells along each side of a map


def setting(snapshot: StudySnapshot) -> dict[str, Any] | None:
    """Return the recommended setting, or None if the model cannot be asked around it: in a table, or with other parameters."""
    params, names = snapshot.answer.params, snapshot.space.parameters
    if params is None or snapshot.space.rows is not None or not set(names) <= set(params):
        return None
    return {name: params[name] for name in names}


def scales(snapshot: StudySnapshot) -> dict[str, Scale]:
    """Return the scale of every parameter with more than one value."""
    return {name: scale_of(d) for name, d in snapshot.space.parameters.items() if not d.constant}


def slices(snapshot: StudySnapshot, chosen: Mapping[str, Any], most: int) -> dict[str, list[Slice]]:
    """Return the model along each parameter through the setting, for each requirement, those with the largest change first.

    Parameters
    ----------
    snapshot
        The study.
    chosen
        The setting.
    most
        The largest number of slices.

    Returns
    -------
    dict of lists of Slice
        The slices by the name of the requirement, "" for a number; none if a model is numerically singular.
    """
    z, search = float(ndtri(0.5 + 0.5 * snapshot.config.confidence)), snapshot.search
    cuts: dict[str, list[Slice]] = {}
    for name, scale in scales(snapshot).items():
        at = grid(snapshot.space.parameters[name], FINE)
        X = np.array([snapshot.space.encode({**chosen, name: value}) for value in at])
        try:
            found = {"": search.predict(X)} if search.specification is None else search.predict_each(X)
        except NumericalFailure:
            return {}
        for requirement, (mean, std) in found.items():
            cuts.setdefault(requirement, []).append(Slice(name, scale, at, mean, mean - z * std, mean + z * std))
    return {key: sorted(each, key=lambda cut: -cut.change)[:most] for key, each in cuts.items()}


def chances(
    snapshot: StudySnapshot, chosen: Mapping[str, Any], names: tuple[str, str]
) -> tuple[tuple[Array, Array], Array]:
    """Return a map over two parameters: the edges of its cells, as shares of the axes, and the probability of being good.

    Parameters
    ----------
    snapshot
        The study.
    chosen
        The setting.
    names
        The two parameters.

    Returns
    -------
    tuple[tuple[Array, Array], Array]
        The edges along both axes; the probabilities, a row for each cell of the second parameter.
    """
    across, up = (grid(snapshot.space.parameters[name], CELLS) for name in names)
    points = [snapshot.space.encode({**chosen, names[0]: a, names[1]: b}) for b in up for a in across]
    found = snapshot.search.probability_good(np.array(points)).reshape(len(up), len(across))
    return (_edges(snapshot, names[0], across), _edges(snapshot, names[1], up)), found


def _edges(snapshot: StudySnapshot, name: str, at: Sequence[Any]) -> Array:
    scale = scale_of(snapshot.space.parameters[name])
    return np.array([0.0, *((a + b) / 2 for a, b in pairwise(map(scale.place, at))), 1.0])


def grid(parameter: Parameter, count: int) -> list[Any]:
    """Return at most `count` allowed values of a parameter, from its low to its high end.

    Parameters
    ----------
    parameter
        The parameter.
    count
        The largest number of values.

    Returns
    -------
    list[Any]
        The values.
    """
    if isinstance(parameter, Categorical):
        return list(parameter.choices[:count])
    ((first, last),), share = parameter.bounds, np.linspace(0.0, 1.0, count)
    return list(dict.fromkeys(parameter.decode([z]) for z in ((1 - share) * first + share * last).tolist()))


def fresh_values(snapshot: StudySnapshot, part: Observations | None = None) -> list[float]:
    """Return the fresh values of the recommended setting, on which a certificate rests.

    Parameters
    ----------
    snapshot
        The study.
    part
        What was seen of one requirement, where there are several.

    Returns
    -------
    list[float]
        The values.
    """
    point, seen = snapshot.answer.point, part or snapshot.search.observations
    return [] if point is None or not isinstance(seen, Observations) else seen.fresh_values(point).tolist()


def certified(snapshot: StudySnapshot, values: Sequence[float], part: Observations | None = None) -> list[float]:
    """Return the bound that the first m fresh values certify, for m = 1, 2, ...; infinite where they certify nothing.

    Parameters
    ----------
    snapshot
        The study.
    values
        The fresh values.
    part
        What was seen of one requirement, where there are several.

    Returns
    -------
    list[float]
        The bounds, in the units of the values.
    """
    seen = part or snapshot.search.observations
    if not isinstance(seen, Observations):
        return []
    sign = seen.config.sign
    certificates = [snapshot.answer.certificate, *(each.certificate for each in snapshot.answer.requirements)]
    candidates = [each.candidates for each in certificates if each is not None and each.candidates]
    tested = candidates[0] if candidates else max(snapshot.search.observations.tested, 1)
    share = level(1 - snapshot.config.confidence, tested)
    told = sign * np.array(values)
    return [sign * lower_bound(seen.test, told[:m], share) for m in range(1, len(values) + 1)]
