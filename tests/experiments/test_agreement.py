"""The comparison of the published variant with the authors' figures."""

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice.experiments.agreement import LENIENT, NOISY_KEANE, ROUNDS, agreement, standard_errors, z_scores


def test_the_authors_figures_are_complete():
    assert all(
        len(fractions) == 10 and 0 <= min(fractions) <= max(fractions) <= 1 for fractions in NOISY_KEANE.values()
    )
    assert all(len(curve) == len(ROUNDS) for both in LENIENT.values() for curve in both)


def test_runs_that_succeed_as_often_have_scores_of_size_one_and_others_do_not():
    rng = default_rng(0)
    theirs = rng.binomial(250, 0.4, 200) / 250
    ours = rng.binomial(10, 0.4, (25, 200)) / 10
    assert np.std(z_scores(ours, tuple(theirs))) == pytest.approx(1.0, abs=0.15)
    others = rng.binomial(10, 0.7, (25, 200)) / 10
    assert (z_scores(others, tuple(theirs)) > 4).mean() > 0.95


def test_a_trial_that_never_fails_still_has_an_error():
    assert (standard_errors(np.ones((25, 3))) == 1 / 250).all()


def test_without_runs_there_is_nothing_to_say(tmp_path):
    assert agreement(tmp_path) == ""
