"""How many actions are bad, against 1/Delta, T, d, nu and lambda, beside the bounds of Theorems 1 and 2 and Theorem 3's rate.

The rules of the theorems and of appendix A run on functions of known norm, with the width of Lemma 1 and a known kernel.
`bump` is the adversary of appendix B, a narrow bump of height 2 Delta and norm at most B / 3 at a random point; `steep` has the
largest difference that the norm allows between two random points; `random` is a random sum of kernels.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from math import isinf
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng

from satisfice.domain.box import Box
from satisfice.gp.kernels import CORRELATIONS, Stationary
from satisfice.paper.experiments.bandit import (
    Eliminate,
    ExploreThenCommit,
    GridRule,
    Intersected,
    Ucb,
    by_information,
    by_round,
    rounds,
)
from satisfice.paper.experiments.records import Record
from satisfice.paper.experiments.run import Task
from satisfice.paper.theory.bounds import MaternRates, SERates, c_1, elimination_bounds, sharp_c_1, ucb_bounds
from satisfice.paper.theory.confidence import FORMULAS, Formula, LogDetWidth, RkhsWidth
from satisfice.paper.theory.functions import draw_known_norm, widest
from satisfice.paper.theory.hard_class import Bump, narrow_class
from satisfice.paper.theory.information import InformationGain, greedy_information_gain
from satisfice.types import Array

B, FAILURE = 1.0, 0.1
RUNS = 16  # functions a point of a figure: the mean number of bad actions is known to about a fifth
HORIZON, BLOCK = 10**10, 0.01  # the gain is bounded so far, in blocks of a hundredth
PAUSE = 64  # rounds between looks at what elimination has left
LONGEST = 1_200_000  # rounds of elimination, and of exploring: explore-then-commit does not run where N'_max is more
COMMITTED = 1000  # rounds after explore-then-commit has committed
APART = 0.5  # the two points of a steep function are at least so far apart


@dataclass(frozen=True)
class Setting:
    """A kernel on a grid of the unit cube, the noise that is assumed and the true one, and the question."""

    form: str = "se"
    lengthscale: float = 0.2
    d: int = 1
    per_axis: int = 41
    lam: float = 1.0
    sigma: float = 0.1
    delta: float = 0.12
    T: int = 100_000

    @property
    def key(self) -> str:
        """What tells it from every other setting."""
        return "/".join(f"{value:g}" if isinstance(value, float) else str(value) for value in asdict(self).values())

    @property
    def kernel(self) -> Stationary:
        """The kernel."""
        return Stationary(self.form, np.array([self.lengthscale]))

    @property
    def points(self) -> Array:
        """The domain (|D|, d)."""
        return Box([(0.0, 1.0)] * self.d).grid(self.per_axis).U

    @property
    def gain(self) -> InformationGain:
        """The information gain, with its certified upper end."""
        return _gain(replace(self, sigma=0.0, delta=0.0, T=0))

    def width(self, formula: Formula = "sum") -> RkhsWidth:
        """The width of Lemma 1 (paper, eq. beta), or the root of squares."""
        return RkhsWidth(B, self.sigma, FAILURE, self.gain, formula)


@cache
def _gain(setting: Setting) -> InformationGain:
    return greedy_information_gain(setting.kernel, setting.lam, setting.points, HORIZON, block=BLOCK).tightened()


def rules(setting: Setting) -> dict[str, Callable[[], GridRule]]:
    """The rules by name; appendix A's with N_max rounds of doubled widths and N'_max of exploring."""
    width = by_round(setting.width())
    narrow = by_information(LogDetWidth(B, setting.sigma, FAILURE, "root"), setting.lam)
    halved = ucb_bounds(setting.gain, setting.width(), setting.delta, setting.T).indicator
    explored = explored_rounds(setting)
    return {
        "ucb": lambda: Ucb(width),
        "ucb-intersected": lambda: Intersected(width),
        "ucb-doubled": lambda: Intersected(width, doubled=halved),
        "elimination": lambda: Eliminate(width),
        "etc": lambda: ExploreThenCommit(explored),
        "ucb, log det": lambda: Ucb(narrow),
        "elimination, log det": lambda: Eliminate(narrow),
    }


def explored_rounds(setting: Setting) -> int:
    """N'_max, after which explore-then-commit commits."""
    return elimination_bounds(setting.gain, setting.width(), setting.delta, B).indicator


APPENDIX = ("ucb", "ucb-intersected", "ucb-doubled", "elimination", "etc")
THEOREMS = ("ucb", "elimination")
NARROW = ("ucb, log det", "elimination, log det")
DELTAS = tuple(0.16 * 0.75**k for k in range(5))
DIMENSIONS = ((1, 41), (2, 15), (3, 6))
LAMBDAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SETTINGS: dict[str, tuple[Setting, ...]] = {
    "delta": tuple(Setting(delta=delta) for delta in DELTAS),
    "horizon": tuple(Setting(form=form, delta=0.15, T=10**6) for form in ("se", "matern32")),
    "dimension": tuple(Setting(lengthscale=0.5, d=d, per_axis=n, delta=0.08) for d, n in DIMENSIONS),
    "smoothness": tuple(Setting(form=form, delta=0.09) for form in CORRELATIONS),
    "lambda": tuple(Setting(lam=lam) for lam in LAMBDAS),
}
CELLS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {  # of each experiment: families with their rules
    "delta": (("bump", APPENDIX + NARROW), ("steep", APPENDIX + NARROW), ("random", THEOREMS)),
    "horizon": (("bump", APPENDIX),),
    "dimension": (("bump", THEOREMS),),
    "smoothness": (("bump", THEOREMS),),
    "lambda": (("bump", THEOREMS),),
}


def draw_values(setting: Setting, family: str, runs: int, rng: Generator) -> Array:
    """The values of so many functions of a family on the domain (runs, |D|), each of norm at most B."""
    points, kernel = setting.points, setting.kernel
    if family == "bump":
        hard = narrow_class(kernel, setting.delta, B, setting.d)
        centres = points[rng.integers(len(points), size=runs)]
        return np.array([Bump(hard.profile, 2 * hard.eps, hard.lengthscale, c)(points) for c in centres])
    if family == "random":
        return np.array([draw_known_norm(kernel, B, setting.d, rng)(points) for _ in range(runs)])
    return np.array([widest(kernel, B, *_far_apart(points, rng))(points) for _ in range(runs)])


def _far_apart(points: Array, rng: Generator) -> tuple[Array, Array]:
    while True:
        high, low = points[rng.integers(len(points), size=2)]
        if np.linalg.norm(high - low) >= APART:
            return high, low


def checkpoints(T: int) -> npt.NDArray[np.int64]:
    """Four rounds a decade from 10 on, and T."""
    return np.unique(np.append(np.round(10 ** np.arange(1, np.log10(T), 0.25)), T)).astype(np.int64)


def run_cell(experiment: str, setting: Setting, family: str, name: str, runs: int = RUNS) -> Record:
    """The lenient regrets of each run after T rounds.

    Elimination stops when it has no bad action left in any run; explore-then-commit explores for N'_max rounds, whatever T is.
    """
    values = draw_values(setting, family, runs, default_rng(0))
    regret = values.max(axis=1, keepdims=True) - values
    bad = regret > setting.delta
    rule, prior = rules(setting)[name](), setting.kernel(setting.points, setting.points)
    T = _last_round(rule, setting)
    marks = set(checkpoints(setting.T).tolist()) if experiment == "horizon" else set()
    visits, every, curve = np.zeros(values.shape), np.arange(runs), []
    explored = 0
    for state, chosen in rounds(rule, prior, setting.lam, values, setting.sigma, default_rng(1)):
        visits[every, chosen] += 1
        if state.t in marks:
            curve.append([state.t, *_whole(visits, bad)])
        if isinstance(rule, ExploreThenCommit) and state.t == rule.explore:
            explored = sum(_whole(visits, bad))
        if state.t == T or (state.t % PAUSE == 0 and isinstance(rule, Eliminate) and not rule.may_choose(bad)):
            break
    record: Record = {
        "key": f"scaling/{experiment}/{family}/{name}/{setting.key}",
        "experiment": experiment,
        "family": family,
        "rule": name,
        **asdict(setting),
        "rounds": state.t,
        "bad": _whole(visits, bad),
        "gap": _rounded(visits, regret * bad),
        "hinge": _rounded(visits, np.maximum(regret - setting.delta, 0.0)),
    }
    if curve:
        record["curve"] = curve
    if isinstance(rule, ExploreThenCommit):
        record["bad_after_commit"] = sum(record["bad"]) - explored
    return record


def _last_round(rule: GridRule, setting: Setting) -> int:
    if isinstance(rule, ExploreThenCommit):
        return rule.explore + COMMITTED
    return LONGEST if isinstance(rule, Eliminate) else setting.T


def _whole(visits: Array, bad: npt.NDArray[np.bool_]) -> list[int]:
    """The number of bad actions of each run."""
    return [int(total) for total in (visits * bad).sum(axis=1)]


def _rounded(visits: Array, penalty: Array) -> list[float]:
    """The regret of each run, to six digits."""
    return [float(f"{total:.6g}") for total in (visits * penalty).sum(axis=1)]


def run_bounds(experiment: str, setting: Setting) -> Record:
    """What the theorems promise in a setting, by the constant C_1 (`paper` or `sharp`) and the width (`sum` or `root`)."""
    gain, delta = setting.gain, setting.delta
    bounds: dict[str, Any] = {}
    for constant, c in (("paper", c_1), ("sharp", sharp_c_1)):
        for formula in FORMULAS:
            width = setting.width(formula)
            first, second = ucb_bounds(gain, width, delta, setting.T, c), elimination_bounds(gain, width, delta, B, c)
            if not (first.settled and second.settled):
                raise ArithmeticError(f"the gain of {setting} ends before the bounds do")
            bounds[f"{constant} {formula}"] = {
                "ucb": [first.indicator, float(f"{first.gap:.6g}")],
                "elimination": [second.indicator, float(f"{second.gap:.6g}")],
            }
    nu = CORRELATIONS[setting.form].nu
    rates = SERates(setting.d) if isinf(nu) else MaternRates(setting.d, nu)
    lower = rates.lower(setting.T, delta, B, setting.sigma, FAILURE)
    record: Record = {
        "key": f"scaling/bounds/{experiment}/{setting.key}",
        "experiment": experiment,
        "rule": "bounds",
        **asdict(setting),
        "bounds": bounds,
        "lower": [float(f"{lower.indicator:.6g}"), float(f"{lower.gap:.6g}")],
        "bumps": narrow_class(setting.kernel, delta, B, setting.d).count,
        "gamma": round(gain.upper_at(setting.T), 4),
        "width": round(setting.width()(setting.T), 4),
    }
    if experiment == "horizon":
        marks = [int(t) for t in checkpoints(setting.T)]
        record["curve"] = [[t, ucb_bounds(gain, setting.width(), delta, t).indicator] for t in marks]
    return record


def tasks() -> list[Task]:
    """Everything that the figures need: the bounds of each setting, and the runs."""
    found = []
    for experiment, settings in SETTINGS.items():
        for setting in settings:
            key = f"scaling/bounds/{experiment}/{setting.key}"
            found.append(Task(key, run_bounds, (experiment, setting)))
            for family, names in CELLS[experiment]:
                for name in names:
                    if name == "etc" and explored_rounds(setting) > LONGEST:
                        continue
                    key = f"scaling/{experiment}/{family}/{name}/{setting.key}"
                    found.append(Task(key, run_cell, (experiment, setting, family, name)))
    return found
