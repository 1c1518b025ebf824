"""The command line `satisfice`."""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from satisfice.cli import bench, find, reproduce, show
from satisfice.errors import BadInput, SatisficeError, SatisficeWarning

NUMBER = re.compile(r"-[.0-9]")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 good or done, 1 failed, 2 wrong input, 3 open, 4 none, 130 stopped by Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    own, command = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    given = _parser().parse_args(_joined(own), argparse.Namespace(words=words, user_command=command))
    try:
        with _said_as_notes():
            return int(given.command(given))
    except BadInput as problem:
        print(f"satisfice: {show.plain(problem)}", file=sys.stderr)
        return 2
    except SatisficeError as problem:
        print(f"satisfice: {show.plain(problem)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("satisfice: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has gone; nothing more is written, not even at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


@contextmanager
def _said_as_notes() -> Iterator[None]:
    """Print the library's warnings as one line each, without the place in the code."""
    with warnings.catch_warnings():
        ordinary = warnings.showwarning

        def say(message: Warning | str, kind: type[Warning], *rest: Any) -> None:
            if issubclass(kind, SatisficeWarning):
                print(f"satisfice: note: {show.plain(message)}", file=sys.stderr)
            else:
                ordinary(message, kind, *rest)

        warnings.showwarning = say  # type: ignore[assignment]
        warnings.simplefilter("default", SatisficeWarning)
        yield


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="satisfice",
        description="Find a setting that is good enough in as few evaluations as possible, and know whether to trust it.",
        epilog="satisfice COMMAND --help tells more about each command.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"satisfice {version('satisfice')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for part in (find, show, reproduce, bench):
        part.add_to(commands)
    return parser


def _joined(words: Sequence[str]) -> list[str]:
    """The words, with a negative number joined to the option before it: argparse would take -1e-3 or -1:1 for options."""
    joined: list[str] = []
    for word in words:
        if NUMBER.match(word) and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined
