"""The time of one suggestion by each rule, also as a multiple of `pg`: on a box in 4 dimensions after 100 values, on one thread.

    .venv/bin/python bench/rule_time.py [--n 100] [--repeats 7]

Excludes the learning of hyperparameters, which is the same for every rule. The figure is the median of the repeats.
"""

import argparse
import os
from statistics import median
from time import process_time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from satisfice import Box, Search
from satisfice.rules import RULES, requirements_of


def seconds(rule: str, model: str, n: int, repeats: int) -> float:
    """CPU seconds for one suggestion, after one that is not counted."""
    rng = np.random.default_rng(0)
    search = Search(Box([(0.0, 1.0)] * 4), 1.5, rule, model=model, noise=0)
    for x in rng.random((n, 4)):
        search.tell(x, float(np.sin(4 * x[0]) + x[1] * x[2] - (x[3] - 0.3) ** 2))
    search.ask()
    times = []
    for _ in range(repeats):  # new pending points call for a new suggestion, from the same fit
        pending = rng.random((1, 4))
        start = process_time()
        search.ask(pending)
        times.append(process_time() - start)
    return median(times)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    print(f"{'rule':<12}" + "".join(f"{model + ' (ms)':>14}{'x pg':>8}" for model in ("paper", "auto")))
    floor = {model: seconds("pg", model, arguments.n, arguments.repeats) for model in ("paper", "auto")}
    for rule in RULES:
        needs = requirements_of(RULES[rule]())
        if needs.finite:
            continue
        row = f"{rule:<12}"
        for model in ("paper", "auto"):
            if needs.single and model == "auto":
                continue
            taken = seconds(rule, model, arguments.n, arguments.repeats)
            row += f"{1e3 * taken:14.2f}{taken / floor[model]:8.1f}"
        print(row)


if __name__ == "__main__":
    main()
