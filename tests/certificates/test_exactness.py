"""What repeats tell of noise: the words say what was seen, and noisy objectives are rarely taken for exact ones."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import norm

from satisfice.certificates.exactness import exactness, is_coarse


def test_one_repeat_that_differs_is_noise_for_good():
    found = exactness([0, 1, 0, 0, 1], [0.31, 0.2, 0.31, 0.32, 0.2])
    assert found.noise_free is False
    assert str(found) == "1 of 3 repeats at 2 settings differed; there is noise"
    assert exactness([0, 0] * 50 + [1, 1], [0.1] * 100 + [0.2, 0.3]).noise_free is False


def test_no_repeat_tells_nothing():
    assert exactness([], []).ask is None
    found = exactness([0, 1], [np.pi, np.e])
    assert (found.noise_free, found.ask) == (None, 0)
    assert "not known" in str(found)


def test_equal_values_at_the_best_tell_nothing():
    settings, values = [0, 1, 2, *[0] * 9], [0.91, 0.4, 0.5, *[0.91] * 9]
    found = exactness(settings, values)
    assert found.noise_free is None
    assert found.ask == 2  # the ordinary setting in the middle
    assert str(found) == "9 of 9 repeats at 1 setting were identical; that does not tell yet"


def test_repeats_at_two_ordinary_settings_tell():
    settings, values = [0, 1, 2, 3], [np.pi, 0.412, 0.517, np.e - 2]
    asked = []
    while (found := exactness(settings, values)).noise_free is None:
        asked.append(settings[found.ask])
        settings.append(settings[found.ask])
        values.append(values[found.ask])
    assert asked[0] == 0
    assert len({*asked}) == len(asked) == 3
    assert str(found) == "3 of 3 repeats at 3 settings were identical; taken to be noise-free"
    assert "confidence" not in str(found)


@pytest.mark.parametrize("bound", [500.0, 0.0])
def test_repeats_at_a_bound_tell_nothing(bound):
    """Four settings of six reach the cap, or fall to the floor."""
    values = [bound] * 4 + [187.3, 203.1]
    repeats = [0, 1, 2, 3] * 3
    assert exactness([*range(6), *repeats], values + [bound] * 12).noise_free is None


def test_settings_to_skip_are_not_asked_again():
    found = exactness([0, 1, 2], [np.pi, 0.5, np.e], skip=frozenset({0}))
    assert found.ask == 2
    assert exactness([0], [1.0], skip=frozenset({0})).ask is None


def test_without_another_setting_the_best_one_is_repeated():
    assert exactness([0, 0], [1.0, 1.0]).ask is None
    assert exactness([0, 0], [1.0, 1.0], may_explore=False).ask == 0


def test_repeats_of_one_coarse_setting_are_one_piece_of_evidence():
    settings, values = [0, 1, 2, 3, 4], [1.0, 3.0, 3.0, 0.0, 2.0]
    assert exactness(settings + [1] + [0] * 4, values + [3.0] + [1.0] * 4).noise_free is None
    asked = []
    while (found := exactness(settings, values, target=2.95, may_explore=len(values) < 6)).noise_free is None:
        asked.append(settings[found.ask])
        settings.append(settings[found.ask])
        values.append(values[found.ask])
    assert asked.count(1) >= 8  # three is good, two would not be: the mean may be a little below the target
    assert {0, 4} < {*asked}


def test_counts_and_shares_are_coarse():
    assert all(map(is_coarse, (0.0, 500.0, -3.0, 0.9375, 1 / 3)))
    assert not any(map(is_coarse, (np.pi, 0.123456789)))


def decided(level: Callable, draw: Callable, target: float, seed: int) -> tuple[bool | None, float, int]:
    """A search by chance until a value reaches the target: whether noise-free, the level of the best, and what that took."""
    rng = default_rng(seed)
    levels, settings, values = [], [], []

    def explore() -> None:
        levels.append(level(rng))
        settings.append(len(levels) - 1)
        values.append(draw(rng, levels[-1]))

    while not values or max(values) < target:
        explore()
    before = len(values)
    while len(values) < before + 60:
        found = exactness(settings, values, target=target)
        if found.noise_free is not None:
            return found.noise_free, levels[settings[int(np.argmax(values))]], len(values) - before
        if found.ask is None:
            explore()
        else:
            settings.append(settings[found.ask])
            values.append(draw(rng, levels[settings[-1]]))
    return None, 0.0, len(values) - before


def rounded_mean(f: float, sd: float) -> float:
    k = np.arange(-30, 60)
    return float((k * (norm.cdf((k + 0.5 - f) / sd) - norm.cdf((k - 0.5 - f) / sd))).sum())


def capped_mean(scale: float) -> float:
    return float(scale * -np.expm1(-500 / scale))


def of_median(scale: float, spread: float) -> Callable:
    return lambda rng: scale * np.exp(spread * rng.standard_normal())


def rounding(sd: float, top: float = 10, target: float = 8) -> tuple:
    return (
        lambda rng: rng.uniform(0, top),
        lambda rng, f: float(np.round(f + sd * rng.standard_normal())),
        target,
        lambda f: rounded_mean(f, sd),
    )


def capped(rng: np.random.Generator, scale: float) -> float:
    return min(rng.exponential(scale), 500.0)


def capped_count(rng: np.random.Generator, scale: float) -> float:
    return float(min(round(rng.exponential(scale)), 500))


NOISY = {
    "capped": (of_median(400, 1.5), capped, 475, capped_mean),
    "capped counts": (of_median(400, 1.5), capped_count, 475, capped_mean),
    "mostly at the cap": (of_median(8000, 1.0), capped_count, 490, capped_mean),
    **{f"rounded, sd {sd} steps": rounding(sd) for sd in (0.3, 0.5, 1, 2)},
    **{f"rounded to the target, sd {sd} steps": rounding(sd, 3, 2.95) for sd in (0.05, 0.1, 0.15, 0.25, 0.35)},
}


@pytest.mark.parametrize("name", NOISY)
def test_noisy_objectives_are_rarely_called_good_for_being_noise_free(name):
    level, draw, target, mean = NOISY[name]
    found = [decided(level, draw, target, seed) for seed in range(200)]
    false = sum(noise_free is True and mean(at) < target - 1e-9 for noise_free, at, _ in found)
    assert false <= 0.05 * 200


@pytest.mark.parametrize(("easy", "today"), [(0.9, 1), (0.1, 1)])
def test_exact_objectives_pay_at_most_three_evaluations_more_than_one_repeat(easy, today):
    found = [decided(lambda r: r.uniform(), lambda r, f: f, easy, seed) for seed in range(100)]
    assert all(noise_free for noise_free, _, _ in found)
    assert max(spent for *_, spent in found) <= today + 3


def test_exact_counts_pay_at_most_three_evaluations_more_than_three_repeats_in_the_mean():
    found = [decided(lambda r: r.uniform(0, 100), lambda r, f: float(int(f)), 90, seed) for seed in range(100)]
    assert all(noise_free for noise_free, _, _ in found)
    assert np.mean([spent for *_, spent in found]) <= 3 + 3
