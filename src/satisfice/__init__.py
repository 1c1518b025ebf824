"""satisfice: find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from satisfice.domain.box import Box
    from satisfice.domain.constraints import Mixture
    from satisfice.domain.finite import Finite
    from satisfice.domain.space import Space
    from satisfice.errors import (
        BadInput,
        BadValue,
        EvaluationFailed,
        LeaseLost,
        MissingExtra,
        NoSurvivors,
        NumericalFailure,
        SatisficeError,
        SatisficeWarning,
        SpaceExhausted,
        StorageFailed,
        TooManyFailures,
        WrongType,
    )
    from satisfice.gp.models import FixedModel
    from satisfice.report.page import write_report
    from satisfice.search.answer import Answer, PreferenceAnswer, RequirementAnswer
    from satisfice.search.gate_answer import CertifyAnswer
    from satisfice.search.search import Search
    from satisfice.search.specification import Requirement, Specification
    from satisfice.study.certify import certify
    from satisfice.study.find import find
    from satisfice.study.open_search import open_search
    from satisfice.study.pruner import TargetPruner
    from satisfice.study.sampler import GoodActionSampler, stop_when_certain
    from satisfice.study.snapshot import answer_of
    from satisfice.study.workers.storage import open_study

__all__ = [
    "Answer",
    "BadInput",
    "BadValue",
    "Box",
    "CertifyAnswer",
    "EvaluationFailed",
    "Finite",
    "FixedModel",
    "GoodActionSampler",
    "LeaseLost",
    "MissingExtra",
    "Mixture",
    "NoSurvivors",
    "NumericalFailure",
    "PreferenceAnswer",
    "Requirement",
    "RequirementAnswer",
    "SatisficeError",
    "SatisficeWarning",
    "Search",
    "Space",
    "SpaceExhausted",
    "Specification",
    "StorageFailed",
    "TargetPruner",
    "TooManyFailures",
    "WrongType",
    "answer_of",
    "certify",
    "find",
    "open_search",
    "open_study",
    "stop_when_certain",
    "write_report",
]

_MODULES = {
    "domain.box": ["Box"],
    "domain.constraints": ["Mixture"],
    "domain.finite": ["Finite"],
    "domain.space": ["Space"],
    "errors": [
        "BadInput",
        "BadValue",
        "EvaluationFailed",
        "LeaseLost",
        "MissingExtra",
        "NoSurvivors",
        "NumericalFailure",
        "SatisficeError",
        "SatisficeWarning",
        "SpaceExhausted",
        "StorageFailed",
        "TooManyFailures",
        "WrongType",
    ],
    "gp.models": ["FixedModel"],
    "report.page": ["write_report"],
    "search.answer": ["Answer", "PreferenceAnswer", "RequirementAnswer"],
    "search.gate_answer": ["CertifyAnswer"],
    "search.search": ["Search"],
    "search.specification": ["Requirement", "Specification"],
    "study.certify": ["certify"],
    "study.find": ["find"],
    "study.open_search": ["open_search"],
    "study.pruner": ["TargetPruner"],
    "study.sampler": ["GoodActionSampler", "stop_when_certain"],
    "study.snapshot": ["answer_of"],
    "study.workers.storage": ["open_study"],
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: numpy, scipy and Optuna are slow to load."""
    if name not in _HOME:
        raise AttributeError(f"module 'satisfice' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"satisfice.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return __all__
