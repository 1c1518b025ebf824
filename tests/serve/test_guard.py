"""Attacks on a real server: none of them gets in, reads a file, or leaves a trace in a study."""

import os
import socket
import subprocess
import sys
import threading
import time

import pytest

from satisfice import open_search
from serving import Client, Server

EVERY = "0.0.0.0"  # noqa: S104
SECRET = "the contents of a file that nobody may read"  # noqa: S105


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guard")
    (folder / "secret.txt").write_text(SECRET)
    open_search("lab", folder / "lab.db", {"x": (0.0, 1.0)}, 80, seed=3).ask()
    with Server(folder / "lab.db") as found:
        yield found


@pytest.fixture(autouse=True)
def _leaves_no_trace(server):
    before = open_search("lab", server.storage).study.get_trials()
    yield
    assert open_search("lab", server.storage).study.get_trials() == before
    assert server.process.poll() is None
    assert Client(server).get("/api/studies/lab").status == 200


def raw(server, text, patience=10.0):
    """What comes back for these bytes, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=patience) as wire:
        wire.sendall(text)
        found = b""
        while piece := wire.recv(65536):
            found += piece
    return found.decode(errors="replace")


def request(server, line="GET /api/studies HTTP/1.1", body="", token=True, **headers):
    """A request in full, with the right Host and token unless they are given."""
    given = {"Host": f"127.0.0.1:{server.port}", "Connection": "close"}
    given |= {"Authorization": f"Bearer {server.token}"} if token else {}
    given |= {"Content-Length": str(len(body))} if body else {}
    given |= {key.replace("_", "-"): value for key, value in headers.items()}
    lines = "".join(f"{key}: {value}\n" for key, value in given.items() if value is not None)
    return raw(server, f"{line}\n{lines}\n".replace("\n", "\r\n").encode("latin-1") + body.encode())


ASK = ("POST /api/studies/lab/ask HTTP/1.1", "{}")
OWN = "http://127.0.0.1:{port}"
JSON = {"Content_Type": "application/json"}
COOKIE = "satisfice-{port}={token}"

# (what, status, request line, body, whether the token is sent, other headers)
ATTACKS = {
    "no token": (401, None, "", False, {}),
    "no token, a page": (401, "GET /studies/lab HTTP/1.1", "", False, {}),
    "no token, the events": (401, "GET /studies/lab/events HTTP/1.1", "", False, {}),
    "no token, the document": (401, "GET /api/openapi.json HTTP/1.1", "", False, {}),
    "no token, a download": (401, "GET /studies/lab/download/study.json HTTP/1.1", "", False, {}),
    "no token, a post": (401, *ASK, False, JSON),
    "no token, an address that is none": (401, "GET /nowhere HTTP/1.1", "", False, {}),
    "an empty token": (401, None, "", False, {"Authorization": "Bearer "}),
    "a wrong token": (401, None, "", False, {"Authorization": "Bearer 0123456789abcdef"}),
    "a part of the token": (401, None, "", False, {"Authorization": "Bearer {token:.20}"}),
    "the token as a password": (401, None, "", False, {"Authorization": "Basic {token}"}),
    "the token with more": (401, None, "", False, {"Authorization": "Bearer {token}x"}),
    "a token of other letters": (401, None, "", False, {"Authorization": "Bearer \xe9\xe9"}),
    "a wrong token in the address": (401, "GET /?token=wrong HTTP/1.1", "", False, {}),
    "an empty token in the address": (401, "GET /?token= HTTP/1.1", "", False, {}),
    "the token in the address of a post": (401, "POST /api/studies/lab/ask?token={token} HTTP/1.1", "{}", False, JSON),
    "a wrong cookie": (401, None, "", False, {"Cookie": "satisfice-{port}=x"}),
    "a broken cookie": (401, None, "", False, {"Cookie": ';;=,"\\'}),
    "the cookie of another port": (401, None, "", False, {"Cookie": "satisfice-1={token}"}),
    "DNS rebinding": (421, None, "", True, {"Host": "attacker.example:{port}"}),
    "DNS rebinding to a name like ours": (421, None, "", True, {"Host": "localhost.attacker.example"}),
    "DNS rebinding, ours at the end": (421, None, "", True, {"Host": "attacker.example#127.0.0.1"}),
    "a user in the host": (421, None, "", True, {"Host": "127.0.0.1@attacker.example"}),
    "another address of the machine": (421, None, "", True, {"Host": "0.0.0.0:{port}"}),
    "an empty host": (421, None, "", True, {"Host": ""}),
    "two hosts": (400, "GET /api/studies HTTP/1.1\nHost: attacker.example", "", True, {}),
    "a host in the request line": (421, "GET http://attacker.example/ HTTP/1.1", "", True, {"Host": "attacker.example"}),
    "CSRF: a form of another site": (403, *ASK, False, {**JSON, "Cookie": COOKIE, "Origin": "http://attacker.example"}),
    "CSRF: a page on another port": (403, *ASK, False, {**JSON, "Cookie": COOKIE, "Origin": "http://127.0.0.1:1"}),
    "CSRF: an origin that is hidden": (403, *ASK, False, {**JSON, "Cookie": COOKIE, "Origin": "null"}),
    "CSRF: no origin at all": (403, *ASK, False, {**JSON, "Cookie": COOKIE}),
    "CSRF: a form of the bench": (403, "POST /studies/lab/ask HTTP/1.1", "n=1", False,
                                  {"Cookie": COOKIE, "Origin": "https://a.example"}),
    "CSRF with the token itself": (403, *ASK, True, {**JSON, "Origin": "http://attacker.example"}),
    "an origin like ours": (403, *ASK, False, {**JSON, "Cookie": COOKIE, "Origin": OWN + ".attacker.example"}),
    "a script of another site": (403, "GET /studies/lab/live HTTP/1.1", "", False,
                                 {"Cookie": COOKIE, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}),
    "a script of another port": (403, None, "", False,
                                 {"Cookie": COOKIE, "Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "cors"}),
    "a frame of another site": (403, "GET /studies/lab HTTP/1.1", "", False,
                                {"Cookie": COOKIE, "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
                                 "Sec_Fetch_Dest": "iframe"}),
    "a file outside": (404, "GET /static/../../secret.txt HTTP/1.1", "", True, {}),
    "a file outside, encoded": (404, "GET /static/%2e%2e%2f%2e%2e%2fsecret.txt HTTP/1.1", "", True, {}),
    "a file outside, encoded twice": (404, "GET /static/%252e%252e%252fsecret.txt HTTP/1.1", "", True, {}),
    "a file of the system": (404, "GET /static//etc/passwd HTTP/1.1".replace("//", "/"), "", True, {}),
    "a file of the system, two slashes": (400, "GET //etc/passwd HTTP/1.1", "", True, {}),
    "a file by a backslash": (400, "GET /static/..\\..\\secret.txt HTTP/1.1", "", True, {}),
    "a file with a NUL": (400, "GET /static/app.css%00.txt HTTP/1.1", "", True, {}),
    "the database": (404, "GET /static/lab.db HTTP/1.1", "", True, {}),
    "a source of the server": (404, "GET /static/..%2fguard.py HTTP/1.1", "", True, {}),
    "a directory": (404, "GET /static/ HTTP/1.1", "", True, {}),
    "a download outside": (404, "GET /studies/lab/download/..%2f..%2fsecret.txt HTTP/1.1", "", True, {}),
    "a study that is a file": (404, "GET /studies/..%2f..%2fsecret.txt HTTP/1.1", "", True, {}),
    "a study of broken text": (404, "GET /api/studies/%ff%fe HTTP/1.1", "", True, {}),
    "a study of broken hexadecimals": (404, "GET /api/studies/~zz HTTP/1.1", "", True, {}),
    "SQL in a name": (404, "GET /api/studies/x'%20OR%20'1'='1 HTTP/1.1", "", True, {}),
    "a long address": (414, f"GET /{'a' * 5000} HTTP/1.1", "", True, {}),
    "a long query": (414, f"GET /api/studies?{'a' * 5000} HTTP/1.1", "", True, {}),
    "a long header": (431, None, "", True, {"X_Long": "a" * 40_000}),
    "a large body": (413, *ASK[:1], "x" * 70_000, True, JSON),
    "a body that says it is huge": (413, *ASK, True, {**JSON, "Content_Length": "99999999999"}),
    "a length that is none": (400, *ASK, True, {**JSON, "Content_Length": "-1"}),
    "two lengths": (400, ASK[0] + "\nContent-Length: 3", "{}", True, JSON),
    "smuggling": (400, ASK[0] + "\nTransfer-Encoding: chunked, identity", "{}", True, JSON),
    "no HTTP": (400, "HELO attacker.example", "", True, {}),
    "another method": (405, "DELETE /api/studies/lab HTTP/1.1", "", True, {}),
    "TRACE": (405, "TRACE /api/studies HTTP/1.1", "", True, {}),
    "a method that is none": (405, "STEAL /api/studies HTTP/1.1", "", True, {}),
}  # fmt: skip


def test_there_are_enough_of_them():
    assert len(ATTACKS) >= 40


@pytest.mark.parametrize(("status", "line", "body", "token", "headers"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_is_refused(server, status, line, body, token, headers):
    time.sleep(0.05)  # wrong tokens are counted
    filled = {"port": server.port, "token": server.token}
    headers = {key: value.format_map(_Parts(filled)) for key, value in headers.items()}
    line = "GET /api/studies HTTP/1.1" if line is None else line.replace("{token}", server.token)
    answer = request(server, line, body, token, **headers)
    assert answer.startswith(f"HTTP/1.1 {status} "), answer[:500]
    assert SECRET not in answer
    assert "Traceback" not in answer
    assert server.token not in answer
    assert "root:" not in answer


class _Parts(dict):
    """Placeholders as `str.format` has them, without touching other braces."""

    def __missing__(self, key):
        return "{" + key + "}"


def test_what_a_browser_does_is_let_in(server):
    """So that the refusals above are not those of a server that refuses everything."""
    page = request(server, f"GET /?token={server.token} HTTP/1.1", token=False)
    assert page.startswith("HTTP/1.1 200 ")
    assert f"set-cookie: satisfice-{server.port}={server.token}; HttpOnly; Path=/; SameSite=strict" in page
    assert "url=/" in page
    cookie, own = COOKIE.format(port=server.port, token=server.token), OWN.format(port=server.port)
    for headers in ({}, {"Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"},
                    {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate"}, {"Host": f"localhost:{server.port}"},
                    {"Host": "localhost:9000"}):  # fmt: skip
        assert request(server, "GET / HTTP/1.1", token=False, Cookie=cookie, **headers).startswith("HTTP/1.1 200 ")
    # past the guard, and refused for what is in it
    assert request(server, ASK[0], "{", False, **JSON, Cookie=cookie, Origin=own).startswith("HTTP/1.1 400 ")
    assert request(server, ASK[0], "{", True, **JSON).startswith("HTTP/1.1 400 ")


def test_every_answer_has_the_headers_that_keep_a_page_to_itself(server):
    for line in ("GET / HTTP/1.1", "GET /static/app.js HTTP/1.1", "GET /nowhere HTTP/1.1", "GET /api/studies HTTP/1.1"):
        for token in (True, False):
            head = request(server, line, token=token).lower().partition("\r\n\r\n")[0]
            assert "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';" in head
            assert "unsafe" not in head
            for header in ("x-content-type-options: nosniff", "x-frame-options: deny", "referrer-policy: same-origin",
                           "cross-origin-resource-policy: same-origin", "cross-origin-opener-policy: same-origin"):  # fmt: skip
                assert header in head
            assert "server:" not in head
            assert "access-control" not in head  # no other origin may read anything


def test_pages_have_no_inline_script_or_style(server):
    client = Client(server)
    for path in ("/", "/new", "/studies/lab", "/studies/lab/sheet", "/studies/nothing"):
        text = client.get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert " onclick" not in text
        assert text.count("<script") == 1
        assert "://" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "")  # nothing is loaded from elsewhere


def test_a_body_that_never_comes_holds_up_nobody(server):
    head = f"POST /api/studies/lab/ask HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
    wires = []
    for _ in range(30):
        wire = socket.create_connection(("127.0.0.1", server.port), timeout=5)
        wire.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{".encode())
        wires.append(wire)
    assert Client(server).get("/api/studies/lab", timeout=20).status == 200
    for wire in wires:
        wire.close()
    assert Client(server).get("/api/studies/lab", timeout=20).status == 200
    assert server.errors() == ""  # an attacker cannot fill a log


def test_a_body_in_chunks_is_limited_too(server):
    piece = "4000\r\n" + "x" * 0x4000 + "\r\n"
    answer = request(
        server, f"{ASK[0]}\nTransfer-Encoding: chunked", f"{piece * 6}0\r\n\r\n", Content_Length=None, **JSON
    )
    assert answer.startswith("HTTP/1.1 413 ")


def test_guessing_the_token_is_slow(tmp_path):
    open_search("lab", tmp_path / "lab.db", {"x": (0.0, 1.0)}, 80)
    with Server(tmp_path / "lab.db") as server:
        guesses = [Client(server, Authorization=f"Bearer {k:032}").get("/api/studies").status for k in range(60)]
        assert set(guesses) == {401, 429}
        assert guesses.count(429) >= 20
        assert Client(server).get("/api/studies").status == 200  # who knows the token is not shut out


def test_too_many_requests_are_slowed_down_and_nobody_else_waits(tmp_path):
    open_search("lab", tmp_path / "lab.db", {"x": (0.0, 1.0)}, 80)
    with Server(tmp_path / "lab.db") as server:
        one = f"GET /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        pipelined = f"{one}\r\n" * 1000 + f"{one}Connection: close\r\n\r\n"
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(raw(server, pipelined.encode(), 60))) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert sum(text.count("HTTP/1.1 429 ") for text in found) > 0
        time.sleep(1.2)
        assert Client(server).get("/api/studies").status == 200


@pytest.mark.parametrize("host", [EVERY, "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_reach_must_be_allowed(tmp_path, host):
    done = subprocess.run(
        [sys.executable, "-m", "satisfice", "serve", "--storage", str(tmp_path / "lab.db"), "--host", host],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "add --allow-remote" in done.stderr
    assert not (tmp_path / "lab.db").exists()


def test_a_remote_address_says_what_it_means_and_still_refuses_other_names(tmp_path):
    open_search("lab", tmp_path / "lab.db", {"x": (0.0, 1.0)}, 80)
    with Server(tmp_path / "lab.db", "--host", EVERY, "--allow-remote", "--hostname", "lab.example") as server:
        for host, status in (
            ("attacker.example", 421),
            ("lab.example", 200),
            ("10.1.2.3:80", 200),
            (f"[::1]:{server.port}", 200),
        ):
            assert request(server, Host=host).startswith(f"HTTP/1.1 {status} "), host
        code, errors = server.stop()
    assert code == 130
    assert "can read and change all studies" in errors
    assert "not encrypted" in errors


@pytest.mark.parametrize("token", ["short", "has spaces in it, too many", 'quote"quote"quote"quote'])
def test_a_weak_token_is_refused(tmp_path, token):
    done = subprocess.run(
        [sys.executable, "-m", "satisfice", "serve", "--storage", str(tmp_path / "lab.db")],
        capture_output=True, text=True, timeout=60, env={**os.environ, "SATISFICE_TOKEN": token},
    )  # fmt: skip
    assert done.returncode == 2
    assert "SATISFICE_TOKEN" in done.stderr
    assert token not in done.stderr
