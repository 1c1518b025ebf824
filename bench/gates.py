"""Simulate gates: how often `certify` is wrong at the boundary, and how many values it needs.

    .venv/bin/python bench/gates.py           # twenty minutes; or one of its sections: boundary, shown, needed
    .venv/bin/python bench/write_tables.py    # writes the tables of docs/concepts/certify.md from bench/results/gates.json

A setting is simulated whose truth lies exactly at the target, the hardest case of all, and the gate looks after every value up to
1,000. Then settings at a distance from the target, and the number of values until `good`, in multiples of what any test with
an error of 5 % needs on average: log(1 / delta) / KL, which is 2 sigma^2 log(1 / delta) / gap^2 for Gaussian noise.
"""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng
from scipy.special import ndtri
from scipy.stats import beta

from satisfice.certificates.gate import (
    BET_LOG_WEIGHTS,
    BETS,
    Bets,
    GateTest,
    GaussianGate,
    Passes,
    StudentGate,
    student_evidence,
)
from satisfice.search.gate import Gate
from satisfice.search.specification import Requirement, Specification
from satisfice.types import Array

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "bench" / "results" / "gates.json"
GATES, LOOKS, ERROR = 10_000, 1_000, 0.05
BAR = float(-np.log(ERROR))
NEVER = np.iinfo(np.int64).max
Counts = npt.NDArray[np.int64]
Draw = Callable[[Generator, int], Array]


@cache
def bars(test: GateTest, looks: int, bar: float, target: float = 0.0) -> Array:
    """What the statistic must reach after 1, ..., `looks` values: S, S / sqrt(V), or the number of passes."""
    m = np.arange(1, looks + 1)
    if isinstance(test, StudentGate):
        low, high = np.zeros(looks), np.sqrt(m)

        def evidence(x: Array) -> Array:
            return student_evidence(m, x)
    elif isinstance(test, GaussianGate):
        low, high = np.zeros(looks), 10.0 * m

        def evidence(x: Array) -> Array:
            return np.array([test.of((int(k), float(s))) for k, s in zip(m, x, strict=True)])
    else:
        with np.errstate(divide="ignore"):
            up, down = np.log1p(BETS * (1 / target - 1)), np.log1p(-BETS)
        found, k = np.empty(looks), 0
        for n in range(1, looks + 1):
            while k <= n and _mixed(_weighted(k, up) + _weighted(n - k, down)) < bar:
                k += 1
            found[n - 1] = k
        return found
    reached = evidence(high) >= bar
    for _ in range(40):
        middle = 0.5 * (low + high)
        up = evidence(middle) >= bar
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    return np.where(reached, high, np.inf)


def _weighted(count: int, logs: Array) -> Array:
    return count * logs if count else np.zeros_like(logs)


def _mixed(state: Array) -> Any:
    terms = BET_LOG_WEIGHTS + state
    top = terms.max(axis=-1, keepdims=True)
    return (top + np.log(np.exp(terms - top).sum(axis=-1, keepdims=True)))[..., 0]


class Runs:
    """Many gates of one test at once, for values to be maximised."""

    def __init__(self, test: GateTest, target: float, gates: int, looks: int, error: float = ERROR) -> None:
        self.test, self.target = test, target
        self.first = np.full(gates, NEVER)
        self._sums, self._squares = np.zeros(gates), np.zeros(gates)
        bar = float(-np.log(error)) - test.credit
        self._plain = isinstance(test, Bets) and not isinstance(test, Passes)
        self._bar = bar
        self._capital = np.zeros((gates, len(BETS))) if self._plain else None
        span = test.high - test.low if isinstance(test, Bets) else 1.0
        share = (target - test.low) / span if isinstance(test, Bets) else 0.0
        self._bars = np.empty(0) if self._plain else bars(test, looks, bar, share)

    def add(self, m: int, values: Array) -> None:
        """Take value number m of each gate, and note which reach the bar for the first time."""
        if self._capital is not None and isinstance(self.test, Bets):
            gains = (values - self.test.low) / (self.target - self.test.low) - 1
            with np.errstate(divide="ignore"):
                self._capital += np.log1p(gains[:, None] * BETS)
            reached = _mixed(self._capital) >= self._bar
        elif isinstance(self.test, Passes):
            self._sums += values - self.test.low
            reached = self._sums >= self._bars[m - 1]
        else:
            above = values - self.target
            self._sums += above
            self._squares += above**2
            by = np.sqrt(self._squares) if isinstance(self.test, StudentGate) else self.test.sigma
            reached = self._sums / by >= self._bars[m - 1]
        self.first[reached & (self.first == NEVER)] = m


def simulate(
    test: GateTest,
    target: float,
    draw: Draw,
    *,
    gates: int = GATES,
    looks: int = LOOKS,
    seed: int = 0,
    both: bool = True,
) -> tuple[Counts, Counts]:
    """The first look at which each gate says `good`, and `bad`."""
    rng = default_rng(seed)
    good = Runs(test, target, gates, looks)
    bad = Runs(test.mirrored(), -target, gates, looks) if both else None
    for m in range(1, looks + 1):
        values = draw(rng, gates)
        good.add(m, values)
        if bad is not None:
            bad.add(m, -values)
        elif (good.first < NEVER).all():
            break
    return good.first, good.first if bad is None else bad.first


def passes(p: float) -> Draw:
    """Passes with probability p."""
    return lambda rng, n: (rng.random(n) < p).astype(float)


def pairs(rng: Generator, n: int) -> Array:
    """Differences of pairs whose noise is correlated: the second is worse by the margin of 0.2."""
    shared = rng.standard_normal(n)
    return -0.2 + 0.5 * rng.standard_normal(n) + shared - (shared + 0.8 * rng.standard_normal(n))


def paired_passes(rng: Generator, n: int) -> Array:
    """Differences of passes, 85 % against 90 %."""
    return (rng.random(n) < 0.85).astype(float) - (rng.random(n) < 0.90)


BOUNDARY: dict[str, tuple[GateTest, float, Draw]] = {
    "Gaussian, known sd": (GaussianGate(2.0), 1.0, lambda rng, n: rng.normal(1.0, 2.0, n)),
    "Gaussian, unknown sd": (StudentGate(), 1.0, lambda rng, n: rng.normal(1.0, 2.0, n)),
    "uniform, range stated": (Bets(0.0, 1.0), 0.5, lambda rng, n: rng.random(n)),
    "tail towards bad values, Beta(9, 1), range stated": (Bets(0.0, 1.0), 0.9, lambda rng, n: rng.beta(9, 1, n)),
    "tail towards good values, Beta(1, 9), range stated": (Bets(0.0, 1.0), 0.1, lambda rng, n: rng.beta(1, 9, n)),
    "passes, rate 0.7": (Passes(0.0, 1.0), 0.7, passes(0.7)),
    "passes, rate 0.9": (Passes(0.0, 1.0), 0.9, passes(0.9)),
    "passes, rate 0.97": (Passes(0.0, 1.0), 0.97, passes(0.97)),
    "median of a lognormal": (Passes(0.0, 1.0), 0.5, lambda rng, n: (rng.lognormal(0.0, 1.0, n) <= 1.0).astype(float)),
    "quantile 0.9 of a lognormal": (
        Passes(0.0, 1.0), 0.9, lambda rng, n: (rng.lognormal(0.0, 1.0, n) <= np.exp(ndtri(0.9))).astype(float),
    ),
    "quantile 0.99 of a lognormal": (
        Passes(0.0, 1.0), 0.99, lambda rng, n: (rng.lognormal(0.0, 1.0, n) <= np.exp(ndtri(0.99))).astype(float),
    ),
    "differences of Gaussian pairs, unknown sd": (StudentGate(), -0.2, pairs),
    "differences of passes, 0.85 and 0.90": (Bets(-1.0, 1.0), -0.05, paired_passes),
}  # fmt: skip

SHOWN: dict[str, Callable[[Generator, int], Array]] = {
    "Gaussian, nothing stated": lambda rng, n: rng.normal(0.0, 1.0, n),
    "exponential tail towards bad values, nothing stated": lambda rng, n: 1.0 - rng.exponential(1.0, n),
    "lognormal tail towards bad values, nothing stated": lambda rng, n: np.exp(0.5) - rng.lognormal(0.0, 1.0, n),
    "passes, rate 0.9, nothing stated": lambda rng, n: (rng.random(n) < 0.9).astype(float),
}
CAREFUL_GATES = 100
SHOWN_GATES, SHOWN_LOOKS = 300, 100  # a value takes a millisecond


def by_values(draw: Draw, target: float, *, gates: int, looks: int) -> tuple[Counts, Counts]:
    """The first look with the verdict `good`, and `bad`, of gates that choose their test by the values."""
    first = np.full((2, gates), NEVER)
    requirement = Specification((Requirement("value", ">=", target),))
    for k in range(gates):
        values = draw(default_rng([7, k]), looks)
        gate = Gate(requirement)
        for m, value in enumerate(values, 1):
            gate.tell({"value": float(value)})
            if gate.verdict != "open":
                first[int(gate.verdict == "bad"), k] = m
                break
    return first[0], first[1]


def share(first: Counts) -> dict[str, float]:
    """The share of gates that reached the bar, with its 95 % interval."""
    n, k = len(first), int((first < NEVER).sum())
    low = 0.0 if k == 0 else float(beta.ppf(0.025, k, n - k + 1))
    return {"share": k / n, "low": low, "high": float(beta.ppf(0.975, k + 1, n - k))}


def relative_entropy(p: float, q: float) -> float:
    """KL(p, q) of passes."""
    return float(sum(a * np.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0))


def needed(test: GateTest, target: float, draw: Draw, limit: float, *, gates: int = 4_000) -> dict[str, float]:
    """How many values until `good`, in multiples of the limit."""
    looks = int(min(20 * limit + 100, 60_000))
    first, _ = simulate(test, target, draw, gates=gates, looks=looks, seed=1, both=False)
    counts = np.minimum(first, looks)
    return {
        "limit": limit,
        "mean": float(counts.mean()) / limit,
        "median": float(np.median(counts)) / limit,
        "late": float((counts == looks).mean()),
    }


def normal(gap: float) -> Draw:
    """Gaussian values so many standard deviations above the target."""
    return lambda rng, n: rng.normal(gap, 1.0, n)


GAPS = (0.25, 0.35, 0.5, 0.7, 1.0)
RATES = (
    *((0.7, 0.75), (0.7, 0.8), (0.7, 0.85), (0.7, 0.9), (0.8, 0.9), (0.8, 0.95), (0.9, 0.93), (0.9, 0.95), (0.9, 0.98)),
    *(
        (0.95, 0.97),
        (0.95, 0.98),
        (0.95, 0.99),
        (0.97, 0.985),
        (0.97, 0.99),
        (0.97, 0.995),
        (0.7, 1.0),
        (0.9, 1.0),
        (0.97, 1.0),
    ),
)


def at_the_boundary() -> dict[str, Any]:
    """How often gates whose truth lies exactly at the target end, by stated tests."""
    found = {}
    for name, (test, target, draw) in BOUNDARY.items():
        good, bad = simulate(test, target, draw)
        found[name] = {"good": share(good), "bad": share(bad)}
        print(name, found[name], flush=True)
    return found


def by_what_shows() -> dict[str, Any]:
    """The same of gates that choose their test by the values."""
    found = {}
    for name, draw in SHOWN.items():
        good, bad = by_values(draw, 0.9 if "passes" in name else 0.0, gates=SHOWN_GATES, looks=SHOWN_LOOKS)
        found[name] = {"good": share(good), "bad": share(bad)}
        print(name, found[name], flush=True)
    return found


def until_good() -> dict[str, Any]:
    """How many values gates need."""
    found = {}
    for gap in GAPS:
        limit = 2 * BAR / gap**2
        own = BAR / (0.5 * np.log1p(gap**2)) / limit
        for label, test in (("known", GaussianGate(1.0)), ("unknown", StudentGate())):
            row = needed(test, 0.0, normal(gap), limit)
            found[f"{label} {gap:g}"] = row | {"own limit": 1.0 if label == "known" else float(own)}
            print(label, gap, row, flush=True)
    for target, p in RATES:
        row = needed(Passes(0.0, 1.0), target, passes(p), BAR / relative_entropy(p, target))
        found[f"rate {target:g} {p:g}"] = row
        print("rate", target, p, row, flush=True)
    return found


def where_nothing_is_stated() -> dict[str, Any]:
    """How many values gates need that choose their test by the values, for Gaussian noise."""
    found = {}
    for gap in GAPS:
        limit = 2 * BAR / gap**2
        first, _ = by_values(normal(gap), 0.0, gates=CAREFUL_GATES, looks=int(12 * limit))
        counts = np.minimum(first, int(12 * limit))
        found[f"{gap:g}"] = {"mean": float(counts.mean()) / limit, "median": float(np.median(counts)) / limit}
        print(gap, found[f"{gap:g}"], flush=True)
    return found


SECTIONS = {
    "careful": where_nothing_is_stated,
    "boundary": at_the_boundary,
    "shown": by_what_shows,
    "needed": until_good,
}


def percent(row: dict[str, float]) -> str:
    """A share with its interval."""
    return f"{100 * row['share']:.1f} % ({100 * row['low']:.1f} to {100 * row['high']:.1f})"


def tables(found: dict[str, Any]) -> dict[str, str]:
    """The tables of the page."""
    boundary = ["| truth exactly at the target | `good` | `bad` |", "|---|---|---|"]
    boundary += [
        f"| {name} | {percent(row['good'])} | {percent(row['bad'])} |" for name, row in found["boundary"].items()
    ]
    shown = [f"| {SHOWN_GATES} gates each, {SHOWN_LOOKS} values | `good` | `bad` |", "|---|---|---|"]
    shown += [f"| {name} | {percent(row['good'])} | {percent(row['bad'])} |" for name, row in found["shown"].items()]
    gaps = [
        "| gap, in standard deviations | limit | known sd: mean, median | unknown sd: mean, median | limit where the sd is unknown | nothing stated: mean, median |",
        "|---|---|---|---|---|---|",
    ]
    for gap in GAPS:
        careful = found["careful"][f"{gap:g}"]
        known, unknown = (found["needed"][f"{label} {gap:g}"] for label in ("known", "unknown"))
        gaps.append(
            f"| {gap:g} | {known['limit']:.0f} | {known['mean']:.2f}, {known['median']:.2f} | {unknown['mean']:.2f}, "
            f"{unknown['median']:.2f} | {unknown['own limit']:.2f} | {careful['mean']:.2f}, {careful['median']:.2f} |"
        )
    rates = ["| target | true rate | limit | mean | median |", "|---|---|---|---|---|"]
    for target, p in RATES:
        row = found["needed"][f"rate {target:g} {p:g}"]
        rates.append(f"| {target:g} | {p:g} | {row['limit']:.0f} | {row['mean']:.2f} | {row['median']:.2f} |")
    return {
        "boundary": "\n".join(boundary),
        "shown": "\n".join(shown),
        "gaps": "\n".join(gaps),
        "rates": "\n".join(rates),
    }


if __name__ == "__main__":
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for section in sys.argv[1:] or SECTIONS:
        kept[section] = SECTIONS[section]()
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
