"""`FixedModel`: a known kernel."""

from dataclasses import dataclass

import numpy as np

from satisfice.domain.finite import Finite
from satisfice.errors import BadInput
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Kernel
from satisfice.gp.models.base import Dataset, Fit
from satisfice.gp.posterior import Posterior
from satisfice.gp.scaling import OutputScaler


@dataclass(frozen=True)
class FixedModel:
    """A known kernel and lambda in your own units: nothing is learned or standardised (paper, section 2).

    Parameters
    ----------
    kernel
        The kernel, such as `Stationary("se", [0.2])`; length-scales are in units of the unit cube.
    lam
        lambda, the variance of the noise.

    Raises
    ------
    BadInput
        If one of them cannot be used.
    """

    kernel: Kernel
    lam: float

    def __post_init__(self) -> None:
        if not callable(getattr(self.kernel, "cross", None)):
            raise BadInput(
                f"`kernel` of a FixedModel must be a kernel, such as Stationary('se', [0.2]); got {self.kernel!r}."
            )
        if not (np.isfinite(self.lam) and self.lam >= 0):
            raise BadInput(f"`lam` of a FixedModel must be a variance, 0 or more; got {self.lam!r}.")

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The posterior, extended by the new observations one by one; on a finite domain it covers all points."""
        posterior = previous.posteriors[0] if previous is not None else self._prior(seen)
        n, done = len(seen.y), len(posterior.y)
        for u, value in zip(seen.U[done:], seen.y[done:], strict=True):
            posterior = posterior.extend(u, float(value))
        return Fit(n, 0, OutputScaler(), (posterior,), np.ones(1), np.arange(n))

    @property
    def starting_points(self) -> int:
        """0: the prior is known."""
        return 0

    def is_mixture(self, dimension: int) -> bool:
        """False: there is one kernel."""
        return False

    def _prior(self, seen: Dataset) -> Posterior:
        nothing, d = seen.first(0), seen.domain.dimension
        if (scales := np.size(getattr(self.kernel, "lengthscale", 0.0))) not in (1, d):
            raise BadInput(
                f"The kernel of a FixedModel must have one length-scale, or one for each of the {d} coordinates; got {scales}."
            )
        if isinstance(seen.domain, Finite):
            return GridPosterior.on(seen.domain.U, self.kernel, self.lam, nothing.U, nothing.y)
        return Posterior.given(self.kernel, self.lam, nothing.U, nothing.y)
