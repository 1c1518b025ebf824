"""The command line `satisfice`."""

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import rich_click as click
from click.exceptions import ClickException, Exit

from satisfice.cli import ask, bench, certify, find, new, report, reproduce, serve, status, tell
from satisfice.cli.options import HELP, Invocation
from satisfice.errors import BadInput, SatisficeError, SatisficeWarning
from satisfice.plaintext import plain

COMPLETE = "_SATISFICE_COMPLETE"  # a shell sets it to ask for completions
EPILOG = (
    f'Shell completion: add `eval "$({COMPLETE}=bash_source satisfice)"` to ~/.bashrc (or zsh_source, fish_source).'
)


@click.group(
    commands=[
        *(find.find, certify.certify, status.status, report.report, serve.serve, reproduce.reproduce, bench.bench),
        *(new.new, ask.ask, tell.tell, tell.fail, tell.cancel, tell.undo),
    ],
    context_settings=HELP,
    options_metavar="",
    subcommand_metavar="COMMAND [OPTIONS]",
    no_args_is_help=False,
    epilog=EPILOG,
)
@click.command_panel("Commands", commands=["find", "certify", "status", "report", "serve"])
@click.command_panel("Experiments by hand", commands=["new", "ask", "tell", "fail", "cancel", "undo"])
@click.command_panel("Measure", commands=["bench", "reproduce"])
@click.version_option(package_name="satisfice", prog_name="satisfice", message="%(prog)s %(version)s")
def satisfice() -> None:
    """Find a setting that is good enough in as few evaluations as possible, and know whether to trust it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments
        The words after the program's name; by default those of the process.

    Returns
    -------
    int
        0 good or done, 1 failed, 2 wrong input, 3 open, 4 none or bad, 5 unlikely; 130, 143 or 129 after Ctrl-C, SIGTERM or
        SIGHUP.
    """
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(satisfice, {}, "satisfice", COMPLETE, instruction)
    words = list(sys.argv[1:] if arguments is None else arguments)
    end = words.index("--") if "--" in words else len(words)
    try:
        if end == 0:
            raise BadInput("name a COMMAND; `satisfice --help` lists them.")
        with (
            _warnings_as_notes(),
            satisfice.make_context("satisfice", words[:end], obj=Invocation(words, words[end + 1 :])) as context,
        ):
            return satisfice.invoke(context) or 0
    except Exit as done:  # --help and --version
        return done.exit_code
    except ClickException as problem:
        return _fail(2, problem.format_message())
    except SatisficeError as problem:
        return _fail(2 if isinstance(problem, BadInput) else 1, problem)
    except KeyboardInterrupt:
        return _fail(130, "stopped")
    except BrokenPipeError:  # nobody reads our output any more: write nothing, not even when the process ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _fail(code: int, why: object) -> int:
    print(f"satisfice: {plain(why)}", file=sys.stderr)
    return code


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print the library's warnings as one line each, without the line of code that raised them."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            if issubclass(category, SatisficeWarning):
                print(f"satisfice: note: {plain(message)}", file=sys.stderr)
            else:
                show(message, category, *rest)

        warnings.showwarning = note  # type: ignore[assignment]
        warnings.simplefilter("default", SatisficeWarning)
        yield
