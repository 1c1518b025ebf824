"""The companion of a worker process: it renews the worker's leases, whatever the worker's interpreter is busy with.

`companion` runs this file as a script. It imports nothing of this package, so that it starts in some tens of milliseconds. The
worker writes lines of JSON to its standard input: first its process id and import path, then leases to take and to drop. On its
standard output the companion reports each lease that it has renewed. It ends when the worker does, and is silent while the worker
is stopped.
"""

import json
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

LEASE = "satisfice:lease"
RETRY = 1.0  # seconds until a beat that failed is tried again; less where the period is short
WATCH = 5.0  # seconds between two looks at the worker when it sends nothing
ENDING = 2.0  # seconds to finish a beat that is being written when the worker ends

# One statement, so that a finished trial is never written: SQLite locks the file before it reads, PostgreSQL locks the row.
RENEW = (
    "UPDATE trial_system_attributes SET value_json = {0} WHERE trial_id = {0} AND key = {0}"
    " AND trial_id IN (SELECT trial_id FROM trials WHERE trial_id = {0} AND state = 'RUNNING'{1})"
)


class Place(threading.Thread):
    """One database, and a thread that renews the leases in it: a database that is locked holds up no other."""

    def __init__(self, driver: str, address: dict[str, Any], worker: int) -> None:
        super().__init__(daemon=True)
        self._driver, self._address, self._worker = driver, address, worker
        self._leases: dict[int, dict[str, Any]] = {}  # by the worker's numbers
        self._changed = threading.Condition()
        self._ended = False

    def take(self, number: int, lease: dict[str, Any]) -> None:
        """Renew a lease from now on, for the first time after one period."""
        with self._changed:
            self._leases[number] = {**lease, "due": time.monotonic() + lease["period"]}
            self._changed.notify()

    def drop(self, number: int) -> None:
        """Renew a lease no longer."""
        with self._changed:
            self._leases.pop(number, None)

    def end(self) -> None:
        """Begin no further beat."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def run(self) -> None:
        """Renew each lease when it is due."""
        with suppress(Exception):
            import_module(self._driver)  # which may take as long as a short period
        while not self._ended:
            with self._changed:
                now = time.monotonic()
                ready = {number: lease for number, lease in self._leases.items() if lease["due"] <= now}
                if not ready:
                    first = min((lease["due"] for lease in self._leases.values()), default=None)
                    self._changed.wait(None if first is None else first - now)
                    continue
            try:
                written = self._renew(list(ready.values()))
            except Exception:  # the database is away or locked, or has no driver here: the worker misses the report
                written = False
            for number, lease in ready.items():
                if written:
                    report(number)
                    lease["due"] = now + lease["period"]
                else:
                    lease["due"] = time.monotonic() + min(RETRY, lease["period"] / 4)

    def _renew(self, leases: list[dict[str, Any]]) -> bool:
        """Write the next beats in one transaction; False if the worker is stopped."""
        if not is_awake(self._worker):
            return False
        sqlite = self._driver == "sqlite3"
        connection = import_module(self._driver).connect(**self._address)
        try:
            if not sqlite:
                connection.autocommit = True
            cursor = connection.cursor()
            cursor.execute("BEGIN IMMEDIATE" if sqlite else "BEGIN")
            if self._ended or not is_awake(self._worker):  # the lock may have taken long
                return False
            for lease in leases:
                lease["beat"] += 1
                beat = json.dumps({key: lease[key] for key in ("owner", "beat", "period")})
                statement = RENEW.format("?", "") if sqlite else RENEW.format("%s", " FOR SHARE")
                cursor.execute(statement, (beat, lease["trial"], LEASE, lease["trial"]))
            cursor.execute("COMMIT")
        finally:
            connection.close()
        return True


def report(number: int) -> None:
    """Tell the worker that a lease was renewed now; a worker that does not read learns of the later ones."""
    with suppress(OSError):
        os.write(1, b"%d %r\n" % (number, time.monotonic()))


def is_awake(worker: int) -> bool:
    """Whether the worker is still the parent of this process, and not stopped."""
    with open(f"/proc/{worker}/stat", "rb") as file:
        state = file.read().rpartition(b")")[2].split()[0]
    return os.getppid() == worker and state not in (b"T", b"t")


def serve() -> None:
    """Do what the worker says until it ends."""
    worker, rest = os.getppid(), b""
    places: dict[str, Place] = {}
    homes: dict[int, Place] = {}  # of the leases
    while os.getppid() == worker:
        if not select.select([0], [], [], WATCH)[0]:
            continue
        data = os.read(0, 1 << 16)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            said = json.loads(line)
            if "worker" in said:
                worker, sys.path[:] = said["worker"], said["path"]
            elif "take" in said:
                where = json.dumps(said["place"])
                if where not in places:
                    places[where] = Place(**said["place"], worker=worker)
                    places[where].start()
                homes[said["take"]] = places[where]
                places[where].take(said["take"], said["lease"])
            elif said["drop"] in homes:
                homes.pop(said["drop"]).drop(said["drop"])
    for place in places.values():
        place.end()
    until = time.monotonic() + ENDING
    for place in places.values():
        place.join(max(until - time.monotonic(), 0.0))


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # meant for the worker, with which the companion ends
        signal.signal(number, signal.SIG_IGN)
    os.set_blocking(1, False)
    serve()
    os._exit(0)  # a thread may be waiting for a lock
