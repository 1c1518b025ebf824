"""The `published` variant beside what the authors' own notebooks show: success on noisy Keane, and lenient regrets.

The authors' figures are facts read from the results that come with their code. The runs of a trial share their starting points,
so standard errors come from the spread over the trials.
"""

from pathlib import Path

import numpy as np

from satisfice.experiments import lenient
from satisfice.experiments.curves import load, record_file, success_by_trial
from satisfice.experiments.paper import panels
from satisfice.experiments.records import Records
from satisfice.experiments.spec import Panel
from satisfice.types import Array

EVERY = 20  # evaluations between the figures
TRIALS = 25  # of the authors
NOISY_KEANE = {
    "pg": (0.10, 0.25, 0.54, 0.76, 0.83, 0.91, 0.93, 0.95, 0.94, 0.96),
    "eg": (0.01, 0.02, 0.08, 0.06, 0.08, 0.16, 0.28, 0.62, 0.79, 0.92),
    "gs": (0.09, 0.06, 0.05, 0.03, 0.10, 0.18, 0.35, 0.61, 0.77, 0.90),
    "ei": (0.16, 0.07, 0.08, 0.10, 0.16, 0.30, 0.50, 0.77, 0.78, 0.88),
    "ucb": (0.12, 0.06, 0.05, 0.04, 0.05, 0.13, 0.26, 0.56, 0.84, 0.88),
    "pi": (0.02, 0.06, 0.06, 0.07, 0.14, 0.26, 0.43, 0.55, 0.68, 0.79),
    "mes": (0.08, 0.11, 0.09, 0.22, 0.27, 0.41, 0.51, 0.69, 0.80, 0.87),
    "ts": (0.12, 0.08, 0.05, 0.10, 0.15, 0.22, 0.42, 0.65, 0.78, 0.90),
}
ROUNDS = (100, 200, 300, 400, 600, 690)
LENIENT = {  # standard and indicator regret
    "ucb": ((156, 309, 462, 584, 674, 716), (101, 200, 299, 374, 402, 417)),
    "elimination": ((156, 310, 417, 454, 506, 530), (101, 200, 264, 272, 272, 272)),
}


def standard_errors(success: Array) -> Array:
    """Of the mean over the trials, from success fractions (trials, k); at least that of one run in the whole being another."""
    trials = len(success)
    spread = success.std(axis=0, ddof=1) if trials > 1 else np.full(success.shape[1], np.nan)
    return np.asarray(np.maximum(spread / np.sqrt(trials), 1 / (10 * trials)))


def z_scores(success: Array, theirs: tuple[float, ...]) -> Array:
    """(ours - theirs) / its standard error (k,): the same spread over the trials is taken for theirs."""
    ours = success.mean(axis=0)
    error = standard_errors(success)
    return np.asarray((ours - np.array(theirs)) / (error * np.sqrt(1 + len(success) / TRIALS)))


def sampled(out: Path, panel: Panel) -> dict[str, Array]:
    """The success fractions (trials, k) of the published variant at every 20 evaluations, by rule."""
    found = load(out, "published", panel)
    return {rule: success_by_trial(records, panel)[:, EVERY - 1 :: EVERY] for rule, records in found.items()}


def agreement(out: Path) -> str:
    """The comparison in words and tables; empty where there are no runs of the published variant."""
    parts = [_keane(out), _robot(out), _lenient(out)]
    if not any(parts):
        return ""
    head = [
        "## What made the paper's figures\n",
        "The published code differs from the text; `--as published` repeats it.\n",
    ]
    return "\n".join([*head, *(part for part in parts if part)])


def _keane(out: Path) -> str:
    panel = next(panel for panel in panels("noisy") if panel.problem == "keane-published")
    curves = {
        rule: success for rule, success in sampled(out, panel).items() if rule in NOISY_KEANE and len(success) > 1
    }
    if not curves:
        return ""
    scores = {rule: z_scores(success, NOISY_KEANE[rule]) for rule, success in curves.items()}
    every = np.abs(np.concatenate(list(scores.values())))
    trials = min(len(success) for success in curves.values())
    lines = [
        f"Noisy Keane, eta = 0.85, success of the recommended point, ours / the authors' (z), at least {trials} trials of ours: "
        f"of {len(every)} comparisons {(every > 2).sum()} have |z| > 2, and the largest is {every.max():.1f}.\n",
        _head("rule", [str(EVERY * (k + 1)) for k in range(10)]),
    ]
    for rule, success in curves.items():
        cells = [
            f"{ours:.2f} / {theirs:.2f} ({z:+.1f})"
            for ours, theirs, z in zip(success.mean(axis=0), NOISY_KEANE[rule], scores[rule], strict=True)
        ]
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _robot(out: Path) -> str:
    panel = next(panel for panel in panels("real") if panel.problem == "robot4")
    curves = {rule: success for rule, success in sampled(out, panel).items() if len(success) > 1}
    if not curves:
        return ""
    trials = min(len(success) for success in curves.values())
    lines = [
        f"The same code on robot4, eta = 4.75: success fraction and its standard error over {trials} trials or more.\n",
        _head("rule", [str(EVERY * (k + 1)) for k in range(10)]),
    ]
    for rule, success in curves.items():
        cells = [f"{m:.2f} ± {e:.2f}" for m, e in zip(success.mean(axis=0), standard_errors(success), strict=True)]
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _lenient(out: Path) -> str:
    records = list(Records(record_file(out, "published", "gp2d-published")))
    if not records:
        return ""
    curves = lenient.curves_of(records, "gp2d-published")
    lines = [
        f"Lenient regret on the published gp2d, mean of {len(curves['ucb'].standard)} runs of ours / of 5 runs of the authors'. "
        "Five runs share their starting points, and such groups differ widely.\n",
        _head("rule, regret", [str(t) for t in ROUNDS]),
    ]
    for rule, theirs in LENIENT.items():
        for name, values, known in zip(
            ("standard", "indicator"), (curves[rule].standard, curves[rule].indicator), theirs, strict=True
        ):
            ours = values.mean(axis=0)[[t - 1 for t in ROUNDS]]
            cells = [f"{mine:.0f} / {their} ({mine / their - 1:+.0%})" for mine, their in zip(ours, known, strict=True)]
            lines.append(f"| {rule}, {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _head(first: str, columns: list[str]) -> str:
    return f"| {first} | " + " | ".join(columns) + " |\n" + "|---" * (len(columns) + 1) + "|"
