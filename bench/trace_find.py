"""How much of the library does one call of `find` pass?

    .venv/bin/python bench/trace_find.py

Runs a noise-free `find` in memory and prints a table: the files and functions of satisfice that it passes, the deepest stack of
satisfice's own frames, the calls that it makes for each evaluation, and the shape of the imports: cycles, and the longest chain of
modules of which each imports the next. docs/design.md has the table.
"""

import ast
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before numpy

import satisfice

PACKAGE = Path(satisfice.__file__).parent
OFTEN = ("StudyReplay.catch_up", "Search.answer", "Surrogate.belief", "Search.ask")  # counted for each evaluation
Function = tuple[str, str]


def traced() -> tuple[Counter[Function], list[str], int]:
    """How often each function of the package is called in one `find`, the deepest stack, and the number of evaluations."""
    calls: Counter[Function] = Counter()
    deepest: list[str] = []

    def of_package(frame: FrameType) -> bool:
        return frame.f_code.co_filename.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>"

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal deepest
        if event != "call" or not of_package(frame):
            return
        code, stack, each = frame.f_code, list[str](), frame
        calls[str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname] += 1
        while each is not None:
            stack += [each.f_code.co_qualname] if of_package(each) and not each.f_code.co_name.startswith("<") else []
            each = each.f_back  # type: ignore[assignment]
        deepest = max(deepest, stack, key=len)

    satisfice.find(lambda p: p["x"], {"x": (0.0, 1.0)}, target=0.0, noise=0, seed=1)  # everything is loaded then
    sys.setprofile(look)
    try:
        answer = satisfice.find(
            lambda p: -((p["x"] - 0.3) ** 2) - (p["y"] - 0.8) ** 2,
            {"x": (0.0, 1.0), "y": (0.0, 1.0)},
            target=-1e-6,
            noise=0,
            seed=1,
        )
    finally:
        sys.setprofile(None)
    return calls, deepest, answer.evaluations


def imports() -> dict[str, set[str]]:
    """The modules outside of paper/ that each module imports when it is loaded; those that a function imports do not count."""
    paths = [path for path in PACKAGE.rglob("*.py") if "paper" not in path.parts]
    modules = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths}
    named = {name.removesuffix(".__init__") for name in modules.values()}
    found: dict[str, set[str]] = {}
    for path, name in modules.items():
        seen: set[str] = set()
        todo: list[ast.AST] = [ast.parse(path.read_text())]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.ImportFrom) and node.module:
                inside = {f"{node.module}.{each.name}" for each in node.names}
                seen |= inside if inside <= named else {node.module, *inside}
            elif isinstance(node, ast.Import):
                seen |= {each.name for each in node.names}
            elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
                todo += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.FunctionDef)]
        own = name.removesuffix(".__init__")
        found[own] = {each for each in seen if each in named and each not in (own, "satisfice")}
    return found


def longest_chain(graph: dict[str, set[str]]) -> tuple[list[str], list[str]]:
    """The longest chain of imports, and a cycle if there is one."""
    cycle: list[str] = []
    open_: list[str] = []

    @cache
    def chain(name: str) -> tuple[str, ...]:
        if name in open_:
            cycle[:] = [*open_[open_.index(name) :], name]
            return ()
        open_.append(name)
        longest = max([chain(other) for other in sorted(graph[name])], key=len, default=())
        open_.pop()
        return (name, *longest)

    chains: list[tuple[str, ...]] = [chain(name) for name in graph]
    longest = max(chains, key=len)
    return list(longest), cycle


def main() -> None:
    calls, deepest, evaluations = traced()
    chain, cycle = longest_chain(imports())
    print("| one noise-free `find`, traced | |\n|---|---|")
    print(f"| files of satisfice passed | {len({file for file, _ in calls})} |")
    print(f"| functions | {len(calls)} |")
    print(f"| deepest stack of its frames | {len(deepest)} |")
    for name in OFTEN:
        times = sum(count for (_, function), count in calls.items() if function == name)
        print(f"| calls of `{name}` for each of the {evaluations} evaluations | {times / evaluations:.1f} |")
    print(f"| import cycles | {' -> '.join(cycle) or 'none'} |")
    print(f"| longest chain of imports | {len(chain)} |")
    if "-v" in sys.argv:
        print(
            *sorted({file for file, _ in calls}),
            " -> ".join(reversed(deepest)),
            " -> ".join(chain),
            sep="\n",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
