"""What goes into a model and what comes out: observations -> weighted posteriors."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from satisfice.domain.box import Domain
from satisfice.gp.evidence import Learned
from satisfice.gp.kernels import Kernel
from satisfice.gp.posterior import Posterior
from satisfice.gp.scaling import OutputScaler
from satisfice.types import Array

Indices = npt.NDArray[np.intp]
Hyperparameters = tuple[Learned[Kernel], ...]  # of each kernel of a model


@dataclass(frozen=True)
class Dataset:
    """What has been seen, to be maximised: points U (n, d) of the unit cube, values y (n,), and what is known of them."""

    domain: Domain
    U: Array
    y: Array
    target: float
    noise: float | None  # the standard deviation of the noise; None: to be learned
    seed: int

    def first(self, n: int) -> "Dataset":
        """The first n of them."""
        return replace(self, U=self.U[:n], y=self.y[:n])


class Note(NamedTuple):
    """Something about a fit that a user may want to know; `serious` is worth a warning, once for each kind."""

    kind: str
    text: str
    serious: bool


@dataclass(frozen=True)
class Fit:
    """The posteriors after n observations, in the model's units; the weights sum to one."""

    n: int
    learned_at: int  # the number of observations at which hyperparameters were learned last
    scaler: OutputScaler
    posteriors: tuple[Posterior, ...]
    weights: Array
    kept: Indices = field(repr=False)  # which observations the posteriors hold
    learned: Hyperparameters = field(default=(), repr=False)  # for the next fit to start from
    notes: tuple[Note, ...] = ()
    origin: tuple[int, Hyperparameters] = field(
        default=(0, ()), repr=False
    )  # an earlier learning to start from, its count first

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
        """How many values it wants before it has a say."""

    def is_mixture(self, dimension: int) -> bool:
        """Whether its beliefs are mixtures of several posteriors."""

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit to the observations; `previous` is a fit to the first few of the same observations, or None."""
