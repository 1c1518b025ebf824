"""Optuna's distributions and the parameters of a space, there and back."""

from collections.abc import Iterable
from contextlib import suppress

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial

from satisfice.domain.parameters import Categorical, Integer, Parameter
from satisfice.domain.shorthand import parameter_of
from satisfice.domain.space import Space
from satisfice.errors import BadInput


def distribution_of(parameter: Parameter) -> BaseDistribution:
    """The Optuna distribution of a parameter."""
    if isinstance(parameter, Categorical):
        return CategoricalDistribution(parameter.choices)
    kind = IntDistribution if isinstance(parameter, Integer) else FloatDistribution
    return kind(parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def distributions_of(space: Space) -> dict[str, BaseDistribution]:
    """The Optuna distributions of the parameters of a space, by their names."""
    return {name: distribution_of(parameter) for name, parameter in space.parameters.items()}


class LearnedSpace:
    """The space of a study whose parameters are only known from its trials."""

    def __init__(self) -> None:
        self._seen: dict[str, BaseDistribution] = {}
        self._parameters: dict[str, Parameter] = {}  # those that can be searched and never change their range

    def widen(self, trials: Iterable[FrozenTrial]) -> bool:
        """Whether the trials have parameters that are new, or ranges that contradict the known ones."""
        before = len(self._seen), len(self._parameters)
        for trial in trials:
            for name, distribution in trial.distributions.items():
                if distribution.single() or self._seen.get(name) == distribution:
                    continue
                if name in self._seen:
                    self._parameters.pop(name, None)
                    continue
                self._seen[name] = distribution
                with suppress(BadInput):
                    self._parameters.update(Space({name: parameter_of(name, distribution)}).parameters)
        return before != (len(self._seen), len(self._parameters))

    @property
    def space(self) -> Space | None:
        """The space of all parameters that can be searched, None if there are none."""
        return Space(self._parameters.copy()) if self._parameters else None
