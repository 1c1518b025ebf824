"""`satisfice status`: what a study knows now."""

from pathlib import Path

import rich_click as click

from satisfice.cli.options import FILE, command, json_option, study_options
from satisfice.cli.output import (
    STDOUT,
    answer_json,
    check_output,
    columns,
    gate_json,
    grid,
    target_json,
    write_csv,
)
from satisfice.cli.studies import stored_study
from satisfice.plaintext import plain


@command()
@study_options
@json_option
@click.option("--csv", "table", type=FILE, metavar="FILE", help="Also write all evaluations; - prints nothing else.")
def status(storage: str, name: str, as_json: bool, table: Path | None) -> int:
    """Show what a study knows now.

    The verdict, the best setting, the hope and the cost; also while the search runs.

    Example
    -------
    satisfice status --csv evaluations.csv
    """
    from satisfice.report.text import goal
    from satisfice.study.gate_replay import gate_answer_of
    from satisfice.study.snapshot import begun, snapshot

    check_output(storage, csv=table, as_json=as_json)
    study = stored_study(storage, name)
    if table is not None:
        write_csv(study, table)
    if table == STDOUT:
        return 0
    gate = gate_answer_of(study)
    if gate is not None:
        print(gate_json(gate, name=name) if as_json else columns(gate.lines))
        return 0
    seen = begun(study) or snapshot(study)
    states = [each.state for each in seen.evaluations]
    running = states.count("running")
    waiting = [each for each in seen.evaluations if each.state == "waiting"]
    if as_json:
        config, asked = seen.config, [{"number": each.number, "params": each.params} for each in waiting]
        print(
            answer_json(
                seen.answer, name=name, target=config and target_json(config.target), running=running, waiting=asked
            )
        )
        return 0
    target = "not known yet: the search is just starting" if seen.config is None else goal(seen.config)
    print(columns([*seen.answer.lines, ("target", target), *([("running", f"{running}")] if running else [])]))
    failure = getattr(seen.answer, "first_failure", None)
    if failure is not None:
        print("\nthe first evaluation that failed:", plain(failure, keep="\n\t"))
    if waiting:
        print(f"\nwaiting for a result: {len(waiting)}")
        print(grid(["number", *waiting[0].params], [[each.number, *each.params.values()] for each in waiting]))
    return 0
