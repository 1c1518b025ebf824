"""What the site needs beyond its settings: pages kept in the root of the repository, and doctests shown as code."""

import re
from pathlib import Path
from typing import Any

import griffe

ROOT = Path(__file__).parent.parent
IN_THE_ROOT = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "code-of-conduct.md": "CODE_OF_CONDUCT.md",
}
DOCTEST = re.compile(r"(?:^>>> .*\n?)(?:^[^\n]+\n?)*", flags=re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> str:
    """The text of a page; those of the root are read from there, with links that lead within the site."""
    if page.file.src_uri not in IN_THE_ROOT:
        return markdown
    text = (ROOT / IN_THE_ROOT[page.file.src_uri]).read_text(encoding="utf-8").replace("](docs/", "](")
    for inside, file in IN_THE_ROOT.items():
        text = text.replace(f"]({file}", f"]({inside}")
    return text


class Doctests(griffe.Extension):
    """Puts the doctests of a docstring between fences: in Markdown >>> would be a quotation."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of every object that has one."""
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
