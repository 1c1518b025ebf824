"""What a search knows of one point, and what its values say against what it was told."""

from dataclasses import dataclass, field

from satisfice.search.answer import RequirementAnswer
from satisfice.search.joint_observations import JointObservations
from satisfice.search.joint_surrogate import JointSurrogate
from satisfice.search.observations import Observations
from satisfice.search.specification import Specification
from satisfice.search.surrogate import Estimate, Surrogate

CONTRADICTED = (
    "noise=0 was stated, but replicates of one setting gave different values: leave noise out, or pass 'learn', to get a verdict "
    "that can be trusted"
)
PATIENCE = 4  # identical repeats that do not tell, after which an answer says how to do without
ROUNDED = 0.01  # a value of a table may differ by this share from what its setting gives: tables are rounded


@dataclass
class Judged:
    """What is known of one point, in the user's units: its value, interval and probability, or those of each requirement."""

    value: float | None = None
    interval: tuple[float, float] | None = None
    probability: float | None = None
    requirements: list[RequirementAnswer] = field(default_factory=list)


def judged_at(
    index: int,
    seen: Observations | JointObservations,
    surrogate: Surrogate | JointSurrogate,
    specification: Specification | None,
) -> Judged:
    """What is known of the point of an observation.

    Parameters
    ----------
    index
        The index of the observation.
    seen, surrogate
        The observations, and what the model makes of them.
    specification
        The requirements, None for a number.

    Returns
    -------
    Judged
        Of a number its value, of several requirements those of each, of a single one both.
    """
    if isinstance(surrogate, JointSurrogate):
        return _judged_jointly(index, surrogate)
    judged = _restored(surrogate, surrogate.estimate(index))
    if specification is not None:
        certificate = None if seen.certificate is None else seen.certificate[1]
        values = judged.value, judged.interval, judged.probability
        judged.requirements.append(RequirementAnswer(specification.requirements[0], *values, certificate, True))
    return judged


def _judged_jointly(index: int, surrogate: JointSurrogate) -> Judged:
    seen = surrogate.observations
    judged = Judged(probability=surrogate.probability_good(index))
    certified = seen.certificates
    critical = certified.critical if certified is not None else surrogate.critical(index)
    for k, (requirement, estimate) in enumerate(zip(seen.specification, surrogate.estimates(index), strict=True)):
        certificate = None if certified is None else certified.parts[k]
        found = Judged() if estimate is None else _restored(surrogate.parts[k], estimate)
        values = found.value, found.interval, found.probability
        judged.requirements.append(RequirementAnswer(requirement, *values, certificate, k == critical))
    return judged


def _restored(surrogate: Surrogate, estimate: Estimate) -> Judged:
    sign = surrogate.config.sign
    low, high = sorted((sign * estimate.low, sign * estimate.high))
    return Judged(sign * estimate.value, (low, high), estimate.probability)


def contradictions(seen: Observations | JointObservations) -> tuple[str, ...]:
    """What own values say against what was stated or told out of a table, and of repeats that do not tell."""
    if isinstance(seen, JointObservations):
        parts = zip(seen.specification.names, seen.parts, strict=True)
        return tuple(f"{name}: {text}" for name, part in parts for text in _contradictions(part))
    return _contradictions(seen)


def _contradictions(seen: Observations) -> tuple[str, ...]:
    config, sign = seen.config, seen.config.sign
    found = [CONTRADICTED] if config.noise == 0 and seen.replicates.exactness.noise_free is False else []
    if seen.deterministic is None and (repeats := seen.replicates.exactness).repeats > PATIENCE:
        found.append(f"{repeats}: if the objective is free of noise, pass noise=0")
    told = {index: seen.told(index) for index in seen.contradicted}
    wrong = {
        index: own
        for index, own in seen.contradicted.items()
        if abs(told[index] - own) > ROUNDED * max(abs(own), abs(told[index]))
        or (told[index] >= config.goal) != (own >= config.goal)
    }
    if wrong:
        index, value = next(iter(wrong.items()))
        found.append(
            f"values of the table that own evaluations contradict: {len(wrong)}; one is {sign * told[index]:.6g}, and "
            f"its setting gave {sign * value:.6g}. Only own evaluations count"
        )
    return tuple(found)
