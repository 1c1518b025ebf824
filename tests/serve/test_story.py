"""A newcomer's whole story in a real browser: a study by hand, over three days, by two people, the server killed in between."""

import csv
import io
import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from satisfice import open_search
from serving import Server

EARLIER = "temperature,hours,solvent,value\n" + "\n".join(
    f"{20 + 5 * (k % 15)},{1 + k},{'water' if k % 3 else 'ethanol'},{60 + k / 2}" for k in range(20)
)
UNLABELLED = """() => [...document.querySelectorAll('input:not([type=hidden]), select, textarea')]
  .filter(field => !field.labels.length && !field.getAttribute('aria-label')).map(field => field.outerHTML)"""

SMALL = """() => [...document.querySelectorAll('button, select, input:not([type=hidden])')]
  .filter(field => field.offsetParent && !field.classList.contains('enlarge'))
  .filter(field => field.getBoundingClientRect().height < 40).length"""


class Person:
    """Somebody with a browser of her own; whatever it complains about is kept."""

    def __init__(self, browser, name, width=1280, scheme="light"):
        self.name = name
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.page, self.heard, self.elsewhere = self.context.new_page(), [], []
        self.page.on("pageerror", lambda problem: self.heard.append(str(problem)))
        self.page.on(
            "console", lambda message: self.heard.append(message.text) if "policy" in message.text.lower() else None
        )
        self.page.on("request", lambda request: self.elsewhere.append(request.url))

    def opens(self, server, path=""):
        self.page.goto(server.address)
        self.page.wait_for_url(f"http://127.0.0.1:{server.port}/")
        if path:
            self.page.goto(f"http://127.0.0.1:{server.port}{path}")
            self.page.wait_for_selector("[data-state].on")

    def tells(self, **results):
        for number, value in results.items():
            self.page.fill(f"#result-{number.removeprefix('of_')}-0", value)
        self.page.fill("#results-by", self.name)
        self.page.click("text=Save results")
        self.page.wait_for_load_state()

    def waiting(self):
        return [int(each) for each in self.page.evaluate(
            "[...document.querySelectorAll('#bench tbody select')].map(each => each.name.split('-')[1])"
        )]  # fmt: skip

    def verdict(self):
        return self.page.text_content("#verdict")

    def checks_the_page(self, width):
        assert self.page.evaluate(UNLABELLED) == []
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width
        small = self.page.evaluate(SMALL)  # a finger must hit them
        assert small == 0


@pytest.fixture
def people(browser):
    ada, bob = Person(browser, "Ada"), Person(browser, "Bob", 390, "dark")
    yield ada, bob
    for each in (ada, bob):
        each.context.close()


def test_a_newcomers_story(people, tmp_path):
    ada, bob = people
    page, storage = ada.page, tmp_path / "lab.db"
    (tmp_path / "earlier.csv").write_text(EARLIER)
    with Server(storage) as server:
        # she defines a study; a mistake is explained, and nothing that she typed is lost
        ada.opens(server)
        page.click("text=Define the first one")
        ada.checks_the_page(1280)
        page.fill("[name=name]", "crystals / 1")
        rows = page.locator("[data-parameter]")
        for k, (name, kind, fields) in enumerate((
            ("temperature", "number", {"low": "20", "high": "9O", "step": "5"}),
            ("hours", "whole number", {"low": "1", "high": "24"}), ("solvent", "choices", {"choices": "water, ethanol"}),
        )):  # fmt: skip
            row = rows.nth(k)
            row.locator("[name=p-name]").fill(name)
            row.locator("[name=p-kind]").select_option(kind)
            for field, text in fields.items():
                row.locator(f"[name=p-{field}]").fill(text)
        page.fill("[name=target]", "80")
        page.click("text=What you know about the noise")
        page.select_option("[name=noise]", "none")
        page.set_input_files("[type=file]", tmp_path / "earlier.csv")
        expect(page.locator("#earlier")).to_have_value(re.compile(".{100}", re.DOTALL))
        page.click("text=Start the study")
        assert "The upper end must be a number; got '9O'" in page.text_content(".alert")
        rows.nth(0).locator("[name=p-high]").fill("90")
        page.click("text=Start the study")
        page.wait_for_selector("[data-state].on")
        assert ada.verdict() == "Not decided yet."
        assert "20 from earlier data" in page.text_content(".numbers")

        # the first day: four suggestions, a decimal comma, a failure
        page.click("text=Suggest experiments")
        page.wait_for_selector("#result-20-0")
        assert ada.waiting() == [20, 21, 22, 23]
        bob.opens(server, "/studies/crystals%20%2F%201")
        assert bob.waiting() == [20, 21, 22, 23]
        bob.checks_the_page(390)
        bob.page.fill("#result-23-0", "66.25")  # he has begun to type
        bob.page.focus("#result-23-0")
        page.select_option("#outcome-22", "failed")
        page.fill("#why-22", "the vessel leaked")
        ada.tells(of_20="71.5", of_21="70,5")
        assert "a number; got '70,5'. Write a decimal point" in page.text_content(".alert")
        assert page.input_value("#result-20-0") == "71.5"
        assert page.input_value("#why-22") == "the vessel leaked"
        assert len(open_search("crystals / 1", storage).waiting()) == 4  # nothing was told
        ada.tells(of_21="70.5")
        assert ada.waiting() == [23]
        bob.page.wait_for_selector("#result-20-0", state="detached", timeout=15_000)  # his page follows by itself
        assert bob.page.input_value("#result-23-0") == "66.25"  # and he types on
        assert bob.page.evaluate("document.activeElement.id") == "result-23-0"
        bob.tells()
        assert bob.waiting() == []

        # the second day: a typing error looks like success, until it is corrected
        page.wait_for_selector("text=Suggest experiments", timeout=15_000)
        page.click("text=Suggest experiments")
        page.wait_for_selector("#result-24-0")
        ada.tells(of_24="715")
        assert ada.verdict() == "Good enough: the target is met."
        page.click("#fix-24 summary")
        page.fill("#fix-result-24-0", "71.5")
        page.click("#fix-24 button")
        page.wait_for_selector("text=Corrected.")
        assert ada.verdict() == "Not decided yet."
        assert [each.strip() for each in page.locator(".log tbody tr").first.inner_text().split("\t")][1:] == [
            "24", "715.0", "71.5", "Ada"
        ]  # fmt: skip
        ada.tells(of_25="72", of_26="73.5")
        server.kill()

    # the third day: the server had died, and has another token now
    with Server(storage, port=server.port) as server:
        bob.page.wait_for_selector(".state.off", timeout=20_000)
        ada.opens(server, "/studies/crystals%20%2F%201")
        bob.opens(server, "/studies/crystals%20%2F%201")
        assert ada.waiting() == bob.waiting() == [27]
        bob.tells(of_27="84.25")
        assert bob.verdict() == "Good enough: the target is met."
        expect(page.locator("#verdict")).to_have_text(re.compile(r"^\s*Good"), timeout=15_000)

        # all of it can be taken along
        with page.expect_download() as waits:
            page.click("text=All experiments (CSV)")
        table = list(csv.DictReader(io.StringIO(waits.value.path().read_text())))
        with page.expect_download() as waits:
            page.click("text=Everything (JSON)")
        whole = json.loads(waits.value.path().read_text())
        told = {row["number"]: row["value"] or row["state"] for row in table if int(row["number"]) >= 20}
        assert told == {
            "20": "71.5",
            "21": "70.5",
            "22": "failed",
            "23": "66.25",
            "24": "71.5",
            "25": "72.0",
            "26": "73.5",
            "27": "84.25",
        }
        assert (whole["status"]["verdict"], len(whole["experiments"]), len(whole["corrections"])) == ("good", 28, 1)
        page.click("figure.history .enlarge")
        view = page.get_attribute("dialog svg[role=img]", "viewBox")
        page.click("dialog [aria-label='Zoom in']")
        assert page.get_attribute("dialog svg[role=img]", "viewBox") != view
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog", state="detached")
        page.locator("figure.history .wide circle").last.hover()
        assert page.text_content(".tip").startswith("evaluation ")
        assert server.stop() == (130, "satisfice: stopped\n")
    done = subprocess.run(
        [sys.executable, "-m", "satisfice", "status", "--storage", str(storage), "--name", "crystals / 1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "good: the target is met" in done.stdout
    assert "27" not in done.stderr
    for each in people:
        assert each.heard == []
        assert all(url.startswith((f"http://127.0.0.1:{server.port}/", "blob:")) for url in each.elsewhere)


def test_a_page_finds_its_server_again_by_itself_where_the_token_stays(browser, tmp_path):
    """As with SATISFICE_TOKEN: what is being typed survives the restart, and the page goes on."""
    token, storage = "a token that stays".replace(" ", "-"), tmp_path / "lab.db"
    open_search("lab", storage, {"x": (0.0, 1.0)}, 80, noise=0, seed=1).ask(2)
    person = Person(browser, "Ada")
    with Server(storage, token=token) as server:
        person.opens(server, "/studies/lab")
        person.page.fill("#result-0-0", "12.5")
        server.kill()
    person.page.wait_for_selector(".state.off", timeout=20_000)
    open_search("lab", storage).tell(1, 3.0)
    with Server(storage, token=token, port=server.port):
        person.page.wait_for_selector("#result-1-0", state="detached", timeout=30_000)
        assert person.page.input_value("#result-0-0") == "12.5"
        person.tells()
        assert person.waiting() == []
    assert open_search("lab", storage).table()[0]["value"] == 12.5
    person.context.close()


HOSTILE = "<img src=x onerror='window.pwned=1'>\"'><script>window.pwned=1</script>{{ 7 * 7 }}</textarea>&lt;b&gt;\u202e"


def test_hostile_texts_run_nothing_anywhere(browser, tmp_path):
    storage, person = tmp_path / "lab.db", Person(browser, HOSTILE, 390)
    lab = open_search(HOSTILE, storage, {HOSTILE: (0.0, 1.0), "choice": [HOSTILE, "other"]}, 80, noise=0, seed=1)
    for each in lab.ask(4, by=HOSTILE)[:3]:
        lab.tell(each, 1.0)
    lab.fail(0, HOSTILE, correct=True, by=HOSTILE)
    with Server(storage) as server:
        person.opens(server)
        at = person.page.get_attribute(".studies a", "href")
        person.page.click(".studies a")
        person.page.wait_for_selector("[data-state].on")
        person.tells(of_3=HOSTILE)  # refused, and shown again
        assert "must be a number" in person.page.text_content(".alert")
        person.page.locator("figure.history .narrow path").first.hover()
        for path in (
            f"{at}/sheet",
            f"{at}?note={'<script>window.pwned=1</script>'}",
            "/nowhere<script>window.pwned=1</script>",
        ):
            person.page.goto(f"http://127.0.0.1:{server.port}{path}")
            assert person.page.evaluate("window.pwned") is None
            assert person.page.locator("script").count() == 1  # our own
    assert person.heard == []
    person.context.close()
