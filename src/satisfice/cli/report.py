"""`satisfice report`: a study as an HTML page."""

import sys
from pathlib import Path

import rich_click as click

from satisfice.cli.options import FILE, command, study_options
from satisfice.cli.output import check_output
from satisfice.cli.studies import ARGUMENTS, stored_study
from satisfice.errors import BadInput
from satisfice.plaintext import plain


@command()
@study_options
@click.option(
    "--out", type=FILE, default="report.html", show_default=True, metavar="FILE", help="Where to write the page."
)
def report(storage: str, name: str, out: Path) -> int:
    """Write a study's report.

    One self-contained HTML file with the verdict, plots and all evaluations.

    Example
    -------
    satisfice report --out report.html
    """
    from satisfice.report import page
    from satisfice.report.files import is_stream
    from satisfice.report.gate import write_gate
    from satisfice.study.gate_replay import gate_answer_of
    from satisfice.study.snapshot import begun, snapshot

    check_output(storage, out=out)
    study = stored_study(storage, name)
    gate = gate_answer_of(study)
    if gate is not None:
        path = write_gate(gate, out, name)
        print(plain(f"the report is {path}"), file=sys.stderr if is_stream(path) else sys.stdout)
        return 0
    early = begun(study)
    if early is not None and early.space is None:
        raise BadInput(
            f"Study {name!r:.80} has no evaluations yet, so there is nothing to report. Try `satisfice status`."
        )
    path = page.write(snapshot(study), out, study.user_attrs.get(ARGUMENTS))
    print(plain(f"the report is {path}"), file=sys.stderr if is_stream(path) else sys.stdout)
    return 0
