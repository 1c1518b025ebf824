"""Models that learn their hyperparameters.

A fit is a pure function of the observations in their order: hyperparameters are learned at fixed counts of observations, each
time starting from an earlier result of the same history (`KernelMixture.lineage`), and between two of them the posterior is
extended. Handing in an earlier fit of the same history saves that work and changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import default_rng

from satisfice.gp.evidence import Learned, free_parameters, integrated, learn, rounded
from satisfice.gp.fit import Dataset, Fit, Hyperparameters, Indices, Note
from satisfice.gp.posterior import Posterior
from satisfice.gp.priors import NOISE_FREE, KernelPrior
from satisfice.gp.scaling import OutputScaler, scaler_of
from satisfice.types import Array

CHAIN = 25  # up to so many observations every learning starts from the one before, see `KernelMixture.lineage`
OFTEN = 200  # the paper's budget: up to here its model learns every 3 observations, and a known noise follows the units
LEARN_FROM = 250  # at most so many observations enter the learning of hyperparameters
SKETCH = 100  # a learning from scratch starts with so many observations
TOGETHER = 16  # beyond `OFTEN` observations a posterior is built anew every so many, so that few are added one by one
CAPACITY = 2000  # a posterior is built from at most so many observations: those that matter most
FAR_BEHIND = 12.0  # a kernel whose log weight is so far behind the best one's is out of the running for now


def has_grown(n: int) -> bool:
    """A schedule for learning: at every count up to 12, then whenever n has grown by a tenth."""
    return n > 0 and (n == 1 or _tenths(n) > _tenths(n - 1))


def every_third(n: int) -> bool:
    """The paper's schedule: every 3 observations up to `OFTEN`, then whenever n has grown by a tenth."""
    return n > 0 and n % 3 == 0 if n <= OFTEN else has_grown(n)


def _tenths(n: int) -> int:
    return int(np.log(n) / np.log(1.1))


@dataclass(frozen=True)
class KernelMixture:
    """Kernels with hyperparameters of maximal evidence, weighted by exp(log evidence - (parameters / 2) log n).

    Values are standardised at every step, and warped first if `warps` (`gp/scaling.py`). With `integrates` the weight is the
    evidence integrated over the hyperparameters instead (`integrated`): a kernel pays for what it had to learn, not for what it
    could have learned. lambda is `NOISE_FREE` for a noise-free objective, the known variance of the noise in standardised units
    (beyond `OFTEN` observations in those of the last learning), or learned with the rest.
    """

    families: Callable[[int], tuple[KernelPrior, ...]]  # of the dimension
    learns_at: Callable[[int], bool]
    starting_points: int = 3  # as in the paper
    warps: bool = False
    integrates: bool = False
    tolerance: float = 1e-4  # a smaller relative rise of the evidence ends the learning
    chain: int = CHAIN

    def is_mixture(self, dimension: int) -> bool:
        """Whether there are several kernels."""
        return len(self.families(dimension)) > 1

    def fit(self, seen: Dataset, previous: Fit | None = None) -> Fit:
        """The fit to the observations; see the head of this module."""
        families = self.families(seen.domain.dimension)
        n = len(seen.y)
        learned_at, learned, origin = self._hyperparameters(families, seen, previous)
        if previous is not None and previous.learned_at != learned_at:
            previous = None
        scaler = self._scaler(seen)
        base = max(learned_at, min(n, 1))
        if n > OFTEN:
            base = max(base, n - n % TOGETHER)
        if seen.noise is not None:
            if seen.noise > 0 and n <= OFTEN:
                base = n
            known = self._known_lam(seen.first(base))
            learned = tuple(replace(each, lam=known) for each in learned)
        live = self._live(families, learned, base)
        if previous is not None and previous.n >= base and previous.posteriors[0].lam == learned[live[0]].lam:
            posteriors, kept, start = previous.posteriors, previous.kept, previous.n
        else:
            kept, start = _that_matter(seen.first(base), CAPACITY), base
            blank = np.zeros(len(kept))
            posteriors = tuple(Posterior.given(learned[k].kernel, learned[k].lam, seen.U[kept], blank) for k in live)
        for m in range(start, n):
            posteriors = tuple(posterior.extend(seen.U[m], 0.0) for posterior in posteriors)
        kept = np.append(kept, np.arange(start, n))
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
        self, families: tuple[KernelPrior, ...], seen: Dataset, previous: Fit | None
    ) -> tuple[int, Hyperparameters, tuple[int, Hyperparameters]]:
        """The count of the last learning, what was learned there, and the learning that those in its epoch start from."""
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
        """The counts at which hyperparameters are learned on the way to n observations, each starting from the one before.

        Up to `chain` observations these are all counts of the schedule. Beyond, they are two at most: the first count of the
        schedule since n last passed `chain`, 2 `chain`, 4 `chain`, ..., where learning starts from scratch, and the newest
        count. So a long history is picked up in the time of two learnings, and gives what following it step by step gives.
        """
        counts = [m for m in range(1, n + 1) if self.learns_at(m)]
        if not counts or counts[-1] <= self.chain:
            return counts
        epoch = self.chain
        while 2 * epoch < counts[-1]:
            epoch *= 2
        first = next(m for m in counts if m > epoch)
        return sorted({first, counts[-1]})

    def _live(self, families: tuple[KernelPrior, ...], learned: Hyperparameters, n: int) -> list[int]:
        """The numbers of the kernels that are given a posterior: beyond `OFTEN` observations not those that are far behind."""
        if n <= OFTEN:
            return list(range(len(learned)))
        scores = [each.objective for each in learned]
        if not self.integrates:
            scores = [score - family.penalty(n) for score, family in zip(scores, families, strict=True)]
        return [k for k, score in enumerate(scores) if score >= max(scores) - FAR_BEHIND]

    def _scaler(self, seen: Dataset) -> OutputScaler:
        return scaler_of(seen.y, seen.target, warp=self.warps)

    def _known_lam(self, seen: Dataset) -> float:
        """lambda for a stated noise: its variance in standardised units, and never below `NOISE_FREE`."""
        if not seen.noise:
            return NOISE_FREE
        share = self._scaler(seen).standardise_std(seen.noise)
        return float(np.clip(share * share, NOISE_FREE, 1e6))

    def _learn(
        self, families: tuple[KernelPrior, ...], learned: Hyperparameters, seen: Dataset, first: bool
    ) -> Hyperparameters:
        """Hyperparameters of maximal evidence for each family: a warm start, and random ones.

        There are several random ones the first time, then one, and one every fifth time where there are many observations;
        between those a kernel that is far behind hardly moves. The first time, where there are many observations, kernels learn
        from a sketch of them first.
        """
        n = len(seen.y)
        rng = default_rng([seen.seed, n, 1])
        lam = None if seen.noise is None else self._known_lam(seen)
        scaler = self._scaler(seen)
        if scaler.constant:  # equal values say nothing about the kernel, and that there is no noise
            return tuple(Learned(family.kernel, lam or NOISE_FREE) for family in families)

        def data(most: int) -> tuple[Array, Array]:
            some = _that_matter(seen, most)
            return seen.U[some], scaler.standardise(seen.y[some])

        U, z = data(LEARN_FROM)
        sketch = data(SKETCH) if first and n > SKETCH else (U, z)
        fresh = 4 if first else int(n <= 50 or _tenths(n) % 5 == 0)
        prior = [family.prior if lam is None else family.prior.without_last() for family in families]
        best = max(each.objective for each in learned)
        found = []
        for k, (family, last) in enumerate(zip(families, learned, strict=True)):
            starts = [free_parameters(last, lam), *(prior[k].draw(rng) for _ in range(fresh))]
            if family.guess is not None and fresh:
                guessed = family.guess(*sketch).parameters
                starts[-1] = np.append(guessed, starts[-1][len(guessed) :])
            rounds = 1 if self.integrates and not fresh and last.objective < best - FAR_BEHIND else 50
            found.append(learn(family.kernel, lam, *sketch, prior[k], starts, self.tolerance, rounds))
        if sketch[1] is not z:
            best = max(each.objective for each in found)
            for k, each in enumerate(found):
                rounds = 1 if each.objective < best - FAR_BEHIND else 50
                found[k] = learn(each.kernel, lam, U, z, prior[k], [free_parameters(each, lam)], self.tolerance, rounds)
        found = [rounded(each, lam, prior[k]) for k, each in enumerate(found)]
        if self.integrates:
            best = -np.inf
            for k in sorted(range(len(found)), key=lambda k: -found[k].objective):
                if found[k].objective > best - FAR_BEHIND:  # else its volume could only put it further behind
                    found[k] = integrated(found[k], lam, U, z, prior[k])
                    best = max(best, found[k].objective)
        return tuple(found)


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


def _at_bounds(families: tuple[KernelPrior, ...], learned: Hyperparameters, noise: float | None) -> list[Note]:
    """A note for each hyperparameter that sits at a bound."""
    notes = []
    for family, each in zip(families, learned, strict=True):
        values = each.kernel.parameters if noise is not None else np.append(each.kernel.parameters, np.log(each.lam))
        for bound, side in ((family.prior.low, "lower"), (family.prior.high, "upper")):
            for j in np.flatnonzero(np.abs(values - bound[: len(values)]) < 1e-6):
                name = (*each.kernel.names, "noise")[j]
                text = f"{name} of the {each.kernel.form} kernel is at its {side} bound"
                notes.append(Note("bound", text, serious=False))
    return notes


def _about_values(scaler: OutputScaler, n: int, kept: int) -> list[Note]:
    """A note for each thing about the values that a user should know."""
    notes = []
    if scaler.constant:
        notes.append(Note("constant", "all values so far are equal: there is nothing to learn from yet", serious=True))
    if scaler.digits_lost:
        text = "the values differ only in their last digits: subtract a constant from them before telling them"
        notes.append(Note("digits", text, serious=True))
    if kept < n:
        text = f"the model keeps {kept} of {n} observations: the best, their neighbours and a spread of the others"
        notes.append(Note("full", text, serious=True))
    return notes
