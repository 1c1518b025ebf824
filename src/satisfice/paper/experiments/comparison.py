"""What a comparison of rules has found: curves, a table and a plot of its records."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from satisfice.errors import BadInput
from satisfice.extras import load_extra
from satisfice.paper.experiments.blocks import evaluations
from satisfice.paper.experiments.curves import success
from satisfice.paper.experiments.figures import DPI, draw_line, finish, style_of
from satisfice.paper.experiments.inference import standard_error
from satisfice.paper.experiments.records import Record
from satisfice.paper.experiments.spec import Panel
from satisfice.paper.problems import Problem
from satisfice.types import Array


class Row(NamedTuple):
    """One rule on one problem, over all runs."""

    problem: str
    rule: str
    runs: int
    evaluations: float  # the restricted mean: a run that finds nothing counts as the budget
    standard_error: float
    success: float  # the share of the runs that have succeeded at the end


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns: the records of all runs, and curves, a table and a plot of them. `print` shows the table."""

    rules: tuple[str, ...]
    problems: tuple[Problem, ...]
    budget: int
    records: tuple[Record, ...]

    @cached_property
    def _found(self) -> dict[tuple[str, str], list[Record]]:
        found: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            found.setdefault((record["problem"], record["rule"]), []).append(record)
        return found

    def _panel(self, problem: Problem) -> Panel:
        label = f"target {problem.target:.4g}"
        return Panel(problem.name, problem.target, label, self.rules, problem.noise, self.budget)

    def success(self, problem: str | None = None) -> dict[str, Array]:
        """The share of the runs that have succeeded after each evaluation, by rule.

        Parameters
        ----------
        problem : str, optional
            The name of the problem. Needed if there are several.

        Returns
        -------
        dict of str to array (budget,)
            Without noise a run has succeeded once it has evaluated a good point, with noise while the point that the model
            recommends is good.
        """
        names = [each.name for each in self.problems]
        if problem not in (names if len(names) > 1 else [*names, None]):
            raise BadInput(f"`problem` must be one of {', '.join(names)}; got {problem!r}.")
        chosen = self.problems[0 if problem is None else names.index(problem)]
        panel = self._panel(chosen)
        return {
            rule: np.mean([success(record, panel) for record in self._found[chosen.name, rule]], axis=0)
            for rule in self.rules
        }

    def table(self) -> list[Row]:
        """The rows of the table, a row for each rule on each problem, in the order in which they were given."""
        rows = []
        for problem in self.problems:
            panel = self._panel(problem)
            for rule in self.rules:
                runs = self._found[problem.name, rule]
                counts = np.array([evaluations(record, panel) for record in runs])
                end = np.mean([success(record, panel)[-1] for record in runs])
                rows.append(
                    Row(problem.name, rule, len(runs), float(counts.mean()), standard_error(counts), float(end))
                )
        return rows

    def __str__(self) -> str:
        head = ("problem", "rule", "runs", "evaluations", "success")
        lines = [
            (
                row.problem,
                row.rule,
                str(row.runs),
                f"{row.evaluations:.1f} ± {row.standard_error:.1f}",
                f"{row.success:.2f}",
            )
            for row in self.table()
        ]
        widths = [max(len(line[k]) for line in (head, *lines)) for k in range(len(head))]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in (head, *lines))

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw the success curves, a plot for each problem; random search is the dotted line.

        Parameters
        ----------
        path : path, optional
            Where to save the picture.

        Returns
        -------
        matplotlib.figure.Figure
            Bars are a standard error.
        """
        plt = load_extra("matplotlib.pyplot", "experiments")
        across = min(3, len(self.problems))
        down = -(-len(self.problems) // across)
        figure, rows = plt.subplots(
            down, across, figsize=(4.6 * across, 3.3 * down), sharey=True, squeeze=False, layout="constrained"
        )
        for axes, problem in zip(rows.flat, self.problems, strict=False):
            panel = self._panel(problem)
            for rule in self.rules:
                curves = np.array([success(record, panel) for record in self._found[problem.name, rule]])
                error = curves.std(axis=0) / np.sqrt(len(curves))
                draw_line(axes, rule, curves.mean(axis=0), error, style=style_of(rule, self.rules))
            runs = len(self._found[problem.name, self.rules[0]])
            finish(axes, f"{problem.name}, {panel.label}; {runs} runs a rule")
            axes.set(xlabel="evaluations", ylabel="success fraction")
        for axes in rows.flat[len(self.problems) :]:
            axes.remove()
        if path is not None:
            figure.savefig(path, dpi=DPI)
        return figure
