"""`Search`: ask where to look, tell what was seen, and get an answer."""

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import default_rng

from satisfice.acquisition.joint import JointBelief
from satisfice.blas import one_blas_thread
from satisfice.certificates.eprocess import Certificate
from satisfice.checks import named, whole
from satisfice.domain.finite import Finite
from satisfice.domain.parameters import native
from satisfice.domain.preference import Forgotten, Preference
from satisfice.domain.product import Product
from satisfice.domain.region import Region
from satisfice.domain.space import Space
from satisfice.errors import BadInput, NumericalFailure, SatisficeWarning
from satisfice.gp.models import MODELS, FixedModel, Model, Note
from satisfice.gp.posterior import Marginal
from satisfice.rules import JOINT, RULES, ConcludingRule, RememberingRule, Rule, requirements_of
from satisfice.rules.widths import BayesianWidth
from satisfice.search.answer import Answer, PreferenceAnswer, Verdict, probability
from satisfice.search.config import SearchConfig
from satisfice.search.improvement import Improvement
from satisfice.search.joint_observations import JointObservations
from satisfice.search.joint_surrogate import JointSurrogate, conflicts
from satisfice.search.judging import contradictions, judged_at
from satisfice.search.observations import Observations
from satisfice.search.specification import Target
from satisfice.search.stages import WITH_MODEL, WITHOUT_MODEL, Turn, fill_space, first_proposal
from satisfice.search.surrogate import Surrogate
from satisfice.types import Array, Domain, Noise

DEFAULT_RULE, UNDER_NOISE = "aspire", "eg"  # what "auto" means


class Search:
    """A search for a point of the domain whose value reaches the target, in as few evaluations as possible.

    Parameters
    ----------
    domain
        Where to look: a `Space`, a `Box` or a `Finite`. A point of a `Space` is a dict of its parameters.
    target
        The value to reach; or several requirements, such as `{"yield": ">= 80", "impurity": "<= 2"}`, see `Specification.of`.
        Then a point is good if it meets all of them, and values are dicts: `search.tell(x, {"yield": 81.0, "impurity": 1.2})`.
    rule
        How the next point is chosen: a name in `satisfice.rules.RULES`, "auto", or a rule.
    model
        What the rule believes: "auto", "paper" or a model.
    direction
        "maximize" or "minimize". It belongs to a target that is a number, as do `noise` and `value_range`; requirements have
        their own.
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
    prefer
        Which of the good settings you would rather have: a cost of the parameters, smaller is better. A sum such as "a + 2 b" (of
        a `Space`), a function of the parameters, or a centre: a setting, to which the distance counts. After the first good
        setting the search goes on for a more preferred one, until the hope of one is lost (`answer().done`).
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
        target: float | Target,
        rule: str | Rule = "auto",
        *,
        model: str | Model = "auto",
        direction: str = "maximize",
        noise: Noise = None,
        confidence: float = 0.95,
        value_range: tuple[float, float] | None = None,
        prefer: Any = None,
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
        self._forgotten = prefer.name if isinstance(prefer, Forgotten) else ""
        self.preference = self._preference(prefer, domain)
        self.domain = domain
        self.specification = self.config.specification
        found = named(model, MODELS, "model", method="fit")
        self.observations: Observations | JointObservations
        self.surrogate: Surrogate | JointSurrogate
        if self.specification is not None and len(self.specification) > 1:
            self.observations = JointObservations(domain, self.config)
            self.surrogate = JointSurrogate(self.observations, found)
        else:
            if self.specification is not None:  # of one requirement: the same search as for a number
                self.config = self.config.alone(self.specification.requirements[0])
            self.observations = Observations(domain, self.config)
            self.surrogate = Surrogate(self.observations, found)
        if self.preference is not None:
            self.observations.improvement = Improvement(self.observations, self.preference)
        self._hope_of_more: tuple[tuple[int, ...], float] | None = None  # with the counts of values and failures
        self.fallback = False  # whether the model failed, so that the last point came from a space-filling sequence
        self._rule = named(rule, {**RULES, "auto": RULES[DEFAULT_RULE]}, "rule", method="propose")
        self._rule_under_noise = RULES[UNDER_NOISE]() if rule == "auto" else self._rule
        requirements_of(self._rule).check(
            f"rule {rule!r}",
            finite=isinstance(domain, Finite),
            mixture=self.surrogate.model.is_mixture(domain.dimension),
            fixed=isinstance(self.surrogate.model, FixedModel),
        )
        if isinstance(self.observations, JointObservations) and not getattr(self._rule, "joint", False):
            raise BadInput(f"rule {rule!r} takes one requirement; for several use one of {', '.join(JOINT)}.")
        self._asked: tuple[bytes, Array] | None = None
        # the points of a space by their parameters: a logarithm may not come back exactly
        self._proposed: dict[str, Array] = {}
        self._warned: set[str] = set()

    def _preference(self, prefer: Any, domain: Domain) -> Preference | None:
        if prefer is None or isinstance(prefer, Forgotten):
            return None
        return prefer if isinstance(prefer, Preference) else Preference(prefer, domain, self.space)

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
        if isinstance(self.domain, Region) and self.domain.limits.forgotten:
            raise BadInput(
                f"`constraints` must be given again: a study keeps of a function only its name, {self.domain.limits.forgotten}. "
                "Pass the space and the same constraints."
            )
        if self._forgotten:
            raise BadInput(
                f"`prefer` must be given again: a study keeps of a function only its name, {self._forgotten}. Pass the "
                "space and the same function."
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

    def wants(self, x: npt.ArrayLike | Mapping[str, Any], values: Mapping[str, Any] | None = None) -> tuple[str, ...]:
        """Say which values are still needed of an evaluation, given those that were measured.

        Those of all requirements that are not deferred come first. Then a deferred one is needed if the others pass: at a point
        without earlier values by the values of this evaluation, elsewhere by the mean of the earlier ones, since values that are
        measured only when others are good by chance would certify too much.

        Parameters
        ----------
        x
            The point (d,), in your units, or the parameters of a `Space`.
        values
            What was measured so far in this evaluation.

        Returns
        -------
        tuple of str
            The names; empty once `tell` has all it needs.

        Raises
        ------
        BadInput
            If the target has no requirements.

        Examples
        --------
        >>> from satisfice import Box, Requirement, Search
        >>> target = [Requirement("yield", ">=", 80), Requirement("shelf life", ">=", 12, deferred=True)]
        >>> search = Search(Box([(0, 1)]), target)
        >>> search.wants([0.5]), search.wants([0.5], {"yield": 85.0}), search.wants([0.5], {"yield": 60.0})
        (('yield',), ('shelf life',), ())
        """
        if self.specification is None:
            raise BadInput("`wants` needs a target with requirements; with a number, an evaluation has one value.")
        given = dict(values or {})
        if isinstance(self.observations, JointObservations):
            return self.observations.wants(self._points([x])[0], given)
        return tuple(name for name in self.specification.names if given.get(name) is None)

    def tell(
        self,
        x: npt.ArrayLike | Mapping[str, Any],
        value: float | Mapping[str, Any],
        *,
        fresh: bool = True,
        held: bool = False,
        partial: bool = False,
    ) -> None:
        """Record the value at a point, whether you were asked for it or not.

        Tell the values of one point in the order in which you were asked for them: where several are evaluated at once and bad
        ones take longer, the first to arrive are the good ones.

        Parameters
        ----------
        x
            The point (d,), in your units, or the parameters of a `Space`.
        value
            Its value; of a target with requirements a dict of the values, in which others may stand as well.
        fresh
            False for values that may have been selected, such as those of an old table. The model trains on them, but they never
            count towards a certificate.
        held
            True if the value counts towards a certificate only once `count` is called.
        partial
            True if a deferred value that is missing was not wanted when the evaluation was made; see `wants`.

        Raises
        ------
        BadInput
            If the point lies outside the domain, or the value is not a finite number within `value_range`.
        """
        point = self._points([x])[0]
        if isinstance(self.observations, JointObservations) and fresh and not partial:
            self.observations.check_complete(point, value)
        self.observations.tell(point, self._reading(value), fresh=fresh, held=held)
        enough = len(self.observations.y) >= self.surrogate.model.starting_points
        if enough and isinstance(self._rule, RememberingRule):
            with one_blas_thread(), suppress(NumericalFailure):  # `ask` will report it; the value is kept
                self.surrogate.memory = self._rule.remember(self.surrogate.belief(self._step))  # type: ignore[arg-type]

    def count(self, x: npt.ArrayLike | Mapping[str, Any], value: float | Mapping[str, Any]) -> None:
        """Let a value that was told with `held=True` count towards a certificate; it must not be the first one at its point."""
        self.observations.count(self._points([x])[0], self._reading(value))

    def _reading(self, value: Any) -> Any:
        """The value that counts, where there is one requirement; what was told otherwise."""
        if self.specification is None or isinstance(self.observations, JointObservations):
            return value
        return self.specification.readings(value)[self.specification.names[0]]

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
            return self.surrogate.promising()

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
        if not isinstance(self.surrogate, Surrogate):
            raise BadInput("`predict` needs a target with one requirement; with several use `predict_each`.")
        return self._predicted(self.surrogate, X)

    def predict_each(self, X: npt.ArrayLike) -> dict[str, Marginal]:
        """The same for each requirement that has values enough for a model, by its name."""
        if self.specification is None:
            raise BadInput("`predict_each` needs a target with requirements; with a number use `predict`.")
        parts = (self.surrogate,) if isinstance(self.surrogate, Surrogate) else self.surrogate.parts
        names = zip(self.specification.names, parts, strict=True)
        return {name: self._predicted(part, X) for name, part in names if part.ready}

    def _predicted(self, surrogate: Surrogate, X: npt.ArrayLike) -> Marginal:
        U = self.domain.to_unit(self._points(X))
        with one_blas_thread():
            mean, std = surrogate.belief().marginal(U)
            scaler = surrogate.fit().scaler
        return Marginal(surrogate.config.sign * scaler.restore(mean), scaler.restore_std(std))

    def answer(self) -> Answer:
        """Report the verdict, the best point so far and how certain it is."""
        seen, config, notes = self.observations, self.config, self.surrogate.notes
        n, failures = len(seen.y), len(seen.failed)
        if not seen.inside.any():
            return Answer("open", evaluations=n, failures=failures, notes=notes, confidence=config.confidence)
        with one_blas_thread():
            certificate, index, cost = self._judge()
            outlook = None if certificate is not None else self.surrogate.outlook()
            verdict: Verdict = "good" if certificate is not None else "open"
            basis, share, draws = "", None, self.surrogate.draws
            if verdict == "open":
                verdict, basis = self._nothing_left()
            lost = verdict == "open" and self.surrogate.lost_hope
            if verdict == "open" and (lost or self.surrogate.long_in_vain) and draws.found and not self._concludes:
                share = draws.bound()
                verdict = "unlikely" if lost and draws.enough and draws.calibrated() else "open"
        with one_blas_thread():
            judged = judged_at(index, seen, self.surrogate, self.specification)
            hopes: tuple[float, ...] = ()
            incompatible: tuple[str, ...] = ()
            if verdict in ("none", "unlikely") and isinstance(self.surrogate, JointSurrogate):
                hopes, incompatible = conflicts(self.surrogate)
        for k, hope in enumerate(hopes):
            judged.requirements[k] = replace(judged.requirements[k], hope=hope)
        return Answer(
            verdict=verdict,
            point=seen.X[index].copy(),
            params=None if self.space is None else self.space.decode(seen.X[index]),
            value=judged.value,
            interval=judged.interval,
            probability=judged.probability,
            requirements=tuple(judged.requirements),
            conflicts=incompatible,
            hope=1.0 if verdict == "good" else outlook.hope if outlook is not None else None,
            evaluations=n,
            failures=failures,
            certificate=certificate,
            repeats=None if cost is None else int(np.ceil(cost)),
            notes=self.surrogate.notes + contradictions(seen),
            confidence=config.confidence,
            proven=verdict == "none" and seen.complete,
            basis=basis,
            share=share,
            preference=self._preferred(),
        )

    def _preferred(self) -> PreferenceAnswer | None:
        """What the certified settings cost, and the hope of a more preferred one; None before there is a certified one."""
        seen = self.observations
        improvement = seen.improvement
        if improvement is None or improvement.best is None or self.preference is None:
            return None
        counts = len(seen.y), len(seen.failed), seen.replicates.entries
        if self._hope_of_more is None or self._hope_of_more[0] != counts:
            with one_blas_thread():
                found = self.surrogate.improvement_outlook()
            self._hope_of_more = counts, 1.0 if found is None else found.hope
        hope, certified = self._hope_of_more[1], improvement.certified
        return PreferenceAnswer(
            kind=self.preference.kind,
            cost=float(improvement.costs[improvement.best]),
            first=float(improvement.costs[certified[0]]),
            certified=len(certified),
            hope=hope,
            done=hope < self.config.error_rate,
        )

    def _judge(self) -> tuple[Certificate | None, int, float | None]:
        """The certificate, if any, an index of the point to report, and how many replicates would certify it."""
        if self.observations.certificate is not None:
            index, found = self.observations.certificate
            return found, index, None
        plan = self.surrogate.plan()
        if plan is None or plan.cheapest is None:
            return None, self.surrogate.promising(), None
        return None, plan.cheapest, plan.cost

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
            parts = seen.parts if isinstance(seen, JointObservations) else (seen,)
            if all(part.config.noise == 0 for part in parts):
                return "none", "every setting was evaluated, without noise"
            unsure = next(part for part in parts if part.config.noise != 0)
            return "unlikely", f"every setting was evaluated; {unsure.replicates.exactness}"
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
            beliefs = belief.parts if isinstance(belief, JointBelief) else (belief,)
            width = BayesianWidth(len(self.domain.U), config.error_rate / len(beliefs))(len(seen.y) + 1)
            missed = np.zeros(len(self.domain.U), dtype=bool)
            for each in beliefs:
                mean, std = each.marginal(self.domain.U)
                missed |= mean + width * std < each.target
            if missed.all():
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
        if self.observations.improvement is not None and self.observations.improvement.going_on:
            rule = self.observations.improvement.rule()
        turn = Turn(self.observations, self.surrogate, rule, waiting, step, default_rng([self.config.seed, step]))
        point = first_proposal(WITHOUT_MODEL, turn)
        if point is None:
            try:
                self._warn_of(self.surrogate.remarks())
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
