"""`SatisficeSearchCV`: a scikit-learn search that stops when the cross-validated score reaches a target for certain."""

import copy
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Number, Real
from typing import Any, ClassVar

import numpy as np

from satisfice.domain.space import Space
from satisfice.errors import BadInput, MissingExtra, NoSurvivors, SatisficeWarning, SpaceExhausted
from satisfice.search.search import Search
from satisfice.search.specification import Requirement, Specification

try:
    from sklearn.base import is_classifier  # type: ignore[import-untyped]
    from sklearn.exceptions import FitFailedWarning  # type: ignore[import-untyped]
    from sklearn.model_selection import check_cv  # type: ignore[import-untyped]
    from sklearn.model_selection._search import BaseSearchCV  # type: ignore[import-untyped]
    from sklearn.utils import check_random_state, get_tags  # type: ignore[import-untyped]
    from sklearn.utils._param_validation import HasMethods, Interval  # type: ignore[import-untyped]
except ImportError as error:
    wanted = "SatisficeSearchCV needs scikit-learn, 1.6 or newer: run pip install '.[sklearn]' in the clone."
    raise MissingExtra(wanted) from error

ALL_FAILED = "fits failed.\n"  # scikit-learn says so when no fold of a candidate could be fitted
NOT_FINITE = "One or more of the (test|train) scores are non-finite"


SAME_SPLITS = "`cv` gives the same splits every time, so the verdict is about these splits"
FAILURES = 5  # so many evaluations without a value, and nothing else, end a search
LONGEST = 60  # characters of the text that stands for an object


class _AllFoldsFailed(ValueError):
    """No fold of a candidate could be fitted."""


class SatisficeSearchCV(BaseSearchCV):  # type: ignore[misc]
    """A search over an estimator's parameters for a mean test score of at least `target`.

    One evaluation is one candidate, cross-validated on one split of the data into folds; its value is the mean test score over
    the folds. Where the split can be random (`cv` is a number or None, or a splitter that shuffles or samples) every evaluation
    has a new one, and the `random_state` of a splitter is replaced. So the value of a candidate is a random number, and its mean
    over the splits of this data has to reach the target: a promising candidate is evaluated again until its replicates certify
    it, or the budget is spent. Splits that cannot change (an unshuffled splitter, a list of splits) are used as they are, with a
    warning: the verdict is then about these splits, not about new ones, and repeats tell only whether the estimator is random.

    Parameters
    ----------
    estimator
        What is tuned.
    space
        Its parameters by name, in the short forms of `satisfice.Space`, or a table of candidates. Choices may be estimators.
    target
        The score to reach; scores are better when larger, as everywhere in scikit-learn. Or a dict with a score for each of
        several metrics, such as `{"accuracy": 0.93, "f1": 0.9}`, all of which must be reached; a text such as "<= 200" or a
        `Requirement` says more.
    constraints
        What every candidate must satisfy, as in `Space.of`.
    prefer
        Which of the good candidates you would rather have, as in `find`.
    scoring
        One metric, as in GridSearchCV; with several targets what gives all of them, by default the scorers of these names.
    budget
        The largest number of evaluations, replicates and failures included.
    timeout
        No evaluation begins after so many seconds.
    confidence
        The probability that the verdict is right.
    noise
        The standard deviation of one evaluation if it is known, 0 for none, "learn", or None as told above.
    rule, model
        As in `satisfice.Search`.
    value_range
        The range (low, high) that no score can leave, such as (0, 1) for an accuracy; certificates then hold for any noise.
    n_jobs, pre_dispatch
        How the folds of one evaluation run in parallel.
    refit, cv, verbose, error_score, return_train_score
        As in GridSearchCV; with several targets, `refit=True` stands for the first of them.
    random_state
        The seed of the search and of the splits.

    Attributes
    ----------
    verdict_
        "good", "none" (by proof), "unlikely" (given up) or "open" (the budget was spent before anything was certain).
    answer_, certificate_
        What the search knew at the end, and why it called the candidate good, if it did.
    n_evaluations_
        The number of evaluations, failed ones included.
    best_index_, best_params_, best_estimator_
        The candidate that the search recommends, not that of the luckiest evaluation.
    best_score_
        The mean of that candidate's scores over its replicates.
    cv_results_
        One row for each evaluation, so a replicated candidate has several; one that failed in every fold has none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> space = {"C": (1e-3, 1e2, "log")}
    >>> search = SatisficeSearchCV(LogisticRegression(max_iter=1000), space, target=0.9, random_state=0)
    >>> search.fit(*load_iris(return_X_y=True)).verdict_
    'good'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseSearchCV._parameter_constraints,
        "space": "no_validation",  # `Space` says what is wrong with it
        "target": [Real, dict, list, Requirement, Specification],
        "constraints": "no_validation",
        "prefer": "no_validation",
        "budget": [Interval(Integral, 1, None, closed="left")],
        "timeout": [Interval(Real, 0, None, closed="neither"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "noise": "no_validation",
        "rule": [str, HasMethods(["propose"])],
        "model": [str, HasMethods(["fit"])],
        "value_range": "no_validation",
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        space: Any,
        target: Any,
        *,
        constraints: Any = None,
        prefer: Any = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        budget: int = 50,
        timeout: float | None = None,
        confidence: float = 0.95,
        noise: Any = None,
        rule: Any = "auto",
        model: Any = "auto",
        value_range: tuple[float, float] | None = None,
        random_state: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.target = target
        self.constraints = constraints
        self.prefer = prefer
        self.budget = budget
        self.timeout = timeout
        self.confidence = confidence
        self.noise = noise
        self.rule = rule
        self.model = model
        self.value_range = value_range
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags

    def fit(self, X: Any, y: Any = None, **params: Any) -> "SatisficeSearchCV":
        """Run the search; `params` go to the estimator, the scorer and the splitter as in GridSearchCV."""
        self._specification = _specification(self.target)
        if self._specification is None and isinstance(self.scoring, list | tuple | set | dict):
            raise BadInput(
                f"`scoring` must be one metric, the one that has the target, or `target` a dict with a score for each; got "
                f"{self.scoring!r:.80}."
            )
        if self._specification is not None and callable(self.scoring) and self.refit is True:
            raise BadInput(
                "`refit` must be the name of a metric, or False, where `scoring` is a function of several metrics."
            )
        self._folds = None  # what a number of folds means
        if self.cv is None or isinstance(self.cv, Integral):
            self._folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
            self._folds.shuffle = True
        super().fit(X, y, **params)
        if not callable(self.refit):  # a callable chooses for itself
            scores = self.cv_results_[f"mean_test_{self._metric}"]
            same = [candidate == self.best_params_ for candidate in self.cv_results_["params"]]
            self.best_score_ = float(np.nanmean(scores[same]))
        return self

    @property
    def _metric(self) -> str:
        """The metric of `best_score_`."""
        specification = _specification(self.target)
        if specification is None:
            return "score"
        return self.refit if isinstance(self.refit, str) else specification.names[0]

    def _get_scorers(self) -> Any:
        specification = _specification(self.target)
        if specification is None:
            return super()._get_scorers()
        several = copy.copy(self)
        several.scoring = list(specification.names) if self.scoring is None else self.scoring
        scorers, metric = super(SatisficeSearchCV, several)._get_scorers()
        return scorers, self._metric if metric is True else metric

    def _check_refit_for_multimetric(self, scores: Any) -> None:
        if self.refit is not True:  # which stands for the first target
            super()._check_refit_for_multimetric(scores)

    def score(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Score the best estimator, by the metric of `refit`; with several targets and `refit=True` by the first of them."""
        if self.refit is not True or _specification(self.target) is None:
            return super().score(X, y, **params)
        first = copy.copy(self)
        first.refit = self._metric
        return super(SatisficeSearchCV, first).score(X, y, **params)

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]], *, callback_ctx: Any = None) -> None:
        """Ask, evaluate and tell until the verdict is no longer open or the budget is spent."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        split = self._splitter(seed)
        resampled = split(0) is not None
        if not resampled:
            said = f"{SAME_SPLITS}; a splitter that shuffles gives one about new splits."
            warnings.warn(said, SatisficeWarning, stacklevel=3)
        target: Any = self.target
        if self._specification is not None:
            target = [
                replace(each, noise="learn") if each.noise is None and resampled and not each.counts_passes else each
                for each in self._specification
            ]
        space, objects = _named(self.space)
        search = Search(
            Space.of(space, self.constraints),
            target,
            self.rule,
            model=self.model,
            noise="learn" if self.noise is None and resampled and self._specification is None else self.noise,
            confidence=self.confidence,
            prefer=self.prefer,
            value_range=self.value_range,
            seed=seed,
        )
        self._rows: list[tuple[dict[str, Any], Any]] = []  # the parameters and the score of each row of the results
        answer, problem = search.answer(), ""
        until = time.monotonic() + (np.inf if self.timeout is None else self.timeout)
        with _task(self, callback_ctx, "search", int(self.budget), one_by_one=True) as task:
            for number in range(self.budget):
                if time.monotonic() >= until or (answer.failures >= FAILURES and not answer.evaluations):
                    break
                try:
                    params = search.ask()
                except (SpaceExhausted, NoSurvivors):
                    break
                try:
                    score = self._evaluate(evaluate_candidates, _with_objects(params, objects), split(number), task)
                except _AllFoldsFailed as error:
                    problem, score = f"{params}: {error}", np.nan
                    warnings.warn(problem, FitFailedWarning, stacklevel=2)
                else:
                    self._rows.append((params, score))
                    limits = search.config.value_range
                    if limits is not None and self._specification is None and not limits[0] <= score <= limits[1]:
                        problem, score = f"{params}: the score {score:g} lies outside of {limits}", np.nan
                        warnings.warn(problem, FitFailedWarning, stacklevel=2)
                if _is_finite(score):
                    search.tell(params, score)
                else:
                    search.fail(params)
                answer = search.answer()
                if answer.done:
                    break
        if answer.params is None:
            raise BadInput(f"all {answer.failures} evaluations failed, so there is nothing to choose. {problem}")
        if not resampled:
            answer = replace(answer, notes=(*answer.notes, SAME_SPLITS))
        self.answer_, self.verdict_, self.certificate_ = answer, answer.verdict, answer.certificate
        self.n_evaluations_ = answer.evaluations + answer.failures

    def _evaluate(
        self, evaluate_candidates: Callable[..., dict[str, Any]], params: dict[str, Any], cv: Any, task: Any
    ) -> Any:
        """The mean test score of one candidate, or those of all metrics; not a finite number if some fold had none."""
        folds = 0 if task is None else self.n_splits_  # which older versions do not know before the end
        with _task(self, task, "evaluation", folds, one_by_one=False) as inner, warnings.catch_warnings():
            if not all(_is_finite(score) for _, score in self._rows):
                warnings.filterwarnings("ignore", message=NOT_FINITE)  # it would be said again at every evaluation
            context = {} if inner is None else {"callback_ctx": inner}
            try:
                results = evaluate_candidates([params], cv=cv, **context)
            except ValueError as error:
                if ALL_FAILED not in str(error) or self.error_score == "raise":
                    raise
                raise _AllFoldsFailed(str(error)) from error
        if self._specification is not None:
            missing = [name for name in self._specification.names if f"mean_test_{name}" not in results]
            if missing:
                raise BadInput(f"`scoring` must return the metric {missing[0]!r}, which `target` names.")
            return {name: float(results[f"mean_test_{name}"][-1]) for name in self._specification.names}
        if "mean_test_score" not in results:
            raise BadInput("`scoring` must return one number; got a callable that returns several scores.")
        return float(results["mean_test_score"][-1])

    def _splitter(self, seed: int) -> Callable[[int], Any]:
        """The splitter of each evaluation by its number: one with a new seed, or None for splits that cannot change."""
        given = self._folds if self._folds is not None else self.cv
        if not (hasattr(given, "random_state") and getattr(given, "shuffle", True)):
            return lambda number: None

        def renewed(number: int) -> Any:
            splitter = copy.copy(given)
            splitter.random_state = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
            return splitter

        return renewed

    def _select_best_index(self, refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        """The row of the recommended candidate's first evaluation."""
        if callable(refit):
            return int(super()._select_best_index(refit, refit_metric, results))
        return [params for params, _ in self._rows].index(self.answer_.params or {})


def _named(space: Any) -> tuple[Any, dict[str, dict[str, Any]]]:
    """The space with a text for each choice that is an object, such as an estimator, and the objects by these texts."""
    objects: dict[str, dict[str, Any]] = {}

    def text(name: str, choice: Any) -> Any:
        if isinstance(choice, str | Number | np.generic | None):
            return choice
        known = objects.setdefault(name, {})
        for said, other in known.items():
            if other is choice:
                return said
        said = " ".join(repr(choice).split())[:LONGEST]
        said = said if said not in known else f"{said} ({len(known) + 1})"
        known[said] = choice
        return said

    if isinstance(space, Mapping):
        return {
            name: [text(name, each) for each in choices] if isinstance(choices, list) else choices
            for name, choices in space.items()
        }, objects
    if isinstance(space, list) and all(isinstance(row, Mapping) for row in space):
        return [{name: text(name, each) for name, each in row.items()} for row in space], objects
    return space, objects


def _with_objects(params: dict[str, Any], objects: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The parameters with the objects that their texts stand for."""
    return {name: objects.get(name, {}).get(value, value) for name, value in params.items()}


def _specification(target: Any) -> Specification | None:
    """The requirements, None for one score; a number in a dict is what its metric must reach."""
    if isinstance(target, Real):
        return None
    if isinstance(target, dict):
        target = {
            name: Requirement(name, ">=", float(each)) if isinstance(each, Real) else each
            for name, each in target.items()
        }
    return Specification.of(target)


def _is_finite(score: Any) -> bool:
    """Whether a score, or each of several, is a finite number."""
    return all(map(np.isfinite, score.values())) if isinstance(score, dict) else bool(np.isfinite(score))


@contextmanager
def _task(search: SatisficeSearchCV, context: Any, name: str, parts: int, *, one_by_one: bool) -> Iterator[Any]:
    """A task for scikit-learn's callbacks, from its beginning to its end; None in versions that have no callbacks."""
    if context is None:
        yield None
        return
    task = context.subcontext(task_name=name, max_subtasks=parts, sequential_subtasks=one_by_one)
    try:
        yield task.call_on_fit_task_begin(estimator=search)
    finally:
        task.call_on_fit_task_end(estimator=search)
