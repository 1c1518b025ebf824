"""From records to blocks: one number for each run, and runs of two rules matched by their starting points."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from satisfice.paper.experiments import lenient
from satisfice.paper.experiments.curves import load, record_file, success
from satisfice.paper.experiments.paper import panels
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.spec import Panel, Variant
from satisfice.paper.regret import Curves
from satisfice.types import Array

Key = tuple[int, int]  # trial and experiment
Measured = Mapping[Key, float]
Measure = Callable[[Record, Panel], float]


def evaluations(record: Record, panel: Panel) -> float:
    """The evaluations without success: min(T, budget), where T is the first good one; its mean is the restricted mean of T.

    A run that finds nothing counts as the budget and no more: its T is censored there. The mean over the runs is the area above
    the success curve. Under noise, where a good recommendation may be lost again, it is that area by definition.
    """
    return float(1 + np.sum(1 - success(record, panel)[:-1]))


@dataclass(frozen=True)
class Archive:
    """The records of one variant, as the claims and the figures want them."""

    out: Path
    variant: Variant

    @cached_property
    def _kept(self) -> dict[tuple[Panel, Measure], dict[str, dict[Key, float]]]:
        return {}

    def panels(self, name: str, *problems: str) -> list[Panel]:
        """The panels of a figure as the variant has them; only those on the problems, if any are given."""
        drawn = panels(name, self.variant)
        return [panel for panel in drawn if not problems or panel.problem in problems]

    def measured(self, panel: Panel, measure: Measure = evaluations) -> dict[str, dict[Key, float]]:
        """A number for each run of a panel, by rule."""
        if (panel, measure) not in self._kept:
            self._kept[panel, measure] = {
                rule: {(record["trial"], record["experiment"]): measure(record, panel) for record in records}
                for rule, records in load(self.out, self.variant, panel).items()
            }
        return self._kept[panel, measure]

    def block(self, key: Key) -> object:
        """What shares its starting points with the run: itself; in the published code the whole trial."""
        return key[0] if self.variant == "published" else key

    def matched(self, *rules: Measured) -> Array:
        """The means of each block (blocks, rules), over the runs that all the rules have."""
        common = sorted(set(rules[0]).intersection(*rules[1:])) if rules else []
        grouped: dict[object, list[list[float]]] = {}
        for key in common:
            grouped.setdefault(self.block(key), []).append([measured[key] for measured in rules])
        return np.array([np.mean(rows, axis=0) for rows in grouped.values()]).reshape(-1, len(rules))

    def means(self, measured: Measured) -> Array:
        """The means of the blocks (blocks,) of one rule."""
        return self.matched(measured)[:, 0]

    def regrets(self, measure: Callable[[Curves], Array]) -> dict[str, dict[Key, float]]:
        """A number for each run of the experiment on lenient regret, by rule.

        A finite domain needs no optimiser, so that `paper` and `paper-local` are one. In the published code five runs share
        their starting points, as those of a trial do.
        """
        published = self.variant == "published"
        problem = "gp2d-published" if published else "gp2d"
        records = list(Records(record_file(self.out, "published" if published else "paper", problem)))
        seeds = {rule: [r["seed"] for r in records if r["rule"] == rule] for rule in lenient.RULES}
        return {
            rule: {divmod(seed, 5): float(value) for seed, value in zip(seeds[rule], measure(curves), strict=True)}
            for rule, curves in lenient.curves_of(records, problem).items()
        }
