"""Tuning of boosted trees: 10 - the cross-validated error of XGBoost on the Boston housing data.

The data are small, old and flawed (data/README.md beside this file says how): they are here because the paper used
them, to compare optimisers and for nothing else.
"""

import gzip
import io
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from satisfice.domain.box import Box
from satisfice.extras import load_extra
from satisfice.paper.problems.problem import Problem
from satisfice.types import Array

XGBOOST = ("xgboost", "tuning")  # the package and its extra
FOLDS, FOLD_SEED = 3, 3
ROUNDS, PATIENCE = 50_000, 50

# What the paper leaves to XGBoost is fixed here as it was at the time (before version 2.0 changed two defaults).
_FIXED = {
    "objective": "reg:squarederror",
    "eval_metric": "rmse",
    "tree_method": "exact",
    "base_score": 0.5,
    "seed": 0,
    "nthread": 1,
}


def boston() -> tuple[Array, Array]:
    """The 13 features (506, 13) and the median value of homes in 1,000 dollars (506,), cut off at 50."""
    packed = files("satisfice.paper.problems").joinpath("data/boston.csv.gz").read_bytes()
    table = np.loadtxt(io.BytesIO(gzip.decompress(packed)), delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1]


def folds(rows: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """The rows to train on and to test on, for each of the 3 folds: those that `xgboost.cv(seed=3)` makes."""
    order = np.random.RandomState(FOLD_SEED).permutation(rows)
    parts = np.array_split(order, FOLDS)
    return [(np.concatenate(parts[:k] + parts[k + 1 :]), part) for k, part in enumerate(parts)]


@cache
def _fold_matrices() -> list[tuple[Any, Any]]:
    engine = load_extra(*XGBOOST)
    features, price = boston()
    matrix = engine.DMatrix(features, label=price, nthread=1)
    return [(matrix.slice(train), matrix.slice(test)) for train, test in folds(len(price))]


def error(depth: int, rate: float, delta_step: int, columns: float, rows: float) -> float:
    """The smallest mean test RMSE over the boosting rounds of a 3-fold cross-validation.

    At most 50,000 rounds, and no more once 50 have not improved on the best. This is what `xgboost.cv` computes, but
    that reseeds numpy's global generator and looks at the training error as well.
    """
    engine = load_extra(*XGBOOST)
    parameters = _FIXED | {
        "max_depth": depth,
        "learning_rate": rate,
        "max_delta_step": delta_step,
        "colsample_bytree": columns,
        "subsample": rows,
    }
    matrices = _fold_matrices()
    boosters = [engine.Booster(parameters, pair) for pair in matrices]
    best, best_round = np.inf, 0
    for number in range(ROUNDS):
        total = 0.0
        for booster, (train, test) in zip(boosters, matrices, strict=True):
            booster.update(train, number)
            total += float(booster.eval_set([(test, "test")], number).rsplit(":", 1)[1])
        if total / FOLDS < best:
            best, best_round = total / FOLDS, number
        elif number - best_round >= PATIENCE:
            break
    return best


def xgboost(X: Array) -> Array:
    """10 - error(x) for rows (depth, learning rate, max delta step, column share, row share), whole numbers rounded."""
    return np.array([10 - error(round(a), b, round(c), d, e) for a, b, c, d, e in X.tolist()])


def xgboost_published(X: Array) -> Array:
    """The same with depth and max delta step cut off to whole numbers, as in the authors' code."""
    return np.array([10 - error(int(a), b, int(c), d, e) for a, b, c, d, e in X.tolist()])


_BOUNDS = [(2.0, 15.0), (0.01, 0.3), (0.0, 10.0), (0.01, 1.0), (0.01, 1.0)]

TUNING = (
    Problem(
        "xgboost",
        Box(_BOUNDS, integers=[0, 2]),
        xgboost,
        maximum=10.0,
        maximisers=((8.0, 0.0356, 0.0, 0.7261, 0.751),),
        etas=(7.0,),
        exact=False,
        needs=XGBOOST,
    ),
    Problem(
        "xgboost-published",
        Box(_BOUNDS),
        xgboost_published,
        maximum=10.0,
        maximisers=((8.0, 0.0356, 0.0, 0.7261, 0.751),),
        etas=(7.0,),
        exact=False,
        needs=XGBOOST,
    ),
)
