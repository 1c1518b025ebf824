"""Test functions of rows (n, k), one column for each parameter in the user's units, to be maximised."""

from collections.abc import Callable

import numpy as np
from numpy.random import default_rng

from satisfice.types import Array

Rows = Callable[[Array], Array]


def moved(function: Rows, low: float, high: float, dimension: int, seed: int, *, turned: bool = False) -> Rows:
    """The function of R (x - s): s a fixed random shift of 10 to 30 % of the box's width, R a fixed random rotation or 1.

    An optimum at the centre would favour a library that starts there.
    """
    rng = default_rng([2023, seed])
    shift = (high - low) * rng.uniform(0.1, 0.3, dimension) * rng.choice([-1.0, 1.0], dimension)
    Q, R = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    rotation = Q * np.sign(np.diag(R)) if turned else np.eye(dimension)
    return lambda X: function((X - shift) @ rotation.T)


# From here to zakharov: S. Surjanovic and D. Bingham, Virtual Library of Simulation Experiments (https://www.sfu.ca/~ssurjano), with the
# sign changed where the source minimises.
_STEEP = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])  # fmt: skip
_CENTRE = 1e-4 * np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                           [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]])  # fmt: skip


def branin(X: Array) -> Array:
    """Smooth, three equal maxima of -0.397887."""
    x, y = X.T
    return -((y - 5.1 / (4 * np.pi**2) * x**2 + 5 / np.pi * x - 6) ** 2) - 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) - 10


def hartmann6(X: Array) -> Array:
    """Smooth, six local maxima, the highest 3.32237."""
    return np.exp(-(_STEEP * (X[:, None, :] - _CENTRE) ** 2).sum(axis=2)) @ np.array([1.0, 1.2, 3.0, 3.2])


def rastrigin(X: Array) -> Array:
    """Rugged and separable; 0 at the origin."""
    return -(X**2 - 10 * np.cos(2 * np.pi * X) + 10).sum(axis=1)


def rosenbrock(X: Array) -> Array:
    """A narrow curved ridge with values down to about -1e6; 0 at (1, ..., 1)."""
    return -(100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (X[:, :-1] - 1) ** 2).sum(axis=1)


def levy(X: Array) -> Array:
    """Waves on a bowl; 0 at the origin (which is at (1, ..., 1) in the source)."""
    w = 1 + X / 4
    inner = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(axis=1)
    return -(np.sin(np.pi * w[:, 0]) ** 2) - inner - (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)


def styblinski(X: Array) -> Array:
    """Additive, 2^d local maxima, the highest 39.166 d."""
    return -0.5 * (X**4 - 16 * X**2 + 5 * X).sum(axis=1)


def forrester(X: Array) -> Array:
    """One dimension, two local maxima, the values thousandths: the highest 0.00602074."""
    x = X[:, 0]
    return -1e-3 * (6 * x - 2) ** 2 * np.sin(12 * x - 4)


def michalewicz(X: Array) -> Array:
    """Additive, flat, with steep narrow ridges."""
    number = np.arange(1, X.shape[1] + 1)
    return (np.sin(X) * np.sin(number * X**2 / np.pi) ** 20).sum(axis=1)


def griewank(X: Array) -> Array:
    """A bowl with many small waves; 0 at the origin."""
    waves = np.cos(X / np.sqrt(np.arange(1, X.shape[1] + 1))).prod(axis=1)
    return waves - 1 - (X**2).sum(axis=1) / 4000


def schwefel(X: Array) -> Array:
    """Separable, the second best maximum far from the best, which is at 420.97 in each coordinate."""
    return (X * np.sin(np.sqrt(np.abs(X)))).sum(axis=1) - 418.9829 * X.shape[1]


def zakharov(X: Array) -> Array:
    """No local maxima, values down to about -1e9; 0 at the origin."""
    line = (0.5 * np.arange(1, X.shape[1] + 1) * X).sum(axis=1)
    return -((X**2).sum(axis=1)) - line**2 - line**4


def steps(X: Array) -> Array:
    """Plateaus: integer values only."""
    return -np.floor(1.5 * np.abs(X - np.array([2.2, 7.1, 5.9, 3.4]))).sum(axis=1)


def embedded(X: Array) -> Array:
    """Twenty dimensions of which four matter."""
    active = X[:, [2, 7, 11, 18]] - np.array([0.31, 0.72, 0.18, 0.55])
    return np.exp(-4 * (active**2).sum(axis=1)) + 0.1 * np.cos(9 * active[:, :2]).sum(axis=1)


def tail(X: Array) -> Array:
    """Three log scales and a heavy left tail: values down to about -1e6."""
    z = np.log10(X) - np.array([-2.6, 1.3, -4.1])
    return -np.exp(np.sqrt(2 * z[:, 0] ** 2 + z[:, 1] ** 2 + 4 * (z[:, 2] - 0.4 * z[:, 0]) ** 2)) + 0.3 * np.cos(
        4 * z[:, 1]
    )


def waves(X: Array) -> Array:
    """Smooth, many maxima: sixty random plane waves, nearly a draw from a Gaussian process."""
    rng = default_rng(2024)
    directions, phases = 5 * rng.standard_normal((3, 60)), rng.uniform(0, 2 * np.pi, 60)
    return np.cos(X @ directions + phases).sum(axis=1) / np.sqrt(30)


def network(X: Array) -> Array:
    """A synthetic tuning task: learning rate, layers, width, solver and normalisation, which interact."""
    rate, layers, width, solver, norm = np.log10(X[:, 0]), X[:, 1], np.log2(X[:, 2]), X[:, 3].astype(int), X[:, 4]
    best_rate, best_layers = np.array([-2.7, -1.4, -3.3])[solver] + 0.4 * norm, np.array([4, 6, 3])[solver]
    loss = 0.6 * (rate - best_rate) ** 2 + 0.08 * (layers - best_layers) ** 2 + 0.15 * (width - 3 - 0.7 * layers) ** 2
    return 0.95 - 0.1 * loss / (1 + 0.2 * loss) - np.array([0.0, 0.02, 0.05])[solver] - 0.03 * (norm == 0)


def recipe(X: Array) -> Array:
    """A synthetic recipe: two choices (of five and four) with an effect for each pair, two amounts, a time and a number of passes."""
    pair = default_rng(2025).normal(0, 1.5, (5, 4))[X[:, 0].astype(int), X[:, 1].astype(int)]
    a, b, time, passes = X[:, 2], X[:, 3], np.log(X[:, 4]), X[:, 5]
    shape = -((a - 0.3 - 0.1 * X[:, 1]) ** 2) * 12 - 4 * (b - a**2) ** 2 - 0.8 * (time - 3.1) ** 2
    return 50 + 10 * (pair + shape + 0.4 * np.cos(2 * passes) - 0.02 * passes)
