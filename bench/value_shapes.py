"""Does the test that the search chooses hold for values of any shape? Candidates at the boundary, looked at after every value.

    .venv/bin/python bench/value_shapes.py [--runs 200 --values 300]     (seeded; prints two tables)

A study has other settings with a few values each, of the same kind of noise, and one candidate whose true mean is the target, or
a hair below. After every value of the candidate the test is chosen anew from all values of the study, and asked. "Chosen" is
what `certificates.shape.choose` gives, "Gaussian" the test without a look at the values. For Gaussian noise the candidate is truly
good, and the table says how many values it takes.
"""

import argparse
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import binomtest, norm

from satisfice.certificates.eprocess import LearnedNoise, level
from satisfice.certificates.shape import choose
from satisfice.types import Array

Draw = Callable[[Generator, float, int], Array]  # n values at a setting of a level; level 0 is the candidate
WANTED = -np.log(level(0.05, 1))


def bernoulli(p: float) -> tuple[Draw, float]:
    """Passes and fails; the other settings pass less often."""
    return lambda rng, at, n: (rng.random(n) < p * (1 - at)).astype(float), p


def two_values(p: float) -> tuple[Draw, float]:
    """The same as 40 and 100."""
    return lambda rng, at, n: 40.0 + 60.0 * (rng.random(n) < p * (1 - at)), 40 + 60 * p


def capped(scale: float) -> tuple[Draw, float]:
    """Exponential returns with cap 500; the other settings have a smaller scale."""
    mean = scale * (1 - np.exp(-500 / scale))
    return lambda rng, at, n: np.minimum(rng.exponential(scale * (1 - at), n), 500.0), mean


def mostly_capped(rng: Generator, at: float, n: int) -> Array:
    """Returns of 500 but for one in eight, which is anything."""
    return np.where(rng.random(n) < 0.125 + 0.8 * at, rng.uniform(20, 500, n), 500.0)


def rounded(sd: float) -> tuple[Draw, float]:
    """Gaussian values rounded to whole numbers, of mean 0.2 before."""
    k = np.arange(-40, 41)
    mean = float((k * (norm.cdf((k + 0.5 - 0.2) / sd) - norm.cdf((k - 0.5 - 0.2) / sd))).sum())
    return lambda rng, at, n: np.round(0.2 - 20 * at + sd * rng.standard_normal(n)), mean


def disasters(rate: float, size: float) -> tuple[Draw, float]:
    """Gaussian noise of sd 1, and a rare value that is worse by `size`."""

    def draw(rng: Generator, at: float, n: int) -> Array:
        return size * rate - 20 * at + rng.standard_normal(n) - size * (rng.random(n) < rate)

    return draw, 0.0


def shifted(noise: Callable[[Generator, int], Array]) -> tuple[Draw, float]:
    """Noise of mean 0 around levels that differ."""
    return lambda rng, at, n: -20 * at + noise(rng, n), 0.0


SHAPES: dict[str, tuple[Draw, float]] = {
    **{f"pass or fail, p = {p}": bernoulli(p) for p in (0.5, 0.9, 0.95, 0.97)},
    **{f"40 or 100, p = {p}": two_values(p) for p in (0.5, 0.9, 0.97)},
    **{f"capped exponential, scale {scale:g}": capped(scale) for scale in (500, 2000, 8000)},
    "capped but for one in eight": (mostly_capped, 0.875 * 500 + 0.125 * 260),
    **{f"rounded Gaussian, sd {sd:g} steps": rounded(sd) for sd in (0.3, 0.5, 1, 3)},
    "negative exponential": shifted(lambda rng, n: 1 - rng.exponential(size=n)),
    "negative lognormal": shifted(lambda rng, n: np.exp(0.5) - np.exp(rng.standard_normal(n))),
    **{f"disasters of 5 %, {size:g} sd": disasters(0.05, size) for size in (10, 30, 100)},
    "rarer: disasters of 1 %, 100 sd": disasters(0.01, 100),
    "Gaussian": shifted(lambda rng, n: rng.standard_normal(n)),
}
POOLS = {"10 to 30 settings of 2 to 5": (10, 30, 2, 5), "10 settings of 2": (10, 10, 2, 2), "none": (0, 0, 2, 2)}


def study(draw: Draw, rng: Generator, pool: tuple[int, int, int, int]) -> tuple[Array, Array]:
    """The values at the other settings, with the numbers of their settings."""
    count = int(rng.integers(pool[0], pool[1] + 1))
    sizes = rng.integers(pool[2], pool[3] + 1, count)
    parts = [draw(rng, float(rng.random()), int(size)) for size in sizes]
    return np.repeat(np.arange(1, count + 1), sizes), np.concatenate([*parts, np.empty(0)])


def certified_after(
    draw: Draw, target: float, rng: Generator, pool: tuple[int, int, int, int], most: int
) -> tuple[int | None, int | None, str]:
    """After how many values the chosen test and the Gaussian one certify the candidate, and the shape chosen then (or last)."""
    settings, others = study(draw, rng, pool)
    own = draw(rng, 0.0, most)
    chosen, gaussian, shape = None, None, ""
    for m in range(2, most + 1):
        if gaussian is None and LearnedNoise().log_evidence(own[:m], target) >= WANTED:
            gaussian = m
        if chosen is None:
            choice = choose(np.append(settings, np.zeros(m)), np.append(others, own[:m]), target)
            shape = choice.shape
            if choice.test is not None and choice.enough and choice.test.log_evidence(own[:m], target) >= WANTED:
                chosen = m
        if chosen is not None and gaussian is not None:
            break
    return chosen, gaussian, shape


def interval(hits: int, n: int) -> str:
    """A share with its 95 % interval (Clopper and Pearson)."""
    found = binomtest(hits, n).proportion_ci()
    return f"{hits / n:.1%} ({found.low:.1%} to {found.high:.1%})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--values", type=int, default=300)
    parser.add_argument("--pool", choices=POOLS, default=next(iter(POOLS)))
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    pool = POOLS[given.pool]
    print(f"False `good` at the boundary, other settings: {given.pool}\n")
    print("| values | chosen test | Gaussian test | shapes at the end |\n|---|---|---|---|")
    for number, (name, (draw, mean)) in enumerate(SHAPES.items()):
        if given.only not in name:
            continue
        found = [
            certified_after(draw, mean + 1e-9, default_rng([number, seed]), pool, given.values)
            for seed in range(given.runs)
        ]
        shapes = ", ".join(f"{shape} {count}" for shape, count in Counter(s for *_, s in found).most_common(3))
        false = [sum(x[k] is not None for x in found) for k in (0, 1)]
        print(
            f"| {name} | {interval(false[0], given.runs)} | {interval(false[1], given.runs)} | {shapes} |", flush=True
        )
    print(
        "\nValues that Gaussian noise needs\n\n| gap in sd | chosen test, mean | Gaussian test, mean | ratio |\n|---|---|---|---|"
    )
    for gap in (0.3, 0.5, 1.0, 2.0, 4.0) if given.only in "Gaussian" else ():
        found = [
            certified_after(SHAPES["Gaussian"][0], -gap, default_rng([99, seed]), pool, 4 * given.values)
            for seed in range(given.runs)
        ]
        means = [np.mean([x[k] or 4 * given.values for x in found]) for k in (0, 1)]
        print(f"| {gap:g} | {means[0]:.1f} | {means[1]:.1f} | {means[0] / means[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
