"""Ablations of the noise-free default: variants that leave out or change one part of it, or several.

    .venv-bench/bin/python bench/ablations.py [--runs 10 --jobs 2 --only straight,pg]

Counts evaluations until the first good value, as bench/evaluations.py does, on the problems that defaults may be tuned on. The last variant
also runs on the held-out ones. Tuning tasks, which are slow, are left out. Resumable: new runs are added to the kept records. They go to out/records/levers.jsonl and, packed, to
docs/records. Prints the tables; bench/write_tables.py writes them into the docs.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from bootstrap import interval, ratio
from eval_peers import satisfice
from eval_problems import PROBLEMS
from evaluations import run
from interactions import Interacting
from numpy.random import Generator
from scipy.linalg import solve_triangular

from satisfice.acquisition.belief import Belief
from satisfice.gp.kernels import Additive
from satisfice.gp.models import Dataset, Fit, Model, auto_model
from satisfice.gp.models.mixture import KernelMixture, has_grown
from satisfice.gp.priors import KernelPrior, auto_families, exact_families
from satisfice.paper.experiments.records import Record, pack, resume
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.rules import Rule
from satisfice.rules.analytic import ExpectedExcess, ProbabilityGood
from satisfice.rules.aspiration import Aspiration
from satisfice.rules.lookahead import Lookahead
from satisfice.types import Array

FOR_EVER = 10**9
BASE = Aspiration(sweeps=False)  # sweeps were added last; most variants are compared with the default before that
ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "levers.jsonl", ROOT / "docs" / "records" / "levers.jsonl.xz"
_QUICK = [name for name, p in PROBLEMS.items() if "tuning task" not in p.tags]
NAMES = [name for name in _QUICK if not PROBLEMS[name].held_out]
HELD_OUT = [name for name in _QUICK if PROBLEMS[name].held_out]


def _model(
    *left_out: int,
    families: Callable[[int], tuple[KernelPrior, ...]] = exact_families,
    warps: bool = True,
    integrates: bool = True,
    learns_at: Callable[[int], bool] = has_grown,
    starting_points: int = 3,
) -> KernelMixture:
    """The noise-free default model with some kernels left out, or another part changed."""

    def chosen(dimension: int) -> tuple[KernelPrior, ...]:
        return tuple(f for k, f in enumerate(families(dimension)) if k not in left_out or dimension == 1)

    return KernelMixture(chosen, learns_at, starting_points, warps=warps, integrates=integrates, tolerance=1e-3)


def with_interactions(dimension: int) -> tuple[KernelPrior, ...]:
    """The default's kernels, and one of main effects and pairwise interactions, with the prior of the additive kernel."""
    if dimension == 1:
        return exact_families(dimension)
    additive = exact_families(dimension)[3]
    return (*exact_families(dimension), replace(additive, kernel=Interacting("matern52", np.array([0.5]))))


def same_in_every_dimension(dimension: int) -> tuple[KernelPrior, ...]:
    """The default's kernels with length-scale priors centred at 0.5 in every dimension, not at 0.5 sqrt(d)."""

    def lowered(family: KernelPrior) -> KernelPrior:
        if isinstance(family.kernel, Additive):  # its prior does not depend on the dimension
            return family
        lengths = [name.startswith("length-scale") for name in (*family.kernel.names, "noise")]
        prior = replace(family.prior, centre=family.prior.centre - np.where(lengths, 0.5 * np.log(dimension), 0.0))
        return replace(family, kernel=family.kernel.with_parameters(prior.centre[:-1]), prior=prior)

    return tuple(map(lowered, exact_families(dimension)))


@dataclass(frozen=True)
class Reweighted:
    """The noise-free default model with other log weights for its kernels."""

    log_weights: Callable[[Fit], Array]
    model: KernelMixture
    starting_points: int = 3

    def is_mixture(self, dimension: int) -> bool:
        """Yes."""
        return self.model.is_mixture(dimension)

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The default's fit with new weights."""
        found = self.model.fit(seen, previous)
        scores = self.log_weights(found)
        weights = np.exp(scores - scores.max())
        return replace(found, weights=weights / weights.sum())


def tempered(fit: Fit, temperature: float) -> Array:
    """The log weights divided by the temperature; near 0 only the best kernel is left."""
    return np.log(np.maximum(fit.weights, 1e-300)) / temperature


def left_out_values(fit: Fit) -> Array:
    """The leave-one-out log predictive density, summed over the values (Rasmussen and Williams 2006, eq. 5.10 to 5.12)."""
    scores = []
    for posterior in fit.posteriors:
        inverse = solve_triangular(posterior.L, np.eye(len(posterior.y)), lower=True)
        precision = (inverse**2).sum(axis=0)
        scores.append(0.5 * float((np.log(precision / (2 * np.pi)) - posterior.alpha**2 / precision).sum()))
    return np.array(scores)


@dataclass(frozen=True)
class ByTurns:
    """Two rules that alternate."""

    first: Rule
    second: Rule

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """The proposal of the rule whose turn it is."""
        return (self.first, self.second)[belief.step % 2].propose(belief, rng)


VARIANTS: dict[str, tuple[str, Rule, Model]] = {
    "default": ("the default without sweeps", BASE, auto_model()),
    "sweeps": ("the default", Aspiration(), auto_model()),
    "no-margin": ("no margin at the bounds", replace(BASE, margin=0.0), auto_model()),
    "margin-15": ("a margin of 0.15", replace(BASE, margin=0.15), auto_model()),
    "no-ridge": ("without the directional kernel", BASE, _model(5)),
    "no-ripples": ("without the nugget kernel", BASE, _model(4)),
    "counted": ("weights by BIC, not by the integrated evidence", BASE, _model(integrates=False)),
    "straight": ("no output warping", BASE, _model(warps=False)),
    "pg": ("`pg` instead of `aspire`", ProbabilityGood(), auto_model()),
    "eg": ("`eg` instead of `aspire`", ExpectedExcess(), auto_model()),
    "near": ("reach 3 at every step", replace(BASE, reach=(3.0, 3.0)), auto_model()),
    "far": ("reach 3 and no limit in turn", replace(BASE, reach=(3.0, 1e9)), auto_model()),
    "clings": ("never keeps away from evaluated points", replace(BASE, patience=FOR_EVER), auto_model()),
    "no-se": ("without the SE kernel", BASE, _model(0)),
    "no-ard": ("without the ARD kernel", BASE, _model(2)),
    "no-additive": ("without the additive kernel", BASE, _model(3)),
    "interactions": ("with an interaction kernel", BASE, _model(families=with_interactions)),
    "same-lengths": (
        "length-scales expected at 0.5, not 0.5 sqrt(d)",
        BASE,
        _model(families=same_in_every_dimension),
    ),
    "every": ("learns after every value", BASE, _model(learns_at=lambda n: n > 0)),
    "starts-8": ("eight starting points", BASE, _model(starting_points=8)),
    "best-kernel": ("the best kernel alone", BASE, Reweighted(partial(tempered, temperature=1e-3), _model())),
    "tempered": ("weights to the power 1/2", BASE, Reweighted(partial(tempered, temperature=2.0), _model())),
    "left-out": ("weights by leave-one-out predictions", BASE, Reweighted(left_out_values, _model())),
    "turns": ("`pg` and `eg` in turn instead of `aspire`", ByTurns(ProbabilityGood(), ExpectedExcess()), auto_model()),
    "lookahead": ("one-step look-ahead instead of `aspire`", Lookahead(), auto_model()),
    "before": (
        "`pg`, four kernels, no warping, weights by BIC",
        ProbabilityGood(),
        KernelMixture(auto_families, has_grown),
    ),
    "today": ("the default", Aspiration(), auto_model()),
    "simple": ("four kernels, no warping, weights by BIC", Aspiration(), KernelMixture(auto_families, has_grown)),
}
PAIRED = ("today", "simple")  # run later than the others, in pairs
LIMIT = 1.03  # a simpler model that needs at most this share of the default's evaluations replaces it
_PAIRED_NOTE = """The last variant uses the model of the noisy default: no directional or nugget kernel, no warping, and weights by BIC. It was
run later than the others, so it is compared with the default on the same code, machine and seeds, and also on held-out problems:"""


def run_variant(variant: str, problem: str, seed: int) -> Record:
    """The record of one run of a variant."""
    _, rule, model = VARIANTS[variant]
    count, good, _ = run(PROBLEMS[problem], satisfice(rule, model), seed)
    key = f"{variant}/{problem}/{seed}"
    return {"key": key, "lever": variant, "problem": problem, "seed": seed, "evaluations": count, "good": good}


def table(records: list[Record]) -> str:
    """A table of the variants beside the default without sweeps, and one of those beside the default as it is."""
    texts = {variant: text for variant, (text, _, _) in VARIANTS.items()}
    held = [record for record in records if record["problem"] in HELD_OUT]
    tuned = [record for record in records if record["problem"] not in HELD_OUT]
    first = rows(tuned, {variant: text for variant, text in texts.items() if variant not in PAIRED})
    second = rows(tuned, {variant: texts[variant] for variant in PAIRED}, beside="today")
    third = rows(held, {variant: f"{texts[variant]}; held-out problems" for variant in PAIRED}, beside="today")
    parts = [first, _PAIRED_NOTE, "\n".join([second, *third.splitlines()[2:]])]
    logs = {p: float(np.log(figure)) for p, (figure, _) in ratios(tuned, "simple", "today").items()}
    if len(logs) > 1:
        worst, fewer = max(logs, key=lambda p: logs[p]), sum(figure < 0 for figure in logs.values())
        total, rest = (np.exp(np.mean([logs[p] for p in logs if p != out])) for out in (None, worst))
        parts.append(
            f"The default keeps these parts if the simpler model needs more than {LIMIT:.2f} of its evaluations: "
            f"{'it does, and they stay' if total > LIMIT else 'it does not, and they can go'}.\nOf the {len(logs)} problems tuned on, it "
            f"needs fewer on {fewer}; without {worst} the ratio is {rest:.2f}."
        )
    return "\n\n".join(parts)


def paired(records: list[Record], variant: str, beside: str) -> dict[str, Array]:
    """problem: the evaluations (runs, 2) of a variant and of `beside`, on the seeds of both."""
    found: dict[str, dict[str, dict[int, int]]] = {variant: {}, beside: {}}
    for each in records:
        if each["lever"] in found:
            found[each["lever"]].setdefault(each["problem"], {})[each["seed"]] = each["evaluations"]
    ours, theirs = found[variant], found[beside]
    shared = {p: sorted(counts.keys() & theirs[p].keys()) for p, counts in ours.items() if p in theirs}
    return {p: np.array([[ours[p][s], theirs[p][s]] for s in seeds], float) for p, seeds in shared.items() if seeds}


def ratios(records: list[Record], variant: str, beside: str) -> dict[str, tuple[float, Array]]:
    """problem: the ratio of the mean evaluations of a variant to those of `beside`, and that of resampled runs."""
    rng = np.random.default_rng(0)
    return {p: ratio(pairs, rng) for p, pairs in paired(records, variant, beside).items()}


def rows(records: list[Record], variants: Mapping[str, str], beside: str = "default") -> str:
    """A row for each variant: the geometric mean over problems of its mean evaluations, and the ratio to `beside` on the runs of both."""
    lines = [
        "| variant | runs a problem | evaluations, geometric mean | ratio to the first row (95 % interval) | worst on |",
        "|---|---|---|---|---|",
    ]
    for variant, text in variants.items():
        pairs = paired(records, variant, beside)
        if not pairs:
            continue
        found = ratios(records, variant, beside)
        logs = {p: float(np.log(figure)) for p, (figure, _) in found.items()}
        level = np.exp(np.mean([np.log(each[:, 0].mean()) for each in pairs.values()]))
        low, high = interval(np.exp(np.mean([np.log(draws) for _, draws in found.values()], axis=0)))
        together = f"{np.exp(np.mean(list(logs.values()))):.2f} ({low:.2f} to {high:.2f})"
        together = "1" if variant == beside else together
        worst = max(logs, key=lambda p: logs[p])
        fewest, most = (f(map(len, pairs.values())) for f in (min, max))
        runs = str(fewest) if fewest == most else f"{fewest} to {most}"
        lines.append(f"| {text} | {runs} | {level:.1f} | {together} | {worst} ({np.exp(logs[worst]):.1f}) |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default=",".join(VARIANTS))
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := [name for name in names if name not in VARIANTS]:
        parser.error(f"--only must be names of {', '.join(VARIANTS)}, separated by commas; got {', '.join(unknown)}")
    bases = [
        "today" if name in PAIRED else "default" for name in names
    ]  # a variant is compared with runs of its own seeds
    chosen = list(dict.fromkeys([*bases, *names]))
    task = partial(Task, function=run_variant)
    tasks = [
        task(f"{variant}/{p}/{s}", arguments=(variant, p, s))
        for s in range(given.runs)
        for variant in chosen
        for p in ([*NAMES, *HELD_OUT] if variant in PAIRED else NAMES)
    ]
    resume(KEPT, PATH)
    records = run_tasks(tasks, PATH, jobs=given.jobs, title="ablations")
    pack(PATH, KEPT)
    print(table(list(records)))


if __name__ == "__main__":
    main()
