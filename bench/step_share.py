"""Where the time of a step goes: LAPACK and BLAS, kernel elements, the optimiser, everything else.

    .venv/bin/python bench/step_share.py [--n 25,100,400 --seeds 5]

The steps are those of bench/step_time.py (tell a value, ask for the next point), learning included. A profiler on CPU time samples a
thousand times a second which line runs: one that calls LAPACK or multiplies matrices, one of `gp/kernels/correlations.py` or SciPy's
distances, one of SciPy's L-BFGS-B, or another. Prints a table.
"""

import argparse
import signal
from collections import Counter
from linecache import getline
from types import FrameType

from step_time import satisfice_step

BLAS = ("lapack.", "blas.", " @ ", "einsum", "vdot", "tensordot")
PARTS = ("LAPACK and BLAS", "kernel elements", "L-BFGS-B", "everything else")
EVERY = 1e-3  # CPU seconds


def part(frame: FrameType) -> str:
    """The part that the running line belongs to."""
    code, line = frame.f_code, getline(frame.f_code.co_filename, frame.f_lineno or 0)
    if "satisfice" in code.co_filename and any(sign in line for sign in BLAS):
        return PARTS[0]
    if code.co_filename.endswith(("correlations.py", "spatial/distance.py")):
        return PARTS[1]
    return PARTS[2] if "scipy/optimize" in code.co_filename else PARTS[3]


def shares(model: str, n: int, seeds: int) -> Counter[str]:
    """How often each part was sampled during the steps up to n."""
    seen: Counter[str] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        if frame is not None:
            seen[part(frame)] += 1

    signal.signal(signal.SIGPROF, look)
    for seed in range(seeds):
        satisfice_step(
            model,
            n,
            seed,
            before=lambda: signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY),
            after=lambda: signal.setitimer(signal.ITIMER_PROF, 0.0),
        )
    return seen


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="25,100,400")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    print("| model, values so far | " + " | ".join(PARTS) + " |\n" + "|---" * (len(PARTS) + 1) + "|")
    for model in ("paper", "auto"):
        for n in map(int, given.n.split(",")):
            seen = shares(model, n, given.seeds)
            cells = [f"{seen[name] / seen.total():.0%}" for name in PARTS]
            print(f"| {model}, {n} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
