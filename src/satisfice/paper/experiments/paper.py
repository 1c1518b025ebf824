"""The figures of the paper, each a list of panels."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from satisfice.paper.experiments.spec import FLOOR, GOOD_RULES, OPTIMISERS, Panel, Variant, by_xi
from satisfice.paper.problems import PROBLEMS

HUNDREDTH = "xi = 1/100"


@dataclass(frozen=True)
class Figure:
    """A figure: its number in the paper, what it shows, and its panels (a function, since targets cost evaluations)."""

    number: str
    shows: str
    panels: Callable[[], list[Panel]]


def _synthetic() -> list[Panel]:
    return [Panel(name, by_xi(name, 0.01), HUNDREDTH) for name in ("eggholder", "alpine")]


def _real() -> list[Panel]:
    return [Panel(name, 4.75, "eta = 4.75") for name in ("robot3", "robot4")]


def _xgboost() -> list[Panel]:
    return [Panel("xgboost", 7.0, "eta = 7")]


def _noisy() -> list[Panel]:
    panels = [Panel(name, by_xi(name, 0.01), HUNDREDTH, noise=0.05, to_the_end=True) for name in ("keane", "ackley")]
    return [*panels, Panel("keane-published", 0.85, "eta = 0.85", noise=0.05, to_the_end=True)]


def _sts() -> list[Panel]:
    names = ("dropwave", "keane", "dropwave-shifted")
    return [Panel(name, by_xi(name, 0.01), HUNDREDTH, rules=("sts", *GOOD_RULES, *OPTIMISERS, FLOOR)) for name in names]


def _threshold() -> list[Panel]:
    shares = {"xi = 1/400": 1 / 400, HUNDREDTH: 0.01, "xi = 1/50": 0.02}
    ackley = [Panel("ackley", by_xi("ackley", xi), label) for label, xi in shares.items()]
    return ackley + [Panel(name, eta, f"eta = {eta:g}") for name in ("robot3", "robot4") for eta in (4.75, 4.5, 4.0)]


def _none_good() -> list[Panel]:
    return [
        Panel(name, PROBLEMS[name].maximum + above, f"eta = f* + {above:g}", to_the_end=True)
        for name in ("hartmann3", "robot3")
        for above in (0.1, 0.5)
    ]


FIGURES: dict[str, Figure] = {  # in the paper's order
    "synthetic": Figure("3", "Eggholder and Alpine: success fraction", _synthetic),
    "real": Figure("4", "robot pushing: success fraction", _real),
    "xgboost": Figure("4c", "tuning XGBoost on the Boston data: success fraction", _xgboost),
    "noisy": Figure("5", "noisy Keane and Ackley: success fraction of the best estimate", _noisy),
    "sts": Figure("6", "satisficing Thompson sampling where the centre is good, near good, and bad", _sts),
    "threshold": Figure("7-9", "three targets each on Ackley and the robots", _threshold),
    "none-good": Figure("10-11", "simple regret where no action is good", _none_good),
}


@cache
def panels(name: str, variant: Variant = "paper") -> tuple[Panel, ...]:
    """The panels of a figure; those of the published variant have the functions of the published code."""
    drawn = FIGURES[name].panels()
    return tuple(dict.fromkeys(map(_with_published_function, drawn)) if variant == "published" else drawn)


def _with_published_function(panel: Panel) -> Panel:
    """The panel with the function that the authors' code has under the same name, and its target."""
    if panel.problem == "keane":
        return replace(panel, problem="keane-published", target=0.85, label="eta = 0.85")
    return replace(panel, problem="xgboost-published") if panel.problem == "xgboost" else panel


def demanding(name: str, variant: Variant = "paper") -> list[Panel]:
    """All panels that may share a run with those of the figure."""
    problems = {panel.problem for panel in panels(name, variant)}
    shared = [each for each in FIGURES if each != "xgboost" or each == name]
    return [panel for each in shared for panel in panels(each, variant) if panel.problem in problems]


def default_rules(variant: Variant) -> tuple[str, ...] | None:
    """The rules that a variant runs by default: all of the paper's, and of ours the default one with the floor."""
    return ("auto", FLOOR) if variant == "auto" else None
