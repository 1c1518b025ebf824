"""The `published` variant beside what the authors' own notebooks show.

The runs of a trial share their starting points, so standard errors come from the spread over the trials.
"""

from pathlib import Path

import numpy as np

from satisfice.paper.experiments import authors, lenient
from satisfice.paper.experiments.curves import load, record_file, success_by_trial
from satisfice.paper.experiments.paper import panels
from satisfice.paper.experiments.records import Records
from satisfice.paper.experiments.spec import Panel
from satisfice.paper.experiments.text import paragraph, table
from satisfice.types import Array

SHOWN = {"noisy": "keane-published", "real": "robot4"}  # the panels of which the authors' curves are known, by figure


def standard_errors(success: Array) -> Array:
    """Of the mean over the trials, from success fractions (trials, k); at least that of one run in the whole being another."""
    trials = len(success)
    spread = success.std(axis=0, ddof=1) if trials > 1 else np.full(success.shape[1], np.nan)
    return np.asarray(np.maximum(spread / np.sqrt(trials), 1 / (10 * trials)))


def z_scores(success: Array, theirs: tuple[float, ...]) -> Array:
    """(ours - theirs) / its standard error (k,): the same spread over the trials is taken for theirs."""
    ours = success.mean(axis=0)
    error = standard_errors(success)
    return np.asarray((ours - np.array(theirs)) / (error * np.sqrt(1 + len(success) / authors.TRIALS)))


def sampled(out: Path, panel: Panel) -> dict[str, Array]:
    """The success fractions (trials, k) of the published variant at every 20 evaluations, by rule."""
    found = load(out, "published", panel)
    return {
        rule: success_by_trial(records, panel)[:, authors.EVERY - 1 :: authors.EVERY] for rule, records in found.items()
    }


def agreement(out: Path) -> str:
    """The comparison in words and tables; empty where there are no runs of the published variant."""
    parts = [*(_success(out, name, problem) for name, problem in SHOWN.items()), _lenient(out)]
    if not any(parts):
        return ""
    head = [
        "## The published code beside the authors' figures\n",
        "The published code differs from the text ([how](paper.md)); `--as published` repeats what it does.\n",
    ]
    return "\n".join([*head, *(part for part in parts if part)])


def _success(out: Path, name: str, problem: str) -> str:
    panel = next(panel for panel in panels(name, "published") if panel.problem == problem)
    theirs = authors.SUCCESS[panel.problem, panel.label, panel.noise]
    curves = {rule: ours for rule, ours in sampled(out, panel).items() if rule in theirs and len(ours) > 1}
    if not curves:
        return ""
    scores = {rule: z_scores(ours, theirs[rule]) for rule, ours in curves.items()}
    every = np.abs(np.concatenate(list(scores.values())))
    trials = min(len(ours) for ours in curves.values())
    rows = [
        [
            rule,
            *(
                f"{mine:.2f} / {their:.2f} ({z:+.1f})"
                for mine, their, z in zip(ours.mean(axis=0), theirs[rule], scores[rule], strict=True)
            ),
        ]
        for rule, ours in curves.items()
    ]
    said = paragraph(f"""
        {"Noisy " if panel.noise else ""}{panel.problem}, {panel.label}: success fraction, ours / the authors' (z), after so many
        evaluations; {trials} or more trials of ours, {authors.TRIALS} of theirs. Of {len(every)} comparisons
        {np.sum(every > 2)} have |z| > 2 (a normal z would in {0.0455 * len(every):.0f}); the largest is
        {every.max():.1f}.
    """)
    return said + "\n" + table(["rule", *(str(authors.EVERY * (k + 1)) for k in range(10))], rows)


def _lenient(out: Path) -> str:
    records = list(Records(record_file(out, "published", "gp2d-published")))
    curves = lenient.curves_of(records, "gp2d-published")
    if not curves:
        return ""
    rows = []
    for rule, theirs in authors.LENIENT.items():
        for name, known in zip(("standard", "indicator"), theirs, strict=True):
            ours = getattr(curves[rule], name).mean(axis=0)[[t - 1 for t in authors.ROUNDS]]
            cells = [f"{mine:.0f} / {their} ({mine / their - 1:+.0%})" for mine, their in zip(ours, known, strict=True)]
            rows.append([f"{rule}, {name}", *cells])
    said = paragraph(f"""
        Lenient regret on the published gp2d after so many rounds, mean of {len(curves["ucb"].standard)} runs of ours / of 5 runs
        of the authors'. Five runs share their starting points, and such groups differ widely.
    """)
    return said + "\n" + table(["rule, regret", *map(str, authors.ROUNDS)], rows)
