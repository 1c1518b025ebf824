"""One BLAS thread a process, set before numpy is loaded: the tests run in several processes."""

import os
import signal
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True)  # the same examples every time; with EXPLORE set new ones are tried
if not os.environ.get("EXPLORE"):
    settings.load_profile("same")

# A shell starts background jobs with Ctrl-C ignored, and nohup with hang-ups; what the tests start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

pytest_plugins = ["browser", "nursery", "postgres"]

TESTS = Path(__file__).parent
COMPUTES = {
    TESTS / name
    for name in (
        *("acquisition", "certificates", "domain/test_product.py", "gp", "rules", "search", "test_sklearn.py"),
        *("paper/theory", "paper/problems", "paper/test_regret.py", "paper/experiments/test_published.py"),
        *(
            "bench/test_default_benches.py",
            "report/test_page.py",
            "test_docs.py",
            "test_examples.py",
            "test_robustness.py",
        ),
        *("study/test_find.py", "study/test_pruned.py", "study/test_sampler.py"),
    )
}
assert all(path.exists() for path in COMPUTES)


@pytest.hookimpl(tryfirst=True)  # before the expression after -m is looked at
def pytest_collection_modifyitems(items):
    """Mark what could come out differently on another processor."""
    for item in items:
        if COMPUTES & {item.path, *item.path.parents}:
            item.add_marker("cpu")
