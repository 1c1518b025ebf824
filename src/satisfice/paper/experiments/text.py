"""Paragraphs, tables and pictures of the pages that are written from records."""

from collections.abc import Sequence
from textwrap import fill


def paragraph(text: str) -> str:
    """The text in lines of the document's length."""
    return fill(" ".join(text.split()), 128, break_long_words=False, break_on_hyphens=False) + "\n"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(line) + " |" for line in (columns, *rows)]
    return "\n".join([lines[0], "|---" * len(columns) + "|", *lines[1:]]) + "\n"


def picture(name: str, title: str, caption: str) -> str:
    """A picture of the page with its caption below."""
    return f"![{title}](images/reproduction/{name}.png)\n\n" + paragraph(f"*{caption}*")
