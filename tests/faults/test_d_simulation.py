"""D: ten thousand seeded schedules of the whole study layer; `python tests/simulation.py SEED` replays one that fails."""

from collections import Counter

import optuna
import pytest

import simulation

pytestmark = pytest.mark.faults


def test_ten_thousand_schedules(figures):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    counts: Counter[str] = Counter()
    for seed in range(10_000):
        counts += simulation.simulate(seed)  # raises `Wrong` with the seed
    names = (
        "schedules",
        "calls",
        "kills",
        "freezes",
        "storage errors",
        "trials",
        "acknowledged",
        "looks at what counts",
    )
    figures |= {name: counts[name] for name in names}
    figures |= {"lost": 0, "evaluated by two at once": 0, "certified by another order": 0}
    assert counts["schedules"] == 10_000
    assert counts["verdict good"] > 500
