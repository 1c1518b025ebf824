"""How `gs` orders points, over random posteriors: beside the information of a value, and with the Gumbel law beside without it.

    .venv/bin/python bench/gs_order.py [--posteriors 200] [--runs 25] [--page]

Each posterior is that of a draw from the prior (SE or Matérn-5/2, one or two dimensions, length-scale 0.1 to 0.4) after 3 to 10 values
with various noise, on 40 uniform points. The target lies 0.1 to 1.5 prior standard deviations above the best value, and some point reaches
it with a probability between 0.05 and 0.95. What a value at x teaches is the reduction of the variance, summed over the 40 points. Then
rules search for one of the best 2 % of a 15 x 15 grid, without noise and with the true kernel (SE, length-scale 0.12).
"""

import argparse
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator, default_rng
from scipy.special import log_ndtr
from scipy.stats import spearmanr

from satisfice import Box, Search
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.gp.posterior import Posterior
from satisfice.rules import Rule
from satisfice.rules.lookahead import (
    NODES,
    GoodActionSearch,
    event_information,
    good_action_score,
    look_ahead,
    lookahead_score,
)
from satisfice.types import Array

POINTS = 40
DRAWS = 1000


@dataclass(frozen=True)
class Case:
    """A posterior, the points of its domain (40, d), and a target."""

    posterior: Posterior
    points: Array
    target: float


def random_case(rng: Generator) -> Case:
    """A random posterior, as described above."""
    d, n = int(rng.integers(1, 3)), int(rng.integers(3, 11))
    kernel = Stationary(str(rng.choice(["se", "matern52"])), np.array([rng.uniform(0.1, 0.4)]))
    lam = float(rng.choice([1e-6, 1e-4, 1e-2, 0.1]))
    points = rng.random((POINTS, d))
    seen = rng.choice(POINTS, n, replace=False)
    factor = np.linalg.cholesky(kernel(points, points) + 1e-8 * np.eye(POINTS))
    y = (factor @ rng.standard_normal(POINTS))[seen] + np.sqrt(lam) * rng.standard_normal(n)
    return Case(Posterior.given(kernel, lam, points[seen], y), points, float(y.max() + rng.uniform(0.1, 1.5)))


def taught(case: Case) -> Array:
    """The reduction of the variance by a value at each point, summed over all points (40,)."""
    posterior, points = case.posterior, case.points
    covariance = posterior.covariance(points, points)
    return np.asarray((covariance**2).sum(axis=1) / (np.diagonal(covariance) + posterior.lam))


def chances(case: Case, rng: Generator) -> tuple[float, float]:
    """P(max f >= target) over the points, by independent marginals and by joint draws."""
    mean, covariance = case.posterior.joint(case.points)
    std = np.sqrt(np.maximum(np.diagonal(covariance), 1e-12))
    alone = -np.expm1(log_ndtr((case.target - mean) / std).sum())
    factor = np.linalg.cholesky(covariance + 1e-9 * np.eye(POINTS))
    draws = mean + rng.standard_normal((20_000, POINTS)) @ factor.T
    return float(alone), float(np.mean(draws.max(axis=1) >= case.target))


def measured(seed: int) -> dict[str, float]:
    """For one random posterior: rank correlations between scores, and P(max f >= target) with and without independence."""
    rng, together = default_rng(seed), 0.0
    while not 0.05 <= together <= 0.95:
        case = random_case(rng)
        alone, together = chances(case, rng)
    ahead = look_ahead(case.posterior, case.points, case.points, case.target)
    gs = partial(good_action_score, ahead, case.target)
    joint = event_information(case.posterior, case.points, case.points, case.target, NODES, DRAWS, seed)

    def rank(a: Array, b: Array) -> float:
        return float(spearmanr(a, b).statistic)

    return {
        "gs with and without the Gumbel law": rank(gs(), gs(gumbel=False)),
        "gs (Gumbel) and what a value teaches": rank(gs(), taught(case)),
        "gs (product) and what a value teaches": rank(gs(gumbel=False), taught(case)),
        "gs-joint and what a value teaches": rank(joint, taught(case)),
        "lookahead and what a value teaches": rank(lookahead_score(ahead, case.target), taught(case)),
        "P(max f >= target) by independent marginals": alone,
        "P(max f >= target) by joint draws": together,
    }


def evaluations(rule: str | Rule, seed: int) -> int:
    """How many evaluations a rule needs to find one of the best 2 % of points of a draw from the prior."""
    grid, kernel = Box([(0.0, 1.0)] * 2).grid(15), Stationary("se", np.array([0.12]))
    spectrum, basis = np.linalg.eigh(kernel(grid.U, grid.U))
    values = basis @ (np.sqrt(np.maximum(spectrum, 0.0)) * default_rng([seed, 5]).standard_normal(len(spectrum)))
    search = Search(grid, float(np.quantile(values, 0.98)), rule, model=FixedModel(kernel, 1e-6), noise=0, seed=seed)
    count = 0
    while search.answer().verdict == "open":
        x = search.ask()
        search.tell(x, float(values[grid.nearest(grid.to_unit(x))[0]]))
        count += 1
    return count


RULES: dict[str, str | Rule] = {
    "random": "random",
    "gs (Gumbel)": "gs",
    "gs (product)": GoodActionSearch(gumbel=False),
    "gs-joint": "gs-joint",
    "lookahead": "lookahead",
    "pg": "pg",
}


def correlations(found: list[dict[str, float]]) -> str:
    """A table of quantiles over the posteriors."""
    lines = [
        f"| over {len(found)} random posteriors | least | 10 % | median | 90 % | below 0 |",
        "|---|---|---|---|---|---|",
    ]
    for name in found[0]:
        values = np.array([row[name] for row in found])
        shown = " | ".join(f"{value:.2f}" for value in np.quantile(values, [0, 0.1, 0.5, 0.9]))
        lines.append(f"| {name} | {shown} | {np.mean(values < 0):.0%} |")
    return "\n".join(lines)


def comparison(seeds: range) -> str:
    """A table of the mean evaluations of each rule."""
    lines = [f"| rule | evaluations until a good point, mean of {len(seeds)} runs | standard error |", "|---|---|---|"]
    for name, rule in RULES.items():
        counts = [evaluations(rule, seed) for seed in seeds]
        lines.append(f"| {name} | {np.mean(counts):.1f} | {np.std(counts, ddof=1) / np.sqrt(len(counts)):.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Print both tables or write them into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posteriors", type=int, default=200)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--page", action="store_true", help="write the tables into the docs")
    arguments = parser.parse_args()
    found = [measured(seed) for seed in range(arguments.posteriors)]
    tables = correlations(found) + "\n\n" + comparison(range(arguments.runs))
    if arguments.page:
        from write_tables import write  # needs more packages

        write("gs-order", tables)
    else:
        print(tables)


if __name__ == "__main__":
    main()
