"""`open_search`: makes or opens a search whose evaluations people make."""

import os
from typing import Any

import optuna
from optuna.storages import BaseStorage

from satisfice.checks import drawn_seed
from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.gp.models import Model
from satisfice.rules import Rule
from satisfice.search.specification import Target
from satisfice.study.config import StudyConfig
from satisfice.study.find import agreed
from satisfice.study.snapshot import with_target
from satisfice.study.stored import StoredSearch
from satisfice.study.values import directions_of
from satisfice.study.warm_start import add_earlier, read_earlier
from satisfice.study.workers.storage import open_storage, open_study
from satisfice.types import Noise


def open_search(
    name: str,
    storage: str | os.PathLike[str] | BaseStorage,
    space: Any = None,
    target: float | Target | None = None,
    *,
    constraints: Any = None,
    prefer: Any = None,
    direction: str = "maximize",
    noise: Noise = None,
    confidence: float = 0.95,
    value_range: tuple[float, float] | None = None,
    rule: str | Rule = "auto",
    model: str | Model = "auto",
    history: Any = None,
    give_up: bool = True,
    seed: int | None = None,
) -> StoredSearch:
    """Open a search whose evaluations you make yourself: experiments by hand, over days, by several people.

    The first call makes it, and later ones go on with it. Then the name and the storage are enough; with a space, the arguments
    of the current call take precedence, as in `find`.

    Parameters
    ----------
    name
        The name of the study in the storage.
    storage
        The path of an SQLite file, the URL of a database or an Optuna storage.
    space
        What `Space.of` takes: a dict such as `{"temperature": (20, 90, 5), "solvent": ["water", "ethanol"]}`, or a table of
        candidates. None opens what is stored.
    target
        The value to reach, or requirements, as in `find`. Without a space it replaces the stored one.
    constraints
        As in `find`; they need a space. A search with a function among its constraints is opened with its space and constraints
        again before more is asked.
    prefer
        As in `find`; it needs a space. A study keeps of a function only its name, as with constraints.
    direction, noise, confidence, value_range, rule, model, give_up, seed
        As in `find`; they need a space.
    history
        A table of earlier evaluations with the column "value", or one for each requirement. The model trains on them, but they
        never count towards a certificate.

    Returns
    -------
    StoredSearch

    Raises
    ------
    BadInput
        If an argument cannot be used, does not fit the stored study, or there is no such study and no space.
    StorageFailed
        If the database cannot be read or written.

    Examples
    --------
    >>> storage = optuna.storages.InMemoryStorage()  # or the path of a file, which lasts
    >>> space = {"temperature": (20, 90, 5), "solvent": ["water", "ethanol"]}
    >>> lab = open_search("lab", storage, space, target=80, noise=1.5, seed=1)
    >>> batch = lab.ask(4)
    >>> len(batch), sorted(batch[0])
    (4, ['solvent', 'temperature'])
    >>> lab.tell(batch[0], 71.3)
    'told'
    >>> again = open_search("lab", storage)
    >>> [each.number for each in again.waiting()]
    [1, 2, 3]
    """
    given = {"direction": direction, "noise": noise, "confidence": confidence, "value_range": value_range, "rule": rule,
             "model": model, "give_up": give_up}  # fmt: skip
    opened = open_storage(storage)
    if space is None:
        usual: dict[str, Any] = open_search.__kwdefaults__ or {}
        others = {**given, "seed": seed, "constraints": constraints, "prefer": prefer}
        extra = [each for each, value in others.items() if value is not usual[each]]
        if extra:
            raise BadInput(f"`{extra[0]}` must come with a `space`; without one the study is opened as it is stored.")
        found = StoredSearch.of(_existing(name, opened))
        if target is not None:
            found = StoredSearch(found.study, with_target(found.study, found.config, target))
    else:
        if target is None:
            raise BadInput("`target` must be given with a `space`: the value to reach.")
        named = Space.of(space, constraints)
        config = StudyConfig(target, **given, seed=drawn_seed(seed), space=named, prefer=prefer)  # type: ignore[arg-type]
        config.search(named.domain)  # what it refuses is refused before there is a study
        if history is not None:
            read_earlier(config, history)
        study = open_study(name, opened, direction=directions_of(config))
        found = StoredSearch(study, agreed(study, config, seed))
    found.config.store(found.study)
    if history is not None:
        add_earlier(found.study, found.config, history)
    return found


def _existing(name: str, storage: BaseStorage) -> optuna.Study:
    names = optuna.get_all_study_names(storage)
    if name not in names:
        found = ", ".join(repr(each)[:60] for each in names[:10]) or "no study at all"
        raise BadInput(
            f"`name` must be that of a study in the storage, which holds {found}; got {name!r:.80}. To make a new one, pass "
            "`space` and `target`."
        )
    directions = optuna.load_study(study_name=name, storage=storage).directions
    return open_study(name, storage, direction=[each.name.lower() for each in directions])
