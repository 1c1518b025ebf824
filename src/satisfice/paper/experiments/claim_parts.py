"""The parts of the paper's claims on evaluations (2 to 5 and 7): what is compared with what, and how much its words mean.

A rival is every rule that the claim speaks of, or the one that it names; none is chosen by its outcome. Words that are not
numbers are given one, the same everywhere.
"""

from itertools import pairwise

import numpy as np

from satisfice.paper.experiments.blocks import Archive, Measured
from satisfice.paper.experiments.inference import p_least_above, pseudo_values
from satisfice.paper.experiments.judge import Part, below
from satisfice.paper.experiments.spec import GOOD_RULES, OPTIMISERS, Panel
from satisfice.types import Array

CLEAR = 0.9  # "noticeable", "considerable": a tenth less. "Alike": within a tenth. "Far below": a tenth more at most
MUCH = 1.5  # "level", "a little", "slightly": not by this factor
PAPER_RULES = (*GOOD_RULES, *OPTIMISERS)


def where(panel: Panel) -> str:
    """The panel in words."""
    return f"on {'noisy ' if panel.noise else ''}{panel.problem}, {panel.label}"


def compared(archive: Archive, says: str, a: Measured, b: Measured, factor: float = 1.0) -> Part:
    """The part that the mean of a is below `factor` times that of b, over the runs that both have."""
    both = archive.matched(a, b)
    found = f"{both[:, 0].mean():.3g} against {both[:, 1].mean():.3g}" if len(both) else ""
    return below(says, found, both[:, 0] - factor * both[:, 1])


def faster(archive: Archive, panel: Panel, a: str, b: str, factor: float = 1.0) -> Part:
    """Rule a needs fewer evaluations than `factor` times those of rule b."""
    measured = archive.measured(panel)
    times = "" if factor == 1 else f"{factor:.3g} times those of "
    says = f"{a} needs fewer evaluations than {times}{b} {where(panel)}"
    return compared(archive, says, measured.get(a, {}), measured.get(b, {}), factor)


# Claims 2, 3 and 7: evaluations


def leaders_faster(archive: Archive) -> list[Part]:
    """pg and eg against every optimiser."""
    return [
        faster(archive, panel, leader, rival)
        for panel in archive.panels("synthetic")
        for leader in ("pg", "eg")
        for rival in OPTIMISERS
    ]


def gs_little_slower(archive: Archive) -> list[Part]:
    """gs is slower than pg and eg, but not by much."""
    return [
        part
        for panel in archive.panels("synthetic")
        for leader in ("pg", "eg")
        for part in (faster(archive, panel, leader, "gs"), faster(archive, panel, "gs", leader, MUCH))
    ]


def pg_clearly_best_on_robots(archive: Archive) -> list[Part]:
    """pg needs a tenth less than every other rule."""
    rivals = [rule for rule in PAPER_RULES if rule != "pg"]
    return [faster(archive, panel, "pg", rival, CLEAR) for panel in archive.panels("real") for rival in rivals]


def pg_best_on_xgboost(archive: Archive) -> list[Part]:
    """pg needs less than every other rule."""
    rivals = [rule for rule in PAPER_RULES if rule != "pg"]
    return [faster(archive, panel, "pg", rival) for panel in archive.panels("xgboost") for rival in rivals]


def sts_best_at_centre(archive: Archive) -> list[Part]:
    """sts is faster than every other rule."""
    return [
        faster(archive, panel, "sts", rival) for panel in archive.panels("sts", "dropwave") for rival in PAPER_RULES
    ]


def sts_level_on_keane(archive: Archive) -> list[Part]:
    """Neither of sts and pg is slower by much."""
    return [
        faster(archive, panel, a, b, MUCH)
        for panel in archive.panels("sts", "keane", "keane-published")
        for a, b in (("sts", "pg"), ("pg", "sts"))
    ]


def sts_clearly_worse_when_shifted(archive: Archive) -> list[Part]:
    """pg needs a tenth less."""
    return [faster(archive, panel, "pg", "sts", CLEAR) for panel in archive.panels("sts", "dropwave-shifted")]


# Claim 4: noise


def gain_considerable_on_keane(archive: Archive) -> list[Part]:
    """pg has a tenth less time without a good recommendation than every optimiser."""
    panels = _noisy(archive, "keane")
    return [faster(archive, panel, "pg", rival, CLEAR) for panel in panels for rival in OPTIMISERS]


def gain_visible_on_ackley(archive: Archive) -> list[Part]:
    """pg has less time without a good recommendation than every optimiser."""
    return [faster(archive, panel, "pg", rival) for panel in _noisy(archive, "ackley") for rival in OPTIMISERS]


def _noisy(archive: Archive, problem: str) -> list[Panel]:
    """The panel on the problem; the published code has one Keane function, the text another."""
    name = f"{problem}-published" if (problem, archive.variant) == ("keane", "published") else problem
    return archive.panels("noisy", name)


def gain_larger_on_keane(archive: Archive) -> list[Part]:
    """pg's gain over the best optimiser, whichever that is, is larger on keane than on ackley."""
    says = "pg's gain over the best optimiser is larger on noisy keane than on noisy ackley"
    measured = [archive.measured(panel) for name in ("keane", "ackley") for panel in _noisy(archive, name)]
    if len(measured) < 2 or not all({"pg", *OPTIMISERS} <= set(each) for each in measured):
        return [Part(says)]
    rows = archive.matched(*(each[rule] for each in measured for rule in ("pg", *OPTIMISERS)))
    if len(rows) == 0:
        return [Part(says)]
    width = 1 + len(OPTIMISERS)
    keane, ackley = rows[:, 1:width] - rows[:, :1], rows[:, width + 1 :] - rows[:, width : width + 1]
    found = f"{keane.mean(axis=0).min():.3g} against {ackley.mean(axis=0).min():.3g} evaluations"
    return [Part(says, found, len(rows), p_least_above(keane, ackley), p_least_above(ackley, keane))]


# Claim 5: thresholds


def _neighbours(archive: Archive) -> list[tuple[Panel, Panel]]:
    """Panels on the same problem with neighbouring targets, the lower first."""
    every = archive.panels("threshold")
    return [
        pair
        for problem in dict.fromkeys(panel.problem for panel in every)
        for pair in pairwise(sorted((p for p in every if p.problem == problem), key=lambda panel: panel.target))
    ]


def lower_is_faster(archive: Archive) -> list[Part]:
    """Every rule needs fewer evaluations for the lower of two targets."""
    return [
        compared(
            archive,
            f"{rule} needs fewer evaluations for {easy.label} than for {hard.label} on {easy.problem}",
            archive.measured(easy).get(rule, {}),
            archive.measured(hard).get(rule, {}),
        )
        for easy, hard in _neighbours(archive)
        for rule in PAPER_RULES
    ]


def curves_draw_together(archive: Archive) -> list[Part]:
    """The standard deviation between the rules' mean evaluations is smaller for the lower of two targets."""
    parts = []
    for easy, hard in _neighbours(archive):
        says = f"the rules lie closer together for {easy.label} than for {hard.label} on {easy.problem}"
        rules = [archive.measured(panel).get(rule, {}) for panel in (easy, hard) for rule in PAPER_RULES]
        rows = archive.matched(*rules)
        half = len(PAPER_RULES)

        def spreads(means: Array, half: int = half) -> tuple[Array, Array]:
            return means[:, :half].std(axis=1), means[:, half:].std(axis=1)

        low, high = spreads(rows.mean(axis=0, keepdims=True)) if len(rows) else (np.zeros(1), np.zeros(1))
        values = pseudo_values(lambda means: np.subtract(*spreads(means)), rows)
        found = f"standard deviation between the rules {low[0]:.3g} against {high[0]:.3g} evaluations"
        parts.append(below(says, found, values))
    return parts
