"""The parts of the claims on regret: the paper's claims 1, 6 and 8."""

from collections.abc import Callable

import numpy as np

from satisfice.paper.experiments import theory
from satisfice.paper.experiments.blocks import Archive
from satisfice.paper.experiments.claim_parts import CLEAR, MUCH, compared, where
from satisfice.paper.experiments.curves import record_file, simple_regret
from satisfice.paper.experiments.inference import p_share
from satisfice.paper.experiments.judge import Part, below
from satisfice.paper.experiments.lenient import ROUNDS
from satisfice.paper.experiments.records import Record, Records
from satisfice.paper.experiments.spec import OPTIMISERS, Panel
from satisfice.paper.problems import PROBLEMS
from satisfice.paper.regret import Curves
from satisfice.types import Array

FEW = 0.25  # "a small number of runs": less than this share
STOPPED = 0.01  # "flattens out": fewer bad actions than this a round
STUCK = 4.0  # a run on robot3 is stuck in a bad place if it never reaches the lowest target that the paper uses there
EARLY = 20  # evaluations after which a regret is compared with that at the end
HALF = ROUNDS // 2


# Claim 1: lenient regret


def _bad_until(t: int) -> Callable[[Curves], Array]:
    return lambda curves: curves.indicator[:, t - 1]


def _later(name: str) -> Callable[[Curves], Array]:
    """What a regret grows by in the second half."""

    def grown(curves: Curves) -> Array:
        values: Array = getattr(curves, name)
        return values[:, -1] - values[:, values.shape[1] // 2 - 1]

    return grown


def _end(name: str) -> Callable[[Curves], Array]:
    return lambda curves: np.asarray(getattr(curves, name)[:, -1])


def start_alike(archive: Archive) -> list[Part]:
    """After 50 rounds both rules have as many bad actions, to a tenth."""
    early = archive.regrets(_bad_until(50))
    says = "{} has fewer bad actions in the first 50 rounds than 1.1 times those of {}"
    return [
        compared(archive, says.format(a, b), early.get(a, {}), early.get(b, {}), 2 - CLEAR)
        for a, b in (("elimination", "ucb"), ("ucb", "elimination"))
    ]


def elimination_stops(archive: Archive) -> list[Part]:
    """In the second half elimination has fewer than one bad action in a hundred rounds."""
    later = archive.means(archive.regrets(_later("indicator")).get("elimination", {}))
    limit = STOPPED * HALF
    found = f"{later.mean():.3g}" if len(later) else ""
    return [below(f"elimination has fewer than {limit:g} bad actions in the second half", found, later - limit)]


def ucb_grows_slowly(archive: Archive) -> list[Part]:
    """In the second half ucb has more than one bad action in a hundred rounds, but fewer than in the first half."""
    later = archive.regrets(_later("indicator")).get("ucb", {})
    first = archive.regrets(_bad_until(HALF)).get("ucb", {})
    values, limit = archive.means(later), STOPPED * HALF
    found = f"{values.mean():.3g}" if len(values) else ""
    return [
        below(f"ucb has more than {limit:g} bad actions in the second half", found, limit - values),
        compared(archive, "ucb has fewer bad actions in the second half than in the first", later, first),
    ]


def standard_grows(archive: Archive) -> list[Part]:
    """In the second half the standard regret grows by more than the large-gap regret."""
    lenient, standard = archive.regrets(_later("gap")), archive.regrets(_later("standard"))
    says = "the large-gap regret of {} grows by less than its standard regret in the second half"
    return [
        compared(archive, says.format(rule), lenient.get(rule, {}), standard.get(rule, {}))
        for rule in ("ucb", "elimination")
    ]


def elimination_better(archive: Archive) -> list[Part]:
    """At the end elimination's regrets are below ucb's, all of them; its bad actions not by much."""
    parts = []
    for name in ("standard", "indicator", "gap", "hinge"):
        end = archive.regrets(_end(name))
        says = f"the {name} regret of elimination is below that of ucb at the end"
        parts.append(compared(archive, says, end.get("elimination", {}), end.get("ucb", {})))
    bad = archive.regrets(_end("indicator"))
    says = f"ucb has fewer bad actions than {MUCH:g} times those of elimination"
    return [*parts, compared(archive, says, bad.get("ucb", {}), bad.get("elimination", {}), MUCH)]


# Claim 6: no good action


def early_regret(record: Record, panel: Panel) -> float:
    """The simple regret after `EARLY` evaluations."""
    return float(simple_regret(record, panel, PROBLEMS[panel.problem].maximum)[EARLY - 1])


def final_regret(record: Record, panel: Panel) -> float:
    """The simple regret at the end."""
    return float(simple_regret(record, panel, PROBLEMS[panel.problem].maximum)[-1])


def regret_vanishes(archive: Archive) -> list[Part]:
    """At the end the simple regret of pg and eg is below a tenth of that after 20 evaluations."""
    return [
        compared(
            archive,
            f"the simple regret of {rule} after {panel.budget} is below a tenth of that after {EARLY} {where(panel)}",
            archive.measured(panel, final_regret).get(rule, {}),
            archive.measured(panel, early_regret).get(rule, {}),
            0.1,
        )
        for panel in archive.panels("none-good")
        for rule in ("pg", "eg")
    ]


def gs_less_robust(archive: Archive) -> list[Part]:
    """At the end the simple regret of gs is above those of pg and eg."""
    parts = []
    for panel in archive.panels("none-good"):
        end = archive.measured(panel, final_regret)
        for rule in ("pg", "eg"):
            says = f"the simple regret of {rule} is below that of gs {where(panel)}"
            parts.append(compared(archive, says, end.get(rule, {}), end.get("gs", {})))
    return parts


def pi_stuck(archive: Archive) -> list[Part]:
    """On robot3 pi's mean is the worst of the optimisers', few of its runs are stuck, and these make up most of it."""
    panel = archive.panels("none-good", "robot3")[0]  # pi does not read the target: any will do
    end = archive.measured(panel, final_regret)
    parts = [
        compared(
            archive,
            f"the simple regret of {rival} is below that of pi on robot3",
            end.get(rival, {}),
            end.get("pi", {}),
        )
        for rival in OPTIMISERS
        if rival != "pi"
    ]
    mine = end.get("pi", {})
    limit = PROBLEMS["robot3"].maximum - STUCK
    stuck = archive.means({key: float(regret > limit) for key, regret in mine.items()})
    rest = archive.means({key: regret * (0.5 - (regret > limit)) for key, regret in mine.items()})
    share = f"{stuck.mean():.0%}" if len(stuck) else ""
    total = sum(mine.values())
    of_all = f"{sum(regret for regret in mine.values() if regret > limit) / total:.0%}" if total else "0%"
    return [
        *parts,
        below(f"fewer than {FEW:.0%} of pi's runs on robot3 never reach {STUCK:g}", share, stuck - FEW),
        below("these runs make up more than half of pi's mean simple regret on robot3", of_all, rest),
    ]


# Claim 8: theorems


def _theory(archive: Archive) -> list[Record]:
    return list(Records(record_file(archive.out, "paper", "theory")))


def within_bounds(archive: Archive) -> list[Part]:
    """A run keeps within the bounds with the promised probability."""
    rows = theory.theory_table(_theory(archive))["theorems"]
    parts = []
    for kernel in theory.KERNELS:
        for rule in theory.RULES:
            says = f"{rule} keeps within both bounds with probability {1 - theory.FAILURE:g} ({kernel})"
            row = rows.get(f"{kernel} {rule}")
            if row is None:
                parts.append(Part(says))
                continue
            found = (
                f"{row['within']} of {row['runs']} runs; most bad actions {row['most_bad_actions']}, bound "
                f"{row['indicator_bound']}; largest gap regret {row['largest_gap_regret']:g}, bound {row['gap_bound']:g}"
            )
            p = p_share(row["within"], row["runs"], 1 - theory.FAILURE)
            parts.append(Part(says, found, row["runs"], *p))
    return parts


def far_below_root(archive: Archive) -> list[Part]:
    """In the second half of the rounds the bad actions grow by less than a tenth, where sqrt(T) grows by 41 %."""
    parts = []
    for kernel in theory.KERNELS:
        for rule in theory.RULES:
            mine = [r for r in _theory(archive) if (r["kernel"], r["rule"]) == (kernel, rule)]
            ends = np.array([[r["indicator"], r["bad_at_half_time"]] for r in mine]).reshape(-1, 2)
            says = f"the bad actions of {rule} grow by less than a tenth in the second half ({kernel})"
            found = f"{ends[:, 0].mean():.3g} after {ends[:, 1].mean():.3g} at half time" if mine else ""
            parts.append(below(says, found, ends[:, 0] - (2 - CLEAR) * ends[:, 1]))
    return parts
