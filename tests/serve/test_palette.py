"""The colours of the pages, light and dark: texts and the edges of fields can be told from their ground (WCAG 2.1, level AA)."""

import re
from pathlib import Path

import pytest

import satisfice.serve

CSS = (Path(satisfice.serve.__file__).parent / "static" / "app.css").read_text()
TEXTS = [  # (text, ground)
    *[(ink, ground) for ink in ("ink", "soft", "blue", "orange", "red") for ground in ("paper", "card")],
    *[("good", "good-paper"), ("none", "none-paper"), ("open", "open-paper")],
    *[(ink, f"{kind}-paper") for kind in ("good", "none", "open") for ink in ("ink", "soft")],
    *[("good", "paper"), ("none", "paper"), ("open", "paper"), ("ink", "red-paper")],
    *[("on-blue", "blue"), ("paper", "ink"), ("good", "card"), ("none", "card"), ("open", "card")],
]
EDGES = [  # what is no text, but must be seen: fields, marks in the plots, the ring around what has the focus
    *[
        ("field", "paper"),
        ("field", "card"),
        ("faint", "paper"),
        ("blue", "paper"),
        ("blue", "card"),
        ("orange", "paper"),
    ],
]


def palette(scheme: str) -> dict[str, tuple[float, ...]]:
    light, dark = re.findall(r":root \{(.*?)\}", CSS, flags=re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", light))
    colours |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", dark)) if scheme == "dark" else {}
    return {name: tuple(int(text[k : k + 2], 16) / 255 for k in (1, 3, 5)) for name, text in colours.items()}


def luminance(colour: tuple[float, ...]) -> float:
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_agrees_with_known_contrasts():
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    grey = (0x76 / 255,) * 3  # the lightest grey that is readable on white
    assert contrast(grey, (1, 1, 1)) == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(scheme):
    colours = palette(scheme)
    weak = {
        pair: round(contrast(*map(colours.get, pair)), 2) for pair in TEXTS if contrast(*map(colours.get, pair)) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_edges_can_be_seen(scheme):
    colours = palette(scheme)
    weak = {
        pair: round(contrast(*map(colours.get, pair)), 2) for pair in EDGES if contrast(*map(colours.get, pair)) < 3
    }
    assert weak == {}


def test_the_dark_palette_names_the_same_colours():
    light, dark = re.findall(r":root \{(.*?)\}", CSS, flags=re.DOTALL)
    assert set(re.findall(r"--[a-z-]+", light)) == set(re.findall(r"--[a-z-]+", dark))
