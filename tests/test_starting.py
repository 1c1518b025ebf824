"""What the tests start is tried again when it fails, a bounded number of times, and what failed is said."""

import tempfile
from pathlib import Path

import pytest

import postgres as servers
from starting import NotStarted, started


def failing(times):
    """A start that fails so many times, and the errors that it raised."""
    raised = []

    def start():
        if len(raised) < times:
            raised.append(OSError(f"attempt {len(raised) + 1} failed"))
            raise raised[-1]
        return "ready"

    return start, raised


def test_what_fails_twice_is_started_at_the_third_attempt():
    start, raised = failing(2)
    assert started("a server", start, attempts=3, pause=0) == "ready"
    assert len(raised) == 2


def test_what_always_fails_is_given_up_and_every_failure_is_told():
    start, raised = failing(100)
    with pytest.raises(NotStarted, match="a server did not start in 3 attempts") as caught:
        started("a server", start, attempts=3, pause=0)
    assert len(raised) == 3
    assert all(f"OSError: attempt {n} failed" in str(caught.value) for n in (1, 2, 3))


def test_an_interruption_is_no_failed_attempt():
    def start():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        started("a server", start, pause=0)


def test_a_server_that_a_test_left_crashed_is_there_for_the_next(postgres_server):
    postgres_server.crash()
    assert postgres_server.new_database().startswith("postgresql://")


@pytest.fixture
def place(monkeypatch):
    """A temporary directory that every user may enter, as the server's must."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", made)
        yield Path(made)


def test_a_server_that_cannot_start_says_why_and_leaves_nothing_behind(postgres_server, place, monkeypatch):
    monkeypatch.setattr(servers, "TUNED", "-c shared_buffers=plenty")
    with pytest.raises(NotStarted, match='invalid value for parameter "shared_buffers": "plenty"'):
        started("PostgreSQL", servers.running, attempts=1)
    assert not list(place.iterdir())


def test_a_server_starts_from_a_folder_that_only_root_can_enter(postgres_server, place):
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    server = servers.Server(Path(tempfile.mkdtemp()), servers.copy_programs(servers.site(), closed))
    server.start()
    server.stop()
