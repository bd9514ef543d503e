"""A real web server with a shared table of many files, and who talks to it."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa

from tests.functional.sharing_api.calls import SCHEMA
from tests.support.processes.installation import ROOT, environment, rows, wait_for
from tests.support.processes.ports import free_port
from tests.support.tables.raw_table import Operation, TableWriter

NUM_FILES = 1_200
NUM_ROWS = 200_000  # of each file
AT = datetime(2026, 2, 1, tzinfo=UTC)
QUERY = "/delta-sharing/shares/sales/schemas/crm/tables/orders/query"
VERSION = "/delta-sharing/shares/sales/schemas/crm/tables/orders/version"
# The server of a process whose files cannot grow, as on a disk that is full.
FULL_DISK_APPLICATION = """
import resource

from deltaweb.serving.wsgi import application

_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, most))
"""
# An application in which the third batch of every answer fails, while it is told to.
# Batches are small, and so is what is on its way to a client: an answer of some hundred
# files has many of them, and stalls where nobody reads.
BREAKABLE_APPLICATION = """
import socket
from pathlib import Path

from deltaweb.index.query import file_selection
from deltaweb.serving import worker
from deltaweb.serving.wsgi import application as application
from apps.sharing.answers import tables

file_selection.ROWS_A_BATCH = 100

class NearConnection(worker.Connection):
    def __init__(self, config, client, *others):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        super().__init__(config, client, *others)

worker.Connection = NearConnection

def breakable(*args, made=tables.signed_lines, **kwargs):
    for number, chunk in enumerate(made(*args, **kwargs)):
        if number == 2 and Path(__file__).with_name("broken").exists():
            raise OSError("the disk is gone")
        yield chunk

tables.signed_lines = breakable
"""


@dataclass(frozen=True)
class Live:
    """A web server with one shared table of many files, the first one real."""

    home: Path
    port: int
    secret: str
    opened: list[http.client.HTTPConnection] = field(default_factory=list)

    @property
    def authorization(self) -> dict[str, str]:
        """The header that lets a request in."""
        return {"Authorization": f"Bearer {self.secret}"}

    def connect(self, port: int | None = None) -> http.client.HTTPConnection:
        """Open a connection to the server, until the test ends."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", port or self.port, timeout=60
        )
        self.opened.append(connection)
        return connection

    def send(self, request: bytes) -> bytes:
        """Send bytes; return all that comes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as wire:
            wire.sendall(request)
            wire.shutdown(socket.SHUT_WR)
            received = b""
            while part := wire.recv(1 << 16):
                received += part
            return received

    def ask(
        self, target: str, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """GET something on a connection of its own."""
        connection = self.connect()
        connection.request("GET", target, headers=headers or {})
        return connection.getresponse()

    def log(self) -> str:
        """What it has logged so far, at the level that tells most."""
        return (self.home / f"web-{self.port}.log").read_text()

    def large_file(self, number: int) -> str:
        """Make one of the missing files, and return its signed URL below the server."""
        (self.home / "lake" / "orders" / f"part-{number}").write_bytes(bytes(32 << 20))
        asked = {
            "predicateHints": ["day = '2026-01-02'"],
            "limitHint": NUM_ROWS * (number + 1),
        }
        line = query(self, json.dumps(asked).encode()).read().splitlines()[-1]
        parts = urlsplit(json.loads(line)["file"]["url"])
        assert parts.path.endswith(f"/part-{number}")
        return f"{parts.path}?{parts.query}"

    def stall(self, request: str) -> socket.socket:
        """Ask for something, and read nothing of it."""
        wire = socket.socket()
        wire.settimeout(60)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        wire.connect(("127.0.0.1", self.port))
        wire.sendall(request.encode())
        return wire

    def stall_file(self, target: str) -> socket.socket:
        """Ask for a file, and read nothing of it."""
        return self.stall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")

    def stall_query(self) -> socket.socket:
        """Ask for all files of the table, and read nothing of the answer."""
        head = f"POST {QUERY} HTTP/1.1\r\nAuthorization: Bearer {self.secret}\r\n"
        return self.stall(f"{head}Host: 127.0.0.1\r\nContent-Length: 2\r\n\r\n{{}}")

    def calls(self) -> list[dict[str, object]]:
        """The rows of the record, newest first."""
        ask = (
            "SELECT action, status, error_code, num_files, detail"
            " FROM audit_auditevent WHERE kind = 'CALL' ORDER BY id DESC"
        )
        return [
            {**row, "detail": json.loads(str(row["detail"]))}
            for row in rows(self.home, ask)
        ]

    def is_recorded(self, **facts: object) -> bool:
        """Whether a row comes to have these facts; other streams may end later."""
        return wait_for(
            lambda: any(facts.items() <= call.items() for call in self.calls())
        )

    def is_newest(self, **facts: object) -> bool:
        """Whether the newest row comes to have these facts: a stream ends later."""
        return wait_for(lambda: facts.items() <= self.calls()[0].items())


def write_table(root: Path) -> None:
    writer = TableWriter(root, seed=7)
    created = Operation(name="CREATE TABLE", user="etl", at=AT)
    writer.create(SCHEMA, created, partition_columns=["day"])
    file = writer.write_file(
        pa.table({"id": pa.array(range(NUM_ROWS), pa.int64())}),
        at=AT,
        partition_values={"day": "2026-01-01"},
    ).add()
    adds = [file]
    add = file["add"]
    assert isinstance(add, dict)
    for number in range(NUM_FILES - 1):
        values = {"path": f"part-{number}", "partitionValues": {"day": "2026-01-02"}}
        adds.append({"add": {**add, **values}})
    writer.commit(Operation(name="WRITE", user="etl", at=AT), adds)


@contextlib.contextmanager
def web(
    home: Path,
    application: str = "deltaweb.serving.wsgi:application",
    **variables: str,
) -> Iterator[int]:
    """Run gunicorn as `deltaweb web` does, with one process."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{port}"),
        *("--worker-class", "deltaweb.serving.worker.PatientWorker"),
        *("--threads", "4", "--log-level", "warning"),
    ]
    path = f"{home}:{ROOT}"
    log = home / f"web-{port}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            env=environment(
                home,
                PYTHONPATH=path,
                PORT=str(port),
                DELTAWEB_LOG_LEVEL="DEBUG",
                **variables,
            ),
            cwd=ROOT,
            stderr=errors,
        )
    try:
        assert wait_for(lambda: _answers(port), timeout_s=60), log.read_text()
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection), contextlib.suppress(OSError):
        connection.request("GET", "/delta-sharing/")
        return connection.getresponse().status == 404
    return False


def query(
    live: Live, body: bytes = b"{}", port: int | None = None
) -> http.client.HTTPResponse:
    connection = live.connect(port)
    connection.request("POST", QUERY, body, live.authorization)
    return connection.getresponse()
