"""What `import satisfice` adds to importing numpy, scipy and optuna, in CPU seconds (the least of several).

.venv/bin/python bench/import_time.py
"""

import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

BASE = "import numpy, scipy, optuna"


def seconds(statement: str, repeats: int = 9) -> float:
    """CPU seconds of a new interpreter that runs the statement."""
    best = float("inf")
    for _ in range(repeats):
        before = getrusage(RUSAGE_CHILDREN)
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)  # noqa: S603
        after = getrusage(RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


if __name__ == "__main__":
    base, more = seconds(BASE), seconds(f"{BASE}, satisfice")
    print(f"numpy, scipy and optuna: {base:.3f} s; satisfice adds {more - base:.3f} s")
