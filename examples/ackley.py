"""Find a good action of the 6-dimensional Ackley function, with a progress bar and a picture of the run.

    make demo

The target is the value that one uniform action in a hundred reaches, and the optimum is moved out of the centre of the box, where
a lucky first guess would find it.
"""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from satisfice import Box, Search
from satisfice.problems import PROBLEMS
from satisfice.types import Array

BUDGET = 200
SHIFT = np.array([11.0, -7.0, 3.5, -13.0, 8.0, -2.5])
PICTURE = Path("out/demo.png")


def ackley(x: Array) -> float:
    """The negated Ackley function around `SHIFT`; its maximum is 0."""
    return PROBLEMS["ackley"].value(x - SHIFT)


def main() -> None:
    """Search, show the progress, draw the picture, say what was found."""
    console = Console()
    box = Box([(-32.768, 32.768)] * 6)
    target = float(np.quantile([ackley(x) for x in box.from_unit(box.uniform(10_000, np.random.default_rng(0)))], 0.99))
    console.print(f"Ackley in 6 dimensions: looking for a value of at least [bold]{target:.2f}[/] (1 in 100 has it)")
    search = Search(box, target, noise=0, seed=1)
    values: list[float] = []
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=BUDGET)
        while len(values) < BUDGET and search.answer().verdict == "open":
            x = search.ask()
            values.append(ackley(x))
            search.tell(x, values[-1])
            progress.update(task, advance=1, description=f"best {max(values):.2f}, target {target:.2f}")
    answer = search.answer()
    draw(values, target)
    style = "green" if answer.verdict == "good" else "yellow"
    console.print(
        f"[bold {style}]{answer.verdict}[/] after {answer.evaluations} evaluations: value {answer.value:.2f} at"
    )
    console.print(f"  {np.round(answer.point, 2) if answer.point is not None else '-'}")
    console.print(f"The picture of the run is {PICTURE}")


def draw(values: list[float], target: float) -> None:
    """Every value, the best so far and the target, over the number of evaluations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    steps = np.arange(1, len(values) + 1)
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    good = np.array(values) >= target
    axes.axhline(target, color="#009e73", linewidth=1.5, label="target")
    axes.step(steps, np.maximum.accumulate(values), where="post", color="#0072b2", label="best so far")
    axes.scatter(steps[~good], np.array(values)[~good], s=14, color="#7f7f7f", label="evaluation")
    axes.scatter(steps[good], np.array(values)[good], s=90, marker="*", color="#d55e00", zorder=3, label="good")
    axes.set(xlabel="evaluation", ylabel="value", title="Ackley, 6 dimensions: until the first good action")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", frameon=False, ncols=4)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    main()
