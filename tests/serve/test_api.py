"""The JSON protocol, on a real server: what it does, that it does it once, and what it refuses."""

import json

import pytest

from satisfice import certify, find, open_search
from serving import Client, Server

SPACE = {"temperature": (20, 90, 5), "solvent": ["water", "ethanol"], "conc": (0.1, 1.0)}
ODD = "a/b ?#%é&.."


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    storage = tmp_path_factory.mktemp("api") / "lab.db"
    for name in ("lab", "once", "wrong", "races", ODD, "..", "~x"):
        open_search(name, storage, SPACE, 80, value_range=(0, 100), seed=3)
    open_search("table", storage, [{"x": 1.0}, {"x": 2.0}], 9.0, noise=0, seed=1)
    find(
        lambda p: p["x"],
        lambda trial: {"x": trial.suggest_float("x", 0, 1)},
        2.0,
        noise=0,
        budget=4,
        storage=storage,
        name="program",
        seed=1,
    )
    certify(lambda: 1.0, ">= 0.5", noise=0.5, budget=8, storage=storage, name="gate")
    with Server(storage) as found:
        yield found


@pytest.fixture
def client(server):
    return Client(server)


@pytest.fixture
def lab(server):
    return lambda name: open_search(name, server.storage)


def test_a_study_from_the_first_question_to_a_correction(client, lab):
    empty = client.get("/api/studies/lab").json
    assert (empty["verdict"], empty["evaluations"], empty["params"], empty["waiting"]) == ("open", 0, None, [])
    asked = client.api("lab", "ask", {"n": 4, "by": "Ada"}).json["asked"]
    assert [each["number"] for each in asked] == [0, 1, 2, 3]
    assert all(set(each["params"]) == set(SPACE) for each in asked)
    assert client.api("lab", "tell", {"number": 0, "values": {"value": 71.5}}).json == {"number": 0, "outcome": "told"}
    assert client.api("lab", "tell", {"params": asked[1]["params"], "values": {"value": 72}}).json["outcome"] == "told"
    assert client.api("lab", "fail", {"number": 2, "why": "leak"}).json["outcome"] == "told"
    assert client.api("lab", "cancel", {"number": 3}).json["outcome"] == "told"
    assert client.api("lab", "tell", {"number": 0, "values": {"value": 71.5}}).json["outcome"] == "known"
    conflict = client.api("lab", "tell", {"number": 0, "values": {"value": 75}})
    assert (conflict.status, conflict.json["error"]["code"]) == (409, "refused")
    assert "has a result already: 71.5" in conflict.json["error"]["message"]
    corrected = client.api("lab", "tell", {"number": 0, "values": {"value": 75}, "correct": True, "by": "Bob"})
    assert corrected.json["outcome"] == "corrected"
    assert client.api("lab", "undo", {"number": 1}).json["outcome"] == "corrected"
    status = client.get("/api/studies/lab").json
    assert (status["evaluations"], status["failures"]) == (1, 1)
    assert [(each["number"], each["by"]) for each in status["waiting"]] == [(1, "Ada")]
    rows = client.get("/api/studies/lab/experiments").json["experiments"]
    assert [(row["state"], row["values"]) for row in rows] == [
        ("complete", {"value": 75.0}), ("waiting", None), ("failed", None), ("cancelled", None)
    ]  # fmt: skip
    assert lab("lab").log()[0]["by"] == "Bob"
    own = {"temperature": 40, "solvent": "water", "conc": 0.5}
    assert client.api("lab", "tell", {"params": own, "values": {"value": 60}}).json == {
        "number": None,
        "outcome": "told",
    }
    assert len(lab("lab").table()) == 5


def test_the_command_line_and_the_server_see_each_other(client, lab):
    here = lab("races")
    number = client.api("races", "ask", {}).json["asked"][0]["number"]
    here.tell(number, 50.0)
    assert client.get("/api/studies/races").json["evaluations"] == 1
    (asked,) = here.ask()
    assert client.api("races", "tell", {"number": asked.number, "values": {"value": 51.0}}).json["outcome"] == "told"
    assert here.table()[-1]["value"] == 51.0


def test_a_request_with_a_key_counts_once_even_after_the_server_was_killed(tmp_path):
    storage = tmp_path / "once.db"
    open_search("lab", storage, SPACE, 80, seed=3)
    sent = [("ask", {"n": 3}, "k1"), ("tell", {"number": 0, "values": {"value": 1.5}}, "k2"),
            ("fail", {"number": 1, "why": "x"}, "k3"),
            ("tell", {"params": {"temperature": 40, "solvent": "water", "conc": 0.5}, "values": {"value": 2}}, "k4")]  # fmt: skip
    with Server(storage) as server:
        client = Client(server)
        first = [client.api("lab", *each).json for each in sent]
        assert [client.api("lab", *each).json for each in sent] == first
        other = client.api("lab", "ask", {"n": 2}, "k1")
        assert (other.status, other.json["error"]["code"]) == (409, "key_reused")
        server.kill()
    with Server(storage) as server:
        client = Client(server)
        assert [client.api("lab", *each).json for each in sent] == first
        assert (
            client.api("lab", "tell", {"number": 0, "values": {"value": 9}, "correct": True}).json["outcome"]
            == "corrected"
        )
        assert client.api("lab", *sent[1]).json == first[1]  # late: it does not undo the correction
    assert [row["value"] for row in open_search("lab", storage).table()] == [9.0, None, None, 2.0]


@pytest.mark.parametrize("name", [ODD, "..", "~x"])
def test_a_study_of_any_name_can_be_addressed(client, name):
    from satisfice.serve.studies import named, reference

    assert named(reference(name)) == name
    found = client.get(f"/api/studies/{reference(name)}")
    assert (found.status, found.json["name"]) == (200, name)
    assert client.get(f"/studies/{reference(name)}").status == 200


def test_all_studies_are_listed_and_one_of_a_program_is_shown(client):
    names = {each["name"] for each in client.get("/api/studies").json["studies"]}
    assert {"lab", "program", ODD} <= names
    program = client.get("/api/studies/program").json
    assert (program["verdict"], program["evaluations"]) == ("open", 4)
    refused = client.api("program", "ask", {})
    assert (refused.status, refused.json["error"]["code"]) == (409, "refused")


def test_nothing_left_to_ask_is_a_conflict(client):
    assert len(client.api("table", "ask", {"n": 5}).json["asked"]) == 2
    empty = client.api("table", "ask", {})
    assert (empty.status, empty.json["error"]["code"]) == (409, "nothing_left")


WRONG = {
    "no JSON": (b"{", 400, "must be JSON"),
    "no UTF-8": (b'{"n": "\xff"}', 400, "must be JSON in UTF-8"),
    "deep": (b"[" * 30_000, 400, "must be JSON"),
    "NaN": (b'{"number": 0, "values": {"value": NaN}}', 400, "NaN is no JSON number"),
    "half a character": (b'{"n": 1, "by": "\\ud800"}', 400, "must be JSON"),
    "a huge number": (b'{"number": 0, "values": {"value": 1e999}}', 422, "`values.value` must be a finite number"),
    "a list": (b"[]", 422, "`the body` must be"),
    "a name too many": ({"number": 0, "values": {"value": 1}, "valu": 2}, 422, "must have no other names"),
    "a text": ({"number": 0, "values": {"value": "71.5"}}, 422, "`values.value` must be a finite number; got '71.5'"),
    "no values": ({"number": 0, "values": {}}, 422, "`values` must be the results by their names"),
    "another result": ({"number": 0, "values": {"yield": 3}}, 409, "`values` must have 'value' and nothing else"),
    "out of range": ({"number": 0, "values": {"value": 101}}, 409, "within the range 0 to 100; got 101"),
    "no number": (
        {"number": True, "values": {"value": 1}},
        422,
        "`number` must be the number of an experiment; got True",
    ),
    "an unknown number": ({"number": 77, "values": {"value": 1}}, 404, "got 77"),
    "other parameters": ({"params": {"x": 1}, "values": {"value": 1}}, 409, "x"),
}


@pytest.mark.parametrize(("body", "status", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_used_is_refused_with_a_reason(client, lab, body, status, message):
    if not lab("wrong").waiting():
        lab("wrong").ask()
    before = lab("wrong").study.get_trials()
    answer = client.api("wrong", "tell", body)
    assert answer.status == status, answer.text
    assert message in answer.json["error"]["message"]
    assert lab("wrong").study.get_trials() == before


def test_other_refusals(client):
    assert client.api("nothing", "ask", {}).status == 404
    assert client.post("/api/studies/lab/ask", b"n=4", Content_Type="application/x-www-form-urlencoded").status == 415
    assert client.api("lab", "ask", {"n": 101}).status == client.api("lab", "ask", {"n": 0}).status == 422
    assert client.api("lab", "ask", {}, key="a key").status == 422
    wrong = client.get("/api/studies/lab/ask")
    assert (wrong.status, wrong.headers["allow"]) == (405, "POST")
    assert client.get("/api/nowhere").json["error"]["code"] == "no_address"
    assert json.dumps(client.get("/api/openapi.json").json).count("operationId") == 9


def judged(client, values, target, **more):
    return client.post("/api/certify", {"values": values, "target": target, **more})


def test_one_setting_is_judged_by_its_results(client):
    good = judged(client, [1] * 60, ">= 0.9", rate=True).json
    assert (good["verdict"], good["requirements"][0]["side"]) == ("good", "at least")
    assert "independent passes and fails" in good["certificate"]
    assert judged(client, [1, 0] * 20, ">= 0.9", rate=True).json["verdict"] == "bad"
    few = judged(client, [81.0, None, 82.5], ">= 80", noise=1.5, value_range=None).json
    assert "error" in few  # a range of null is none
    few = judged(client, [81.0, None, 82.5], ">= 80", noise=1.5).json
    assert (few["verdict"], few["evaluations"], few["failures"]) == ("open", 2, 1)
    several = judged(client, [{"yield": 85.0, "impurity": 0.1}] * 3, {"yield": ">= 80", "impurity": "<= 2"}).json
    assert [each["name"] for each in several["requirements"]] == ["yield", "impurity"]


@pytest.mark.parametrize(("values", "more", "message"), [
    ([2], {"rate": True}, "`values[0]` must be 0 or 1; got 2"),
    ([0.5, 3], {"value_range": [0, 1]}, "`values[1]` must be within the range 0 to 1; got 3"),
    ([{"yield": 1}], {}, "`values[0]` must have 'value' and nothing else"),
    ([1], {"noise": "loud"}, "`noise` must be"),
    ([1], {"rate": True, "quantile": 0.5}, "must not be given together"),
])  # fmt: skip
def test_results_that_do_not_suit_the_target_are_refused(client, values, more, message):
    refused = judged(client, values, ">= 0.9", **more)
    assert (refused.status, refused.json["error"]["code"]) == (409, "refused")
    assert message in refused.json["error"]["message"]


def test_a_gate_is_listed_and_shown_and_cannot_be_asked(client):
    listed = {each["name"]: each["target"] for each in client.get("/api/studies").json["studies"]}
    assert listed["gate"] == "value >= 0.5"
    page = client.get("/studies/gate")
    assert page.status == 200
    assert "Good enough: the target is met." in page.text
    assert "<title" in client.get("/studies/gate/download/report.html").text
    for refused in (
        client.get("/api/studies/gate"),
        client.api("gate", "ask", {}),
        client.get("/api/studies/gate/experiments"),
    ):
        assert (refused.status, "is a gate" in refused.json["error"]["message"]) == (409, True)
    assert client.get("/studies/gate/download/study.json").status == 404
