"""satisfice: find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from satisfice.domain.box import Box
    from satisfice.domain.finite import Finite
    from satisfice.domain.mixed import Mixed
    from satisfice.errors import (
        BadInput,
        NoSurvivors,
        NumericalFailure,
        SatisficeError,
        SatisficeWarning,
        SpaceExhausted,
    )
    from satisfice.search.answer import Answer
    from satisfice.search.search import Search
    from satisfice.study.find import find
    from satisfice.study.sampler import GoodActionSampler, stop_when_certain
    from satisfice.study.storage import open_study

__all__ = [
    "Answer",
    "BadInput",
    "Box",
    "Finite",
    "GoodActionSampler",
    "Mixed",
    "NoSurvivors",
    "NumericalFailure",
    "SatisficeError",
    "SatisficeWarning",
    "Search",
    "SpaceExhausted",
    "find",
    "open_study",
    "stop_when_certain",
]

_MODULES = {
    "domain.box": ["Box"],
    "domain.finite": ["Finite"],
    "domain.mixed": ["Mixed"],
    "errors": ["BadInput", "NoSurvivors", "NumericalFailure", "SatisficeError", "SatisficeWarning", "SpaceExhausted"],
    "search.answer": ["Answer"],
    "search.search": ["Search"],
    "study.find": ["find"],
    "study.sampler": ["GoodActionSampler", "stop_when_certain"],
    "study.storage": ["open_study"],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: numpy, scipy and Optuna are slow to load."""
    if name not in _HOME:
        raise AttributeError(f"module 'satisfice' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"satisfice.{_HOME[name]}"), name)
    return value
