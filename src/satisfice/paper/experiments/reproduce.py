"""One call for each figure of the paper: run what is missing of its records, then draw it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from satisfice.errors import BadInput
from satisfice.paper.experiments import lenient, theory, theory_text
from satisfice.paper.experiments.curves import record_file
from satisfice.paper.experiments.figures import MATPLOTLIB, phi_figure, regret_figure, success_figure
from satisfice.paper.experiments.paper import FIGURES, default_rules, demanding, panels
from satisfice.paper.experiments.records import Records
from satisfice.paper.experiments.run import DISTRIBUTED, JOBLIB, Task, run_tasks, tasks_of
from satisfice.paper.experiments.spec import Panel, Variant, cells
from satisfice.paper.experiments.theory_text import THEORY
from satisfice.paper.problems import PROBLEMS

IDS = ("phi", "real", "noisy", "lenient", "synthetic", "theory", *THEORY, "sts", "none-good", "threshold", "xgboost")


def having(
    names: tuple[str, ...], variant: Variant, only: str | None, rules: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Those of the experiments that have a panel on the problem with one of the rules; an error where none has."""
    if only is None and rules is None:
        return names
    drawn = {name: panels(name, variant) for name in names if name in FIGURES}
    if not drawn:
        raise BadInput(
            f"`--only` and `--rules` do not apply to {names[0]}, which has one problem and its own rules. Leave them out."
        )
    problems = {panel.problem for each in drawn.values() for panel in each}
    if only is not None and only not in problems:
        raise BadInput(f"`--only` must be one of {', '.join(sorted(problems))}; got {only!r}.")
    there = {
        name: {rule for panel in each if only in (None, panel.problem) for rule in panel.rules_as(variant)}
        for name, each in drawn.items()
    }
    known = set().union(*there.values())
    for rule in rules or ():
        if rule not in known:
            raise BadInput(f"`--rules` must be some of {','.join(sorted(known))}; got {rule!r}.")
    return tuple(name for name in drawn if there[name] & (known if rules is None else set(rules)))


@dataclass(frozen=True)
class Work:
    """The runs of an experiment on one problem, and the file of their records."""

    problem: str
    tasks: list[Task]
    path: Path


def work_of(
    name: str,
    *,
    variant: Variant,
    out: Path,
    trials: int,
    experiments: int,
    rules: tuple[str, ...] | None,
    only: str | None,
) -> list[Work]:
    """All runs that a figure needs, whether they are done or not."""
    if name == "phi":
        return []
    if name == "lenient":
        kept: Variant = "published" if variant == "published" else "paper"  # a finite domain needs no optimiser
        problem, function = (
            ("gp2d-published", lenient.run_published) if kept == "published" else ("gp2d", lenient.run_lenient)
        )
        seeds = range(experiments)
        tasks = [
            Task(f"lenient/{rule}/{lenient.ROUNDS}/{s}", function, (rule, s)) for rule in lenient.RULES for s in seeds
        ]
        return [Work(problem, tasks, record_file(out, kept, problem))]
    if name == "theory":
        tasks = [Task(f"theory/{kernel}/{rule}/{seed}", theory.run_theory, (kernel, rule, seed))
                 for kernel in theory.KERNELS for rule in theory.RULES for seed in range(4 * trials)]  # fmt: skip
        return [Work(name, tasks, record_file(out, "paper", name))]
    if name in THEORY:  # sample sizes of their own, chosen by the intervals that they need
        return [Work(name, THEORY[name](), record_file(out, "paper", name))]
    work = cells(
        _panels(name, variant, only),
        demanding(name, variant),
        variant=variant,
        rules=rules or default_rules(variant),
        trials=trials,
        experiments=experiments,
    )
    groups = groupby(sorted(work, key=lambda cell: cell.problem), key=lambda cell: cell.problem)
    return [Work(problem, tasks_of(list(group)), record_file(out, variant, problem)) for problem, group in groups]


def _panels(name: str, variant: Variant, only: str | None) -> list[Panel]:
    return [panel for panel in panels(name, variant) if only in (None, panel.problem)]


def needed(name: str, work: Sequence[Work], cluster: str | None) -> list[tuple[str, str]]:
    """The packages that an experiment will load here, with their extras; a problem's only where it has runs left."""
    found = [] if name in ("theory", "theory-coverage") else [MATPLOTLIB]
    found += [DISTRIBUTED if cluster else JOBLIB] if work else []
    for part in [] if cluster else work:
        needs = PROBLEMS[part.problem].needs if part.problem in PROBLEMS else None
        done = Records(part.path).keys() if part.path.exists() else set()
        if needs is not None and any(task.key not in done for task in part.tasks):
            found.append(needs)
    return found


def reproduce(
    name: str,
    *,
    variant: Variant,
    out: Path,
    trials: int,
    experiments: int,
    rules: tuple[str, ...] | None,
    only: str | None,
    jobs: int,
    cluster: str | None,
) -> tuple[dict[str, Any], Path | None]:
    """The numbers of a figure, and its picture where there is one."""
    work = work_of(name, variant=variant, out=out, trials=trials, experiments=experiments, rules=rules, only=only)
    records: list[Records] = []
    for part in work:
        title = name if name.startswith("theory") else f"{name}: {part.problem}"
        records.append(run_tasks(part.tasks, part.path, jobs=jobs, cluster=cluster, title=title))
    picture = out / "figures" / ("phi.png" if name == "phi" else f"{name}-{variant}.png")
    if name == "phi":
        return phi_figure(picture), picture
    if name == "lenient":
        return lenient.lenient_figure(list(records[0]), picture, work[0].problem), picture
    if name == "theory":
        return theory.theory_table(list(records[0])), None
    if name in THEORY:
        return theory_text.summary(name, list(records[0]), out / "figures")
    draw = regret_figure if name == "none-good" else success_figure
    return draw(_panels(name, variant, only), out, variant, picture), picture
