"""D: grids whose workers are killed, threads and forks that might hang, and five thousand trials."""

import json
import os
import subprocess
import sys
import time
from collections import Counter

import pytest
from workers import run, running_of, seconds_until_quiet, trials_of

pytestmark = pytest.mark.faults


GRID = """
import warnings
from pathlib import Path
from satisfice.paper.experiments.run import Task, run_tasks
def cell(key, told):
    with open(told, "a") as file:
        file.write(f"{key} {os.getpid()}\\n")
    if key == "c3" and len([line for line in open(told).read().splitlines() if line.startswith("c3 ")]) == 1:
        os.kill(os.getpid(), signal.SIGKILL)  # the first time only
    time.sleep(0.2)
    return {"key": key, "value": int(key[1:])}
"""
ON_CORES = """
import sys
sys.path.insert(0, sys.argv[3])
from cells import *
warnings.simplefilter("ignore")
tasks = [Task(f"c{k}", cell, (f"c{k}", sys.argv[2])) for k in range(8)]
failures = 0
for attempt in range(3):
    try:
        run_tasks(tasks, Path(where), jobs=2)
        break
    except Exception as problem:
        failures += 1
        said = type(problem).__name__
print(json.dumps([failures, [json.loads(line)["key"] for line in open(where)]]))
"""
ON_CLUSTER = """
import sys
sys.path.insert(0, sys.argv[3])
from cells import *
if __name__ == "__main__":
    warnings.simplefilter("ignore")
    import logging
    logging.disable(logging.CRITICAL)
    from dask.distributed import LocalCluster
    tasks = [Task(f"c{k}", cell, (f"c{k}", sys.argv[2])) for k in range(8)]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        run_tasks(tasks, Path(where), cluster=cluster.scheduler_address)
    print(json.dumps([0, [json.loads(line)["key"] for line in open(where)]]))
"""


@pytest.mark.parametrize("kind", ["joblib", "dask"])
def test_a_killed_worker_of_a_grid_costs_no_cell(kind, tmp_path, figures):
    pytest.importorskip("joblib" if kind == "joblib" else "distributed")
    (tmp_path / "cells.py").write_text("import json, os, signal, sys, time\n" + GRID)
    told, script = tmp_path / "told", tmp_path / "run.py"
    script.write_text("import json, sys\nwhere = sys.argv[1]\n" + (ON_CORES if kind == "joblib" else ON_CLUSTER))
    words = [sys.executable, "-W", "ignore", script, tmp_path / "r.jsonl", told, tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=180, check=True, env=environment)
    failures, keys = json.loads(done.stdout.splitlines()[-1])
    tries = Counter(line.split()[0] for line in told.read_text().splitlines())
    workers = {line.split()[1] for line in told.read_text().splitlines()}
    figures |= {"engine": kind, "cells": 8, "workers killed": 1, "calls that ended with an error": failures}
    figures |= {"processes": len(workers), "times the killed cell was begun": tries["c3"]}
    assert sorted(keys) == [f"c{k}" for k in range(8)]
    assert tries["c3"] == 2
    assert len(workers) >= 2


ALL_RAISE = """
import threading
from satisfice.errors import TooManyFailures
barrier = threading.Barrier(8)
def objective(params):
    barrier.wait(30)
    raise ValueError("all at once")
try:
    search(sys.argv[2], 100, objective, n_jobs=8)
except TooManyFailures:
    print(1)
"""
NESTED = """
from joblib import Parallel, delayed
import warnings
warnings.simplefilter("ignore")
def objective(params):
    return sum(Parallel(n_jobs=2)(delayed(abs)(params["x"]) for _ in range(2)))
print(search(sys.argv[2], 6, objective, n_jobs=2).evaluations)
"""
FORKED = """
def objective(params):
    child = os.fork()
    if child == 0:
        search(sys.argv[2] + "child", 2, storage=where + "child")
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return params["x"]
import warnings
warnings.simplefilter("ignore")
print(search(sys.argv[2], 6, objective, n_jobs=2).evaluations)
"""


@pytest.mark.parametrize(("script", "printed"), [(ALL_RAISE, "1"), (NESTED, "6"), (FORKED, "6")],
                         ids=["eight raise at once", "joblib within", "fork after threads"])  # fmt: skip
def test_nothing_hangs(script, printed, tmp_path, figures):
    begun = time.monotonic()
    assert run(script, tmp_path / "s.db", tmp_path / "told", timeout=60).strip() == printed
    figures |= {"seconds": round(time.monotonic() - begun, 1), "allowed": 60}
    assert running_of(trials_of(str(tmp_path / "s.db"))) == 0


SOAK = """
import resource, threading
marks = {}
def look(study, trial):
    n = trial.number + 1
    if n in (400, 500, 600, 4900, 5000):
        memory = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
        marks[n] = [time.monotonic(), memory, len(os.listdir("/proc/self/fd")), threading.active_count()]
import warnings
warnings.simplefilter("ignore", ResourceWarning)
find(lambda params: params["x"], SPACE, 2.0, noise=0, budget=5000, storage=where, name="n", rule="sobol", model=BLIND,
     progress=False, callbacks=[look], seed=1)
print(json.dumps(marks))
"""


def test_five_thousand_trials_cost_no_more_each_than_five_hundred(tmp_path, figures):
    marks = json.loads(run(SOAK, tmp_path / "s.db", timeout=3000))
    early, late = ((marks[b][0] - marks[a][0]) / int(int(b) - int(a)) for a, b in (("400", "600"), ("4900", "5000")))
    memory, files, threads = (marks["5000"][k] - marks["500"][k] for k in (1, 2, 3))
    figures |= {
        "trials": 5000,
        "ms a trial at 500": round(1000 * early, 1),
        "ms a trial at 5,000": round(1000 * late, 1),
    }
    figures |= {"growth of memory from 500 on (MB)": round(memory), "more files": files, "more threads": threads}
    assert late < 2 * early
    assert memory < 100
    assert abs(files) <= 2
    assert abs(threads) <= 2
    assert seconds_until_quiet(str(tmp_path / "s.db")) < 5
