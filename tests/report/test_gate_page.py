"""The page of a gate, and the picture of its evidence."""

import re
from xml.etree import ElementTree as Xml

import pytest
from numpy.random import default_rng

from satisfice import BadInput, certify, write_report
from satisfice.report.gate import evidence_picture, html
from satisfice.search.gate import Gate
from satisfice.search.specification import Requirement, Specification


def answer_of(*requirements, n=60, seed=0):
    gate = Gate(Specification(requirements))
    rng = default_rng(seed)
    for _ in range(n):
        gate.tell({each.name: rng.normal(1.0, 1.0) for each in requirements})
    return gate.answer()


def test_a_page_has_the_verdict_each_requirement_and_its_evidence():
    answer = answer_of(Requirement("a", ">=", 0.0, noise=1.0), Requirement("b", "<=", 0.4, noise=1.0))
    page = html(answer, "release")
    assert answer.verdict == "bad"
    assert "Not good enough: the target is missed." in page
    assert all(text in page for text in ("a &gt;= 0", "b &lt;= 0.4", "release"))
    assert page.count("<polyline") == 2 * 2 * 2  # two curves of two requirements, for two widths
    assert "for bad the upper one" in page


def test_texts_of_others_are_escaped():
    answer = answer_of(Requirement("<script>alert(1)</script>", ">=", 0.0, noise=1.0))
    page = html(answer, "<img src=x>")
    assert "<script>" not in page
    assert "<img" not in page
    assert "default-src 'none'" in page


def test_the_picture_ends_where_the_evidence_reaches_the_bar():
    only = answer_of(Requirement("a", ">=", 0.0, noise=1.0)).requirements[0]
    drawn = Xml.fromstring(str(evidence_picture(only)))  # noqa: S314
    lines = {each.attrib["class"]: each for each in drawn.iter() if "points" in each.attrib}
    bar = next(each for each in drawn.iter() if each.attrib.get("class") == "target")
    last = float(lines["curve"].attrib["points"].split()[-1].split(",")[1])
    assert last <= float(bar.attrib["y1"])  # upwards is smaller
    assert len(lines["curve"].attrib["points"].split()) == len(only.evidence) + 1


def test_a_gate_without_runs_has_a_page():
    page = html(answer_of(Requirement("a", ">=", 0.0), n=0))
    assert "Not decided yet." in page
    assert "<polyline" not in page


def test_many_runs_are_thinned_out():
    hard = Requirement("a", ">=", 1.0, noise=1.0)
    assert len(re.findall(r"\d+\.\d,\d+", str(evidence_picture(answer_of(hard, n=2000).requirements[0])))) < 2000


@pytest.mark.parametrize("kind", ["answer", "study"])
def test_a_page_is_written_for_an_answer_and_for_its_study(tmp_path, kind):
    answer = certify(lambda: True, ">= 0.9", rate=True)
    path = write_report(answer if kind == "answer" else answer.study, tmp_path / "gate.html")
    assert "Good enough" in path.read_text()
    with pytest.raises(BadInput, match="cannot be written"):
        write_report(answer, tmp_path / "missing" / "gate.html")
