"""A search of a `Space` asks for parameters by name and is told them."""

import math

import numpy as np
import pytest

from satisfice import BadInput, Search, Space

SPACE = Space.of({"rate": (1e-4, 1.0, "log"), "depth": (2, 9), "solver": ["adam", "sgd"], "seed": [7]})


def value(params):
    return -((math.log10(params["rate"]) + 2) ** 2) - (params["depth"] - 5) ** 2 / 10 - (params["solver"] == "sgd")


def test_a_space_is_asked_and_told_by_name_and_asks_what_its_domain_asks():
    search, plain = Search(SPACE, -0.05, noise=0, seed=4), Search(SPACE.domain, -0.05, noise=0, seed=4)
    while search.answer().verdict == "open":
        params, x = search.ask(), plain.ask()
        assert params == SPACE.decode(x)
        assert params["seed"] == 7
        search.tell(params, value(params))
        plain.tell(x, value(params))
    answer = search.answer()
    assert answer.verdict == plain.answer().verdict == "good"
    assert answer.params == SPACE.decode(answer.point)
    assert value(answer.params) >= -0.05
    assert plain.answer().params is None


def test_replicates_of_a_setting_count_though_a_logarithm_may_not_come_back_exactly():
    search, rng = Search(SPACE, -0.3, noise=0.1, seed=0), np.random.default_rng(1)
    while search.answer().verdict == "open":
        params = search.ask()
        search.tell(params, value(params) + 0.1 * rng.standard_normal())
        assert search.answer().evaluations < 200
    assert search.answer().verdict == "good"
    told = [tuple(x) for x in search.observations.X]
    assert len(set(told)) < len(told)


def test_pending_failed_and_predicted_settings_are_given_by_name():
    search = Search(SPACE, 0.0, noise=0, seed=2)
    first = search.ask()
    assert search.ask(pending=[first]) != first
    search.fail(first)
    for _ in range(6):
        search.tell(params := search.ask(), value(params))
    assert search.answer().failures == 1
    mean, std = search.predict([params, first])
    assert mean[0] == pytest.approx(value(params), abs=0.1)
    assert search.probability_good([params]).shape == std[:1].shape


def test_what_is_no_setting_of_the_space_is_refused():
    search = Search(SPACE, 0.0)
    with pytest.raises(BadInput, match="must be a dict of its parameters; got"):
        search.tell([0.1, 3, 1, 0], 1.0)
    with pytest.raises(BadInput, match="'seed' is missing"):
        search.tell({"rate": 0.1, "depth": 3, "solver": "sgd"}, 1.0)
    with pytest.raises(BadInput, match="`domain` must be a Space, a Box or a Finite; got"):
        Search({"x": (0.0, 1.0)}, 0.0)
