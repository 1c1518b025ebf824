"""What an experiment is, as frozen values: panels of a figure, and the cells of work that they ask for."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from satisfice.paper.problems import PROBLEMS

Variant = Literal["paper", "paper-local", "published", "auto"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)

READS_TARGET = ("auto", "pg", "eg", "gs", "sts", "lookahead")  # the other rules run once and serve every target
GOOD_RULES, OPTIMISERS = ("pg", "eg", "gs"), ("pi", "ei", "mes", "ucb", "ts")
FLOOR = "random"  # what every rule is to be better than


@dataclass(frozen=True)
class Panel:
    """A problem with one target, and the rules that are compared on it."""

    problem: str
    target: float
    label: str  # of the target, for people
    rules: tuple[str, ...] = (*GOOD_RULES, *OPTIMISERS, FLOOR)
    noise: float = 0.0
    budget: int = 200
    to_the_end: bool = False  # goes on after a good action: under noise, and where there is none

    def rules_as(self, variant: str) -> tuple[str, ...]:
        """The rules that may run as a variant: as ours also the default one."""
        return ("auto", *self.rules) if variant == "auto" else self.rules


@dataclass(frozen=True)
class Cell:
    """One run: a rule on a problem from three starting points. It is done when a value reaches `stop`, or after `budget`."""

    variant: Variant
    problem: str
    rule: str
    target: float | None  # None: the rule does not read it
    stop: float | None  # None: goes to the end
    noise: float
    budget: int
    trial: int
    experiment: int

    @property
    def key(self) -> str:
        """What tells it from every other cell, whatever it stops at."""
        target = "-" if self.target is None else f"{self.target:.6g}"
        where = f"{self.problem}/{self.noise:g}/{self.budget}"
        return f"{self.variant}/{where}/{self.rule}/{target}/{self.trial}/{self.experiment}"

    def as_dict(self) -> dict[str, Any]:
        """Its fields, for a record."""
        return asdict(self)


def by_xi(problem: str, xi: float) -> float:
    """The target that a share xi of the uniform actions reaches."""
    return PROBLEMS[problem].target_at(xi)


def cells(
    panels: Iterable[Panel],
    everything: Iterable[Panel],
    *,
    variant: Variant,
    rules: tuple[str, ...] | None,
    trials: int,
    experiments: int,
) -> list[Cell]:
    """The cells of the panels. A rule that does not read the target gets one cell for all panels on the same problem,
    which goes as far as the most demanding of `everything` that may ask for it.
    """
    demands: dict[tuple[str, float, int], float] = {}
    for panel in everything:
        where = (panel.problem, panel.noise, panel.budget)
        demands[where] = max(demands.get(where, -np.inf), np.inf if panel.to_the_end else panel.target)
    found: dict[str, Cell] = {}
    for panel in panels:
        for rule in panel.rules_as(variant):
            if rules is not None and rule not in rules:
                continue
            reads = rule in READS_TARGET
            stop = panel.target if reads else demands[panel.problem, panel.noise, panel.budget]
            endless = panel.to_the_end or np.isinf(stop)
            for trial in range(trials):
                for experiment in range(experiments):
                    cell = Cell(
                        variant=variant,
                        problem=panel.problem,
                        rule=rule,
                        target=panel.target if reads else None,
                        stop=None if endless else stop,
                        noise=panel.noise,
                        budget=panel.budget,
                        trial=trial,
                        experiment=experiment,
                    )
                    found.setdefault(cell.key, cell)
    return list(found.values())
