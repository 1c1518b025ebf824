"""The models: of a known kernel, and those that learn, by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from satisfice.domain.finite import Finite
from satisfice.errors import BadInput
from satisfice.gp.fit import Dataset, Fit, Model
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Kernel
from satisfice.gp.mixture import OFTEN, KernelMixture, every_third, has_grown
from satisfice.gp.posterior import Posterior
from satisfice.gp.priors import auto_families, exact_families, paper_families
from satisfice.gp.scaling import OutputScaler


@dataclass(frozen=True)
class FixedModel:
    """A known kernel and lambda in the user's own units: nothing is learned, nothing standardised (paper, section 2)."""

    kernel: Kernel
    lam: float

    def __post_init__(self) -> None:
        if not callable(getattr(self.kernel, "cross", None)):
            raise BadInput(
                f"FixedModel: kernel = {self.kernel!r} came; a kernel was wanted, such as Stationary('se', [0.2])"
            )
        if not (np.isfinite(self.lam) and self.lam >= 0):
            raise BadInput(f"FixedModel: lam = {self.lam!r} came; a variance, 0 or more, was wanted")

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The posterior, extended by the new observations one by one; on a finite domain kept on all of its points."""
        posterior = previous.posteriors[0] if previous is not None else self._prior(seen)
        n, done = len(seen.y), len(posterior.y)
        for u, value in zip(seen.U[done:], seen.y[done:], strict=True):
            posterior = posterior.extend(u, float(value))
        return Fit(n, 0, OutputScaler(), (posterior,), np.ones(1), np.arange(n))

    @property
    def starting_points(self) -> int:
        """None: the prior is known."""
        return 0

    def is_mixture(self, dimension: int) -> bool:
        """It has one kernel."""
        return False

    def _prior(self, seen: Dataset) -> Posterior:
        nothing, d = seen.first(0), seen.domain.dimension
        if (scales := np.size(getattr(self.kernel, "lengthscale", 0.0))) not in (1, d):
            raise BadInput(f"FixedModel: {scales} length-scales came; one for all coordinates or {d} were wanted")
        if isinstance(seen.domain, Finite):
            return GridPosterior.on(seen.domain.U, self.kernel, self.lam, nothing.U, nothing.y)
        return Posterior.given(self.kernel, self.lam, nothing.U, nothing.y)


def paper_model() -> KernelMixture:
    """The model of the paper's experiments (section 5.2)."""
    return KernelMixture(paper_families, every_third, chain=OFTEN)


@dataclass(frozen=True)
class EitherModel:
    """One model for exact values, another for noisy ones."""

    exact: Model
    noisy: Model
    starting_points: int = 3

    def is_mixture(self, dimension: int) -> bool:
        """Whether one of them is."""
        return self.exact.is_mixture(dimension) or self.noisy.is_mixture(dimension)

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit of the one that is for such observations."""
        return (self.exact if seen.noise == 0 else self.noisy).fit(seen, previous)


def auto_model() -> EitherModel:
    """The default: a mixture of kernels weighted by evidence; without noise of more kernels, with warped values.

    Noise is not warped: its downward half would be drawn together, and the means come out too high.
    """
    exact = KernelMixture(exact_families, has_grown, warps=True, integrates=True, tolerance=1e-3)
    return EitherModel(exact, KernelMixture(auto_families, has_grown))


MODELS: dict[str, Callable[[], Model]] = {"auto": auto_model, "paper": paper_model}
