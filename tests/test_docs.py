"""Everything that the pages show runs: the `python` blocks of a page in one namespace, its `bash` blocks in one directory.

Blocks marked `sh` are only shown. A `text` block is what the block before it prints; numbers may differ, the words that begin its
lines may not.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import optuna
import pytest
import yaml

from satisfice.gp.kernels import CORRELATIONS
from satisfice.paper.problems import PROBLEMS
from satisfice.rules import RULES

ROOT = Path(__file__).parent.parent
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "satisfice"
BLOCK = re.compile(r"^```(python|bash|text)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
ALL = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
PAGES = [page for page in ALL if BLOCK.search(page.read_text())]

# What a page takes from its reader: names that are the user's own, and a server that is not there.
ASSUMED = {
    "workers.md": "def train(params): return 1 - (params['depth'] - 7) ** 2\n"
    "def objective(trial): return 1 - (trial.suggest_float('x', 0, 1) - 0.5) ** 2\n"
}
REPLACED = {"postgresql://user@host/database": "here.db"}
TARGETS = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


@pytest.fixture(autouse=True)
def _in_a_place_of_its_own(tmp_path, monkeypatch):
    """The pages write files and add to the tables of rules, kernels and problems."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    before = [(table, dict(table)) for table in (RULES, CORRELATIONS, PROBLEMS)]
    yield
    for table, entries in before:
        table.clear()
        table.update(entries)


def beginnings(text: str) -> list[str]:
    """The first word of each line, and the verdict after it."""
    return [re.sub(r"\W.*", "", line) if "verdict" not in line else line for line in text.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_and_prints_what_it_shows(page, capsys):
    names: dict[str, object] = {"__name__": page.stem}
    exec(ASSUMED.get(page.name, ""), names)  # noqa: S102
    printed = ""
    for language, block in BLOCK.findall(page.read_text()):
        if language == "text":
            assert beginnings(printed) == beginnings(block), f"{page.name} shows\n{block}but it is\n{printed}"
            continue
        for shown, real in REPLACED.items():
            block = block.replace(shown, real)
        if language == "bash":
            done = subprocess.run(["bash", "-euc", block], capture_output=True, text=True, check=False)  # noqa: S607
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        else:
            if page.name == "README.md":
                names = {}  # each of its blocks stands alone
            exec(compile(block, str(page), "exec"), names)  # noqa: S102
            printed = capsys.readouterr().out
        if page.name == "README.md":
            assert "good" in printed
    for study in names.values():
        if isinstance(study, optuna.Study) and hasattr(study._storage, "_backend"):
            study._storage._backend.engine.dispose()  # Optuna's own storage leaves its connections open


WORKERS = DOCS / "how-to" / "workers.md"
BLOCKS = [block for language, block in BLOCK.findall(WORKERS.read_text()) if language == "python"]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_what_the_page_on_workers_shows_runs_in_three_processes_at_once(number, postgres, tmp_path):
    block = BLOCKS[number].replace("postgresql://user@host/database", postgres)
    code = f"import sys\n{ASSUMED[WORKERS.name]}print('here', flush=True)\nsys.stdin.readline()\n{block}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [subprocess.Popen([sys.executable, "-c", code], text=True, cwd=tmp_path, **pipes) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "here\n"
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, ends


def test_the_pages_are_found():
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {
        "README.md",
        "CONTRIBUTING.md",
        "docs/get-started.md",
        "docs/researchers.md",
        "docs/concepts/hope.md",
    } <= names
    assert {f"docs/tutorials/{path.name}" for path in (DOCS / "tutorials").iterdir()} <= names
    served = {"live-page.md", "protocol.md"}  # a server that goes on running: tests/serve starts it
    assert {f"docs/how-to/{path.name}" for path in (DOCS / "how-to").iterdir() if path.name not in served} <= names


def test_every_page_is_in_the_navigation_and_every_concept_has_a_picture():
    text = (ROOT / "mkdocs.yml").read_text()
    assert [p for p in ALL[2:] if f" {p.relative_to(DOCS)}\n" not in text] == []
    assert [p.name for p in (DOCS / "concepts").iterdir() if "](../images/concepts/" not in p.read_text()] == []


def test_the_links_of_readme_and_contributing_lead_to_files():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"):
        links = re.findall(r"\]\(([^)#\s]+)", page.read_text())
        assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_there_is_one_way_to_install_and_every_extra_is_named():
    files = [*ALL, *(ROOT / "src").rglob("*.py"), ROOT / "Makefile"]
    assert [file for file in files if re.search(r"pip install[^\n]* ['\"]?satisfice\[", file.read_text())] == []
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    ours = set(extras) - {"dev", "docs", "faults"}
    said = (DOCS / "get-started.md").read_text().partition("the extras are ")[2].partition(".\n")[0]
    assert set(re.findall(r"`(\w+)`", said)) == ours
    line = re.search(r"# with an extra: (.*)", (ROOT / "README.md").read_text())[1]
    assert set(re.findall(r"\w+", re.sub(r"\(.*?\)", "", line))) == ours


def test_contributing_knows_every_target_of_make():
    told = re.findall(r"^make ([a-z-]+) ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.MULTILINE)
    assert set(TARGETS) - set(told) == {"demo", "bench-env"}  # the README has the demo, and bench sets itself up


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_valid_and_runs_only_targets_and_files_that_exist(path):
    flow = yaml.safe_load(path.read_text())
    assert set(flow) == {"name", True, "permissions", "concurrency", "jobs"}  # YAML reads the key "on" as true
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        commands = [step["run"] for step in job["steps"] if "run" in step]
        for command in commands:
            assert set(re.findall(r"\bmake ([a-z-]+)", command)) <= set(TARGETS)
            assert [name for name in re.findall(r"\b([\w-]+\.txt)\b", command) if not (ROOT / name).exists()] == []
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [action for action in actions if not re.fullmatch(r"actions/[\w-]+@v\d+", action)] == []


def test_the_workflows_run_the_python_versions_that_the_package_names():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = {line.rpartition(" ")[2] for line in classifiers if re.search(r":: 3\.\d+$", line)}
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["test"]
    assert named <= set(tests["strategy"]["matrix"]["python"])  # a version is named once it has passed


def test_the_other_files_of_github_are_valid():
    for path in (ROOT / ".github").rglob("*.yml"):
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {hook["id"] for repo in hooks["repos"] for hook in repo["hooks"]} == {"ruff", "ruff-format", "mypy"}


def test_the_tests_mirror_the_package_and_the_files_of_contributing_exist():
    parts = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert parts <= {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    last = (ROOT / "CONTRIBUTING.md").read_text().partition("## How the tests are organised")[2]
    rows = re.findall(r"^\| (`.*?`) \|", last, flags=re.MULTILINE)
    assert all((ROOT / "tests" / name).exists() for row in rows for name in re.findall(r"`(.*?)`", row))


WHERE = re.findall(
    r"^\| (Where .*\?|What .*\?) \| `([\w/]+\.py)` \| (.*) \|$",
    (ROOT / "CONTRIBUTING.md").read_text().partition("## Where is...?")[2].partition("\n## ")[0],
    flags=re.MULTILINE,
)


def test_contributing_answers_ten_questions():
    assert len(WHERE) == 10


@pytest.mark.parametrize(("question", "file", "words"), WHERE)
def test_a_file_that_answers_a_question_says_so_in_its_docstring(question, file, words):
    docstring = ast.get_docstring(ast.parse((SOURCE / file).read_text())) or ""
    wanted = re.findall(r'"(.*?)"', words)
    assert wanted
    assert [word for word in wanted if word.lower() not in " ".join(docstring.split()).lower()] == []


def test_the_reference_has_every_rule_and_every_error():
    rules = (DOCS / "api" / "rules.md").read_text()
    for path in (SOURCE / "rules").glob("*.py"):
        assert path.stem == "__init__" or f"::: satisfice.rules.{path.stem}\n" in rules
    errors = (DOCS / "api" / "errors.md").read_text()
    for path in SOURCE.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for name in re.findall(r"^class (\w+)\((?:SatisficeError|BadInput)\b", path.read_text(), flags=re.MULTILINE):
            assert f"::: {module}\n" in errors or f"::: {module}.{name}\n" in errors, name


def test_the_reference_has_every_public_name():
    pages = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    errors = vars(import_module("satisfice.errors"))  # a page has all of them
    public = import_module("satisfice").__all__
    assert [name for name in public if name not in errors and f"::: satisfice.{name}\n" not in pages] == []


@pytest.mark.parametrize("page", ["paper.md", "notation.md"])
def test_the_names_and_files_of_a_page_exist(page):
    text = (DOCS / page).read_text()
    places = [ROOT, ROOT / "tests", SOURCE]
    assert [f for f in re.findall(r"`([\w/]+\.py)[`:]", text) if not any((p / f).exists() for p in places)] == []
    dotted = re.findall(r"`((?:gp|rules|paper)(?:\.[a-z_]\w*)*)\.(\w+)", text)
    assert dotted
    for module, name in dotted:
        if name != "py":
            assert hasattr(import_module(f"satisfice.{module}"), name), f"{module}.{name}"
