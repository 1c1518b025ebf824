"""Points spread over the unit cube: a Sobol net with a random digital shift."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from satisfice.types import Array

_BITS = 30


def shifted_net(n: int, dimension: int, rng: Generator) -> Array:
    """The first n points (n, d) of the net."""
    net = _net(dimension, max(n - 1, 1).bit_length())[:n]
    shifted = net ^ rng.integers(1 << _BITS, size=dimension, dtype=np.uint32)
    return np.asarray((shifted + 0.5) / (1 << _BITS))


@lru_cache(maxsize=16)
def _net(dimension: int, power: int) -> npt.NDArray[np.uint32]:
    """2^power points of a Sobol net with a fixed linear scrambling, as binary digits."""
    from scipy.stats import qmc  # takes longer to import than everything else together, so only when it is needed

    sobol = qmc.Sobol(dimension, scramble=True, bits=_BITS, rng=np.random.default_rng(0))
    return np.asarray(sobol.random_base2(power) * (1 << _BITS), dtype=np.uint32)
