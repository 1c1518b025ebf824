"""The bound on the share of good settings, against enumeration, and simulations looked at after every draw."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom, norm

from satisfice.certificates.share import (
    Reading,
    ShareBound,
    gaussian_noise,
    largest_sd,
    log_evidence,
    noise_free,
    rounded_up,
    share_bound,
    symmetric_noise,
    values_within,
)

ERROR = 0.05


def ever_false(reading, share, rate, steps):
    """P(the bound is ever below the share), by enumerating (n, k) for one level; `rate` is P(y >= level)."""
    alive, lost = np.array([1.0]), 0.0  # by the number of successes so far
    for n in range(1, steps + 1):
        alive = np.append(alive * (1 - rate), 0.0) + np.append(0.0, alive * rate)
        false = log_evidence(np.full(n + 1, n), np.arange(n + 1)[:, None], share, reading) >= -np.log(ERROR)
        lost += alive[false].sum()
        alive[false] = 0.0
    return lost


def highest_evidence(sequences, share, reading):
    """The largest evidence of each sequence (runs, n) against the true share, over all times."""
    counts = np.arange(1, sequences.shape[1] + 1)
    parts = np.array_split(sequences, 1 + len(sequences) // 100)
    above = (np.cumsum(part[..., None] >= np.array(reading.levels), axis=1) for part in parts)
    return np.concatenate([log_evidence(counts, each, share, reading).max(axis=1) for each in above])


@pytest.mark.parametrize("n", [1, 13, 58, 400])
def test_without_noise_it_is_the_exact_binomial_bound(n):
    found = share_bound(np.zeros(n), 1.0, noise_free(1.0), error=ERROR)
    assert found.share == pytest.approx(1 - ERROR ** (1 / n), rel=1e-9)
    assert binom.cdf(0, n, found.share) == pytest.approx(ERROR, rel=1e-6)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.051, 0.013])
def test_without_noise_looking_after_every_draw_costs_nothing(share):
    lost = ever_false(noise_free(1.0), share, share, 400)  # the search goes on only as long as no draw was good
    first = int(np.ceil(np.log(ERROR) / np.log(1 - share)))
    assert lost <= ERROR
    assert lost == pytest.approx((1 - share) ** first, rel=1e-9)


@pytest.mark.parametrize(("share", "miss"), [(0.4, 0.5), (0.1, 0.5), (0.3, 0.05), (0.9, 0.5)])
def test_under_noise_looking_after_every_draw_is_wrong_as_rarely_as_said(share, miss):
    reading = Reading((0.0,), (miss,))
    # only good settings ever reach the level, and no more often than they must: nothing is worse
    assert ever_false(reading, share, share * (1 - miss), 120) <= ERROR


@pytest.mark.parametrize(
    ("name", "reading", "draw"),
    [
        ("symmetric", symmetric_noise(0.0), lambda rng, n: rng.standard_t(2, n)),
        ("gaussian", gaussian_noise(0.0, 1.0), lambda rng, n: rng.standard_normal(n)),
        ("pass or fail", values_within(0.9, 0.0, 1.0), lambda rng, n: (rng.random(n) < 0.9).astype(float)),
        ("range", values_within(0.5, 0.0, 1.0), lambda rng, n: rng.beta(0.3, 0.3, n)),
    ],
)
@pytest.mark.parametrize("share", [0.15])
def test_ten_thousand_searches_that_look_after_every_draw(name, reading, draw, share):
    rng = default_rng([len(name), round(1000 * share)])
    runs, steps = 10_000, 150
    good = rng.random((runs, steps)) < share
    # a good setting lies exactly at the target, the others as low as can be
    values = np.where(good, draw(rng, (runs, steps)), 0.0 if reading.assumption.startswith("for values") else -10.0)
    false = (highest_evidence(values, share, reading) >= -np.log(ERROR)).sum()
    assert false <= binom.ppf(0.9999, runs, ERROR)  # a bound that holds exactly fails here once in 10,000


def test_the_bound_is_the_end_of_the_shares_that_were_never_excluded():
    rng = default_rng(3)
    values = rng.standard_normal(80) - 1.5
    reading = gaussian_noise(0.0, 1.0)
    shares = np.linspace(0.005, 0.995, 199)
    kept = [s for s in shares if highest_evidence(values[None], s, reading)[0] < -np.log(ERROR)]
    assert share_bound(values, 0.0, reading, error=ERROR).share == pytest.approx(max(kept), abs=6e-3)


def test_the_bound_never_rises_and_a_known_spread_makes_it_sharper():
    rng = default_rng(1)
    values = rng.standard_normal(120) - 4.0
    shares = [share_bound(values[:n], 0.0, symmetric_noise(0.0)).share for n in range(1, 121, 7)]
    assert all(b <= a + 1e-12 for a, b in pairwise(shares))
    assert share_bound(values, 0.0, gaussian_noise(0.0, 1.0)).share < 0.8 * shares[-1]
    assert share_bound(values, 0.0, noise_free(0.0)).share < share_bound(values, 0.0, gaussian_noise(0.0, 1.0)).share


def test_a_good_draw_without_noise_leaves_nothing_to_be_said():
    assert share_bound(np.array([0.0, 2.0]), 1.0, noise_free(1.0)).share == 1.0
    assert share_bound(np.empty(0), 1.0, noise_free(1.0)).share == 1.0


def test_the_largest_spread_holds_at_all_times_together():
    rng = default_rng(2)
    runs, steps, error = 4000, 60, 0.05
    squares = np.cumsum(rng.standard_normal((runs, steps)) ** 2, axis=1)
    bounds = np.array([largest_sd(1.0, m, error) for m in range(1, steps + 1)])
    false = (np.sqrt(squares) * bounds < 1.0).any(axis=1).sum()
    assert false <= binom.ppf(0.9999, runs, error)
    assert largest_sd(2.0 * 200, 200, error) == pytest.approx(np.sqrt(2), rel=0.3)
    assert largest_sd(0.0, 0, error) == np.inf


def test_the_probability_of_a_miss_is_what_it_is_said_to_be():
    rng = default_rng(4)
    reading = gaussian_noise(2.0, 0.5)
    assert reading.misses == pytest.approx(norm.cdf((np.array(reading.levels) - 2.0) / 0.5))
    ranged = values_within(0.7, 0.0, 1.0)
    for law in (rng.beta(7, 3, 100_000), (rng.random(100_000) < 0.7).astype(float), np.full(10, 0.7)):
        for level, miss in zip(ranged.levels, ranged.misses, strict=True):
            assert (law < level).mean() <= miss + 0.01


@pytest.mark.parametrize(
    ("x", "text"), [(4.901, "5"), (0.0312, "0.032"), (12.01, "13"), (5.0, "5"), (99.2, "100"), (0, "0")]
)
def test_at_most_is_rounded_up(x, text):
    assert rounded_up(x) == text
    assert float(text) >= x


def test_the_sentence_says_what_was_drawn_and_what_it_rests_on():
    text = str(share_bound(np.zeros(59), 1.0, noise_free(1.0)))
    assert (
        text
        == "with 95 % confidence at most 5 % of all settings are good; of 59 drawn at random none reached the target"
    )
    assert str(ShareBound(0.0493, 0.95, 59, 0, failed=3)) == (
        "with 95 % confidence at most 5 % of all settings that give a value are good; of 59 drawn at random none reached the "
        "target; 3 more draws failed"
    )
    noisy = share_bound(np.array([0.0] * 99 + [2.0]), 1.0, symmetric_noise(1.0))
    assert "of 100 drawn at random 1 gave a value that reaches the target" in str(noisy)
    assert str(noisy).endswith("as often above the true value as below it")
    assert (
        str(ShareBound(1.0, 0.95, 3, 3))
        == "no bound on the share of good settings yet; of 3 drawn at random 3 reached the target"
    )
