"""One call for each figure of the paper: run what is missing of its records, then draw it."""

from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from satisfice.experiments import lenient, theory, theory_text
from satisfice.experiments.curves import record_file
from satisfice.experiments.figures import phi_figure, regret_figure, success_figure
from satisfice.experiments.paper import FIGURES, default_rules, demanding, panels
from satisfice.experiments.run import Task, run_tasks, tasks_of
from satisfice.experiments.spec import Variant, cells
from satisfice.experiments.theory_text import THEORY
from satisfice.types import BadInput

IDS = ("phi", "real", "noisy", "lenient", "synthetic", "theory", *THEORY, "sts", "none-good", "threshold", "xgboost")


def having(
    names: tuple[str, ...], variant: Variant, only: str | None, rules: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Those of the experiments that have a panel on the problem with one of the rules; an error where none has."""
    if only is None and rules is None:
        return names
    drawn = {name: panels(name) for name in names if name in FIGURES}
    if not drawn:
        raise BadInput(f"--only or --rules came, but {names[0]} has one problem and its own rules; leave them out")
    problems = {panel.problem for each in drawn.values() for panel in each}
    if only is not None and only not in problems:
        raise BadInput(f"--only: {only!r} came; one of {', '.join(sorted(problems))} was wanted")
    there = {
        name: {rule for panel in each if only in (None, panel.problem) for rule in panel.rules_as(variant)}
        for name, each in drawn.items()
    }
    known = set().union(*there.values())
    for rule in rules or ():
        if rule not in known:
            raise BadInput(f"--rules: {rule!r} came; some of {','.join(sorted(known))} were wanted")
    return tuple(name for name in drawn if there[name] & (known if rules is None else set(rules)))


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
    picture = out / "figures" / f"{name}-{variant}.png"
    run = partial(run_tasks, jobs=jobs, cluster=cluster)
    if name == "phi":
        picture = out / "figures" / "phi.png"
        return phi_figure(picture), picture
    if name == "lenient":
        problem, function = (
            ("gp2d-published", lenient.run_published) if variant == "published" else ("gp2d", lenient.run_lenient)
        )
        seeds = range(experiments)
        runs = [
            Task(f"lenient/{rule}/{lenient.ROUNDS}/{s}", function, (rule, s)) for rule in lenient.RULES for s in seeds
        ]
        records = run(runs, record_file(out, variant, problem), title=f"{name}: {problem}")
        return lenient.lenient_figure(list(records), picture, problem), picture
    if name == "theory":
        runs = [Task(f"theory/{kernel}/{rule}/{seed}", theory.run_theory, (kernel, rule, seed))
                for kernel in theory.KERNELS for rule in theory.RULES for seed in range(4 * trials)]  # fmt: skip
        return theory.theory_table(list(run(runs, record_file(out, "paper", "theory"), title=name))), None
    if name in THEORY:  # sample sizes of their own, chosen by the intervals that they need
        kept = run(THEORY[name](), record_file(out, "paper", name), title=name)
        return theory_text.summary(name, list(kept), out / "figures")
    chosen = [panel for panel in panels(name) if only in (None, panel.problem)]
    work = cells(
        chosen,
        demanding(name),
        variant=variant,
        rules=rules or default_rules(variant),
        trials=trials,
        experiments=experiments,
    )
    for problem, group in groupby(sorted(work, key=lambda cell: cell.problem), key=lambda cell: cell.problem):
        path = record_file(out, variant, problem)
        run(tasks_of(list(group)), path, title=f"{name}: {problem}")
    draw = regret_figure if name == "none-good" else success_figure
    return draw(chosen, out, variant, picture), picture
