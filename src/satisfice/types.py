"""The types that all parts of the library share, and the largest number."""

from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)
Noise = float | Literal["learn"] | None  # its standard deviation, or to be learned, or not known whether there is any
