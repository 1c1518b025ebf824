"""The studies of a storage, each opened once: read and written in threads, so that the server goes on answering."""

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import anyio
import anyio.to_thread
import optuna
from optuna.storages import BaseStorage

from satisfice.errors import BadInput
from satisfice.study.config import SETTINGS, VERDICT, StudyConfig
from satisfice.study.gate_replay import GATE
from satisfice.study.gate_replay import stored as stored_gate
from satisfice.study.stored import StoredSearch

T = TypeVar("T")
FRESH = 0.6  # seconds for which a look at a study is good enough for those who watch it
THREADS = 10  # fewer than the connections to a database that SQLAlchemy keeps for a process


class NotFound(BadInput):
    """There is no such study, or no such experiment."""


class Opened:
    """A study that has been opened, with its locks.

    Two locks, since thinking takes long and telling a result must not wait for it. Each guards against this process only; other
    processes may use the study at the same time, as they may without a server.
    """

    def __init__(self, study: optuna.Study, text: str) -> None:
        self.study, self.text = study, text
        self.is_gate = stored_gate(study) is not None
        stored = None if self.is_gate else StudyConfig.from_json(text)
        self.search = None if stored is None or stored.space is None else StoredSearch(study, stored)
        self._config = stored
        self.thinking, self.writing = asyncio.Lock(), asyncio.Lock()
        self.kept: dict[str, tuple[str, Any]] = {}  # what was computed, and for which version of the study
        self.checked = -math.inf  # when it was last found to be there, with these settings
        self.looked = (-math.inf, "")  # when somebody last looked at the version, and what it was

    @property
    def config(self) -> StudyConfig:
        """What the study looks for; BadInput for a gate, which looks for nothing."""
        if self._config is None:
            raise BadInput(
                f"The study {self.study.study_name!r:.80} is a gate: it judges one setting, by `satisfice certify`."
            )
        return self._config

    @property
    def by_hand(self) -> StoredSearch:
        """The search; BadInput if nobody can ask it by hand."""
        if self.search is None:
            _ = self.config  # a gate says what it is
            raise BadInput(
                f"The study {self.study.study_name!r:.80} must have its parameters stored: one that a function of a trial made "
                "cannot be asked here."
            )
        return self.search

    def version(self) -> str:
        """A text that changes whenever the study does; cheap, since nobody changes a finished trial."""
        trials = self.study.get_trials(deepcopy=False)
        running = [
            (each.number, len(each.params), len(each.system_attrs)) for each in trials if not each.state.is_finished()
        ]
        return f"{hash((self.text, len(trials), tuple(running))) & 0xFFFFFFFFFFFFFFFF:016x}"


class Studies:
    """All the studies of a storage.

    Parameters
    ----------
    storage
        The storage, opened.
    where
        The path or URL by which the command line names it, without a password.
    """

    def __init__(self, storage: BaseStorage, where: str) -> None:
        self.storage, self.where = storage, where
        self._opened: dict[str, Opened] = {}
        self._limiter: anyio.CapacityLimiter | None = None

    async def thread(self, function: Callable[[], T]) -> T:
        """Return what the function returns, run in a thread."""
        if self._limiter is None:  # it belongs to the event loop, which runs by now
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(function, limiter=self._limiter)

    async def get(self, name: str) -> Opened:
        """Return the study of that name; NotFound if there is none, BadInput if satisfice did not make it."""
        known = self._opened.get(name)
        if known is not None and time.monotonic() - known.checked < FRESH:
            return known
        study, text = await self.thread(lambda: self._look(name, known))
        if known is None or known.text != text or known.study is not study:
            found = self._opened.get(name)
            if found is not None and found.text == text and found is not known:
                return found  # somebody else was faster: there is one lock for each study
            fresh = Opened(study, text)
            if known is not None:  # its settings have changed; those who hold the old locks go on as they are
                fresh.thinking, fresh.writing = known.thinking, known.writing
            self._opened[name] = fresh
        self._opened[name].checked = time.monotonic()
        return self._opened[name]

    def _look(self, name: str, known: Opened | None) -> tuple[optuna.Study, str]:
        if known is not None:
            try:
                attributes = known.study.user_attrs
                return known.study, attributes.get(SETTINGS) or attributes.get(GATE, "")
            except KeyError:  # it was deleted, and perhaps made anew
                self._opened.pop(name, None)
        try:
            study = optuna.load_study(study_name=name, storage=self.storage)
        except KeyError:
            raise NotFound(f"There is no study {name!r:.80}.") from None
        text = study.user_attrs.get(SETTINGS) or study.user_attrs.get(GATE)
        if text is None:
            raise BadInput(f"The study {name!r:.80} has no target: satisfice did not make it.")
        return study, text

    def listed(self) -> list[dict[str, Any]]:
        """Return a line for each study, the newest first; nothing is computed."""
        rows = []
        for each in optuna.get_all_study_summaries(self.storage, include_best_trial=False):
            text = each.user_attrs.get(SETTINGS)
            try:
                config = None if text is None else StudyConfig.from_json(text)
            except BadInput:
                config = None
            gate = stored_gate(each) if GATE in each.user_attrs else None
            row = {"name": each.study_name, "config": config, "gate": gate and gate.target, "trials": each.n_trials,
                   "verdict": each.user_attrs.get(VERDICT, "open"), "begun": each.datetime_start}  # fmt: skip
            rows.append(row)
        return rows[::-1]

    async def version(self, opened: Opened) -> str:
        """Return the version of the study, as it was a moment ago: all who watch it share one look at the storage."""
        if time.monotonic() - opened.looked[0] > FRESH:
            opened.looked = (time.monotonic(), opened.looked[1])
            opened.looked = (time.monotonic(), await self.thread(opened.version))
        return opened.looked[1]

    async def kept(self, opened: Opened, what: str, compute: Callable[[], T]) -> tuple[str, T]:
        """Return the version of the study and what was computed for it, computed anew if the study has changed."""
        version = await self.thread(opened.version)
        if opened.kept.get(what, ("", None))[0] != version:
            async with opened.thinking:
                version = await self.thread(opened.version)
                if opened.kept.get(what, ("", None))[0] != version:
                    opened.kept[what] = (version, await self.thread(compute))
        return opened.kept[what]


def reference(name: str) -> str:
    """Return a study's name as one piece of an address."""
    if name.startswith("~") or not name.strip("."):  # "." and ".." mean another place to a browser
        return "~" + name.encode().hex()
    return quote(name, safe="")


def named(reference: str) -> str:
    """Return the name that a piece of an address means; NotFound for what is none."""
    try:
        if reference.startswith("~"):
            return bytes.fromhex(reference[1:]).decode()
        return unquote(reference, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise NotFound("There is no such study.") from None
