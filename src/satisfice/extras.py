"""Packages that only some uses need; the extras of the installation bring them."""

import importlib
import warnings
from types import ModuleType

from satisfice.types import MissingExtra


def load_extra(package: str, extra: str) -> ModuleType:
    """The package, or an error that says how to install it.

    Warnings are silenced while it loads: Box2D's binary module does not survive one that is turned into an error.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtra(f"{package} is not installed: pip install '.[{extra}]' in the clone brings it") from error
