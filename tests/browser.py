"""A real browser for the tests: the chromium of the system, driven by playwright."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from starting import started

# root has no sandbox, and a container's /dev/shm is often too small for a page; the pages are our own files
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]


class Chromium:
    """A browser that is started when it is asked for, and again if it has gone."""

    def __init__(self, program: str, home: Path) -> None:
        self.program = program
        # a home of its own: two that start at the same time share nothing, and one that cannot be written does no harm
        self._environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
        self._close: Callable[[], None] = lambda: None
        self._browser: Any = None

    def ready(self) -> Any:
        """The browser, which has just shown that it answers or did so before and is still there."""
        if self._browser is None or not self._browser.is_connected():
            self.close()
            self._browser = started("chromium", self._start)
        return self._browser

    def close(self) -> None:
        self._browser, close, self._close = None, self._close, lambda: None
        close()

    def _start(self) -> Any:
        from playwright.sync_api import sync_playwright

        driver = sync_playwright().start()
        try:
            browser = driver.chromium.launch(
                executable_path=self.program, args=ARGUMENTS, env=self._environment, timeout=60_000
            )
            page = browser.new_page()
            assert page.evaluate("6 * 7") == 42
            page.close()
        except BaseException:
            driver.stop()  # which ends what it launched
            raise
        self._close = driver.stop
        return browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """One a module, not one a session: while its driver runs, nothing else in the thread can have an event loop."""
    program = shutil.which("chromium")
    missing = [name for name in ("chromium", "playwright") if not (program if name == "chromium" else find_spec(name))]
    if missing:
        pytest.skip(f"NO PAGE IS OPENED IN A BROWSER: {' and '.join(missing)} not installed")
    assert program is not None
    with tempfile.TemporaryDirectory(prefix="chromium", ignore_cleanup_errors=True) as home:
        chromium = Chromium(program, Path(home))
        yield chromium
        chromium.close()


@pytest.fixture
def browser(chromium: Chromium) -> Any:
    return chromium.ready()
