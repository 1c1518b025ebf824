"""`Search`: ask where to look, tell what was seen, and get an answer. The only mutable object of the library."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.random import default_rng
from scipy.special import ndtri

from satisfice.acquisition import probability_good
from satisfice.answer import Answer, Verdict
from satisfice.belief import Belief
from satisfice.border import named, number, stated_noise
from satisfice.domain import Box, Domain, Finite
from satisfice.gp.models import MODELS, Fit, FixedModel, Model, Note, Observations
from satisfice.rules import RULES, ConcludingRule, RememberingRule, Rule, requirements_of
from satisfice.rules.explore import Sobol
from satisfice.threads import one_blas_thread
from satisfice.types import Array, BadInput, NumericalFailure, SatisficeWarning

DEFAULT_RULE = "pg"
BEST = 5  # so many of the best points are looked around


class Search:
    """A search for a point of the domain whose value reaches the target, in as few evaluations as possible.

    >>> from satisfice import Box, Search
    >>> search = Search(Box([(-5, 10), (0, 15)]), target=-1.0, noise=0)
    >>> while search.answer().verdict == "open":
    ...     x = search.ask()
    ...     search.tell(x, -((x[0] - 1) ** 2) - (x[1] - 2) ** 2)

    `noise`: 0 declares a noise-free objective; a number is the known standard deviation; "learn" is unknown noise; None does not
    know: the first point that reaches the target is asked again, and an identical value means noise-free.
    `rule` is a name in `satisfice.rules.RULES` or a rule, `model` is "auto", "paper" or a model.
    """

    def __init__(
        self,
        domain: Domain,
        target: float,
        rule: str | Rule = "auto",
        *,
        model: str | Model = "auto",
        direction: str = "maximize",
        noise: float | Literal["learn"] | None = None,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        if not isinstance(domain, Box | Finite):
            raise BadInput(f"domain: {domain!r} came; a Box or a Finite was wanted")
        if direction not in ("maximize", "minimize"):
            raise BadInput(f"direction: {direction!r} came; 'maximize' or 'minimize' was wanted")
        if not 0 < number(confidence, "confidence") < 1:
            raise BadInput(f"confidence: {confidence!r} came; a number between 0 and 1 was wanted, such as 0.95")
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise BadInput(f"seed: {seed!r} came; a whole number, 0 or more, was wanted")
        self.domain = domain
        self.target = number(target, "target")
        self.direction = direction
        self.confidence = float(confidence)
        self.seed = int(seed)
        self._sign = 1.0 if direction == "maximize" else -1.0
        self._rule = named(rule, {**RULES, "auto": RULES[DEFAULT_RULE]}, "rule")
        self._model = named(model, MODELS, "model")
        self._stated_noise = stated_noise(noise)
        requirements_of(self._rule).check(
            f"rule {rule!r}",
            finite=isinstance(domain, Finite),
            mixture=self._model.is_mixture(domain.dimension),
            fixed=isinstance(self._model, FixedModel),
        )
        self._memory: object = None  # what a remembering rule has folded so far
        self._X = np.empty((0, domain.dimension))  # as they were told
        self._U = np.empty((0, domain.dimension))
        self._first: dict[bytes, float] = {}  # the first value at each point
        self._repeats: set[bool] = set()  # whether repeats gave the same value as the first time
        self._failed = np.empty((0, domain.dimension))
        self._y = np.empty(0)
        self._fit: tuple[float | None, Fit] | None = None  # with the noise that it was made for
        self._asked: tuple[bytes, Array] | None = None
        self._warned: set[str] = set()
        self._notes: tuple[str, ...] = ()
        self.fallback = False  # whether the last question came from the space-filling sequence because the model failed

    @property
    def deterministic(self) -> bool | None:
        """Whether the objective is noise-free; None as long as nobody knows."""
        if self._stated_noise is not None:
            return self._stated_noise == 0
        return all(self._repeats) if self._repeats else None

    def ask(self, pending: npt.ArrayLike | Sequence[npt.ArrayLike] = ()) -> Array:
        """The next point (d,) to evaluate, in the user's units; `pending` are points (k, d) that are being evaluated now.

        Asking twice gives the same point, and so does a search that was told the same history.
        """
        waiting = self._pending(pending)
        key = b"%d %d " % (len(self._y), len(self._failed)) + waiting.tobytes()
        if self._asked is None or self._asked[0] != key:
            with one_blas_thread():
                self._asked = (key, self._next(waiting))
        return self._asked[1].copy()

    def tell(self, x: npt.ArrayLike, value: float) -> None:
        """Record the value seen at x, whether x was asked for or not."""
        u = self._point(x)
        y = self._sign * number(value, "value", "; report a failed evaluation by fail(x)")
        told = np.asarray(x, dtype=np.float64) + 0.0
        key = told.tobytes()
        if key in self._first:
            self._repeats.add(self._first[key] == y)
        else:
            self._first[key] = y
        self._X = np.vstack([self._X, told])
        self._U = np.vstack([self._U, u])
        self._y = np.append(self._y, y)
        if isinstance(self._rule, RememberingRule):
            with one_blas_thread(), suppress(NumericalFailure):  # the value is kept; the next question will say so
                self._memory = self._rule.remember(self._belief(self._fitted(), len(self._y) + len(self._failed) + 1))

    def fail(self, x: npt.ArrayLike) -> None:
        """Record that the evaluation of x failed: it gave no value, and the search keeps away from there."""
        self._failed = np.vstack([self._failed, self._point(x)])

    def recommended(self) -> int:
        """The number (from 0) of the told value whose point the model thinks best: of highest posterior mean under noise."""
        if self.deterministic:
            return int(np.argmax(self._y))
        with one_blas_thread():
            return self._estimate()[0]

    def answer(self) -> Answer:
        """The best point so far, by the model's estimate under noise, and how sure one can be of it."""
        evaluations, failures = len(self._y), len(self._failed)
        if evaluations == 0:
            return Answer("open", None, None, None, None, 0, failures, self._notes)
        target = self._sign * self.target
        probability: float | None
        if self.deterministic:
            index = int(np.argmax(self._y))
            value = float(self._y[index])
            low = high = value
            probability = float(value >= target)
        else:
            with one_blas_thread():
                index, value, low, high, probability = self._estimate()
        interval = (low, high) if self._sign > 0 else (-high, -low)
        verdict: Verdict = "open"
        if self.deterministic and value >= target:
            verdict = "good"
        elif self._nothing_left():
            verdict = "none"
        point = self._X[index].copy()
        return Answer(verdict, point, self._sign * value, interval, probability, evaluations, failures, self._notes)

    def _nothing_left(self) -> bool:
        """Whether no point can be good: the rule has ruled out all, or all were evaluated without noise."""
        if isinstance(self._rule, ConcludingRule):
            return self._rule.nothing_left(self._memory)
        return bool(self.deterministic) and len(self._first) == self.domain.size

    def _estimate(self) -> tuple[int, float, float, float, float | None]:
        """Of the queried point of highest posterior mean: its index, mean, interval and probability of being good."""
        try:
            fit = self._fitted()
        except NumericalFailure:
            index = int(np.argmax(self._y))
            return index, float(self._y[index]), -np.inf, np.inf, None
        kept = int(np.argmax(fit.means))
        index = int(fit.kept[kept])
        belief = self._belief(fit, 1)
        mean, std = (float(part[0]) for part in belief.marginal(self._U[index : index + 1]))
        half = float(ndtri(0.5 + 0.5 * self.confidence)) * std
        value, low, high = (float(fit.units.restore(z)) for z in (mean, mean - half, mean + half))
        u = self._U[index : index + 1]
        chances = [weight * probability_good(*p.marginal(u), belief.target)[0] for weight, p in belief.members]
        return index, value, low, high, float(sum(chances))

    def _point(self, x: npt.ArrayLike) -> Array:
        given = np.asarray(x)
        if given.ndim != 1:
            raise BadInput(f"x: shape {given.shape} came; one point of {self.domain.dimension} coordinates was wanted")
        return self.domain.to_unit(x)[0]

    def _pending(self, pending: npt.ArrayLike | Sequence[npt.ArrayLike]) -> Array:
        given = np.asarray(pending)
        if given.size == 0:
            return np.empty((0, self.domain.dimension))
        return self.domain.to_unit(given)

    @property
    def _noise(self) -> float | None:
        """The noise as the model is to see it: None means learn it."""
        if self.deterministic:
            return 0.0
        return self._stated_noise if isinstance(self._stated_noise, float) else None

    def _fitted(self) -> Fit:
        """The model's fit to all observations, made from the last one where that helps."""
        noise = self._noise
        previous = self._fit[1] if self._fit is not None and self._fit[0] == noise else None
        seen = Observations(self.domain, self._U, self._y, self._sign * self.target, noise, self.seed)
        fit = self._model.fit(seen, previous) if previous is None or previous.n < len(self._y) else previous
        self._fit = (noise, fit)
        self._notes = tuple(note.text for note in fit.notes)
        return fit

    def _belief(self, fit: Fit, step: int) -> Belief:
        standardised = float(fit.units.standardise(self._sign * self.target))
        means = fit.units.standardise(self._y[fit.kept]) if self.deterministic else fit.means
        order = np.argsort(-means, kind="stable")[:BEST]
        none = np.empty((0, self.domain.dimension))
        return Belief(
            members=fit.members,
            domain=self.domain,
            target=standardised,
            step=step,
            seed=self.seed,
            incumbent=float(means.max()) if len(means) else 0.0,
            best=self._U[fit.kept[order]],
            avoid=none if self.deterministic is False else self._U,
            repeats=self.deterministic is False,
            memory=self._memory,
        )

    def _next(self, waiting: Array) -> Array:
        """The next point: a repeat that tells whether there is noise, a starting point, or the rule's proposal."""
        self.fallback = False
        step = len(self._y) + len(self._failed) + len(waiting) + 1
        rng = default_rng([self.seed, step])
        if self.deterministic is None and self._y.max(initial=-np.inf) >= self._sign * self.target:
            index = int(np.argmax(self._y))
            if not (waiting == self._U[index]).all(axis=1).any():
                return self._X[index]
        blind = Belief(
            members=(),
            domain=self.domain,
            target=0.0,
            step=step,
            seed=self.seed,
            incumbent=0.0,
            best=self._U[:0],
            avoid=np.vstack([self._U, self._failed, waiting]),
        )
        if len(self._y) < self._model.starting_points:
            u = Sobol().propose(blind, rng)
        else:
            try:
                fit = self._fitted()
                self._warn_of(fit.notes)
                belief = self._belief(fit, step)
                if len(self._failed):
                    ordinary = float(np.median(fit.units.standardise(self._y)))
                    belief = belief.assuming_bad(self._failed, at_most=ordinary)
                u = self._rule.propose(belief.assuming_bad(waiting), rng)
            except NumericalFailure as problem:
                self.fallback = True
                text = f"{problem}; the question is a space-filling one instead"
                self._warn_of((Note("numbers", text, serious=True),))
                u = Sobol().propose(blind, rng)
        return self.domain.from_unit(u[None])[0]

    def _warn_of(self, notes: tuple[Note, ...]) -> None:
        """One Python warning for each kind of serious note; the others stay in the answer."""
        for note in notes:
            if note.serious and note.kind not in self._warned:
                self._warned.add(note.kind)
                warnings.warn(note.text, SatisficeWarning, stacklevel=4)
