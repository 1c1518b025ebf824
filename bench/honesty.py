"""Is what a search says of a function true? Whole searches on problems whose share of good settings is known.

    .venv/bin/python bench/honesty.py run --records out/honesty.jsonl [--seeds 10 --budget 500 --only noisy]     (resumable)
    .venv/bin/python bench/honesty.py table out/honesty.jsonl
    .venv/bin/python bench/honesty.py write out/honesty.jsonl     writes docs/evidence/honesty.md, its picture and docs/records

Every function is maximised over the unit cube. Its place in the cube changes with the seed, its share of good settings does
not.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import gamma, pi
from pathlib import Path

import numpy as np
from numpy.random import Generator, default_rng
from scipy.stats import binomtest

from satisfice import Box, Search
from satisfice.paper.experiments.records import Record, Records, pack, unpack
from satisfice.types import Array

DOCS = Path(__file__).parent.parent / "docs"
MOMENTS = (4, 8, 16, 32, 64, 128)  # evaluations, times d + 1, at which the hope is kept
SAMPLED = 2**18  # settings by which a target is placed where the share is not known in closed form
Function = Callable[[Array], Array]  # points (n, d) of the unit cube -> true values (n,)
Draw = Callable[[Generator, float], float]  # a value at a setting of a true value


@dataclass(frozen=True)
class Problem:
    """A family of functions, one a seed, all with the same share of good settings."""

    name: str
    dimension: int
    share: float
    target: float
    make: Callable[[Generator], Function]
    draw: Draw | None = None  # None: noise-free
    noisy = property(lambda self: self.draw is not None)


def ball_radius(share: float, d: int) -> float:
    """The radius of a d-ball with that volume: (share Gamma(d / 2 + 1))^(1/d) / sqrt(pi)."""
    return float((share * gamma(d / 2 + 1)) ** (1 / d) / np.sqrt(pi))


def peak(d: int, share: float) -> Callable[[Generator], Function]:
    """A bowl of at most 0, and a narrow peak that reaches 0.5 in a ball of that volume, and 0 at 1.25 of its radius."""
    r = ball_radius(share, d)

    def make(rng: Generator) -> Function:
        centre = r + (1 - 2 * r) * rng.random(d)
        bottom = (centre + 0.5) % 1.0

        def f(X: Array) -> Array:
            bowl = -((X - bottom) ** 2).sum(axis=1)
            top = 0.5 + 2 * (1 - np.sqrt(((X - centre) ** 2).sum(axis=1)) / r)
            return np.asarray(np.maximum(bowl, top))

        return f

    return make


def plateau(d: int, share: float, low: float = 0.0, high: float = 1.0) -> Callable[[Generator], Function]:
    """One value everywhere, another one in a box of that volume."""
    side = share ** (1 / d)

    def make(rng: Generator) -> Function:
        corner = (1 - side) * rng.random(d)
        return lambda X: np.where(((X >= corner) & (X <= corner + side)).all(axis=1), high, low)

    return make


def bowl(d: int) -> Callable[[Generator], Function]:
    """-|x - c|^2 with a centre that mirroring moves, which changes no volume."""

    def make(rng: Generator) -> Function:
        flip = rng.random(d) < 0.5
        return lambda X: -((np.where(flip, 1 - X, X) - 0.3) ** 2).sum(axis=1)

    return make


def waves(d: int) -> Callable[[Generator], Function]:
    """The Rastrigin function, mirrored at random."""

    def make(rng: Generator) -> Function:
        flip = rng.random(d) < 0.5

        def f(X: Array) -> Array:
            Z = 5.12 * (2 * np.where(flip, 1 - X, X) - 0.7)
            return -(10 * d + (Z**2 - 10 * np.cos(2 * pi * Z)).sum(axis=1))

        return f

    return make


def ridge(d: int) -> Callable[[Generator], Function]:
    """A long valley: steep across the sum of the coordinates, flat along."""

    def make(rng: Generator) -> Function:
        flip = rng.random(d) < 0.5

        def f(X: Array) -> Array:
            Z = np.where(flip, 1 - X, X)
            return -10 * (Z.mean(axis=1) - 0.35) ** 2 - 0.2 * (Z[:, 0] - 0.2) ** 2

        return f

    return make


def branin(d: int = 2) -> Callable[[Generator], Function]:
    """The Branin function, mirrored at random; its maximum is -0.397887."""

    def make(rng: Generator) -> Function:
        flip = rng.random(2) < 0.5

        def f(X: Array) -> Array:
            Z = np.where(flip, 1 - X, X)
            x, y = 15 * Z[:, 0] - 5, 15 * Z[:, 1]
            return -((y - 5.1 * x**2 / (4 * pi**2) + 5 * x / pi - 6) ** 2 + 10 * (1 - 1 / (8 * pi)) * np.cos(x) + 10)

        return f

    return make


def stairs(d: int) -> Callable[[Generator], Function]:
    """A bowl in steps of a tenth."""

    def make(rng: Generator) -> Function:
        inner = bowl(d)(rng)
        return lambda X: np.floor(10 * inner(X)) / 10

    return make


@cache
def target_of(family: Callable[[int], Callable[[Generator], Function]], d: int, share: float) -> tuple[float, float]:
    """The value that a share of the settings reaches, and the share that does, more where values are equal; by `SAMPLED` of them."""
    rng = default_rng(0)
    f = family(d)(rng)
    values = np.concatenate([f(rng.random((2**14, d))) for _ in range(SAMPLED // 2**14)])
    target = float(np.quantile(values, 1 - share))
    return target, round(float((values >= target).mean()), 3)


def gaussian(sd: float) -> Draw:
    """Gaussian noise."""
    return lambda rng, f: f + sd * float(rng.standard_normal())


def passes(rng: Generator, f: float) -> float:
    """A pass or a fail; f is the rate of passes."""
    return float(rng.random() < f)


def capped(rng: Generator, f: float) -> float:
    """An exponential return with cap 500 whose mean is f, rounded; `uncapped_scale` finds the scale."""
    return float(min(round(rng.exponential(uncapped_scale(f))), 500))


@cache
def _scales() -> tuple[Array, Array]:
    scales = np.geomspace(1.0, 1e5, 4000)
    return scales * (1 - np.exp(-500 / scales)), scales


def uncapped_scale(mean: float) -> float:
    """The scale s with s (1 - exp(-500 / s)) = mean."""
    return float(np.interp(mean, *_scales()))


def rates(d: int) -> Callable[[Generator], Function]:
    """Rates of passing, from a bowl."""

    def make(rng: Generator) -> Function:
        inner = bowl(d)(rng)
        return lambda X: np.clip(0.98 + inner(X), 0.01, 0.99)

    return make


def returns(d: int) -> Callable[[Generator], Function]:
    """Mean returns, from a bowl."""

    def make(rng: Generator) -> Function:
        inner = bowl(d)(rng)
        return lambda X: 20 + 470 * np.exp(4 * inner(X))

    return make


def _placed(
    name: str, family: Callable[[int], Callable[[Generator], Function]], d: int, share: float, draw: Draw | None = None
) -> Problem:
    target, reached = target_of(family, d, share)
    return Problem(name, d, reached, target, family(d), draw)


@cache
def problems() -> dict[str, Problem]:
    """All problems by their names."""
    rounded: Draw = lambda rng, f: float(np.round(f + 0.05 * rng.standard_normal(), 1))  # noqa: E731
    found = [
        *(Problem(f"peak {d}-d {100 * s:g} %", d, s, 0.5, peak(d, s)) for d in (2, 4) for s in (0.005, 0.001)),
        Problem("peak 6-d 0.5 %", 6, 0.005, 0.5, peak(6, 0.005)),
        *(
            Problem(f"plateau {d}-d {100 * s:g} %", d, s, 1.0, plateau(d, s))
            for d, s in ((2, 0.01), (4, 0.01), (3, 0.05))
        ),
        Problem("flat 3-d", 3, 0.0, 1.0, plateau(3, 0.0)),
        *(_placed(f"bowl {d}-d 1 %", bowl, d, 0.01) for d in (1, 2, 5, 10, 20)),
        _placed("stairs 3-d", stairs, 3, 0.02),
        _placed("waves 2-d 1 %", waves, 2, 0.01),
        _placed("waves 4-d 1 %", waves, 4, 0.01),
        _placed("ridge 8-d 2 %", ridge, 8, 0.02),
        Problem("unreachable 2-d", 2, 0.0, 0.5, branin()),
        Problem("unreachable 4-d", 4, 0.0, 0.1, bowl(4)),
        *(Problem(f"unreachable {d}-d", d, 0.0, 0.1, bowl(d)) for d in (1, 10, 20)),
        Problem("unreachable waves 2-d", 2, 0.0, 5.0, waves(2)),
        Problem("noisy peak 2-d 0.5 %", 2, 0.005, 0.5, peak(2, 0.005), gaussian(0.1)),
        Problem("noisy peak 4-d 0.5 %", 4, 0.005, 0.5, peak(4, 0.005), gaussian(0.1)),
        _placed("noisy bowl 2-d 5 %", bowl, 2, 0.05, gaussian(0.1)),
        _placed("noisy bowl 6-d 5 %", bowl, 6, 0.05, gaussian(0.1)),
        _placed("noisy bowl 12-d 5 %", bowl, 12, 0.05, gaussian(0.1)),
        Problem("noisy unreachable 2-d", 2, 0.0, 1.5, branin(), gaussian(2.0)),
        Problem("noisy unreachable 4-d", 4, 0.0, 0.2, bowl(4), gaussian(0.1)),
        Problem("noisy flat 2-d", 2, 0.0, 0.5, plateau(2, 0.0), gaussian(0.2)),
        _placed("rounded bowl 2-d 5 %", bowl, 2, 0.05, rounded),
        _placed("pass or fail 2-d 10 %", rates, 2, 0.1, passes),
        Problem("pass or fail, unreachable 2-d", 2, 0.0, 0.95, lambda rng: lambda X: 0.9 * rates(2)(rng)(X), passes),
        _placed("capped returns 3-d 5 %", returns, 3, 0.05, capped),
    ]
    return {problem.name: problem for problem in found}


def run(problem: Problem, seed: int, budget: int) -> Record:
    """One search, with every default: what it said, and what is true. Its hope is kept at `MOMENTS` (d + 1) evaluations."""
    rng = default_rng([seed, 17])
    f = problem.make(rng)
    d = problem.dimension
    moments = {m * (d + 1) for m in MOMENTS}
    hopes: list[list[float]] = []
    began = time.perf_counter()
    search = Search(Box([(0.0, 1.0)] * d), problem.target, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while (answer := search.answer()).verdict == "open" and answer.evaluations < budget:
            if answer.evaluations in moments and answer.hope is not None:
                hopes.append([answer.evaluations, round(answer.hope, 4)])
            x = search.ask()
            value = float(f(x[None])[0])
            search.tell(x, value if problem.draw is None else problem.draw(rng, value))
    bound = answer.share
    return {
        "key": f"{problem.name}/{budget}/{seed}",
        "problem": problem.name,
        "noisy": problem.noisy,
        "seed": seed,
        "budget": budget,
        "share": problem.share,
        "verdict": answer.verdict,
        "proven": bool(getattr(answer, "proven", False)),
        "dimension": d,
        "good": None if answer.point is None else bool(f(answer.point[None])[0] >= problem.target - 1e-12),
        "evaluations": answer.evaluations,
        "hope": answer.hope,
        "hopes": hopes,
        "share_stated": None if bound is None else bound.share,
        "seconds": round(time.perf_counter() - began, 1),
    }


def interval(hits: int, n: int) -> str:
    """A share with its 95 % interval (Clopper and Pearson)."""
    if n == 0:
        return "-"
    found = binomtest(hits, n).proportion_ci()
    return f"{hits} of {n} ({found.low:.0%} to {found.high:.0%})"


def false(record: Record) -> bool:
    """Whether the sentence beside the verdict is false."""
    if record["verdict"] == "good":
        return not record["good"]
    if record["verdict"] == "none":
        return bool(record["share"] > 0)
    return record["verdict"] == "unlikely" and (record["share_stated"] or 0.0) < record["share"]


def table(records: Iterable[Record]) -> str:
    """The table, a row a problem, and the sums below it."""
    rows = list(records)
    lines = [
        "| problem | share | runs | good (false) | none (false) | unlikely (share false) | open | evaluations, median | share stated, median |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    names = [name for name in problems() if any(row["problem"] == name for row in rows)]
    for name in names:
        mine = [row for row in rows if row["problem"] == name]
        said = {v: [row for row in mine if row["verdict"] == v] for v in ("good", "none", "unlikely", "open")}
        cells = [f"{len(said[v])} ({sum(map(false, said[v]))})" for v in ("good", "none", "unlikely")]
        stated = [row["share_stated"] for row in said["unlikely"] if row["share_stated"] is not None]
        lines.append(
            f"| {name} | {100 * mine[0]['share']:g} % | {len(mine)} | {' | '.join(cells)} | {len(said['open'])} | "
            f"{np.median([row['evaluations'] for row in mine]):.0f} | {f'{np.median(stated):.1%}' if stated else '-'} |"
        )
    lines.append("")
    for text, chosen, hit in (
        ("`good` that are false", lambda r: r["verdict"] == "good", false),
        ("`none` without proof", lambda r: r["verdict"] == "none", lambda r: not r["proven"]),
        ("`none` that are false", lambda r: r["verdict"] == "none", false),
        ("`unlikely` whose share is true", lambda r: r["verdict"] == "unlikely", lambda r: not false(r)),
        ("gave up (`none`, `unlikely`) where 1 % or more is good", lambda r: r["share"] >= 0.01, _gave_up),
        ("gave up where less than 1 % is good", lambda r: 0 < r["share"] < 0.01, _gave_up),
        ("unreachable in 2 and 4 dimensions given up within 400", lambda r: "unreachable" in r["problem"] and r["dimension"] in (2, 4), lambda r: _gave_up(r) and r["evaluations"] <= 400),
    ):  # fmt: skip
        among = [row for row in rows if chosen(row)]
        lines.append(f"- {text}: {interval(sum(map(hit, among)), len(among))}")
    return "\n".join(lines)


BINS = (0.0, 0.05, 0.2, 0.4, 0.7, 0.95, 1.0 + 1e-9)
KINDS: dict[str, Callable[[Record], bool]] = {
    "1 % of the settings or more are good, or none": lambda r: r["share"] >= 0.01 or r["share"] == 0,
    "needles: 0.1 % or 0.5 % are good": lambda r: 0 < r["share"] < 0.01,
}


def reliability(rows: Iterable[Record]) -> dict[str, list[tuple[float, int, int]]]:
    """For each kind of problem and bin of hope: the mean hope, how often there is a good setting, and the number of moments.

    The moments are `MOMENTS` (d + 1) evaluations into a search that had met no good setting yet.
    """
    found: dict[str, list[tuple[float, int, int]]] = {}
    records = list(rows)
    for kind, of in KINDS.items():
        points = [(hope, r["share"] > 0) for r in records if of(r) for _, hope in r["hopes"]]
        found[kind] = []
        for low, high in pairwise(BINS):
            mine = [(hope, good) for hope, good in points if low <= hope < high]
            if mine:
                found[kind].append((float(np.mean([h for h, _ in mine])), sum(good for _, good in mine), len(mine)))
    return found


def picture(rows: Iterable[Record], path: Path) -> None:
    """The reliability diagram."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "satisfice"
    figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", lw=1)
    for (kind, bins), colour, marker in zip(reliability(rows).items(), ("tab:blue", "tab:red"), "os", strict=True):
        for hope, good, n in bins:
            ends = binomtest(good, n).proportion_ci()
            axes.plot([hope, hope], [ends.low, ends.high], color=colour, lw=1)
            axes.annotate(str(n), (hope, good / n), xytext=(5, 4), textcoords="offset points", fontsize=8, color=colour)
        axes.plot([b[0] for b in bins], [b[1] / b[2] for b in bins], marker, color=colour, label=kind)
    axes.set(
        xlabel="hope that the search stated",
        ylabel="share of moments with a good setting",
        xlim=(-0.03, 1.03),
        ylim=(-0.03, 1.03),
    )
    figure.legend(loc="outside upper left", fontsize=8, frameon=False)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    plt.close(figure)


def page(rows: list[Record]) -> str:
    """The page."""
    known = problems()
    dimensions = sorted({known[r["problem"]].dimension for r in rows})
    counts = sorted({sum(r["problem"] == name for r in rows) for name in {r["problem"] for r in rows}})
    each = f"{counts[0]} to {counts[-1]} times" if counts[-1] > 1 else "once"
    lines = [
        f"| {kind} | {hope:.2f} | {interval(good, n)} |"
        for kind, bins in reliability(rows).items()
        for hope, good, n in bins
    ]
    return f"""# Honesty: what searches say of known functions

{len(rows)} searches of {len({r["problem"] for r in rows})} functions of {dimensions[0]} to {dimensions[-1]} parameters whose share of
good settings is known: bowls, many peaks, plateaus, ridges, and narrow peaks ("needles") of 0.5 % and 0.1 % of the space; without noise
and with it. Every option is at its default, so nobody says whether there is noise; the budget is {rows[0]["budget"]}. Each function was
searched {each}; the intervals (Clopper and Pearson, 95 %) say how little so few runs can show. `python bench/honesty.py run` adds
runs to the records, and `write` writes this page from them.

"False" counts sentences beside a verdict that are not true: a setting called good that is not, or a stated share that the true one
exceeds.

{table(rows)}

Needles are not found by any model, and a search that gives up on one is no error as long as the share that it states is true.

## Is hope calibrated?

At {", ".join(map(str, MOMENTS[:-1]))} and {MOMENTS[-1]} times d + 1 evaluations, if no good setting was met yet: the hope that the search
stated, and whether there is a good setting.

![How often there is a good setting, against the hope that was stated](../images/hope-reliability.png)

| functions | mean hope | with a good setting |
|---|---|---|
{chr(10).join(lines)}

Several moments belong to one search, so they are not independent and the intervals are somewhat too narrow. Hope is deliberately slow to fall, so where nothing is good it is too high for long. On needles it is too low: the model does not expect
them. That is why a search that gives up states the share of good settings as well.
"""


def _gave_up(record: Record) -> bool:
    return record["verdict"] in ("none", "unlikely")


def main() -> None:
    """Run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    runs = kinds.add_parser("run")
    runs.add_argument("--records", type=Path, required=True)
    runs.add_argument("--seeds", type=int, default=10)
    runs.add_argument("--budget", type=int, default=500)
    runs.add_argument("--only", default="", help="only problems whose name contains this")
    runs.add_argument("--part", default="0/1", help="k/n: every n-th run from the k-th on, for several processes")
    shown = kinds.add_parser("table")
    shown.add_argument("records", type=Path)
    written = kinds.add_parser("write")
    written.add_argument("records", type=Path)
    given = parser.parse_args()
    if given.kind == "write":
        pack(given.records, DOCS / "records/honesty.jsonl.xz")
        rows = unpack(DOCS / "records/honesty.jsonl.xz")
        picture(rows, DOCS / "images/hope-reliability.png")
        (DOCS / "evidence/honesty.md").write_text(page(rows), encoding="utf-8")
        return
    if given.kind == "table":
        print(table(json.loads(line) for line in given.records.read_text().splitlines()))
        return
    k, n = map(int, given.part.split("/"))
    path = given.records.with_suffix(f".{k}.jsonl") if n > 1 else given.records
    records = Records(path)
    done = records.keys()
    wanted = [(p, s) for s in range(given.seeds) for p in problems().values() if given.only in p.name]
    for problem, seed in wanted[k::n]:
        if f"{problem.name}/{given.budget}/{seed}" not in done:
            record = run(problem, seed, given.budget)
            records.append(record)
            print(record["key"], record["verdict"], record["evaluations"], record["seconds"], flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
