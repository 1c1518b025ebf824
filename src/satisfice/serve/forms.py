"""What people write into the forms: read whole or not at all, with a message for each field that cannot be used."""

import csv
import io
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from satisfice.domain.parameters import Parameter
from satisfice.domain.shorthand import categorical, range_of
from satisfice.errors import BadInput
from satisfice.numerals import read_number
from satisfice.search.specification import Requirement
from satisfice.study.corrections import NOT_GIVEN, Correction, told_value
from satisfice.study.sheet import DELIMITERS, result_columns
from satisfice.study.stored import StoredSearch
from satisfice.study.values import result_of, stored_values

FIELDS = 5_000  # of a form
KINDS = ("number", "whole", "choices")
ENDS = {"failed": "failed", "cancelled": "cancelled", "waiting": "waiting"}  # outcomes without a value


class Wrong(Exception):
    """Fields that cannot be used: what is wrong, by the name of the field; "" is the form as a whole."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = dict(problems)


class Form:
    """The fields of a form that a browser has sent.

    Parameters
    ----------
    content
        The body of the request.
    """

    def __init__(self, content: bytes = b"") -> None:
        try:
            text = content.decode("ascii")
            found = parse_qs(text, keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
        except ValueError:
            raise Wrong({"": "The form cannot be read. Load the page again."}) from None
        if any("\0" in each for texts in found.values() for each in texts):
            raise Wrong({"": "The form holds a NUL character."})
        self._found = found

    def __getitem__(self, name: str) -> str:
        return self._found.get(name, [""])[0].strip()

    def all(self, name: str) -> list[str]:
        """Return the fields of that name, in order."""
        return [each.strip() for each in self._found.get(name, [])]

    def numbered(self, pattern: str) -> list[int]:
        """Return the numbers of the fields that have one, as in `outcome-3`."""
        found = (re.fullmatch(pattern, name) for name in self._found)
        return sorted({int(each[1]) for each in found if each})

    def number(self, name: str, what: str) -> float | None:
        """Return the number in a field, None if it is empty; Wrong for anything else."""
        return number(self[name], name, what)


def number(text: str, field: str, what: str) -> float | None:
    """Return the number that is written, None if nothing is; Wrong for anything else."""
    if not text:
        return None
    found = read_number(text)
    if found is None:
        hint = " Write a decimal point, no comma." if "," in text else ""
        raise Wrong({field: f"{what} must be a number; got {text!r:.60}.{hint}"})
    return found


def question(form: Form) -> dict[str, Any]:
    """Read the form of a new study.

    Parameters
    ----------
    form
        The form.

    Returns
    -------
    dict
        The arguments of `open_search`.

    Raises
    ------
    Wrong
        If a field cannot be used.
    """
    problems: dict[str, str] = {}
    found: dict[str, Any] = {"name": form["name"]}
    if not form["name"]:
        problems["name"] = "Give the study a name."
    reads: dict[str, Callable[[], Any]] = {
        "space": lambda: _space(form),
        "noise": lambda: _noise(form),
        "value_range": lambda: _range(form),
        "target": lambda: _target(form, found),
        "confidence": lambda: (form.number("confidence", "The confidence in percent") or 95.0) / 100,
        "history": lambda: table(form["earlier"]) if form["earlier"] else None,
    }
    for name, read in reads.items():
        try:
            found[name] = read()
        except Wrong as problem:
            problems.update(problem.problems)
        except BadInput as problem:
            problems[name] = str(problem)
    if problems:
        raise Wrong(problems)
    if len(found["target"]) > 1:  # each of them has its own side and noise
        del found["noise"], found["value_range"]
    else:
        (only,) = found["target"].values()
        found["target"], found["direction"] = only.threshold, "maximize" if only.sense == ">=" else "minimize"
    return found


def _space(form: Form) -> dict[str, Parameter]:
    space: dict[str, Parameter] = {}
    problems: dict[str, str] = {}
    columns = [form.all(f"p-{each}") for each in ("name", "kind", "low", "high", "step", "scale", "choices")]
    for row, cells in enumerate(zip(*columns, strict=False)):
        name, kind, *rest = cells
        if not name and not any(rest[:3]) and not rest[4]:
            continue  # a row that nobody filled in
        try:
            if not name:
                raise Wrong({f"p-{row}": "Give the parameter a name."})
            if name in space:
                raise Wrong({f"p-{row}": f"There is a parameter {name!r:.60} already."})
            space[name] = _parameter(name, kind, rest, f"p-{row}")
        except Wrong as problem:
            problems.update(problem.problems)
        except BadInput as problem:
            problems[f"p-{row}"] = str(problem).replace(f"`space[{name!r}]`", name)
    if problems:
        raise Wrong(problems)
    if not space:
        raise Wrong({"p-0": "Say what you can set: at least one parameter."})
    return space


def _parameter(name: str, kind: str, rest: list[str], field: str) -> Parameter:
    low_text, high_text, step_text, scale, choices = rest
    if kind not in KINDS:
        raise Wrong({field: "Choose a kind."})
    if kind == "choices":
        texts = [each.strip() for each in choices.split(",") if each.strip()]
        numbers = [read_number(each) for each in texts]
        return categorical(name, texts if None in numbers else numbers)
    low, high, step = (
        number(text, field, what)
        for text, what in ((low_text, "The lower end"), (high_text, "The upper end"), (step_text, "The step"))
    )
    if low is None or high is None:
        raise Wrong({field: f"Say from where to where {name} can be set."})
    if kind == "whole":
        if not all(isinstance(each, int) for each in (low, high, 1 if step is None else step)):
            raise Wrong({field: f"The ends of {name} must be whole numbers; choose another kind otherwise."})
    else:
        low, high, step = float(low), float(high), None if step is None else float(step)
    if scale == "log" and step is not None:
        raise Wrong({field: f"{name} can have a step or a logarithmic scale, not both."})
    return range_of(name, low, high, "log" if scale == "log" else step)


def _target(form: Form, found: Mapping[str, Any]) -> dict[str, Requirement]:
    """The requirements by their names; a single one needs no name."""
    texts, names, sides = form.all("target"), form.all("r-name"), form.all("side")
    rows = [row for row in zip(texts, names or [""] * len(texts), sides, strict=False) if row[0] or row[1]]
    noise, limits = found.get("noise"), found.get("value_range")
    if len(rows) > 1 and (noise or limits is not None):
        raise Wrong(
            {"target": "With several requirements, leave out the size of the noise and the range of the results."}
        )
    asked: dict[str, Requirement] = {}
    for text, name, side in rows or [("", "", "")]:
        if len(rows) > 1 and (not name or name in asked):
            raise Wrong({"target": "Each of several requirements needs a name of its own, such as yield."})
        value = _needed(
            number(text, "target", f"The target {name}".strip()), "target", "Say which value is good enough."
        )
        sense: Any = "<=" if side == "at most" else ">="
        asked[name] = Requirement(name or "value", sense, value, noise if len(rows) > 1 else None)
    return asked


def _noise(form: Form) -> float | None:
    if form["noise"] == "none":
        return 0.0
    if form["noise"] == "known":
        return _needed(
            form.number("noise-sd", "The noise"),
            "noise-sd",
            "Say by how much repeating an experiment moves the result.",
        )
    return None


def _range(form: Form) -> tuple[float, float] | None:
    low, high = form.number("range-low", "The smallest result"), form.number("range-high", "The largest result")
    if low is None and high is None:
        return None
    return (
        _needed(low, "range-low", "Give both ends of the range, or none."),
        _needed(high, "range-high", "Give both ends of the range, or none."),
    )


def _needed(value: float | None, field: str, text: str) -> float:
    if value is None:
        raise Wrong({field: text})
    return value


def table(text: str) -> list[dict[str, str]]:
    """Return the rows of a table that was pasted or read from a CSV file, by the names in its first row.

    Parameters
    ----------
    text
        The table, its cells separated by commas, semicolons or tabs.

    Returns
    -------
    list of dict
        The rows.

    Raises
    ------
    Wrong
        If it is none.
    """
    lines = text.removeprefix("\ufeff").strip().splitlines()
    delimiter = max(DELIMITERS, key=(lines or [""])[0].count)
    try:
        rows = [row for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter, strict=True) if any(row)]
    except csv.Error as problem:
        raise Wrong({"earlier": f"The table cannot be read: {problem}."}) from None
    if len(rows) < 2:
        raise Wrong(
            {"earlier": "The table must have a first row with the names of its columns, and a row for each experiment."}
        )
    names = [each.strip() for each in rows[0]]
    odd = next((k for k, row in enumerate(rows[1:], start=2) if len(row) != len(names)), None)
    if odd is not None:
        raise Wrong(
            {"earlier": f"Row {odd} has {len(rows[odd - 1])} cells, the first row {len(names)}. Write decimal points."}
        )
    return [dict(zip(names, (each.strip() for each in row), strict=True)) for row in rows[1:]]


def results(search: StoredSearch, form: Form, correct: bool = False) -> list[Correction]:
    """Read the results that were typed in, of all experiments in the form; nothing is told yet.

    Parameters
    ----------
    search
        The search that asked for the experiments.
    form
        Its fields are, for experiment 3, `result-3-0` (and -1, ... where an experiment gives several numbers), `outcome-3` and
        `why-3`.
    correct
        Whether they replace what was told before.

    Returns
    -------
    list of Correction
        What to tell.

    Raises
    ------
    Wrong
        If a field cannot be used.
    """
    problems: dict[str, str] = {}
    told = []
    for n in form.numbered(r"outcome-([0-9]{1,9})"):
        field = f"result-{n}-0"
        try:
            said = _result(search, form, n)
            if said is not None:
                search.judge(said, correct)
                told.append(said)
        except Wrong as problem:
            problems.update(problem.problems)
        except BadInput as problem:
            problems[field] = f"Experiment {n}: {str(problem).partition(' If the first one')[0]}"
    if problems:
        raise Wrong(problems)
    return told


def _result(search: StoredSearch, form: Form, n: int) -> Correction | None:
    outcome, why = form[f"outcome-{n}"], form[f"why-{n}"]
    columns = result_columns(search.config)
    texts = [form[f"result-{n}-{k}"] for k in range(len(columns))]
    if outcome in ENDS:
        if any(texts) and outcome != "waiting":
            raise Wrong({f"result-{n}-0": f"Experiment {n} has a result and is marked as {outcome}; choose one."})
        return Correction(n, ENDS[outcome], error=None if outcome == "waiting" else why or NOT_GIVEN)
    if not any(texts):
        return None
    specification = search.config.specification
    deferred = {each.name for each in specification or () if each.deferred}
    values = {}
    for k, (name, text) in enumerate(zip(columns, texts, strict=True)):
        field = f"result-{n}-{k}"
        value = number(text, field, f"The {name} of experiment {n}")
        if value is not None:
            values[name] = value
        elif name not in deferred:
            raise Wrong({field: f"Experiment {n}: the {name} is missing."})
    result = search.checked(values[columns[0]] if specification is None else values)
    search.check_deferred(n, result)
    return Correction(n, "complete", value=told_value(stored_values(search.config, result)))


def tell(search: StoredSearch, told: list[Correction], by: str, correct: bool = False) -> None:
    """Tell what `results` read."""
    for each in told:
        if each.state == "complete" and each.value is not None:
            values = each.value if isinstance(each.value, list) else [each.value]
            if (result := result_of(search.config, values)) is not None:
                search.tell(each.trial, result, correct=correct, by=by)
        elif each.state == "waiting":
            search.undo(each.trial, by=by)
        else:
            end = search.fail if each.state == "failed" else search.cancel
            end(each.trial, each.error or "", correct=correct, by=by)
