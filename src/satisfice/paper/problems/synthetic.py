"""Synthetic functions, all to be maximised, each on points X (n, d) in the user's units.

Their formulas, with the sign changed where the source minimises, are those of S. Surjanovic and D. Bingham, Virtual
Library of Simulation Experiments (https://www.sfu.ca/~ssurjano), but for Alpine and Keane: see there.
"""

import numpy as np

from satisfice.domain.box import Box
from satisfice.paper.problems.problem import Problem
from satisfice.types import Array

_KEANE_PEAK = 1.3932490753255885  # the root of tan x = 4 x in (1, pi/2): there sin(x)^4 / x is largest

_HARTMANN_HEIGHT = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_STEEP = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
_HARTMANN_CENTRE = np.array(
    [[0.3689, 0.1170, 0.2673], [0.4699, 0.4387, 0.7470], [0.1091, 0.8732, 0.5547], [0.0381, 0.5743, 0.8828]]
)

_DROPWAVE_CORNER = np.array([-5.12, 5.12])


def eggholder(X: Array) -> Array:
    """(y + 47) sin sqrt|x / 2 + y + 47| + x sin sqrt|x - y - 47|: the Eggholder function, negated."""
    x, y = X[:, 0], X[:, 1] + 47
    return y * np.sin(np.sqrt(np.abs(x / 2 + y))) + x * np.sin(np.sqrt(np.abs(x - y)))


def alpine(X: Array) -> Array:
    """-sum_i |x_i sin x_i + 0.1 x_i|: the first Alpine function, negated (Jamil and Yang 2013, no. 6).

    On [0, 10] it is 0 wherever every x_i is 0 or has sin x_i = -0.1: 4^d maximisers.
    """
    return -np.abs(X * np.sin(X) + 0.1 * X).sum(axis=1)


def _bumps(X: Array, squares: Array) -> Array:
    """1.5 (cos^2 x - cos^2 y)^2 / sqrt(squares), and 0 where squares = 0."""
    top = 1.5 * (np.cos(X[:, 0]) ** 2 - np.cos(X[:, 1]) ** 2) ** 2
    return np.divide(top, np.sqrt(squares), out=np.zeros(len(X)), where=squares > 0)


def keane(X: Array) -> Array:
    """1.5 (cos^2 x - cos^2 y)^2 / sqrt(x^2 + y^2), 0 at the origin: Keane's bump function without its constraints.

    On the axes it is 1.5 sin(x)^4 / |x|, and the two coordinates may be swapped: there are four equal maxima, as the
    paper's text says (appendix C).
    """
    return _bumps(X, X[:, 0] ** 2 + X[:, 1] ** 2)


def keane_published(X: Array) -> Array:
    """1.5 (cos^2 x - cos^2 y)^2 / sqrt(x^2 + 1.5 y^2): Keane's function in the authors' code.

    It has two maxima, on the axis y = 0; those on x = 0 are lower by the factor sqrt(2/3).
    """
    return _bumps(X, X[:, 0] ** 2 + 1.5 * X[:, 1] ** 2)


def ackley(X: Array) -> Array:
    """20 exp(-0.2 sqrt(mean_i x_i^2)) + exp(mean_i cos 2 pi x_i) - 20 - e: the Ackley function, negated."""
    cone = 20 * np.exp(-0.2 * np.sqrt((X**2).mean(axis=1)))
    waves = np.exp(np.cos(2 * np.pi * X).mean(axis=1))
    return cone + waves - 20 - np.e


def dropwave(X: Array) -> Array:
    """(1 + cos(12 r)) / (r^2 / 2 + 2) with r = |x|: the Drop-wave function, negated."""
    r2 = (X**2).sum(axis=1)
    return (1 + np.cos(12 * np.sqrt(r2))) / (0.5 * r2 + 2)


def dropwave_shifted(X: Array) -> Array:
    """dropwave(x - c) with c = (-5.12, 5.12), a corner of its domain (the paper's appendix C)."""
    return dropwave(X - _DROPWAVE_CORNER)


def hartmann3(X: Array) -> Array:
    """sum_i a_i exp(-sum_j A_ij (x_j - P_ij)^2): the Hartmann function in three dimensions, negated."""
    squares = (X[:, None, :] - _HARTMANN_CENTRE) ** 2
    return np.exp(-(squares * _HARTMANN_STEEP).sum(axis=2)) @ _HARTMANN_HEIGHT


def _cube(low: float, high: float, dimension: int) -> Box:
    return Box([(low, high)] * dimension)


_KEANE_MAXIMUM = float(keane(np.array([[_KEANE_PEAK, 0.0]]))[0])
_HARTMANN_MAXIMUM = 3.8627797873326624

SYNTHETIC = (
    Problem(
        "eggholder",
        _cube(-512, 512, 2),
        eggholder,
        maximum=959.6406627208507,
        maximisers=((512.0, 404.2318051201336),),
        xis=(1 / 100,),
    ),
    Problem("alpine", _cube(0, 10, 6), alpine, maximum=0.0, maximisers=((0.0,) * 6,), xis=(1 / 100,)),
    Problem(
        "keane",
        _cube(-4, 4, 2),
        keane,
        maximum=_KEANE_MAXIMUM,
        maximisers=((_KEANE_PEAK, 0.0), (-_KEANE_PEAK, 0.0), (0.0, _KEANE_PEAK), (0.0, -_KEANE_PEAK)),
        xis=(1 / 100,),
    ),
    Problem(
        "keane-published",
        _cube(-4, 4, 2),
        keane_published,
        maximum=_KEANE_MAXIMUM,
        maximisers=((_KEANE_PEAK, 0.0), (-_KEANE_PEAK, 0.0)),
        etas=(0.85,),
    ),
    Problem(
        "ackley",
        _cube(-32.768, 32.768, 6),
        ackley,
        maximum=0.0,
        maximisers=((0.0,) * 6,),
        xis=(1 / 100, 1 / 400, 1 / 50),
    ),
    Problem("dropwave", _cube(-5.12, 5.12, 2), dropwave, maximum=1.0, maximisers=((0.0, 0.0),), xis=(1 / 100,)),
    Problem(
        "dropwave-shifted",
        _cube(-5.12, 5.12, 2),
        dropwave_shifted,
        maximum=1.0,
        maximisers=((-5.12, 5.12),),
        xis=(1 / 100,),
    ),
    Problem(
        "hartmann3",
        _cube(0, 1, 3),
        hartmann3,
        maximum=_HARTMANN_MAXIMUM,
        maximisers=((0.11458888, 0.55564889, 0.85254699),),
        etas=(_HARTMANN_MAXIMUM + 0.1, _HARTMANN_MAXIMUM + 0.5),
    ),
)
