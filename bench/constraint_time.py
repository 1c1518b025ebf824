"""Seconds of a search's steps with constraints, as multiples of those without.

    OPENBLAS_NUM_THREADS=1 python bench/constraint_time.py

Each search of a case asks and is told 40 values of one smooth function, out of reach of its target, with constraints and without, in turns;
the figure is the ratio of the CPU seconds of all its steps (tell, answer, ask), the median over runs; building the space is shown beside.
"""

import argparse
import statistics
import warnings
from time import process_time

from satisfice import Mixture, Search, Space

STEPS = 40


def reals(count: int) -> dict[str, tuple[float, float]]:
    """So many ranges of real numbers."""
    return {f"x{k}": (0.0, 1.0) for k in range(count)}


def corner(params: dict[str, float]) -> bool:
    """A cube that holds 1e-4 of the space."""
    return all(abs(value - 0.5) < 0.05 for value in params.values())


CASES = {
    "a linear one": (reals(4), ["x0 + x1 <= 1"]),
    "three linear ones": (reals(4), ["x0 + x1 <= 0.3", "x2 >= x3", "x0 + x3 >= 0.2"]),
    "a mixture of four": (reals(4), [Mixture(["x0", "x1", "x2", "x3"])]),
    "a mixture of six, limited": (reals(8), [Mixture([f"x{k}" for k in range(6)]), "x0 + x1 <= 0.3"]),
    "a function": (reals(4), [lambda p: p["x0"] ** 2 + p["x1"] ** 2 <= 0.5]),
    "a function that allows 1e-4": (reals(4), [corner]),
    "whole numbers": ({"a": (0, 60), "b": (0, 60), "c": (0, 60), "kind": ["u", "v"]}, ["a + b + c <= 60"]),
}


def asking(space: Space, rule: str, seed: int) -> float:
    """The CPU seconds of the steps of one search."""
    search = Search(space, 10.0, rule, noise=0, seed=seed, give_up=False)
    names = [name for name, each in space.parameters.items() if name != "kind"]
    ends = {name: space.parameters[name].high for name in names}  # type: ignore[union-attr]  # numbers
    spent = 0.0
    for _ in range(STEPS):
        start = process_time()
        params = search.ask()
        search.tell(params, -sum((params[name] / ends[name] - 0.1 * k) ** 2 for k, name in enumerate(names)))
        search.answer()
        spent += process_time() - start
    return spent


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What constraints cost when asking.")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rules", default="aspire,eg,sts")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    rules = options.rules.split(",")
    asking(Space.of(reals(2)), "aspire", 0)  # imports
    print(f"{'':<30}{'building, s':>12}" + "".join(f"{rule:>10}" for rule in rules))
    for name, (params, constraints) in CASES.items():
        start = process_time()
        limited = Space.of(params, constraints)
        built = process_time() - start
        cells = []
        for rule in rules:
            pairs = [
                (asking(limited, rule, seed), asking(Space.of(params), rule, seed)) for seed in range(options.runs)
            ]
            cells.append(statistics.median(a / b for a, b in pairs))
        print(f"{name:<30}{built:>12.2f}" + "".join(f"{cell:>10.2f}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
