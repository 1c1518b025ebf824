"""F: the server under load, and what a tester of OpenAPI documents makes of its protocol."""

import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from satisfice import open_search
from serving import Client, Server

pytestmark = pytest.mark.faults

CLIENTS, SECONDS = 50, float(os.environ.get("LOAD_SECONDS", "60"))
PATIENCE = 300.0  # seconds for one answer: asking is work, and fifty wait for it in turn
SPACE = {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": ["a", "b"]}


def percentile(seconds, share):
    return sorted(seconds)[min(len(seconds) - 1, int(share * len(seconds)))]


class Worker(threading.Thread):
    """Asks and tells over one connection until the time is up; it keeps what was acknowledged, and how long each call took."""

    def __init__(self, server, number, until):
        super().__init__(daemon=True)
        self.server, self.number, self.until = server, number, until
        self.told, self.own, self.took, self.wrong = {}, [], {"ask": [], "tell": []}, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        try:
            count = 0
            while time.monotonic() < self.until:
                self.once(connection, self.number + count / 1000, f"{self.number}-{count}")
                count += 1
        finally:
            connection.close()

    def once(self, connection, value, key):
        """Every fifth client asks and tells; the others tell experiments of their own, some of them twice, a few a second."""
        if self.number % 5:
            params = {"x": value / (CLIENTS + 1), "y": 0.5, "z": "a"}
            for _ in range(2 if key.endswith("0") else 1):  # as if the first answer had been lost
                done = self.call(connection, "tell", {"params": params, "values": {"value": value}}, f"t{key}")
            if done:
                self.own.append(value)
            time.sleep(0.2)
            return
        asked = self.call(connection, "ask", {"n": 1, "by": f"client {self.number}"}, f"a{key}")
        for each in (asked or {}).get("asked", ()):
            done = self.call(connection, "tell", {"number": each["number"], "values": {"value": value}}, f"t{key}")
            if done and done["outcome"] == "told":
                self.told[each["number"]] = value

    def call(self, connection, operation, body, key):
        headers = {
            "Authorization": f"Bearer {self.server.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        start = time.perf_counter()
        try:
            connection.request("POST", f"/api/studies/load/{operation}", json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
        except OSError as problem:
            self.wrong.append(repr(problem))
            connection.close()
            return None
        self.took[operation].append(time.perf_counter() - start)
        if answer.status != 200:
            self.wrong.append(f"{operation}: {answer.status} {content[:200]!r}")
            return None
        return json.loads(content)


BARE = """
import json, sys, threading, time
import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial
from satisfice.study._optuna import create_running, set_state
from satisfice.study.workers.storage import open_study
study = open_study("bare", sys.argv[1], direction="maximize")
until, took = time.monotonic() + float(sys.argv[3]), []
running = create_trial(state=TrialState.RUNNING)
own = create_trial(
    value=1.0, params={"x": 0.5, "y": 0.5, "z": "a"}, system_attrs={"satisfice:by hand": {"by": "", "key": "0" * 32}},
    distributions={"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1), "z": CategoricalDistribution(["a", "b"])},
)
def work(number):
    while time.monotonic() < until:
        trial_id = None if number % 5 else create_running(study, running)
        start = time.perf_counter()
        if trial_id is None:
            study.add_trial(own)
        else:
            set_state(study, trial_id, TrialState.COMPLETE, [1.0])
        took.append(time.perf_counter() - start)
        if trial_id is None:
            time.sleep(0.2)
threads = [threading.Thread(target=work, args=(k,)) for k in range(int(sys.argv[2]))]
[each.start() for each in threads]
[each.join() for each in threads]
print(json.dumps(took))
"""


def test_fifty_clients_lose_nothing_and_tell_as_fast_as_on_the_bare_storage(tmp_path, figures):
    storage = tmp_path / "load.db"
    open_search("load", storage, SPACE, 1e6, noise=0, rule="sobol", seed=1)
    with Server(storage) as server:
        workers = [Worker(server, k, time.monotonic() + SECONDS) for k in range(CLIENTS)]
        for each in workers:
            each.start()
        for each in workers:
            each.join()
        assert Client(server).get("/api/studies/load", timeout=PATIENCE).json["running"] == 0
        assert server.stop() == (130, "satisfice: stopped\n")
    wrong = [text for each in workers for text in each.wrong]
    told = {number: value for each in workers for number, value in each.told.items()}
    assert sum(len(each.told) for each in workers) == len(told)  # no experiment was given to two
    tells = [seconds for each in workers for seconds in each.took["tell"]]
    asks = [seconds for each in workers for seconds in each.took["ask"]]

    # as many writers on a storage of their own, which write the same without a server; in one process, as the server is
    command = [sys.executable, "-c", BARE, str(tmp_path / "bare.db"), str(CLIENTS), str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    bare = json.loads(done.stdout)
    ratio = percentile(tells, 0.95) / percentile(bare, 0.95)
    figures |= {
        "clients": CLIENTS, "seconds": SECONDS, "asked": len(asks), "told": len(tells), "errors": len(wrong),
        "p95 of ask in s": round(percentile(asks, 0.95), 3), "p95 of tell in s": round(percentile(tells, 0.95), 3),
        "median of tell in s": round(statistics.median(tells), 4),
        "p95 on the bare storage in s": round(percentile(bare, 0.95), 3),
        "median on the bare storage in s": round(statistics.median(bare), 4), "ratio of the p95": round(ratio, 2),
    }  # fmt: skip
    assert wrong == []
    rows = [row for row in open_search("load", storage).table() if row["state"] == "complete"]
    assert {row["number"]: row["value"] for row in rows if row["number"] in told} == told
    assert sorted(row["value"] for row in rows if row["number"] not in told) == sorted(
        value for each in workers for value in each.own
    )
    assert ratio <= 3


def test_the_protocol_is_what_its_document_says(tmp_path, figures):
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("THE PROTOCOL IS NOT COMPARED WITH ITS DOCUMENT: schemathesis is not installed (extra faults)")
    search = open_search("lab", tmp_path / "lab.db", SPACE, 80, noise=0, rule="sobol", seed=1)  # which asks fast
    for each in search.ask(6)[:3]:
        search.tell(each, 1.0)
    (tmp_path / "schemathesis.toml").write_text('[parameters]\n"path.study" = "lab"\n')
    with Server(tmp_path / "lab.db") as server:
        done = subprocess.run(
            [str(program), "run", f"http://127.0.0.1:{server.port}/api/openapi.json",
             "--header", f"Authorization: Bearer {server.token}",
             "--max-examples", os.environ.get("SCHEMATHESIS_EXAMPLES", "60"), "--seed", "1", "--no-color", "--warnings", "off",
             "--phases", "examples,coverage,fuzzing", "--request-timeout", "60", "--continue-on-failure"],
            capture_output=True, text=True, cwd=tmp_path, timeout=1800,
        )  # fmt: skip
        errors = server.errors()
    figures["summary"] = " ".join(done.stdout.split()[-60:])
    assert done.returncode == 0, done.stdout[-6000:]
    assert "Traceback" not in errors
