"""What each part of the default is worth: the default without noise, and variants of it that leave a part out or change it.

    .venv-bench/bin/python bench/ablations.py [--runs 10 --jobs 2 --only straight,pg]

Evaluations until the first good value, as in bench/evaluations.py, on the problems that defaults may be chosen by, tuning tasks excepted
(they take long). Resumable: records go to out/records/levers.jsonl and, packed, to docs/records. Prints the table; bench/write_tables.py puts it into
docs/default.md.
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
from satisfice.gp.additive import Additive
from satisfice.gp.fit import Dataset, Fit, Model
from satisfice.gp.mixture import KernelMixture, has_grown
from satisfice.gp.models import auto_model
from satisfice.gp.priors import KernelPrior, auto_families, exact_families
from satisfice.paper.experiments.records import Record, pack
from satisfice.paper.experiments.run import Task, run_tasks
from satisfice.rules import Rule
from satisfice.rules.analytic import ExpectedExcess, ProbabilityGood
from satisfice.rules.aspiration import Aspiration
from satisfice.rules.lookahead import Lookahead
from satisfice.types import Array

FOR_EVER = 10**9
BASE = Aspiration(sweeps=False)  # sweeps came last: everything is shown beside what was the default until then
ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "levers.jsonl", ROOT / "docs" / "records" / "levers.jsonl.xz"
NAMES = [name for name, p in PROBLEMS.items() if not p.held_out and "tuning task" not in p.tags]


def _model(
    *left_out: int,
    families: Callable[[int], tuple[KernelPrior, ...]] = exact_families,
    warps: bool = True,
    integrates: bool = True,
    learns_at: Callable[[int], bool] = has_grown,
    starting_points: int = 3,
) -> KernelMixture:
    """The default model without noise, but for some of its kernels or other parts."""

    def chosen(dimension: int) -> tuple[KernelPrior, ...]:
        return tuple(f for k, f in enumerate(families(dimension)) if k not in left_out or dimension == 1)

    return KernelMixture(chosen, learns_at, starting_points, warps=warps, integrates=integrates, tolerance=1e-3)


def with_interactions(dimension: int) -> tuple[KernelPrior, ...]:
    """The default's kernels, and one of main effects and interactions of two coordinates, expected to be like the additive one."""
    if dimension == 1:
        return exact_families(dimension)
    additive = exact_families(dimension)[3]
    return (*exact_families(dimension), replace(additive, kernel=Interacting("matern52", np.array([0.5]))))


def same_in_every_dimension(dimension: int) -> tuple[KernelPrior, ...]:
    """The default's kernels, but a length-scale of 0.5 is expected whatever the dimension, not 0.5 sqrt(d)."""

    def lowered(family: KernelPrior) -> KernelPrior:
        if isinstance(family.kernel, Additive):  # its length-scale is the same already
            return family
        lengths = [name.startswith("length-scale") for name in (*family.kernel.names, "noise")]
        prior = replace(family.prior, centre=family.prior.centre - np.where(lengths, 0.5 * np.log(dimension), 0.0))
        return replace(family, kernel=family.kernel.with_parameters(prior.centre[:-1]), prior=prior)

    return tuple(map(lowered, exact_families(dimension)))


@dataclass(frozen=True)
class Reweighted:
    """The default model without noise, but with other log weights for its kernels."""

    log_weights: Callable[[Fit], Array]
    model: KernelMixture
    starting_points: int = 3

    def is_mixture(self, dimension: int) -> bool:
        """It is."""
        return self.model.is_mixture(dimension)

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The default's fit, weighted anew."""
        found = self.model.fit(seen, previous)
        scores = self.log_weights(found)
        weights = np.exp(scores - scores.max())
        return replace(found, weights=weights / weights.sum())


def tempered(fit: Fit, temperature: float) -> Array:
    """The weights to the power 1 / temperature; at nearly 0 the best kernel alone is left."""
    return np.log(np.maximum(fit.weights, 1e-300)) / temperature


def left_out_values(fit: Fit) -> Array:
    """The log density of each value given all the others, summed (Rasmussen and Williams 2006, eq. 5.10 to 5.12)."""
    scores = []
    for posterior in fit.posteriors:
        inverse = solve_triangular(posterior.L, np.eye(len(posterior.y)), lower=True)
        precision = (inverse**2).sum(axis=0)
        scores.append(0.5 * float((np.log(precision / (2 * np.pi)) - posterior.alpha**2 / precision).sum()))
    return np.array(scores)


@dataclass(frozen=True)
class ByTurns:
    """Two rules, one question each."""

    first: Rule
    second: Rule

    def propose(self, belief: Belief, rng: Generator) -> Array:
        """What the one whose turn it is proposes."""
        return (self.first, self.second)[belief.step % 2].propose(belief, rng)


LEVERS: dict[str, tuple[str, Rule, Model]] = {
    "default": ("the default without sweeps", BASE, auto_model()),
    "sweeps": ("the default", Aspiration(), auto_model()),
    "no-margin": ("no margin from the sides", replace(BASE, margin=0.0), auto_model()),
    "margin-15": ("a margin of 0.15", replace(BASE, margin=0.15), auto_model()),
    "no-ridge": ("without the ridge", BASE, _model(5)),
    "no-ripples": ("without the ripples", BASE, _model(4)),
    "counted": ("weights by the number of hyperparameters", BASE, _model(integrates=False)),
    "straight": ("straight units", BASE, _model(warps=False)),
    "pg": ("pg in the place of aspire", ProbabilityGood(), auto_model()),
    "eg": ("eg in its place", ExpectedExcess(), auto_model()),
    "near": ("reach 3 at every question", replace(BASE, reach=(3.0, 3.0)), auto_model()),
    "far": ("reach 3 and without limit by turns", replace(BASE, reach=(3.0, 1e9)), auto_model()),
    "clings": ("never keeps a distance", replace(BASE, patience=FOR_EVER), auto_model()),
    "no-se": ("without the SE kernel", BASE, _model(0)),
    "no-ard": ("without a length-scale for each dimension", BASE, _model(2)),
    "no-additive": ("without the additive kernel", BASE, _model(3)),
    "interactions": ("with a kernel of interactions", BASE, _model(families=with_interactions)),
    "same-lengths": (
        "0.5 expected of length-scales, not 0.5 sqrt(d)",
        BASE,
        _model(families=same_in_every_dimension),
    ),
    "every": ("learns after every value", BASE, _model(learns_at=lambda n: n > 0)),
    "starts-8": ("eight starting points", BASE, _model(starting_points=8)),
    "best-kernel": ("the best kernel alone", BASE, Reweighted(partial(tempered, temperature=1e-3), _model())),
    "tempered": ("weights to the power 1/2", BASE, Reweighted(partial(tempered, temperature=2.0), _model())),
    "left-out": ("weights by predicting values left out", BASE, Reweighted(left_out_values, _model())),
    "turns": ("pg and eg by turns in the place of aspire", ByTurns(ProbabilityGood(), ExpectedExcess()), auto_model()),
    "lookahead": ("a look one evaluation ahead in its place", Lookahead(), auto_model()),
    "before": ("pg, four kernels, straight units", ProbabilityGood(), KernelMixture(auto_families, has_grown)),
}


def run_lever(lever: str, problem: str, seed: int) -> Record:
    """One run of a variant, as a record."""
    _, rule, model = LEVERS[lever]
    count, good, _ = run(PROBLEMS[problem], satisfice(rule, model), seed)
    key = f"{lever}/{problem}/{seed}"
    return {"key": key, "lever": lever, "problem": problem, "seed": seed, "evaluations": count, "good": good}


def table(records: list[Record]) -> str:
    """A row a variant."""
    return rows(records, {lever: says for lever, (says, _, _) in LEVERS.items()})


def rows(records: list[Record], variants: Mapping[str, str]) -> str:
    """A row a variant: the geometric mean over the problems of its mean evaluations, and that over the default's, on the same runs."""
    means: dict[str, dict[str, dict[int, int]]] = {}
    for each in records:
        means.setdefault(each["lever"], {}).setdefault(each["problem"], {})[each["seed"]] = each["evaluations"]
    lines = [
        "| variant | runs a problem | evaluations, geometric mean | ratio to the first row (95 % interval) | worst on |"
    ]
    lines.append("|---|---|---|---|---|")
    for lever, says in variants.items():
        shared = {p: sorted(means[lever][p].keys() & means["default"][p].keys()) for p in means.get(lever, {})}
        if not shared:
            continue
        pairs = {
            p: np.array([[means[who][p][s] for who in (lever, "default")] for s in seeds], dtype=float)
            for p, seeds in shared.items()
        }
        rng = np.random.default_rng(0)
        found = {p: ratio(each, rng) for p, each in pairs.items()}  # the runs of each problem are drawn again
        logs = {p: float(np.log(figure)) for p, (figure, _) in found.items()}
        level = np.exp(np.mean([np.log(each[:, 0].mean()) for each in pairs.values()]))
        low, high = interval(np.exp(np.mean([np.log(draws) for _, draws in found.values()], axis=0)))
        worst = max(logs, key=lambda p: logs[p])
        together = f"{np.exp(np.mean(list(logs.values()))):.2f} ({low:.2f} to {high:.2f})"
        fewest, most = (f(len(seeds) for seeds in shared.values()) for f in (min, max))
        runs = str(fewest) if fewest == most else f"{fewest} to {most}"
        lines.append(
            f"| {says} | {runs} | {level:.1f} | {together if lever != 'default' else '1'} | {worst} ({np.exp(logs[worst]):.1f}) |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default=",".join(LEVERS))
    given = parser.parse_args()
    chosen = list(dict.fromkeys(["default", *given.only.split(",")]))  # every variant is shown beside the default
    if unknown := [name for name in chosen if name not in LEVERS]:
        parser.error(f"--only: {', '.join(unknown)} came; some of {', '.join(LEVERS)} were wanted")
    task = partial(Task, function=run_lever)
    tasks = [
        task(f"{lever}/{p}/{s}", arguments=(lever, p, s)) for lever in chosen for s in range(given.runs) for p in NAMES
    ]
    records = run_tasks(tasks, PATH, jobs=given.jobs, title="levers")
    pack(PATH, KEPT)
    print(table(list(records)))


if __name__ == "__main__":
    main()
