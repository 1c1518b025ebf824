"""What keeps the leases of a process alive, from when they are taken until they are dropped."""

import atexit
import itertools
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from satisfice.study.workers.companion import Companion, place_of

if TYPE_CHECKING:
    from satisfice.study.workers.lease import Lease

LATE = 1.5  # periods without a report of the companion, and the thread renews a lease itself
IDLE = 60.0  # seconds without any lease, and the companion is ended
DEATHS = 5  # so many companions may die before a process goes on without


class Heart:
    """What renews all the leases of this process: its companion, and a thread for what the companion does not renew.

    The thread is enough unless an objective holds the GIL. It leaves to the companion what that reports in time, and replaces
    one that dies.
    """

    def __init__(self) -> None:
        self._due: dict[Lease, float] = {}  # when the thread is to renew each lease
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._companion: Companion | None = None
        self._shared: dict[Lease, int] = {}  # the leases that the companion renews, with their numbers
        self._numbers = itertools.count(1)
        self._deaths = 0  # of companions

    def take(self, lease: "Lease") -> None:
        """Renew a lease from now on."""
        with self._changed:
            self._share([lease])
            self._due[lease] = time.monotonic() + self._pause(lease)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="satisfice-leases", daemon=True)
                self._thread.start()
            self._changed.notify()

    def drop(self, lease: "Lease") -> None:
        """Renew a lease no longer."""
        with self._changed:
            self._due.pop(lease, None)
            number = self._shared.pop(lease, None)
            if number is not None and self._companion is not None:
                with suppress(OSError):
                    self._companion.drop(number)

    def stop(self) -> None:
        """End the companion."""
        with self._changed:
            self._shared.clear()
            if self._companion is not None:
                self._companion.stop()
                self._companion = None

    def forget(self) -> None:
        """In a forked child: leave the companion to the parent."""
        if self._companion is not None:
            self._companion.forget()

    def _share(self, leases: Iterable["Lease"]) -> None:
        """Let the companion renew the leases whose storage it can reach."""
        places = {lease: place for lease in leases if (place := place_of(lease.study)) is not None}
        if not places or self._deaths >= DEATHS:
            return
        try:
            self._companion = self._companion or Companion()
            for lease, place in places.items():
                number = next(self._numbers)
                self._companion.take(number, place, lease.shared(number))
                self._shared[lease] = number
        except Exception:  # none can be started, or this one died just now: then there is the thread
            self._deaths += self._companion is None

    def _pause(self, lease: "Lease") -> float:
        return lease.period * (LATE if lease in self._shared else 1.0)

    def _listen(self) -> None:
        """Put off what the companion has renewed; replace a companion that died."""
        if self._companion is None:
            return
        leases = {number: lease for lease, number in self._shared.items()}
        for number, at in self._companion.reports():
            if number in leases:
                self._due[leases[number]] = at + self._pause(leases[number])
        if not self._companion.alive:
            self._deaths += 1
            self.stop()
            self._share(leases.values())

    def _run(self) -> None:
        while True:
            with self._changed:
                with suppress(OSError, ValueError):
                    self._listen()
                now = time.monotonic()
                ready = [lease for lease, due in self._due.items() if due <= now]
                if not ready:
                    idle = not self._due
                    pause = min(self._due.values(), default=now + IDLE) - now
                    if not self._changed.wait(pause) and idle and not self._due:
                        self.stop()
                    continue
                for lease in ready:
                    self._due[lease] = now + self._pause(lease)
            for lease in ready:
                with suppress(Exception):  # the database is away; the next beat may reach it
                    if not lease.renew():
                        self.drop(lease)  # its worker will learn of it when it tells


def _new_heart() -> None:
    global HEART
    HEART.forget()
    HEART = Heart()


HEART = Heart()
os.register_at_fork(after_in_child=_new_heart)  # neither threads nor companions survive a fork
atexit.register(lambda: HEART.stop())
