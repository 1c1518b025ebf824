"""Whether an objective is noise-free, as far as repeats can tell.

Equal values tell nothing where noise gives equal values too: at the best value seen, which was chosen for being high and may be
a cap, at a bound, or among few distinct values. Repeats at ordinary settings do tell, a few of them. They never prove it: an
objective that is cached, or noisy in one run of a hundred, repeats itself as well. So the result is what was seen, without a
confidence, and the first repeat that differs takes it back.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np
import numpy.typing as npt

from satisfice.types import Array

BY_CHANCE = 0.02  # so rarely may noise give so many equal repeats
ORDINARY = 0.14  # the chance of an equal repeat of noisy values at an ordinary setting: two of them are enough
COARSE = 0.37  # the same of counts, grades and rounded values: four settings
CLEAR = 0.27  # the same where the best of them is good by a step or more, so that rounding cannot make it so: three settings
WIDELY = 0.56  # the same, times the steps by which the best one is good: see `_clear`
BARELY = 10  # repeats of the best one where it is not: a mean just below the target is often rounded to a value above
TWICE = 2  # repeats of each other setting of a domain that has no more, which are then enough
SILENT = 0.9  # the same where an equal repeat tells nearly nothing
MANY = 3  # settings up to which coarse values leave out the repeat of the best one: it tells least
ENOUGH = 8  # settings, after which the search for an ordinary one ends
UNSEEN = 0.05  # noise that so many repeats would have missed with a larger probability may have stayed hidden
COARSEST = 10_000  # a fraction with at most this denominator is coarse


@dataclass(frozen=True)
class Exactness:
    """What the repeats show.

    Parameters
    ----------
    noise_free : bool or None
        Whether the objective is taken to be noise-free; None as long as too few repeats tell.
    same, repeats, settings : int
        How many of how many repeats were identical to the first value at their setting, at how many settings.
    ask : int or None
        The index of a value whose setting to repeat next, so as to find out; None where another setting is wanted first.
    """

    noise_free: bool | None
    same: int
    repeats: int
    settings: int
    ask: int | None

    def __str__(self) -> str:
        places = f"{self.settings} {'setting' if self.settings == 1 else 'settings'}"
        of = f"of {self.repeats} {'repeat' if self.repeats == 1 else 'repeats'} at {places}"
        if self.same < self.repeats:
            return f"{self.repeats - self.same} {of} differed; there is noise"
        if self.repeats == 0:
            return "no setting was repeated; whether there is noise is not known"
        seen = f"{self.same} {of} {'was' if self.repeats == 1 else 'were'} identical"
        if not self.noise_free:
            return f"{seen}; that does not tell yet"
        hidden = f"noise that shows in fewer than {100 * self.hidden:.2g} % of the repeats may have stayed hidden"
        return f"{seen}; taken to be noise-free, but {hidden}"

    @property
    def hidden(self) -> float:
        """1 - 0.05^(1/n): noise that shows in fewer of the repeats than this is missed by n of them in over 5 % of cases."""
        return float(1 - UNSEEN ** (1 / max(self.same, 1)))


def exactness(
    settings: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    target: float = np.inf,
    skip: frozenset[int] = frozenset(),
    may_explore: bool = True,
) -> Exactness:
    """What the own values of a study tell of its noise.

    The chance that noise gives one more equal value is taken to be `SILENT` at the best value, and at the lowest one if that is
    coarse or several settings share it. Elsewhere it is `ORDINARY`, or `COARSE` for counts, grades and rounded values and where
    any two settings share a value, or the share k / (n + 1) of the settings that show this value if that is more. The objective
    is taken to be noise-free when the product over all repeats is at most `BY_CHANCE`.

    Coarse values repeat themselves wherever the truth is far from where they change, so repeats of one setting are no independent
    evidence: each after the first counts as `SILENT`. The best of them must have been repeated once, and `BARELY` times if it is
    good but a value one step lower would not be; if it is good by more than that, `_clear` stands for `COARSE`. Where no other
    setting is left, `BARELY` repeats of the best one and `TWICE` of each other are enough, unless all values are equal.

    Parameters
    ----------
    settings : array of int of shape (n,)
        Which values are of one setting.
    values : array of shape (n,)
        The values that the search asked for itself, in their order, to be maximised; none out of a table, which may be rounded
        or hold a row twice.
    target : float
        What a good value reaches.
    skip : frozenset of int
        Settings that are not to be repeated.
    may_explore : bool
        Whether another setting could be evaluated.

    Returns
    -------
    Exactness
    """
    numbers, y = [int(s) for s in np.asarray(settings)], np.asarray(values, dtype=np.float64)
    first: dict[int, int] = {}  # the index of the first value at each setting
    same: Counter[int] = Counter()
    repeats: Counter[int] = Counter()
    for index, setting in enumerate(numbers):
        if setting in first:
            repeats[setting] += 1
            same[setting] += bool(y[first[setting]] == y[index])
        else:
            first[setting] = index
    count, equal = repeats.total(), same.total()
    if equal < count:
        return Exactness(False, equal, count, len(repeats), None)
    if not first:
        return Exactness(None, 0, 0, 0, None)
    firsts = y[list(first.values())]
    coarse = all(is_coarse(value) for value in firsts.tolist())
    margin = _margin(firsts, target) if coarse else np.inf
    chances = _chances(firsts, coarse, _clear(margin))
    chance_at = dict(zip(first, chances, strict=True))
    by_chance = np.prod([_by_chance(chance_at[setting], times, coarse) for setting, times in same.items()])
    best = max(first, key=lambda setting: (y[first[setting]], -first[setting]))
    wanted = BARELY if 0 <= margin < 1 else int(coarse)
    others = [repeats[setting] >= TWICE for setting in first if setting != best and setting not in skip]
    all_seen = not may_explore and len({*firsts.tolist()}) > 1 and repeats[best] >= BARELY and all(others)
    if by_chance > BY_CHANCE and not all_seen:
        return Exactness(
            None, equal, count, len(repeats), _next(y, first, chance_at, repeats, skip, may_explore, coarse)
        )
    known = best in skip or repeats[best] >= wanted
    return Exactness(known or None, equal, count, len(repeats), None if known else first[best])


def _by_chance(chance: float, times: int, coarse: bool) -> float:
    """The chance of so many equal repeats of one setting."""
    return chance * SILENT ** (times - 1) if coarse else chance**times


def _margin(values: Array, target: float) -> float:
    """By how many steps the best value is good; the step divides all differences seen. Negative where it is not good."""
    best = float(values.max())
    if best < target:
        return -1.0
    parts = [Fraction(value).limit_denominator(COARSEST) for value in set(values.tolist())]
    whole = lcm(*(part.denominator for part in parts))
    step = gcd(*(int((part - parts[0]) * whole) for part in parts)) / whole
    return (best - target) / step if step else 0.0


def _clear(margin: float) -> float:
    """The chance of an equal repeat of a coarse value, for a noise that could make the best setting bad.

    Gaussian noise of s steps gives an equal value with probability 1 / (2 s sqrt(pi)) about, and the best of several values is
    rarely more than 2 s above its mean. Where it is good by m steps, s is m / 2 or more, and the chance 0.56 / m or less.
    """
    return COARSE if margin < 1 else min(CLEAR, WIDELY / margin)


def _chances(values: Array, coarse: bool, coarsely: float) -> list[float]:
    """The chance of an equal repeat under noise, for the first value at each setting."""
    shared, n = Counter(values.tolist()), len(values)
    best, lowest = max(shared), min(shared)
    found = []
    for value in values.tolist():
        at_an_end = value == best or (value == lowest and (shared[value] > 1 or value == 0))
        if at_an_end or len(shared) < 2:
            found.append(SILENT)
        else:
            least = coarsely if coarse or len(shared) < n else ORDINARY
            often = shared[value] / (n + 1) if shared[value] > 1 else 0.0
            found.append(min(max(least, often), SILENT))
    return found


def _next(
    y: Array,
    first: dict[int, int],
    chance_at: dict[int, float],
    repeats: Counter[int],
    skip: frozenset[int],
    may_explore: bool,
    coarse: bool,
) -> int | None:
    """The value to repeat: the best one once, as it is the one that matters; then those that tell most, in the middle."""
    allowed = [setting for setting in first if setting not in skip]
    if not allowed:
        return None
    best = max(allowed, key=lambda setting: (y[first[setting]], -first[setting]))
    ordinary = [setting for setting in allowed if chance_at[setting] < SILENT]
    telling = [setting for setting in ordinary if not (coarse and repeats[setting])]
    if repeats[best] == 0 and (not coarse or not may_explore or (telling and len(first) > MANY)):
        return first[best]
    if not telling:
        rarely = [setting for setting in allowed if repeats[setting] < TWICE and not may_explore]
        if rarely:
            return first[min(rarely, key=lambda setting: (repeats[setting], first[setting]))]
        return None if may_explore and (ordinary or len(first) < ENOUGH) else first[best]
    middle = float(np.median(y[list(first.values())]))
    return first[min(telling, key=lambda s: (repeats[s], round(chance_at[s], 9), abs(y[first[s]] - middle), first[s]))]


def is_coarse(value: float) -> bool:
    """Whether a value is a fraction of whole numbers with a small denominator, as are counts, grades and shares of few."""
    near = Fraction(value).limit_denominator(COARSEST)
    return abs(float(near) - value) <= 1e-12 * abs(value)
