"""Flaky tests, and a latency that varies: how often do they pass? Run with the plugin.

pytest -p satisfice.pytest_plugin examples/gate/flaky.py
"""

import random
from collections.abc import Callable

import pytest


@pytest.mark.certify(rate=">= 0.95")
def test_a_request_is_answered(certify_seed: int) -> None:
    """It is, in 99 of 100 cases."""
    assert random.Random(certify_seed).random() < 0.99  # noqa: S311


@pytest.mark.certify(target="<= 200", quantile=0.9)
def test_the_answer_comes_soon(certify_seed: int, certify_value: Callable[[float], None]) -> None:
    """Nine in ten take at most 115 ms, and more than that is asked of none."""
    certify_value(random.Random(certify_seed).expovariate(1 / 50))  # noqa: S311
