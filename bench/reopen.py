"""The cost of a stored study of n trials: the first and the next suggestion after reopening it, `status`, `report` and `--csv`.

Each figure is the CPU seconds and peak memory of a process of its own, without imports. The trials of `--kind own` were asked by our sampler,
those of `foreign` by another one, with ranges known only from the trials; `noisy` is `own` with noise.

    python bench/reopen.py                       # the table, for 200, 1,000, 3,000 and 20,000 trials
    python bench/reopen.py --n 1000 --d 4 --kind foreign
"""

import argparse
import contextlib
import io
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import optuna
import scipy.stats.qmc  # noqa: F401  loaded by a suggestion; not to be timed
from numpy.random import default_rng

SIZES = ((200, 4), (1000, 4), (3000, 4), (20_000, 14))  # trials and parameters
JOBS = ("ask", "status", "report", "csv")
FLOAT = {"name": "FloatDistribution", "attributes": {"step": None, "low": 0.0, "high": 1.0, "log": False}}


def make(path: Path, n: int, d: int, kind: str) -> None:
    """Write a study of n finished trials, none of them good, directly into the database."""
    from satisfice.domain.space import Space
    from satisfice.study.config import StudyConfig
    from satisfice.study.workers.storage import open_study

    rng = default_rng(0)
    X = rng.random((n, d))
    y = -((X - 0.35) ** 2).sum(axis=1) - 0.3 * np.abs(np.sin(5 * X)).sum(axis=1) - 0.01
    if kind == "noisy":
        y += 0.3 * rng.standard_normal(n)
    names = [f"p{j}" for j in range(d)]
    space = None if kind == "foreign" else Space.of(dict.fromkeys(names, (0.0, 1.0)))
    study = open_study("study", path, direction="maximize")
    StudyConfig(0.5, noise="learn" if kind == "noisy" else 0, space=space, budget=10 * n, seed=1).store(study)
    asked = [json.dumps(json.dumps({"x": x.tolist(), "repeats": None, "hope": 1.0})) for x in X]
    numbered = range(1, n + 1)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        at = ("2026-01-01 00:00:00.000000", "2026-01-01 00:00:01.000000")
        database.executemany(
            "INSERT INTO trials (trial_id, number, study_id, state, datetime_start, datetime_complete) "
            "VALUES (?, ?, 1, 'COMPLETE', ?, ?)",
            [(k, k - 1, *at) for k in numbered],
        )
        database.executemany(
            "INSERT INTO trial_values (trial_id, objective, value, value_type) VALUES (?, 0, ?, 'FINITE')",
            [(k, float(y[k - 1])) for k in numbered],
        )
        database.executemany(
            "INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) VALUES (?, ?, ?, ?)",
            [(k, names[j], float(X[k - 1, j]), json.dumps(FLOAT)) for k in numbered for j in range(d)],
        )
        if kind != "foreign":
            database.executemany(
                "INSERT INTO trial_system_attributes (trial_id, key, value_json) VALUES (?, 'satisfice:asked', ?)",
                [(k, asked[k - 1]) for k in numbered],
            )


def measured(path: Path, job: str) -> dict[str, float]:
    """The CPU seconds and peak MB of a job on the study, in this process."""
    from satisfice.cli import main
    from satisfice.study.config import StudyConfig
    from satisfice.study.distributions import distributions_of
    from satisfice.study.find import find  # noqa: F401  loads all that a suggestion needs
    from satisfice.study.sampler import GoodActionSampler
    from satisfice.study.workers.storage import open_study

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    seconds: dict[str, float] = {}
    begun = process_time()
    if job == "ask":
        study = open_study("study", path, direction="maximize")
        stored = StudyConfig.of(study)
        if stored is None:
            raise SystemExit("--path must name a study that this script made; this one has no configuration.")
        study.sampler = GoodActionSampler.from_config(stored)
        for question in ("first", "next"):
            trial = study.ask()
            names = (
                distributions_of(stored.space) if stored.space else {"p0": optuna.distributions.FloatDistribution(0, 1)}
            )
            for name, distribution in names.items():
                trial._suggest(name, distribution)
            seconds[question] = process_time() - begun
            study.tell(trial, -5.0)
            begun = process_time()
    else:
        out = path.with_suffix(".out")
        options = {"status": ["status"], "report": ["report", "--out", str(out)], "csv": ["status", "--csv", "-"]}[job]
        with contextlib.redirect_stdout(io.StringIO()):
            main([*options, "--storage", str(path)])
        seconds[job] = process_time() - begun
    return {**seconds, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def row(n: int, d: int, kind: str) -> dict[str, float]:
    """All figures of one study, each job in a process of its own."""
    found: dict[str, float] = {"MB": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        make(path, n, d, kind)
        for job in ("status", "report", "csv", "ask"):  # asking adds trials
            words = [sys.executable, __file__, "--job", job, "--path", str(path)]
            try:
                done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=900)  # noqa: S603
            except subprocess.TimeoutExpired:
                found.update({job: np.inf})
                continue
            figures = json.loads(done.stdout.splitlines()[-1])
            found.update({**figures, "MB": max(found["MB"], figures["MB"])})
    return found


def table(rows: list[dict[str, float]]) -> str:
    """A table with a row for each study."""
    lines = [
        "| trials | parameters | first suggestion | next suggestion | `status` | `report` | `status --csv -` | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in rows:
        seconds = " | ".join(f"{each.get(name, np.nan):.2f} s" for name in ("first", "next", "status", "report", "csv"))
        lines.append(f"| {each['n']:,} | {each['d']} | {seconds} | {each['MB']:.0f} MB |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--n", type=int)
    parser.add_argument("--d", type=int, default=4)
    parser.add_argument("--kind", choices=("own", "foreign", "noisy"), default="own")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--job", choices=JOBS, help="measure one job on the study at --path")
    parser.add_argument("--path", type=Path)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(measured(given.path, given.job)))
        return
    sizes = SIZES if given.n is None else ((given.n, given.d),)
    rows = [{"n": n, "d": d, **row(n, d, given.kind)} for n, d in sizes]
    print(table(rows))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
