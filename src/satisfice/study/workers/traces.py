"""What went wrong in an evaluation: in one line, and in full."""

import traceback
from pathlib import Path

from satisfice.errors import EvaluationFailed

OURS = str(Path(__file__).parents[2])  # frames of files in here are left out at the beginning of a traceback
BEGINNING, END = 2000, 6000  # characters that are kept of one that is longer


def reason_of(problem: BaseException) -> str:
    """Describe an exception in one line, even one that cannot be printed."""
    try:
        if type(problem) is EvaluationFailed:  # of one in this process the class says something
            return str(problem)
        return f"{type(problem).__name__}: {problem}".strip()
    except Exception:
        return type(problem).__name__


def trace_of(problem: BaseException) -> str:
    """The traceback of an exception, from the first frame of the user's on."""
    if isinstance(problem, EvaluationFailed):
        return shortened(problem.trace)
    frame = problem.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename.startswith(OURS):
        frame = frame.tb_next
    try:
        lines = traceback.format_exception(type(problem), problem, frame)
    except Exception:  # it cannot be printed
        lines = traceback.format_tb(frame)
    return shortened("".join(lines).strip()) if frame is not None else ""


def shortened(text: str) -> str:
    """A text with its middle left out if it is long."""
    return text if len(text) <= BEGINNING + END else f"{text[:BEGINNING]}\n...\n{text[-END:]}"
