"""A pytest plugin that runs flaky tests until it is clear how often they pass: `-p satisfice.pytest_plugin`.

`@pytest.mark.certify(rate=">= 0.99")` runs a test again, with fixtures of its own, until the share of passes is certified, or
shown to be missed, or the budget is spent. With `@pytest.mark.certify(target="<= 200", quantile=0.9)` and the fixture
`certify_value` it is a value that each run measures. Nothing heavy is imported before a test has the mark.
"""

import copy
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import runtestprotocol

if TYPE_CHECKING:
    from satisfice.search.gate import Gate

MARK = (
    "certify(rate=None, target=None, quantile=None, noise=None, value_range=None, confidence=0.95, budget=1000, timeout=None): "
    "run the test until it is clear whether it passes often enough (rate), or its certify_value is good enough (target)"
)
OPTIONS = {"rate", "target", "quantile", "noise", "value_range", "confidence", "budget", "timeout"}
BUDGET = 1000
FAILURES = 5  # so many failed runs, if they are more than half, end the measuring of a value
PROPERTY = "certify"  # of a report: the answer in one line


class _Runs:
    """The runs of one test: their gate, and what the current one measured."""

    def __init__(self, item: pytest.Item, seed: int, budget: int | None) -> None:
        from satisfice.errors import BadInput
        from satisfice.search.gate_config import gate_config

        marker = item.get_closest_marker("certify")
        given: dict[str, Any] = {} if marker is None else dict(marker.kwargs)
        if marker is not None and (marker.args or not set(given) <= OPTIONS):
            raise pytest.UsageError(f"{item.nodeid}: the mark `certify` takes {', '.join(sorted(OPTIONS))} by name.")
        if ("rate" in given) == ("target" in given):
            raise pytest.UsageError(
                f"{item.nodeid}: the mark `certify` needs a `rate` or a `target`, such as rate='>= 0.99'."
            )
        self.is_rate = "rate" in given
        self.budget: int = budget or given.get("budget", BUDGET)
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or self.budget < 1:
            raise pytest.UsageError(
                f"{item.nodeid}: `budget` of the mark `certify` must be a number of runs; got {self.budget!r}."
            )
        self.timeout: float | None = given.get("timeout")
        question = {name: given[name] for name in ("quantile", "noise", "value_range", "confidence") if name in given}
        try:
            config = gate_config(given.get("rate", given.get("target")), rate=self.is_rate, **question)
        except BadInput as problem:
            raise pytest.UsageError(f"{item.nodeid}: the mark `certify`: {problem}") from None
        if len(config.specification) > 1:
            raise pytest.UsageError(f"{item.nodeid}: the mark `certify` takes one target.")
        self.name = config.specification.names[0]
        self.gate: Gate = config.gate()
        self.made = 0
        self.measured: list[float] = []
        self._nodeid, self._seed = item.nodeid, seed

    @property
    def seed(self) -> int:
        """The seed of the current run."""
        return random.Random(f"{self._seed} {self._nodeid} {self.made}").getrandbits(31)  # noqa: S311

    def take(self, report: pytest.TestReport) -> str | None:
        """Take the outcome of a run; why no other one is possible, if so."""
        self.made += 1
        failed = report.outcome == "failed"
        if self.is_rate:
            self.gate.tell({self.name: float(not failed)})
        elif failed:
            self.gate.fail(str(report.longreprtext).strip().rpartition("\n")[2])
            if self.gate.failures >= FAILURES and self.gate.failures > self.gate.evaluations:
                return f"{self.gate.failures} of {self.made} runs failed."
        elif len(self.measured) != 1:
            return f"Each run must call certify_value(...) once; this one called it {len(self.measured)} times."
        else:
            self.gate.tell({self.name: self.measured[0]})
        self.measured.clear()
        return None


RUNS = pytest.StashKey[_Runs]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("satisfice")
    group.addoption("--certify-budget", type=int, metavar="N", help="Run each marked test N times at most.")
    group.addoption("--certify-seed", type=int, metavar="N", help="What the seeds of `certify_seed` follow from.")


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark."""
    config.addinivalue_line("markers", MARK)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Read the marks, so that a wrong one is found before anything runs."""
    seed = config.getoption("certify_seed")
    seed = random.SystemRandom().getrandbits(31) if seed is None else seed
    for item in items:
        if item.get_closest_marker("certify") is not None:
            item.stash[RUNS] = _Runs(item, seed, config.getoption("certify_budget"))


@pytest.fixture
def certify_value(request: pytest.FixtureRequest) -> Callable[[float], None]:
    """Take the value that this run of the test measured."""
    runs = request.node.stash.get(RUNS, None)
    if runs is None or runs.is_rate:
        raise pytest.UsageError("`certify_value` needs the mark `certify(target=...)`.")

    def take(value: float) -> None:
        from satisfice.checks import as_objective

        requirement = runs.gate.specification.requirements[0]
        runs.measured.append(as_objective(value, requirement.value_range))

    return take


@pytest.fixture
def certify_seed(request: pytest.FixtureRequest) -> int:
    """A seed that is new in each run of the test."""
    runs = request.node.stash.get(RUNS, None)
    if runs is None:
        raise pytest.UsageError("`certify_seed` needs the mark `certify`.")
    seed: int = runs.seed
    return seed


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test until its gate is decided, and report it as one test."""
    runs = item.stash.get(RUNS, None)
    if runs is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, nextitem, runs):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _reports(item: pytest.Item, nextitem: pytest.Item | None, runs: _Runs) -> list[pytest.TestReport]:
    """Run the test, and return the reports of one: its setup, its call with the verdict, its teardown."""
    again = copy.copy(item)  # another item of the same place: only what belongs to the test itself is torn down
    began, last_failure, broken = time.monotonic(), "", None
    while True:
        reports = runtestprotocol(item, log=False, nextitem=again)
        call = next((each for each in reports if each.when == "call"), None)
        others = [each for each in reports if each is not call]
        if call is None or call.outcome == "skipped" or not all(each.passed for each in others):
            break  # skipped, or broken around the test: that is what is reported
        if call.outcome == "failed":
            last_failure = call.longreprtext
        broken = runs.take(call)
        late = runs.timeout is not None and time.monotonic() - began > runs.timeout
        stopped = item.session.shouldstop or item.session.shouldfail
        if broken or runs.gate.ended or late or stopped or runs.made >= runs.budget:
            call = _verdict(item, call, runs, broken, last_failure, time.monotonic() - began)
            break
    ended = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
    *before, teardown = others
    if ended.excinfo is not None:
        teardown = item.ihook.pytest_runtest_makereport(item=item, call=ended)
    if call is not None:
        teardown.user_properties = call.user_properties  # JUnit XML takes them from here
    return [*before, *([] if call is None else [call]), teardown]


def _verdict(
    item: pytest.Item, call: pytest.TestReport, runs: _Runs, broken: str | None, last_failure: str, seconds: float
) -> pytest.TestReport:
    """The report of all runs."""
    answer = runs.gate.answer()
    good = answer.verdict == "good" and broken is None
    said = broken or f"certify: {answer.summary}"
    text = f"{said}\n\n{answer}\n" + (f"\nThe last run that failed:\n\n{last_failure}" if last_failure else "")
    return pytest.TestReport(
        item.nodeid, item.location, call.keywords, "passed" if good else "failed", None if good else text, "call",
        sections=[*call.sections, ("certify", str(answer))], duration=seconds,
        user_properties=[*item.user_properties, (PROPERTY, answer.summary)],
    )  # fmt: skip


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Show one line for each certified test."""
    lines = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(getattr(report, "user_properties", [])).get(PROPERTY)
            if told is not None and report.when == "call":
                lines.append(f"{report.nodeid}: {told}")
    if lines:
        terminalreporter.section("certify")
        for line in lines:
            terminalreporter.write_line(line)
