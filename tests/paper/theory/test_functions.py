"""Functions of known norm against dense algebra; bumps: their norm, their width, and whom they fool."""

from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gamma, jv
from scipy.stats import multivariate_normal, multivariate_t

from satisfice.errors import BadInput
from satisfice.gp.kernels import CORRELATIONS, Additive, Stationary
from satisfice.paper.theory.functions import KnownNorm, draw_known_norm, widest
from satisfice.paper.theory.hard_class import (
    BandLimited,
    CountMatern,
    CountSE,
    Section,
    narrow_class,
    section_class,
)

SE = Stationary("se", np.array([0.3]))
MATERN = Stationary("matern32", np.array([0.3]))


def grid(n, d):
    axes = np.meshgrid(*[np.linspace(0, 1, n)] * d, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)


def interpolant_norm2(kernel, X, values):
    """The least squared norm of a function with these values at X: f'K^-1 f."""
    return float(values @ np.linalg.solve(kernel(X, X), values))


@pytest.mark.parametrize("kernel", [MATERN, Stationary("matern12", np.array([0.2, 0.5]), 0.8)])
def test_the_norm_is_that_of_the_smallest_interpolant(kernel):
    f = draw_known_norm(kernel, 2.5, 2, np.random.default_rng(0), centres=12)
    more = np.vstack([f.centres, np.random.default_rng(1).random((8, 2))])
    assert f.norm == pytest.approx(2.5)
    assert interpolant_norm2(kernel, f.centres, f(f.centres)) == pytest.approx(6.25, rel=1e-9)
    assert interpolant_norm2(kernel, more, f(more)) == pytest.approx(6.25, rel=1e-9)
    fewer = f.centres[:6]
    assert interpolant_norm2(kernel, fewer, f(fewer)) < 6.25


@pytest.mark.parametrize("kernel", [SE, MATERN, Additive("matern52", np.array([0.3]))])
def test_values_never_exceed_the_norm_and_one_section_reaches_it(kernel):
    rng = np.random.default_rng(2)
    largest = max(np.abs(draw_known_norm(kernel, 1.5, 2, rng)(grid(15, 2))).max() for _ in range(50))
    assert 0.5 < largest <= 1.5
    section = KnownNorm(kernel, np.array([[0.5, 0.5]]), np.array([-3.0])).scaled(1.5)
    assert section(section.centres)[0] == pytest.approx(-1.5)


def test_a_draw_is_a_function_of_its_generator():
    first, again, other = (draw_known_norm(SE, 1.0, 3, np.random.default_rng(seed)) for seed in (4, 4, 5))
    U = grid(4, 3)
    np.testing.assert_array_equal(first(U), again(U))
    assert not np.allclose(first(U), other(U))


def test_the_widest_function_differs_most_between_two_points():
    high, low = np.array([0.0]), np.array([1.0])
    kernel = Stationary("se", np.array([0.5]))
    f = widest(kernel, 2.0, high, low)
    difference = float(f(high[None])[0] - f(low[None])[0])
    assert f.norm == pytest.approx(2.0)
    assert difference == pytest.approx(2 * np.sqrt(2 - 2 * np.exp(-2)))
    rng = np.random.default_rng(3)
    for _ in range(100):
        values = draw_known_norm(kernel, 2.0, 1, rng, centres=3)(np.stack([high, low]))
        assert values[0] - values[1] < difference


def test_shapes_that_do_not_fit_and_the_zero_function_are_refused():
    with pytest.raises(BadInput, match=r"\(n, d\)"):
        KnownNorm(SE, np.zeros((3, 1)), np.zeros(2))
    with pytest.raises(BadInput, match="norm 0"):
        KnownNorm(SE, np.zeros((3, 1)), np.zeros(3)).scaled(1.0)


def test_counts_are_the_formulas_of_the_paper():
    eps = 1e-3
    assert CountSE(2.0, 0.1, 1)(eps) == int(np.sqrt(np.log(2 * (2 * np.pi * 0.01) ** 0.25 / eps)) / 0.1)
    assert CountSE(2.0, 0.1, 3, c_1=0.5)(eps) == int(
        (0.5 * np.sqrt(np.log(2 * (2 * np.pi * 0.01) ** 0.75 / eps)) / 0.1) ** 3
    )
    assert CountSE(1.0, 0.1, 2)(10.0) == 0
    assert CountMatern(2.0, 2.5, 3)(eps) == int(2000 ** (3 / 2.5))
    assert CountMatern(2.0, 0.5, 1, c_3=0.1)(0.15) == int((0.2 / 0.15) ** 2)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_profile_is_the_transform_of_its_spectrum(d):
    profile = BandLimited(1.7, d)
    sphere = 2 * np.pi ** (d / 2) / gamma(d / 2)
    for r in (0.3, 1.0, 4.0):

        def wave(w, r=r):  # the mean of cos(w'x) over directions
            z = w * r
            mean = gamma(d / 2) * (2 / z) ** (d / 2 - 1) * jv(d / 2 - 1, z)
            return sphere * w ** (d - 1) * mean * float(profile.spectrum(np.array(w)))

        assert quad(wave, 0, 3.4)[0] == pytest.approx(float(profile(np.array(r))), abs=1e-7)
    assert profile.spectrum(np.array([3.41]))[0] == 0
    assert profile(np.array([0.0]))[0] == 1


def test_the_profile_is_sinc_squared_on_the_line():
    r = np.linspace(0, 20, 101)
    np.testing.assert_allclose(BandLimited(2.0, 1)(r), np.sinc(2 * r / np.pi) ** 2, atol=1e-12)


@pytest.mark.parametrize("profile", [Section("se"), Section("matern12"), *[BandLimited(3.0, d) for d in (1, 2, 4)]])
def test_a_profile_is_one_half_at_its_radius_and_less_ever_after(profile):
    assert profile(np.array([profile.radius]))[0] == pytest.approx(0.5, abs=1e-9)
    assert (profile(profile.radius * np.linspace(1.001, 50, 5000)) < 0.5).all()
    assert (profile(profile.radius * np.linspace(0, 0.999, 500)) > 0.5).all()


@pytest.mark.parametrize("band", [0.5, 2.0, 20.0])
def test_the_norm_for_matern12_is_the_energy_of_value_and_slope(band):
    def energy(x):  # on the line ||g||^2 = 1/2 integral of g^2 + g'^2
        z = band * x
        sinc = np.sin(z) / z
        slope = 2 * sinc * band * (np.cos(z) - sinc) / z
        return sinc**4 + slope**2

    lobes = np.arange(201) * np.pi / band
    lobes[0] = 1e-6
    total = sum(quad(energy, a, b)[0] for a, b in pairwise(lobes))
    assert np.exp(2 * BandLimited(band, 1).log_norm("matern12")) == pytest.approx(total, rel=1e-5)


def test_the_norm_for_se_is_approached_by_interpolants_in_high_precision():
    band = 1.2
    with mpmath.workdps(60):
        x = [mpmath.mpf(i) / 2 - 8 for i in range(33)]
        K = mpmath.matrix([[mpmath.exp(-((a - b) ** 2) / 2) for b in x] for a in x])
        f = mpmath.matrix([mpmath.sinc(band * a) ** 2 for a in x])
        least = float((f.T * mpmath.lu_solve(K, f))[0])
    norm2 = np.exp(2 * BandLimited(band, 1).log_norm("se"))
    assert 0.999 * norm2 < least < norm2


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("form", CORRELATIONS)
def test_the_norm_is_the_mean_of_spectrum_over_density(form, d):
    rng, profile = np.random.default_rng(6), BandLimited(1.3, d)
    direction = rng.standard_normal((2, 400_000, d))
    ball = direction / np.linalg.norm(direction, axis=2, keepdims=True) * rng.random((2, 400_000, 1)) ** (1 / d)
    w = 1.3 * (ball[0] - ball[1])  # the spectrum is the density of this difference
    nu = CORRELATIONS[form].nu
    density = multivariate_normal(np.zeros(d)) if np.isinf(nu) else multivariate_t(np.zeros(d), np.eye(d), df=2 * nu)
    expected = np.mean(profile.spectrum(np.linalg.norm(w, axis=1)) / density.pdf(w))
    assert np.exp(2 * profile.log_norm(form)) == pytest.approx(expected, rel=0.02)


CLASSES = [
    (section_class, SE, 0.1, 1),
    (section_class, Stationary("matern12", np.array([0.05]), 0.9), 0.1, 1),
    (section_class, Stationary("matern52", np.array([0.2, 0.1])), 0.1, 2),
    (narrow_class, SE, 0.01, 1),
    (narrow_class, Stationary("se", np.array([0.1])), 0.001, 1),
    (narrow_class, Stationary("se", np.array([0.2, 0.4]), 0.8), 0.001, 2),
    (narrow_class, MATERN, 0.01, 1),
    (narrow_class, Stationary("matern52", np.array([0.3])), 0.01, 2),
]


@pytest.mark.parametrize(("build", "kernel", "eps", "d"), CLASSES)
def test_every_action_is_good_enough_for_at_most_one_bump(build, kernel, eps, d):
    hard = build(kernel, eps, 1.0, d)
    centres = np.array([bump.centre for bump in hard])
    assert len(hard) == hard.count == len(centres) > 1
    assert hard.norm <= 1 / 3
    middles = [(a + b) / 2 for i, a in enumerate(centres) for b in centres[:i]]
    U = np.vstack([grid(2001 if d == 1 else 61, d), centres, middles])
    values = np.array([bump(U) for bump in hard])
    np.testing.assert_allclose([bump(bump.centre[None])[0] for bump in hard], 2 * eps)
    assert values.max() <= 2 * eps * (1 + 1e-12)
    good = values >= 2 * eps - eps
    assert good.any(axis=1).all()
    assert (good.sum(axis=0) <= 1).all()


def test_two_bumps_whose_good_actions_would_touch_are_not_both_there():
    touching = 1 / (2 * Section("se").radius)
    assert section_class(Stationary("se", np.array([touching])), 0.1, 1.0, 1).count == 1
    assert section_class(Stationary("se", np.array([0.9999 * touching])), 0.1, 1.0, 1).count == 2


@pytest.mark.parametrize(("build", "eps"), [(section_class, 0.1), (narrow_class, 0.1), (narrow_class, 0.02)])
def test_no_interpolant_of_a_bump_has_a_larger_norm(build, eps):
    hard, U = build(MATERN, eps, 1.0, 1), grid(120, 1)
    for bump in hard:
        points = np.vstack([U, bump.centre[None] + 1e-4])
        least = interpolant_norm2(MATERN, points, bump(points))
        assert 0.5 * hard.norm**2 < least <= hard.norm**2 * (1 + 1e-9)


@pytest.mark.parametrize(("build", "kernel", "eps", "d"), [case for case in CLASSES if case[0] is narrow_class])
def test_the_narrow_bump_spends_the_whole_norm_and_there_are_more_of_it(build, kernel, eps, d):
    narrow, wide = build(kernel, eps, 1.0, d), section_class(kernel, eps, 1.0, d)
    assert narrow.norm == pytest.approx(1 / 3, rel=1e-9)
    assert narrow.profile.radius < wide.profile.radius
    assert narrow.count > wide.count


@cache
def inverse_radius(form, eps, d):
    return 1 / narrow_class(Stationary(form, np.array([1.0])), eps, 1.0, d).profile.radius


@pytest.mark.parametrize("d", [1, 2, 3])
def test_for_se_the_number_of_bumps_grows_like_a_power_of_the_logarithm(d):
    """M is of the order (1/radius)^d, and the paper's is (log(B/eps))^{d/2} (eq. M_SE)."""
    growth = [inverse_radius("se", eps, d) / np.sqrt(np.log(1 / eps)) for eps in (1e-40, 1e-80, 1e-160, 1e-300)]
    changes = np.abs(np.diff(growth)) / growth[-1]
    assert (np.diff(changes) < 0).all()
    assert changes[-1] < 0.02
    tiny = Stationary("se", np.array([1e-4]))
    counts = [narrow_class(tiny, eps, 1.0, d).count for eps in (1e-150, 1e-300)]
    assert counts[1] / counts[0] == pytest.approx(2 ** (d / 2), rel=0.02 * d)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("form", ["matern12", "matern32", "matern52"])
def test_for_matern_the_number_of_bumps_grows_like_a_power(form, d):
    """M is of the order (1/radius)^d, and the paper's is (B/eps)^{d/nu} (eq. M_Matern)."""
    ratio = inverse_radius(form, 1e-9, d) / inverse_radius(form, 1e-7, d)
    assert ratio == pytest.approx(100 ** (1 / CORRELATIONS[form].nu), rel=1e-3)


def test_a_bump_too_high_for_the_norm_is_refused():
    with pytest.raises(BadInput, match=r"at least 1.2 for .* at least the norm 0.4, but at most B / 3 = 0.333333"):
        section_class(SE, 0.2, 1.0, 1)
    assert section_class(SE, 1 / 6, 1.0, 1).norm <= 1 / 3
    with pytest.raises(BadInput, match="smaller eps or a larger B"):
        narrow_class(SE, 1 / 6, 1.0, 1)
    for build in (section_class, narrow_class):
        with pytest.raises(BadInput, match="positive"):
            build(SE, 0.0, 1.0, 1)
        with pytest.raises(BadInput, match="Stationary"):
            build(Additive("se", np.array([0.3])), 0.1, 1.0, 1)
        with pytest.raises(BadInput, match="must have 1 or 3 length-scales; got 2"):
            build(Stationary("se", np.array([0.3, 0.2])), 0.1, 1.0, 3)


def test_a_bump_that_is_not_there_is_an_index_error():
    hard = section_class(SE, 0.1, 1.0, 1)
    with pytest.raises(IndexError, match="there are 2"):
        hard[2]
    with pytest.raises(IndexError, match="there are 2"):
        hard[-1]


@pytest.mark.parametrize("form", ["se", "matern32", "matern52"])
@pytest.mark.parametrize("d", [1, 2])
def test_a_shorter_length_scale_raises_the_norm_by_no_more_than_a_power_of_the_ratio(form, d):
    """On a finite set the least norm of a function with these values is f'K^-1 f, never above the function's own."""
    long, short = 0.4, 0.2
    rng = np.random.default_rng(0)
    points = rng.random((25, d))
    f = draw_known_norm(Stationary(form, np.array([long])), 1.0, d, rng)(points)
    K = Stationary(form, np.array([short]))(points, points)
    assert f @ np.linalg.solve(K + 1e-10 * np.eye(25), f) <= (long / short) ** d
    bump = draw_known_norm(Stationary(form, np.array([short])), 1.0, d, rng, centres=1)(points)
    K = Stationary(form, np.array([2 * long]))(points, points)
    assert bump @ np.linalg.solve(K + 1e-10 * np.eye(25), bump) > (long / short) ** d
