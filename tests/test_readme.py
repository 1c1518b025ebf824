"""The Python in the README runs as printed."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_readme_has_python():
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_the_readme_runs(block, capsys):
    exec(compile(block, str(README), "exec"), {})  # noqa: S102
    assert "good" in capsys.readouterr().out
