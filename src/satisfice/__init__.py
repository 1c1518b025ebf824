"""satisfice: find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""

from satisfice.answer import Answer
from satisfice.domain import Box, Finite
from satisfice.search import Search
from satisfice.types import BadInput, NoSurvivors, NumericalFailure, SatisficeError, SatisficeWarning, SpaceExhausted

__all__ = [
    "Answer",
    "BadInput",
    "Box",
    "Finite",
    "NoSurvivors",
    "NumericalFailure",
    "SatisficeError",
    "SatisficeWarning",
    "Search",
    "SpaceExhausted",
]
