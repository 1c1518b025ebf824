"""One BLAS thread a process, set before numpy is loaded: the tests run in several processes."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from hypothesis import settings

settings.register_profile("ci", derandomize=True)  # the same examples every time; elsewhere new ones are tried
if os.environ.get("CI"):
    settings.load_profile("ci")

pytest_plugins = ["postgres"]
