"""`satisfice find`: search for a setting of a command."""

import json
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import rich_click as click

from satisfice.cli import options
from satisfice.cli.output import STDOUT, answer_json, check_output, columns, target_json, write_csv
from satisfice.cli.params import read_constraints, read_params, read_preference
from satisfice.cli.studies import ARGUMENTS, PROGRAM, command_line, hidden, report_line, stored_study
from satisfice.command.objective import CommandObjective, filled
from satisfice.command.value import SHOWN, PrintedValue
from satisfice.errors import BadInput
from satisfice.plaintext import plain

if TYPE_CHECKING:
    from satisfice.search.answer import Answer

EXIT_CODES = {"good": 0, "open": 3, "none": 4, "unlikely": 5}


@options.command("--target T | --require NAME>=T --param NAME=... [OPTIONS] -- PROGRAM ...")
@options.problem_options
@click.option("--value", "key", metavar="KEY", help="The JSON entry that holds the value.")
@click.option("--regex", type=options.REGEX, metavar="PATTERN", help="What finds the value in the output.")
@click.option("--budget", type=options.COUNT, default=100, show_default=True, help="Evaluations in all.")
@click.option("--timeout", type=options.SECONDS, metavar="S", help="Seconds for the whole search.")
@click.option("--each", type=options.SECONDS, metavar="S", help="Seconds for one run of the program.")
@click.option("--jobs", "n_jobs", type=options.COUNT, default=1, show_default=True, help="Runs at the same time.")
@click.option("--cancel-running", is_flag=True, help="End what still runs when the verdict is in, everywhere.")
@options.study_options
@click.option("--csv", type=options.FILE, metavar="OUT.csv", help="Also write all evaluations; - prints nothing else.")
@options.json_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
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
        "--value",
        "--regex",
    ],
)
@click.option_panel(
    "Search",
    options=["--history", "--budget", "--timeout", "--each", "--jobs", "--cancel-running", "--seed", "--quiet"],
)
@click.option_panel("Study and output", options=["--storage", "--name", "--csv", "--json", "--help"])
@click.pass_obj
def find(invocation: options.Invocation, /, **values: Any) -> int:
    r"""Find a setting that reaches the target.

    Your program follows after `--` and prints its value. The answer says whether the setting can be trusted.

    Example
    -------
    satisfice find --target 0.93 --param lr=1e-5:1e-1:log --param depth=2:12 \
        --param booster=gbtree,dart \
        -- python train.py --lr {lr} --depth {depth} --booster {booster}

    {name} stands for a parameter, {{ and }} for braces; no shell is involved.
    The study is kept in a file: run the same command again to continue it.

    Parameters
    ----------
    name=low:high            a range; of integers if both ends are integers
    name=low:high:log        a range on a log scale
    name=low:high:step=0.5   a range with steps
    name=a,b,c               choices
    name=value               a constant

    Constraints on the parameters
    -----------------------------
    --constraint "a + 2 b <= 1"     a linear one, with <= or >=
    --mixture a,b,c=1               parts of a whole: their sum; ranges as 0.0:1.0

    Which good setting
    ------------------
    --prefer "a + 2 b"              goes on for a cheaper one, within the budget
    --prefer a=0.3,b=2              goes on for one that is nearer to this setting

    The value, as your program prints it
    ------------------------------------
    {"value": 0.93}          a JSON object on the last line; see --value
    0.93                     a number alone on a line
    accuracy: 0.93           a number after a colon or an equals sign
    best accuracy 0.93       a number after words
    --regex 'rmse=(\S+)'     what the group of the last match holds

    The last line that ends with a number counts. If that number is ambiguous,
    as in 0,93 or 1,234.5 or 12:30 or 93 % or "done, elapsed 12", the evaluation
    fails and no earlier line is read instead. It also fails without a number,
    with an exit code other than 0, and after --each seconds. If nothing can be
    read in the very first one, the search ends at once. A note shows the line
    that the first value was read from.

    Several requirements
    --------------------
    --require "accuracy>=0.93" --require "p99<=200" takes the place of --target.
    The last line is then a JSON object with all of them, such as
    {"accuracy": 0.94, "p99": 180, "size": 12}; further entries are kept.

    Exit codes
    ----------
    0 good, 3 open, 4 none, 5 unlikely, 2 wrong input, 1 too many failures,
    130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP
    """
    from satisfice.study.workers.interrupts import Ending

    given = SimpleNamespace(**values)
    check_output(given.storage, csv=given.csv, as_json=given.as_json)
    space: Any = read_params(given.params)
    if given.key is not None and given.regex is not None:
        raise BadInput("`--value` and `--regex` both say where the value is; use one of them.")
    given.target = options.target_of(given)
    tell = None if given.quiet else show_first_value
    objective = CommandObjective(invocation.program, given.each, given.key, given.regex, tell)
    objective.names = getattr(given.target, "names", ())
    objective.check(space)
    line = command_line(invocation.words, given.storage)
    with Ending() as ending:
        try:
            answer = _search(given, space, objective, line)
        except KeyboardInterrupt:
            objective.stop()
            while objective.running:  # threads that wait for their runs to end
                time.sleep(0.05)
            show_how_to_continue(line, given.storage)
            return 128 + (ending.number or signal.SIGINT)
    if given.csv is not None:
        write_csv(stored_study(given.storage, given.name), given.csv)
    if given.as_json and given.csv != STDOUT:
        print(answer_json(answer, name=given.name, target=target_json(given.target)))
    elif given.csv != STDOUT:
        print(columns([*answer.lines, *_what_next(given, answer, objective)]))
    return EXIT_CODES[answer.verdict]


def _search(given: SimpleNamespace, params: Any, objective: CommandObjective, line: str) -> "Answer":
    """Run the search."""
    from satisfice.domain.space import Space
    from satisfice.search.config import SearchConfig
    from satisfice.search.search import Search
    from satisfice.study.config import StudyConfig
    from satisfice.study.find import find
    from satisfice.study.values import directions_of
    from satisfice.study.warm_start import read_earlier
    from satisfice.study.workers.storage import open_storage, open_study

    space = Space.of(params, read_constraints(given.constraints, given.mixtures))
    problem = {name: getattr(given, name) for name in ("noise", "confidence", "value_range")}
    problem["direction"] = "minimize" if given.minimize else "maximize"
    problem["prefer"] = read_preference(given.prefer)
    Search(space, given.target, **problem)  # wrong input is refused before there is a study
    if given.history is not None:
        read_earlier(StudyConfig(given.target, problem["direction"], space=space), given.history)
    storage = open_storage(given.storage)
    directions = directions_of(SearchConfig(given.target, problem["direction"]))
    remember(open_study(given.name, storage, direction=directions), given.name, objective.words, line)
    names = ("budget", "timeout", "n_jobs", "cancel_running", "name", "history", "seed")
    budget = {name: getattr(given, name) for name in names}
    progress: Any = False if given.quiet else "log"
    return find(objective, space, given.target, storage=storage, progress=progress, **problem, **budget)


def remember(study: Any, name: str, program: Sequence[str], line: str) -> None:
    """Keep the program in the study and refuse another one, because values of two programs must not be mixed."""
    words = json.dumps(program)
    kept = study.user_attrs.get(PROGRAM, words)
    if kept != words and any(trial.state.name == "COMPLETE" for trial in study.get_trials(deepcopy=False)):
        raise BadInput(
            f"Study {name!r:.80} was made with the command `{shlex.join(json.loads(kept)):.200}`. Use the same command, or "
            "choose another `--name`."
        )
    study.set_user_attr(PROGRAM, words)
    study.set_user_attr(ARGUMENTS, line)


def _what_next(given: SimpleNamespace, answer: "Answer", objective: CommandObjective) -> list[tuple[str, str]]:
    """Return the lines below the answer: the program with the setting, the study, the report."""
    study = f"{given.name!r} in {hidden(given.storage)}"
    if answer.verdict == "open":
        spent = answer.evaluations + answer.failures >= given.budget
        study += f"; to continue, run the same command{' with a larger --budget' if spent else ''}"
    rows = [("study", study), ("report", report_line(given.storage, given.name))]
    if answer.params is not None:
        rows.insert(0, ("command", shlex.join(filled(word, answer.params) for word in objective.words)))
    return rows


def show_first_value(first: PrintedValue) -> None:
    """Print which line the first value was read from, so that a wrong one is noticed early."""
    line = first.line if len(first.line) <= SHOWN else f"...{first.line[-SHOWN:]}"
    print(plain(f"satisfice: note: the first value is {first.value!r}, read from: {line}"), file=sys.stderr)


def show_how_to_continue(line: str, storage: str) -> None:
    """Print the command line that continues the search."""
    print(f"Stopped. All evaluations so far are kept in {hidden(storage)}. To continue:\n  {line}", file=sys.stderr)
    if hidden(storage) != storage:
        print("  with the password in place of the asterisks", file=sys.stderr)
    sys.stderr.flush()
