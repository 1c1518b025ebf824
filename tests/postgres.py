"""A real PostgreSQL server for the tests, from the pgserver wheel, in a temporary directory, on a Unix socket only."""

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

import pytest

# a crash of the server loses nothing that was written, synced or not; only a crash of the machine would
TUNED = "-c fsync=off -c listen_addresses= -c max_connections=120 -c shared_buffers=16MB"


class Server:
    """A server that can be stopped, crashed and started again."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        found = find_spec("pgserver")
        assert found is not None
        assert found.origin is not None
        self._programs = Path(found.origin).parent / "pginstall" / "bin"
        # the server refuses to run as root
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(directory, self._user)
        self._run("initdb", "--username=tester", "--auth=trust", "--encoding=UTF8", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        # output goes to a file: the server inherits it and would keep a pipe open
        with (self.directory / f"{program}.out").open("a") as output:
            subprocess.run(
                [self._programs / program, "-D", self.data, *arguments],
                check=True,
                stdout=output,
                stderr=output,
                user=self._user,
                cwd=self.directory,
                timeout=60,
            )

    def start(self) -> None:
        self._run(
            "pg_ctl", "-w", "-l", str(self.directory / "server.log"), "-o", f"{TUNED} -k {self.directory}", "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def crash(self) -> None:
        """Stop without any goodbye, as by a loss of power."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def new_database(self) -> str:
        """The URL of a new empty database."""
        name = f"t{uuid.uuid4().hex}"
        self._execute(f"CREATE DATABASE {name}")
        return f"postgresql://tester@/{name}?host={self.directory}"

    def cut(self, url: str) -> None:
        """End every connection to a database."""
        name = url.split("/")[3].split("?")[0]
        self._execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608

    def _execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(f"host={self.directory} user=tester dbname=postgres", autocommit=True) as connection:
            connection.execute(statement)


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
            server.connect(self._behind)
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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A running server, one a test session."""
    missing = [name for name in ("pgserver", "psycopg") if find_spec(name) is None]
    if missing:
        pytest.skip(
            f"NOTHING IS TESTED WITH POSTGRESQL: {' and '.join(missing)} missing; pip install '.[dev,postgres]'"
        )
    directory = Path(tempfile.mkdtemp(prefix="pg"))  # a short path: sockets allow no more than about 100 characters
    try:
        server = Server(directory)
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


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
