"""SatisficeSearchCV: scikit-learn's own checks, when it stops, new splits for repeats, and which candidate it recommends."""

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from satisfice import BadInput
from satisfice.errors import SatisficeWarning
from satisfice.sklearn import SatisficeSearchCV

CANCER = load_breast_cancer(return_X_y=True)
DIGITS = tuple(part[:300] for part in load_digits(return_X_y=True))
TREE = {"max_depth": (1, 12), "criterion": ["gini", "entropy"], "min_samples_leaf": (1, 64, "log")}
BAYES = {"var_smoothing": (1e-12, 1.0, "log")}  # its score is smooth in this, and it is quick


def small(estimator, space):
    return SatisficeSearchCV(estimator, space, target=0.8, cv=2, budget=3, error_score="raise")


SMALL = [
    small(Ridge(), {"alpha": (0.1, 1.0, "log")}),
    small(LogisticRegression(), {"C": [0.1, 1.0]}),
    small(Pipeline([("scale", StandardScaler()), ("fit", Ridge())]), [{"fit__alpha": 0.1}, {"fit__alpha": 1.0}]),
]
CHECKS = [pair for estimator in SMALL for pair in estimator_checks_generator(estimator)]


def name_of(part):
    return getattr(part, "func", type(part)).__name__


def run_check(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks bring data that estimators warn of
        check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"), [pair for pair in CHECKS if "array_api" not in name_of(pair[1])], ids=name_of
)
def test_scikit_learns_own_checks(estimator, check):
    run_check(estimator, check)


ARRAY_CHECKS = """
import collections, json, unittest
from test_sklearn import CHECKS, name_of, run_check
ends = collections.Counter()
for estimator, check in CHECKS:
    if "array_api" in name_of(check):
        try:
            run_check(estimator, check)
            ends["passed"] += 1
        except unittest.SkipTest as reason:
            ends[str(reason)] += 1
print(json.dumps(ends))
"""


def test_scikit_learns_checks_with_arrays_of_other_libraries():
    """In a process where SciPy takes such arrays too; torch, cupy and dpnp are not among the dependencies of the tests."""
    environment = {
        **os.environ,
        "SCIPY_ARRAY_API": "1",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", ARRAY_CHECKS], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    ends = json.loads(done.stdout)
    passed = ends.pop("passed", 0)
    print(passed, "passed;", ends)
    assert {reason.split()[0] for reason in ends} <= {"torch", "cupy", "dpnp", "array_api_compat", "array_api_strict"}
    assert passed >= 9 or "array_api_compat is not installed: not checking array_api input" in ends  # before 1.8


@pytest.mark.filterwarnings("ignore:`cv` gives")
def test_minus_nothing_is_nothing():
    X = np.random.default_rng(0).random((30, 2))
    table = [{"alpha": -0.0}, {"alpha": 100.0}, {"alpha": 10.0}]
    search = SatisficeSearchCV(Ridge(), table, target=0.9, noise=0, cv=KFold(3), budget=5, random_state=0).fit(
        X, X[:, 0]
    )
    assert (search.verdict_, search.best_params_["alpha"]) == ("good", 0.0)


def test_it_stops_when_the_target_is_certain_and_recommends_what_was_certified():
    search = SatisficeSearchCV(GaussianNB(), BAYES, target=0.9, budget=40, random_state=0).fit(*CANCER)
    assert search.verdict_ == "good"
    assert search.n_evaluations_ == len(search.cv_results_["params"]) < 40
    assert search.certificate_ is search.answer_.certificate is not None
    assert search.answer_.params == search.best_params_ == search.cv_results_["params"][search.best_index_]
    rows = [row for row, params in enumerate(search.cv_results_["params"]) if params == search.best_params_]
    scores = search.cv_results_["mean_test_score"][rows]
    assert len(rows) > 2  # no certificate without repeats
    assert search.best_index_ == rows[0]
    assert search.best_score_ == pytest.approx(scores.mean(), rel=1e-12)
    assert search.best_estimator_.var_smoothing == search.best_params_["var_smoothing"]
    assert search.score(*CANCER) == search.best_estimator_.score(*CANCER) > 0.9


def test_repeats_of_a_candidate_have_new_splits():
    search = SatisficeSearchCV(GaussianNB(), BAYES, target=0.9, budget=40, random_state=0).fit(*CANCER)
    results = search.cv_results_
    rows = [row for row, params in enumerate(results["params"]) if params == search.best_params_]
    folds = np.array([results[f"split{fold}_test_score"] for fold in range(5)])[:, rows]
    assert len({tuple(scores) for scores in folds.T}) == len(rows)


def test_a_target_out_of_reach_is_never_good():
    search = SatisficeSearchCV(DecisionTreeClassifier(random_state=0), TREE, target=0.999, budget=12, random_state=0)
    search.fit(*DIGITS)
    assert search.verdict_ in ("open", "none")
    assert search.certificate_ is None
    assert search.n_evaluations_ == 12 or search.verdict_ == "none"
    assert {type(value) for value in search.best_params_.values()} == {int, str}
    assert search.best_estimator_.predict(DIGITS[0]).shape == DIGITS[1].shape


def test_the_recommended_candidate_is_not_the_luckiest_evaluation():
    poor, rich = [], []

    def scores(estimator, X, y):  # about 0.9 at a small smoothing; elsewhere 0.5, but 0.99 in the first evaluation
        if estimator.var_smoothing > 1e-6:
            poor.append(0.99 if len(poor) < 2 else 0.5)
            return poor[-1]
        rich.append(0.9 + 0.01 * (-1) ** (len(rich) // 2))
        return rich[-1]

    search = SatisficeSearchCV(GaussianNB(), BAYES, 0.85, scoring=scores, cv=2, budget=300, random_state=0).fit(*CANCER)
    luckiest = int(np.argmin(search.cv_results_["rank_test_score"]))
    assert search.cv_results_["mean_test_score"][luckiest] == 0.99
    assert search.verdict_ == "good"
    assert search.best_params_ != search.cv_results_["params"][luckiest]
    assert search.best_score_ == pytest.approx(0.9, abs=0.01)
    assert search.best_estimator_.var_smoothing < 1e-6


@pytest.mark.filterwarnings("ignore:`cv` gives")
@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),
        PredefinedSplit(np.arange(300) % 3),
        [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))],
    ],
    ids=["unshuffled", "predefined", "list"],
)
def test_splits_that_cannot_change_are_kept_and_a_few_repeats_settle_it(cv):
    tree = DecisionTreeClassifier(random_state=0)
    search = SatisficeSearchCV(tree, TREE, target=0.5, cv=cv, budget=30, random_state=0).fit(*DIGITS)
    results = search.cv_results_
    assert search.verdict_ == "good"
    assert search.best_score_ == max(results["mean_test_score"]) >= 0.5
    assert search.certificate_.confidence is None
    assert str(search.certificate_).endswith("may have stayed hidden")
    stated = clone(search).set_params(noise=0).fit(*DIGITS)
    assert stated.n_evaluations_ >= search.n_evaluations_ - 8  # accuracies may be equal by chance: eight repeats


@pytest.mark.filterwarnings("ignore:`cv` gives")
@pytest.mark.parametrize(
    ("cv", "renewed"),
    [
        (None, True),
        (3, True),
        (np.int64(4), True),
        (KFold(3), False),
        (KFold(3, shuffle=True, random_state=7), True),
        (StratifiedKFold(3, shuffle=True), True),
        (ShuffleSplit(4, random_state=1), True),
        (GroupKFold(3), False),
    ],
    ids=str,
)
def test_every_evaluation_has_splits_of_its_own_where_there_is_chance(cv, renewed):
    seen = []

    class Watched(GaussianNB):
        def fit(self, X, y):
            seen.append(X.tobytes())
            return super().fit(X, y)

    groups = {"groups": np.arange(len(CANCER[1])) % 9} if isinstance(cv, GroupKFold) else {}
    before = getattr(cv, "random_state", None)
    search = SatisficeSearchCV(Watched(), BAYES, 0.942, cv=cv, noise="learn", budget=3, random_state=0, refit=False)
    search.fit(*CANCER, **groups)
    assert len(seen) == 3 * search.n_splits_
    assert len(set(seen)) == len(seen) // (1 if renewed else 3)
    assert getattr(cv, "random_state", None) == before
    once = sorted(seen)
    seen.clear()
    search.fit(*CANCER, **groups)
    assert sorted(seen) == once  # the random_state decides all


@pytest.mark.filterwarnings("ignore:`cv` gives")
def test_a_small_space_ends_when_all_of_it_is_known():
    search = SatisficeSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, 0.999, cv=KFold(3), noise=0)
    search.fit(*CANCER)
    assert search.verdict_ == "none"
    assert search.n_evaluations_ == 3
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.filterwarnings("ignore:`cv` gives")
def test_it_can_be_cloned_changed_and_pickled():
    search = SatisficeSearchCV(GaussianNB(), BAYES, 0.9, random_state=3, value_range=(0, 1), cv=KFold(2), noise=0)
    copy = clone(search)
    assert repr(copy.get_params()) == repr(search.get_params())
    assert copy.space is not BAYES
    copy.set_params(estimator__var_smoothing=0.5, target=0.8)
    assert (copy.estimator.var_smoothing, copy.target) == (0.5, 0.8)
    search.fit(*CANCER)
    again = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert np.array_equal(again.predict(CANCER[0]), search.predict(CANCER[0]))
    assert str(again.answer_) == str(search.answer_)
    assert clone(search).fit(*CANCER).best_params_ == search.best_params_


def test_a_callable_refit_chooses_for_itself():
    search = SatisficeSearchCV(GaussianNB(), BAYES, 0.999, budget=4, random_state=0, refit=lambda results: 2).fit(
        *CANCER
    )
    assert search.best_index_ == 2
    assert search.best_params_ == search.cv_results_["params"][2]


def test_metadata_goes_where_it_is_requested():
    weights = np.linspace(1, 2, len(CANCER[1]))
    with config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = SatisficeSearchCV(model, BAYES, 0.999, budget=2, random_state=0).fit(*CANCER, sample_weight=weights)
    expected = clone(model).set_params(**search.best_params_).fit(*CANCER, sample_weight=weights)
    assert np.array_equal(search.predict_proba(CANCER[0]), expected.predict_proba(CANCER[0]))


def test_folds_run_in_parallel_with_the_same_result():
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    one = SatisficeSearchCV(pipeline, {"gaussiannb__var_smoothing": (1e-9, 1.0, "log")}, 0.99, budget=5, random_state=0)
    two = clone(one).set_params(n_jobs=2, return_train_score=True)
    assert np.array_equal(
        one.fit(*CANCER).cv_results_["mean_test_score"], two.fit(*CANCER).cv_results_["mean_test_score"]
    )
    assert "mean_train_score" in two.cv_results_


def test_the_same_splits_every_time_are_a_warning_and_a_note():
    search = SatisficeSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, 0.9, cv=GroupKFold(4), random_state=0
    )
    with pytest.warns(SatisficeWarning, match="the verdict is about these splits; a splitter that shuffles"):
        search.fit(*CANCER, groups=np.arange(len(CANCER[1])) % 8)
    assert search.answer_.notes[-1].endswith("so the verdict is about these splits")
    shuffled = SatisficeSearchCV(GaussianNB(), BAYES, 0.9, random_state=0, budget=3).fit(*CANCER)
    assert not any("these splits" in note for note in shuffled.answer_.notes)


def test_choices_may_be_estimators():
    pipeline = Pipeline([("scale", StandardScaler()), ("fit", GaussianNB())])
    trees = [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 3)]
    models = [GaussianNB(), GaussianNB(var_smoothing=0.1), *trees]
    space = {"fit": models, "scale": [StandardScaler(), "passthrough"]}
    search = SatisficeSearchCV(pipeline, space, 0.915, cv=4, budget=60, random_state=0).fit(*CANCER)
    assert search.verdict_ == "good"
    assert search.best_params_["fit"] in models
    assert type(search.best_estimator_.named_steps["fit"]) is type(search.best_params_["fit"])
    assert search.best_score_ > 0.91
    assert all(any(each["fit"] is model for model in models) for each in search.cv_results_["params"])
    assert search.answer_.params["fit"].startswith(type(search.best_params_["fit"]).__name__)
    rows = [{"fit": model, "scale": "passthrough"} for model in models]
    table = SatisficeSearchCV(pipeline, rows, 0.9, cv=4, budget=40, random_state=0).fit(*CANCER)
    assert table.best_params_["fit"] in models
    assert SatisficeSearchCV(pipeline, space, 0.93).get_params()["space"] is space


def test_no_evaluation_begins_after_the_timeout():
    search = SatisficeSearchCV(GaussianNB(), BAYES, 0.999, budget=100_000, timeout=0.5, random_state=0).fit(*CANCER)
    assert search.verdict_ == "open"
    assert 1 <= search.n_evaluations_ < 1000
    with pytest.raises(ValueError, match="'timeout' parameter"):
        SatisficeSearchCV(GaussianNB(), BAYES, 0.9, timeout=0).fit(*CANCER)


class TestSeveralTargets:
    def test_all_of_them_must_be_reached(self):
        search = SatisficeSearchCV(
            DecisionTreeClassifier(random_state=0),
            TREE,
            target={"accuracy": 0.85, "f1": 0.85},
            random_state=0,
            budget=30,
        ).fit(*CANCER)
        assert search.verdict_ == "good"
        assert [each.requirement.name for each in search.answer_.requirements] == ["accuracy", "f1"]
        assert all(each.certificate.bound >= 0.85 for each in search.answer_.requirements)
        same = [params == search.best_params_ for params in search.cv_results_["params"]]
        assert search.best_score_ == pytest.approx(np.mean(search.cv_results_["mean_test_accuracy"][same]))
        assert search.score(*CANCER) > 0.85
        assert clone(search).get_params()["target"] == {"accuracy": 0.85, "f1": 0.85}

    def test_a_metric_of_refit_and_further_metrics(self):
        search = SatisficeSearchCV(
            GaussianNB(), BAYES, target={"recall": ">= 0.5", "f1": 0.5}, scoring=["f1", "recall", "accuracy"], refit="f1",
            random_state=0, budget=4,
        ).fit(*CANCER)  # fmt: skip
        assert "mean_test_accuracy" in search.cv_results_
        assert search.best_score_ == pytest.approx(np.nanmean(search.cv_results_["mean_test_f1"]), abs=0.1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"target": {"accuracy": 0.9}, "scoring": ["f1"]}, "`scoring` must return the metric 'accuracy', which"),
            (
                {"target": 0.9, "scoring": ["f1"]},
                "`scoring` must be one metric, .* or `target` a dict with a score for each",
            ),
            (
                {"target": {"a": 0.9}, "scoring": lambda e, X, y: {"a": 1.0}},
                "`refit` must be the name of a metric, or False",
            ),
            ({"target": {"accuracy": 0.9, "f1": 0.9}, "noise": 0.1}, "`noise` must be left out where `target` has req"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, message):
        with pytest.raises(BadInput, match=message):
            SatisficeSearchCV(GaussianNB(), BAYES, budget=2, **options).fit(*CANCER)
