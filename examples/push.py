"""Find a push that brings a disc within 0.25 of its goal: once without noise, and once with, where luck must be ruled out.

    make demo

A simulated hand starts at (x, y) and pushes for some time towards the origin, where the disc lies (Box2D). The value is 5
minus the final distance of the disc from its goal, so the target is 4.75. The second search sees every value with noise, and
its answer comes with a certificate. Both studies are kept in out/demo.db, and the report of the second one is written to
out/report.html.
"""

from pathlib import Path
from typing import Any

from numpy.random import default_rng
from rich.console import Console
from rich.panel import Panel

from satisfice import find, write_report
from satisfice.paper.problems import PROBLEMS

PUSH = PROBLEMS["robot3"]
SPACE = {"x": (-5.0, 5.0), "y": (-5.0, 5.0), "time": (1.0, 30.0)}
TARGET, NOISE = 4.75, 0.1
OUT = Path("out")


def distance_from_goal(params: dict[str, Any]) -> float:
    """The true final distance of the disc from its goal."""
    return 5 - PUSH.value([params["x"], params["y"], params["time"]])


def main() -> None:
    """Run both searches and write the report."""
    console = Console()
    OUT.mkdir(exist_ok=True)
    database = OUT / "demo.db"
    database.unlink(missing_ok=True)
    rng = default_rng(0)

    def exact(params: dict[str, Any]) -> float:
        return 5 - distance_from_goal(params)

    def measured(params: dict[str, Any]) -> float:
        return 5 - distance_from_goal(params) + NOISE * rng.standard_normal()

    console.print("A push that brings the disc within 0.25 of its goal: a value of at least [bold]4.75[/].\n")
    first = find(exact, SPACE, TARGET, noise=0, storage=database, name="without noise", seed=1)
    console.print(Panel(str(first), title="without noise"))
    second = find(measured, SPACE, TARGET, budget=300, storage=database, name="with noise", seed=1)
    console.print(Panel(str(second), title=f"each value with noise of standard deviation {NOISE}"))
    if second.params is not None:
        console.print(f"The disc really ends {distance_from_goal(second.params):.3f} from its goal.")
    report = write_report(second, OUT / "report.html")
    console.print(
        f"The report is {report}. To see a study again: .venv/bin/satisfice status --storage {database} --name 'with noise'"
    )


if __name__ == "__main__":
    main()
