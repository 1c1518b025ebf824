"""What the optimiser of the acquisition does: the same rules with ten uniform starts (`paper`) and with ours (`paper-local`)."""

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from satisfice.paper.experiments.blocks import Archive, Key
from satisfice.paper.experiments.claim_parts import where
from satisfice.paper.experiments.figures import finish, pyplot, save, style_of
from satisfice.paper.experiments.inference import LEVEL, holm, p_below, pseudo_values, standard_error
from satisfice.paper.experiments.paper import FIGURES, panels
from satisfice.paper.experiments.spec import FLOOR, Panel
from satisfice.paper.experiments.text import paragraph, picture, table
from satisfice.types import Array

FEWEST = 5  # runs that both must have
NAME = "optimiser"


@dataclass(frozen=True)
class Effect:
    """The evaluations of one rule on one panel with both optimisers, over the runs from the same starting points."""

    panel: Panel
    rule: str
    runs: tuple[Key, ...]  # trial and experiment
    both: Array  # (runs, 2): paper, paper-local

    @property
    def means(self) -> Array:
        """The restricted means (2,)."""
        return self.both.mean(axis=0)

    @property
    def errors(self) -> Array:
        """Their standard errors (2,)."""
        return np.array([standard_error(self.both[:, k]) for k in range(2)])

    @property
    def logs(self) -> Array:
        """Pseudo-values (runs,) of log(paper-local / paper)."""
        return pseudo_values(lambda means: np.log(means[:, 1] / means[:, 0]), self.both)

    @property
    def factor(self) -> float:
        """How many times as many evaluations `paper-local` needs."""
        return float(self.means[1] / self.means[0])

    @property
    def interval(self) -> tuple[float, float]:
        """About 95 % for the factor."""
        middle, error = np.log(self.factor), 1.96 * standard_error(self.logs)
        return float(np.exp(middle - error)), float(np.exp(middle + error))

    @property
    def p(self) -> float:
        """Two-sided, that the optimiser makes a difference."""
        return min(1.0, 2 * min(p_below(self.logs), p_below(-self.logs)))


def effects(out: Path) -> dict[Panel, list[Effect]]:
    """By panel, the rules that have runs in both variants."""
    paper, local = Archive(out, "paper"), Archive(out, "paper-local")
    every = [panel for name in FIGURES if name != "none-good" for panel in panels(name)]
    found: dict[Panel, list[Effect]] = {}
    for panel in dict.fromkeys(every):
        ours, theirs = local.measured(panel), paper.measured(panel)
        for rule in (rule for rule in theirs if rule in ours and rule != FLOOR):
            runs = sorted(set(theirs[rule]) & set(ours[rule]))
            if len(runs) >= FEWEST:
                both = np.array([[theirs[rule][run], ours[rule][run]] for run in runs])
                found.setdefault(panel, []).append(Effect(panel, rule, tuple(runs), both))
    return found


def optimiser_text(out: Path, pictures: Path) -> str:
    """The section with its figure and its table."""
    found = effects(out)
    head = "## The optimiser and the rule\n"
    if not found:
        return head + "\nThere are no runs yet that `paper` and `paper-local` have both.\n"
    optimiser_figure(found, pictures / f"{NAME}.png")
    caption = (
        "Evaluations (restricted mean) of each rule with the optimiser of the text, left, and with ours, right, a line a rule. "
        "Bars are a standard error; where lines cross, the optimiser decides which rule is better."
    )
    columns = ["problem", "runs", "fastest: `paper`", "`paper-local`", "pg", "changed most", "factor (95 %)"]
    rows = [_row(panel, rules) for panel, rules in found.items()]
    return "\n".join(
        [head, _finding(found), picture(NAME, "Evaluations with both optimisers", caption), table(columns, rows)]
    )


def _row(panel: Panel, rules: list[Effect]) -> list[str]:
    fastest = [min(rules, key=lambda effect: effect.means[k]) for k in range(2)]
    most = max(rules, key=lambda effect: abs(np.log(effect.factor)))
    counts = sorted({len(effect.both) for effect in rules})
    pg = next((effect for effect in rules if effect.rule == "pg"), None)
    return [
        where(panel).removeprefix("on "),
        str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}",
        *(f"{effect.rule} {effect.means[k]:.3g}" for k, effect in enumerate(fastest)),
        f"{pg.means[0]:.3g} → {pg.means[1]:.3g}" if pg else "",
        f"{most.rule} {most.means[0]:.3g} → {most.means[1]:.3g}",
        f"{most.factor:.2f} ({most.interval[0]:.2f} to {most.interval[1]:.2f})",
    ]


def _finding(found: dict[Panel, list[Effect]]) -> str:
    every = [effect for rules in found.values() for effect in rules]
    changed = sum(p <= LEVEL for p in holm([effect.p for effect in every]))
    by_optimiser = [max(effect.factor, 1 / effect.factor) for effect in every]
    ratios = [(a.means[0] / b.means[0], a, b) for rules in found.values() for a, b in combinations(rules, 2)]
    by_rule = [max(ratio, 1 / ratio) for ratio, _, _ in ratios]
    turned = [(a, b) for ratio, a, b in ratios if (ratio - 1) * (a.means[1] / b.means[1] - 1) < 0]
    shown = sum(_order_is_shown(a, b, 0) and _order_is_shown(a, b, 1) for a, b in turned)
    other = sum(len({min(rules, key=lambda e: e.means[k]).rule for k in (0, 1)}) == 2 for rules in found.values())
    largest = every[int(np.argmax(by_optimiser))]
    said = f"""
        `paper` maximises acquisitions as the text says, by L-BFGS-B from ten uniform starts, and the likelihood over its whole
        range. `paper-local` maximises both with our own optimisers: that of acquisitions also starts next to the best points so
        far, and that of the likelihood starts from the last result and few random points. The rules, the kernel and the starting
        points are the same. Of {len(every)} pairs of a rule and a problem, {changed} need a different number of evaluations
        (shown at {LEVEL:.0%} after Holm's correction). The optimiser changes the evaluations by a factor of
        {np.median(by_optimiser):.2f} in the median, and of {max(by_optimiser):.2f} at most ({largest.rule}
        {where(largest.panel)}: {largest.means[0]:.3g} in `paper`, {largest.means[1]:.3g} in `paper-local`).
    """
    if by_rule:
        said += f"""
            Two rules on the same problem differ by a factor of {np.median(by_rule):.2f} in the median of {len(by_rule)} pairs; in
            {len(turned)} of these the optimiser turns which of the two is faster, in {shown} so that both orders are shown (each
            by itself at {LEVEL:.0%}), and on {other} of {len(found)} problems it changes which is fastest of all.
        """
    return paragraph(said)


def _order_is_shown(a: Effect, b: Effect, variant: int) -> bool:
    """Whether one of two rules is shown to be faster with one optimiser, over the runs that both rules have."""
    mine, others = (
        dict(zip(a.runs, a.both[:, variant], strict=True)),
        dict(zip(b.runs, b.both[:, variant], strict=True)),
    )
    differences = np.array([mine[run] - others[run] for run in mine if run in others])
    return min(p_below(differences), p_below(-differences)) <= LEVEL / 2


def optimiser_figure(found: dict[Panel, list[Effect]], path: Path) -> None:
    """A plot a panel: the evaluations of each rule with one optimiser and with the other, joined by a line."""
    across = min(4, len(found))
    down = -(-len(found) // across)
    figure, rows = pyplot().subplots(
        down, across, figsize=(2.7 * across, 2.8 * down + 0.4), squeeze=False, layout="constrained"
    )
    shown: dict[str, Any] = {}
    for axes, (panel, rules) in zip(rows.flat, found.items(), strict=False):
        for place, effect in enumerate(rules):
            colour, marker = style_of(effect.rule)
            shift = 0.03 * (place - (len(rules) - 1) / 2)  # so that bars do not hide each other
            shown[effect.rule] = axes.errorbar(
                np.array([0, 1]) + shift,
                effect.means,
                effect.errors,
                color=colour,
                marker=marker,
                markersize=4.5,
                linewidth=1.3,
                elinewidth=0.8,
                capsize=1.5,
            )
        finish(axes, where(panel).removeprefix("on "), legend=False, ylim=None)
        axes.set(yscale="log", xlim=(-0.3, 1.3), xticks=[0, 1], xticklabels=["paper", "paper-local"])
        low, high = axes.get_ylim()
        ticks = [t for t in (5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200) if low <= t <= high]
        axes.set_yticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
    for axes in rows.flat[len(found) :]:
        axes.remove()
    for row in rows:
        row[0].set_ylabel("evaluations")
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown), fontsize=8, frameon=False)
    save(figure, path)
