"""The comparison of the published variant with the authors' figures."""

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice.paper.experiments.agreement import SHOWN, agreement, standard_errors, z_scores
from satisfice.paper.experiments.authors import LENIENT, ROUNDS, SUCCESS
from satisfice.paper.experiments.paper import panels


def test_the_authors_figures_are_complete_and_belong_to_panels():
    for curves in SUCCESS.values():
        assert all(len(fractions) == 10 and 0 <= min(fractions) <= max(fractions) <= 1 for fractions in curves.values())
        assert {len(curves), *map(len, curves.values())} == {8, 10}
    assert all(len(curve) == len(ROUNDS) for both in LENIENT.values() for curve in both)
    drawn = {(panel.problem, panel.label, panel.noise) for name in SHOWN for panel in panels(name, "published")}
    assert set(SUCCESS) <= drawn


def test_success_of_noiseless_runs_never_falls_and_counts_whole_runs():
    for fractions in SUCCESS["robot4", "eta = 4.75", 0.0].values():
        assert (np.diff(fractions) >= 0).all()
        assert np.array(fractions) * 250 == pytest.approx(np.round(np.array(fractions) * 250))


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
