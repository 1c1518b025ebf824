"""`satisfice new`: begin a search whose experiments are made by hand."""

from types import SimpleNamespace
from typing import Any

import rich_click as click

from satisfice.cli import options
from satisfice.cli.output import columns
from satisfice.cli.params import read_constraints, read_params, read_preference
from satisfice.cli.studies import existing_names, hidden, study_line
from satisfice.errors import BadInput


@options.command("--target T | --require NAME>=T --param NAME=... [OPTIONS]")
@options.problem_options
@options.study_options
@click.option_panel(
    "Problem",
    options=[
        "--target",
        "--require",
        "--param",
        "--constraint",
        "--mixture",
        "--prefer",
        "--minimize",
        "--noise",
        "--range",
        "--confidence",
    ],
)
@click.option_panel("Search", options=["--history", "--seed"])
@click.option_panel("Study", options=["--storage", "--name", "--help"])
def new(**values: Any) -> int:
    """Begin a search whose experiments you make yourself.

    Then `satisfice ask` says what to try, and `satisfice tell` takes the results, over days and by several people.

    Example
    -------
    satisfice new --name lab --storage lab.db --target 80 --noise 1.5 \
        --param temperature=20:90:step=5 --param time=1:24 --param solvent=water,ethanol

    Parameters
    ----------
    name=low:high            a range; of integers if both ends are integers
    name=low:high:log        a range on a log scale
    name=low:high:step=0.5   a range with steps: as fine as you can set it
    name=a,b,c               choices
    name=value               a constant
    """
    from satisfice.report.text import goal
    from satisfice.study.open_search import open_search

    given = SimpleNamespace(**values)
    space, target = read_params(given.params), options.target_of(given)
    if given.name in existing_names(given.storage):
        raise BadInput(
            f"`--name`: there is a study {given.name!r:.80} already. Go on with it by `satisfice ask`, or choose another name."
        )
    search = open_search(
        given.name, given.storage, space, target,
        constraints=read_constraints(given.constraints, given.mixtures), prefer=read_preference(given.prefer),
        direction="minimize" if given.minimize else "maximize",
        **{name: getattr(given, name) for name in ("noise", "confidence", "value_range", "history", "seed")},
    )  # fmt: skip
    rows = [("study", f"{given.name!r} in {hidden(given.storage)}"), ("target", goal(search.config))]
    if earlier := len(search.study.get_trials(deepcopy=False)):
        rows.append(("earlier data", f"{earlier} rows"))
    print(columns([*rows, ("command", study_line("ask", given.storage, given.name, "-n", "4"))]))
    return 0
