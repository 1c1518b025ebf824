"""The lenient-regret experiment (figure 2) as the authors' published code ran it (github.com/caitree/GoodAction).

The candidates are a grid of [-3, 3]^2 read as unit-cube coordinates, so that nearly all lie outside the function's domain.
"""

from math import sqrt

import numpy as np
from numpy.random import Generator, default_rng

from satisfice.blas import one_blas_thread
from satisfice.errors import BadInput
from satisfice.gp.grid import GridPosterior
from satisfice.gp.kernels import Stationary
from satisfice.paper.experiments.published import standardised
from satisfice.paper.problems import PROBLEMS
from satisfice.paper.problems.draws import published_candidates
from satisfice.paper.regret import Curves, curves
from satisfice.rules.widths import sqrt_log_cubed
from satisfice.types import Array

KERNEL = Stationary("se", np.array([sqrt(0.05)]))  # exp(-d^2 / 0.1) in the coordinates u = (x + 3) / 6
LAM = 1e-6
STARTING_POINTS = 2
TARGET = 0.9
ALGORITHMS = ("ucb", "elimination")


def starting_points(rng: Generator) -> Array:
    """Two uniform points of [-3, 3]^2; the five runs of the published figure share them."""
    return rng.uniform(-3.0, 3.0, (STARTING_POINTS, 2))


def published_gp2d(algorithm: str, starts: Array, seed: int, rounds: int = 700) -> Curves:
    """The regrets after 1, ..., `rounds` steps (those at the starting points not counted) of `ucb` or `elimination`.

    Values are standardised at every step, and again without the repeated points, which the model never sees; the width
    sqrt(log(2n)^3) is that of the n values before the step. Regret counts from the maximum on the grid that was meant.
    """
    if algorithm not in ALGORITHMS:
        raise BadInput(f"`algorithm` must be 'ucb' or 'elimination'; got {algorithm!r}.")
    problem = PROBLEMS["gp2d-published"]
    rng = default_rng(seed)
    candidates = _candidates(starts)
    f = problem.values(6 * candidates - 3)
    alive = np.arange(len(candidates))
    chosen = list(range(len(candidates) - len(starts), len(candidates)))
    first = list(range(len(chosen)))  # which observations are not at a repeated point
    y = f[chosen] + problem.noise * rng.standard_normal(len(chosen))
    with one_blas_thread():
        model = GridPosterior.on(candidates, KERNEL, LAM, candidates[chosen], np.zeros(len(chosen)))
        for _ in range(rounds):
            width = sqrt_log_cubed(len(y))
            mean, std = _marginal(model, first, y)
            if algorithm == "ucb":
                new = int(np.argmax(mean + width * std))
            else:
                new = int(alive[rng.choice(np.flatnonzero(std[alive] == std[alive].max()))])
            if new not in chosen:
                model = model.extend(candidates[new], 0.0)
                first.append(len(chosen))
            chosen.append(new)
            y = np.append(y, f[new] + problem.noise * rng.standard_normal())
            if algorithm == "elimination":
                mean, std = (part[alive] for part in _marginal(model, first, y))
                alive = alive[mean + width * std >= (mean - width * std).max()]
    return curves(f[chosen[len(starts) :]], problem.maximum, problem.maximum - TARGET)


def _candidates(starts: Array) -> Array:
    """The grid in the coordinates u, the first one running fastest (a tie of `ucb` goes to the first point), then the starts."""
    grid = (published_candidates().X + 3) / 6
    order = np.lexsort((grid[:, 0], grid[:, 1]))
    return np.vstack([grid[order], (starts + 3) / 6])


def _marginal(model: GridPosterior, first: list[int], y: Array) -> tuple[Array, Array]:
    """Mean and std of a new value at every candidate."""
    values = standardised(standardised(y)[0][first])[0]
    half = model.with_values(values).half
    return half @ model.V, np.sqrt(np.maximum(1 + LAM - model.reduction, 0.0))
