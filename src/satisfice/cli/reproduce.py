"""`satisfice reproduce`: the experiments of the paper."""

import json
from pathlib import Path
from typing import Any

import rich_click as click

from satisfice.cli.options import COUNT, FILE, command, json_option
from satisfice.errors import BadInput


@command("EXPERIMENT [OPTIONS]")
@click.argument("experiment", metavar="EXPERIMENT")
@click.option("--trials", type=COUNT, default=25, show_default=True, help="Trials.")
@click.option("--experiments", type=COUNT, default=10, show_default=True, help="Experiments in each trial.")
@click.option("--jobs", type=COUNT, default=-1, help="Processes; by default one for each core.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster at this address instead.")
@click.option("--out", type=FILE, default="out", show_default=True, help="The directory for records and figures.")
@click.option("--only", metavar="PROBLEM", help="Run only the panels on this problem.")
@click.option("--rules", metavar="RULES", help="Run only these rules, such as pg,eg.")
@click.option("--as", "variant", type=click.Choice(["paper", "paper-local", "published", "auto"]), default="paper",
              show_default=True, help="What to run; see below.")  # fmt: skip
@json_option
def reproduce(
    experiment: str, jobs: int, cluster: str | None, out: Path, rules: str | None, as_json: bool, **options: Any
) -> int:
    """Run an experiment of the paper and draw its figure.

    Continues where an earlier run stopped. `all` runs every experiment.

    Experiments
    -----------
    phi, lenient, synthetic, real, noisy, sts, threshold, none-good, xgboost,
    theory, theory-scaling, theory-coverage, theory-misspecified, or all

    Variants
    --------
    paper         the text of the paper
    paper-local   the text with our optimiser of the acquisition
    published     the authors' published code
    auto          the default of this library

    Example
    -------
    satisfice reproduce synthetic --only alpine --trials 5
    """
    from satisfice.extras import check_extras
    from satisfice.paper.experiments.reproduce import IDS, having, needed, reproduce, work_of

    if experiment not in (*IDS, "all"):
        raise BadInput(f"EXPERIMENT must be one of {', '.join(IDS)} or all; got {experiment!r:.200}.")
    place = next(each for each in (out, *out.parents) if each.exists() or each.is_symlink())
    if not place.is_dir():
        raise BadInput(f"`--out`: {str(place)!r:.200} is not a directory; choose another path.")
    options |= {"out": out, "rules": tuple(rules.split(",")) if rules else None}
    asked = IDS if experiment == "all" else (experiment,)
    names = having(asked, options["variant"], options["only"], options["rules"])
    check_extras(each for name in names for each in needed(name, work_of(name, **options), cluster))
    results: dict[str, Any] = {}
    for name in names:
        results[name], picture = reproduce(name, **options, jobs=jobs, cluster=cluster)
        if not as_json:
            print(f"{name}: {results[name]['runs']} runs" + (f"; figure: {picture}" if picture else ""))
    if as_json:
        print(json.dumps(results if experiment == "all" else results[experiment]))
    return 0
