"""One BLAS thread a process, set before numpy is loaded: the tests run in several processes."""

import os
import signal

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

from hypothesis import settings

settings.register_profile("same", derandomize=True)  # the same examples every time; with EXPLORE set new ones are tried
if not os.environ.get("EXPLORE"):
    settings.load_profile("same")

# a shell starts background jobs with Ctrl-C ignored, and then nothing that the tests start could be interrupted
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["browser", "nursery", "postgres"]
