"""The section of docs/evidence/benchmarks.md on COCO's functions, written by bench/coco.py --page from its records."""

from collections import defaultdict
from itertools import product
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from coco import CONTESTANTS, TARGETS
from numpy.random import default_rng

from satisfice.paper.experiments.records import Record, unpack
from satisfice.types import Array

NAMES = {"auto": "satisfice", "tpe": "Optuna TPE", "gp": "Optuna GPSampler", "cmaes": "Optuna CMA-ES", "pycma": "pycma",
         "ngopt": "NGOpt", "cobyqa": "COBYQA (SciPy)", "bobyqa": "Py-BOBYQA", "random": "random"}  # fmt: skip
COLOURS = {"auto": "#0072B2", "tpe": "#D55E00", "gp": "#E69F00", "cmaes": "#8C564B", "pycma": "#CC79A7", "ngopt": "#56B4E9",
           "cobyqa": "#009E73", "bobyqa": "#7F7F00", "random": "#AAAAAA"}  # fmt: skip
GROUPS = {"separable": range(1, 6), "moderate": range(6, 10), "ill-conditioned": range(10, 15),
          "multi-modal": range(15, 20), "weakly structured": range(20, 25)}  # fmt: skip
RESAMPLES = 2000
Block = tuple[str, int, str]  # suite, dimension, target
Counts = dict[
    str, dict[Block, dict[tuple[int, int], int]]
]  # contestant -> block -> (function, instance) -> evaluations
PAGE, PICTURE = "evidence/benchmarks.md", "images/benchmarks/coco.png"


def counts(records: list[Record]) -> Counts:
    """The evaluations of every contestant in every cell; a failure counts as the budget. A run that raised an error is left out."""
    found: Counts = {name: defaultdict(dict) for name in CONTESTANTS}
    for record, target in product(records, TARGETS):
        if "error" not in record:
            block = record["suite"], record["dimension"], target
            cell = record["function"], record["instance"]
            found[record["contestant"]][block][cell] = record["reached"].get(target, record["budget"])
    return found


def log_ratios(found: Counts, peer: str, functions: range | None = None) -> dict[tuple[Block, int], float]:
    """The log of our mean evaluations over the peer's, for each function of each block, over the instances of both."""
    ratios = {}
    for block, theirs in found[peer].items():
        ours = found["auto"].get(block, {})
        for function in {f for f, _ in theirs.keys() & ours.keys()}:
            if functions is None or function in functions:
                cells = [cell for cell in theirs.keys() & ours.keys() if cell[0] == function]
                means = [np.mean([mine[cell] for cell in cells]) for mine in (ours, theirs)]
                ratios[block, function] = float(np.log(means[0] / means[1]))
    return ratios


def best_elsewhere(found: Counts) -> dict[tuple[Block, int], float]:
    """The log ratio to the peer that needed fewest evaluations on the other instances of the function, averaged over instances."""
    ratios: dict[tuple[Block, int], list[float]] = defaultdict(list)
    peers = [name for name in CONTESTANTS if name not in ("auto", "random")]
    for block, ours in found["auto"].items():
        for function, instance in ours:
            others: dict[str, float] = {}
            for peer in peers:
                theirs = found[peer].get(block, {})
                there = [n for (f, i), n in theirs.items() if f == function and i != instance]
                if there and (function, instance) in theirs:
                    others[peer] = float(np.mean(there))
            if others:
                chosen = min(others, key=others.__getitem__)
                pair = ours[function, instance], found[chosen][block][function, instance]
                ratios[block, function].append(float(np.log(pair[0] / pair[1])))
    return {key: float(np.mean(logs)) for key, logs in ratios.items()}


def figure(ratios: dict[tuple[Block, int], float]) -> str:
    """The geometric mean with its 95 % interval; functions are resampled with all of their blocks."""
    if not ratios:
        return "-"
    functions = sorted({(block[0], function) for block, function in ratios})
    each = [[log for (block, f), log in ratios.items() if (block[0], f) == one] for one in functions]
    sums, sizes = np.array([sum(logs) for logs in each]), np.array([len(logs) for logs in each])
    chosen = default_rng(0).integers(len(each), size=(RESAMPLES, len(each)))
    low, high = np.exp(np.quantile(sums[chosen].sum(1) / sizes[chosen].sum(1), [0.025, 0.975]))
    return f"{np.exp(sums.sum() / sizes.sum()):.2f} ({low:.2f} to {high:.2f})"


def tables(found: Counts) -> str:
    """The ratios by block and by group, and the mean evaluations of the blocks."""
    peers = [name for name in CONTESTANTS if name != "auto" and found[name]]
    blocks = sorted(found["auto"])
    suites = sorted({block[0] for block in blocks})
    lines = ["| satisfice / | " + " | ".join(f"`{suite}`" for suite in suites) + " | runs of the peer |"]
    lines.append("|---" * (len(suites) + 2) + "|")
    rows = {peer: log_ratios(found, peer) for peer in peers}
    for peer in sorted(peers, key=lambda name: -np.mean(list(rows[name].values()))):
        cells = [figure({key: log for key, log in rows[peer].items() if key[0][0] == suite}) for suite in suites]
        runs = sum(len(mine) for block, mine in found[peer].items() if block[2] == "hard")
        lines.append(f"| {NAMES[peer]} | " + " | ".join(cells) + f" | {runs} |")
    elsewhere = best_elsewhere(found)
    cells = [figure({key: log for key, log in elsewhere.items() if key[0][0] == suite}) for suite in suites]
    lines.append("| the best peer on other instances | " + " | ".join(cells) + " | |")
    lines += ["", "`bbob` by groups of functions:", ""]
    lines += ["| satisfice / | " + " | ".join(GROUPS) + " |", "|---" * (len(GROUPS) + 1) + "|"]
    for peer in sorted(peers, key=lambda name: -np.mean(list(rows[name].values()))):
        cells = []
        for functions in GROUPS.values():
            chosen = {key: log for key, log in rows[peer].items() if key[0][0] == "bbob" and key[1] in functions}
            cells.append(figure(chosen))
        lines.append(f"| {NAMES[peer]} | " + " | ".join(cells) + " |")
    lines += ["", "Mean evaluations, where a failure counts as the budget:", ""]
    lines += ["| suite, dimension, target | satisfice | " + " | ".join(NAMES[peer] for peer in peers) + " |"]
    lines.append("|---" * (len(peers) + 2) + "|")
    for block in blocks:
        shared = set(found["auto"][block])
        cells = []
        for name in ("auto", *peers):
            mine = found[name].get(block, {})
            whole = "" if mine.keys() >= shared else "*"
            cells.append(f"{np.mean(list(mine.values())):.0f}{whole}" if mine else "-")
        lines.append(f"| `{block[0]}`, {block[1]}, {block[2]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def seconds(records: list[Record]) -> str:
    """CPU milliseconds for a suggestion in five dimensions."""
    found: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record["suite"] == "bbob" and record["dimension"] == 5 and record["evaluations"]:
            found[record["contestant"]].append(1e3 * record["seconds"] / record["evaluations"])
    parts = [f"{NAMES[name]} {np.mean(found[name]):.1f}" for name in CONTESTANTS if name in found and name != "random"]
    return ", ".join(parts)


def picture(found: Counts, path: Path) -> None:
    """A panel for each dimension and target of bbob: the share of functions whose target is reached within n evaluations."""
    blocks = [block for block in sorted(found["auto"]) if block[0] == "bbob"]
    shape = len(blocks) // len(TARGETS), len(TARGETS)
    drawn, axes = plt.subplots(*shape, figsize=(9, 2.5 * shape[0] + 0.8), sharey=True, squeeze=False)
    handles = {}
    for axis, block in zip(axes.flat, blocks, strict=True):
        budget = 150 if block[1] < 10 else 100
        steps = np.arange(1, budget)
        for name in CONTESTANTS:
            values: Array = np.array(list(found[name].get(block, {}).values()))
            if len(values):
                shares = [(values <= n).mean() for n in steps]
                style = {"color": COLOURS[name], "lw": 2.2 if name == "auto" else 1.1}
                handles[NAMES[name]] = axis.plot(steps, shares, **style)[0]
        axis.set_title(f"{block[1]} dimensions, {block[2]} target", fontsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    drawn.supxlabel("evaluations", fontsize=9)
    drawn.supylabel("share of functions and instances", fontsize=9)
    drawn.legend(handles.values(), handles, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    drawn.set_layout_engine("constrained")
    drawn.savefig(path, dpi=110)
    plt.close(drawn)


def section(records: list[Record]) -> str:
    """The text of the section."""
    found = counts(records)
    done: dict[tuple[str, int], set[int]] = defaultdict(set)
    for record in records:
        if record["contestant"] == "auto":
            done[record["suite"], record["dimension"]].add(record["instance"])
    what = "; ".join(
        f"`{suite}` in {d} dimensions, instances {sorted(some)}" for (suite, d), some in sorted(done.items())
    )
    broken = sorted({NAMES[record["contestant"]] for record in records if "error" in record})
    text = f"""Run: {what}. One run of a contestant on each function and instance. Ratios are geometric means over functions,
dimensions and targets of mean evaluations, a failure counting as the budget; below 1, satisfice needs fewer. In brackets the 95 %
bootstrap interval over functions. Each ratio is over the cells that both have; mean evaluations marked * are over fewer cells
than those of satisfice. The best peer on other instances is known only where a function was run on two.

{tables(found)}

![shares reached on COCO's functions](../{PICTURE})

CPU milliseconds for a suggestion in five dimensions, on a busy machine: {seconds(records)}."""
    text += "\nNot run: other dimensions and instances, `bbob-mixint` and `bbob-noisy`, and other peers, GPSampler and NGOpt among them."
    return text + (f"\nRuns that raised an error are left out: {', '.join(broken)}." if broken else "")


def summary(records: list[Record]) -> str:
    """One sentence for the README."""
    found = counts(records)
    dimensions = " and ".join(sorted({str(block[1]) for block in found["auto"] if block[0] == "bbob"}, key=int))
    parts = []
    for name in CONTESTANTS:
        ratios = {key: log for key, log in log_ratios(found, name).items() if key[0][0] == "bbob"}
        if name not in ("auto", "random") and ratios:
            few = " (in few runs)" if len(ratios) < len(log_ratios(found, "random")) / 2 else ""
            parts.append(f"{figure(ratios)} of those of {NAMES[name]}{few}")
    return f"""On COCO's 24 test functions, which nobody here wrote, in {dimensions} dimensions, satisfice needs this share of the
evaluations of each peer, with a 95 % interval: {"; ".join(parts)}. [The benchmarks](docs/evidence/benchmarks.md) say which groups
of functions are behind, and what was not run (`bench/coco.py`)."""


def write(kept: Path, docs: Path) -> None:
    """Replace the section of the page and the sentence of the README, and draw the picture."""
    records = unpack(kept)
    for page, marker, words in (
        (docs / PAGE, "coco", section(records)),
        (docs.parent / "README.md", "coco summary", summary(records)),
    ):
        start, end = f"<!-- {marker} -->", "<!-- end -->"
        before, rest = page.read_text(encoding="utf-8").split(start)
        page.write_text(f"{before}{start}\n\n{words}\n\n{end}{rest.split(end, 1)[1]}", encoding="utf-8")
    picture(counts(records), docs / PICTURE)
