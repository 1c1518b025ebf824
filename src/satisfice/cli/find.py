"""`satisfice find`: search with a command as the objective."""

import argparse
import json
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

from satisfice.cli.command import Command, filled
from satisfice.cli.params import read_number, read_params
from satisfice.cli.printed import SHOWN, Printed
from satisfice.cli.show import (
    STDOUT,
    add_place,
    as_json,
    check_output,
    hidden,
    lines,
    plain,
    same_place,
    stored_study,
    write_csv,
)
from satisfice.errors import BadInput
from satisfice.search.answer import Answer
from satisfice.search.search import Search
from satisfice.study.interrupt import Ending

CODES = {"good": 0, "open": 3, "none": 4, "unlikely": 5}
COMMAND = "satisfice:command"  # the user attribute of a study that holds the command
EPILOG = """\
example:
  satisfice find --target 0.93 --param lr=1e-5:1e-1:log --param depth=2:12 --param booster=gbtree,dart \\
      -- python train.py --lr {lr} --depth {depth} --booster {booster}

parameters:
  name=low:high            a range; whole numbers if both ends are written as such
  name=low:high:log        the same on a log scale
  name=low:high:step=0.5   with steps
  name=a,b,c               choices
  name=value               a constant

value: what the command prints on its standard output, one of
  {"value": 0.93}          a JSON object on the last line; --value KEY names another entry
  0.93                     a number alone on a line
  accuracy: 0.93           after a colon or an equals sign
  best accuracy 0.93       after words

The last line that ends with a number counts. If that number can be read in more than one way, as in 0,93 or 1,234.5 or 12:30
or 93 % or "done, elapsed 12", the evaluation fails, and no earlier line is read instead. So does one with another exit code
than 0, without a number, or without an end in time. A note says which line the first value was read from.

{name} stands for a parameter, {{ and }} for braces; no shell is involved. The study is kept in a file: the same command goes
on with it.

exit codes: 0 good, 3 open, 4 none, 5 unlikely, 2 wrong input, 1 too many failures,
            130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP
"""


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "find",
        help="find a setting of a command that reaches a target",
        usage="satisfice find --target T --param NAME=... [--param ...] [options] -- COMMAND {NAME} ...",
        description="Find a setting of a command whose value reaches the target, and say whether to trust it.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--target", type=_number, required=True, help="the value that is good enough")
    parser.add_argument("--param", action="append", required=True, metavar="NAME=...", help="a parameter, see below")
    parser.add_argument("--minimize", action="store_true", help="small values are good")
    parser.add_argument("--budget", type=count, default=100, help="evaluations in all (default: 100)")
    parser.add_argument("--timeout", type=_positive, metavar="S", help="seconds for the whole search")
    parser.add_argument("--each", type=_positive, metavar="S", help="seconds for one run of the command")
    parser.add_argument("--noise", type=_noise, metavar="0|SD|learn", help="none, its standard deviation, or unknown")
    parser.add_argument("--confidence", type=_number, default=0.95, help="that good is really good (default: 0.95)")
    parser.add_argument("--range", type=_range, metavar="LOW:HIGH", help="no value can lie outside")
    parser.add_argument(
        "--value", metavar="KEY", help="the entry of the JSON object on the last line that is the value"
    )
    add_place(parser)
    parser.add_argument("--jobs", type=count, default=1, help="runs at the same time (default: 1)")
    parser.add_argument("--seed", type=_whole, help="of all random numbers (default: drawn once and kept)")
    parser.add_argument("--history", metavar="FILE.csv", type=Path, help="earlier data: a column each, and value")
    parser.add_argument("--csv", metavar="OUT.csv", type=Path, help="write all evaluations to this file; - prints them")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(command=run)


def run(given: argparse.Namespace) -> int:
    """Search, and print the answer."""
    check_output(given)
    space: Any = read_params(given.param)
    command = Command(tuple(given.user_command), given.each, given.value, None if given.quiet else _say_where)
    command.check(space)
    with Ending() as ending:
        try:
            answer = _search(given, space, command)
        except KeyboardInterrupt:
            command.stop()
            while command.running:  # threads that wait for their runs to end
                time.sleep(0.05)
            _say_how_to_go_on(given)
            return 128 + (ending.number or signal.SIGINT)
    if given.csv is not None:
        write_csv(stored_study(given.storage, given.name), given.csv)
    if given.csv == STDOUT:
        return CODES[answer.verdict]
    if given.json:
        print(as_json(answer, name=given.name, target=given.target))
    else:
        spent = answer.evaluations + answer.failures >= given.budget
        go_on = f"; {'a larger --budget' if spent else 'the same command'} goes on from here" * (
            answer.verdict == "open"
        )
        extra = [
            ("study", f"{given.name!r} in {hidden(given.storage)}{go_on}"),
            ("report", same_place(given, "report")),
        ]
        if answer.params is not None:
            extra.insert(0, ("command", shlex.join(filled(word, answer.params) for word in command.words)))
        print(lines(answer, extra))
    return CODES[answer.verdict]


def _search(given: argparse.Namespace, forms: Any, command: Command) -> Answer:
    """The answer of the search that was asked for."""
    from satisfice.study.find import find
    from satisfice.study.space import Space
    from satisfice.study.storage import open_storage, open_study

    space = Space.of(forms)
    direction = "minimize" if given.minimize else "maximize"
    asked = {"noise": given.noise, "confidence": given.confidence, "value_range": given.range}
    Search(
        space.domain, given.target, direction=direction, **asked
    )  # what it refuses is refused before there is a study
    storage = open_storage(given.storage)
    _remember(open_study(given.name, storage, direction=direction), given)
    return find(
        command,
        space,
        given.target,
        budget=given.budget,
        timeout=given.timeout,
        direction=direction,
        n_jobs=given.jobs,
        storage=storage,
        name=given.name,
        history=given.history,
        seed=given.seed,
        progress=False if given.quiet else None,
        **asked,
    )


def _remember(study: Any, given: argparse.Namespace) -> None:
    """Keep the command in the study, and refuse another one: values of two programs are not to be mixed."""
    words = json.dumps(given.user_command)
    kept = study.user_attrs.get(COMMAND)
    if kept is None:
        study.set_user_attr(COMMAND, words)
    elif kept != words:
        other = shlex.join(json.loads(kept))
        raise BadInput(f"command: the study {given.name!r:.80} was made with {other:.200}; use that, or another --name")


def _say_where(first: Printed) -> None:
    """Print which line the first value was read from, so that one that was misread is seen early."""
    line = first.line if len(first.line) <= SHOWN else f"...{first.line[-SHOWN:]}"
    print(plain(f"satisfice: note: the first value is {first.value!r}, read from: {line}"), file=sys.stderr)


def _say_how_to_go_on(given: argparse.Namespace) -> None:
    """Print the command that goes on, without a password."""
    storage = given.storage
    words = [hidden(word) if word == storage else word.replace(storage, hidden(storage)) for word in given.words]
    print(f"stopped; everything found so far is kept in {hidden(storage)}. To go on:", file=sys.stderr)
    print("  " + plain(shlex.join(["satisfice", *words]), keep="\n\t"), file=sys.stderr)
    if hidden(storage) != storage:
        print("  with the password in place of the stars", file=sys.stderr)
    sys.stderr.flush()


def _number(text: str) -> float:
    number = read_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} came; a finite number was wanted")
    return number


def _positive(text: str) -> float:
    number = _number(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} came; a number greater than 0 was wanted")
    return number


def _whole(text: str) -> int:
    number = read_number(text)
    if not isinstance(number, int) or number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} came; a whole number, 0 or more, was wanted")
    return number


def count(text: str) -> int:
    """A whole number, 1 or more, as an option takes it."""
    number = _whole(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"{text!r} came; a whole number, 1 or more, was wanted")
    return number


def _noise(text: str) -> float | str:
    if text == "learn":
        return text
    number = read_number(text)
    if number is None or number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} came; 0, a standard deviation or learn was wanted")
    return number


def _range(text: str) -> tuple[float, float]:
    low, high = ([read_number(part) for part in text.split(":")] + [None, None])[:2]
    if low is None or high is None or text.count(":") != 1 or not low < high:
        raise argparse.ArgumentTypeError(f"{text!r} came; LOW:HIGH was wanted, such as 0:1")
    return low, high
