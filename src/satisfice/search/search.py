"""`Search`: ask where to look, tell what was seen, and get an answer."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import default_rng

from satisfice.blas import one_blas_thread
from satisfice.certificates.eprocess import Certificate
from satisfice.checks import named, whole
from satisfice.domain.finite import Finite
from satisfice.domain.parameters import native
from satisfice.domain.product import Product
from satisfice.domain.space import Space
from satisfice.errors import BadInput, NumericalFailure, SatisficeWarning
from satisfice.gp.models import MODELS, FixedModel, Model, Note
from satisfice.gp.posterior import Marginal
from satisfice.rules import RULES, ConcludingRule, RememberingRule, Rule, requirements_of
from satisfice.rules.widths import BayesianWidth
from satisfice.search.answer import Answer, Verdict, probability
from satisfice.search.config import SearchConfig
from satisfice.search.observations import Observations
from satisfice.search.stages import WITH_MODEL, WITHOUT_MODEL, Turn, fill_space, first_proposal
from satisfice.search.surrogate import Estimate, Surrogate
from satisfice.types import Array, Domain, Noise

DEFAULT_RULE, UNDER_NOISE = "aspire", "eg"  # what "auto" means
CONTRADICTED = (
    "noise=0 was stated, but replicates of one setting gave different values: leave noise out, or pass 'learn', to get a verdict "
    "that can be trusted"
)
PATIENCE = 4  # identical repeats that do not tell, after which an answer says how to do without
ROUNDED = 0.01  # a value of a table may differ by this share from what its setting gives: tables are rounded
FAINT = 1e-3  # a smaller probability of the best point says nothing about how many evaluations are needed


class Search:
    """A search for a point of the domain whose value reaches the target, in as few evaluations as possible.

    Parameters
    ----------
    domain
        Where to look: a `Space`, a `Box` or a `Finite`. A point of a `Space` is a dict of its parameters.
    target
        The value to reach.
    rule
        How the next point is chosen: a name in `satisfice.rules.RULES`, "auto", or a rule.
    model
        What the rule believes: "auto", "paper" or a model.
    direction
        "maximize" or "minimize".
    noise
        0 for a noise-free objective, a number for noise of that standard deviation, "learn" for unknown noise. None means that
        you do not know: the first good point (on an exhausted finite domain, the best one) is evaluated again, and an identical
        value means that there is no noise; counts, shares and rounded
        values need repeats at several settings, and more of one that is barely good.
    confidence
        The probability that a verdict is right.
    value_range
        The range (low, high) that no value can leave. With it, certificates hold for any noise, and `noise=None` means "learn";
        pass `noise=0` for a noise-free objective.
    confirm
        Whether promising points are replicated under noise until their fresh values certify them. False leaves every question to
        the rule, once it is known whether there is noise.
    give_up
        Whether a search that has lost hope draws settings at random and then ends with the verdict "unlikely". False goes on.
    seed
        The seed of all random numbers.

    Raises
    ------
    BadInput
        If an argument cannot be used, or the rule does not suit the domain or the model.

    Examples
    --------
    >>> from satisfice import Box, Search
    >>> search = Search(Box([(-5, 10), (0, 15)]), target=-1.0, noise=0)
    >>> while search.answer().verdict == "open":
    ...     x = search.ask()
    ...     search.tell(x, -((x[0] - 1) ** 2) - (x[1] - 2) ** 2)
    """

    def __init__(
        self,
        domain: Domain | Space,
        target: float,
        rule: str | Rule = "auto",
        *,
        model: str | Model = "auto",
        direction: str = "maximize",
        noise: Noise = None,
        confidence: float = 0.95,
        value_range: tuple[float, float] | None = None,
        confirm: bool = True,
        give_up: bool = True,
        seed: int = 0,
    ) -> None:
        self.space = domain if isinstance(domain, Space) else None
        domain = domain.domain if isinstance(domain, Space) else domain
        if not isinstance(domain, Product | Finite):
            raise BadInput(f"`domain` must be a Space, a Box or a Finite; got {domain!r}.")
        self.config = SearchConfig(
            target, direction, noise, confidence, value_range, rule, model, seed, confirm=confirm, give_up=give_up
        )
        self.domain = domain
        self.observations = Observations(domain, self.config)
        self.surrogate = Surrogate(self.observations, named(model, MODELS, "model", method="fit"))
        self.fallback = False  # whether the model failed, so that the last point came from a space-filling sequence
        self._rule = named(rule, {**RULES, "auto": RULES[DEFAULT_RULE]}, "rule", method="propose")
        self._rule_under_noise = RULES[UNDER_NOISE]() if rule == "auto" else self._rule
        requirements_of(self._rule).check(
            f"rule {rule!r}",
            finite=isinstance(domain, Finite),
            mixture=self.surrogate.model.is_mixture(domain.dimension),
            fixed=isinstance(self.surrogate.model, FixedModel),
        )
        self._asked: tuple[bytes, Array] | None = None
        # the points of a space by their parameters: a logarithm may not come back exactly
        self._proposed: dict[str, Array] = {}
        self._warned: set[str] = set()

    @property
    def deterministic(self) -> bool | None:
        """Whether the objective is free of noise; None as long as that is unknown."""
        return self.observations.deterministic

    def ask(self, pending: npt.ArrayLike | Sequence[Any] = (), *, n: int | None = None) -> Any:
        """Choose the next point to evaluate, or the next `n` to be evaluated at the same time.

        Asking twice gives the same point, and so does a search that was told the same history.

        Parameters
        ----------
        pending
            Points (k, d) that are being evaluated now, in your units.
        n
            How many points; None for one. Each is chosen as if those before it were pending.

        Returns
        -------
        Array or dict
            The point (d,), in your units; of a `Space` its parameters. With `n` a list of them.

        Raises
        ------
        SpaceExhausted
            If every point of a finite domain has been evaluated and evaluating one again would teach nothing.
        NoSurvivors
            If the rule has ruled out every point.
        """
        if n is not None:
            batch: list[Any] = []
            for _ in range(whole(n, "n", least=1)):
                batch.append(self.ask([*pending, *batch]))  # type: ignore[misc]  # points, whatever they are in
            return batch
        if isinstance(pending, int):
            raise BadInput(
                f"`pending` must be points; got {pending!r}. For several points at once write ask(n={pending})."
            )
        seen = self.observations
        waiting = seen.pending(self._points(pending))
        key = b"%d %d %d " % (len(seen.y), seen.replicates.entries, seen.unseen) + waiting.tobytes()
        if self._asked is None or self._asked[0] != key:
            with one_blas_thread():
                self._asked = (key, self._next(waiting))
        point = self._asked[1].copy()
        if self.space is None:
            return point
        params = self.space.decode(point)
        self._proposed[self._key(params)] = point
        return params

    def tell(
        self, x: npt.ArrayLike | Mapping[str, Any], value: float, *, fresh: bool = True, held: bool = False
    ) -> None:
        """Record the value at a point, whether you were asked for it or not.

        Tell the values of one point in the order in which you were asked for them: where several are evaluated at once and bad
        ones take longer, the first to arrive are the good ones.

        Parameters
        ----------
        x
            The point (d,), in your units, or the parameters of a `Space`.
        value
            Its value.
        fresh
            False for values that may have been selected, such as those of an old table. The model trains on them, but they never
            count towards a certificate.
        held
            True if the value counts towards a certificate only once `observations.count` is called.

        Raises
        ------
        BadInput
            If the point lies outside the domain, or the value is not a finite number within `value_range`.
        """
        self.observations.tell(self._points([x])[0], value, fresh=fresh, held=held)
        enough = len(self.observations.y) >= self.surrogate.model.starting_points
        if enough and isinstance(self._rule, RememberingRule):
            with one_blas_thread(), suppress(NumericalFailure):  # `ask` will report it; the value is kept
                self.surrogate.memory = self._rule.remember(self.surrogate.belief(self._step))

    def fail(self, x: npt.ArrayLike | Mapping[str, Any], *, bad: bool = False) -> None:
        """Record that the evaluation of a point failed; the search avoids its neighbourhood.

        Parameters
        ----------
        x
            The point (d,), in your units, or the parameters of a `Space`.
        bad
            Whether it has no value because it went badly: it was pruned, or broke a constraint. Such a point is never certified,
            since its other values are those that went better.
        """
        self.observations.fail(self._points([x])[0], bad=bad)

    def recommended(self) -> int:
        """The index of the observation at the best point: of the highest value, or posterior mean under noise."""
        if len(self.observations.y) == 0:
            raise BadInput("`recommended` needs a value, but no value has been told yet; call `tell` first.")
        with one_blas_thread():
            return self.surrogate.estimate().index

    def hope(self) -> float:
        """The model's probability that some point of the domain reaches the target; 1 before there is a model."""
        with one_blas_thread():
            now = self.surrogate.outlook()
        return 1.0 if now is None else now.hope

    def probability_good(self, X: npt.ArrayLike) -> Array:
        """The model's probability (m,) that each of the points X (m, d), in your units, reaches the target."""
        U = self.domain.to_unit(self._points(X))
        with one_blas_thread():
            return self.surrogate.belief().probability_good(U)

    def predict(self, X: npt.ArrayLike) -> Marginal:
        """The model's mean and standard deviation (m,) of f at the points X (m, d), all in your units."""
        U = self.domain.to_unit(self._points(X))
        with one_blas_thread():
            mean, std = self.surrogate.belief().marginal(U)
            scaler = self.surrogate.fit().scaler
        return Marginal(self.config.sign * scaler.restore(mean), scaler.restore_std(std))

    def answer(self) -> Answer:
        """Report the verdict, the best point so far and how certain it is."""
        seen, config, notes = self.observations, self.config, self.surrogate.notes
        n, failures = len(seen.y), len(seen.failed)
        if n == 0:
            return Answer("open", failures=failures, notes=notes, confidence=config.confidence)
        with one_blas_thread():
            certificate, estimate, cost = self._judge()
            outlook = None if certificate is not None else self.surrogate.outlook()
            verdict: Verdict = "good" if certificate is not None else "open"
            basis, share, draws = "", None, self.surrogate.draws
            if verdict == "open":
                verdict, basis = self._nothing_left()
            lost = verdict == "open" and self.surrogate.lost_hope
            if verdict == "open" and (lost or self.surrogate.long_in_vain) and draws.found and not self._concludes:
                share = draws.bound()
                verdict = "unlikely" if lost and draws.enough and draws.calibrated() else "open"
        needed = cost
        if cost is None and outlook is not None and outlook.best_bet > FAINT and seen.deterministic is not False:
            needed = 1 / outlook.best_bet
        low, high = sorted((config.sign * estimate.low, config.sign * estimate.high))
        return Answer(
            verdict=verdict,
            point=seen.X[estimate.index].copy(),
            params=None if self.space is None else self.space.decode(seen.X[estimate.index]),
            value=config.sign * estimate.value,
            interval=(low, high),
            probability=estimate.probability,
            hope=1.0 if verdict == "good" else outlook.hope if outlook is not None else None,
            evaluations=n,
            failures=failures,
            certificate=certificate,
            repeats=None if cost is None else int(np.ceil(cost)),
            needed=None if needed is None or verdict != "open" else int(np.ceil(needed)),
            notes=self.surrogate.notes + self._contradictions(),
            confidence=config.confidence,
            proven=verdict == "none" and seen.complete,
            basis=basis,
            share=share,
        )

    def _contradictions(self) -> tuple[str, ...]:
        """What own values say against what was stated or told out of a table, and of repeats that do not tell."""
        seen, sign = self.observations, self.config.sign
        found = [CONTRADICTED] if self.config.noise == 0 and seen.replicates.exactness.noise_free is False else []
        if seen.deterministic is None and (repeats := seen.replicates.exactness).repeats > PATIENCE:
            found.append(f"{repeats}: if the objective is free of noise, pass noise=0")
        told = {index: seen.told(index) for index in seen.contradicted}
        wrong = {
            index: own
            for index, own in seen.contradicted.items()
            if abs(told[index] - own) > ROUNDED * max(abs(own), abs(told[index]))
            or (told[index] >= self.config.goal) != (own >= self.config.goal)
        }
        if wrong:
            index, value = next(iter(wrong.items()))
            found.append(
                f"values of the table that own evaluations contradict: {len(wrong)}; one is {sign * told[index]:.6g}, and "
                f"its setting gave {sign * value:.6g}. Only own evaluations count"
            )
        return tuple(found)

    def _judge(self) -> tuple[Certificate | None, Estimate, float | None]:
        """The certificate, if any, the estimate at the point to report, and the number of replicates that would certify it."""
        seen, surrogate = self.observations, self.surrogate
        if seen.certificate is not None:
            index, found = seen.certificate
            return found, surrogate.estimate(index), None
        plan = surrogate.plan()
        if plan is None or plan.cheapest is None:
            return None, surrogate.estimate(), None
        return None, surrogate.estimate(plan.cheapest), plan.cost

    @property
    def _concludes(self) -> bool:
        """Whether the rule itself can conclude that no point is good."""
        return isinstance(self._rule, ConcludingRule)

    def _nothing_left(self) -> tuple[Verdict, str]:
        """Whether no point is left that may be good, and what that rests on.

        Proof is that all points were evaluated and `noise=0` was stated, or that the bounds of a known kernel, as wide as they
        have to be, rule out all. Where the objective was only taken to be noise-free, the kernel was learned or the width is
        the user's own, it is no proof.
        """
        seen, config, model = self.observations, self.config, self.surrogate.model
        if seen.complete:
            if config.noise == 0:
                return "none", "every setting was evaluated, without noise"
            return "unlikely", f"every setting was evaluated; {seen.replicates.exactness}"
        known = isinstance(model, FixedModel)
        but = f"which all hold but for {probability(config.error_rate)}"
        if isinstance(self._rule, ConcludingRule):
            if not (self.surrogate.ready and self._rule.nothing_left(self.surrogate.memory)):
                return "open", ""
            if known and isinstance(config.rule, str):
                return "none", f"the confidence bounds of the rule {config.rule!r}, {but}"
            why = "by a model that was learned" if not known else "by bounds whose width is its own"
            return "unlikely", f"the rule, which has ruled out every setting {why}"
        if known and self.surrogate.ready and config.confirm and isinstance(self.domain, Finite):
            belief = self.surrogate.belief()
            mean, std = belief.marginal(self.domain.U)
            width = BayesianWidth(len(self.domain.U), config.error_rate)(len(seen.y) + 1)
            if (mean + width * std < belief.target).all():
                return "none", f"the confidence bounds of the stated kernel, {but}"
        return "open", ""

    def _points(self, points: Any) -> Any:
        """Points as arrays, whether they are told as arrays or as dicts of parameters."""
        if self.space is None:
            return points
        found = []
        for params in points:
            if not isinstance(params, Mapping):
                raise BadInput(f"A point of a Space must be a dict of its parameters; got {params!r:.80}.")
            x = self.space.encode(params)  # what it refuses is refused here
            found.append(self._proposed.get(self._key(params), x))
        return found

    def _key(self, params: Mapping[str, Any]) -> str:
        return repr([native(params[name]) for name in self.space.parameters] if self.space else [])

    @property
    def _step(self) -> int:
        """The number of the next evaluation, those under way apart."""
        return len(self.observations.y) + len(self.observations.failed) + 1

    def _next(self, waiting: Array) -> Array:
        """The point of the first stage that proposes one; if the model fails, that of a space-filling sequence."""
        self.fallback = False
        step = self._step + len(waiting)
        rule = self._rule_under_noise if self.deterministic is False else self._rule
        turn = Turn(self.observations, self.surrogate, rule, waiting, step, default_rng([self.config.seed, step]))
        point = first_proposal(WITHOUT_MODEL, turn)
        if point is None:
            try:
                self._warn_of(self.surrogate.fit().notes)
                point = first_proposal(WITH_MODEL, turn)
            except NumericalFailure as problem:
                self.fallback = True
                text = f"{problem}; the next point is a space-filling one instead"
                self._warn_of((Note("numbers", text, serious=True),))
        return fill_space(turn) if point is None else point

    def _warn_of(self, notes: tuple[Note, ...]) -> None:
        """Issue one Python warning for each kind of serious note; the others appear in the answer only."""
        for note in notes:
            one_setting = len(self.observations.replicates.first) < 2
            expected = note.kind == "constant" and (
                one_setting or self.deterministic is False
            )  # as of passes and fails
            if note.serious and not expected and note.kind not in self._warned:
                self._warned.add(note.kind)
                warnings.warn(note.text, SatisficeWarning, stacklevel=4)
