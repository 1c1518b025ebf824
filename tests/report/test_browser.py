"""The page in a real browser: light and dark, narrow and wide, and with names that attack it."""

from dataclasses import replace

import pytest
from studies import study

from browser import Chromium
from satisfice.report import page

ATTACKS = [
    "<script>window.pwned = 1</script>",
    "\"><img src=x onerror='window.pwned = 1'>",
    "'; alert(1); //",
    "</style><svg onload=alert(1)>",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt;",
    "\u202egnp.exe",
    "]]>--><!--",
    "<iframe src=http://example.com>",
    "url(http://example.com/x.png)",
    "x" * 3000,
    "\x00\x1b[31m\ud800",
]


@pytest.fixture(scope="module")
def pages(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    hostile = {f"{attack} {k}": (0.0, 1.0) for k, attack in enumerate(ATTACKS[:6])}
    hostile |= {
        "choice": [
            f"{attack}{k}" for k, attack in enumerate(ATTACKS) if "\x00" not in attack and "\ud800" not in attack
        ]
    }
    views = {
        "good": study(0.9, 120, noise=0.02, fails=0.05),
        "open": study(0.94, 12, noise=0.05),
        "none": study(0.99, 30, noise=0.01),
        "empty": study(0.9, 0),
        "hostile": study(
            9.0, 14, space=hostile, fails=0.4, name=ATTACKS[0], error=" ".join(ATTACKS), f=lambda p: p[next(iter(p))]
        ),
    }
    given_up = replace(views["none"].answer, verdict="none", hope=0.02)
    views["none"] = replace(views["none"], answer=given_up)
    notes = replace(views["hostile"].answer, notes=tuple(ATTACKS))
    views["hostile"] = replace(views["hostile"], answer=notes)
    return {name: page.write(seen, folder / f"{name}.html") for name, seen in views.items()}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("name", ["good", "open", "none", "empty", "hostile"])
def test_the_page_is_quiet_and_fits(browser, pages, name, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab, heard = context.new_page(), []
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda problem: heard.append(str(problem)))
    tab.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: heard.append(request.url) if not request.url.startswith("file:") else None)
    tab.goto(pages[name].as_uri())
    assert heard == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("window.pwned") is None
    assert tab.locator("script, iframe, img, object, embed, link").count() == 0
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) > 600) == (scheme == "light")
    smallest = tab.evaluate(
        "Math.min(99, ...[...document.querySelectorAll('svg:not(.key) text')].map(text => text.getBoundingClientRect().height)"
        ".filter(height => height > 0))"
    )
    assert smallest >= 9.5  # a line of text, in pixels
    context.close()


def test_plots_say_what_is_under_the_pointer_and_are_drawn(browser, pages):
    tab = browser.new_page()
    tab.goto(pages["good"].as_uri())
    assert tab.locator("figure svg[role=img]").count() >= 9
    assert "evaluation" in tab.locator("figure.history .wide circle title").first.text_content()
    outside = tab.evaluate(
        "[...document.querySelectorAll('figure .box:not(.narrow) svg')].filter(svg => { const box = svg.getBoundingClientRect();"
        "return [...svg.querySelectorAll('text')].some(text => { const own = text.getBoundingClientRect();"
        "return own.left < box.left - 2 || own.right > box.right + 2 || own.bottom > box.bottom + 2 }) }).length"
    )
    assert outside == 0
    tab.close()


def test_a_browser_that_fails_to_start_is_tried_again_and_one_that_has_gone_too(chromium, tmp_path):
    chromium.close()  # one driver at a time
    flaky = tmp_path / "chromium"
    flaky.write_text(f'#!/bin/sh\nmkdir "{tmp_path}/failed" && exit 1\nexec "{chromium.program}" "$@"\n')
    flaky.chmod(0o700)
    again = Chromium(str(flaky), tmp_path)
    first = again.ready()
    assert (tmp_path / "failed").exists()
    assert again.ready() is first
    first.close()
    assert again.ready().new_page().evaluate("1 + 1") == 2
    again.close()
