"""`satisfice status` and `satisfice report`: what a study knows, in words, as JSON, as a table or as a page."""

import argparse
import csv
import io
import json
import math
import os
import shlex
import shutil
import sys
import textwrap
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from satisfice.errors import BadInput
from satisfice.report.output import check_path, is_stream, write_file
from satisfice.search.answer import Answer

if TYPE_CHECKING:  # Optuna is slow to import, and --help should not be
    import optuna


STORAGE, NAME = "satisfice.db", "study"
STDOUT = Path("-")


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    status = commands.add_parser(
        "status",
        help="say what a study knows now",
        description="Say what a study knows now, also while it runs: the verdict, the best setting, the hope, the cost.",
        epilog="example: satisfice status --csv evaluations.csv",
        allow_abbrev=False,
    )
    add_place(status)
    status.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    status.add_argument(
        "--csv",
        metavar="FILE",
        type=Path,
        help="write all evaluations to this file as well; - prints them and nothing else",
    )
    status.set_defaults(command=_status)
    report = commands.add_parser(
        "report",
        help="write a study's report, one HTML file",
        description="Write a study's report, one HTML file that needs nothing else: verdict, plots, evaluations.",
        epilog="example: satisfice report --out report.html",
        allow_abbrev=False,
    )
    add_place(report)
    report.add_argument("--out", metavar="FILE", type=Path, default=Path("report.html"), help="(default: report.html)")
    report.set_defaults(command=_report)


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which study is meant."""
    parser.add_argument(
        "--storage",
        metavar="PATH|URL",
        default=STORAGE,
        help=f"an SQLite file or a database's URL (default: {STORAGE})",
    )
    parser.add_argument("--name", default=NAME, help=f"the name of the study (default: {NAME})")


def stored_study(storage: str, name: str) -> "optuna.Study":
    """The study, if it exists; BadInput where there is none."""
    import optuna

    from satisfice.study.storage import open_storage

    if "://" not in storage and not os.path.lexists(storage):
        raise BadInput(f"storage: there is no file {storage}; `satisfice find` makes one, or name another by --storage")
    opened = open_storage(storage)
    names = optuna.get_all_study_names(opened)
    if name not in names:
        there = ", ".join(repr(each)[:60] for each in names[:10]) or "none at all"
        raise BadInput(f"name: there is no study {name!r:.80}; there is {there}")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.load_study(study_name=name, storage=opened)


def _status(given: argparse.Namespace) -> int:
    """Print what the study knows."""
    from satisfice.report.text import goal
    from satisfice.study.snapshot import begun, snapshot

    check_output(given)
    study = stored_study(given.storage, given.name)
    if given.csv is not None:
        write_csv(study, given.csv)
    if given.csv == STDOUT:
        return 0
    seen = begun(study) or snapshot(study)
    running = sum(each.state == "running" for each in seen.evaluations)
    target = None if seen.config is None else seen.config.target
    if given.json:
        print(as_json(seen.answer, name=given.name, target=target, running=running))
        return 0
    said = "not known yet: the search is just starting" if seen.config is None else goal(seen.config)
    print(lines(seen.answer, [("target", said), *([("running", f"{running}")] if running else [])]))
    return 0


def _report(given: argparse.Namespace) -> int:
    """Write the report."""
    from satisfice.report import page
    from satisfice.study.snapshot import begun, snapshot

    check_output(given)
    study = stored_study(given.storage, given.name)
    early = begun(study)
    if early is not None and early.space is None:
        raise BadInput(
            f"study {given.name!r:.80} has no evaluation yet, so there is nothing to report; see `satisfice status`"
        )
    path = page.write(snapshot(study), given.out)
    print(plain(f"the report is {path}"), file=sys.stderr if is_stream(path) else sys.stdout)
    return 0


def lines(answer: Answer, extra: list[tuple[str, str]]) -> str:
    """The answer's lines and some more, in two columns; in a terminal long texts go on below their beginning."""
    said = [*answer.lines, *extra]
    width = max(len(what) for what, _ in said)
    room = max(shutil.get_terminal_size().columns - width - 2, 20) if sys.stdout.isatty() else sys.maxsize
    rows = []
    for what, text in said:
        parts = [plain(text)] if what == "command" else textwrap.wrap(plain(text), room, break_on_hyphens=False) or [""]
        rows += [f"{what:<{width}}  {parts[0]}", *(" " * (width + 2) + part for part in parts[1:])]
    return "\n".join(rows)


def plain(text: object, keep: str = "") -> str:
    """A text in which nothing can steer the terminal."""
    steering = ("Cc", "Cf", "Cs")
    return "".join(
        "\ufffd" if unicodedata.category(each) in steering and each not in keep else each for each in str(text)
    )


def as_json(answer: Answer, **more: Any) -> str:
    """The answer as one JSON object; what is not finite is null."""
    certificate = answer.certificate
    said = {
        "verdict": answer.verdict,
        "params": answer.params,
        "value": answer.value,
        "interval": answer.interval,
        "probability": answer.probability,
        "hope": answer.hope,
        "evaluations": answer.evaluations,
        "failures": answer.failures,
        "certificate": None if certificate is None else dict(vars(certificate)),
        "repeats": answer.repeats,
        "needed": answer.needed,
        "notes": answer.notes,
        **more,
    }
    return json.dumps(_finite(said), allow_nan=False)


def _finite(value: Any) -> Any:
    """The same, with None for every number that JSON does not have, and Python's own numbers for numpy's."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_output(given: argparse.Namespace) -> None:
    """BadInput where two things were wanted on the standard output, or where a file cannot be written."""
    options = vars(given)
    if options.get("json") and options.get("csv") == STDOUT:
        raise BadInput("--csv -: the table came for the standard output, and so did --json; one of them was wanted")
    for name in ("csv", "out"):
        path = options.get(name)
        if path is not None and (name, path) != ("csv", STDOUT):
            try:
                check_path(path, _databases(given.storage))
            except BadInput as problem:
                raise BadInput(f"--{name}: {problem}") from None


def _databases(storage: str) -> list[Path]:
    """The SQLite file that a storage names, if it names one."""
    if "://" not in storage:
        return [Path(storage)]
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(storage)
    except (ArgumentError, ValueError):  # opening it will say so
        return []
    if url.get_backend_name() != "sqlite" or not url.database:
        return []
    return [Path(url.database.removeprefix("file:"))]


def write_csv(study: "optuna.Study", path: Path) -> None:
    """Write all evaluations to a file, or print them: numbers by repr, texts so that no spreadsheet runs them.

    No model is fitted for it.
    """
    from satisfice.study.snapshot import column_of, listing, parameter_names, row_of
    from satisfice.study.space import COLUMNS

    space, evaluations = listing(study)
    names = parameter_names(space, evaluations)
    columns = ["number", *map(column_of, names), *COLUMNS[1:]]
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(map(_cell, columns))
    for each in evaluations:
        row = row_of(each, names)
        table.writerow([_cell(row[column]) for column in columns])
    if path == STDOUT:
        print(plain(text.getvalue(), keep="\n\t"), end="")
    else:
        write_file(path, text.getvalue().encode(errors="replace"))


def _cell(value: Any) -> str:
    from satisfice.study.warm_start import FORMULA  # what is exported can be imported again

    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.lstrip("'").startswith(FORMULA) else value
    return repr(value)


def same_place(given: argparse.Namespace, command: str) -> str:
    """A command line on the same study, without a password."""
    words = ["satisfice", command]
    if given.storage != STORAGE:
        words += ["--storage", hidden(given.storage)]
    if given.name != NAME:
        words += ["--name", given.name]
    return plain(shlex.join(words))


def hidden(storage: str) -> str:
    """The storage as it may be shown: a URL without its password."""
    if "://" not in storage:
        return storage
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    from satisfice.study.retrying_storage import shown

    try:
        return shown(make_url(storage))
    except (ArgumentError, ValueError):
        return storage.split("://")[0] + "://..."
