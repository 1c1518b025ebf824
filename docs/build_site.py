"""What the site needs beyond its settings: pages that are not written yet are left out, and doctests are shown as code."""

import re
from pathlib import Path
from typing import Any

import griffe

DOCTEST = re.compile(r"(?:^>>> .*\n?)(?:^[^\n]+\n?)*", flags=re.MULTILINE)


def on_config(config: Any) -> Any:
    """The settings without the pages that do not exist: some are written from measurements that may not have been made."""

    def is_written(page: Any) -> bool:
        (place,) = page.values()
        return isinstance(place, list) or (Path(config["docs_dir"]) / place).exists()

    config["nav"] = [page for page in config["nav"] if is_written(page)]
    return config


class Doctests(griffe.Extension):
    """Puts the doctests of a docstring between fences: in Markdown >>> would be a quotation."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of every object that has one."""
        if obj.docstring is not None:
            obj.docstring.value = DOCTEST.sub(
                lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
            )
