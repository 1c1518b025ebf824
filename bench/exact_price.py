"""What it costs to take an objective for noise-free, and how often that is wrong. Nothing but `certificates/exactness.py` is run.

    .venv/bin/python bench/exact_price.py [--runs 700 --write]     (seeded; a minute)

Settings are evaluated by chance until one reaches the target; from there on `exactness` says what is repeated. "Paid" are the
evaluations from then on, which `noise=0` saves. On a domain of two or three settings all of them are evaluated first, as long
as one of them reaches the target. A false `good` is a setting taken to be noise-free whose true mean misses the target.

`least_false` is the rate of false ones if all repeats are of the setting that reaches the target and all must agree.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import norm

from satisfice.certificates.exactness import exactness

PAGE, START, END = Path(__file__).parent.parent / "docs/concepts/verdicts.md", "<!-- exact price -->", "<!-- end -->"
Level = Callable[[Generator], float]
Draw = Callable[[Generator, float], float]
Kind = tuple[Level, Draw, float, Callable[[float], float]]  # levels, values, target, true mean


def rounded_mean(f: float, sd: float) -> float:
    """The mean of a Gaussian value around f, rounded to a whole number."""
    k = np.arange(-30, 60)
    return float((k * (norm.cdf((k + 0.5 - f) / sd) - norm.cdf((k - 0.5 - f) / sd))).sum())


def capped_mean(scale: float) -> float:
    """The mean of an exponential value with cap 500."""
    return float(scale * -np.expm1(-500 / scale))


def of_median(scale: float, spread: float) -> Level:
    """Lognormal levels."""
    return lambda rng: scale * np.exp(spread * rng.standard_normal())


def rounding(sd: float, top: float = 10, target: float = 8) -> Kind:
    """Gaussian values rounded to whole numbers."""
    return (
        lambda rng: rng.uniform(0, top),
        lambda rng, f: float(np.round(f + sd * rng.standard_normal())),
        target,
        lambda f: rounded_mean(f, sd),
    )


def capped(rng: Generator, scale: float) -> float:
    """An exponential value with cap 500."""
    return min(rng.exponential(scale), 500.0)


def capped_count(rng: Generator, scale: float) -> float:
    """The same, rounded."""
    return float(min(round(rng.exponential(scale)), 500))


NOISY: dict[str, Kind] = {
    "capped": (of_median(400, 1.5), capped, 475, capped_mean),
    "capped counts": (of_median(400, 1.5), capped_count, 475, capped_mean),
    "mostly at the cap": (of_median(8000, 1.0), capped_count, 490, capped_mean),
    **{f"rounded, sd {sd} steps": rounding(sd) for sd in (0.3, 0.5, 1, 2)},
    **{f"rounded to the target, sd {sd} steps": rounding(sd, 3, 2.95) for sd in (0.05, 0.1, 0.15, 0.25, 0.35)},
}


def exact(step: float | None, top: float, target: float) -> Kind:
    """Noise-free values, floored to a step."""

    def value(f: float) -> float:
        return f if step is None else float(np.floor(f / step)) * step

    return lambda rng: rng.uniform(0, top), lambda rng, f: value(f), target, value


EXACT: dict[str, Kind] = {
    "floats": exact(None, 1, 0.9),
    "floats, easy": exact(None, 1, 0.1),
    "shares of 1000": exact(0.001, 1, 0.9),
    "shares of 32": exact(1 / 32, 1, 0.9),
    "counts to 100": exact(1, 100, 90),
    "counts to 500": exact(1, 500, 450),
    "grades to 10, good from 8": exact(1, 10, 8),
    "grades to 4, good from 3": exact(1, 4, 3),
}


def decided(kind: Kind, seed: int, size: int | None = None) -> tuple[bool | None, bool, int, int] | None:
    """One study: whether it was taken to be noise-free, whether its best setting is good, what that took, and settings seen.

    None where no value of a domain of that `size` reaches the target.
    """
    level, draw, target, mean = kind
    rng = default_rng(seed)
    levels: list[float] = []
    settings: list[int] = []
    values: list[float] = []

    def explore() -> None:
        levels.append(level(rng))
        settings.append(len(levels) - 1)
        values.append(draw(rng, levels[-1]))

    while len(levels) < size if size else not values or max(values) < target:
        explore()
    if max(values) < target:
        return None
    before = len(values)
    while len(values) < before + 100:
        found = exactness(settings, values, target=target, may_explore=size is None)
        if found.noise_free is not None:
            good = mean(levels[settings[int(np.argmax(values))]]) >= target - 1e-9
            return found.noise_free, good, len(values) - before, before
        if found.ask is None and size is None:
            explore()
        else:
            settings.append(int(np.argmax(values[:before])) if found.ask is None else settings[found.ask])
            values.append(draw(rng, levels[settings[-1]]))
    return None, True, len(values) - before, before


def least_false(kind: Kind, spent: int, size: int | None, runs: int = 4000) -> float:
    """The rate of false ones if all `spent` repeats are of the setting that reaches the target."""
    level, draw, target, mean = kind
    false = 0
    for seed in range(runs):
        rng = default_rng([seed, 1])
        value, at = -np.inf, 0.0
        for _ in range(size or 10_000):
            f = level(rng)
            if (new := draw(rng, f)) > value:
                value, at = new, f
            if size is None and value >= target:
                break
        if value >= target and mean(at) < target - 1e-9:
            false += all(draw(rng, at) == value for _ in range(spent))
    return false / runs


def paid(kind: Kind, size: int | None, runs: int) -> str:
    """The mean and the largest number of evaluations that `noise=0` saves."""
    spent = [x[2] for seed in range(runs) if (x := decided(kind, seed, size))]
    return f"{np.mean(spent):.1f} ({max(spent)})"


def false(kind: Kind, size: int | None, runs: int) -> str:
    """The rate of false `good`."""
    found = [x for seed in range(runs) if (x := decided(kind, seed, size))]
    return f"{np.mean([x[0] is True and not x[1] for x in found]):.1%}"


def table(runs: int) -> str:
    """Both tables."""
    sizes = (None, 2, 3)
    lines = [
        "| exact values: mean (most) | any number of settings | two settings | three settings |",
        "|---|---|---|---|",
    ]
    lines += [f"| {name} | {' | '.join(paid(kind, size, runs) for size in sizes)} |" for name, kind in EXACT.items()]
    lines += [
        "",
        "| noisy values: false `good` | any number of settings | two settings | three settings |",
        "|---|---|---|---|",
    ]
    lines += [f"| {name} | {' | '.join(false(kind, size, runs) for size in sizes)} |" for name, kind in NOISY.items()]
    return "\n".join(lines)


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=700)
    parser.add_argument("--write", action="store_true", help="write them into docs/concepts/verdicts.md")
    given = parser.parse_args()
    text = table(given.runs)
    print(text)
    for name in ("rounded to the target, sd 0.1 steps", "rounded to the target, sd 0.15 steps"):
        print(f"{name}: four repeats of the best one, false in {least_false(NOISY[name], 4, None):.1%}")
    if given.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(START)
        PAGE.write_text(f"{before}{START}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
