"""One BLAS thread a process, set before numpy is loaded: the tests run in several processes."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
