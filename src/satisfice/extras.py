"""Packages that only some uses need: the extras of the installation."""

import importlib
import importlib.util
import warnings
from collections.abc import Iterable
from types import ModuleType

from satisfice.errors import MissingExtra


def load_extra(package: str, extra: str) -> ModuleType:
    """Import a package, or raise MissingExtra with the command that installs it.

    Warnings are silenced while it loads: Box2D's binary module does not survive one that is turned into an error.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise MissingExtra(f"{package} is not installed: run pip install '.[{extra}]' in the clone.") from error


def check_extras(needed: Iterable[tuple[str, str]]) -> None:
    """Check that packages are installed, given with their extras, without loading them.

    Raises
    ------
    MissingExtra
        If there are any; the message says how to install them.
    """
    missing = {package: extra for package, extra in needed if importlib.util.find_spec(package) is None}
    if missing:
        extras = ",".join(dict.fromkeys(missing.values()))
        are = "is" if len(missing) == 1 else "are"
        raise MissingExtra(f"{', '.join(missing)} {are} not installed: run pip install '.[{extras}]' in the clone.")
