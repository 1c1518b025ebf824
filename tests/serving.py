"""A real server for the tests: `satisfice serve` in a process of its own on a free port of this machine, and a client for it."""

import http.client
import json
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starting import started

PATIENCE = 60.0  # seconds until it must listen; a busy machine is slow


class Server:
    """A server on the storage, which has answered before anybody gets it."""

    def __init__(self, storage: Path | str, *words: str, token: str | None = None, port: int = 0) -> None:
        self.storage, self._words, self._token, self._port = str(storage), words, token, port
        self.process: subprocess.Popen[bytes] = started("satisfice serve", self._start)

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {key: value for key, value in os.environ.items() if key != "SATISFICE_TOKEN"}
        if self._token is not None:
            environment["SATISFICE_TOKEN"] = self._token
        command = [
            sys.executable,
            "-m",
            "satisfice",
            "serve",
            "--storage",
            self.storage,
            "--port",
            str(self._port),
            *self._words,
        ]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # a pipe that nobody reads would stop it once it is full
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, env=environment)
        try:
            self.address = self._printed(process)
            self.token = self.address.partition("?token=")[2]
            self.port = int(re.search(r":(\d+)/", self.address)[1])
            until = time.monotonic() + PATIENCE
            while True:  # it has printed the address a moment before it listens
                try:
                    assert Client(self).get("/static/icon.svg").status == 200
                    return process
                except ConnectionRefusedError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.02)
        except BaseException:
            process.kill()
            process.communicate()
            self._errors.close()
            raise

    def _printed(self, process: "subprocess.Popen[bytes]") -> str:
        """The address that it prints; an error with all that it wrote if it ends or prints nothing."""
        said, until = b"", time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while time.monotonic() < until:
                if found := re.search(rb"^address +(\S+)\n", said, flags=re.MULTILINE):
                    return found[1].decode()
                if ready.select(timeout=1.0):
                    new = os.read(process.stdout.fileno(), 4096)
                    if not new:
                        raise AssertionError(f"it ended with {process.wait()}: {self.errors()}")
                    said += new
        raise AssertionError(f"it printed no address in {PATIENCE:g} s, only {said!r}; {self.errors()}")

    def errors(self) -> str:
        """What it wrote to the standard error so far."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def stop(self) -> tuple[int, str]:
        """End it as Ctrl-C does; its exit code and what it wrote to the standard error."""
        if self.process.poll() is None:
            self.process.send_signal(2)
        try:
            self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, self.errors()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *problem: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self._errors.close()


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.status, self.headers, self.content = status, headers, content

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Client:
    """A client that knows the token, and sends exactly what it is told."""

    def __init__(self, server: Server, **headers: str) -> None:
        self.server = server
        self.headers = headers or {"Authorization": f"Bearer {server.token}"}

    def send(self, method: str, path: str, body: bytes | None = None, timeout: float = 60.0, **headers: Any) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=timeout)
        try:
            found = {
                key.replace("_", "-"): value for key, value in {**self.headers, **headers}.items() if value is not None
            }
            connection.request(method, path, body, found)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: Any) -> Answer:
        return self.send("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: Any) -> Answer:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", path, content, **{"Content-Type": "application/json", **headers})

    def api(self, study: str, operation: str, body: Any, key: str | None = None) -> Answer:
        return self.post(f"/api/studies/{quote(study, safe='')}/{operation}", body, Idempotency_Key=key)
