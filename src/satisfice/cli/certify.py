"""`satisfice certify`: is one given command good enough, and not by luck?"""

import shlex
import signal
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import rich_click as click

from satisfice.cli import options
from satisfice.cli.find import remember, show_first_value, show_how_to_continue
from satisfice.cli.output import columns, gate_json
from satisfice.cli.studies import command_line, hidden
from satisfice.errors import BadInput
from satisfice.plaintext import plain

if TYPE_CHECKING:
    from satisfice.command.objective import CommandObjective
    from satisfice.search.gate_answer import CertifyAnswer

EXIT_CODES = {"good": 0, "open": 3, "bad": 4}


@options.command("--target '>= T' [OPTIONS] -- PROGRAM ...")
@click.option("--target", metavar="'>= T'", help="What must be reached, such as '>= 0.95' or '<= 200'.")
@click.option(
    "--require", "requires", multiple=True, metavar="'NAME >= T'", help="A requirement on an entry of a JSON object."
)
@click.option("--rate", is_flag=True, help="The share of runs that pass: those with exit code 0.")
@click.option("--quantile", type=options.NUMBER, metavar="Q", help="This quantile of the values, not their mean.")
@click.option("--against", metavar="COMMAND", help="A second command, run in pairs with the first; without --target.")
@click.option("--margin", type=options.NUMBER, default=0.0, metavar="M", help="How much worse than --against is good.")
@click.option("--minimize", is_flag=True, help="With --against: small values are good.")
@click.option("--noise", type=options.GATE_NOISE, metavar="0|SD|gaussian", help="What is known of the noise.")
@click.option("--range", "value_range", type=options.RANGE, metavar="LOW:HIGH", help="Bounds that no value can exceed.")
@click.option("--confidence", type=options.NUMBER, default=0.95, show_default=True, help="Confidence in the verdict.")
@click.option("--value", "key", metavar="KEY", help="The JSON entry that holds the value.")
@click.option("--regex", type=options.REGEX, metavar="PATTERN", help="What finds the value in the output.")
@click.option("--budget", type=options.COUNT, default=1000, show_default=True, help="Runs (or pairs) in all.")
@click.option("--timeout", type=options.SECONDS, metavar="S", help="Seconds for everything.")
@click.option("--each", type=options.SECONDS, metavar="S", help="Seconds for one run of the program.")
@click.option("--jobs", "n_jobs", type=options.COUNT, default=1, show_default=True, help="Runs at the same time.")
@click.option("--seed", type=options.WHOLE, help="What the seeds of the runs follow from; by default drawn once.")
@click.option("--storage", metavar="PATH|URL", help="Keep the runs: an SQLite file or a database URL.")
@click.option("--name", default="gate", show_default=True, metavar="TEXT", help="Their name in the storage.")
@click.option("--junit", type=options.FILE, metavar="FILE", help="Also write a JUnit XML file.")
@click.option("--report", "page", type=options.FILE, metavar="FILE", help="Also write an HTML page.")
@options.json_option
@click.option("--oneline", is_flag=True, help="Print one line and nothing else.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option_panel(
    "Question",
    options=["--target", "--require", "--rate", "--quantile", "--against", "--margin", "--minimize", "--noise", "--range",
             "--confidence"],
)  # fmt: skip
@click.option_panel(
    "Runs", options=["--value", "--regex", "--budget", "--timeout", "--each", "--jobs", "--seed", "--quiet"]
)
@click.option_panel(
    "Storage and output", options=["--storage", "--name", "--junit", "--report", "--json", "--oneline", "--help"]
)
@click.pass_obj
def certify(invocation: options.Invocation, /, **values: Any) -> int:
    r"""Run one command until it is clear whether it is good enough.

    Your program follows after `--` and prints its value. It is run until the verdict is good or bad, each wrong in at most 5 %
    of the cases, or until the budget is spent.

    Example
    -------
    satisfice certify --target '>= 0.95' --range 0:1 -- python evaluate.py --seed {seed}
    satisfice certify --target '>= 0.99' --rate -- python -m pytest -q tests/test_flaky.py
    satisfice certify --target '<= 200' --quantile 0.9 -- ./request.sh
    satisfice certify --require 'accuracy >= 0.9' --require 'seconds <= 2' -- ./evaluate.sh
    satisfice certify --against 'python old.py --seed {seed}' --margin 0.01 \
        -- python new.py --seed {seed}

    {seed} and {run} are new in each run, and the same for both of a pair; {{ and }} stand for
    braces; no shell is involved. Runs must not depend on each other: vary the seed.
    Without --storage nothing is kept, and each call begins anew.

    What is assumed
    ---------------
    --range 0:1       nothing about the values within the range
    --rate            runs that pass or fail independently
    --quantile 0.9    nothing; only whether a value meets the target counts
    --noise 0.3       Gaussian noise of this standard deviation
    --noise gaussian  Gaussian noise
    none of these     what the values show; the answer says what that is

    Exit codes
    ----------
    0 good, 3 open, 4 bad, 2 wrong input, 1 too many failures,
    130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP
    """
    from satisfice.study.workers.interrupts import Ending

    given = SimpleNamespace(**values)
    _check(given)
    tell = None if given.quiet or given.rate else show_first_value
    given.target = _target(given)
    programs = [_program(invocation.program, given, tell)]
    if given.against is not None:
        programs.append(_program(_words(given.against), given, None))
    line = command_line(invocation.words, given.storage or "")
    with Ending() as ending:
        try:
            answer = _run(given, programs, line)
        except KeyboardInterrupt:
            for program in programs:
                program.stop()
            while any(program.running for program in programs):
                time.sleep(0.05)
            if given.storage is None:
                print("Stopped. Nothing was kept; with --storage it would be.", file=sys.stderr, flush=True)
            else:
                show_how_to_continue(line, given.storage)
            return 128 + (ending.number or signal.SIGINT)
    _write(given, answer)
    if given.as_json:
        print(gate_json(answer, name=given.name if given.storage else None))
    elif given.oneline:
        print(plain(answer.summary))
    else:
        print(columns([*answer.lines, *_what_next(given, answer)]))
    return EXIT_CODES[answer.verdict]


def _check(given: SimpleNamespace) -> None:
    """Raise `BadInput` for options that do not fit together, and for files that cannot be written."""
    from satisfice.cli.studies import database_files
    from satisfice.report.files import check_path

    if sum(map(bool, (given.target, given.requires, given.against))) != 1:
        raise BadInput(
            "Give one of `--target`, what must be reached, as '>= 0.95'; `--require`, once or several times; or `--against`, "
            "a second command."
        )
    if given.requires and (given.key is not None or given.regex is not None):
        raise BadInput("`--require` reads a JSON object on the last line; leave out `--value` and `--regex`.")
    if given.key is not None and given.regex is not None:
        raise BadInput("`--value` and `--regex` both say where the value is; use one of them.")
    if given.rate and (given.key is not None or given.regex is not None):
        raise BadInput("`--rate` looks at exit codes; leave out `--value` and `--regex`.")
    if given.as_json and given.oneline:
        raise BadInput("`--json` and `--oneline` both print to the standard output; use one of them.")
    if given.minimize and given.against is None:
        raise BadInput("`--minimize` must come with `--against`; a target says it by <=.")
    for option, path in (("--junit", given.junit), ("--report", given.page)):
        if path is not None:
            try:
                check_path(path, database_files(given.storage) if given.storage else ())
            except BadInput as problem:
                raise BadInput(f"{option}: {problem}") from None


def _target(given: SimpleNamespace) -> Any:
    """The target: a text, or a specification."""
    if not given.requires:
        return given.target
    from satisfice.search.specification import Specification

    return Specification.of(list(given.requires))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as problem:
        raise BadInput(f"`--against` must be a command; got {command!r:.80} ({problem}).") from None


def _program(words: list[str], given: SimpleNamespace, tell: Any) -> "CommandObjective":
    """The program, which may use {seed} and {run}."""
    from satisfice.study.certify import command_of

    return command_of(
        words, timeout=given.each, key=given.key, pattern=given.regex, on_first=tell, by_exit_code=given.rate,
        names=getattr(given.target, "names", ()),
    )  # fmt: skip


def _run(given: SimpleNamespace, programs: list["CommandObjective"], line: str) -> "CertifyAnswer":
    """Run the gate."""
    from satisfice.search.gate_config import gate_config
    from satisfice.study.certify import Numbered, certify
    from satisfice.study.workers.storage import open_storage, open_study

    names = ("rate", "quantile", "margin", "noise", "value_range", "confidence")
    question: dict[str, Any] = {name: getattr(given, name) for name in names}
    question["direction"] = "minimize" if given.minimize else None
    config = gate_config(given.target, paired=given.against is not None, **question)  # refused before there is a study
    storage = None
    if given.storage is not None:
        storage = open_storage(given.storage)
        sense = config.specification.requirements[0].sense
        study = open_study(given.name, storage, direction="maximize" if sense == ">=" else "minimize")
        remember(study, given.name, [word for program in programs for word in program.words], line)
    runs = [Numbered.of(program) for program in programs]
    progress: Any = False if given.quiet else "log"
    return certify(
        runs[0], given.target, against=runs[1] if len(runs) > 1 else None, budget=given.budget, timeout=given.timeout,
        n_jobs=given.n_jobs, storage=storage, name=given.name if storage is not None else None, seed=given.seed,
        progress=progress, **question,
    )  # fmt: skip


def _what_next(given: SimpleNamespace, answer: "CertifyAnswer") -> list[tuple[str, str]]:
    """Return the lines below the answer: where the runs are, how to continue."""
    if given.storage is None:
        return []
    kept = f"{given.name!r} in {hidden(given.storage)}"
    if answer.verdict == "open":
        kept += "; to continue, run the same command with a larger --budget"
    return [("kept as", kept)]


def _write(given: SimpleNamespace, answer: "CertifyAnswer") -> None:
    """Write the files that were asked for."""
    from satisfice.report.files import write_file
    from satisfice.report.gate import write_gate

    if given.page is not None:
        write_gate(answer, given.page)
    if given.junit is not None:
        write_file(given.junit, junit(answer, given.name))


def junit(answer: "CertifyAnswer", name: str) -> bytes:
    """Return the answer as JUnit XML: a test that fails unless the verdict is good.

    Parameters
    ----------
    answer
        The answer.
    name
        The name of the test suite.

    Returns
    -------
    bytes
        The XML.
    """
    from xml.etree import ElementTree as Xml

    failed = answer.verdict != "good"
    suite = Xml.Element("testsuite", name=plain(name), tests="1", failures=str(int(failed)), errors="0", skipped="0")
    what = " and ".join(str(each.requirement) for each in answer.requirements)
    case = Xml.SubElement(suite, "testcase", classname="satisfice.certify", name=plain(what))
    if failed:
        why = Xml.SubElement(case, "failure", type=answer.verdict, message=plain(answer.summary))
        why.text = plain(str(answer), keep="\n")
    else:
        Xml.SubElement(case, "system-out").text = plain(str(answer), keep="\n")
    suites = Xml.Element("testsuites")
    suites.append(suite)
    return Xml.tostring(suites, encoding="utf-8", xml_declaration=True) + b"\n"
