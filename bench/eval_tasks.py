"""Real tuning tasks on data sets that come with scikit-learn; an evaluation takes a fraction of a second and is deterministic.

Splits and seeds are fixed, so the value is a function of the setting. The target of a task is the 99 % quantile of a random search over
400 settings: hard, and known to be reachable.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from satisfice.types import Array

FAILED = -10.0  # the score of a setting that cannot be fitted: worse than any other


def setting(space: Mapping[str, Any], row: Array) -> dict[str, Any]:
    """The row (k,) as named parameters of Python's own types. A choice is given in the row by its index in the list."""
    return {
        name: form[int(cell)] if isinstance(form, list) else type(form[0])(cell)
        for (name, form), cell in zip(space.items(), row, strict=True)
    }


@dataclass(frozen=True)
class Task:
    """Data, a learner built from the parameters, and its score in a 3-fold cross-validation."""

    data: str  # the loader in sklearn.datasets, without `load_`
    rows: int  # how many samples are used
    space: Mapping[str, Any]
    learner: Callable[..., Any]  # takes the parameters by name
    scoring: str
    held_out: bool = False

    def values(self, X: Array) -> Array:
        """The scores (n,) of rows (n, k)."""
        return np.array([self.score(**setting(self.space, row)) for row in X])

    def score(self, **params: Any) -> float:
        """The mean score over the folds."""
        from sklearn.model_selection import cross_val_score  # type: ignore[import-untyped]

        features, answers = _data(self.data, self.rows)
        how = {"cv": _folds(answers), "scoring": self.scoring, "error_score": FAILED}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of failed or unconverged fits: the score tells
            return float(np.mean(cross_val_score(self.learner(**params), features, answers, **how)))


@cache
def _data(name: str, rows: int) -> tuple[Array, Array]:
    """Standardised features, and answers, of a fixed random subset of the data."""
    from sklearn import datasets  # type: ignore[import-untyped]

    features, answers = getattr(datasets, f"load_{name}")(return_X_y=True)
    chosen = np.random.default_rng(2026).permutation(len(answers))[:rows]
    features, answers = features[chosen], answers[chosen]
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1), answers


def _folds(answers: Array) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if len(np.unique(answers)) < 20 else KFold
    return kind(3, shuffle=True, random_state=0)


def _svc(**params: Any) -> Any:
    from sklearn.svm import SVC  # type: ignore[import-untyped]

    return SVC(**params, max_iter=2000)


def _boosting(**params: Any) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor  # type: ignore[import-untyped]

    return GradientBoostingRegressor(**params, random_state=0)


def _ridge(**params: Any) -> Any:
    from sklearn.kernel_ridge import KernelRidge  # type: ignore[import-untyped]

    return KernelRidge(**params)


def _mlp(**params: Any) -> Any:
    from sklearn.neural_network import MLPClassifier  # type: ignore[import-untyped]

    return MLPClassifier(hidden_layer_sizes=(params.pop("hidden"),), **params, max_iter=40, random_state=0)


def _forest(**params: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=15, **params, random_state=0)


TASKS = {
    "svc-digits": Task(
        "digits",
        500,
        {"C": (1e-3, 1e3, "log"), "gamma": (1e-5, 10.0, "log"), "kernel": ["rbf", "poly", "sigmoid"]},
        _svc,
        "accuracy",
    ),
    "boosting-diabetes": Task(
        "diabetes",
        442,
        {
            "learning_rate": (1e-3, 1.0, "log"),
            "n_estimators": (5, 60),
            "max_depth": (1, 6),
            "subsample": (0.2, 1.0),
            "min_samples_leaf": (1, 40),
        },
        _boosting,
        "r2",
    ),
    "ridge-diabetes": Task(
        "diabetes",
        442,
        {
            "alpha": (1e-4, 1e3, "log"),
            "gamma": (1e-5, 10.0, "log"),
            "coef0": (0.0, 2.0),
            "kernel": ["rbf", "poly", "laplacian", "sigmoid"],
        },
        _ridge,
        "neg_mean_squared_error",
        held_out=True,
    ),
    "mlp-wine": Task(
        "wine",
        178,
        {
            "hidden": (2, 64, "log"),
            "learning_rate_init": (1e-4, 1.0, "log"),
            "alpha": (1e-6, 10.0, "log"),
            "activation": ["relu", "tanh", "logistic"],
            "solver": ["adam", "sgd", "lbfgs"],
        },
        _mlp,
        "neg_log_loss",
        held_out=True,
    ),
    "forest-cancer": Task(
        "breast_cancer",
        300,
        {
            "max_features": (0.05, 1.0),
            "max_depth": (1, 20),
            "min_samples_leaf": (1, 30),
            "criterion": ["gini", "entropy"],
            "class_weight": ["balanced", "balanced_subsample"],
        },
        _forest,
        "neg_log_loss",
    ),
}
