"""The report of a gate: whether one given setting is good, as one HTML page and as a picture."""

import os
from pathlib import Path

import jinja2
from markupsafe import Markup

from satisfice.report import text
from satisfice.report.files import check_path, write_file
from satisfice.report.scales import Linear
from satisfice.report.svg import Frame, tag
from satisfice.search.gate_answer import CertifiedRequirement, CertifyAnswer

HEADLINES = {
    "good": "Good enough: the target is met.",
    "bad": "Not good enough: the target is missed.",
    "open": "Not decided yet.",
}
DRAWN = 600  # points of a curve
LOWEST = -4.0  # logarithms of the evidence below this lie at the edge


def evidence_picture(part: CertifiedRequirement, width: float = 900.0) -> Markup:
    """Draw the evidence of a requirement over the runs, with the bars that it must reach.

    Parameters
    ----------
    part
        The requirement.
    width
        The width of the picture.

    Returns
    -------
    Markup
        The picture, an SVG.
    """
    seen = part.evidence[:: -(-len(part.evidence) // DRAWN)] if part.evidence else ()
    if seen and seen[-1] != part.evidence[-1]:
        seen = (*seen, part.evidence[-1])
    top = max(part.bars) + 0.6
    counts = [each.values for each in seen]
    frame = Frame(Linear(0.0, float(max([*counts, 1]))), Linear(LOWEST, top), width)
    marks = [frame.level(part.bars[0], "target")]
    if part.bars[1] != part.bars[0]:
        marks.append(frame.level(part.bars[1], "target"))
    for kind, values in (("against", [each.bad for each in seen]), ("curve", [each.good for each in seen])):
        points = frame.line([0, *counts], [0.0, *(min(max(value, LOWEST), top) for value in values)])
        marks.append(tag("polyline", class_=kind, points=points))
    return frame.picture(marks, f"evidence over the runs: {part.requirement}", "runs", "log of the evidence")


def html(answer: CertifyAnswer, name: str = "") -> str:
    """Return the page as a text.

    Parameters
    ----------
    answer
        The answer of `certify`.
    name
        The name of the study.

    Returns
    -------
    str
        The page.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters["shown"] = text.shown
    drawn = [each for each in answer.requirements if each.evidence]
    pictures = [(str(each.requirement), evidence_picture(each), evidence_picture(each, 420.0)) for each in drawn]
    return environment.get_template("gate.html").render(
        answer=answer, name=name, headline=HEADLINES[answer.verdict], rows=answer.lines, pictures=pictures,
    )  # fmt: skip


def write_gate(answer: CertifyAnswer, path: str | os.PathLike[str], name: str = "") -> Path:
    """Write the page to a file.

    Parameters
    ----------
    answer
        The answer of `certify`.
    path
        Where to write. A study is never replaced.
    name
        The name of the study.

    Returns
    -------
    Path
        The path.
    """
    check_path(path)
    return write_file(path, html(answer, name).encode(errors="replace"))
