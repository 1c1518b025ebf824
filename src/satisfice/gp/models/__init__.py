"""Models: they turn a dataset into weighted posteriors. `MODELS` lists them by name."""

from satisfice.gp.models.base import Dataset, Fit, Model, Note
from satisfice.gp.models.fixed import FixedModel
from satisfice.gp.models.mixture import KernelMixture
from satisfice.gp.models.named import MODELS, EitherModel, auto_model, paper_model

__all__ = [
    "MODELS",
    "Dataset",
    "EitherModel",
    "Fit",
    "FixedModel",
    "KernelMixture",
    "Model",
    "Note",
    "auto_model",
    "paper_model",
]
