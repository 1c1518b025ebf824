"""The models that a search knows by name."""

from collections.abc import Callable
from dataclasses import dataclass

from satisfice.gp.models.base import Dataset, Fit, Model
from satisfice.gp.models.mixture import OFTEN, KernelMixture, every_third, has_grown
from satisfice.gp.priors import auto_families, exact_families, paper_families


@dataclass(frozen=True)
class EitherModel:
    """One model for exact values, another for noisy ones.

    Parameters
    ----------
    exact
        The model for exact values.
    noisy
        The model for noisy values.
    starting_points
        How many values the models need.
    """

    exact: Model
    noisy: Model
    starting_points: int = 3

    def is_mixture(self, dimension: int) -> bool:
        """Whether one of them is."""
        return self.exact.is_mixture(dimension) or self.noisy.is_mixture(dimension)

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit of the model that suits the noise."""
        return (self.exact if seen.noise == 0 else self.noisy).fit(seen, previous)


def auto_model() -> EitherModel:
    """The default: a mixture of kernels weighted by evidence; without noise it has more kernels and warps the values.

    Noisy values are not warped: warping would compress the lower half of the noise and bias the means upwards.
    """
    exact = KernelMixture(exact_families, has_grown, warps=True, integrates=True, tolerance=1e-3)
    return EitherModel(exact, KernelMixture(auto_families, has_grown))


def paper_model() -> KernelMixture:
    """The model of the paper's experiments (section 5.2)."""
    return KernelMixture(paper_families, every_third, chain=OFTEN)


MODELS: dict[str, Callable[[], Model]] = {"auto": auto_model, "paper": paper_model}
