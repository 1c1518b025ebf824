"""`KernelMixture`: kernels with learned hyperparameters, weighted by their evidence.

A fit is a pure function of the observations in their order. Hyperparameters are learned at fixed numbers of observations, each
time from an earlier result of the same history (`KernelMixture.lineage`); in between the posterior is extended. An earlier fit of
the same history saves that work and changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.random import Generator, default_rng

from satisfice.gp.evidence import Learned, free_parameters, rounded
from satisfice.gp.kernels import Kernel
from satisfice.gp.models.base import Dataset, Fit, Hyperparameters, Indices, Note
from satisfice.gp.posterior import Posterior
from satisfice.gp.priors import NOISE_FREE, KernelPrior
from satisfice.gp.scaling import OutputScaler, scaler_of
from satisfice.gp.stacked import integrated_together, learn_together
from satisfice.types import Array

CHAIN = 25  # up to this many observations, every learning starts from the one before, see `KernelMixture.lineage`
OFTEN = 200  # the paper's budget: up to here its model learns every 3 observations, and lambda follows the scaler
LEARN_FROM = 250  # hyperparameters are learned from at most this many observations
SKETCH = 100  # a learning from scratch starts with at most this many observations
TOGETHER = 16  # beyond `OFTEN` observations, a posterior is rebuilt every so many, so that few are added one by one
CAPACITY = 2000  # a posterior is built from at most this many observations: those that matter most
FAR_BEHIND = 12.0  # a kernel whose log weight is this far behind the best one's is ignored for now

Families = tuple[KernelPrior, ...]


def has_grown(n: int) -> bool:
    """A schedule for learning: at every n up to 12, then whenever n has grown by a tenth.

    Parameters
    ----------
    n
        The number of observations.

    Returns
    -------
    bool
        Whether hyperparameters are learned at n.
    """
    return n > 0 and (n == 1 or _tenths(n) > _tenths(n - 1))


def every_third(n: int) -> bool:
    """The paper's schedule: every 3 observations up to `OFTEN`, then whenever n has grown by a tenth.

    Parameters
    ----------
    n
        The number of observations.

    Returns
    -------
    bool
        Whether hyperparameters are learned at n.
    """
    return n > 0 and n % 3 == 0 if n <= OFTEN else has_grown(n)


@cache
def _tenths(n: int) -> int:
    return int(np.log(n) / np.log(1.1))


@dataclass(frozen=True)
class KernelMixture:
    """Kernels with hyperparameters of maximal evidence, weighted by exp(log evidence - (parameters / 2) log n).

    lambda is `NOISE_FREE` for a noise-free objective, the known variance of the noise in standardised units (beyond `OFTEN`
    observations in those of the last learning), or learned with the rest.

    Parameters
    ----------
    families
        The kernels and their priors, given the dimension.
    learns_at
        Whether hyperparameters are learned at n observations.
    starting_points
        How many values the model needs; 3 in the paper.
    warps
        Whether values are warped before they are standardised (`satisfice.gp.scaling`).
    integrates
        Whether the weight is the evidence integrated over the hyperparameters (`integrated`): a kernel pays for what it had to
        learn, not for the number of its parameters.
    tolerance
        The relative rise of the evidence below which learning stops.
    chain
        The number of observations up to which every learning starts from the one before.
    """

    families: Callable[[int], Families]
    learns_at: Callable[[int], bool]
    starting_points: int = 3
    warps: bool = False
    integrates: bool = False
    tolerance: float = 1e-4
    chain: int = CHAIN

    def is_mixture(self, dimension: int) -> bool:
        """Whether there are several kernels."""
        return len(self.families(dimension)) > 1

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit to the observations."""
        families, n, scaler = self.families(seen.domain.dimension), len(seen.y), self._scaler(seen)
        learned_at, learned, origin = self._hyperparameters(families, seen, previous)
        if previous is not None and previous.learned_at != learned_at:
            previous = None
        base = max(learned_at, min(n, 1))  # the posterior is built from so many observations and extended by the others
        if n > OFTEN:
            base = max(base, n - n % TOGETHER)
        if seen.noise is not None:
            base = n if seen.noise > 0 and n <= OFTEN else base
            known = self._known_lam(seen.first(base))
            learned = tuple(replace(each, lam=known) for each in learned)
        live = self._live(families, learned, base)
        posteriors, kept = _extended(seen, base, [learned[k] for k in live], previous)
        z = scaler.standardise(seen.y[kept])
        posteriors = tuple(posterior.with_values(z) for posterior in posteriors)
        scores = np.array([posterior.log_evidence for posterior in posteriors])
        if self.integrates:
            scores += [learned[k].prior for k in live]
        else:
            scores -= [families[k].penalty(n) for k in live]
        weights = np.exp(scores - scores.max())
        if previous is None:
            notes = _at_bounds(families, learned, seen.noise)
        else:  # nothing has been learned since
            notes = [note for note in previous.notes if note.kind == "bound"]
        notes += _about_values(scaler, n, len(kept))
        return Fit(n, learned_at, scaler, posteriors, weights / weights.sum(), kept, learned, tuple(notes), origin)

    def _hyperparameters(
        self, families: Families, seen: Dataset, previous: Fit | None
    ) -> tuple[int, Hyperparameters, tuple[int, Hyperparameters]]:
        """The number of observations at the last learning, its result, and the learning from which its epoch starts."""
        learned: Hyperparameters = tuple(
            Learned(family.kernel, float(np.exp(family.prior.centre[-1]))) for family in families
        )
        if not (counts := self.lineage(len(seen.y))):
            return 0, learned, (0, learned)
        known = {} if previous is None else dict([previous.origin, (previous.learned_at, previous.learned)])
        done = max((k for k, m in enumerate(counts) if m in known), default=-1)
        origin = (counts[0], known[counts[0]]) if counts[0] in known else None
        learned = known[counts[done]] if done >= 0 else learned
        for k in range(done + 1, len(counts)):
            learned = self._learn(families, learned, seen.first(counts[k]), first=k == 0)
            origin = origin or (counts[k], learned)
        newest = counts[-1]
        return newest, learned, origin if newest > self.chain and origin is not None else (newest, learned)

    def lineage(self, n: int) -> list[int]:
        """The numbers of observations at which hyperparameters are learned on the way to n, each starting from the one before.

        Up to `chain` this is the whole schedule. Beyond, there are two at most: the first number of the schedule after `chain`,
        2 `chain`, 4 `chain`, ..., where learning starts from scratch, and the newest one. So replaying a long history takes two
        learnings, and gives the same result as following it step by step.
        """
        counts = [m for m in range(1, n + 1) if self.learns_at(m)]
        if not counts or counts[-1] <= self.chain:
            return counts
        epoch = self.chain
        while 2 * epoch < counts[-1]:
            epoch *= 2
        first = next(m for m in counts if m > epoch)
        return sorted({first, counts[-1]})

    def _live(self, families: Families, learned: Hyperparameters, n: int) -> list[int]:
        """The indices of the kernels that get a posterior: beyond `OFTEN` observations, not those that are far behind."""
        if n <= OFTEN:
            return list(range(len(learned)))
        scores = [each.objective for each in learned]
        if not self.integrates:
            scores = [score - family.penalty(n) for score, family in zip(scores, families, strict=True)]
        return [k for k, score in enumerate(scores) if score >= max(scores) - FAR_BEHIND]

    def _scaler(self, seen: Dataset) -> OutputScaler:
        return scaler_of(seen.y, seen.target, warp=self.warps)

    def _known_lam(self, seen: Dataset) -> float:
        """lambda for a stated noise: its variance in standardised units, at least `NOISE_FREE`."""
        if not seen.noise:
            return NOISE_FREE
        share = self._scaler(seen).standardise_std(seen.noise)
        return float(np.clip(share * share, NOISE_FREE, 1e6))

    def _learn(self, families: Families, learned: Hyperparameters, seen: Dataset, first: bool) -> Hyperparameters:
        """Learn the hyperparameters of each family; the first time from many observations, start with a sketch of them."""
        lam = None if seen.noise is None else self._known_lam(seen)
        scaler, n = self._scaler(seen), len(seen.y)
        if scaler.constant:  # equal values say nothing about the kernel, and that there is no noise
            return tuple(Learned(family.kernel, lam or NOISE_FREE) for family in families)
        U, z = data = _data(seen, scaler, LEARN_FROM)
        sketch = _data(seen, scaler, SKETCH) if first and n > SKETCH else data
        fresh = 4 if first else int(n <= 50 or _tenths(n) % 5 == 0)  # random starts: rarely, with many observations
        rng, best = default_rng([seen.seed, n, 1]), max(each.objective for each in learned)
        starts = [
            _starts(family, last, lam, fresh, sketch, rng) for family, last in zip(families, learned, strict=True)
        ]
        kernels, priors = [family.kernel for family in families], [family.free(lam) for family in families]
        waived = self.integrates and not fresh  # of a kernel that is far behind, between two fresh starts
        rounds = [1 if waived and last.objective < best - FAR_BEHIND else 50 for last in learned]
        found = learn_together(kernels, lam, *sketch, priors, starts, rounds, self.tolerance)
        if sketch is not data:
            best = max(each.objective for each in found)
            rounds = [1 if each.objective < best - FAR_BEHIND else 50 for each in found]
            starts = [[free_parameters(each, lam)] for each in found]
            found = learn_together(kernels, lam, U, z, priors, starts, rounds, self.tolerance)
        found = [rounded(each, lam, prior) for each, prior in zip(found, priors, strict=True)]
        if self.integrates:
            self._integrate(families, found, lam, U, z)
        return tuple(found)

    def _integrate(
        self, families: Families, found: list[Learned[Kernel]], lam: float | None, U: Array, z: Array
    ) -> None:
        """Integrate the best kernel, then those that are not too far behind: a volume would put others further behind only."""

        def integrate(some: list[int]) -> None:
            priors = [families[k].free(lam) for k in some]
            for k, each in zip(some, integrated_together([found[k] for k in some], lam, U, z, priors), strict=True):
                found[k] = each

        best = max(range(len(found)), key=lambda k: found[k].objective)
        integrate([best])
        least = found[best].objective - FAR_BEHIND
        if others := [k for k, each in enumerate(found) if k != best and each.objective > least]:
            integrate(others)


def _extended(
    seen: Dataset, base: int, learned: list[Learned[Kernel]], previous: Fit | None
) -> tuple[tuple[Posterior, ...], Indices]:
    """A posterior for each kernel, from the first `base` observations or the previous fit, and which observations it keeps."""
    if previous is not None and previous.n >= base and previous.posteriors[0].lam == learned[0].lam:
        posteriors, kept, start = previous.posteriors, previous.kept, previous.n
    else:
        kept, start = _that_matter(seen.first(base), CAPACITY), base
        blank = np.zeros(len(kept))
        posteriors = tuple(Posterior.given(each.kernel, each.lam, seen.U[kept], blank) for each in learned)
    for u in seen.U[start:]:
        posteriors = tuple(posterior.extend(u, 0.0) for posterior in posteriors)
    return posteriors, np.append(kept, np.arange(start, len(seen.y)))


def _data(seen: Dataset, scaler: OutputScaler, most: int) -> tuple[Array, Array]:
    """The points and standardised values of at most `most` observations."""
    some = _that_matter(seen, most)
    return seen.U[some], scaler.standardise(seen.y[some])


def _starts(
    family: KernelPrior, last: Learned[Kernel], lam: float | None, fresh: int, data: tuple[Array, Array], rng: Generator
) -> list[Array]:
    """Where learning starts: at the last result, `fresh` random places, the last of which is the family's guess if it has one."""
    starts = [free_parameters(last, lam), *(family.free(lam).draw(rng) for _ in range(fresh))]
    if family.guess is not None and fresh:
        guessed = family.guess(*data).parameters
        starts[-1] = np.append(guessed, starts[-1][len(guessed) :])
    return starts


def _that_matter(seen: Dataset, most: int) -> Indices:
    """The indices, in order, of at most `most` observations: the best, those nearest to the best one, and a spread."""
    n = len(seen.y)
    if n <= most:
        return np.arange(n)
    by_value = np.argsort(-seen.y, kind="stable")
    distance = ((seen.U - seen.U[by_value[0]]) ** 2).sum(axis=1)
    by_distance = np.argsort(distance, kind="stable")
    chosen = np.union1d(by_value[: most // 4], by_distance[: most // 4])
    rest = np.setdiff1d(np.arange(n), chosen)
    spread = rest[np.linspace(0, len(rest) - 1, most - len(chosen)).round().astype(np.intp)]
    return np.asarray(np.union1d(chosen, spread))


def _at_bounds(families: Families, learned: Hyperparameters, noise: float | None) -> list[Note]:
    """A note for each hyperparameter that sits at a bound."""
    notes = []
    for family, each in zip(families, learned, strict=True):
        values = free_parameters(each, noise)
        for bound, side in ((family.prior.low, "lower"), (family.prior.high, "upper")):
            for j in np.flatnonzero(np.abs(values - bound[: len(values)]) < 1e-6):
                name = (*each.kernel.names, "noise")[j]
                text = f"{name} of the {each.kernel.form} kernel is at its {side} bound"
                notes.append(Note("bound", text, serious=False))
    return notes


def _about_values(scaler: OutputScaler, n: int, kept: int) -> list[Note]:
    """What a user should know about the values."""
    notes = []
    if scaler.constant:
        notes.append(Note("constant", "all values so far are equal: there is nothing to learn from yet", serious=True))
    if scaler.digits_lost:
        text = "the values differ only in their last digits: subtract a constant from them before you tell them"
        notes.append(Note("digits", text, serious=True))
    if kept < n:
        text = f"the model keeps {kept} of {n} observations: the best, their neighbours and a spread of the others"
        notes.append(Note("full", text, serious=True))
    return notes
