"""Whether there is hope, without the joint draws where a part of it is enough: the same verdict as with them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice.acquisition.belief import Belief
from satisfice.certificates import hope
from satisfice.certificates.hope import doubt_of, is_hopeful, outlook
from satisfice.domain.box import Box
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior


def belief_of(target, seed):
    X = default_rng(seed).random((15, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1]
    posterior = Posterior.given(Stationary("se", np.array([0.4])), 1e-6, X, y)
    best = X[np.argsort(-y)[:5]]
    return Belief(((1.0, posterior),), Box([(0.0, 1.0)] * 2), target, 16, seed, float(y.max()), best, X)


@pytest.mark.parametrize("least", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("learned_from", [None, 0, 15, 40, 100])
def test_there_is_hope_exactly_where_the_outlook_says_so(least, learned_from):
    answers = []
    for target in (1.6, 1.9, 2.0, 2.05, 2.2, 4.0):
        for seed in range(3):
            belief = belief_of(target, seed)
            expected = outlook(belief, default_rng(seed), learned_from=learned_from).hope >= least
            answers.append(is_hopeful(belief, default_rng(seed), least, learned_from=learned_from))
            assert answers[-1] == expected
    assert any(answers)
    assert not all(answers) or doubt_of(2, learned_from) >= least


def test_a_model_that_is_disregarded_needs_no_draws(monkeypatch):
    monkeypatch.setattr(hope, "outlook", None)
    assert is_hopeful(belief_of(4.0, 0), default_rng(0), 0.05, learned_from=10)
    sure = belief_of(4.0, 0)
    assert is_hopeful(replace(sure, target=sure.incumbent - 0.5), default_rng(0), 0.05, learned_from=None)
