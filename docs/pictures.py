"""Draw the pictures of the concept pages, from real searches, into docs/images/concepts.

.venv/bin/python docs/concept_pictures.py
"""

import shutil
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from satisfice import Box, FixedModel, Search, Space
from satisfice.certificates.eprocess import LearnedNoise, level
from satisfice.certificates.gate import Course, Passes
from satisfice.gp.kernels import Stationary
from satisfice.report.scales import Linear
from satisfice.report.svg import Frame, svg, tag

OUT = Path(__file__).parent / "images" / "concepts"
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 10, "legend.frameon": False})


def save(figure, name):
    """Write one picture."""
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / f"{name}.png", dpi=130)
    plt.close(figure)


def verdicts():
    """Evidence from repeats: a setting that is good, one that is only just good, and one that is bad."""
    rng, target, noise, repeats = np.random.default_rng(4), 1.0, 0.5, 40
    figure, axes = plt.subplots(figsize=(7.4, 3.6), constrained_layout=True)
    settings = (
        (1.5, GREEN, "truly 1.5: good"),
        (1.2, BLUE, "truly 1.2: only just good"),
        (0.8, ORANGE, "truly 0.8: bad"),
    )
    for truth, colour, label in settings:
        for run in range(6):
            values = truth + noise * rng.standard_normal(repeats)
            evidence = [LearnedNoise().log_evidence(values[:m], target) for m in range(1, repeats + 1)]
            shown = label if run == 0 else None
            axes.plot(range(1, repeats + 1), evidence, color=colour, lw=1.1, alpha=0.75, label=shown)
    bar = -np.log(level(0.05, 1))
    axes.axhline(bar, color="black", ls="--", lw=1)
    axes.text(repeats, bar + 0.35, "certified: log(1 / level)", ha="right")
    axes.set(xlabel="fresh evaluations of the setting", ylabel="log of the evidence", ylim=(-4, 13), xlim=(1, repeats))
    axes.legend(loc="upper left")
    save(figure, "verdicts")


def certify():
    """Evidence that a flaky test passes in 95 % of its runs: twenty at exactly 95 %, and three at 99 %."""
    rng, target, runs, bar, lowest = np.random.default_rng(4), 0.95, 400, -np.log(0.05), -3.5
    frame = Frame(Linear(0.0, float(runs)), Linear(lowest, 4.0), 760.0, 330.0)
    marks = []
    for truth, count, colour, width in ((0.95, 20, GREY, 0.9), (0.99, 3, BLUE, 2.2)):
        for _ in range(count):
            course, path = Course(Passes(0.0, 1.0), target), [0.0]
            while len(path) <= runs and path[-1] < bar:
                path.append(course.add(float(rng.random() < truth)))
            steps = sorted({*range(0, len(path), 2), len(path) - 1})
            points = frame.line(steps, np.clip([path[step] for step in steps], lowest, 4.0))
            marks.append(tag("polyline", points=points, fill="none", stroke=colour, stroke_width=width, opacity=0.8))
    (left, y), (right, _) = frame.at(0, bar), frame.at(runs, bar)
    marks.append(tag("line", x1=left, x2=right, y1=y, y2=y, stroke="#222222", stroke_width=1.3, stroke_dasharray="6 4"))
    texts = (
        (0.99, bar + 0.25, "log(1 / 0.05): it is called good", "#222222", "end"),
        (0.99, -3.3, "twenty tests that pass in exactly 95 % of their runs", "#555555", "end"),
        (0.02, 3.55, "three that pass in 99 %", BLUE, "start"),
    )
    for share, value, said, colour, anchor in texts:
        x, y = frame.at(share * runs, value)
        marks.append(tag("text", said, x=x, y=y, fill=colour, text_anchor=anchor, font_size=13))
    style = tag(
        "style", "text{font-family:sans-serif;font-size:12px}.grid{stroke:#e6e6e6}.axis{stroke:#888}.tick{fill:#555}"
    )
    paper = tag("rect", width=760.0, height=330.0, fill="#ffffff")
    drawn = frame.picture(marks, "evidence over the runs", "runs", "log of the evidence")
    (OUT / "certify.svg").write_text(svg(760.0, 330.0, "evidence over the runs", [style, paper, drawn]) + "\n")


def spring(x):
    """At most 1, at (pi / 2, 0.6)."""
    return float(np.sin(x[0]) - (x[1] - 0.6) ** 2)


def hope():
    """Hope while a target within reach and one out of reach are searched for."""
    figure, axes = plt.subplots(figsize=(7.4, 3.4), constrained_layout=True)
    for target, colour in ((0.99, GREEN), (1.3, ORANGE)):
        search = Search(Box([(0.0, 3.0), (0.0, 1.0)]), target, noise=0, seed=1)
        found = []
        while (answer := search.answer()).verdict == "open" and answer.evaluations < 200:
            x = search.ask()
            search.tell(x, spring(x))
            found.append(search.answer().hope)
        verdict = search.answer().verdict
        axes.plot(range(1, len(found) + 1), found, "o-", ms=3.5, color=colour)
        (offset, side) = ((6, -3), "left") if verdict == "good" else ((-4, 12), "right")
        end, text = (len(found), found[-1]), f"target {target}: {verdict}"
        axes.annotate(text, end, xytext=offset, textcoords="offset points", color=colour, ha=side)
    axes.axhline(0.05, color="black", ls="--", lw=1)
    axes.text(1, 0.07, "1 - confidence")
    axes.set(xlabel="evaluations", ylabel="hope", ylim=(-0.03, 1.08))
    save(figure, "hope")


def wave(x):
    """A smooth function with three bumps."""
    return 0.9 * np.sin(7 * x) + 0.35 * np.cos(17 * x)


def models():
    """The same six values by three fixed kernels, and by the default mixture."""
    grid, told = np.linspace(0, 1, 400), np.array([0.05, 0.3, 0.42, 0.5, 0.66, 0.98])
    kernels = {
        "SE, length-scale 0.1": (Stationary("se", np.array([0.1])), BLUE),
        "SE, length-scale 0.3": (Stationary("se", np.array([0.3])), ORANGE),
        "Matérn-5/2, length-scale 0.1": (Stationary("matern52", np.array([0.1])), GREEN),
    }
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4), sharex=True, sharey=True, constrained_layout=True)
    for name, (kernel, colour) in kernels.items():
        mean, _ = predicted(FixedModel(kernel, lam=1e-6), told, grid)
        left.plot(grid, mean, color=colour, label=name)
    mean, std = predicted("auto", told, grid)
    right.fill_between(grid, mean - 2 * std, mean + 2 * std, color=GREY, alpha=0.25, lw=0)
    right.plot(grid, mean, color="black", label="posterior mean, ± 2 standard deviations")
    left.set(title="three kernels, each taken as known", xlabel="x", ylabel="value")
    right.set(title='model="auto": kernels weighted by evidence', xlabel="x")
    for axis in (left, right):
        axis.plot(told, wave(told), "ko", ms=4)
        axis.plot(grid, wave(grid), color="black", lw=1, ls=":", label="the function" if axis is right else None)
        axis.legend(loc="lower right", fontsize=8)
        axis.set(ylim=(-3, 2.4))
    save(figure, "models")


def predicted(model, told, grid):
    """Posterior mean and standard deviation over the grid after these values."""
    search = Search(Box([(0.0, 1.0)]), 1.0, model=model, noise=0)
    for x in told:
        search.tell([x], float(wave(x)))
    mean, std = search.predict(grid[:, None])
    return np.asarray(mean), np.asarray(std)


def rules():
    """What three rules make of one belief."""
    grid, told, target = np.linspace(0, 1, 600), np.array([0.05, 0.3, 0.5, 0.66, 0.98]), 1.0

    known = FixedModel(Stationary("se", np.array([0.1])), lam=1e-6)
    mean, std = predicted(known, told, grid)
    z = (mean - target) / np.maximum(std, 1e-9)
    scores = {
        "pg: the probability of reaching the target": (norm.cdf(z), BLUE),
        "eg: the expected excess over it": (std * (norm.pdf(z) + z * norm.cdf(z)), GREEN),
        "ucb: mean + 2 standard deviations": (mean + 2 * std, ORANGE),
    }
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.4, 4.8), sharex=True, constrained_layout=True)
    top.fill_between(grid, mean - 2 * std, mean + 2 * std, color=GREY, alpha=0.25, lw=0)
    top.plot(grid, mean, color="black", lw=1.2, label="posterior mean, ± 2 standard deviations")
    top.plot(told, wave(told), "ko", ms=4)
    top.axhline(target, color=GREEN, ls="--", lw=1, label="target")
    top.set(ylabel="value")
    top.legend(fontsize=8, loc="lower right")
    for name, (score, colour) in scores.items():
        shown = (score - score.min()) / (score.max() - score.min())
        bottom.plot(grid, shown, color=colour, label=name)
        for axis in (top, bottom):
            axis.axvline(grid[np.argmax(score)], color=colour, lw=1, ls=":")
    bottom.set(xlabel="x", ylabel="score, scaled to 0 to 1", ylim=(-0.03, 1.6))
    bottom.legend(fontsize=8, loc="upper left")
    save(figure, "rules")


def constraints():
    """The questions of a search inside a region, beside those of one that knows no constraints."""

    def hills(a, b):
        return np.exp(-8 * ((a - 0.75) ** 2 + (b - 0.8) ** 2)) + 0.9 * np.exp(-12 * ((a - 0.7) ** 2 + (b - 0.22) ** 2))

    def allowed(p):
        return (p["a"] - 0.3) ** 2 + (p["b"] - 0.3) ** 2 >= 0.03

    space = {"a": (0.0, 1.0), "b": (0.0, 1.0)}
    line = np.linspace(0, 1, 300)
    a, b = np.meshgrid(line, line)
    inside = (a + b <= 1) & ((a - 0.3) ** 2 + (b - 0.3) ** 2 >= 0.03)
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.1), sharex=True, sharey=True, constrained_layout=True)
    for axis, limits in zip(axes, (None, ["a + b <= 1", allowed]), strict=True):
        search = Search(Space.of(space, limits), 0.885, noise=0, seed=4)
        asked = []
        while search.answer().verdict == "open" and len(asked) < 40:
            params = search.ask()
            search.tell(params, float(hills(params["a"], params["b"])))
            asked.append((params["a"], params["b"]))
        answer = search.answer()
        axis.contour(a, b, hills(a, b), levels=np.linspace(0.1, 0.95, 8), colors=GREY, linewidths=0.5, alpha=0.7)
        axis.contourf(a, b, hills(a, b), levels=[0.885, 2], colors=[GREEN], alpha=0.25)
        if limits:
            axis.contourf(a, b, ~inside, levels=[0.5, 1.5], colors=["#c9c9c9"], alpha=0.75)
        axis.plot(*np.array(asked).T, "o", ms=4.5, color=BLUE, clip_on=False)
        axis.plot(answer.params["a"], answer.params["b"], "*", ms=15, color=ORANGE, mec="white", mew=0.8)
        axis.set(title="with constraints" if limits else "without", xlabel="a", aspect="equal")
    axes[0].set(ylabel="b")
    save(figure, "constraints")


def prefer():
    """The values of one search over what the settings cost, and the cost of the best certified one after each evaluation."""

    def strength(p):
        return 1.2 - 3 * (p["resin"] - 0.7) ** 2 - 2 * (p["cure"] / 60 - 0.6) ** 2

    space = Space.of({"resin": (0.0, 1.0), "cure": (5.0, 60.0)})
    search = Search(space, 1.0, prefer="9 resin + 0.05 cure", noise=0, seed=1)
    costs, values, best = [], [], []
    while len(costs) < 40 and not search.answer().done:
        params = search.ask()
        search.tell(params, strength(params))
        costs.append(9 * params["resin"] + 0.05 * params["cure"])
        values.append(strength(params))
        preference = search.answer().preference
        best.append(np.nan if preference is None else preference.cost)
    answer = search.answer()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.5), constrained_layout=True)
    good = np.array(values) >= 1
    left.axhspan(1.0, 1.25, color=GREEN, alpha=0.12, lw=0)
    left.plot(np.array(costs)[~good], np.array(values)[~good], "o", ms=4.5, mfc="white", color=GREY, label="not good")
    left.plot(np.array(costs)[good], np.array(values)[good], "o", ms=4.5, color=BLUE, label="good")
    left.plot(answer.preference.cost, answer.value, "*", ms=14, color=ORANGE, mec="white", label="the answer")
    left.set(xlabel="cost", ylabel="strength", ylim=(-0.6, 1.25))
    left.legend(loc="lower right", fontsize=8)
    right.step(range(1, len(best) + 1), best, where="post", color=ORANGE)
    right.set(xlabel="evaluations", ylabel="cost, of certified settings")
    save(figure, "prefer")


def requirements():
    """The two examples of several requirements: a recipe, and a model that must be accurate and small."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
    import recipe
    import small_model

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.8), constrained_layout=True)
    answer = recipe.search()
    chosen, rows = answer.params, [row for row in answer.table() if row["yield"] is not None]
    heat, acid = np.meshgrid(np.linspace(20, 100, 161), np.linspace(0, 0.4, 121))
    true = np.vectorize(lambda t, a: tuple(recipe.truth({**chosen, "temperature": t, "acid": a}).values()))(heat, acid)
    left.contourf(heat, acid, true[0] >= 80, levels=[0.5, 1.5], colors=[BLUE], alpha=0.18)
    left.contourf(heat, acid, true[1] <= 2, levels=[0.5, 1.5], colors=[GREEN], alpha=0.18)
    left.plot([row["temperature"] for row in rows], [row["acid"] for row in rows], "o", ms=4.5, mfc="white", color=GREY)
    left.plot(chosen["temperature"], chosen["acid"], "*", ms=14, color=ORANGE, mec="white")
    left.text(44, 0.11, "yield >= 80", color=BLUE)
    left.text(23, 0.36, "impurity <= 2", color=GREEN)
    left.set(xlabel="temperature", ylabel="acid", title="A recipe")
    answer = small_model.search()
    rows = [row for row in answer.table() if row["accuracy"] is not None]
    first, repeats = ([row for row in rows if (row["repeats"] is None) == new] for new in (True, False))
    right.axhspan(0.9, 1.0, color=BLUE, alpha=0.12, lw=0)
    right.axvspan(1, 900, color=GREEN, alpha=0.12, lw=0)
    for some, colour, label in ((first, GREY, "new setting"), (repeats, BLUE, "repeat")):
        places = [row["kilobytes"] for row in some], [row["accuracy"] for row in some]
        right.plot(*places, "o", ms=4.5, mfc="white", color=colour, label=label)
    best = {each.requirement.name: each.value for each in answer.requirements}
    right.plot(best["kilobytes"], best["accuracy"], "*", ms=14, color=ORANGE, mec="white", label="the answer")
    right.set(xscale="log", xlabel="kilobytes", ylabel="accuracy", xlim=(7, 1500), ylim=(0.3, 1.0), title="A model")
    right.legend(loc="lower right", fontsize=8)
    save(figure, "requirements")


def report():
    """The top of the report that `make demo` wrote, in few colours."""
    page_file = Path(__file__).parent.parent / "out" / "report.html"
    if not page_file.exists():
        return
    from PIL import Image
    from playwright.sync_api import sync_playwright

    path = OUT.parent / "report.png"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 1070}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.screenshot(path=path)
        browser.close()
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    verdicts()
    certify()
    hope()
    models()
    rules()
    constraints()
    prefer()
    requirements()
    report()
