import numpy as np
import pytest

from satisfice.extras import load_extra
from satisfice.paper.problems import PROBLEMS, MissingExtra
from satisfice.paper.problems.tuning import _FIXED, boston, error, folds

try:
    xgboost = load_extra("xgboost", "tuning")
except MissingExtra as missing:
    pytest.skip(f"TUNING IS NOT TESTED: {missing}", allow_module_level=True)

FAST = (3, 0.3, 0, 0.6, 0.7)


def test_the_data_are_the_boston_housing_data():
    features, price = boston()
    assert features.shape == (506, 13)
    assert price.shape == (506,)
    # The means that R prints for MASS::Boston, to four figures or so.
    means = [3.61352, 11.36, 11.14, 0.06917, 0.5547, 6.285, 68.57, 3.795, 9.549, 408.2, 18.46, 356.67, 12.65]
    np.testing.assert_allclose(features.mean(axis=0), means, rtol=6e-4)
    assert price.mean() == pytest.approx(22.53, abs=5e-3)
    assert (price.min(), price.max(), (price == 50).sum()) == (5, 50, 16)
    np.testing.assert_array_equal(
        features[0], [0.00632, 18, 2.31, 0, 0.538, 6.575, 65.2, 4.09, 1, 296, 15.3, 396.9, 4.98]
    )


def test_the_folds_share_the_rows_out():
    pairs = folds(506)
    assert sorted(np.concatenate([test for _, test in pairs])) == list(range(506))
    for train, test in pairs:
        assert sorted(np.concatenate([train, test])) == list(range(506))


@pytest.mark.parametrize("setting", [FAST, (6, 0.25, 3, 0.3, 0.9)])
def test_the_error_is_that_of_the_packages_own_cross_validation(setting):
    names = ("max_depth", "learning_rate", "max_delta_step", "colsample_bytree", "subsample")
    features, price = boston()
    state = np.random.get_state()  # noqa: NPY002 (which the package's function reseeds)
    history = xgboost.cv(
        _FIXED | dict(zip(names, setting, strict=True)),
        xgboost.DMatrix(features, label=price),
        nfold=3,
        seed=3,
        num_boost_round=50_000,
        early_stopping_rounds=50,
        metrics="rmse",
        as_pandas=False,
    )
    np.random.set_state(state)  # noqa: NPY002
    assert error(*setting) == pytest.approx(min(history["test-rmse-mean"]), abs=1e-12)


def test_whole_numbers_are_rounded_and_in_the_published_variant_cut_off():
    ours, published = PROBLEMS["xgboost"], PROBLEMS["xgboost-published"]
    at_three = 10 - error(*FAST)
    assert ours.value([2.6, 0.3, 0.4, 0.6, 0.7]) == at_three
    assert published.value([3.9, 0.3, 0.9, 0.6, 0.7]) == at_three
    assert ours.domain.integers == (0, 2)


def test_the_target_can_be_reached():
    problem = PROBLEMS["xgboost"]
    assert problem.target == 7
    assert 7 <= problem.value(problem.maximisers[0]) < problem.maximum


def test_the_corners_of_the_domain_can_be_evaluated():
    value = PROBLEMS["xgboost"].value([2, 0.3, 10, 0.01, 0.01])
    assert 0 < value < 7
