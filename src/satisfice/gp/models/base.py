"""What goes into a model and what comes out: `Dataset` -> `Fit`."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from satisfice.gp.evidence import Learned
from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Posterior
from satisfice.gp.scaling import OutputScaler
from satisfice.types import Array, Domain

Indices = npt.NDArray[np.intp]
Hyperparameters = tuple[Learned[Kernel], ...]  # of each kernel of a model


@dataclass(frozen=True)
class Dataset:
    """Observations to be maximised.

    Parameters
    ----------
    domain
        Where the points lie.
    U
        The points (n, d) in the unit cube.
    y
        The values (n,).
    target
        The value to reach.
    noise
        The standard deviation of the noise; None: learn it.
    seed
        The seed of all random numbers.
    """

    domain: Domain
    U: Array
    y: Array
    target: float
    noise: float | None
    seed: int

    def first(self, n: int) -> "Dataset":
        """The first n observations."""
        return replace(self, U=self.U[:n], y=self.y[:n])


class Note(NamedTuple):
    """A remark about a fit; a `serious` one is worth a warning, once for each kind."""

    kind: str
    text: str
    serious: bool


@dataclass(frozen=True)
class Fit:
    """The posteriors after n observations, in the model's units.

    Parameters
    ----------
    n
        The number of observations.
    learned_at
        The number of observations when hyperparameters were last learned.
    scaler
        What turns values into the model's units.
    posteriors, weights
        The mixture; the weights sum to one.
    kept
        The indices of the observations that the posteriors contain.
    learned
        The hyperparameters, from which the next fit starts.
    notes
        Remarks for the user.
    origin
        An earlier learning to start from: its number of observations and its hyperparameters.
    """

    n: int
    learned_at: int
    scaler: OutputScaler
    posteriors: tuple[Posterior, ...]
    weights: Array
    kept: Indices = field(repr=False)
    learned: Hyperparameters = field(default=(), repr=False)
    notes: tuple[Note, ...] = ()
    origin: tuple[int, Hyperparameters] = field(default=(0, ()), repr=False)

    @property
    def members(self) -> tuple[tuple[float, Posterior], ...]:
        """The posteriors that matter, weight first: those of at least a hundredth of the largest weight."""
        live = self.weights >= 1e-2 * self.weights.max()
        shares = self.weights / self.weights[live].sum()
        return tuple((float(shares[k]), self.posteriors[k]) for k in np.flatnonzero(live))

    @property
    def means(self) -> Array:
        """The posterior mean at the kept observations (n,): y - lambda alpha, without a matrix product."""
        return np.asarray(sum(weight * (p.y - (p.lam + p.jitter) * p.alpha) for weight, p in self.members))


class Model(Protocol):
    """Turns observations into a fit; frozen."""

    @property
    def starting_points(self) -> int:
        """How many values the model needs."""

    def is_mixture(self, dimension: int) -> bool:
        """Whether its beliefs are mixtures of several posteriors."""

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit to the observations; `previous` is a fit to the first few of them, or None."""
