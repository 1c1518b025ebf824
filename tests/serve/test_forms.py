"""What people type into the forms: read whole or not at all, with a message at each field."""

from urllib.parse import urlencode

import optuna
import pytest

from satisfice import open_search
from satisfice.domain.space import Space
from satisfice.serve.forms import Form, Wrong, question, results, table, tell

ROW = {"name": "", "kind": "number", "low": "", "high": "", "step": "", "scale": "linear", "choices": ""}


def filled(*parameters, **fields):
    """The form of a new study, with these parameters, as a browser sends it."""
    pairs = [("name", "lab"), ("target", "80"), ("side", "at least"), ("noise", "unknown"), ("confidence", "95")]
    pairs = [(name, fields.pop(name, text)) for name, text in pairs]
    pairs += [(name.replace("_", "-"), text) for name, text in fields.items()]
    for each in parameters:
        pairs += [(f"p-{name}", text) for name, text in {**ROW, **each}.items()]
    return Form(urlencode(pairs).encode())


X = {"name": "x", "low": "0", "high": "1"}


def test_a_form_becomes_the_space_that_the_command_line_makes():
    form = filled(
        {"name": "temperature", "low": "20", "high": "90", "step": "5"}, ROW,
        {"name": "hours", "kind": "whole", "low": "1", "high": "24"},
        {"name": "rate", "low": "1e-5", "high": "0.1", "scale": "log"},
        {"name": "solvent", "kind": "choices", "choices": " water, ethanol,"},
        {"name": "size", "kind": "choices", "choices": "8, 16, 32"},
    )  # fmt: skip
    found = question(form)
    assert Space.of(found["space"]) == Space.of({
        "temperature": (20.0, 90.0, 5.0), "hours": (1, 24), "rate": (1e-5, 0.1, "log"), "solvent": ["water", "ethanol"],
        "size": [8, 16, 32],
    })  # fmt: skip
    assert (found["target"], found["direction"], found["noise"], found["confidence"]) == (80, "maximize", None, 0.95)


def test_what_is_known_about_the_noise_and_the_side():
    found = question(
        filled(X, side="at most", noise="known", noise_sd="1.5", range_low="0", range_high="100", confidence="99")
    )
    assert (found["direction"], found["noise"], found["value_range"], found["confidence"]) == (
        "minimize",
        1.5,
        (0, 100),
        0.99,
    )
    assert question(filled(X, noise="none"))["noise"] == 0


def test_several_requirements_become_a_specification():
    pairs = [
        ("name", "lab"),
        ("noise", "none"),
        ("confidence", "95"),
        *((f"p-{name}", text) for name, text in {**ROW, **X}.items()),
    ]
    pairs += [
        ("r-name", "yield"),
        ("side", "at least"),
        ("target", "80"),
        ("r-name", "impurity"),
        ("side", "at most"),
        ("target", "2"),
    ]
    found = question(Form(urlencode(pairs).encode()))
    assert [str(each) for each in found["target"].values()] == ["yield >= 80", "impurity <= 2"]
    assert {each.noise for each in found["target"].values()} == {0}
    search = open_search(found.pop("name"), None, found.pop("space"), found.pop("target"), **found)
    search.ask(2)
    told = results(
        search, Form(urlencode({"outcome-0": "", "result-0-0": "85", "result-0-1": "1.5", "outcome-1": ""}).encode())
    )
    tell(search, told, "Ada")
    assert search.answer().verdict == "good"
    with pytest.raises(Wrong, match="Experiment 1: the impurity is missing"):
        results(search, Form(urlencode({"outcome-1": "", "result-1-0": "85"}).encode()))
    for twice in (
        [("r-name", "yield"), ("side", "at least"), ("target", "1")],
        [("r-name", ""), ("side", "at least"), ("target", "1")],
    ):
        with pytest.raises(Wrong, match="needs a name of its own"):
            question(Form(urlencode([*pairs, *twice]).encode()))


WRONG = {
    "no name": ({"name": ""}, [X], {"name"}),
    "no target": ({"target": ""}, [X], {"target"}),
    "a decimal comma": ({"target": "80,5"}, [X], {"target"}),
    "no parameter": ({}, [ROW], {"p-0"}),
    "a parameter without a name": ({}, [{"low": "0", "high": "1"}], {"p-0"}),
    "a parameter twice": ({}, [X, X], {"p-1"}),
    "an end that is missing": ({}, [{"name": "x", "low": "0"}], {"p-0"}),
    "an end that is a word": ({}, [{**X, "high": "much"}], {"p-0"}),
    "ends in the wrong order": ({}, [{**X, "low": "2"}], {"p-0"}),
    "whole numbers that are none": ({}, [{**X, "kind": "whole", "high": "1.5"}], {"p-0"}),
    "a step on a log scale": ({}, [{**X, "low": "1", "high": "9", "step": "1", "scale": "log"}], {"p-0"}),
    "a log scale from 0": ({}, [{**X, "scale": "log"}], {"p-0"}),
    "no choices": ({}, [{"name": "x", "kind": "choices"}], {"p-0"}),
    "a kind that is none": ({}, [{**X, "kind": "colour"}], {"p-0"}),
    "a noise that is missing": ({"noise": "known"}, [X], {"noise-sd"}),
    "half a range": ({"range_low": "0"}, [X], {"range-high"}),
    "a broken table": ({"earlier": "x,value\n1,2,3"}, [X], {"earlier"}),
    "several things": ({"target": "x", "name": ""}, [{**X, "high": ""}], {"target", "name", "p-0"}),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "parameters", "where"), WRONG.values(), ids=WRONG)
def test_every_field_that_is_wrong_is_named(fields, parameters, where):
    with pytest.raises(Wrong) as problem:
        question(filled(*parameters, **fields))
    assert set(problem.value.problems) == where


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_may_come_from_any_spreadsheet(delimiter):
    text = "\ufeff" + "\r\n".join(delimiter.join(row) for row in (["x", "value"], ["1", "2.5"], ["", ""], ["3", "4"]))
    assert table(text) == [{"x": "1", "value": "2.5"}, {"x": "3", "value": "4"}]


@pytest.mark.parametrize("text", ["", "x,value", 'x,value\n"1,2', "x;value\n1;2;3", "x,value\n1,2,5"])
def test_a_table_that_is_none_is_refused(text):
    with pytest.raises(Wrong):
        table(text)


@pytest.mark.parametrize("content", [b"\xff=1", b"a=%ff", b"a=%00", b"&".join(b"a=1" for _ in range(6000))])
def test_a_form_that_no_browser_sends_is_refused(content):
    with pytest.raises(Wrong):
        Form(content)


@pytest.fixture
def lab():
    search = open_search("lab", optuna.storages.InMemoryStorage(), {"x": (0.0, 1.0)}, 80, value_range=(0, 100), seed=1)
    search.ask(4)
    return search


def typed(**fields):
    outcomes = {f"outcome-{k}": "" for k in range(4)}
    return Form(urlencode({**outcomes, **{name.replace("_", "-"): text for name, text in fields.items()}}).encode())


def test_results_are_told_and_empty_rows_go_on_waiting(lab):
    form = typed(result_0_0="71.5", outcome_1="failed", why_1="leak", outcome_2="cancelled")
    tell(lab, results(lab, form), "Ada")
    rows = lab.table()
    assert [row["state"] for row in rows] == ["complete", "failed", "cancelled", "waiting"]
    assert (rows[0]["value"], rows[1]["error"]) == (71.5, "leak")
    tell(lab, results(lab, typed(result_0_0="70", outcome_1="waiting"), correct=True), "Bob", correct=True)
    assert [(row["trial"], row["now"], row["by"]) for row in lab.log()] == [(0, "70.0", "Bob"), (1, "waiting", "Bob")]


@pytest.mark.parametrize(("fields", "where"), [
    ({"result_0_0": "71", "result_1_0": "7l"}, {"result-1-0"}),
    ({"result_0_0": "101"}, {"result-0-0"}),
    ({"result_0_0": "71", "outcome_0": "failed"}, {"result-0-0"}),
    ({"result_0_0": "nan", "result_3_0": "71,5"}, {"result-0-0", "result-3-0"}),
    ({"outcome_77": "failed"}, {"result-77-0"}),
])  # fmt: skip
def test_one_wrong_result_and_nothing_is_told(lab, fields, where):
    before = lab.study.get_trials()
    with pytest.raises(Wrong) as problem:
        results(lab, typed(**fields))
    assert set(problem.value.problems) == where
    assert lab.study.get_trials() == before


def test_a_result_that_is_there_already_is_not_replaced(lab):
    lab.tell(0, 50.0)
    with pytest.raises(Wrong, match="Experiment 0: Trial 0 has a result already: 50"):
        results(lab, typed(result_0_0="71"))
