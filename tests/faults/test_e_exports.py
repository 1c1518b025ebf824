"""E: hostile texts in reports and tables: no browser and no spreadsheet runs them."""

import csv
import json

import pytest

from processes import BLIND
from satisfice import find
from satisfice.report import page
from satisfice.study.snapshot import snapshot

pytestmark = pytest.mark.faults


def html_payloads() -> list[str]:
    run = "window.__pwned=1"
    wrapped = [
        "<script>{}</script>", "<img src=x onerror='{}'>", "\"><img src=x onerror='{}'>", "'><svg onload='{}'>",
        "<svg><script>{}</script></svg>", "</title><script>{}</script>", "</style><script>{}</script>",
        "</textarea><script>{}</script>", "</script><script>{}</script>",
        "<body onload='{}'>", "<iframe srcdoc='<script>{}</script>'>",
        "<a href='javascript:{}'>x</a>", "javascript:{}", "data:text/html,<script>{}</script>", "<details open ontoggle='{}'>",
        "<input autofocus onfocus='{}'>", "<video><source onerror='{}'></video>",
        "<math><mtext><script>{}</script></mtext></math>",
        "<style>@import 'http://example.com/x.css'</style>", "<link rel=stylesheet href=http://example.com/x.css>",
        "<meta http-equiv=refresh content='0;url=http://example.com'>", "<base href=http://example.com/>",
        "<object data=http://example.com/x></object>", "<embed src=http://example.com/x>",
        "<form action=http://example.com><button>",
        "url(http://example.com/x.png)", "{{{{ 7 * 7 }}}}", "{{% import 'os' %}}",
        "<!--", "-->", "]]>", "&lt;script&gt;{}&lt;/script&gt;",
        "&#60;script&#62;{}", "\u202e<script>{}</script>", "<scr\u0000ipt>{}</script>".replace("\0", ""), "' onmouseover='{}",
        "\" style=\"background:url(http://example.com/y)", "<marquee onstart='{}'>", "<template><script>{}</script></template>",
        "x\u2028{}", "<script src=http://example.com/x.js></script>",
    ]  # fmt: skip
    return [text.format(run) for text in wrapped]


def test_forty_payloads_in_every_text_of_a_report_run_nothing_in_chromium(browser, tmp_path, figures):
    payloads, heard, shown = html_payloads(), [], 0
    tab = browser.new_page()
    tab.on("console", lambda message: heard.append(message.text))
    tab.on("pageerror", lambda problem: heard.append(str(problem)))
    tab.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda each: None if each.url.startswith("file:") else heard.append(each.url))
    for number, payload in enumerate(payloads):
        calls = []

        def objective(params, calls=calls, payload=payload):
            calls.append(params)
            if len(calls) == 2:
                raise ValueError(payload)
            return float(len(calls) % 3)

        space = {payload: (0.0, 1.0), "choice": [payload, "other"]}
        answer = find(objective, space, 9.0, noise=0, budget=5, name=payload, seed=1, model=BLIND)
        answer.study.set_user_attr(payload, payload)
        tab.goto(page.write(snapshot(answer.study), tmp_path / f"{number}.html").as_uri())
        assert tab.evaluate("window.__pwned") is None
        assert tab.locator("script, iframe, img, object, embed, link, base, form").count() == 0
        assert "default-src 'none'" in tab.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
        shown += 1
    tab.close()
    figures |= {"payloads": len(payloads), "pages opened": shown, "executed": 0}
    figures["dialogs, messages and requests"] = len(heard)
    assert heard == []
    assert shown == len(payloads) >= 40


CHOICES = ["=1+1", "+x", "-x", "@SUM", "\tx", "plain", "'quoted", "'=both", "a,b", 'a"b', "a\nb"]


def test_what_is_exported_is_harmless_and_comes_back_exactly(tmp_path, figures):
    values = iter([0.1 + 0.2, 1e-300, -1.7976931348623157e308, 5e-324, -0.0, 1 / 3, 7.0, 1e22, -2.5, 3.0, 4.0])
    space, out = {"=c": CHOICES, "x": [0.1 + 0.2]}, tmp_path / "out.csv"
    answer = find(lambda params: next(values), space, 1e300, noise=0, budget=11, seed=1, model=BLIND)
    from satisfice.cli.output import answer_json, write_csv

    write_csv(answer.study, out)
    with out.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    live = [
        cell
        for cell in cells
        if cell[:1] in ("=", "+", "@", "\t", "\r") or (cell[:1] == "-" and not cell[1:2].isdigit())
    ]
    again = find(lambda params: 0.0, space, 1e300, noise=0, budget=1, history=out, seed=1, model=BLIND)
    first, second = ([(t.params, t.value) for t in each.study.trials][:11] for each in (answer, again))
    figures |= {"cells": len(cells), "cells a spreadsheet would run": len(live)}
    figures["rows that came back exactly"] = sum(a == b for a, b in zip(first, second, strict=True))
    assert not live
    assert first == second
    text = answer_json(answer, bad=float("nan"), worse=[float("inf")])
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name))["bad"] is None
