"""`Search`: ask where to look, tell what was seen, and get an answer. The only mutable object of the library."""

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numpy.random import Generator, default_rng

from satisfice.acquisition.belief import Belief
from satisfice.acquisition.optimise import taken
from satisfice.blas import one_blas_thread
from satisfice.certify.eprocess import Certificate
from satisfice.certify.hope import Outlook
from satisfice.certify.replicates import key_of
from satisfice.checks import named
from satisfice.domain.box import Domain
from satisfice.domain.finite import Finite
from satisfice.errors import BadInput, NumericalFailure, SatisficeWarning
from satisfice.gp.fit import Model, Note
from satisfice.gp.models import MODELS, FixedModel
from satisfice.rules import RULES, ConcludingRule, RememberingRule, Rule, requirements_of
from satisfice.rules.baselines import Sobol
from satisfice.rules.widths import BayesianWidth
from satisfice.search.answer import Answer, Verdict
from satisfice.search.surrogate import Estimate, Surrogate
from satisfice.types import Array, Noise

DEFAULT_RULE, UNDER_NOISE = "aspire", "eg"  # what "auto" means
LOOK_AROUND = 3  # under noise every third new point is a neighbour of the most promising one: the model may be wrong
NEIGHBOURHOOD = 0.1  # in the unit cube
CONTRADICTED = (
    "noise=0 was stated, but repeats of one setting gave different values: leave noise out, or say 'learn', to get a verdict "
    "that can be trusted"
)
FAINT = 1e-3  # a smaller chance of the best bet says nothing of how many evaluations are needed


class Search(Surrogate):
    """A search for a point of the domain whose value reaches the target, in as few evaluations as possible.

    >>> from satisfice import Box, Search
    >>> search = Search(Box([(-5, 10), (0, 15)]), target=-1.0, noise=0)
    >>> while search.answer().verdict == "open":
    ...     x = search.ask()
    ...     search.tell(x, -((x[0] - 1) ** 2) - (x[1] - 2) ** 2)

    `noise`: 0 declares a noise-free objective; a number is the known standard deviation; "learn" is unknown noise; None does not
    know: the first point that reaches the target is asked again (the best one, where a finite domain has no other left), and an
    identical value means noise-free; of counts and shares it takes three or more. Under noise a promising point is asked again
    until its fresh values certify it; `confirm=False` leaves every question to the rule, once it is known whether there is
    noise. `value_range` is the range (low, high) that no value can leave: with it a certificate holds for any noise, and None
    means "learn"; say noise=0 for a noise-free objective.
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
        noise: Noise = None,
        confidence: float = 0.95,
        value_range: tuple[float, float] | None = None,
        confirm: bool = True,
        seed: int = 0,
    ) -> None:
        super().__init__(
            domain,
            target,
            named(model, MODELS, "model", method="fit"),
            direction=direction,
            noise=noise,
            confidence=confidence,
            value_range=value_range,
            seed=seed,
        )
        self.confirm = confirm
        self._rule = named(rule, {**RULES, "auto": RULES[DEFAULT_RULE]}, "rule", method="propose")
        self._remembering = self._rule if isinstance(self._rule, RememberingRule) else None
        self._rule_under_noise = RULES[UNDER_NOISE]() if rule == "auto" else self._rule
        requirements_of(self._rule).check(
            f"rule {rule!r}",
            finite=isinstance(domain, Finite),
            mixture=self._model.is_mixture(domain.dimension),
            fixed=isinstance(self._model, FixedModel),
        )
        self._asked: tuple[bytes, Array] | None = None
        self._warned: set[str] = set()
        self.fallback = False  # whether the last question came from the space-filling sequence because the model failed

    def ask(self, pending: npt.ArrayLike | Sequence[npt.ArrayLike] = ()) -> Array:
        """The next point (d,) to evaluate, in the user's units; `pending` are points (k, d) that are being evaluated now.

        Asking twice gives the same point, and so does a search that was told the same history.
        """
        waiting = self._pending(pending)
        key = b"%d %d %d " % (len(self._y), self._replicates.entries, self.unseen) + waiting.tobytes()
        if self._asked is None or self._asked[0] != key:
            with one_blas_thread():
                self._asked = (key, self._next(waiting))
        return self._asked[1].copy()

    def tell(self, x: npt.ArrayLike, value: float, *, fresh: bool = True, held: bool = False) -> None:
        """Record the value seen at x, whether x was asked for or not.

        `fresh=False` is for values that were perhaps chosen, such as those of an old table: they teach and certify nothing.
        A certificate wants the values of one point in the order in which they were asked for: where several are awaited at once
        and bad ones take longer, the first to come would be the good ones. A `held` value teaches, and counts towards a
        certificate when `count` is called.
        """
        super().tell(x, value, fresh=fresh, held=held)
        if self._remembering is not None and len(self._y) >= self._model.starting_points:
            with one_blas_thread(), suppress(NumericalFailure):  # the value is kept; the next question will say so
                self._memory = self._remembering.remember(
                    self._belief(self._fitted(), len(self._y) + len(self._failed) + 1)
                )

    def recommended(self) -> int:
        """The number (from 0) of the told value whose point the model thinks best: of highest posterior mean under noise."""
        if len(self._y) == 0:
            raise BadInput("recommended: no value has been told yet; tell one first")
        if self.deterministic:
            return int(np.argmax(self._y))
        with one_blas_thread():
            return self._estimate().index

    def answer(self) -> Answer:
        """The best point so far, by the model's estimate under noise, and how sure one can be of it."""
        if len(self._y) == 0:
            return Answer("open", failures=len(self._failed), notes=self._notes, confidence=self.confidence)
        with one_blas_thread():
            certificate, estimate, cost = self._judged()
            outlook = None if certificate is not None else self._outlook_now()
            verdict: Verdict = "good" if certificate is not None else "none" if self._nothing_left(outlook) else "open"
        needed = cost
        if cost is None and outlook is not None and outlook.best_bet > FAINT and self.deterministic is not False:
            needed = 1 / outlook.best_bet
        hope = 1.0 if verdict == "good" else outlook.hope if outlook is not None else None
        low, high = sorted((self._sign * estimate.low, self._sign * estimate.high))
        return Answer(
            verdict=verdict,
            point=self._X[estimate.index].copy(),
            value=self._sign * estimate.value,
            interval=(low, high),
            probability=estimate.probability,
            hope=hope,
            evaluations=len(self._y),
            failures=len(self._failed),
            certificate=certificate,
            repeats=None if cost is None else int(np.ceil(cost)),
            needed=None if needed is None or verdict != "open" else int(np.ceil(needed)),
            notes=self._notes + ((CONTRADICTED,) if self._stated_noise == 0 and self._replicates.different else ()),
            confidence=self.confidence,
            proven=verdict == "none" and bool(self.deterministic) and self.exhausted,
        )

    def _judged(self) -> tuple[Certificate | None, Estimate, float | None]:
        """The certificate if there is one, the point to speak of, and about how many repeats would certify it."""
        if self.deterministic:
            index = int(np.argmax(self._y))
            value = float(self._y[index])
            good = value >= self._goal
            found = Certificate("the objective is noise-free", 1.0, 0, self._sign * value, 0) if good else None
            return found, Estimate(index, value, value, value, float(good)), None
        if self._certificate is not None:
            index, found = self._certificate
            return replace(found, bound=self._sign * found.bound), self._estimate(index), None
        now = self._plan() if self.deterministic is False else None
        if now is None or now.cheapest is None:
            return None, self._estimate(), None
        return None, self._estimate(now.cheapest), now.cost

    def _nothing_left(self, outlook: Outlook | None) -> bool:
        """Whether no point can be good: all were evaluated without noise, the rule has ruled out all, or hope is gone.

        With a known kernel on a finite domain hope is gone when every upper confidence bound lies below the target.
        """
        if self.deterministic and self.exhausted:
            return True
        if isinstance(self._rule, ConcludingRule):
            return self._rule.nothing_left(self._memory)
        if outlook is None or not self.confirm:
            return False
        if isinstance(self._model, FixedModel) and isinstance(self.domain, Finite):
            belief = self._belief(self._fitted(), 1)
            mean, std = belief.marginal(self.domain.U)
            width = BayesianWidth(len(self.domain.U), self._delta)(len(self._y) + 1)
            return bool((mean + width * std < belief.target).all())
        return outlook.hope < self._delta

    def _next(self, waiting: Array) -> Array:
        """The next point: a repeat that tells whether there is noise, a starting point, or the rule's proposal."""
        self.fallback = False
        step = len(self._y) + len(self._failed) + len(waiting) + 1
        rng = default_rng([self.seed, step])
        if self.deterministic is None and (again := self._telling(waiting)) is not None:
            return self._X[again]
        blind = Belief(
            members=(),
            domain=self.domain,
            target=0.0,
            step=step,
            seed=self.seed,
            incumbent=0.0,
            best=self._U[:0],
            avoid=np.vstack([self._U, self._failed, waiting]),
            may_repeat=self.deterministic is False,
        )
        if len(self._y) < self._model.starting_points:
            u = Sobol().propose(blind, rng)
        else:
            try:
                fit = self._fitted()
                self._warn_of(fit.notes)
                belief = self._belief(fit, step)
                if self.confirm and self.deterministic is False and (now := self._plan()) is not None:
                    if now.repeat is not None and self._wanted_again(now.repeat, waiting, now.cost):
                        return self._X[now.repeat]
                    belief = replace(belief, target=belief.target + now.margin * self._sigma(fit))
                    if now.cheapest is not None and self._explored % LOOK_AROUND == 0:
                        near = self._neighbour(self._U[now.cheapest], rng)[None]
                        if not taken(near, np.vstack([self._U, self._failed, waiting]), self.domain)[0]:
                            return self.domain.from_unit(near)[0]
                if len(hopeless := self._hopeless):
                    ordinary = float(np.median(fit.scaler.standardise(self._y)))
                    belief = belief.assuming_bad(hopeless, at_most=ordinary)
                rule = self._rule_under_noise if self.deterministic is False else self._rule
                u = self._proposed(rule, belief.assuming_bad(waiting), rng)
            except NumericalFailure as problem:
                self.fallback = True
                text = f"{problem}; the question is a space-filling one instead"
                self._warn_of((Note("numbers", text, serious=True),))
                u = Sobol().propose(blind, rng)
        return self.domain.from_unit(u[None])[0]

    def _proposed(self, rule: Rule, belief: Belief, rng: Generator) -> Array:
        """The point (d,) of the unit cube that the rule proposes; one clear error where a rule of the user's own gives none."""
        given = rule.propose(belief, rng)
        try:
            u = np.asarray(given)
        except ValueError:  # rows of different lengths
            u = np.empty(0)
        d = self.domain.dimension
        if u.shape != (d,) or u.dtype.kind not in "iuf" or not ((u >= -1e-9) & (u <= 1 + 1e-9)).all():
            raise BadInput(
                f"rule {type(rule).__name__}: `propose` must return a point of the unit cube, an array of {d} numbers from 0 "
                f"to 1; got {given!r:.80}"
            )
        return u.astype(np.float64)

    def _telling(self, waiting: Array) -> int | None:
        """The index of the value whose repeat tells whether there is noise: the best, if it is good or no other point is left.

        None as long as that repeat is waited for.
        """
        for k in np.argsort(-self._y, kind="stable"):
            if key_of(self._U[k]) not in self._replicates.dropped:
                wanted = self._y[k] >= self._goal or self.exhausted
                return int(k) if wanted and not (waiting == self._U[k]).all(axis=1).any() else None
        return None

    def _wanted_again(self, index: int, waiting: Array, cost: float) -> bool:
        """Whether fewer questions wait at the point of a value than it needs: one for a second look, else what it would cost."""
        looked = key_of(self._U[index]) in self._replicates.looked
        return bool((waiting == self._U[index]).all(axis=1).sum() < (cost if looked else 1))

    def _neighbour(self, u: Array, rng: Generator) -> Array:
        """A point (d,) at a random distance from u."""
        step = NEIGHBOURHOOD * rng.random() * rng.standard_normal(len(u))
        return self.domain.snap(np.clip(u + step, 0.0, 1.0)[None])[0]

    def _warn_of(self, notes: tuple[Note, ...]) -> None:
        """One Python warning for each kind of serious note; the others stay in the answer."""
        for note in notes:
            expected = note.kind == "constant" and self.deterministic is False  # as of passes and fails
            if note.serious and not expected and note.kind not in self._warned:
                self._warned.add(note.kind)
                warnings.warn(note.text, SatisficeWarning, stacklevel=4)
