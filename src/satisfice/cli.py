"""The command line `satisfice`."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from satisfice.types import SatisficeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 where it worked and 2 where the input was wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        return int(given.command(given))
    except SatisficeError as problem:
        print(f"satisfice: {problem}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="satisfice", description="Find a setting that is good enough.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    reproduce = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper and draw its figure",
        description="Run an experiment of the paper (or go on with it) and draw its figure. `all` runs every one.",
    )
    reproduce.add_argument(
        "id", help="phi, lenient, synthetic, real, noisy, sts, threshold, none-good, theory, xgboost, or all"
    )
    reproduce.add_argument("--trials", type=int, default=25, help="trials (default: 25)")
    reproduce.add_argument("--experiments", type=int, default=10, help="experiments a trial (default: 10)")
    reproduce.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    reproduce.add_argument("--cluster", metavar="ADDRESS", help="run on the Dask cluster at this address instead")
    reproduce.add_argument("--out", type=Path, default=Path("out"), help="where records and figures go (default: out)")
    reproduce.add_argument("--only", metavar="PROBLEM", help="only the panels on this problem")
    reproduce.add_argument("--rules", help="only these rules, such as pg,eg")
    reproduce.add_argument("--as", dest="variant", choices=("paper", "published", "auto"), default="paper",
                           help="what the text says, what the published code did, or our default model")  # fmt: skip
    reproduce.add_argument("--json", action="store_true", help="print the figures' numbers as JSON, and nothing else")
    reproduce.set_defaults(command=_reproduce)
    return parser


def _reproduce(given: argparse.Namespace) -> int:
    from satisfice.experiments.reproduce import IDS, reproduce

    names = IDS if given.id == "all" else (given.id,)
    if given.id not in (*IDS, "all"):
        print(f"satisfice: {given.id!r} came; one of {', '.join(IDS)} or all was wanted", file=sys.stderr)
        return 2
    results: dict[str, Any] = {}
    for name in names:
        results[name], picture = reproduce(
            name,
            variant=given.variant,
            out=given.out,
            trials=given.trials,
            experiments=given.experiments,
            rules=tuple(given.rules.split(",")) if given.rules else None,
            only=given.only,
            jobs=given.jobs,
            cluster=given.cluster,
        )
        if not given.json:
            print(f"{name}: {results[name]['runs']} runs" + (f"; the figure is {picture}" if picture else ""))
    if given.json:
        print(json.dumps(results if given.id == "all" else results[given.id]))
    return 0
