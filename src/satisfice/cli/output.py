"""What the commands print or write: the answer in columns or as JSON, the evaluations as a table."""

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from satisfice.errors import BadInput
from satisfice.numerals import finite
from satisfice.plaintext import plain

if TYPE_CHECKING:
    import optuna

    from satisfice.search.answer import Answer, RequirementAnswer
    from satisfice.search.gate_answer import CertifyAnswer

STDOUT = Path("-")


def columns(rows: list[tuple[str, str]]) -> str:
    """Return the rows in two columns; a terminal gets long texts wrapped, but no command, so that it can be copied.

    Parameters
    ----------
    rows
        Pairs of a label and a text.

    Returns
    -------
    str
        The lines.
    """
    width = max(len(what) for what, _ in rows)
    room = max(shutil.get_terminal_size().columns - width - 2, 20) if sys.stdout.isatty() else sys.maxsize
    lines = []
    for what, text in rows:
        parts = [plain(text)] if what == "command" else textwrap.wrap(plain(text), room, break_on_hyphens=False) or [""]
        lines += [f"{what:<{width}}  {parts[0]}", *(" " * (width + 2) + part for part in parts[1:])]
    return "\n".join(lines)


def answer_json(answer: "Answer", **more: Any) -> str:
    """Return the answer as one JSON object; numbers that are not finite are null.

    Parameters
    ----------
    answer
        The answer.
    **more
        Further entries.

    Returns
    -------
    str
        The JSON text.
    """
    names = ("verdict", "params", "value", "interval", "probability", "hope", "evaluations", "failures", "certificate", "repeats",
             "notes")  # fmt: skip
    said = {name: getattr(answer, name) for name in names}
    if answer.certificate is not None:
        said["certificate"] = dict(vars(answer.certificate))
    if answer.requirements:
        said["requirements"] = [_requirement(each) for each in answer.requirements]
        said["conflicts"] = answer.conflicts
    if answer.preference is not None:
        said["preference"] = {**vars(answer.preference), "saving": answer.preference.saving}
    return finite_json(said | more)


def gate_json(answer: "CertifyAnswer", **more: Any) -> str:
    """Return the answer as one JSON object; numbers that are not finite are null.

    Parameters
    ----------
    answer
        The answer.
    **more
        Further entries.

    Returns
    -------
    str
        The JSON text.
    """
    names = ("verdict", "value", "interval", "evaluations", "failures", "needed", "confidence", "certificate", "notes")
    parts = []
    for each in answer.requirements:
        own = ("verdict", "value", "interval", "passed", "values", "guarantee", "needed")
        parts.append({"requirement": str(each.requirement), **{name: getattr(each, name) for name in own}})
    said = {name: getattr(answer, name) for name in names}
    return finite_json(said | {"requirements": parts, "summary": answer.summary} | more)


def _requirement(each: "RequirementAnswer") -> dict[str, Any]:
    """A requirement and what is known of it, for JSON."""
    certificate = None if each.certificate is None else dict(vars(each.certificate))
    names = ("value", "interval", "probability", "critical", "hope")
    return {
        "name": each.requirement.name,
        "requirement": str(each.requirement),
        **{name: getattr(each, name) for name in names},
        "certificate": certificate,
    }


def target_json(target: Any) -> Any:
    """The target for JSON: a number, or requirements as texts."""
    return [str(each) for each in target] if hasattr(target, "names") else target


def grid(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table with a header, its columns aligned.

    Parameters
    ----------
    names
        The header.
    rows
        The cells; real numbers are shown with six digits.

    Returns
    -------
    str
        The lines.
    """
    texts = [list(map(plain, names))]
    texts += [[f"{each:.6g}" if isinstance(each, float) else plain(each) for each in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in texts)


def finite_json(value: object) -> str:
    """Return the value as a JSON text; numbers that are not finite are null.

    Parameters
    ----------
    value
        Dicts, lists, texts and numbers, numpy's as well.

    Returns
    -------
    str
        The text.
    """
    return json.dumps(finite(value), allow_nan=False)


def check_output(storage: str, *, csv: Path | None = None, out: Path | None = None, as_json: bool = False) -> None:
    """Raise `BadInput` if two outputs claim the standard output, or if a file cannot be written.

    Parameters
    ----------
    storage
        The storage of the study, which must not be overwritten.
    csv, out
        Where a table and a report will be written.
    as_json
        Whether JSON will be printed.
    """
    from satisfice.cli.studies import database_files
    from satisfice.report.files import check_path

    if as_json and csv == STDOUT:
        raise BadInput("`--csv -` and `--json` both print to the standard output; use one of them.")
    for option, path in (("--csv", csv), ("--out", out)):
        if path is not None and (option, path) != ("--csv", STDOUT):
            try:
                check_path(path, database_files(storage))
            except BadInput as problem:
                raise BadInput(f"{option}: {problem}") from None


def write_csv(study: "optuna.Study", path: Path) -> None:
    """Write all evaluations to a file, or print them; no model is fitted.

    Numbers are written by `repr`, so that they can be read back exactly, and texts so that no spreadsheet runs them.

    Parameters
    ----------
    study
        The study.
    path
        The file; `STDOUT` prints the table.
    """
    from satisfice.report.files import write_file
    from satisfice.study.sheet import table_text

    text = table_text(study)
    if path == STDOUT:
        print(plain(text, keep="\n\t"), end="")
    else:
        write_file(path, text.encode(errors="replace"))
