"""The price of learning the kernel: the default beside `pg` with the true kernel, on draws from Gaussian processes.

    .venv/bin/python bench/price_of_learning.py [--draws 80 --jobs 2]

The kernels are SE, Matérn-5/2, Matérn-5/2 with ARD and additive Matérn-5/2, each in 2, 4 and 8 dimensions. One uniform point in a
thousand reaches the target. Both searches start from the same three random points, with a budget of 200. Resumable: new runs are added to
the kept records. They go to out/records/price.jsonl and, packed, to docs/records. Prints the table; bench/write_tables.py writes it into
the docs.
"""

import argparse
from pathlib import Path

import numpy as np
from bootstrap import interval, ratio
from numpy.random import default_rng

from satisfice import Box, Search
from satisfice.gp.kernels import Additive, Kernel, Stationary
from satisfice.gp.models import FixedModel
from satisfice.gp.paths import draw_path
from satisfice.gp.posterior import Posterior
from satisfice.paper.experiments.records import Record, pack, resume
from satisfice.paper.experiments.run import Task, run_tasks

ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "price.jsonl", ROOT / "docs" / "records" / "price.jsonl.xz"
BUDGET, FEATURES, SHARE = 200, 2000, 1e-3
DIMENSIONS = (2, 4, 8)


def kernel(name: str, dimension: int) -> Kernel:
    """The kernel that functions are drawn from. Length-scales grow with the dimension, as distances do."""
    length = 0.2 * np.sqrt(dimension)
    if name == "additive":
        return Additive("matern52", np.array([0.2]))
    if name == "ard":
        return Stationary("matern52", length * np.geomspace(0.5, 4.0, dimension))
    return Stationary(name, np.array([length]))


KERNELS = ("se", "matern52", "ard", "additive")


def run_price(name: str, dimension: int, seed: int) -> Record:
    """The record of one draw: the evaluations that each search needs."""
    rng = default_rng([2026, KERNELS.index(name), dimension, seed])
    true = kernel(name, dimension)
    function = draw_path(Posterior.given(true, 1e-6, np.empty((0, dimension)), np.empty(0)), rng, FEATURES)
    target = float(np.quantile(function(rng.random((20_000, dimension))), 1 - SHARE))
    starts = rng.random((3, dimension))
    domain = Box([(0.0, 1.0)] * dimension)
    known = Search(domain, target, "pg", model=FixedModel(true, 1e-6), noise=0, confirm=False, seed=seed)
    default = Search(domain, target, noise=0, confirm=False, seed=seed)
    spent = {}
    for who, search in (("known", known), ("default", default)):
        count, best = 0, -np.inf
        while best < target and count < BUDGET:
            x = starts[count] if count < len(starts) else search.ask()
            value = float(function(x[None])[0])
            search.tell(x, value)
            count, best = count + 1, max(best, value)
        spent[who] = count
    return {"key": f"{name}/{dimension}/{seed}", "kernel": name, "dimension": dimension, **spent}


def table(records: list[Record]) -> str:
    """A row for each kernel and dimension: the mean evaluations of both, and their ratio with a 95 % interval over draws."""
    rng = default_rng(0)
    lines = [
        "| kernel | dimension | draws | pg with the true kernel | default | ratio (95 % interval) |",
        "|---|---|---|---|---|---|",
    ]
    ratios, samples = [], []
    for name in KERNELS:
        for d in DIMENSIONS:
            mine = [(r["default"], r["known"]) for r in records if r["kernel"] == name and r["dimension"] == d]
            if mine:
                pairs = np.array(mine, dtype=float)
                ours, known = pairs.mean(axis=0)
                figure, draws = ratio(pairs, rng)
                low, high = interval(draws)
                ratios.append(figure)
                samples.append(draws)
                lines.append(
                    f"| {name} | {d} | {len(mine)} | {known:.1f} | {ours:.1f} | {figure:.2f} ({low:.2f} to {high:.2f}) |"
                )
    low, high = interval(np.exp(np.log(samples).mean(axis=0)))
    mean = np.exp(np.log(ratios).mean())
    return "\n".join([*lines, f"\nGeometric mean of the ratios: {mean:.2f} ({low:.2f} to {high:.2f})."])


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=80)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    every = [(name, d, s) for s in range(given.draws) for name in KERNELS for d in DIMENSIONS]
    tasks = [Task("/".join(map(str, each)), run_price, each) for each in every]
    resume(KEPT, PATH)
    records = run_tasks(tasks, PATH, jobs=given.jobs, title="price")
    pack(PATH, KEPT)
    print(table(list(records)))


if __name__ == "__main__":
    main()
