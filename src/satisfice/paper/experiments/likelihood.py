"""The model of `--as paper`: hyperparameters that maximise the likelihood over their whole range (section 5.2)."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.spatial.distance import cdist

from satisfice.gp.evidence import Learned, learn
from satisfice.gp.kernels import Kernel
from satisfice.gp.models import Dataset
from satisfice.gp.models.mixture import KernelMixture, every_third
from satisfice.gp.priors import KernelPrior, paper_families
from satisfice.types import Array

LENGTHS = np.append(1e-3, np.geomspace(0.01, 1.0, 11))  # where the likelihood is looked at before it is climbed
TOLERANCE = 1e-6


@dataclass(frozen=True)
class WrittenModel(KernelMixture):
    """The paper's model, its likelihood climbed by L-BFGS-B from every hill that a grid of length-scales shows.

    `KernelMixture` climbs from the last hyperparameters and few random ones. That is quick, but on six-dimensional problems one
    time in three it ends on a lower hill: the likelihood is flat where the length-scale is tiny, and what starts there stays
    there. Of equal likelihoods, as on that plateau, the longest length-scale of the grid is taken.
    """

    def _learn(
        self, families: tuple[KernelPrior, ...], learned: tuple[Learned[Kernel], ...], seen: Dataset, first: bool
    ) -> tuple[Learned[Kernel], ...]:
        scaler = self._scaler(seen)
        if scaler.constant or seen.noise is None:
            return super()._learn(families, learned, seen, first)
        (family,), lam, z = families, self._known_lam(seen), scaler.standardise(seen.y)
        starts = [
            learned[0].kernel.parameters,
            *hills(seen.U, z, lam, np.exp(family.prior.low[1]), np.exp(family.prior.high[1])),
        ]
        return (learn(family.kernel, lam, seen.U, z, family.prior.without_last(), starts, TOLERANCE),)


def hills(U: Array, z: Array, lam: float, smallest: float, largest: float) -> list[Array]:
    """The logs of length-scale and scale at each local maximum of the likelihood over `LENGTHS`.

    The scale is that of maximal likelihood between `smallest` and `largest`, lam being taken in units of its square, which is
    about 1.
    """
    squares, n = cdist(U, U, "sqeuclidean"), len(z)
    found = []
    for length in LENGTHS:
        R = np.exp(squares * (-0.5 / length**2))
        R.flat[:: n + 1] += lam
        L, info = lapack.dpotrf(R, lower=1, overwrite_a=1)
        if info:
            found.append((-np.inf, 1.0))
            continue
        half = lapack.dtrtrs(L, z, lower=1)[0]
        explained = float(half @ half)
        scale = float(np.clip(np.sqrt(explained / n), smallest, largest))
        found.append((-0.5 * explained / scale**2 - n * np.log(scale) - np.log(np.diagonal(L)).sum(), scale))
    heights = np.array([-np.inf, *(height for height, _ in found), -np.inf])
    tops = np.flatnonzero((heights[1:-1] >= heights[:-2]) & (heights[1:-1] > heights[2:]))
    return [np.log([LENGTHS[k], found[k][1]]) for k in tops]


def written_model() -> WrittenModel:
    """The model that the text describes."""
    return WrittenModel(paper_families, every_third)
