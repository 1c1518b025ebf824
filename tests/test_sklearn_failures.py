"""`SatisficeSearchCV` where candidates fail, and where it is asked for what it cannot do."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from satisfice.errors import BadInput
from satisfice.sklearn import SatisficeSearchCV
from test_sklearn import BAYES, CANCER, DIGITS


class Fragile(DecisionTreeClassifier):
    """A tree that cannot be fitted with a small depth."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth < 5:
            raise RuntimeError(f"too small: {self.max_depth}")
        return super().fit(X, y, sample_weight, check_input)


def test_candidates_that_fail_are_learnt_from():
    search = SatisficeSearchCV(Fragile(random_state=0), {"max_depth": (1, 9)}, target=0.5, budget=30, random_state=1)
    with pytest.warns(FitFailedWarning, match="too small"):
        search.fit(*DIGITS)
    assert search.verdict_ == "good"
    assert search.answer_.failures > 0
    assert search.n_evaluations_ == search.answer_.failures + len(search.cv_results_["params"])
    assert search.best_params_["max_depth"] >= 5


def test_where_every_candidate_fails_the_error_says_why():
    search = SatisficeSearchCV(Fragile(), {"max_depth": (1, 4)}, target=0.5, budget=3)
    with pytest.warns(FitFailedWarning), pytest.raises(BadInput, match=r"all 3 evaluations failed(.|\n)*too small"):
        search.fit(*DIGITS)
    with pytest.raises(RuntimeError, match="too small"):
        search.set_params(error_score="raise").fit(*DIGITS)


def test_where_all_fail_five_are_enough():
    search = SatisficeSearchCV(Fragile(), {"max_depth": (1, 4), "min_samples_leaf": (1, 50)}, target=0.5, budget=100)
    with pytest.warns(FitFailedWarning), pytest.raises(BadInput, match=r"all 5 evaluations failed"):
        search.fit(*DIGITS)


def test_a_candidate_that_fails_in_one_fold_has_failed_and_this_is_said_once():
    calls = []

    def sometimes(estimator, X, y):
        calls.append(1)
        return np.nan if 3 <= len(calls) <= 4 else estimator.score(X, y)

    search = SatisficeSearchCV(GaussianNB(), BAYES, 0.942, scoring=sometimes, cv=2, budget=6, random_state=0)
    with pytest.warns(UserWarning, match="non-finite") as caught:
        search.fit(*CANCER)
    assert len(caught) == 1
    assert search.answer_.failures == 1
    assert np.isnan(search.cv_results_["mean_test_score"]).sum() == 1
    assert search.n_evaluations_ == len(search.cv_results_["params"]) > 3
    assert np.isfinite(search.best_score_)


def test_failed_folds_may_have_a_score_instead():
    calls = []

    class Sometimes(GaussianNB):
        def fit(self, X, y):
            calls.append(1)
            if len(calls) == 3:
                raise RuntimeError("third")
            return super().fit(X, y)

    search = SatisficeSearchCV(Sometimes(), BAYES, 0.999, cv=2, budget=4, error_score=0.0, random_state=0)
    with pytest.warns(FitFailedWarning, match="third"):
        search.fit(*CANCER)
    assert search.answer_.failures == 0
    assert search.cv_results_["split0_test_score"][1] == 0.0


@pytest.mark.parametrize("scoring", [["accuracy", "roc_auc"], {"a": "accuracy"}, ("accuracy",)])
def test_several_metrics_are_refused(scoring):
    with pytest.raises(BadInput, match="`scoring` must be one metric"):
        SatisficeSearchCV(GaussianNB(), BAYES, 0.9, scoring=scoring, refit=False).fit(*CANCER)


def test_a_callable_of_several_scores_is_refused():
    with pytest.raises(BadInput, match="must return one number"):
        SatisficeSearchCV(GaussianNB(), BAYES, 0.9, scoring=lambda e, X, y: {"a": 1.0, "b": 2.0}).fit(*CANCER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"space": {"var_smoothing": (1.0, 0.0)}}, r"`space\[.var_smoothing.\]` must have .* low <= high"),
        ({"space": {"nonsense": (0.0, 1.0)}}, "Invalid parameter 'nonsense'"),
        ({"target": "high"}, "`target` must be"),
        ({"target": np.nan}, "`target` must be a finite number; got nan"),
        ({"budget": 0}, "'budget' parameter"),
        ({"confidence": 1.0}, "'confidence' parameter"),
        ({"noise": -1.0}, "`noise` must be a standard deviation, .*; got -1.0"),
        ({"rule": "best"}, "`rule` must be one of .*; got 'best'"),
        ({"model": 3}, "'model' parameter"),
        ({"value_range": (1, 0)}, "value_range"),
        ({"random_state": "x"}, "'random_state' parameter"),
        ({"cv": 1}, "n_splits=1"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused_by_fit_only(change, message):
    search = SatisficeSearchCV(**{"estimator": GaussianNB(), "space": BAYES, "target": 0.9, **change})
    with pytest.raises(ValueError, match=message):
        search.fit(*CANCER)


def test_without_scikit_learn_the_error_says_what_to_install():
    script = "import sys; sys.modules['sklearn'] = None; import satisfice.sklearn"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install '.[sklearn]'" in result.stderr.splitlines()[-1]
