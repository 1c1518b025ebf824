"""The errors that the library raises on purpose, and its warning."""


class SatisficeError(Exception):
    """Every error that the library raises on purpose."""


class BadInput(SatisficeError, ValueError):
    """Something that was passed in cannot be used; the message says what it must be, what it was and what to do."""


class SpaceExhausted(SatisficeError):
    """Every point of a finite domain has been evaluated, and asking one again would teach nothing."""


class NoSurvivors(SatisficeError):
    """Every point has been ruled out by the confidence bounds: no action is good, and there is nothing left to ask."""


class NumericalFailure(SatisficeError):
    """A covariance matrix could not be factorised, even with the largest jitter that is allowed."""


class MissingExtra(SatisficeError, ImportError):
    """A package is not installed that only some uses need; the message names the extra that brings it."""


class BadValue(SatisficeError):
    """An objective returned something that is not a finite number; the message shows what it returned."""


class WrongType(BadValue):
    """An objective returned something that is no number at all, such as None; at the first evaluation this ends the search."""


class EvaluationFailed(SatisficeError):
    """An evaluation in a process of its own gave no value; the message says why, and `trace` where, if that is known."""

    def __init__(self, reason: str, trace: str = "") -> None:
        super().__init__(reason)
        self.trace = trace


class TooManyFailures(SatisficeError):
    """Most evaluations fail, so it is the objective that is broken; the study is kept, and the same call goes on with it."""


class LeaseLost(SatisficeError):
    """The trial was finished already: by another worker that thought this one dead, or by an earlier call. It stays as it was."""


class StorageFailed(SatisficeError):
    """The database could not be read or written, even after several tries; nothing that was acknowledged is lost."""


class SatisficeWarning(UserWarning):
    """A search went on, but something about its data deserves a look."""
