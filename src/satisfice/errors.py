"""The errors that the library raises on purpose, and its warning."""


class SatisficeError(Exception):
    """Every error that the library raises on purpose."""


class BadInput(SatisficeError, ValueError):
    """Something that was passed in cannot be used; the message says what came, what was wanted and what to do."""


class SpaceExhausted(SatisficeError):
    """Every point of a finite domain has been evaluated, and asking one again would teach nothing."""


class NoSurvivors(SatisficeError):
    """Every point has been ruled out by the confidence bounds: no action is good, and there is nothing left to ask."""


class NumericalFailure(SatisficeError):
    """A covariance matrix could not be factorised, even with the largest jitter that is allowed."""


class MissingExtra(SatisficeError, ImportError):
    """A package is not installed that only some uses need; the message names the extra that brings it."""


class SatisficeWarning(UserWarning):
    """A search went on, but something about its data deserves a look."""
