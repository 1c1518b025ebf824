"""Run a command as on other processors: with OpenBLAS's kernels for them, and with numpy's AVX-512 or AVX2 loops switched off.

    .venv/bin/python bench/cpus.py [--only Haswell,Zen] -- <command>

Fails if any of the runs fails.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

from numpy._core import _multiarray_umath as umath  # type: ignore[attr-defined]

CORE_TYPES = ("Haswell", "SkylakeX", "Zen", "Sandybridge")
AVX512, AVX2 = (
    ("X86_V4", "AVX512"),
    ("X86_V3", "AVX2", "FMA3"),
)  # prefixes of the features' names, in numpy 2.4 and before


class Processor(NamedTuple):
    """A processor to imitate: the environment of a process, or the reason why this machine cannot."""

    name: str
    environment: Mapping[str, str]
    missing: str = ""


def processors() -> list[Processor]:
    """All processors. The first is the reference."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    missing = dict.fromkeys(CORE_TYPES, "" if x86 else "this is not an x86 processor")
    if x86 and not umath.__cpu_features__.get("AVX512F"):
        missing["SkylakeX"] = "this processor has no AVX-512"
    found = [Processor(name, {"OPENBLAS_CORETYPE": name}, missing[name]) for name in CORE_TYPES]
    for name, own, newer in (("numpy without AVX-512", AVX512, ()), ("numpy without AVX2", AVX2, AVX512)):
        features = [each for each in switchable() if each.startswith(own)]
        off = " ".join([*features, *(each for each in switchable() if each.startswith(newer))])
        environment = {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": off}
        found.append(Processor(name, environment, "" if features else "numpy does not use it on this processor"))
    return found


def chosen(names: str | None) -> list[Processor]:
    """The processors of these names, separated by commas, or all."""
    everything = {processor.name: processor for processor in processors()}
    if unknown := set((names or "").split(",")) - {*everything, ""}:
        sys.exit(f"--only must be some of {', '.join(everything)}, separated by commas; got {', '.join(unknown)}")
    return [processor for name, processor in everything.items() if not names or name in names.split(",")]


def switchable() -> list[str]:
    """The features beyond its baseline that numpy uses on this processor. Switching off any other is an error."""
    return [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]]


def environment(processor: Processor) -> dict[str, str]:
    """The environment of a process that imitates this processor, on one thread."""
    own = {key: value for key, value in os.environ.items() if key != "NPY_DISABLE_CPU_FEATURES"}
    return own | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | dict(processor.environment)


def main() -> None:
    """Run the command as on each processor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    failed = []
    for processor in chosen(options.only):
        if processor.missing:
            print(f"=== {processor.name}: SKIPPED, {processor.missing}", flush=True)
            continue
        print(f"=== {processor.name}", flush=True)
        if subprocess.run(options.command, env=environment(processor), check=False).returncode:  # noqa: S603
            failed.append(processor.name)
    if failed:
        sys.exit(f"failed as {', '.join(failed)}")


if __name__ == "__main__":
    main()
