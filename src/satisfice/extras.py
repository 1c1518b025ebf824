"""Packages that only some uses need; the extras of the installation bring them."""

import importlib
import importlib.util
import warnings
from collections.abc import Iterable
from types import ModuleType

from satisfice.errors import MissingExtra


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


def check_extras(needed: Iterable[tuple[str, str]]) -> None:
    """Name all packages that are not installed, of these (package, extra), without loading those that are.

    Raises
    ------
    MissingExtra
        If there are any; the message says how to install them.
    """
    missing = {package: extra for package, extra in needed if importlib.util.find_spec(package) is None}
    if missing:
        extras = ",".join(dict.fromkeys(missing.values()))
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise MissingExtra(
            f"{', '.join(missing)} {are} not installed: pip install '.[{extras}]' in the clone brings {them}"
        )
