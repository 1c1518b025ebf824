"""satisfice: find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from satisfice.domain.box import Box
from satisfice.domain.finite import Finite
from satisfice.domain.mixed import Mixed
from satisfice.errors import BadInput, NoSurvivors, NumericalFailure, SatisficeError, SatisficeWarning, SpaceExhausted
from satisfice.search.answer import Answer
from satisfice.search.search import Search

if TYPE_CHECKING:
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

_OF_THE_STUDY = {
    "GoodActionSampler": "sampler",
    "find": "find",
    "open_study": "storage",
    "stop_when_certain": "sampler",
}


def __getattr__(name: str) -> Any:
    """The names that need Optuna, which is loaded with the first of them."""
    if name not in _OF_THE_STUDY:
        raise AttributeError(f"module 'satisfice' has no attribute {name!r}")
    return getattr(import_module(f"satisfice.study.{_OF_THE_STUDY[name]}"), name)
