"""What a search promises about numbers: finite, inside, the same in any units; however odd the data."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng

from satisfice import Box, SatisficeWarning, Search
from satisfice.errors import NumericalFailure
from satisfice.gp import posterior

BOX = Box([(-2.0, 3.0), (0.0, 1.0)])
slow_machine = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=12)
quiet = pytest.mark.filterwarnings("ignore::satisfice.SatisficeWarning")


def wave(U):
    return np.sin(5 * U[..., 0]) + np.cos(3 * U[..., 1])


def proposals(U, y, target, steps=3, objective=None, **options):
    """The next points a search asks after the history; told the objective, or the mean of the history."""
    search = Search(BOX, target, seed=1, **{"noise": 0, **options})
    for u, value in zip(U, y, strict=True):
        search.tell(BOX.from_unit(u[None])[0], value)
    asked = []
    for _ in range(steps):
        asked.append(search.ask())
        search.tell(asked[-1], float(y.mean()) if objective is None else objective(BOX.to_unit(asked[-1])[0]))
    return np.array(asked)


@slow_machine
@given(st.integers(0, 1000), st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.sampled_from(["auto", "paper"]))
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_shifting_and_scaling_values_target_and_noise_changes_no_proposal(noise, seed, shift, scale, model):
    U = default_rng(seed).random((7, 2))
    plain = proposals(U, wave(U), 2.5, 1, wave, noise=noise, model=model)
    moved = proposals(U, shift + scale * wave(U), shift + scale * 2.5, 1, noise=scale * noise, model=model)
    assert moved == pytest.approx(plain, rel=1e-4, abs=1e-4)  # a shift costs digits of the values


@pytest.mark.parametrize("model", ["auto", "paper"])
def test_thirteen_scales_from_1e_300_to_1e300_ask_the_same_points(model):
    U = default_rng(0).random((9, 2))
    expected = proposals(U, wave(U), 2.5, 3, wave, model=model)
    for power in np.linspace(-300, 300, 13):
        scale = 10.0**power
        asked = proposals(U, wave(U) * scale, 2.5 * scale, 3, lambda u, s=scale: wave(u) * s, model=model)
        assert asked == pytest.approx(expected, abs=1e-4)  # the same, unless a last digit is rounded to the other side


@quiet
def test_an_offset_of_a_million_changes_little_and_one_of_1e16_is_mentioned():
    U = default_rng(0).random((9, 2))
    assert proposals(U, wave(U) + 1e6, 2.5 + 1e6, 1) == pytest.approx(proposals(U, wave(U), 2.5, 1), rel=1e-4)
    search = Search(BOX, 1e16 + 1e9, noise=0)
    for u in U:
        search.tell(BOX.from_unit(u[None])[0], 1e16 + 50 * wave(u))
    with pytest.warns(SatisficeWarning, match="last digits"):
        x = search.ask()
    assert np.isfinite(x).all()


@quiet
@pytest.mark.parametrize("outlier", [1e300, -1e300, 1e12, -1e12])
@pytest.mark.parametrize("model", ["auto", "paper"])
def test_one_enormous_value_does_no_harm(outlier, model):
    U = default_rng(0).random((9, 2))
    y = wave(U)
    y[4] = outlier
    asked = proposals(U, y, 2.5, 3, wave, model=model)
    assert np.isfinite(asked).all()
    BOX.to_unit(asked)


@quiet
@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("target", [1.0, 0.25])
@pytest.mark.parametrize("noise", [0, "learn", None])
@pytest.mark.parametrize("model", ["auto", "paper"])
def test_constant_values_give_space_filling_questions(n, target, noise, model):
    search = Search(BOX, target, noise=noise, model=model, seed=2)
    for x in BOX.from_unit(default_rng(n).random((n, 2))):
        search.tell(x, 0.2)
    asked = []
    for _ in range(8):
        asked.append(search.ask())
        search.tell(asked[-1], 0.2)
    U = BOX.to_unit(np.array(asked))
    gaps = np.linalg.norm(U[:, None] - U, axis=2) + np.eye(8)
    assert gaps.min() > 1e-3


@quiet
@pytest.mark.parametrize("model", ["auto", "paper"])
@pytest.mark.parametrize("noise", [0, 0.1, "learn", None])
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_one_point_told_two_hundred_times(model, noise, spread):
    rng = default_rng(0)
    search = Search(BOX, 5.0, model=model, noise=noise)
    for _ in range(200):
        search.tell([0.5, 0.5], 1.0 + spread * rng.standard_normal())
    search.tell([1.0, 0.2], 0.3)
    search.tell([-1.0, 0.9], 0.7)
    x = search.ask()
    assert np.isfinite(x).all()
    BOX.to_unit(x)
    answer = search.answer()
    assert np.isfinite([answer.value, *answer.interval, answer.probability]).all()


@quiet
@pytest.mark.parametrize("distance", [1e-12, 1e-15])
def test_pairs_of_points_that_nearly_coincide(distance):
    U = np.clip(default_rng(3).random((25, 2)), 0, 1 - 1e-9)
    pairs = np.vstack([U, U + distance])
    asked = proposals(pairs, wave(pairs), 2.5, 2, wave)
    assert np.isfinite(asked).all()


values = st.one_of(
    st.floats(-1e300, 1e300, allow_nan=False),
    st.floats(-10, 10),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.0, 1.0, 1.7e308, -1.7e308]),
)


@quiet
@settings(deadline=None, max_examples=75, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 9), st.sampled_from([0, 0.1, "learn", None]), st.sampled_from(["auto", "paper"]))
def test_any_finite_data_gives_a_finite_point_inside_the_box(data, n, noise, model):
    U = data.draw(arrays(np.float64, (n, 2), elements=st.sampled_from([0.0, 0.25, 0.5, 0.5 + 1e-12, 1.0, 0.123])))
    y = data.draw(arrays(np.float64, n, elements=values))
    target = data.draw(values)
    search = Search(BOX, target, model=model, noise=noise)
    for u, value in zip(U, y, strict=True):
        search.tell(BOX.from_unit(u[None])[0], value)
    x = search.ask()
    assert np.isfinite(x).all()
    BOX.to_unit(x)
    answer = search.answer()
    assert not np.isnan([answer.value, *answer.interval, answer.probability]).any()


@pytest.mark.slow
@quiet
@settings(deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.integers(1, 12), st.sampled_from([0, 0.1, "learn", None]))
def test_two_thousand_random_data_sets(data, n, noise):
    test_any_finite_data_gives_a_finite_point_inside_the_box.hypothesis.inner_test(data, n, noise, "paper")


@pytest.mark.parametrize("when", ["always", "every second time"])
def test_a_failing_factorisation_falls_back_to_space_filling_points_and_says_so(when, monkeypatch):
    real, calls = posterior.lapack.dpotrf, []

    def broken(*arguments, **options):
        calls.append(1)
        factor, info = real(*arguments, **options)
        return factor, 1 if when == "always" or len(calls) % 2 else info

    search = Search(BOX, 9.0, noise=0, model="paper")
    for u in default_rng(0).random((5, 2)):
        search.tell(BOX.from_unit(u[None])[0], wave(u))
    monkeypatch.setattr(posterior.lapack, "dpotrf", broken)
    asked, fallbacks = [], 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(100 if when == "always" else 20):
            asked.append(search.ask())
            fallbacks += search.fallback
            search.tell(asked[-1], wave(BOX.to_unit(asked[-1])[0]))
    BOX.to_unit(np.array(asked))
    assert len(np.unique(np.array(asked), axis=0)) == len(asked)
    if when == "always":
        assert fallbacks == len(asked)
        assert sum("space-filling" in str(warning.message) for warning in caught) == 1
        with pytest.raises(NumericalFailure, match="cannot be factorised"):
            posterior.cholesky(np.eye(3))


@pytest.mark.parametrize("d", [1, 200])
def test_one_dimension_and_two_hundred(d):
    box = Box([(0.0, 1.0)] * d)
    search = Search(box, 10.0, noise=0, model="auto" if d == 1 else "paper")
    for _ in range(6):
        x = search.ask()
        search.tell(x, -float(((x - 0.3) ** 2).sum()))
    box.to_unit(search.ask())


@pytest.mark.slow
def test_two_thousand_observations_in_ten_dimensions_fit_into_a_gigabyte():
    rng = default_rng(0)
    box = Box([(0.0, 1.0)] * 10)
    search = Search(box, 10.0, noise=0)
    for x in rng.random((2000, 10)):
        search.tell(x, -float(((x - 0.4) ** 2).sum()))
    tracemalloc.start()
    box.to_unit(search.ask())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e9
