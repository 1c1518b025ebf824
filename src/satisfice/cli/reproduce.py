"""`satisfice reproduce`: the experiments of the paper."""

import argparse
import json
from pathlib import Path
from typing import Any

from satisfice.cli.find import count
from satisfice.errors import BadInput


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper and draw its figure",
        description="Run an experiment of the paper (or go on with it) and draw its figure. `all` runs every one.",
        epilog="example: satisfice reproduce synthetic --only alpine --trials 5",
        allow_abbrev=False,
    )
    parser.add_argument(
        "id",
        help="phi, lenient, synthetic, real, noisy, sts, threshold, none-good, theory, theory-scaling, theory-coverage, "
        "theory-misspecified, xgboost, or all",
    )
    parser.add_argument("--trials", type=count, default=25, help="trials (default: 25)")
    parser.add_argument("--experiments", type=count, default=10, help="experiments a trial (default: 10)")
    parser.add_argument("--jobs", type=count, default=-1, help="processes (default: all cores)")
    parser.add_argument("--cluster", metavar="ADDRESS", help="run on the Dask cluster at this address instead")
    parser.add_argument("--out", type=Path, default=Path("out"), help="where records and figures go (default: out)")
    parser.add_argument("--only", metavar="PROBLEM", help="only the panels on this problem")
    parser.add_argument("--rules", help="only these rules, such as pg,eg")
    parser.add_argument("--as", dest="variant", choices=("paper", "paper-local", "published", "auto"), default="paper",
                        help="the text, the text with our optimiser, the published code, or our default")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the figures' numbers as JSON, and nothing else")
    parser.set_defaults(command=run)


def run(given: argparse.Namespace) -> int:
    """Run the experiments that were asked for."""
    from satisfice.extras import check_extras
    from satisfice.paper.experiments.reproduce import IDS, having, needed, reproduce, work_of

    if given.id not in (*IDS, "all"):
        raise BadInput(f"id: {given.id!r} came; one of {', '.join(IDS)} or all was wanted")
    _check_directory(given.out)
    rules = tuple(given.rules.split(",")) if given.rules else None
    names = having(IDS if given.id == "all" else (given.id,), given.variant, given.only, rules)
    options: dict[str, Any] = {"variant": given.variant, "out": given.out, "rules": rules, "only": given.only}
    options |= {"trials": given.trials, "experiments": given.experiments}
    check_extras(each for name in names for each in needed(name, work_of(name, **options), given.cluster))
    results: dict[str, Any] = {}
    for name in names:
        results[name], picture = reproduce(name, **options, jobs=given.jobs, cluster=given.cluster)
        if not given.json:
            print(f"{name}: {results[name]['runs']} runs" + (f"; the figure is {picture}" if picture else ""))
    if given.json:
        print(json.dumps(results if given.id == "all" else results[given.id]))
    return 0


def _check_directory(out: Path) -> None:
    """BadInput where no directory can be made."""
    there = next(each for each in (out, *out.parents) if each.exists() or each.is_symlink())
    if not there.is_dir():
        raise BadInput(f"--out: {str(there)!r:.200} is not a directory; choose another path")
