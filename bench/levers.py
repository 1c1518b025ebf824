"""What each part of the default is worth: the default without noise, and variants of it that leave a part out or change it.

    .venv-bench/bin/python bench/levers.py [--runs 10 --jobs 2 --only straight,pg]

Evaluations until the first good value, as in bench/evaluations.py, on the problems that defaults may be chosen by, tuning tasks excepted
(they take long). Resumable: records go to out/records/levers.jsonl and, packed, to docs/records. Prints the table; bench/write_tables.py puts it into
docs/default.md.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from bootstrap import interval, ratio
from eval_peers import satisfice
from eval_problems import PROBLEMS
from evaluations import run

from satisfice.experiments.records import Record, pack
from satisfice.experiments.run import Task, run_tasks
from satisfice.gp.families import Family, auto_families, exact_families
from satisfice.gp.fit import Model
from satisfice.gp.learned import LearnedModel, has_grown
from satisfice.gp.models import auto_model
from satisfice.rules import Rule
from satisfice.rules.aspire import Aspire
from satisfice.rules.marginal import ExpectedExcess, ProbabilityGood

FOR_EVER = 10**9
ROOT = Path(__file__).parent.parent
PATH, KEPT = ROOT / "out" / "records" / "levers.jsonl", ROOT / "docs" / "records" / "levers.jsonl.gz"
NAMES = [name for name, p in PROBLEMS.items() if not p.held_out and "tuning task" not in p.tags]


def _model(*left_out: int, bends: bool = True, integrates: bool = True) -> LearnedModel:
    """The default model without noise, but for some of its kernels or other parts."""

    def families(dimension: int) -> tuple[Family, ...]:
        return tuple(f for k, f in enumerate(exact_families(dimension)) if k not in left_out or dimension == 1)

    return LearnedModel(families, has_grown, bends=bends, integrates=integrates)


LEVERS: dict[str, tuple[str, Rule, Model]] = {
    "default": ("the default", Aspire(), auto_model()),
    "no-margin": ("no margin from the sides", Aspire(margin=0.0), auto_model()),
    "margin-15": ("a margin of 0.15", Aspire(margin=0.15), auto_model()),
    "no-ridge": ("without the ridge", Aspire(), _model(5)),
    "no-ripples": ("without the ripples", Aspire(), _model(4)),
    "counted": ("weights by the number of hyperparameters", Aspire(), _model(integrates=False)),
    "straight": ("straight units", Aspire(), _model(bends=False)),
    "pg": ("pg in the place of aspire", ProbabilityGood(), auto_model()),
    "eg": ("eg in its place", ExpectedExcess(), auto_model()),
    "near": ("reach 3 at every question", Aspire(reach=(3.0, 3.0)), auto_model()),
    "far": ("reach 3 and without limit by turns", Aspire(reach=(3.0, 1e9)), auto_model()),
    "clings": ("never keeps a distance", Aspire(patience=FOR_EVER), auto_model()),
    "no-se": ("without the SE kernel", Aspire(), _model(0)),
    "no-ard": ("without a length-scale for each dimension", Aspire(), _model(2)),
    "no-additive": ("without the additive kernel", Aspire(), _model(3)),
    "before": ("pg, four kernels, straight units", ProbabilityGood(), LearnedModel(auto_families, has_grown)),
}


def run_lever(lever: str, problem: str, seed: int) -> Record:
    """One run of a variant, as a record."""
    _, rule, model = LEVERS[lever]
    count, good, _ = run(PROBLEMS[problem], satisfice(rule, model), seed)
    key = f"{lever}/{problem}/{seed}"
    return {"key": key, "lever": lever, "problem": problem, "seed": seed, "evaluations": count, "good": good}


def table(records: list[Record]) -> str:
    """A row a variant: the geometric mean over the problems of its mean evaluations, and that over the default's, on the same runs."""
    means: dict[str, dict[str, dict[int, int]]] = {}
    for each in records:
        means.setdefault(each["lever"], {}).setdefault(each["problem"], {})[each["seed"]] = each["evaluations"]
    lines = [
        "| variant | runs a problem | evaluations, geometric mean | ratio to the default (95 % interval) | worst on |"
    ]
    lines.append("|---|---|---|---|---|")
    for lever, (says, _, _) in LEVERS.items():
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
        runs = min(len(seeds) for seeds in shared.values())
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
